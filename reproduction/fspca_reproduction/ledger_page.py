"""The reproduction ledger as a page of the book to explore, and as comma-separated values."""

import csv
import io
import re
from html import escape
from pathlib import Path

from fspca.datasets.catalogue import CATALOGUE
from fspca.datasets.files import write_whole
from fspca_reproduction.claim import judges, papers
from fspca_reproduction.ledger import entries, is_sentence
from fspca_reproduction.results import ROOT, need_checkout, published
from fspca_reproduction.supply import SUPPLIES, rows_by_set, rows_by_supply, supply
from fspca_reproduction.verdict import MARKS

TEMPLATE = Path(__file__).with_name("ledger_page.md")
PAGE, TABLE = ROOT / "book" / "appendix" / "ledger.md", ROOT / "book" / "static" / "ledger.csv"
BAR = ROOT / "book" / "static" / "how_much.html"  # the cover shows it
DETAILS = ("published", "interval", "ours", "reason")


def tally(rows):
    """Return how many of the paper's rows have each verdict, in the order of MARKS."""
    return [sum(row["verdict"] == verdict for row in rows if row["published"]) for verdict in MARKS]


def count_asked(rows):
    """Return the number of rows that are not the paper's."""
    return sum(not row["published"] for row in rows)


def spoken(rows):
    """Return the counts of verdicts as words."""
    counts = zip(MARKS, tally(rows), strict=True)
    said = ", ".join(f"{number} {verdict}" for verdict, number in counts if number)
    return re.sub(r"(?<!\b1) differs", " differ", said)


def bar(rows):
    """Return a bar whose parts are as long as there are rows of each verdict."""
    counts = [pair for pair in zip(MARKS.items(), tally(rows), strict=True) if pair[1]]
    parts = "".join(
        f'<span class="{slug(verdict)}" style="flex-grow:{number}">{sign} {number}</span>'
        for (verdict, sign), number in counts
    )
    label = f"Of {sum(tally(rows))}: {spoken(rows)}."
    return f'<div class="bar" role="img" aria-label="{label}">{parts}</div>\n'


def key():
    """Return which sign and colour stand for which verdict."""
    parts = [f'<span class="{slug(v)}">{sign}</span> {v}' for v, sign in MARKS.items()]
    return f'<p class="bar-key">{" &nbsp; ".join(parts)}</p>\n'


def slug(verdict):
    return "verdict-" + verdict.replace(" ", "-")


def markdown(header, lines):
    """Return a table."""
    lines = (header, ["---"] * len(header), *lines)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def how_much(rows):
    """Return a bar for each paper, its numbers and its sentences apart."""
    lines = [("all", "rows", rows)]
    for paper in papers():
        mine = [row for row in rows if row["id"].startswith(f"{paper}_")]
        for kind, told in (("numbers", False), ("sentences", True)):
            lines.append((paper, kind, [row for row in mine if is_sentence(row) == told]))
    body = "".join(
        f"<tr><th>{paper}</th><td>{sum(tally(mine))} {kind}</td><td>{bar(mine)}</td></tr>\n"
        for paper, kind, mine in lines
        if sum(tally(mine))
    )
    return f'<table class="how-much"><tbody>\n{body}</tbody></table>\n{key()}'


def interval(row):
    """Return where our number may lie if the paper's is right, or what else is asked of it."""
    try:
        low, high = (float(row["published"]) + s * float(row["tolerance"]) for s in (-1, 1))
    except ValueError:
        return row["tolerance"]
    return f"{low:.4g} to {high:.4g}"


def line(row):
    """Return a row that opens to all that is known of it."""
    known = row | {"interval": interval(row), "reason": row["why"]}
    known["published"] = row["published"] or "asked by us: not the paper's, and not counted"
    terms = "".join(f"<dt>{k}</dt><dd>{escape(known[k])}</dd>" for k in DETAILS if known[k])
    place = escape(row["row"].removeprefix("claim/"))
    sentence, sign = is_sentence(row), MARKS[row["verdict"]]
    marks = f'data-verdict="{row["verdict"]}" data-method="{row["method"]}"'
    short = "" if sentence else f"{escape(row['published'])} | {escape(row['ours'])}"
    return (
        f'<tr {marks}><td class="{slug(row["verdict"])}" title="{row["verdict"]}">{sign}</td><td>'
        f"<details><summary>{place}</summary><dl>{terms}</dl></details></td><td>{short}</td></tr>"
    )


def section(name):
    """Return the part of the page about a table or figure, closed."""
    mine = [row for row in entries(name) if row["id"] == name]
    told, function = [row for row in mine if is_sentence(row)], mine[0]["function"]
    kinds = {"number": len(mine) - len(told), "sentence": len(told)}
    counted = " and ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in kinds.items() if n)
    data = ", ".join(sorted({row["data"] for row in mine if row["data"]}, key=SUPPLIES.index))
    head = "<tr><th></th><th>what</th><th>published | ours</th></tr>"
    rule = [f"- {each}" for each in published(name).get("rule", [])]
    return "\n".join([
        f":::{{dropdown}} {title(name)}: {counted}; {spoken(mine)}",
        f"Computed and drawn [in the chapter]({name}) by `python -m fspca_reproduction run {name}`,"
        f" which is `{function.removeprefix('fspca_reproduction.')}`, in {mine[0]['seconds']} "
        f"seconds{' from data ' * bool(data)}{data}.", "", *rule, "",
        "```{raw} html", f'<table class="ledger" data-id="{name}"><thead>{head}</thead><tbody>',
        *map(line, mine), "</tbody></table>", "```", ":::",
    ])  # fmt: skip


def title(name):
    return f"{name.split('_')[0]}, {published(name)['title']}"


def data_sets():
    """Return a table of the catalogue: where each set comes from, and what rests on it."""
    lines = [
        [f"`{name}`", CATALOGUE[name].source, supply(name), sum(found.values()),
         ", ".join(f"`{each}`" for each in found)] for name, found in rows_by_set(papers()).items()
    ]  # fmt: skip
    return markdown(["set", "what", "data", "stored rows", "of"], lines)


def page():
    """Return the chapter's text."""
    parts = {"summary": how_much(entries()), "sections": "\n\n".join(map(section, judges()))}
    parts |= {"all": sum(tally(entries())), "said": spoken(entries())}
    template = TEMPLATE.read_text(encoding="utf-8")
    asked = count_asked(entries())
    return template.format(**parts, asked=asked, sets=data_sets(), **rows_by_supply(papers()))


def table():
    """Return all rows as comma-separated values."""
    file, rows = io.StringIO(), entries()
    writer = csv.DictWriter(file, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def write_page():
    """Write the page, the table and the cover's bar; return their paths."""
    need_checkout()
    made = {PAGE: page(), TABLE: table(), BAR: bar(entries()) + key()}
    for path, text in made.items():  # what is current keeps its date, and the book with it
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_whole(path, text)
    return tuple(made)
