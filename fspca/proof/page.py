"""A page that stands alone: HTML without a script, its pictures drawn in it, for screen and paper.

Whatever comes from a table is text here: `words` makes it so, and all else is made of that.
"""

import base64
import html
from typing import NamedTuple

import numpy as np

from fspca.datasets.files import printable

WIDTH, HEIGHT = 420, 260  # of a picture, in its own units: letters of 12 are read on a phone too
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 10, 42  # margins for ticks and names of axes
MARKS = {  # a shape beside the colour of each curve, for those who see fewer colours
    0: "M-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0",
    1: "M-3,-3h6v6h-6z",
    2: "M0,-4l4,7h-8z",
    3: "M-3,-3l6,6M-3,3l6,-6",
}

STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #ffffff; --soft: #595959;
  --rule: #d4d4d4; --shade: #f4f5f7; --warn: #fff4d6; --edge: #b07a00; --link: #0b57a4;
  --c0: #b34700; --c1: #1b1b1b; --c2: #0b62a4; --c3: #99467a; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececec; --paper: #16181b; --soft: #b3b3b3;
  --rule: #43474d; --shade: #202327; --warn: #3a2f12; --edge: #e0ac3a; --link: #8ec5ff;
  --c0: #ff9a57; --c1: #ececec; --c2: #74bdf5; --c3: #e39ac6; } }
@media print { :root { color-scheme: light; --ink: #000000; --paper: #ffffff; --soft: #444444;
  --rule: #bbbbbb; --shade: #ffffff; --warn: #ffffff; --edge: #b07a00; --link: #000000;
  --c0: #b34700; --c1: #000000; --c2: #0b62a4; --c3: #99467a; } }
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 52rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; }
h2 { border-bottom: 1px solid var(--rule); padding-bottom: .2rem; }
p { margin: .5rem 0; } a { color: var(--link); } ul { padding-left: 1.2rem; }
code { font: .9em ui-monospace, monospace; }
pre { background: var(--shade); border: 1px solid var(--rule); padding: .6rem .8rem;
  white-space: pre-wrap; }
.short { background: var(--shade); border: 1px solid var(--rule); padding: .4rem 1rem; }
.warnings { background: var(--warn); border-left: 4px solid var(--edge); padding: .4rem 1rem;
  margin-top: 1rem; }
.warnings h2 { margin: .3rem 0; border: 0; font-size: 1.1rem; }
.wide { overflow-x: auto; margin: .8rem 0; }
.wide:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .93rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem .2rem 0; text-align: right; vertical-align: top;
  border-bottom: 1px solid var(--rule); white-space: nowrap; overflow-wrap: normal; }
th { font-weight: 600; } thead th { vertical-align: bottom; white-space: normal; }
.text { text-align: left; }
.text span { display: block; width: max-content; max-width: min(20rem, 42vw);
  white-space: normal; overflow-wrap: anywhere; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
caption span { display: block; max-width: calc(100vw - 2rem); overflow-wrap: anywhere; }
figure { margin: 1rem 0; max-width: 36rem; } figcaption { color: var(--soft); }
svg { width: 100%; height: auto; display: block; }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
@media (max-width: 30rem) { svg text { font-size: 15px; } }
svg .axis { stroke: var(--soft); } svg .grid { stroke: var(--rule); }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; }
.legend svg { display: inline-block; width: 2.4rem; height: .9rem; vertical-align: -.1rem; }
.curve { fill: none; stroke-width: 1.6; } .mark { stroke-width: 1.4; }
.s0 { stroke: var(--c0); } .s1 { stroke: var(--c1); stroke-dasharray: 5 3; }
.s2 { stroke: var(--c2); } .s3 { stroke: var(--c3); stroke-dasharray: 2 3; }
.m0 { fill: var(--c0); stroke: var(--c0); } .m1 { fill: var(--paper); stroke: var(--c1); }
.m2 { fill: var(--c2); stroke: var(--c2); } .m3 { fill: none; stroke: var(--c3); }
.between { fill: var(--c0); fill-opacity: .15; } .point { fill: var(--c2); fill-opacity: .6; }
.choice { stroke: var(--soft); stroke-dasharray: 1 3; }
@media print { @page { margin: 1.6cm; } html { font-size: 10pt; }
  main { max-width: none; padding: 0; } h2 { break-after: avoid; }
  figure, table, tr, .short, .warnings { break-inside: avoid; } .text span { max-width: 7cm; }
  thead { display: table-header-group; }
  .wide { overflow: visible; } figure { max-width: 12cm; } }
