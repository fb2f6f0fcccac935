"""The reproduction ledger as a page of the book: the papers' own tables, each cell a row to open.

Beside the page stand its rows: as comma-separated values and JSON, for programs, and as a script,
which a page that is opened from a disk may load.
"""

import csv
import importlib
import io
import json
import re
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path

from fspca.datasets.catalogue import CATALOGUE
from fspca.datasets.files import write_whole
from fspca_reproduction.claim import judges, papers
from fspca_reproduction.ledger import called, entries, is_weak, method_names, slug, text_of
from fspca_reproduction.results import ROOT, need_checkout, published
from fspca_reproduction.supply import rows_by_set, rows_by_supply, supply
from fspca_reproduction.verdict import CLOSE, MARKS, REPRODUCED, WITHIN

TEMPLATE = Path(__file__).with_name("ledger_page.md")
STATIC = ROOT / "book" / "static"
PAGE, TABLE, JSON = ROOT / "book/appendix/ledger.md", STATIC / "ledger.csv", STATIC / "ledger.json"
SCRIPT = STATIC / "ledger_rows.js"  # what the page shows of a row that is opened
BAR = STATIC / "how_much.html"  # the cover shows it
POOLED = ("row", "set", "method", "tolerance", "rule", "lets pass", "assumption", "reason", "data",
          "difference")  # fmt: skip


def tally(rows):
    """Return how many of the paper's rows have each verdict, in the order of MARKS."""
    mine = [row["verdict"] for row in rows if row["whose"] == "paper"]
    return [mine.count(verdict) for verdict in MARKS]


def count_asked(rows):
    """Return the number of rows that are not the paper's."""
    return sum(row["whose"] == "us" for row in rows)


def spoken(rows):
    """Return the counts of verdicts as words."""
    counts = zip(MARKS, tally(rows), strict=True)
    said = ", ".join(f"{number} {verdict}" for verdict, number in counts if number)
    return re.sub(r"(?<!\b1) differs", " differ", said)


def bar(rows):
    """Return a bar whose parts are as long as there are rows of each verdict."""
    counts = [pair for pair in zip(MARKS.items(), tally(rows), strict=True) if pair[1]]
    parts = "".join(
        f'<span class="{of_class(verdict)}" style="flex-grow:{number}">{sign} {number}</span>'
        for (verdict, sign), number in counts
    )
    label = f"Of {sum(tally(rows))}: {spoken(rows)}."
    return f'<div class="bar" role="img" aria-label="{label}">{parts}</div>\n'


def key():
    """Return which sign and colour stand for which verdict."""
    parts = [f'<span class="{of_class(v)}">{sign}</span> {v}' for v, sign in MARKS.items()]
    return f'<p class="bar-key">{" &nbsp; ".join(parts)}</p>\n'


def of_class(verdict):
    """Return the class of a verdict, which the style sheet colours: "v-within" and the like."""
    return f"v-{slug(verdict).split('-')[0]}"


def kinds(rows):
    """Yield (numbers or sentences, the paper's rows of that kind), those that there are."""
    for kind in ("number", "sentence"):
        found = [row for row in rows if row["kind"] == kind and row["whose"] == "paper"]
        if found:
            yield kind + "s", found


def come_out(rows):
    """Return how many numbers come out, or how many sentences hold, and of how many."""
    good = (REPRODUCED, CLOSE, WITHIN) if rows[0]["kind"] == "number" else (REPRODUCED,)
    return sum(row["verdict"] in good for row in rows), len(rows)


def summary(paper, rows):
    """Return a paper's sentence: what is to be taken home of it, and the counts behind."""
    told = importlib.import_module(f"{judges_of(paper)}").SUMMARY
    verbs = {"numbers": "come out", "sentences": "hold"}
    counts = ", and ".join(
        "{} of {} {} {}".format(*come_out(mine), kind, verbs[kind]) for kind, mine in kinds(rows)
    )
    return f"{told} By its rules {counts}."


def judges_of(paper):
    return next(f.__module__ for name, f in judges().items() if name.startswith(f"{paper}_"))


def how_much(rows):
    """Return what came out of each paper by itself: a sentence, and a bar for each kind."""
    body = ""
    for paper in papers():
        mine = [row for row in rows if row["paper"] == paper]
        told = f"<strong>{paper}</strong>: {escape(summary(paper, mine))}"
        body += f'<tr><th colspan="2">{told}</th></tr>\n'
        body += "".join(
            f"<tr><td>{len(some)} {kind}</td><td>{bar(some)}</td></tr>\n"
            for kind, some in kinds(mine)
        )
    return f'<table class="how-much"><tbody>\n{body}</tbody></table>\n{key()}'


