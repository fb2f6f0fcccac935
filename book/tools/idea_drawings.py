"""Draw the ideas that the chapters rest on, one picture each, as vectors.

    python book/tools/idea_drawings.py

Ink is black, ground is white, and `figures.py` gives both to the page's theme; what matters is
told apart by filling, dashes and words too, so that grey paper shows it.
"""

import math
from pathlib import Path

import numpy as np

import toc

FOLDER = Path(__file__).parents[1] / "static" / "ideas"
WIDTH = 460  # so that a letter of 16 is 11 on a phone of 360
INK, GROUND, GREY, PALE = "#000000", "#ffffff", "#999999", "#dddddd"
BLUE, ORANGE = "#0072B2", "#D55E00"


def go_diagonal():
    """Of a matrix of rank m the diagonal tells all: the k largest entries are the best choice."""
    diagonal = [5.1, 8.4, 2.6, 7.2, 3.4, 6.3]
    chosen = sorted(np.argsort(diagonal)[-3:])
    cell, left, top = 32, 24, 46
    parts = [words(left, 30, "A, of rank m"), words(270, 30, "its diagonal")]
    for i, value in enumerate(diagonal):
        for j in range(6):
            fill = PALE if i in chosen and j in chosen else GROUND
            parts.append(box(left + j * cell, top + i * cell, cell, cell, fill, GREY))
        fill = BLUE if i in chosen else GROUND
        parts.append(box(left + i * cell + 4, top + i * cell + 4, cell - 8, cell - 8, fill))
        parts.append(box(270, top + i * cell + 5, 20 * value, cell - 10, fill))
        parts.append(words(262, top + i * cell + 21, i, "end"))
    told = "The k longest bars are the best choice,"
    parts += [words(24, 266, told), words(24, 288, "and their sum is what it explains.")]
    return 302, parts


def explained(x):
    """A curve with a summit: what a choice explains."""
    return 130 + 62 * math.sin((x - 120) / 95) + 0.06 * x


def proxy(x, now=70, bend=0.0045):
    """A parabola that touches the curve at the present choice and lies below it."""
    slope = 62 / 95 * math.cos((now - 120) / 95) + 0.06
    return explained(now) + slope * (x - now) - bend * (x - now) ** 2


def ipu_proxy():
    """The proxy lies below and touches, so its summit is a better choice."""
    at = lambda x, value: (30 + x, 262 - value)  # noqa: E731
    xs, now = range(0, 401, 4), 70
    after = max(xs, key=proxy)
    below = [at(x, proxy(x)) for x in xs if proxy(x) > 4]
    parts = [
        line([at(0, 0), at(410, 0)]),
        line([at(x, explained(x)) for x in xs], width=2.5),
        line(below, BLUE, 2.5, dashed=True),
        line([at(now, 0), at(now, explained(now))], GREY, dashed=True),
        line([at(after, 0), at(after, explained(after))], GREY, dashed=True),
        dot(*at(now, explained(now)), INK),
        dot(*at(after, proxy(after)), BLUE),
        dot(*at(after, explained(after)), ORANGE),
    ]
    return 302, [
        *parts,
        words(at(now, 0)[0], 284, "now", "middle"),
        words(at(after, 0)[0], 284, "next", "middle"),
        words(440, 284, "choices", "end"),
        words(at(after, 0)[0] - 10, at(0, explained(after))[1] - 10, "more than now", "end"),
        words(440, at(0, explained(400))[1] + 30, "explained", "end"),
        words(below[-1][0] + 10, below[-1][1] - 12, "by the proxy"),
    ]


def certificate_split():
    """What lies above a level is counted by features, what lies below by components."""
    values, level = np.array([98, 74, 44, 40, 36, 34]), 40
    parts = [
        words(24, 26, "eigenvalues"),
        line([(20, 190 - level), (186, 190 - level)], dashed=True),
    ]
    parts.append(words(192, 195 - level, "level"))
    for j, value in enumerate(values):
        x, low = 26 + 26 * j, min(value, level)
        parts.append(box(x, 190 - low, 20, low, ORANGE if j < 2 else GROUND))
        parts.append(box(x, 190 - value, 20, value - low, BLUE))
    parts.append(line([(20, 190), (186, 190)]))
    parts += [words(252, 26, "above it: the diagonal"), words(252, 134, "below it: m rests")]
    for i, value in enumerate([34, 12, 26, 8, 18, 4]):
        parts.append(
            box(252 + 26 * i, 84 - value, 20, value, BLUE if value in (34, 26) else GROUND)
        )
    parts += [line([(248, 84), (410, 84)]), words(252, 104, "its k largest features")]
    for j in range(2):
        parts.append(box(252 + 26 * j, 186 - level, 20, level, ORANGE))
    parts.append(line([(248, 186), (410, 186)]))
    parts += [box(24, 232, 210, 24, BLUE), box(234, 232, 120, 24, ORANGE)]
    parts += [line([(318, 224), (318, 264)], width=4), words(318, 284, "the optimum", "middle")]
    parts += [words(24, 222, "the sum is an upper bound")]
    return 300, parts