"""


def words(text):
    """Return text that is nothing but text in HTML, in an attribute too.

    >>> words('<script>"&')
    '&lt;script&gt;&quot;&amp;'
    """
    return html.escape(printable(str(text)), quote=True)


def in_digits(value, digits=3):
    """Return a number with so many digits that count, and a minus as typesetters set it.

    >>> in_digits(-0.25), in_digits(0.0), in_digits(12345.6)
    ('\u22120.25', '0', '1.23e+04')
    """
    return f"{value:.{digits}g}".replace("-", "\u2212") if value else "0"


def percent(share):
    """Return a share in percent.

    >>> percent(0.4567)
    '45.7 %'
    """
    return f"{in_digits(100 * share)} %"


def html_section(title, *parts):
    """Return a section with a heading."""
    return f"<section><h2>{words(title)}</h2>\n" + "\n".join(filter(None, parts)) + "\n</section>"


def paragraph(*sentences):
    """Return sentences as a paragraph."""
    return f"<p>{words(' '.join(filter(None, sentences)))}</p>"


def html_list(sentences, kind=""):
    """Return sentences as a list."""
    lines = "".join(f"<li>{words(each)}</li>" for each in sentences)
    return f'<ul class="{kind}">{lines}</ul>' if lines else ""


def html_table(caption, heads, rows, texts=1):
    """Return a table whose first columns are text; the first cell of a row is its heading.

    It is moved sideways by keyboard too, where the window is narrower.
    """
    kinds = ['class="text" ' if j < texts else "" for j in range(len(heads))]
    head = "".join(
        f'<th {kind}scope="col">{spanned(kind, each)}</th>'
        for kind, each in zip(kinds, heads, strict=True)
    )
    body = []
    for first, *rest in rows:
        cells = "".join(
            f"<td {kind.strip()}>{spanned(kind, each)}</td>"
            for kind, each in zip(kinds[1:], rest, strict=True)
        )
        head_of_row = f'<th class="text" scope="row">{spanned("text", first)}</th>'
        body.append(f"<tr>{head_of_row}{cells}</tr>")
    name = words(caption)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{name}"><table>'
        f"<caption><span>{name}</span></caption><thead><tr>{head}</tr></thead>\n<tbody>"
        + "\n".join(body)
        + "</tbody></table></div>"
    )


def spanned(kind, text):
    """Return what stands in a cell: text is broken where it is long, a number is not."""
    return f"<span>{words(text)}</span>" if kind else words(text)


def link_to_save(name, content, text):
    """Return a link that saves bytes which the page carries."""
    packed = base64.b64encode(content).decode()
    link = f"data:application/octet-stream;base64,{packed}"
    return f'<p><a download="{words(name)}" href="{link}">{words(text)}</a></p>'


def html_page(title, *parts):
    """Return the whole page; nothing in it may run or be fetched."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{words(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><main>\n<h1>{words(title)}</h1>\n" + "\n".join(filter(None, parts)) +
        "\n</main></body></html>\n"
    )  # fmt: skip


def ticks(low, high, most=6):
    """Return round numbers from low to high, few of them.

    >>> ticks(0.0, 0.9)
    [0.0, 0.2, 0.4, 0.6, 0.8]
    """
    span = high - low or abs(high) or 1.0
    step = 10.0 ** np.floor(np.log10(span / most))
    step = next(step * each for each in (1, 2, 5, 10) if span / (step * each) <= most)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(round(i * step, 12)) for i in range(first, last + 1)]


class Scale(NamedTuple):
    """Where numbers lie in a picture: on a line from `start` to `stop`, or by their logarithm."""

    low: float
    high: float
    start: float
    stop: float
    logarithmic: bool = False

    def __call__(self, values):
        values, ends = np.asarray(values, dtype=float), np.array([self.low, self.high])
        if self.logarithmic:
            values, ends = np.log(values), np.log(ends)
        share = (values - ends[0]) / (ends[1] - ends[0] or 1.0)
        return np.round(self.start + share * (self.stop - self.start), 1)


