"""The reproduction ledger as a page of the book, and as comma-separated values."""

import csv
import io

from fspca_reproduction.asteris2014 import ledger as asteris2014_ledger
from fspca_reproduction.ledger import CHECKED, ROOT, entries
from fspca_reproduction.runner import stored
from fspca_reproduction.tan2019 import ledger as tan2019_ledger
from fspca_reproduction.verdict import DIFFERS, NOT_HAD, OPEN_TO_READING, REPRODUCED, WITHIN

PAGE, TABLE = ROOT / "book" / "appendix" / "ledger.md", ROOT / "book" / "static" / "ledger.csv"
COLUMNS = ("id", "row", "published", "ours", "tolerance", "why", "verdict", "function", "seconds")
SIGNS = {REPRODUCED: "=", WITHIN: "~", DIFFERS: "≠", OPEN_TO_READING: "?"}
MARKS = SIGNS | {NOT_HAD: "×"}
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
    **tan2019_ledger.TITLES,
    **asteris2014_ledger.TITLES,
}


def tally(rows):
    """Return how many of the paper's rows have each verdict, in the order of MARKS."""
    return [sum(row["verdict"] == verdict for row in rows if row["published"]) for verdict in MARKS]


def markdown(header, lines):
    """Return a table."""
    rule = ["---"] * len(header)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in (header, rule, *lines))


def cell(row):
    """Return a compact cell: the paper's number, ours, and the sign of the verdict."""
    return f"{row['published'] or '·'} \\| {row['ours'] or '·'} {MARKS[row['verdict']]}"


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
        elif name == "tan2019_table_2":
            parts.append(grid(numbers, method_of_cell, set_of_cell, "method"))
            parts.append(f"How the cells are read: {numbers[0]['why'].split(';')[0]}.")
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


def method_of_cell(row):
    return tan2019_ledger.NAMES[last(row)]


def set_of_cell(row):
    return row["row"].split("/")[0]


def method_and_start(row):
    _, name, start, _ = row["row"].split("/")
    return f"{METHODS[name]}, {start}"


def last(row):
    return row["row"].split("/")[-1]


def spoken(rows):
    counts = zip(MARKS, tally(rows), strict=True)
    return ", ".join(f"{number} {verdict}" for verdict, number in counts if number)


def summary(rows):
    """Return the table on top: for each id what is compared, how, and how it came out."""
    lines = []
    for name, title in TITLES.items():
        mine = [row for row in rows if row["id"] == name]
        first = mine[0]
        lines.append([f"[{title}]({name})", sum(tally(mine)), *tally(mine), asked(mine),
                      f"`{first['function'].removeprefix('fspca_reproduction.')}`",
                      first["seconds"]])  # fmt: skip
    seconds = f"{sum(stored(name)['seconds'] for name in TITLES):.4g}"
    lines.append(["**all**", sum(tally(rows)), *tally(rows), asked(rows), "", seconds])
    return markdown(["what", "rows", *MARKS, "asked by us", "function", "seconds"], lines)


def asked(rows):
    """Return the number of rows that are not the paper's."""
    return sum(not row["published"] for row in rows)


HEAD = """# Read the reproduction ledger

This page is made by `python -m fspca_reproduction ledger` from the papers' numbers in `data/published` and ours in `data/results`; a test fails if it is not what that command makes.
There is a row for every number of [Tian et al. (2020)](#tian2020) and [Tan et al. (2021)](#tan2019) that we could read, and for the sentences that they draw from them.
For [Asteris et al. (2014)](#asteris2014) there is one for every sentence about its figures and for its four certified fractions; each has a rule of its own, [written before the runs](../nonnegative/reproduce_asteris2014.ipynb#The-rules,-before-the-runs) and given beside it.
The same rows, each with its published value, ours, the tolerance and its reason, the verdict, the function and the seconds: {{download}}`ledger.csv <../static/ledger.csv>`.

{summary}

*Seconds are those of the stored run, on two cores for most of tian2020, and on one for the others.*

**The verdicts** on tian2020 are computed by a rule ([stated in the chapter](../shared_support/reproduce_tian2020.ipynb#The-rule,-before-the-numbers)); for the cells of Table 2 and the points of Figure 2 it was written before the full-size run.
Which sentences are held against the rows, and by which margins, was chosen with the rows at hand, and so was what a point of Figure 4 can be read off to.

| sign | verdict | what it says |
|---|---|---|
| = | reproduced | nothing is left beyond half a unit of the printed digit, or beyond what a drawing can be read off to; a sentence holds |
| ~ | within sampling error | the two means differ by no more than 2.576 standard errors beyond that |
| ≠ | differs | they do; or a sentence does not hold |
| ? | under-specified | they do, and the number rests on something that the paper does not say: it was listed as open before the run |
| × | not to be had | the data are in no public place that we know: no verdict |

In the folded tables a cell reads *the paper's number | ours, sign*.
Beside a sentence stands the number that it rests on: a count of the points against it, or a value; in Figure 3 seconds, or a ratio to IPU.
Sentences "asked by us" are not the paper's and are not counted.
The unit of Figure 3's ratios are IPU's seconds, which the paper draws at 3.9 to 4.1; a ratio within a tenth of 1 is not told from 1 and called "within sampling error", a margin that was set after a first look.
What we could find out about the differences is in [the chapter](../shared_support/reproduce_tian2020.ipynb).

tan2019 prints curves that could not be read off, so its sentences are held against our rows, by [a rule](../separate_supports/reproduce_tan2019.ipynb#The-rules,-before-the-runs) that was written before any run.
Its numbers have no brackets: "within sampling error" there means within 2 %, for a sentence that its comparisons cannot be told apart over ten draws, or on data by 0.1 %.

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
