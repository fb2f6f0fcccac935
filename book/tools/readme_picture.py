"""Draw the picture of the README: which pixels of handwritten digits are chosen.

python book/tools/readme_picture.py
"""

from pathlib import Path

import numpy as np
from fspca import Covariance, ipu
from fspca.metrics import normalised_explained_variance
from sklearn.datasets import load_digits

import toc

PICTURE = Path(__file__).parents[1] / "static" / "chosen_pixels.svg"
CELL = 18


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


def draw():
    A = Covariance.from_data(load_digits().data)
    panels = [part for i, k in enumerate((10, 20, 30)) for part in panel(A, k, 16 + 215 * i)]
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 190" role="img">'
    return "\n".join([head, '<rect width="660" height="190" fill="white"/>', *panels, "</svg>\n"])


if __name__ == "__main__":
    toc.write(PICTURE, draw())