def cell(row):
    """Return a cell of a paper's table: our number with its sign, over the paper's."""
    sign, near = MARKS[row["verdict"]], ""
    if row["percent"] and row["difference"]:
        near = f" ({float(row['difference'].split()[0]):+.0f} %)"
    text = f"<b>{escape(row['ours'])} {sign}</b><br>{escape(row['published'])}{near}"
    return f'<td id="{row["address"]}" class="{of_class(row["verdict"])}">{text}</td>'


def numbers_table(name, rows):
    """Return the paper's own table of its numbers, or tables, laid out as its data say."""
    layout = published(name)["numbers"]["layout"]
    folds = groupby(rows, lambda row: row["place"].get(layout.get("fold")))
    return "".join(one_table(name, layout, fold, list(some)) for fold, some in folds)


def one_table(name, layout, fold, rows):
    """Return a table; a head of two lines where columns are grouped."""
    down, across = layout["down"], [layout.get("over"), layout.get("across")]
    across = [part for part in across if part]

    def places(parts):
        found = [tuple(row["place"][part] for part in parts) for row in rows]
        return list(dict.fromkeys(found))

    lines, columns = places(down), places(across)
    cells = {
        tuple(tuple(row["place"][part] for part in parts) for parts in (down, across)): row
        for row in rows
    }
    corner = called(name, layout["fold"], fold) if fold else ""
    heads = [
        f'<tr><td colspan="{len(down)}">{escape(corner) if i == 0 else ""}</td>'
        + "".join(
            f'<th colspan="{len(list(same))}" scope="col">{escape(called(name, part, value))}</th>'
            for value, same in groupby(column[i] for column in columns)
        )
        + "</tr>"
        for i, part in enumerate(across)
    ]
    body = [
        "<tr>"
        + "".join(
            f'<th scope="row">{escape(called(name, part, value))}</th>'
            for part, value in zip(down, line, strict=True)
        )
        + "".join(
            cell(cells[line, column]) if (line, column) in cells else "<td></td>"
            for column in columns
        )
        + "</tr>"
        for line in lines
    ]
    head = f"<thead>{''.join(heads)}</thead>" if heads else ""
    return (f'<div class="ledger-scroll"><table class="ledger">{head}<tbody>\n'
            + "\n".join(body) + "\n</tbody></table></div>\n")  # fmt: skip


def sentence(row):
    """Return a sentence with its sign and the number that it hangs on."""
    sign, number = MARKS[row["verdict"]], escape(row["ours"])
    ours = f" <small>({'ours: ' * bool(number)}{number})</small>" if number else ""
    asked = " <small>(our question, not the paper's)</small>" if row["whose"] == "us" else ""
    mark = f'<b class="{of_class(row["verdict"])}">{sign}</b>'
    return f'<li id="{row["address"]}">{mark} <span>{escape(row["row"])}</span>{ours}{asked}</li>'


def section(name, rows):
    """Return the part of the page about a table or figure: as the paper has it, closed."""
    numbers = [row for row in rows if row["kind"] == "number"]
    told = [row for row in rows if row["kind"] == "sentence"]
    counts = {"number": len(numbers), "sentence": len(told)}
    counted = ", ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if n)
    weak = sum(map(is_weak, rows))
    warning = f"; {weak} by a weak rule" if weak else ""
    listed = "\n".join(map(sentence, told))
    notes = "".join(f"<li>{escape(each)}</li>" for each in published(name).get("rule", []))
    data = escape(published(name)["title"])
    return "\n".join(filter(None, [
        f'<details class="ledger-text" id="{slug(name)}" data-paper="{name.split("_")[0]}">',
        f"<summary>{data} <small>({counted}: {spoken(rows) or 'ours'}{warning})</small></summary>",
        numbers and f"<p>{escape(unit_of(name))}</p>",
        numbers and numbers_table(name, numbers),
        told and f'<ul class="ledger-sentences">\n{listed}\n</ul>',
        notes and f"<details><summary>How its numbers are judged</summary><ul>{notes}</ul>"
        "</details>",
        f'<p><a href="{chapter(name)}">The chapter</a> computes and draws it.</p></details>',
    ]))  # fmt: skip


