"""How a figure of a chapter is stored: as vector graphics, with a picture beside them."""

import io
import re
from base64 import b64encode

import matplotlib.pyplot as plt
from IPython import get_ipython
from IPython.display import display
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from PIL import Image

# The bytes are those of the last run: no trace of date and program, one font for all.
UNSIGNED = dict.fromkeys(("Creator", "Date", "Format", "Type"))
FONT = {"font.sans-serif": ["DejaVu Sans"]}
COLOURS = 48  # of a picture; more double its weight and are not seen
DENSE = 1000  # marks, from which on they are drawn as pixels
LEAST, SIZE = 8, 11.5  # points of a text, and of one with indices, which are 0.7 of it
INDEXED = re.compile(r"\$.*[_^].*\$")


def vector_figures():
    """Store every figure from here on as vector graphics, the same bytes in each run."""
    if shell := get_ipython():
        shell.display_formatter.ipython_display_formatter.for_type(Figure, shown)


def shown(figure):
    """Show a figure: dense marks as pixels, indices and exponents large enough to read."""
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        if axis.get_scale() in ("log", "symlog"):
            axis.set_tick_params(which="both", labelsize=SIZE)
    for artist in figure.findobj():
        if isinstance(artist, Text):
            least = SIZE if INDEXED.search(artist.get_text()) else LEAST
            artist.set_size(max(least, artist.get_size()))
        elif marks(artist) >= DENSE:
            artist.set_rasterized(True)
    file = io.StringIO()
    with plt.style.context(["fspca.plots.book", FONT]):
        figure.savefig(file, format="svg", dpi=150, bbox_inches="tight", metadata=UNSIGNED)
        data = {"image/svg+xml": file.getvalue(), "image/png": picture(figure)}
    display(data | {"text/plain": repr(figure)}, raw=True)


def picture(figure):
    """Return a figure as pixels, for viewers that show no vectors of a notebook not yet trusted."""
    file, small = io.BytesIO(), io.BytesIO()
    figure.savefig(file, format="png", dpi=100, bbox_inches="tight")
    pixels = Image.open(file).convert("RGB")
    pixels.quantize(COLOURS, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    return b64encode(small.getvalue()).decode()


def marks(artist):
    """Return how many marks an artist draws one by one."""
    if isinstance(artist, QuadMesh):
        return artist.get_array().size
    if isinstance(artist, Line2D):
        return len(artist.get_xdata()) if artist.get_marker() not in ("", "None", None) else 0
    return len(artist.get_offsets()) if hasattr(artist, "get_offsets") else 0
