"""One look for every figure of the book: a method keeps its colour, marker and line."""

try:
    import matplotlib.pyplot as plt
except ImportError as missing:
    raise ImportError("fspca.plots needs matplotlib: pip install 'fspca[plots]'") from missing

# Okabe and Ito's colours, told apart also by those who see fewer; markers and lines differ too.
STYLES = {
    "exhaustive": {"color": "#000000", "marker": "s", "linestyle": "-"},
    "go": {"color": "#0072B2", "marker": "o", "linestyle": "-"},
    "go, shifted": {"color": "#56B4E9", "marker": "v", "linestyle": "--"},
    "ipu": {"color": "#D55E00", "marker": "D", "linestyle": "-"},
    "variance": {"color": "#009E73", "marker": "^", "linestyle": "-."},
    "soap": {"color": "#E69F00", "marker": "P", "linestyle": "--"},
    "srt": {"color": "#CC79A7", "marker": "X", "linestyle": "-."},
    "cssp": {"color": "#009E73", "marker": "h", "linestyle": ":"},
    "greedy_tpower": {"color": "#0072B2", "marker": "<", "linestyle": "-."},
    "tpower": {"color": "#56B4E9", "marker": ">", "linestyle": "-"},
    "gpower": {"color": "#009E73", "marker": "d", "linestyle": "-"},
    "gpower, l0": {"color": "#009E73", "marker": "1", "linestyle": "--"},
    "gpower, block": {"color": "#E69F00", "marker": "8", "linestyle": "-"},
    "gpower, block l0": {"color": "#E69F00", "marker": "2", "linestyle": ":"},
    "manifold_penalty": {"color": "#CC79A7", "marker": "*", "linestyle": "-"},
    "grqi": {"color": "#D55E00", "marker": "3", "linestyle": "-."},
    "inverse_power": {"color": "#0072B2", "marker": "4", "linestyle": "--"},
    "sadmm": {"color": "#D55E00", "marker": "s", "linestyle": "-"},
    "sadmm, deflated": {"color": "#D55E00", "marker": "^", "linestyle": ":"},
    "admm": {"color": "#56B4E9", "marker": "o", "linestyle": "--"},
    "two_stage": {"color": "#000000", "marker": "D", "linestyle": "-."},
    "two_stage, refitted": {"color": "#000000", "marker": "v", "linestyle": ":"},
    "fantope": {"color": "#000000", "marker": "p", "linestyle": "--"},
    "pca": {"color": "#CC79A7", "marker": "x", "linestyle": ":"},
    "dual": {"color": "#000000", "marker": "o", "linestyle": "-"},
    "shifted": {"color": "#56B4E9", "marker": "v", "linestyle": "--"},
    "diagonal": {"color": "#009E73", "marker": "^", "linestyle": "-."},
    "eigenvalue": {"color": "#CC79A7", "marker": "x", "linestyle": ":"},
    "theorem": {"color": "#E69F00", "marker": "s", "linestyle": "--"},
    "spannogram": {"color": "#0072B2", "marker": "d", "linestyle": "-"},
    "epsilon_net": {"color": "#56B4E9", "marker": "*", "linestyle": "-."},
    "net_bound": {"color": "#009E73", "marker": "8", "linestyle": "-"},
    "em": {"color": "#D55E00", "marker": "H", "linestyle": "--"},
    "nspca": {"color": "#CC79A7", "marker": "1", "linestyle": ":"},
    "cells": {"color": "#E69F00", "marker": "2", "linestyle": "--"},
    "positive part": {"color": "#D55E00", "marker": "+", "linestyle": "-"},
}


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
