"""One look for every figure of the book: a method keeps its colour, marker and line."""

try:
    import matplotlib.pyplot as plt
except ImportError as missing:
    raise ImportError("fspca.plots needs matplotlib: pip install 'fspca[plots]'") from missing

from fspca.registry import SOLVERS, styled

# Okabe and Ito's colours, told apart also by those who see fewer; markers and lines differ too.
OTHERS = {  # beside the solvers: bounds, and what solvers are compared with
    "variance": "#009E73 ^ -.",
    "admm": "#56B4E9 o --",
    "pca": "#CC79A7 x :",
    "dual": "#000000 o -",
    "shifted": "#56B4E9 v --",
    "diagonal": "#009E73 ^ -.",
    "eigenvalue": "#CC79A7 x :",
    "theorem": "#E69F00 s --",
    "cells": "#E69F00 2 --",
    "positive part": "#D55E00 + -",
}
STYLES = {name: styled(solver.style) for name, solver in SOLVERS.items()}
STYLES |= {name: styled(words) for name, words in OTHERS.items()}


def figure(width=6.0, height=3.4, rows=1, columns=1):
    """Return a figure on opaque white, which reads in dark mode too, and its axes."""
    drawn, axes = plt.subplots(rows, columns, figsize=(width, height), layout="constrained")
    drawn.set_facecolor("white")
    for each in drawn.axes:
        each.spines[["top", "right"]].set_visible(False)
    return drawn, axes


def curve(axes, x, y, method, label=None):
    """Draw a method's curve and write its name at the end of the line."""
    axes.plot(x, y, markersize=4, **STYLES[method])
    place = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
    colour = STYLES[method]["color"]
    axes.annotate(label or method, (x[-1], y[-1]), color=colour, **place)


def slider(pages, label, start=0):
    """Return HTML of pages behind a slider: one shows at a time, and no kernel is needed."""
    turn = (
        "[...this.closest('.pages').lastChild.children].map((p, i) => p.hidden = i != this.value)"
    )
    shown = (f"<div{' hidden' * (i != start)}>{page}</div>" for i, page in enumerate(pages))
    knob = f'<input type="range" min="0" max="{len(pages) - 1}" value="{start}" oninput="{turn}">'
    shown = f'<div aria-live="polite">{"".join(shown)}</div>'
    return f'<div class="pages"><label>{label} {knob}</label>{shown}</div>'