def node_divided():
    """A feature is in or out: each half has a bound of its own, and one may be closed."""
    parts = [line([(230, 76), (116, 130)]), line([(230, 76), (344, 130)])]
    parts += [line([(116, 186), (62, 236)]), line([(116, 186), (170, 236)])]
    parts += [
        *node(230, 26, "all choices", "bound 9.2"),
        *node(116, 134, "with feature 5", "bound 9.0"),
    ]
    parts += node(344, 134, "without it", "bound 8.1", dashed=True)
    parts += [line([(273, 90), (301, 116)], ORANGE, 4), line([(301, 90), (273, 116)], ORANGE, 4)]
    parts += [
        words(344, 218, "closed: below 8.6,", "middle"),
        words(344, 240, "the best one known", "middle"),
    ]
    parts += [words(62, 256, "with 2", "middle"), words(170, 256, "without 2", "middle")]
    return 272, parts


def node(x, y, above, below, dashed=False):
    """Return a box with two lines of text, its upper edge's middle at x, y."""
    frame = box(x - 72, y, 144, 50, GROUND, INK, dashed=dashed)
    return [frame, words(x, y + 20, above, "middle"), words(x, y + 40, below, "middle")]


def spannogram_cells():
    """Turn a direction through the plane: the chosen set changes at a few angles only."""
    V, k = np.array([[1.0, 0], [0, 1], [-1, 1]]), 2
    x, y, radius = 158, 156, 118

    def chosen(angle):
        z = V @ [math.cos(angle), math.sin(angle)]
        return tuple(int(i) for i in sorted(np.argsort(-z)[:k]) if z[i] > 1e-12)

    turn = [math.radians(n / 2 + 0.25) for n in range(720)]
    edges = [
        a - math.radians(0.25)
        for a, b in zip(turn, turn[-1:] + turn[:-1], strict=True)
        if chosen(a) != chosen(b)
    ]
    out = lambda angle, far: (x + far * math.cos(angle), y - far * math.sin(angle))  # noqa: E731
    rows = V[[1, 2]]  # whose sector holds the optimum
    best = math.atan2(*np.linalg.eigh(rows.T @ rows)[1][::-1, -1]) % math.pi
    parts = [ring(x, y, radius, GREY)]
    for edge, after in zip(edges, [*edges[1:], edges[0] + 2 * math.pi], strict=True):
        parts.append(line([(x, y), out(edge, radius)], GREY, 1.5))
        middle = edge + (0.75 if edge < best < after else 0.5) * (after - edge)
        right, down = out(middle, 0.62 * radius)
        name = ", ".join(map(str, chosen(middle))) or "none"
        parts.append(words(right, down + 6, name, "middle"))
    parts += arrow((x, y), out(best, 1.12 * radius), ORANGE)
    told = [
        "each sector:",
        "one chosen set",
        "",
        "the arrow:",
        "the best direction,",
        "in one sector",
    ]
    parts += [words(300, 70 + 24 * i, row) for i, row in enumerate(told) if row]
    return 300, parts


def two_copies():
    """One copy keeps length one, the other is sparse, and a multiplier draws them together."""
    x, y, radius = 150, 150, 104
    parts = [ring(x, y, radius, INK, 2.5)]
    parts += [
        line([(x - 136, y), (x + 136, y)], BLUE, 4),
        line([(x, y - 136), (x, y + 136)], BLUE, 4),
    ]
    turn = math.radians(38)
    here, there = (x + radius * math.cos(turn), y - radius * math.sin(turn)), (x + 74, y)
    parts += [spring(here, there), dot(*here, ORANGE), dot(*there, BLUE)]
    parts += [
        dot(312, 70, ORANGE),
        words(326, 76, "V, length one"),
        words(326, 98, "on the circle"),
    ]
    parts += [dot(312, 134, BLUE), words(326, 140, "Y, sparse"), words(326, 162, "on an axis")]
    parts += [
        spring((304, 198), (320, 198), 3),
        words(326, 204, "the multiplier"),
        words(326, 226, "draws them"),
    ]
    return 300, parts


def held_out():
    """In sample more features always explain more; on rows not seen it turns."""
    at = lambda n, share: (46 + 34 * n, 246 - 200 * share)  # noqa: E731
    seen = [at(n, 0.98 * (1 - math.exp(-(n + 0.6) / 2.6))) for n in range(9)]
    unseen = [at(n, 0.72 * (1 - math.exp(-(n + 0.6) / 1.6)) - 0.006 * n**2) for n in range(9)]
    parts = [line([(46, 40), (46, 246), (330, 246)])]
    parts.append(area(seen + unseen[::-1], PALE))
    parts += [line(seen, BLUE, 3), line(unseen, ORANGE, 3, dashed=True)]
    parts += [
        words(326, seen[-1][1] + 5, "rows at hand"),
        words(326, unseen[-1][1] + 5, "rows not seen"),
    ]
    top = min(unseen, key=lambda point: point[1])
    parts += [line([top, (top[0], 246)], GREY, dashed=True), dot(*top, ORANGE)]
    parts += [words(top[0], 268, "enough", "middle"), words(330, 268, "features k", "end")]
    parts += [
        words(20, 26, "share explained"),
        words(326, (seen[-1][1] + unseen[-1][1]) / 2 + 5, "the gap: chance"),
    ]
    return 284, parts


