"""Text tables: encoding, separator and decimals are found from the first lines, and said."""

import bz2
import codecs
import csv
import gzip
import io
import itertools
import lzma
import re
import warnings
import zipfile
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from fspca.datasets import files
from fspca.datasets.layout import (
    GROUPS,
    SIGNS,
    Unreadable,
    is_missing,
    is_number,
    laid_out,
    numeric,
)

SEPARATORS = (",", ";", "\t", "|", " ")  # a space stands for any blanks
SAMPLE_LINES, LEAST_LINES = 200, 12  # of wide tables fewer lines say enough
SAMPLE_BYTES = 2**24
BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
BROKEN = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")


class Bounded(io.RawIOBase):
    """A stream that unfolds to no more than it may."""

    def __init__(self, stream):
        self.stream, self.left = stream, files.LARGEST

    def readable(self):
        return True

    def readinto(self, buffer):
        got = self.stream.read(len(buffer))
        self.left -= len(got)
        if self.left < 0:
            raise Unreadable(f"unfolds to more than {files.LARGEST} bytes")
        buffer[: len(got)] = got
        return len(got)

    def close(self):
        self.stream.close()
        super().close()


def unfolded(path):
    """Return the bytes of a file as a stream, unpacked where its first bytes say so."""
    with path.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(b"\x1f\x8b"):
        return io.BufferedReader(Bounded(gzip.open(path)))
    if magic.startswith(b"BZh"):
        return io.BufferedReader(Bounded(bz2.open(path)))
    if magic == b"\xfd7zXZ\x00":
        return io.BufferedReader(Bounded(lzma.open(path)))
    if magic.startswith(b"(\xb5/\xfd"):
        raise Unreadable("is packed by zstandard; unpack it first")
    if not magic.startswith(b"PK\x03\x04"):
        return path.open("rb")
    archive = zipfile.ZipFile(path)
    inside = [name for name in archive.namelist()
              if not name.endswith("/") and not name.startswith("__MACOSX")]  # fmt: skip
    if "xl/workbook.xml" in inside:
        raise Unreadable("is an Excel file by what it holds; its name must end in .xlsx")
    if len(inside) != 1:
        raise Unreadable(
            f"holds {len(inside)} files, {', '.join(inside[:3])}; unpack the one meant"
        )
    return io.BufferedReader(Bounded(archive.open(inside[0])))


def encoding_of(head):
    """Return the encoding of a text by its first bytes; what is not UTF-8 is Windows-1252.

    >>> encoding_of("Größe".encode("cp1252"))
    'cp1252'
    """
    for mark, name in BOMS.items():
        if head.startswith(mark):
            return name
    if b"\0" in head:
        for name, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
            if zeros.count(0) > 0.4 * len(zeros):
                return name
        raise Unreadable("holds bytes of zero: it is no text")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


class Format(NamedTuple):
    """How a text is to be taken apart, and its first rows with the lines at which they end."""

    encoding: str
    separator: str
    quote: str
    decimal: str
    rows: list
    lines: list


@contextmanager
def opened_text(path, encoding):
    """Open a text, unpacked, line ends as they are."""
    with unfolded(path) as raw, io.TextIOWrapper(raw, encoding, newline="") as text:
        yield text


def format_of(path, asked):
    """Return the Format of a text file, from its first lines and what is asked for."""
    with unfolded(path) as raw:
        encoding = asked["encoding"] or encoding_of(raw.read(2**16))
    with opened_text(path, encoding) as text:
        head = list(itertools.islice(limited(text), SAMPLE_LINES))
    if not any(map(str.strip, head)):
        raise Unreadable("the file is empty")
    if told := re.fullmatch(r"\ufeff?\"?sep=(.)\"?\s*", head[0]):
        asked = asked | {"separator": asked["separator"] or told[1]}
    given = asked["separator"]
    found = []
    for separator in (given,) if given else SEPARATORS:
        rows, lines = taken_apart(head, separator)
        found.append((fitness(rows, separator), separator, rows, lines))
    _, separator, rows, lines = max(found, key=lambda each: each[0])
    decimal = asked["decimal"] or decimal_of(rows, separator)
    return Format(encoding, separator, quote_of(head), decimal, rows, lines)


