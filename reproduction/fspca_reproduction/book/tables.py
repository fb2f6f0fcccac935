"""Tables of the chapters: a paper's number over ours, a sentence, each with its verdict's sign."""

from html import escape
from itertools import groupby

from fspca_reproduction.verdict import COLOURS, MARKS


class Table:
    """Lines of cells below heads: HTML for a page, and text for a plain viewer.

    A cell is a text, or a pair of a text and the verdict that colours it.  The first `stubs` cells
    of a line are heads too; a head that repeats the one before it is written once.
    """

    def __init__(self, heads, lines, stubs=1):
        self.heads, self.stubs = [list(map(str, line)) for line in heads], stubs
        self.lines = [[c if isinstance(c, tuple) else (c, "") for c in line] for line in lines]

    def _repr_html_(self):
        heads = "".join(f"<tr>{''.join(merged(line))}</tr>" for line in self.heads)
        lines, above = [], None
        for (outer, tone), *line in self.lines:
            first = [("" if outer == above and self.stubs > 1 else outer, tone), *line]
            lines.append("".join(self.cell(j, *cell) for j, cell in enumerate(first)))
            above = outer
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f'<table class="dataframe"><thead>{heads}</thead><tbody>{body}</tbody></table>'

    def cell(self, j, text, verdict):
        text = escape(str(text)).replace("\n", "<br>")
        if j < self.stubs:
            return f'<th scope="row">{text}</th>'
        if verdict not in COLOURS:
            return f"<td>{text}</td>"
        ground = f"color-mix(in srgb, {COLOURS[verdict]} 30%, transparent)"
        return f'<td style="background: {ground}" title="{verdict}">{text}</td>'

    def __repr__(self):
        lines = [[str(text).replace("\n", " / ") for text, _ in line] for line in self.lines]
        lines = [*self.heads, *lines]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def merged(line):
    """Yield the cells of a head, in which equal ones that follow each other are one."""
    for text, same in groupby(line):
        width = len(list(same))
        yield f'<th colspan="{width}">{escape(text)}</th>' if text else "<th></th>" * width


def compared(judged, rows, columns, names=(), printed="{}", ours="{:.3g}"):
    """Return the table of a paper's numbers over ours, laid out by the parts of their places.

    `rows` and `columns` are these parts, outer ones first; `names` has what is written for them.
    """
    written, cells = dict(names), {}
    for each in judged:
        line, head = (tuple(each.place[part] for part in parts) for parts in (rows, columns))
        text = f"{printed.format(each.said)}\n{ours.format(each.ours)} {MARKS[each.verdict]}"
        cells[line, head] = text, each.verdict
    lines, heads = (list(dict.fromkeys(part)) for part in zip(*cells, strict=True))

    def named(parts):
        return [str(written.get(part, part)) for part in parts]

    return Table(
        [[*[""] * len(rows), *named(parts)] for parts in zip(*heads, strict=True)],
        [[*named(line), *(cells.get((line, head), "") for head in heads)] for line in lines],
        stubs=len(rows),
    )


def sentence_table(judged, ours="ours"):
    """Return the table of a paper's sentences: the verdict, the sentence, our number."""
    lines = [
        [(f"{MARKS[each.verdict]} {each.verdict}", each.verdict), each.text, short(each.ours)]
        for each in judged
    ]
    return Table([["verdict", "the paper's sentence", ours]], lines, stubs=0)


def short(value):
    """Return a number with three digits, and what is none as it is.

    >>> short(0.012345), short(12), short(None)
    ('0.0123', '12', '')
    """
    return "" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)
