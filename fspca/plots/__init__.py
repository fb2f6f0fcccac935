"""One look for every figure of the book: a method keeps its colour, marker and line."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance.validate import needed
from fspca.problem import Solution
from fspca.selection import Choice

plt = needed("matplotlib.pyplot", "plots", "fspca.plots")
ticker = needed("matplotlib.ticker", "plots", "fspca.plots")

# Okabe and Ito's colours, distinguished also by those who see fewer; markers and lines differ too.
LOOKS = {  # colour, marker and line of a method's curves
    "exhaustive": "#000000 s -",
    "swap": "#56B4E9 D -.",
    "solve": "#009E73 * -",
    "go": "#0072B2 o -",
    "go, shifted": "#56B4E9 v --",
    "ipu": "#D55E00 D -",
    "ipu from variances": "#D55E00 d --",
    "ipu from random starts": "#D55E00 1 :",
    "ipu from fantope": "#D55E00 p -.",
    "greedy": "#0072B2 ^ :",
    "soap": "#E69F00 P --",
    "soap, refined": "#E69F00 p -",
    "srt": "#CC79A7 X -.",
    "srt from random starts": "#CC79A7 . :",
    "cssp": "#009E73 h :",
    "cssp, refined": "#009E73 H -",
    "greedy_tpower": "#0072B2 < -.",
    "fantope": "#000000 p --",
    "fantope, refined": "#000000 h -",
    "two_stage": "#000000 D -.",
    "two_stage, refitted": "#000000 v :",
    "solve_separate": "#009E73 ^ --",
    "tpower": "#56B4E9 > -",
    "gpower": "#009E73 d -",
    "gpower, l0": "#009E73 1 --",
    "gpower, block": "#E69F00 8 -",
    "gpower, block l0": "#E69F00 2 :",
    "grqi": "#D55E00 3 -.",
    "inverse_power": "#0072B2 4 --",
    "sadmm": "#D55E00 s -",
    "sadmm, deflated": "#D55E00 ^ :",
    "manpg": "#0072B2 s --",
    "solve_nonnegative": "#000000 D -",
    "branch_and_bound_nonnegative": "#000000 * :",
    "spannogram": "#0072B2 d -",
    "spannogram, shifted": "#0072B2 D --",
    "epsilon_net": "#56B4E9 * -.",
    "em": "#D55E00 H --",
    "nspca": "#CC79A7 1 :",
    # bounds, and what solvers are compared with
    "variance": "#009E73 ^ -.",
    "admm": "#56B4E9 o --",
    "pca": "#CC79A7 x :",
    "manifold_penalty": "#CC79A7 * -",
    "dual": "#000000 o -",
    "shifted": "#56B4E9 v --",
    "diagonal": "#009E73 ^ -.",
    "eigenvalue": "#CC79A7 x :",
    "theorem": "#E69F00 s --",
    "cells": "#E69F00 2 --",
    "positive part": "#D55E00 + -",
}
STYLES = {
    name: dict(zip(("color", "marker", "linestyle"), look.split(), strict=True))
    for name, look in LOOKS.items()
}


def figure(
    width: float = 6.0, height: float = 3.4, rows: int = 1, columns: int = 1
) -> tuple[Any, Any]:
    """Return a figure in the book's style, and its axes.

    Figures of `matplotlib.pyplot` have that style after `plt.style.use("fspca.plots.book")`: white
    ground, which the book makes the page's own, and no upper and right spine.

    Parameters
    ----------
    width, height : float
        In inches.
    rows, columns : int
        How many axes, as in `matplotlib.pyplot.subplots`.

    Returns
    -------
    figure : Figure
        Laid out so that nothing overlaps.
    axes : Axes or array of Axes
        One, or rows x columns of them.

    See Also
    --------
    curve : Draws in the style of a method.

    Examples
    --------
    >>> drawn, axes = figure(columns=2)
    >>> axes.shape
    (2,)
    """
    with plt.style.context("fspca.plots.book"):
        return plt.subplots(rows, columns, figsize=(width, height))


def curve(
    axes: Any, x: Sequence[float], y: Sequence[float], method: str, label: str | None = None
) -> None:
    """Draw a method's curve and write its name at the end of the line.

    Colour, marker and line are those that the method has everywhere.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    x, y : array
        The points.
    method : str
        A key of `STYLES`.
    label : str
        What is written; the method by default.

    See Also
    --------
    figure : Gives axes.

    Examples
    --------
    >>> drawn, axes = figure()
    >>> curve(axes, [1, 2], [0.5, 0.7], "go")
    >>> [text.get_text() for text in axes.texts]
    ['go']
    """
    axes.plot(x, y, markersize=4, **STYLES[method])
    place = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
    axes.annotate(label or method, (x[-1], y[-1]), color=STYLES[method]["color"], **place)


# Where a name may stand: points from its own place, and turns from the way outward.
NEAR = 10
RINGS = (2, 6, 10, 16, 22, 30, 40, 52)
BEHIND = {"facecolor": "white", "edgecolor": "none", "alpha": 0.6, "pad": 0.5}  # of a name
TURNS = np.radians([0, 30, -30, 60, -60, 90, -90, 130, -130, 180])

# Okabe and Ito's colours without black, for groups of samples.
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442"]


def seaborn():
    """Return seaborn, which draws heat maps and groups."""
    return needed("seaborn", "plots", "this picture")


def loadings_of(answer):
    """Return (W, support, names) of a Solution, of a Choice or of a fitted estimator."""
    answer = getattr(answer, "solution_", getattr(answer, "solution", answer))
    d = len(answer.W)
    names = answer.names if answer.names is not None else [str(j) for j in range(d)]
    return answer.W, np.asarray(answer.support), list(names)


def axes_for(ax, width=6.0, height=3.4):
    """Return the axes given, or those of a new figure."""
    return figure(width, height)[1] if ax is None else ax


def plot_loadings(answer: Any, ax: Any = None) -> Any:
    """Draw the loadings of the chosen features as a heat map, and return the axes.

    The longest row comes first; where there are many, signs stand for numbers.

    Parameters
    ----------
    answer : Solution, Choice or fitted estimator
        Whose loadings.
    ax : Axes
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        That it is drawn on.

    See Also
    --------
    plot_on_axis, plot_on_image : For features that have a place.

    Examples
    --------
    >>> from fspca import go
    >>> plot_loadings(go(np.diag([1.0, 5.0, 4.0]), m=1, k=2)).get_ylabel()
    'feature chosen'
    """
    W, support, names = loadings_of(answer)
    rows = support[np.argsort(-np.linalg.norm(W[support], axis=1), kind="stable")]
    few = len(rows) * W.shape[1] <= 60  # else signs alone, which grey does not show
    named = 0.08 * max(len(str(names[j])) for j in rows)
    ax = axes_for(ax, 1.8 + named + 0.7 * W.shape[1], 0.9 + 0.28 * len(rows))
    written = np.vectorize(in_cell if few else lambda loading: "-" if loading < 0 else "")
    seaborn().heatmap(
        W[rows], vmin=-1, vmax=1, center=0, cmap="vlag", fmt="",
        annot=written(W[rows]), cbar_kws={"label": "loading"},
        xticklabels=range(1, W.shape[1] + 1), yticklabels=[names[j] for j in rows], ax=ax,
    )  # fmt: skip
    ax.set(xlabel="component", ylabel="feature chosen")
    ax.tick_params(axis="y", rotation=0)
    return ax


def in_cell(loading):
    """Return two decimals, or the sign of what they hide; nothing where there is no loading."""
    if loading == 0:
        return ""
    return f"{loading:.2f}" if abs(loading) >= 0.005 else f"{loading:+.0f}"


def whole(axis):
    """Let an axis of counts or steps have whole numbers only."""
    axis.set_major_locator(ticker.MaxNLocator(integer=True))


def plot_path(answers: Choice | Sequence[Solution], ax: Any = None) -> Any:
    """Draw what each count explains, and shade up to the bound; return the axes.

    Of a choice the held-out share and that of permuted data are drawn too.

    Parameters
    ----------
    answers : sequence of Solution, or Choice
        From `fspca.path` or `fspca.selection`.
    ax : Axes
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        That it is drawn on.

    See Also
    --------
    plot_stability : Which features they are.

    Examples
    --------
    >>> from fspca import path
    >>> plot_path(path(np.diag([3.0, 2.0, 1.0]), 1, [1, 2, 3])).get_xlabel()
    'features k'
    """
    choice = answers if hasattr(answers, "held_out") else None
    solutions = answers.solutions if choice is not None else list(answers)
    what = choice.what if choice is not None else "k"
    counts = [getattr(each.problem, what) for each in solutions]
    total = solutions[0].total_variance or 1.0
    value = np.array([each.objective for each in solutions]) / total
    ax = axes_for(ax)
    ax.plot(counts, value, **STYLES["ipu"], markersize=4, label="explained by the answer")
    if all(each.upper_bound is not None for each in solutions):
        bound = np.array([each.upper_bound for each in solutions]) / total
        ax.fill_between(counts, value, bound, alpha=0.25, color=STYLES["ipu"]["color"], lw=0)
        ax.plot(counts, bound, **STYLES["dual"], markersize=3, label="no answer explains more")
    if choice is not None:
        ax.errorbar(counts, choice.held_out, choice.standard_error, capsize=3, markersize=4,
                    label="held out, one standard error", **STYLES["go"])  # fmt: skip
        ax.plot(counts, choice.noise, **STYLES["pca"], markersize=3, label="permuted data")
        ax.axvline(choice.chosen, color="0.4", lw=1, ls=":")
    ax.set(xlabel={"k": "features k", "m": "components m"}[what], ylabel="share of the variance")
    whole(ax.xaxis)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize=8)
    return ax


def plot_stability(choice: Choice, ax: Any = None, most: int = 30) -> Any:
    """Draw how often each feature is chosen at each count, the most frequent first.

    The shares are those of the halves of the samples.

    Parameters
    ----------
    choice : Choice
        From `fspca.selection`.
    ax : Axes
        Where to draw; a new figure by default.
    most : int
        Features drawn at most.

    Returns
    -------
    Axes
        That it is drawn on.

    See Also
    --------
    plot_path : What they explain.

    Examples
    --------
    >>> from fspca.selection import select_k
    >>> X = np.random.default_rng(0).standard_normal((60, 4)) * [9, 9, 1, 1]
    >>> plot_stability(select_k(X, m=1, ks=[1, 2, 3], subsamples=10)).get_ylabel()
    'feature'
    """
    rows = np.argsort(-choice.frequency.mean(axis=0), kind="stable")[:most]
    names = choice.names or [str(j) for j in range(choice.frequency.shape[1])]
    ax = axes_for(ax, 1.8 + 0.45 * len(choice.counts), 0.9 + 0.22 * len(rows))
    seaborn().heatmap(
        choice.frequency[:, rows].T, vmin=0, vmax=1, cmap="cividis", ax=ax,
        xticklabels=choice.counts.tolist(), yticklabels=[names[j] for j in rows],
        cbar_kws={"label": "chosen in a share of the halves"},
    )  # fmt: skip
    ax.set(xlabel={"k": "features k", "m": "components m"}[choice.what], ylabel="feature")
    ax.tick_params(axis="y", rotation=0)
    return ax


def plot_biplot(answer: Any, X: Any, components: Sequence[int] = (0, 1),
                groups: ArrayLike | None = None, ax: Any = None) -> Any:  # fmt: skip
    """Draw samples by their scores on two components, and the chosen features as arrows.

    An arrow's direction is its feature's loadings; the longest reaches to the farthest sample.
    A name stands beside its arrow's tip, where it hides no other name.

    Parameters
    ----------
    answer : fitted estimator
        Its `transform` gives the scores.
    X : array, n samples x d features
        The samples.
    components : pair of int
        Which two.
    groups : sequence of n labels
        Coloured and marked apart where given; a Series' name becomes the legend's title.
    ax : Axes
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        That it is drawn on.

    See Also
    --------
    plot_loadings : The numbers.

    Examples
    --------
    >>> from fspca.sklearn import SparsePrincipalSubspace
    >>> X = np.random.default_rng(0).standard_normal((20, 5))
    >>> plot_biplot(SparsePrincipalSubspace(2, 3).fit(X), X).get_xlabel()
    'component 1'
    """
    T, (_, support, names) = answer.transform(X), loadings_of(answer)
    W = np.asarray(answer.components_).T
    a, b = components
    ax = axes_for(ax, 5.0, 4.2)
    seaborn().scatterplot(
        x=T[:, a], y=T[:, b], hue=groups, style=groups, s=18, alpha=0.7, ax=ax,
        palette=None if groups is None else PALETTE[: len(np.unique(groups))],
    )  # fmt: skip
    reach = 0.9 * np.abs(T[:, [a, b]]).max() / (np.abs(W[:, [a, b]]).max() or 1.0)
    tips = {names[j]: reach * W[j, [a, b]] for j in support}
    for tip in tips.values():
        ax.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "->", "color": "0.25"})
    ax.set(xlabel=f"component {a + 1}", ylabel=f"component {b + 1}")
    if groups is not None:  # beside the samples, which would lie below it
        ax.legend(title=getattr(groups, "name", None), loc="upper left", bbox_to_anchor=(1, 1),
                  frameon=False, fontsize=8)  # fmt: skip
    write_apart(ax, tips)
    return ax


def write_apart(ax, tips):
    """Write names beside their points so that no two overlap, the farthest point's first.

    A name is tried in rings around its point, outward first; a thin line leads to one far away.
    """
    ax.figure.draw_without_rendering()  # only a layout that is done tells where a name stands
    unit = ax.figure.dpi / 72
    taken, room = [], ax.get_window_extent()
    for name in sorted(tips, key=lambda name: -np.linalg.norm(tips[name])):
        tip = np.asarray(tips[name])
        outward = np.arctan2(*tip[::-1])
        text = ax.annotate(name, tip, (0, 0), textcoords="offset points", fontsize=8,
                           ha="center", va="center", bbox=BEHIND)  # fmt: skip
        size = text.get_window_extent()
        for far, turn in product(RINGS, TURNS):
            ahead = np.array([np.cos(outward + turn), np.sin(outward + turn)])
            offset = ahead * (far + np.array([size.width, size.height]) / unit / 2)
            box = size.translated(*(unit * offset)).padded(unit)
            inside = room.x0 <= box.x0 and box.x1 <= room.x1
            if inside and not any(box.overlaps(other) for other in taken):
                break
        text.set_position(offset)
        if far > NEAR:
            ax.annotate("", tip, offset, xycoords="data", textcoords="offset points",
                        arrowprops={"arrowstyle": "-", "color": "0.6", "lw": 0.6})  # fmt: skip
        taken.append(box)


def plot_on_image(
    answer: Any, shape: tuple[int, int], ax: Any = None, component: int | None = None
) -> Any:
    """Draw the chosen features as pixels of an image: row lengths, or one component's loadings.

    A negative loading bears a dash, which grey does not hide.

    Parameters
    ----------
    answer : Solution, Choice or fitted estimator
        Whose loadings.
    shape : pair of int
        Rows and columns; their product is d.
    ax : Axes
        Where to draw; a new figure by default.
    component : int
        None draws the length of each row of W.

    Returns
    -------
    Axes
        That it is drawn on.

    See Also
    --------
    plot_on_axis : For features along a line.

    Examples
    --------
    >>> from fspca import go
    >>> ax = plot_on_image(go(np.diag([1.0, 5.0, 4.0, 2.0]), m=1, k=2), (2, 2))
    >>> ax.images[0].get_array().shape
    (2, 2)
    """
    W, _, _ = loadings_of(answer)
    if np.prod(shape) != len(W):
        raise ValueError(f"shape={tuple(shape)} has {np.prod(shape)} pixels, and d={len(W)}")
    values = np.linalg.norm(W, axis=1) if component is None else W[:, component]
    ax = axes_for(ax, 2.6, 2.6)
    most = np.abs(values).max() or 1.0
    colours, least = ("Greys", 0.0) if component is None else (seaborn().cm.vlag, -most)
    ax.imshow(values.reshape(shape), vmin=least, vmax=most, cmap=colours)
    down, right = np.nonzero(values.reshape(shape) < 0)
    ax.plot(right, down, "_", color="0.15", markersize=3)  # in grey both signs look alike
    ax.set(xticks=[], yticks=[])
    return ax


def plot_on_axis(answer: Any, x: ArrayLike | None = None, ax: Any = None) -> Any:
    """Draw the loadings along an axis that the features have, such as wavelength or time.

    Each component has its own colour, marker and line.

    Parameters
    ----------
    answer : Solution, Choice or fitted estimator
        Whose loadings.
    x : array of d numbers
        The place of each feature; its number by default.
    ax : Axes
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        That it is drawn on.

    See Also
    --------
    plot_on_image : For features on a grid.

    Examples
    --------
    >>> from fspca import go
    >>> plot_on_axis(go(np.diag([1.0, 5.0, 4.0]), m=1, k=2)).get_ylabel()
    'loading'
    """
    W, support, _ = loadings_of(answer)
    x = np.arange(len(W)) if x is None else np.asarray(x)
    ax = axes_for(ax)
    ax.plot(x[[0, -1]], [0, 0], color="0.6", lw=0.8)
    for j, w in enumerate(W.T):
        chosen = support[w[support] != 0]
        look = list(STYLES.values())[1 + j % 7]
        lines = ax.vlines(x[chosen], 0, w[chosen], color=look["color"], lw=1.2)
        ax.plot(x[chosen], w[chosen], look["marker"], color=look["color"], markersize=4,
                label=f"component {j + 1}")  # fmt: skip
        lines.set_linestyle(look["linestyle"])
    ax.set(ylabel="loading")
    ax.legend(frameon=False, fontsize=8)
    return ax


def plot_history(solution: Solution, ax: Any = None) -> Any:
    """Draw the objective after each step, and the bound where one is known.

    The steps are those of the answer's own run.

    Parameters
    ----------
    solution : Solution
        Whose history.
    ax : Axes
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        That it is drawn on.

    See Also
    --------
    fspca.Solution : Its `history` and `upper_bound` are drawn.

    Examples
    --------
    >>> from fspca import ipu
    >>> plot_history(ipu(np.diag([3.0, 2.0, 1.0]), m=1, k=2)).get_xlabel()
    'step'
    """
    ax = axes_for(ax)
    ax.plot(range(1, len(solution.history) + 1), solution.history, **STYLES["ipu"], markersize=4)
    if solution.upper_bound is not None:
        ax.axhline(solution.upper_bound, color="0.3", ls="--", lw=1)
        ax.annotate("no answer explains more", (1, solution.upper_bound), fontsize=8, va="bottom")
    ax.set(xlabel="step", ylabel="variance explained")
    whole(ax.xaxis)
    return ax
