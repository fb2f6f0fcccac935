"""The reproduction ledger: a row for every number and every claim of a paper that we repeat.

`entries()` makes the rows from data/published and data/results, `page()` the chapter of the
appendix, `table()` the same rows as comma-separated values.
"""

import csv
import io
import json
from functools import cache

import numpy as np

from fspca.experiments import tian2020_claims as claims
from fspca.experiments import tian2020_verdicts as verdicts
from fspca.experiments.runner import RESULTS, experiments, stored
from fspca.experiments.verdict import (
    DIFFERS,
    LIMIT,
    OPEN_TO_READING,
    REPRODUCED,
    WITHIN,
)

ROOT = RESULTS.parents[1]
PAGE, TABLE = ROOT / "book" / "appendix" / "ledger.md", ROOT / "book" / "static" / "ledger.csv"
COLUMNS = ("id", "row", "published", "ours", "tolerance", "why", "verdict", "function", "seconds")
SIGNS = {REPRODUCED: "=", WITHIN: "~", DIFFERS: "≠", OPEN_TO_READING: "?"}
CHECKED = "the sentence must hold at every point"
OURS = ("ours to ask", "IPU is first", "a step of SRT")  # sentences that are not the paper's
REASONS = {  # what we found out about a difference, by the beginning of its row
    "tian2020_table_2/A/": "tested afterwards: comes out where the eigenvectors of the repeated "
    "eigenvalue are not orthogonal (tian2020_scheme_a)",
    "tian2020_table_2/claim/IPU hits": "the printed table has such cells too: SRT on E and F",
    "tian2020_table_2/claim/CSSP": "its loadings are not defined; ours hit on A, B and C",
    "tian2020_table_2/claim/Every method": "the convex start is open; print has one such cell too, "
    "SRT on A",
    "tian2020_table_2/claim/The best": "SOAP on E; so it is in print",
    "tian2020_figure_2/claim/IPU": "in print at one point (TPower (G), NUS-WIDE, k = 11); others "
    "rest on our convex start",
    "tian2020_figure_2/claim/Go": "NUS-WIDE, k = 11",
    "tian2020_figure_2/claim/The k": "Lymphoma and NUS-WIDE, k = 11",
    "tian2020_figure_3/claim/": "untested: another machine and program, with shared kernels",
    "tian2020_figure_3/": "untested: another machine and program, with shared kernels",
}
METHODS = {"soap": "SOAP", "srt": "SRT", "cssp": "CSSP", "go": "Go", "ipu": "IPU",
           "greedy_tpower": "TPower (G)", "tpower": "TPower (D)", "bound": "bound"}  # fmt: skip
TITLES = {
    "tian2020_table_1": "Table 1, the schemes",
    "tian2020_table_2": "Table 2, synthetic data",
    "tian2020_figure_1": "Figure 1, two kinds of sparsity",
    "tian2020_figure_2": "Figure 2, real data",
    "tian2020_figure_3": "Figure 3, seconds",
    "tian2020_figure_4": "Figure 4, objective by step",
    "tian2020_steps": "the steps of IPU",
    "tian2020_corollaries": "Corollaries 5.3 and 5.4",
}


def entry(name, row, published, ours, tolerance, why, verdict):
    """Return a row of the ledger; its function and its seconds follow from its id."""
    function = experiments()[name]
    if verdict == DIFFERS:
        known = [text for begins, text in REASONS.items() if f"{name}/{row}".startswith(begins)]
        why = "; ".join([why, *known[:1]])
    return {
        "id": name, "row": row, "published": shown(published), "ours": shown(ours),
        "tolerance": shown(tolerance), "why": why, "verdict": verdict,
        "function": f"{function.__module__}.{name}", "seconds": seconds(name),
    }  # fmt: skip


@cache
def seconds(name):
    return shown(stored(name)["seconds"])


def shown(value):
    """Return a number with at most four digits of its own, anything else as text."""
    if isinstance(value, float | np.floating) and abs(value) < 1e-9:
        return "0"  # rounding
    if isinstance(value, float | np.floating):
        return f"{value:.2f}" if abs(value) >= 1e4 else f"{value:.4g}"
    return "" if value is None else str(value)


