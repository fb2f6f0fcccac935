"""The reproduction ledger as a page of the book, and as comma-separated values."""

import csv
import io

from fspca.catalogue import CATALOGUE
from fspca_reproduction.claim import judged, judges
from fspca_reproduction.ledger import SUPPLIES, entries, entry, rows_by_set, rows_by_supply, supply
from fspca_reproduction.results import ROOT, need_checkout, published, stored
from fspca_reproduction.verdict import DIFFERS, MARKS

PAGE, TABLE = ROOT / "book" / "appendix" / "ledger.md", ROOT / "book" / "static" / "ledger.csv"


def tally(rows):
    """Return how many of the paper's rows have each verdict, in the order of MARKS."""
    return [sum(row["verdict"] == verdict for row in rows if row["published"]) for verdict in MARKS]


def asked(rows):
    """Return the number of rows that are not the paper's."""
    return sum(not row["published"] for row in rows)


def spoken(rows):
    """Return the counts of verdicts as words."""
    counts = zip(MARKS, tally(rows), strict=True)
    return ", ".join(f"{number} {verdict}" for verdict, number in counts if number)


def markdown(header, lines):
    """Return a table."""
    rule = ["---"] * len(header)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in (header, rule, *lines))


def folded(title, body):
    return f":::{{dropdown}} {title}\n{body}\n:::"


def numbers(said, pairs):
    """Return the tables of a figure's numbers, `pairs` of what was judged and its row.

    Where `data/published` gives a layout it says which parts of a number's place are the columns,
    the lines, and apart in a table of its own.
    """
    layout = said.get("numbers", {}).get("layout")
    if layout is None:
        columns = ("row", "published", "ours", "tolerance", "why", "verdict")
        return [markdown(columns, [[row[key] for key in columns] for _, row in pairs])]
    tables = {}
    for each, row in pairs:
        head = each.place.get(layout.get("fold"), "")
        tables.setdefault(head, []).append((each, row))
    found = [f"How they are judged: {pairs[0][0].claim.rule.split(';')[0]}."]
    for head, mine in tables.items():
        title = spoken([row for _, row in mine])
        fold = f"{layout['fold']} {head}: {title}" if head else title
        found.append(folded(fold, grid(mine, layout, said.get("names", {}))))
    return found


def grid(pairs, layout, names):
    """Return a table of cells: the paper's number, ours, and the sign of the verdict."""
    across, lines = layout["across"], {}
    columns = list(dict.fromkeys(str(each.place[across]) for each, _ in pairs))
    for each, row in pairs:
        down = ", ".join(str(names.get(each.place[key], each.place[key])) for key in layout["down"])
        cells = lines.setdefault(down, dict.fromkeys(columns, ""))
        numbers = f"{row['published'] or '·'} \\| {row['ours'] or '·'}"
        cells[str(each.place[across])] = f"{numbers} {MARKS[row['verdict']]}"
    header = [", ".join(layout["down"]), *(names.get(column, column) for column in columns)]
    return markdown(header, [[key, *line.values()] for key, line in lines.items()])


def sentences(pairs):
    """Return a table of the rows that are sentences, folded where it is long."""
    lines = [
        [each.text, "asked by us" if each.claim.whose == "us" else "", row["ours"], row["verdict"],
         row["why"].removeprefix(each.claim.rule).removeprefix("; ")] for each, row in pairs
    ]  # fmt: skip
    rules = list(dict.fromkeys(each.claim.rule for each, _ in pairs))
    if len(rules) > 1:  # each has its own
        lines = [[*line[:2], each.claim.rule, *line[2:]]
                 for line, (each, _) in zip(lines, pairs, strict=True)]  # fmt: skip
    header = [
        "sentence",
        "",
        *(["holds if"] if len(rules) > 1 else []),
        "ours",
        "verdict",
        "reason",
    ]
    found = markdown(header, lines)
    found = folded(f"{len(lines)} sentences", found) if len(lines) > 20 else found
    return [found] if len(rules) > 1 else [f"How they are judged: {rules[0]}.", found]