def unit_of(name):
    unit = published(name).get("unit", published(name).get("data", ""))
    unit = f"{unit[0].upper()}{unit[1:]}. " if unit else ""
    return f"{unit}In each cell: our number with its sign, over the paper's."


@cache
def chapters():
    """Return the page of each label of a chapter's cells, from the ledger's own page."""
    found = {}
    for path in sorted((ROOT / "book").glob("*/*.ipynb")):
        text = path.read_text(encoding="utf-8")
        for label in re.findall(r'"\(([a-z0-9_]+)\)=', text):
            found[label] = f"../{path.parent.name}/{path.stem}.html#{label.replace('_', '-')}"
    return found


def chapter(name):
    return chapters().get(name, "")


def sections(rows):
    """Return all tables and figures, paper by paper."""
    parts = []
    for paper, mine in groupby(rows, lambda row: row["paper"]):
        body = [section(name, list(some)) for name, some in groupby(mine, lambda row: row["id"])]
        parts += [f"## {paper}", "```{raw} html", *body, "```", ""]
    return "\n".join(parts)


def markdown(header, lines):
    """Return a table."""
    lines = (header, ["---"] * len(header), *lines)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def data_sets():
    """Return a table of the catalogue: where each set comes from, and what rests on it."""
    lines = [
        [f"`{name}`", CATALOGUE[name].source, supply(name), sum(found.values()), len(found)]
        for name, found in rows_by_set(papers()).items()
    ]
    return markdown(["set", "what", "data", "stored rows", "of experiments"], lines)


def page(rows):
    """Return the chapter's text."""
    parts = {"summary": how_much(rows), "sections": sections(rows), "asked": count_asked(rows)}
    template = TEMPLATE.read_text(encoding="utf-8")
    return template.format(**parts, sets=data_sets(), **rows_by_supply(papers()))


COLUMNS = ("address", "paper", "text", "kind", "whose", "row", "set", "method", "published", "ours",
           "difference", "verdict", "rule", "tolerance", "lets pass", "assumption", "reason",
           "data", "command", "function", "seconds")  # fmt: skip


def table(rows):
    """Return all rows as comma-separated values."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def as_json(rows):
    """Return all rows as JSON, a line each, with our numbers under every assumption."""
    lines = [
        json.dumps({name: row[name] for name in (*COLUMNS, "values") if row[name]}, default=float)
        for row in rows
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def script(rows, text):
    """Return what the page of that text loads, its rows in the page's order.

    What many rows share is there once.
    """
    pool, listed, texts = {}, [], {}
    order = {each: at for at, each in enumerate(re.findall(r'<(?:td|li) id="([^"]+)"', text))}

    def at(words):
        return pool.setdefault(words, len(pool))

    for row in sorted(rows, key=lambda row: order[row["address"]]):
        values = [[at(name), value] for name, value in row["values"].items()]
        listed.append([*(at(row[name]) for name in POOLED), *([values] if values else [])])
        texts[slug(row["id"])] = {"name": text_of(row["id"]), "command": row["command"],
                                  "function": row["function"], "seconds": row["seconds"],
                                  "source": published(row["id"])["source"]}  # fmt: skip
    marks = {of_class(verdict): verdict for verdict in MARKS}
    aliases = {ours: key for paper in papers() for key, ours in method_names(paper).items()}
    parts = {"columns": POOLED, "marks": marks, "signs": MARKS, "aliases": aliases,
             "pool": list(pool), "texts": texts, "rows": listed}  # fmt: skip
    lines = ",\n".join(
        f"{name}:{json.dumps(part, default=float, separators=(',', ':'))}"
        for name, part in parts.items()
    )
    return f"// Made by: python -m fspca_reproduction ledger\nconst LEDGER = {{{lines}}};\n"


def made():
    """Return the text of every file that follows from the rows, by path."""
    rows = entries()
    text = page(rows)
    return {PAGE: text, TABLE: table(rows), JSON: as_json(rows), SCRIPT: script(rows, text),
            BAR: how_much(rows)}  # fmt: skip


def write_page():
    """Write the page, the rows and what the cover shows; return their paths."""
    need_checkout()
    files = made()
    for path, text in files.items():  # what is current keeps its date, and the book with it
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_whole(path, text)
    return tuple(files)