def of_claims(name, records):
    """Return rows for sentences of the paper, and for those that we ask ourselves."""
    rows = []
    for each in records:
        ours = any(words in each["claim"] for words in OURS)
        rows.append(entry(name, f"claim/{each['claim']}", "" if ours else "so it says",
                          each["ours"], None, CHECKED, each["verdict"]))  # fmt: skip
    return rows


def table_1():
    rows = []
    found = {each["scheme"]: each for each in stored("tian2020_table_1")["rows"]}
    for line in verdicts.published("tian2020_table_1")["rows"]:
        ours, row = found[line["scheme"]], line["scheme"]
        if "first" in line:
            text = ", ".join(map(str, line["first"])) + ", ..."
            verdict = REPRODUCED if ours["exact"] else DIFFERS
            rows.append(entry("tian2020_table_1", row, text, text if ours["exact"] else "another",
                              "1e-12", "rounding", verdict))  # fmt: skip
        else:
            near = abs(ours["z"]) <= LIMIT
            rows.append(entry("tian2020_table_1", row, f"X is {line['law']}", ours["trace"],
                              LIMIT * abs(ours["trace"] - ours["expected"]) / abs(ours["z"]),
                              f"mean trace against {ours['expected']:.4g}, its sampling error",
                              WITHIN if near else DIFFERS))  # fmt: skip
    beyond = found["D"]["least shifted rank"]
    note = {"claim": "Scheme D keeps a rank above m = 3, whatever multiple of I is added",
            "ours": beyond, "verdict": REPRODUCED if beyond > 3 else DIFFERS}  # fmt: skip
    return rows + of_claims("tian2020_table_1", [note])


def figure_1():
    ours = stored("tian2020_figure_1")["rows"][0]
    drawn = verdicts.published("tian2020_figure_1")
    patterns = {
        name: len({tuple(np.flatnonzero(w)) for w in drawn[name]})
        for name in ("element-wise", "feature")
    }
    found = {"element-wise": len(set(map(tuple, ours["tpower"]))),
             "feature": len(set(map(tuple, ours["ipu"])))}  # fmt: skip
    return [
        entry("tian2020_figure_1", f"supports of 3 components, {name}", patterns[name],
              found[name], 0, "a count", REPRODUCED if patterns[name] == found[name] else DIFFERS)
        for name in patterns
    ]  # fmt: skip


def table_2():
    why = "half a printed digit and the sampling of two means of 100"
    return [
        entry("tian2020_table_2", "/".join(c[key] for key in ("scheme", "method", "init",
              "measure")), c["published"], c["ours"], c["tolerance"],
              f"{why}; {c['open']}" if c["verdict"] == OPEN_TO_READING else why, c["verdict"])
        for c in verdicts.table_verdicts()
    ] + of_claims("tian2020_table_2", claims.table_2_claims())  # fmt: skip


def figure_2():
    why, digits = "read off a drawing", verdicts.published("tian2020_figure_2")["digits"]
    return [
        entry("tian2020_figure_2", f"{p['set']}/{p['method']}/{p['k']}",
              "< 0.05" if p["published"] is None else p["published"], p["ours"], digits,
              f"{why}; {p['open']}" if p["verdict"] == OPEN_TO_READING else why, p["verdict"])
        for p in verdicts.figure_2_points()
    ] + of_claims("tian2020_figure_2", claims.figure_2_claims())  # fmt: skip


def figure_3():
    """Seconds of two machines are not compared; on which side of IPU's they lie is."""
    drawn = verdicts.published("tian2020_figure_3")
    rows, unit = [], np.mean(drawn["values"]["ipu"])
    found = {each["k"]: each["seconds"] for each in stored("tian2020_figure_3")["rows"]}
    for method in ("soap", "srt", "go", "tpower"):
        values = drawn["values"][method]
        for i, k in enumerate(drawn["k"]):
            ends = [values[i]] if len(values) > 2 else values  # of a flat curve its range
            theirs = [value / unit for value in ends]
            ours = found[k][method]
            ours = (ours["stop"] if isinstance(ours, dict) else ours) / found[k]["ipu"]["stop"]
            rows.append(entry("tian2020_figure_3", f"{method}/{k}",
                              " to ".join(dict.fromkeys(f"{value:.2g}" for value in theirs)),
                              f"{ours:.2g}", "the same side of 1",
                              "seconds to the stop over IPU's; machines and programs differ",
                              claims.side(ours, theirs[0] > 1)))  # fmt: skip
    return rows + of_claims("tian2020_figure_3", claims.figure_3_claims())