def section(name):
    """Return the part of the page about a table or figure."""
    pairs = [(each, entry(name, each)) for each in judged(name)]
    mine = [pair for pair in pairs if pair[0].place]
    spoken_of = [pair for pair in pairs if not pair[0].place]
    parts = [f"## {title(name)}", f"Computed and drawn [in the chapter]({name})."]
    if mine:
        parts += numbers(published(name), mine)
        reasons = {each.claim.reason for each, _ in mine if each.verdict == DIFFERS}
        parts += [f"Numbers that differ (≠): {reason}." for reason in sorted(reasons)]
    return "\n\n".join([*parts, *(sentences(spoken_of) if spoken_of else [])])


def title(name):
    return f"{name.split('_')[0]}, {published(name)['title']}"


def summary(rows):
    """Return the table on top: for each id what is compared, how, and how it came out."""
    lines = []
    for name in judges():
        mine = [row for row in rows if row["id"] == name]
        data = max((row["data"] for row in mine if row["data"]), key=SUPPLIES.index, default="")
        function = mine[0]["function"].removeprefix("fspca_reproduction.")
        lines.append([f"[{title(name)}]({name})", sum(tally(mine)), *tally(mine), asked(mine),
                      data, f"`{function}`", mine[0]["seconds"]])  # fmt: skip
    seconds = f"{sum(stored(name)['seconds'] for name in judges()):.4g}"
    lines.append(["**all**", sum(tally(rows)), *tally(rows), asked(rows), "", "", seconds])
    return markdown(["what", "rows", *MARKS, "asked by us", "data", "function", "seconds"], lines)


def data_sets():
    """Return a table of the catalogue: where each set comes from, and what rests on it."""
    lines = [
        [f"`{name}`", CATALOGUE[name].source, supply(name), sum(found.values()),
         ", ".join(f"`{each}`" for each in found)] for name, found in rows_by_set().items()
    ]  # fmt: skip
    return markdown(["set", "what", "data", "stored rows", "of"], lines)


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
*Data* says what a row rests on: numbers *made* from a seed or by scikit-learn's own sets, a set *carried* here, one that is *fetched* from a public address, or *your own* copy, where we know no public address; [the sets](#data-sets) are listed at the end.
The unit of Figure 3's ratios are IPU's seconds, which the paper draws at 3.9 to 4.1; a ratio within a tenth of 1 is not told from 1 and called "within sampling error", a margin that was set after a first look.
What we could find out about the differences is in [the chapter](../shared_support/reproduce_tian2020.ipynb).

tan2019 prints curves that could not be read off, so its sentences are held against our rows, by [a rule](../separate_supports/reproduce_tan2019.ipynb#The-rules,-before-the-runs) that was written before any run.
Its numbers have no brackets: "within sampling error" there means within 2 %, for a sentence that its comparisons cannot be told apart over ten draws, or on data by 0.1 %.

"""  # noqa: E501


SETS = """(data-sets)=
## The data sets

Of all stored rows {made} need no set of the catalogue, {carried} one that is carried here, {fetched} one that `python -m fspca fetch` fetches, and {own} one that the reader has to supply.
`make reproduce` recomputes those whose sets are here, and leaves the others as they are stored, with what made them.

{table}"""  # noqa: E501


def page():
    """Return the chapter's text."""
    rows = entries()
    text = HEAD.format(summary=summary(rows)) + "\n\n".join(map(section, judges()))
    return text + "\n\n" + SETS.format(table=data_sets(), **rows_by_supply()) + "\n"


def table():
    """Return all rows as comma-separated values."""
    file, rows = io.StringIO(), entries()
    writer = csv.DictWriter(file, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def write():
    """Write the page and the table; return their paths."""
    need_checkout()
    PAGE.write_text(page(), encoding="utf-8")
    TABLE.write_text(table(), encoding="utf-8")
    return PAGE, TABLE
