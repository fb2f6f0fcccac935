"""The reproduction ledger as a page of the book, and as comma-separated values."""

import csv
import io
from pathlib import Path

from fspca.catalogue import CATALOGUE
from fspca.files import write_whole
from fspca_reproduction.claim import judged, judges, papers
from fspca_reproduction.ledger import entries, entry
from fspca_reproduction.results import ROOT, need_checkout, published, stored
from fspca_reproduction.supply import SUPPLIES, rows_by_set, rows_by_supply, supply
from fspca_reproduction.verdict import DIFFERS, MARKS

TEMPLATE = Path(__file__).with_name("ledger_page.md")
PAGE, TABLE = ROOT / "book" / "appendix" / "ledger.md", ROOT / "book" / "static" / "ledger.csv"


def tally(rows):
    """Return how many of the paper's rows have each verdict, in the order of MARKS."""
    return [sum(row["verdict"] == verdict for row in rows if row["published"]) for verdict in MARKS]


def count_asked(rows):
    """Return the number of rows that are not the paper's."""
    return sum(not row["published"] for row in rows)


def spoken(rows):
    """Return the counts of verdicts as words."""
    counts = zip(MARKS, tally(rows), strict=True)
    return ", ".join(f"{number} {verdict}" for verdict, number in counts if number)


def markdown(header, lines):
    """Return a table."""
    lines = (header, ["---"] * len(header), *lines)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def folded(title, body):
    return f":::{{dropdown}} {title}\n{body}\n:::"


def number_tables(said, pairs):
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
    if rule := said.get("rule"):
        found.append(folded("The rule", "\n".join(f"- {line}" for line in rule)))
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


def sentence_table(pairs):
    """Return a table of the rows that are sentences, folded where it is long."""
    rules = list(dict.fromkeys(each.claim.rule for each, _ in pairs))
    lines = [
        [each.text + " (asked by us)" * (each.claim.whose == "us"),
         each.claim.rule if len(rules) > 1 else "", row["ours"], row["verdict"],
         row["why"].removeprefix(each.claim.rule).removeprefix("; ")] for each, row in pairs
    ]  # fmt: skip
    found = markdown(["sentence", "holds if", "ours", "verdict", "reason"], lines)
    found = folded(f"{len(lines)} sentences", found) if len(lines) > 20 else found
    return [found] if len(rules) > 1 else [f"How they are judged: {rules[0]}.", found]


def section(name):
    """Return the part of the page about a table or figure."""
    pairs = [(each, entry(name, each)) for each in judged(name)]
    mine = [pair for pair in pairs if pair[0].place]
    spoken_of = [pair for pair in pairs if not pair[0].place]
    parts = [f"## {title(name)}", f"Computed and drawn [in the chapter]({name})."]
    if mine:
        parts += number_tables(published(name), mine)
        reasons = {each.claim.reason for each, _ in mine if each.verdict == DIFFERS}
        parts += [f"Numbers that differ (≠): {reason}." for reason in sorted(reasons)]
    return "\n\n".join([*parts, *(sentence_table(spoken_of) if spoken_of else [])])


def title(name):
    return f"{name.split('_')[0]}, {published(name)['title']}"


def summary(rows):
    """Return the table on top: for each id what is compared, how, and how it came out."""
    lines = []
    for name in judges():
        mine = [row for row in rows if row["id"] == name]
        data = max((row["data"] for row in mine if row["data"]), key=SUPPLIES.index, default="")
        function = mine[0]["function"].removeprefix("fspca_reproduction.")
        lines.append([f"[{title(name)}]({name})", sum(tally(mine)), *tally(mine), count_asked(mine),
                      data, f"`{function}`", mine[0]["seconds"]])  # fmt: skip
    seconds = f"{sum(stored(name)['seconds'] for name in judges()):.4g}"
    lines.append(["**all**", sum(tally(rows)), *tally(rows), count_asked(rows), "", "", seconds])
    return markdown(["what", "rows", *MARKS, "asked by us", "data", "function", "seconds"], lines)


def data_sets():
    """Return a table of the catalogue: where each set comes from, and what rests on it."""
    lines = [
        [f"`{name}`", CATALOGUE[name].source, supply(name), sum(found.values()),
         ", ".join(f"`{each}`" for each in found)] for name, found in rows_by_set(papers()).items()
    ]  # fmt: skip
    return markdown(["set", "what", "data", "stored rows", "of"], lines)


def page():
    """Return the chapter's text."""
    parts = {"summary": summary(entries()), "sections": "\n\n".join(map(section, judges()))}
    template = TEMPLATE.read_text(encoding="utf-8")
    return template.format(**parts, sets=data_sets(), **rows_by_supply(papers()))


def table():
    """Return all rows as comma-separated values."""
    file, rows = io.StringIO(), entries()
    writer = csv.DictWriter(file, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def write_page():
    """Write the page and the table; return their paths."""
    need_checkout()
    write_whole(PAGE, page())
    write_whole(TABLE, table())
    return PAGE, TABLE