def limited(text):
    """Yield lines until they are enough to judge by."""
    size = 0
    for count, line in enumerate(text, start=1):
        yield line
        size += len(line)
        if size > SAMPLE_BYTES or (count >= LEAST_LINES and size > SAMPLE_BYTES // 2**9):
            return


def quote_of(head):
    """Return the sign that cells are quoted with."""
    single = sum(line.count("'") for line in head)
    return "'" if single > sum(map(len, head)) / 50 and not any('"' in s for s in head) else '"'


def taken_apart(head, separator):
    """Return the rows of some lines, and the number of the line at which each ends."""
    if separator == " ":
        return [line.split() for line in head], list(range(1, len(head) + 1))
    reader = csv.reader(head, delimiter=separator, quotechar=quote_of(head), skipinitialspace=True)
    rows, lines = [], []
    for row in reader:
        rows.append(row)
        lines.append(reader.line_num)
    return rows, lines


def fitness(rows, separator):
    """Return how well a separator fits: the share of lines of one width, and of cells of one kind.

    >>> semicolons = [["1,5", "2,5"], ["2,5", "3,5"]]
    >>> fitness(semicolons, ";") > fitness([["1", "5;2", "5"], ["2", "5;3", "5"]], ",")
    True
    """
    filled = [row for row in rows if any(map(str.strip, row))]
    widths = [len(row) for row in filled]
    width = max(set(widths), key=widths.count) if widths else 1
    if width == 1:
        return 0.0
    others = set(SEPARATORS) - {separator, " ", *("," if separator != " " else "")}
    cells = [cell for row in filled[1:] or filled if len(row) == width for cell in row]
    clean = [is_missing(c) or is_number(c) or not others & set(c) for c in cells]
    numbers = sum(map(is_number, cells)) / len(cells) if cells else 0.0
    return float(
        widths.count(width) / len(widths) * (np.mean(clean) if clean else 1) + numbers / 10
    )


def decimal_of(rows, separator):
    """Return the sign of decimals; where all that has a comma may be thousands, ask."""
    numbers = cells_of_numbers(rows)
    cells = [cell for cell in numbers if "," in cell]
    if any(re.search(r",\d+\.\d", cell) or cell.count(",") > 1 for cell in cells):
        return "."
    sure = [cell for cell in numbers if has_comma(cell)]
    points = [cell for cell in numbers if POINT.fullmatch(cell)]
    plain = [cell for cell in points if not GROUPS.fullmatch(cell) or re.match(r"[+-]?0\.", cell)]
    if sure and plain:
        raise Unreadable(f"holds {sure[0]!r} and {plain[0]!r}, decimals of two kinds: say "
                         "decimal=',' or decimal='.'")  # fmt: skip
    if sure or plain:
        return "," if sure else "."
    doubtful = cells or (points if separator != "," else [])
    if doubtful:
        raise Unreadable(f"holds {doubtful[0]!r}, which is a thousand or a decimal: say "
                         "decimal='.' or decimal=','")  # fmt: skip
    return "."


def cells_of_numbers(rows):
    """Return the cells of the columns in which, below the first row, most are numbers."""
    width = max(map(len, rows))
    columns = [[row[j].strip(" %€$£") for row in rows[1:] or rows if j < len(row)]
               for j in range(width)]  # fmt: skip
    present = [[cell for cell in cells if not is_missing(cell)] for cells in columns]
    return [cell for cells in present if numeric(cells) for cell in cells if is_number(cell)]


def has_comma(cell):
    """Say whether the comma of a number stands before decimals, and not before a thousand.

    >>> has_comma("1,5"), has_comma("0,500"), has_comma("1,500"), has_comma("1.234.567")
    (True, True, False, True)
    """
    groups = GROUPS.fullmatch(cell)
    if groups and groups[1] != ",":
        return (groups[2] or "").startswith(",") or cell.count(".") > 1
    return bool(BROKEN.fullmatch(cell)) and not (groups and not re.match(r"[+-]?0,", cell))


def text_layout(path, asked):
    """Return a text's Format and Layout, how many lines come before the samples, what is said."""
    form = format_of(path, asked)
    layout = laid_out(form.rows, asked["header"])
    skipped = form.lines[layout.start - 1] if layout.start else 0
    said = []
    if form.separator != ",":
        called = {"\t": "tabs", " ": "blanks"}.get(form.separator, repr(form.separator))
        said.append(f"separated by {called}")
    if form.decimal != ".":
        said.append("decimal comma")
    if form.encoding not in ("utf-8", "utf-8-sig"):
        said.append(f"encoding {form.encoding}")
    return form, layout, skipped, (*said, *layout.said)


def pandas_frame(path, form, layout, skipped, signs):
    """Return the frame of a text below its first lines, with a column more for cells too many."""
    import pandas as pd

    options = {
        "header": None,
        "names": range(layout.width + 1),
        "index_col": False,
        "sep": r"\s+" if form.separator == " " else form.separator,
        "decimal": form.decimal,
        "quotechar": form.quote,
        "skipinitialspace": True,
        "na_values": [*SIGNS, *signs],
    }
    if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"  # later ones always read the nearest number
    with opened_text(path, form.encoding) as text, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", pd.errors.ParserWarning)
        for _ in range(skipped):
            text.readline()
        try:
            return pd.read_csv(text, **options)
        except UnicodeDecodeError:
            if form.encoding != "utf-8":
                raise
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            if "EOF inside string" in str(error):
                raise Unreadable(f"a quote, {form.quote}, is opened and not closed") from None
            line, count = cells_of_lines(path, form, skipped, None, layout.width)
            if line is None:
                raise
            raise Unreadable(
                f"line {line} has {count} cells where {layout.width} are wanted"
            ) from None
    return pandas_frame(path, form._replace(encoding="cp1252"), layout, skipped, signs)


def cells_of_lines(path, form, skipped, row, width=None):
    """Return the line of a row, or the first line that has not so many cells, and how many."""
    with opened_text(path, form.encoding) as text:
        for _ in range(skipped):
            text.readline()
        reader = (line.split() for line in text)
        if form.separator != " ":
            reader = csv.reader(
                text, delimiter=form.separator, quotechar=form.quote, skipinitialspace=True
            )
        at = -1
        for number, cells in enumerate(reader, start=1):
            if not any(map(str.strip, cells)) and len(cells) < 2:
                continue
            at += 1
            line = skipped + getattr(reader, "line_num", number)
            if row is not None and at == row:
                return line, len(cells)
            if row is None and len(cells) != width:
                spare = cells[width:]
                if len(cells) < width or any(map(str.strip, spare)):
                    return line, len(cells)
    return None, None


def plain_numbers(path, form, skipped):
    """Return the numbers of a text, which pandas is not here to read."""
    try:
        if form.decimal != ".":
            raise ValueError("it has decimal commas")
        with opened_text(path, form.encoding) as text:
            separator = None if form.separator == " " else form.separator
            X = np.loadtxt(
                text, delimiter=separator, skiprows=skipped, ndmin=2, quotechar=form.quote
            )
        if not np.all(np.isfinite(X)):
            raise ValueError("a number is missing or infinite")
        return X
    except ValueError as error:
        raise Unreadable(
            f"what is no table of plain numbers needs pandas: pip install 'fspca[frames]' ({error})"
        ) from None