def table_to_choice():
    """A few columns are kept, and each component is made of these alone."""
    cell, left, top, chosen = 24, 20, 44, (1, 4, 5)
    parts = [words(left, 26, "measurements"), words(330, 26, "components")]
    for i in range(6):
        for j in range(8):
            fill = BLUE if j in chosen else GROUND
            parts.append(box(left + j * cell, top + i * cell, cell, cell, fill, GREY))
        for j in range(2):
            parts.append(box(340 + j * cell, top + i * cell, cell, cell, ORANGE, GREY))
    parts += arrow((230, top + 72), (322, top + 72), INK)
    told = [
        "Each row becomes two numbers,",
        "made of three measurements; a proof",
        "says that no other three explain more.",
    ]
    parts += [words(20, 220 + 22 * i, row) for i, row in enumerate(told)]
    return 280, parts


def sums_over_rows():
    """Each block of rows gives a small block of numbers, and these are added."""
    parts = [words(20, 26, "rows of data"), words(196, 26, "each one's part")]
    for i in range(4):
        top = 40 + 52 * i
        parts.append(box(20, top, 110, 44, PALE, GREY))
        parts += arrow((138, top + 22), (218, top + 22), INK)
        parts.append(box(228, top + 8, 56, 28, BLUE))
        parts.append(line([(292, top + 22), (340, 144)], GREY))
    parts += [box(348, 130, 56, 28, ORANGE), words(376, 116, "sum", "middle")]
    parts += [
        words(20, 274, "However many rows there are,"),
        words(20, 296, "the parts stay small."),
    ]
    return 310, parts


DRAWINGS = (
    go_diagonal,
    ipu_proxy,
    certificate_split,
    node_divided,
    spannogram_cells,
    two_copies,
    held_out,
    table_to_choice,
    sums_over_rows,
)


def words(x, y, text, anchor="start"):
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} style="fill: {INK}">{text}</text>'


def box(x, y, width, height, fill, edge=INK, dashed=False):
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} style="fill: {fill}; stroke: {edge}{dashes(dashed)}"/>'


def line(points, colour=INK, width=1.5, dashed=False):
    path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    style = f"fill: none; stroke: {colour}; stroke-width: {width}{dashes(dashed)}"
    return f'<path d="{path}" style="{style}"/>'


def area(points, fill):
    path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points) + " Z"
    return f'<path d="{path}" style="fill: {fill}; stroke: none"/>'


def dashes(dashed):
    return "; stroke-dasharray: 6 4" if dashed else ""


def dot(x, y, colour):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" style="fill: {colour}; stroke: {INK}"/>'


def ring(x, y, radius, colour, width=1.5):
    style = f"fill: none; stroke: {colour}; stroke-width: {width}"
    return f'<circle cx="{x}" cy="{y}" r="{radius}" style="{style}"/>'


def arrow(start, end, colour):
    """Return a line with a head at its end."""
    turn = math.atan2(end[1] - start[1], end[0] - start[0])
    sides = [
        (end[0] - 14 * math.cos(turn + s), end[1] - 14 * math.sin(turn + s)) for s in (0.4, -0.4)
    ]
    return [line([start, end], colour, 3), line([sides[0], end, sides[1]], colour, 3)]


def spring(start, end, turns=7, wide=6):
    """Return a zigzag from one point to another."""
    (x, y), (u, v) = start, end
    far = math.hypot(u - x, v - y)
    across = (-(v - y) / far * wide, (u - x) / far * wide)
    shares = [(n + 0.5) / turns for n in range(turns)]
    bends = [
        (x + s * (u - x) + (-1) ** n * across[0], y + s * (v - y) + (-1) ** n * across[1])
        for n, s in enumerate(shares)
    ]
    return line([start, *bends, end], INK, 1.5)


def drawn(drawing):
    """Return the text of a drawing's file."""
    height, parts = drawing()
    size = f'width="{WIDTH}px" height="{height}px" viewBox="0 0 {WIDTH} {height}"'
    font = 'font-family="DejaVu Sans, sans-serif" font-size="16"'
    ground = box(0, 0, WIDTH, height, GROUND, "none")
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>', ground, *parts, "</svg>\n"]
    )


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for drawing in DRAWINGS:
        toc.write(FOLDER / f"{drawing.__name__}.svg", drawn(drawing))