def figure_4():
    why = "read off a drawing"
    return [
        entry("tian2020_figure_4", f"{p['method']}/step {p['step']}", p["published"],
              float(p["ours"]), p["tolerance"],
              f"{why}; {p['open']}" if p["verdict"] == OPEN_TO_READING else why, p["verdict"])
        for p in verdicts.figure_4_points()
    ] + of_claims("tian2020_figure_4", claims.figure_4_claims())  # fmt: skip


def others():
    """The number of IPU's steps, and the corollaries, which have no numbers but laws."""
    rows = stored("tian2020_steps")["rows"]
    most = max(max(each["go"], each["random"]) for each in rows)
    text = "at most 10 steps"
    steps = entry("tian2020_steps", "ipu", text, most, 10, "a count",
                  REPRODUCED if most <= 10 else DIFFERS)  # fmt: skip
    return [steps, *of_claims("tian2020_corollaries", claims.corollary_claims())]


def entries():
    """Return every row of the ledger, in the paper's order."""
    return [*table_1(), *figure_1(), *table_2(), *figure_2(), *figure_3(), *figure_4(), *others()]


def faults(ids, functions, labels, rows):
    """Return a sentence for each published id without a function, a chapter cell or a row."""
    listed = {row["id"] for row in rows}
    kinds = {"function": set(functions), "cell in a chapter": set(labels), "row": listed}
    every = sorted(set(ids) | listed)
    return [f"{i} has no {kind}" for i in every for kind, known in kinds.items() if i not in known]


def published_ids():
    """Return the ids of what the papers print."""
    return sorted(path.stem for path in (RESULTS.parent / "published").glob("*.json"))


def labels():
    """Return the labels of all notebooks' cells, "(tian2020_table_2)=" and the like."""
    found = set()
    for path in (ROOT / "book").rglob("*.ipynb"):
        for cell in json.loads(path.read_text())["cells"]:
            lines = [line.strip() for line in "".join(cell["source"]).splitlines()]
            found |= {line[1:-2] for line in lines if line.startswith("(") and line.endswith(")=")}
    return found


def tally(rows):
    """Return how many of the paper's rows have each verdict, in the order of SIGNS."""
    return [sum(row["verdict"] == verdict for row in rows if row["published"]) for verdict in SIGNS]


def markdown(header, lines):
    """Return a table."""
    rule = ["---"] * len(header)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in (header, rule, *lines))


def cell(row):
    """Return a compact cell: the paper's number, ours, and the sign of the verdict."""
    return f"{row['published'] or '·'} \\| {row['ours'] or '·'} {SIGNS[row['verdict']]}"


def grid(rows, down, across, label):
    """Return a table of cells: `down` and `across` give the keys of a row's place."""
    columns = list(dict.fromkeys(across(row) for row in rows))
    lines = {}
    for row in rows:
        lines.setdefault(down(row), dict.fromkeys(columns, ""))[across(row)] = cell(row)
    return markdown([label, *columns], [[key, *line.values()] for key, line in lines.items()])


def folded(title, body):
    return f":::{{dropdown}} {title}\n{body}\n:::"


def sentences(rows):
    """Return a table of the rows that are sentences, folded where it is long."""
    lines = [
        [row["row"].removeprefix("claim/"), "" if row["published"] else "asked by us", row["ours"],
         row["verdict"], row["why"].removeprefix(CHECKED).removeprefix("; ")]
        for row in rows
    ]  # fmt: skip
    if not lines:
        return ""
    found = markdown(["sentence", "", "ours", "verdict", "reason"], lines)
    return folded("The sentences, k by k", found) if len(lines) > 20 else found


