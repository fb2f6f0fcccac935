"""Ordinary tables as programs and people write them: each with what is to be read of it.

`TABLES` maps a name to (file name, content, options, expected): the expected is a dictionary of
what the table must hold, or a sentence that refuses it, with the option that takes it.
"""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import pandas as pd

N = 30
NAMES = ("height", "weight", "age", "dose")


def numbers(n=N, d=4, seed=0):
    """Random numbers with two decimals, so that every program writes the same digits."""
    return np.round(np.random.default_rng(seed).normal(20, 5, (n, d)), 2)


X = numbers()
COUNTS = np.random.default_rng(1).integers(0, 9, (N, 4))


def text(rows, head=NAMES, between=",", end="\n", write=str):
    """Lines of cells, the names first where there are some."""
    lines = [] if head is None else [between.join(head)]
    lines += [between.join(write(cell) for cell in row) for row in rows]
    return end.join(lines) + end


def comma(value):
    """A number as it is written in Germany."""
    return str(value).replace(".", ",")


def frame(**more):
    """A frame of the numbers, and what else."""
    table = pd.DataFrame(X, columns=list(NAMES))
    return table.assign(**more)


def csv(table, **options):
    return table.to_csv(**{"index": False} | options)


def zipped(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("table.csv", content)
        file.writestr("__MACOSX/._table.csv", "x")
    return packed.getvalue()


def written(method, table=None, **options):
    """What pandas writes by a method of frames."""
    file = io.BytesIO()
    getattr(frame() if table is None else table, method)(file, **options)
    return file.getvalue()


def with_cell(row, column, cell, table=None):
    """The text of a table with one cell replaced."""
    cells = (frame() if table is None else table).astype(object)
    cells.iloc[row, column] = cell
    return csv(cells)


def percent():
    rows = [[*row, f"{10 + i}.5 %"] for i, row in enumerate(X)]
    return text(rows, (*NAMES, "share"))


SHARES = 10.5 + np.arange(N)
PLAIN = {"X": X, "names": NAMES}
WORDS = ["red", "green", "blue"] * (N // 3)
DAYS = pd.date_range("2024-01-29", periods=N)
GAPS = np.where(np.arange(N) % 7 == 3, np.nan, X[:, 2])
HOLED = np.column_stack([X[:, :2], GAPS, X[:, 3]])
STARRED = [[*row[:2], "" if np.isnan(row[2]) else row[2], row[3]] for row in HOLED]
BIG = np.round(1000 + 13.5 * np.random.default_rng(2).permutation(N), 1)
THOUSANDS = [[f"{value:,.1f}", *row[1:]] for value, row in zip(BIG, X, strict=True)]
BIGGER = np.column_stack([BIG, X[:, 1:]])
GERMAN = text([[f"{value:,.1f}".translate(str.maketrans(",.", ".,")), *map(comma, row[1:])]
               for value, row in zip(BIG, X, strict=True)], between=";")  # fmt: skip
WAVES = tuple(str(850 + 2 * j) for j in range(12))
SPECTRA = np.round(np.random.default_rng(3).normal(2, 1, (N, 12)), 3)
IRIS = text([[*row, "setosa"] for row in X], None)
OUT = "left_out"

TABLES = {
    "plain": ("a.csv", csv(frame()), {}, PLAIN),
    "excel in germany": ("a.csv", text(X, between=";", write=comma, end="\r\n"), {}, PLAIN),
    "excel in germany, thousands": ("a.csv", GERMAN, {}, {"X": BIGGER}),
    "byte order mark": ("a.csv", csv(frame()).encode("utf-8-sig"), {}, PLAIN),
    "utf-16": ("a.csv", csv(frame()).encode("utf-16"), {}, PLAIN),
    "utf-16 without a mark": ("a.csv", csv(frame()).encode("utf-16-le"), {}, PLAIN),
    "windows-1252": ("a.csv", csv(frame().rename(columns={"height": "Größe"})).encode("cp1252"),
                     {}, {"X": X, "names": ("Größe", *NAMES[1:]), "how": "cp1252"}),
    "latin-1 below the first lines": (
        "a.csv", csv(pd.concat([frame(note="x")] * 400)).encode() + b"1.5,2,3,4,M\xfcller\n",
        {}, {"names": NAMES, "d": 4, OUT: {"note": "text"}}),
    "quotes": ("a.csv", csv(frame(), quoting=1), {}, PLAIN),
    "single quotes": ("a.csv", text(X, [f"'{name}'" for name in NAMES], write=lambda x: f"'{x}'"),
                      {}, PLAIN),
    "names with commas": ("a.csv", csv(frame().rename(columns={"weight": "weight, kg"})), {},
                          {"names": ("height", "weight, kg", "age", "dose")}),
    "a line break in a name": ("a.csv", csv(frame().rename(columns={"weight": "weight\n(kg)"})),
                               {}, {"X": X}),
    "tabs": ("a.tsv", text(X, between="\t"), {}, PLAIN),
    "tabs, named csv": ("a.csv", text(X, between="\t"), {}, PLAIN),
    "commas, named tsv": ("a.tsv", text(X), {}, PLAIN),
    "pipes": ("a.txt", text(X, between="|"), {}, PLAIN),
    "fixed width": ("a.dat", text(X, between="", write=lambda x: f"{x:>10}",
                                  head=[f"{name:>10}" for name in NAMES]), {}, PLAIN),
    "markdown": ("a.txt", text([["", *row, ""] for row in X],
                               between="|", head=["", *NAMES, "\n|---|---|---|---|"]), {}, PLAIN),
    "blanks after commas": ("a.csv", text(X, between=", "), {}, PLAIN),
    "trailing separators": ("a.csv", text([[*row, ""] for row in X], [*NAMES, ""]), {}, PLAIN),
    "trailing separators below": ("a.csv", text([[*row, ""] for row in X]), {}, PLAIN),
    "empty lines below": ("a.csv", csv(frame()) + ",,,\n,,,\n\n", {}, PLAIN),
    "old mac lines": ("a.csv", csv(frame()).replace("\n", "\r"), {}, PLAIN),
    "excel's sep=": ("a.csv", "sep=;\n" + text(X, between=";", write=comma), {}, PLAIN),
    "comments above": ("a.csv", "# exported 2024\n# by hand, twice\n" + csv(frame()), {}, PLAIN),
    "a title above": ("a.csv", "Results of the trial,,,\n,,,\n" + csv(frame()), {}, PLAIN),
    "units below the names": (
        "a.csv", csv(frame()).replace("\n", "\ncm,kg,years,mg\n", 1), {},
        PLAIN | {"how": "line 2 not a sample ('cm', 'kg', 'years')"}),
    "write.csv of R": ("a.csv", csv(frame(), quoting=2, index=True).replace('""', '""', 1), {},
                       PLAIN | {OUT: {"column 0": "counts the rows"}}),
    "write.table of R": (
        "a.txt", text([[f'"r{i}"', *row] for i, row in enumerate(X)], between=" "), {},
        PLAIN | {"ids": tuple(f"r{i}" for i in range(N))}),
    "NA of R": ("a.csv", csv(frame(age=GAPS), na_rep="NA"), {}, {"X": HOLED}),
    "signs of missing values": ("a.csv", csv(frame(age=GAPS), na_rep="n/a"), {}, {"X": HOLED}),
    "#N/A of excel": ("a.csv", csv(frame(age=GAPS), na_rep="#N/A"), {}, {"X": HOLED}),
    "points of sas": ("a.csv", csv(frame(age=GAPS), na_rep="."), {}, {"X": HOLED}),
    "blanks of spss": ("a.csv", csv(frame(age=GAPS), na_rep=" "), {}, {"X": HOLED}),
    "a code for missing values": ("a.csv", csv(frame(age=GAPS), na_rep="-999"), {}, "na='-999'"),
    "a code that is told": ("a.csv", csv(frame(age=GAPS), na_rep="-999"), {"na": "-999"},
                            {"X": HOLED}),
    "a word that is told": ("a.csv", csv(frame(age=GAPS), na_rep="lost"), {"na": "lost"},
                            {"X": HOLED}),
    "a word among numbers": ("a.csv", with_cell(4, 2, "lost"), {},
                             r"line 6, column 3 \('age'\): 'lost' .* na=.*drop="),
    "below detection": ("a.csv", with_cell(7, 1, "<0.5"), {}, r"line 9, column 2 .*'<0.5'"),
    "infinite": ("a.csv", with_cell(7, 1, "inf"), {}, r"line 9, column 2 .*'inf'"),
    "thousands": ("a.csv", csv(pd.DataFrame(THOUSANDS, columns=list(NAMES))), {}, {"X": BIGGER}),
    "thousands of switzerland": (
        "a.csv", csv(pd.DataFrame(THOUSANDS, columns=list(NAMES)).replace(",", "'", regex=True)),
        {}, {"X": BIGGER}),
    "a thousand or a decimal": (
        "a.csv", text([[f"{1 + i % 9},{100 + 7 * i}", i % 7] for i in range(N)], "ab", ";"), {},
        "decimal="),
    "thousands of france": (
        "a.csv", text([[f"{value:,.1f}".replace(",", "\u202f").replace(".", ","), i % 7]
                       for i, value in enumerate(BIG)], "ab", ";"), {},
        {"X": np.column_stack([BIG, np.arange(N) % 7])}),
    "thousands of germany alone": (
        "a.csv", text([[f"{1 + i % 9}.{100 + 7 * i}", i % 7] for i in range(N)], "ab", ";"), {},
        "'1.100', which is a thousand or a decimal"),
    "powers of ten in germany": (
        "a.csv", text([[comma(f"{x:.3E}") for x in row] for row in X], between=";"), {}, PLAIN),
    "a minus sign of a typesetter": (
        "a.csv", text(-X, write=lambda x: str(x).replace("-", "\u2212")), {}, {"X": -X}),
    "a code among answers": (
        "a.csv", text([[1 + i % 5 if i % 9 else 9, *X[i]] for i in range(N)], ("q1", *NAMES)), {},
        "na='9'"),
    "dates as an index": ("a.csv", csv(frame().set_index(DAYS), index=True), {},
                          PLAIN | {OUT: {"column 0": "dates"}}),
    "times in seconds": (
        "a.csv", csv(frame(t=1_700_000_000 + np.random.default_rng(5).permutation(9 * N)[:N])), {},
        PLAIN | {OUT: {"t": "nine digits or more"}}),
    "two lines of names": (
        "a.csv", csv(frame()).replace("\n", "\nmean,mean,sd,sd\n", 1), {},
        PLAIN | {"how": "line 2 not a sample"}),
    "a title and names with blanks": (
        "a.txt", "height (cm) weight (kg)\n" + text(X[:, :2], None, " "), {},
        "line 1 names 4: mend that line, or say separator="),
    "means and deviations below": (
        "a.csv", csv(frame(who=WORDS)) + "1,2,3,4,Mean\n1,2,3,4,SD\n", {},
        PLAIN | {"how": "last 2 lines left out"}),
    "an average that others are": (
        "a.csv", csv(frame(who=["average", "good"] * (N // 2))) + "1.5,2,3,4,average\n", {},
        {"n": N + 1}),
    "empty lines between": ("a.csv", csv(frame()).replace("\n", "\r\n\r\n"), {}, PLAIN),
    "wavelengths and ids": (
        "a.csv", text([[f"S{i}", *row] for i, row in enumerate(SPECTRA)], ("id", *WAVES)), {},
        {"X": SPECTRA, "names": WAVES}),
    "a workbook with a title": ("a.xlsx", written("to_excel", index=False, startrow=3), {}, PLAIN),
    "spss without its reader": ("a.sav", b"$FL2", {}, "pyreadstat|not to be read as sav"),
    "money": ("a.csv", text([[f"${value}", *row[1:]] for value, row in zip(BIG, X, strict=True)]),
              {}, {"X": BIGGER}),
    "per cent": ("a.csv", percent(), {}, {"X": np.column_stack([X, SHARES])}),
    "text, dates, truth values, ids": (
        "a.csv",
        csv(frame(colour=WORDS, day=DAYS.astype(str), smoker=np.arange(N) % 2 == 0,
                  patient_id=np.random.default_rng(4).integers(1000, 9999, N))),
        {}, PLAIN | {OUT: {"colour": "text", "day": "dates", "smoker": "truth values",
                           "patient_id": "ids, by its name"}}),
    "yes and no": ("a.csv", csv(frame(smoker=["yes", "no"] * (N // 2))), {},
                   PLAIN | {OUT: {"smoker": "truth values"}}),
    "yes and no, kept": ("a.csv", csv(frame(smoker=["yes", "no"] * (N // 2))), {"keep": "smoker"},
                         {"X": np.column_stack([X, np.arange(N) % 2 == 0])}),
    "german dates": ("a.csv", csv(frame(day=DAYS.strftime("%d.%m.%Y")), sep=";", decimal=","), {},
                     PLAIN | {OUT: {"day": "dates"}}),
    "dates as numbers": ("a.csv", csv(frame(day=DAYS.strftime("%Y%m%d").astype(int))), {},
                         PLAIN | {OUT: {"day": "dates, written as numbers"}}),
    "ids with leading zeros": ("a.csv", csv(frame(code=[f"{7 * i:05d}" for i in range(N)])), {},
                               PLAIN | {OUT: {"code": "leading zeros"}}),
    "constants and empty columns": (
        "a.csv", csv(frame(five=5.0, nothing=np.nan)), {},
        PLAIN | {OUT: {"five": "constant", "nothing": "empty"}}),
    "an index without a name": ("a.csv", csv(frame(), index=True), {},
                                PLAIN | {OUT: {"column 0": "counts the rows"}}),
    "a counting column": ("a.csv", csv(frame(run=np.arange(1, N + 1))), {},
                          PLAIN | {OUT: {"run": "counts the rows"}}),
    "a counting column, kept": ("a.csv", csv(frame(run=np.arange(1, N + 1))), {"keep": ["run"]},
                                {"X": np.column_stack([X, np.arange(1, N + 1)])}),
    "columns dropped and named": (
        "a.csv", csv(frame(colour=WORDS)), {"drop": "age,3", "id": "colour"},
        {"X": X[:, :2], "ids": tuple(WORDS), OUT: {"age": "told"}}),
    "weights": ("a.csv", csv(frame()), {"weights": "dose"},
                {"X": X[:, :3], "weights": X[:, 3]}),
    "two columns of one name": ("a.csv", csv(frame()).replace("weight", "height"), {},
                                {"X": X, "names": ("height (column 0)", "height (column 1)",
                                                   "age", "dose")}),
    "no names": ("a.csv", text(X, None), {}, {"X": X, "names": None}),
    "no names, and words": ("a.csv", IRIS, {}, {"X": X, "names": ("0", "1", "2", "3")}),
    "no names, counts": ("a.csv", text(COUNTS, None), {}, {"X": COUNTS, "names": None}),
    "wavelengths as names": ("a.csv", text(SPECTRA, WAVES), {}, {"X": SPECTRA, "names": WAVES}),
    "numbers as names": ("a.csv", csv(pd.DataFrame(X)), {}, {"X": X, "names": tuple("0123")}),
    "years as names, of counts": (
        "a.csv", text(COUNTS[:, :3], ("2003", "2007", "2020")), {}, "header=True or header=False"),
    "years as names, told": ("a.csv", text(COUNTS[:, :3], ("2003", "2007", "2020")),
                             {"header": True}, {"names": ("2003", "2007", "2020")}),
    "no names, told": ("a.csv", text(COUNTS[:, :3], ("2003", "2007", "2020")), {"header": False},
                       {"n": N + 1, "names": None}),
    "a row of totals": ("a.csv", csv(frame(who=WORDS)) + "9,9,9,9,Total\n", {}, PLAIN),
    "a row of sums": ("a.csv", csv(frame()) + ",".join(map(str, X.sum(axis=0))) + "\n", {},
                      PLAIN | {"how": "sums of those above"}),
    "a note below": ("a.csv", csv(frame(who=WORDS)) + '"Source: made up",,,,\n', {}, PLAIN),
    "gzip": ("a.csv.gz", gzip.compress(csv(frame()).encode()), {}, PLAIN),
    "bzip2": ("a.csv.bz2", bz2.compress(csv(frame()).encode()), {}, PLAIN),
    "xz": ("a.csv.xz", lzma.compress(csv(frame()).encode()), {}, PLAIN),
    "zip": ("a.zip", zipped(csv(frame())), {}, PLAIN),
    "a workbook": ("a.xlsx", written("to_excel", frame(day=DAYS, who=WORDS), index=False), {},
                   PLAIN | {OUT: {"day": "dates", "who": "text"}}),
    "a workbook named csv": ("a.csv", written("to_excel"), {}, "Excel file .* must end in .xlsx"),
    "parquet": ("a.parquet", written("to_parquet", frame(day=DAYS, who=WORDS)), {},
                PLAIN | {OUT: {"day": "dates", "who": "text"}}),
    "feather": ("a.feather", written("to_feather"), {}, PLAIN),
    "json": ("a.json", frame().to_json(orient="records").encode(), {}, PLAIN),
    "lines of json": ("a.jsonl", frame().to_json(orient="records", lines=True).encode(), {}, PLAIN),
    "stata": ("a.dta", written("to_stata", write_index=False), {}, PLAIN),
    "a pickle": ("a.pkl", b"", {}, "may run code"),
    "a line too short": ("a.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n", {}, "line 3: has 2 cells where 3"),
    "a line too long": ("a.csv", "a,b,c\n1,2,3\n4,5,6,7\n6,7,8\n", {}, "line 3.* 4 cells where 3"),
    "names of fewer columns": ("a.csv", "a,b\n1,2,3,4\n4,5,6,7\n6,7,8,9\n", {},
                               "has 4 cells in most lines, where line 1 names 2"),
    "empty": ("a.csv", "", {}, "the file is empty"),
    "names alone": ("a.csv", "a,b,c\n", {}, "no line follows the names"),
    "words alone": ("a.csv", "a,b\nx,y\nz,w\n", {}, "no column of numbers is left"),
    "bytes of zero": ("a.csv", b"a,b\n\0\1\2\3\4", {}, "it is no text"),
}  # fmt: skip
