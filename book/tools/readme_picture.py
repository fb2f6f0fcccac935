"""Draw the pictures of the README and of the first chapters: data, as vectors.

python book/tools/readme_picture.py
"""

from itertools import combinations
from pathlib import Path

import numpy as np
from fspca import Covariance, datasets, ipu, solve
from fspca.metrics import normalised_explained_variance
from sklearn.datasets import load_digits

import toc
from idea_drawings import BLUE, GREY, INK, ORANGE, dot, drawn, line, words

FOLDER = Path(__file__).parents[1] / "static"
CELL = 18
LEAST, ACROSS, UP = 8, 22, 17  # per cent at the corner, points for each
LEFT, BOTTOM = 46, 318  # the corner


def every_choice():
    """All choices of four columns of wine: what is explained at hand, and of other wines."""
    X = datasets.load("wine").X
    here, new = (np.corrcoef(rows.T) for rows in (X[1::2], X[::2]))
    kept = {four: shares(four, here, new) for four in combinations(range(13), 4)}
    largest = kept[tuple(sorted(np.argsort(-X[1::2].var(axis=0))[:4]))]
    best = kept[tuple(solve(here, 1, 4).support)]
    marks = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in map(place, kept.values()))
    style = f"fill: none; stroke: {GREY}; stroke-width: 4; stroke-linecap: round"
    (x, y), (u, v) = place(largest), place(best)
    parts = [
        line([(LEFT, 30), (LEFT, BOTTOM), (440, BOTTOM)]),
        f'<path d="{marks}" style="{style}"/>',
        line([(u, v), (u, BOTTOM)], INK, 1.5, dashed=True),
        dot(x, y, ORANGE),
        line([(x + 4, y + 6), (x + 48, BOTTOM - 48)], INK, 1),
        words(x + 22, BOTTOM - 32, f"largest variances: {largest[0]:.0f} %"),
        words(x + 22, BOTTOM - 12, f"({largest[1]:.0f} % of the others)"),
        dot(u, v, BLUE),
        words(u - 14, v + 2, f"best of 715: {best[0]:.0f} %,", "end"),
        words(u - 14, v + 22, f"proven ({best[1]:.0f} % of the others)", "end"),
        words(20, 20, "explained of 89 wines that took no part"),
        words(440, BOTTOM + 24, "explained of 89 wines at hand, %", "end"),
    ]
    return BOTTOM + 36, parts


def shares(chosen, *covariances):
    """Return in per cent what the best direction on some columns explains of each, by the first."""
    A, block = covariances[0], np.ix_(chosen, chosen)
    w = np.linalg.eigh(A[block])[1][:, -1]
    return [100 * (w @ each[block] @ w) / len(each) for each in covariances]


def place(kept):
    """Return where a choice lies."""
    return LEFT + ACROSS * (kept[0] - LEAST), BOTTOM - UP * (kept[1] - LEAST)


def panel(A, k, left):
    """An 8 x 8 grid, grey by variance, with the k chosen pixels filled orange."""
    solution = ipu(A, m=10, k=k, n_starts=10, seed=0)
    shade = 255 - np.round(110 * A.diagonal() / A.diagonal().max()).astype(int)
    for pixel in range(64):
        x, y = left + CELL * (pixel % 8), 34 + CELL * (pixel // 8)
        fill = "#D55E00" if pixel in solution.support else "#" + 3 * f"{shade[pixel]:02x}"
        place = f'x="{x}" y="{y}" width="{CELL - 1}" height="{CELL - 1}"'
        yield f'<rect {place} fill="{fill}" stroke="#ddd"/>'
    share = normalised_explained_variance(A, solution.W)
    label = f"k = {k}: {share:.0%} of what PCA explains"
    yield f'<text x="{left}" y="22" font-family="sans-serif" font-size="12">{label}</text>'


def chosen_pixels():
    """Which pixels of handwritten digits are chosen."""
    A = Covariance.from_data(load_digits().data)
    panels = [part for i, k in enumerate((10, 20, 30)) for part in panel(A, k, 16 + 215 * i)]
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 190" role="img">'
    return "\n".join([head, '<rect width="660" height="190" fill="white"/>', *panels, "</svg>\n"])


PICTURES = {"every_choice": lambda: drawn(every_choice), "chosen_pixels": chosen_pixels}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        toc.write(FOLDER / f"{name}.svg", draw())