def sections(rows):
    """Return the body of the page, a section for each id."""
    by_id = {name: [row for row in rows if row["id"] == name] for name in TITLES}
    text = []
    for name, title in TITLES.items():
        spoken_of = [row for row in by_id[name] if row["row"].startswith("claim/")]
        numbers = [row for row in by_id[name] if row not in spoken_of]
        parts = [f"## {title}", f"Computed and drawn [in the chapter]({name})."]
        if name == "tian2020_table_2":
            for scheme in "ABCDEF":
                mine = [row for row in numbers if row["row"].startswith(scheme)]
                head = f"Scheme {scheme}: {spoken(mine)}"
                parts.append(folded(head, grid(mine, method_and_start, last, "method, start")))
        elif name == "tian2020_figure_2":
            for data in dict.fromkeys(row["row"].split("/")[0] for row in numbers):
                mine = [row for row in numbers if row["row"].startswith(data)]
                head = f"{data}: {spoken(mine)}"
                parts.append(folded(head, grid(mine, method, last, "method, k =")))
        elif name in ("tian2020_figure_3", "tian2020_figure_4"):
            parts.append(folded(spoken(numbers), grid(numbers, last, method, "")))
        elif numbers:
            columns = ("row", "published", "ours", "tolerance", "why", "verdict")
            parts.append(markdown(columns, [[row[key] for key in columns] for row in numbers]))
        reasons = {row["why"].split("; ")[-1] for row in numbers if row["verdict"] == DIFFERS}
        parts += [f"Numbers that differ (≠): {reason}." for reason in sorted(reasons)]
        text.append("\n\n".join([*parts, sentences(spoken_of)]).rstrip())
    return "\n\n".join(text)


def method(row):
    name = row["row"].split("/")[-2 if "/" in row["row"] else 0]
    return METHODS.get(name, name)


def method_and_start(row):
    _, name, start, _ = row["row"].split("/")
    return f"{METHODS[name]}, {start}"


def last(row):
    return row["row"].split("/")[-1]


def spoken(rows):
    counts = zip(SIGNS, tally(rows), strict=True)
    return ", ".join(f"{number} {verdict}" for verdict, number in counts if number)


def summary(rows):
    """Return the table on top: for each id what is compared, how, and how it came out."""
    lines = []
    for name, title in TITLES.items():
        mine = [row for row in rows if row["id"] == name]
        first = mine[0]
        lines.append([f"[{title}]({name})", sum(tally(mine)), *tally(mine), asked(mine),
                      f"`{first['function'].removeprefix('fspca.experiments.')}`",
                      first["seconds"]])  # fmt: skip
    seconds = f"{sum(stored(name)['seconds'] for name in TITLES):.4g}"
    lines.append(["**all**", sum(tally(rows)), *tally(rows), asked(rows), "", seconds])
    return markdown(["what", "rows", *SIGNS, "asked by us", "function", "seconds"], lines)


def asked(rows):
    """Return the number of rows that are not the paper's."""
    return sum(not row["published"] for row in rows)


HEAD = """(ledger-page)=
# Read the reproduction ledger

This page is made by `python -m fspca.experiments ledger` from the papers' numbers in `data/published` and ours in `data/results`; a test fails if it is not what that command makes.
There is a row for every number of {{cite:t}}`tian2020` that we could read, and for the sentences that it draws from them.
The same rows, each with its published value, ours, the tolerance and its reason, the verdict, the function and the seconds: {{download}}`ledger.csv <../static/ledger.csv>`.

{summary}

*Seconds are those of the stored run, two cores for all but Figure 3.*

**The verdicts** are computed by a rule that was written before anything was compared ([stated in the chapter](claim-rule)).

| sign | verdict | what it says |
|---|---|---|
| = | reproduced | nothing is left beyond half a unit of the printed digit, or beyond what a drawing can be read off to; a sentence holds |
| ~ | within sampling error | the two means differ by no more than 2.576 standard errors beyond that |
| ≠ | differs | they do; or a sentence does not hold |
| ? | under-specified | they do, and the number rests on something that the paper does not say: it was listed as open before the comparison |

In the folded tables a cell reads *the paper's number | ours, sign*.
Beside a sentence stands the number that it rests on: a count of the points against it, or a value; in Figure 3 seconds, or a ratio to IPU.
Sentences "asked by us" are not the paper's and are not counted.
The unit of Figure 3's ratios are IPU's seconds, which the paper draws at 3.9 to 4.1; a ratio within a tenth of 1 is not told from 1 and called "within sampling error", a margin that was set after a first look.
What we could find out about the differences is in [the chapter](reproduce-tian2020).

"""  # noqa: E501


def page():
    """Return the chapter's text."""
    rows = entries()
    return HEAD.format(summary=summary(rows)) + sections(rows) + "\n"


def table():
    """Return all rows as comma-separated values."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(entries())
    return file.getvalue()


def write():
    """Write the page and the table; return their paths."""
    PAGE.write_text(page(), encoding="utf-8")
    TABLE.write_text(table(), encoding="utf-8")
    return PAGE, TABLE