def framed(x, y, at, names, alternative, body):
    """Return a picture with its axes: `at` are the ticks of both, `names` the axes' names."""
    lines = []
    for value, place in zip(at[0], x(at[0]), strict=True):
        lines.append(f'<text x="{place}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
                     f"{in_digits(value)}</text>")  # fmt: skip
    for value, place in zip(at[1], y(at[1]), strict=True):
        lines.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
                     f'y1="{place}" y2="{place}"/>')  # fmt: skip
        lines.append(f'<text x="{LEFT - 6}" y="{place + 4}" text-anchor="end">'
                     f"{in_digits(value)}</text>")  # fmt: skip
    lines.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{HEIGHT - BOTTOM}" '
                 f'y2="{HEIGHT - BOTTOM}"/>')  # fmt: skip
    across, up = map(words, names)
    middle = (TOP + HEIGHT - BOTTOM) / 2
    lines.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" '
                 f'text-anchor="middle">{across}</text>')  # fmt: skip
    lines.append(f'<text transform="translate(12 {middle}) rotate(-90)" text-anchor="middle">'
                 f"{up}</text>")  # fmt: skip
    return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{words(alternative)}">'
            + "".join(lines) + body + "</svg>")  # fmt: skip


def svg_curves(counts, curves, chosen, names, alternative):
    """Return a picture of curves over counts; each is (name, values, errors or None) or None.

    What lies between the first two is shaded; a line stands at the count chosen.
    """
    top = max(np.max(values) for _, values, _ in filter(None, curves))
    x = Scale(counts[0], counts[-1], LEFT + 10, WIDTH - RIGHT - 8, logarithmic=True)
    y = Scale(0.0, top * 1.05 or 1.0, HEIGHT - BOTTOM, TOP)
    body = [f'<line class="choice" x1="{x(chosen)}" x2="{x(chosen)}" y1="{TOP}" '
            f'y2="{HEIGHT - BOTTOM}"/>']  # fmt: skip
    if curves[0] and curves[1]:
        there, back = zip(x(counts), y(curves[0][1]), strict=True), y(curves[1][1])[::-1]
        shape = [*there, *zip(x(counts)[::-1], back, strict=True)]
        body.append(f'<polygon class="between" points="{joined(shape)}"/>')
    for i, curve in enumerate(curves):
        if curve is not None:
            body += one_curve(i, x(counts), y, curve)
    at = shown_counts(counts, x), ticks(0.0, top)
    return framed(x, y, at, names, alternative, "".join(body))


def one_curve(i, across, y, curve):
    """Yield a curve with its marks, and bars of its errors where it has some."""
    _, values, errors = curve
    points = list(zip(across, y(values), strict=True))
    yield f'<polyline class="curve s{i}" points="{joined(points)}"/>'
    for (left, place), error in zip(points, errors if errors is not None else values, strict=True):
        if errors is not None:
            length = abs(float(y(error) - y(0.0)))
            yield f'<path class="curve s{i}" d="M{left},{place - length:.1f}v{2 * length:.1f}"/>'
        yield f'<path class="mark m{i}" transform="translate({left} {place})" d="{MARKS[i]}"/>'


def joined(points):
    """Return points as SVG takes them."""
    return " ".join(f"{left},{place}" for left, place in points)


def shown_counts(counts, x, apart=26):
    """Return the counts whose ticks have room beside each other."""
    kept = []
    for count in counts:
        if not kept or x(count) - x(kept[-1]) >= apart:
            kept.append(int(count))
    return kept


def legend(curves):
    """Return what each curve is."""
    items = [
        f'<li><svg viewBox="0 0 40 12" aria-hidden="true">'
        f'<path class="curve s{i}" d="M0,6h40"/><path class="mark m{i}" '
        f'transform="translate(20 6)" d="{MARKS[i]}"/></svg> {words(curve[0])}</li>'
        for i, curve in enumerate(curves)
        if curve is not None
    ]
    return f'<ul class="legend">{"".join(items)}</ul>'


def svg_points(across, up, names, alternative):
    """Return a picture of points."""
    sides = []
    for values, start, stop in ((across, LEFT + 6, WIDTH - RIGHT - 6),
                                (up, HEIGHT - BOTTOM - 6, TOP + 4)):  # fmt: skip
        sides.append(Scale(float(np.min(values)), float(np.max(values)), start, stop))
    x, y = sides
    body = [
        f'<circle class="point" cx="{left}" cy="{place}" r="2.6"/>'
        for left, place in zip(x(across), y(up), strict=True)
    ]
    at = ticks(x.low, x.high), ticks(y.low, y.high)
    return framed(x, y, at, names, alternative, "".join(body))


def html_figure(picture, caption, key=""):
    """Return a picture with its caption and what its curves are."""
    return f"<figure>{picture}{key}<figcaption>{words(caption)}</figcaption></figure>"
