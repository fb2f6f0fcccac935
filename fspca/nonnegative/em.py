"""EM: expectation-maximisation for sparse and nonnegative components."""

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.linalg import TIE, embedded, largest
from fspca.nonnegative.components import alone, draws, one_by_one
from fspca.nonnegative.low_rank import answer
from fspca.problem import CUT_SHORT, Nonnegative, SeparateSupports, Solution
from fspca.shared_support.starts import checked_init, starting_point
from fspca.solver import Listener, Run, solves


def unit_columns(W):
    """Scale the columns to length 1; columns of zeros stay."""
    W = W / np.maximum(np.abs(W).max(axis=0), np.finfo(float).tiny)
    return W / np.maximum(np.linalg.norm(W, axis=0), 0.5)


def soften(W, k):
    """Lower the moduli of each column by its (k + 1)-th largest, which leaves k nonzeros."""
    size = np.abs(W)
    if k < len(W):
        size = np.maximum(size - np.partition(size, -k - 1, axis=0)[-k - 1], 0.0)
    return np.sign(W) * size


def positive(AW):
    """Return the positive part, without what is rounding beside the column's largest entry."""
    return np.where(TIE * np.abs(AW).max(axis=0) < AW, AW, 0.0)


def em_step(A, W, k):
    """Return the columns after one E-step and one M-step, and the variances before."""
    AW = A.product(W)
    M = positive(AW)
    moved = soften(unit_columns(M), k)
    for j in np.flatnonzero(~moved.any(axis=0)):  # more than k entries are equally large
        kept = largest(M[:, j], k)
        moved[kept, j] = M[kept, j]
    lost = ~moved.any(axis=0)  # nothing is left to explain: stay
    return np.where(lost, W, unit_columns(moved)), (W * AW).sum(axis=0)


def iterate(A, W, k, tol, run):
    """Step until no variance changes by more than tol, relatively; return W and all variances."""
    values = []
    with run:
        for _ in run:
            moved, now = em_step(A, W, k)
            values.append(now)
            if len(values) > 1 and np.all(np.abs(now - values[-2]) <= tol * now):
                run.stop("settled")
            else:
                run.record(now.max(), moved)
                W = moved
    return W, np.array(values)


@solves(Nonnegative, guarantee="heuristic", promises="")
def em(A: Covariance, m: int, k: int, *, apart: str = "supports", init: str | ArrayLike = "random",
       n_starts: int = 5, seed: int | None = 0, tol: float = 1e-6, max_iter: int = 1000,
       max_seconds: float | None = None, progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find sparse, nonnegative components, each as the axis of a probabilistic model.

    The problem is max x'Ax over unit x >= 0 with at most k nonzeros.  Data are modelled as
    multiples of x plus noise that vanishes.  The E-step projects the data on x, the M-step
    regresses them on those projections: together x <- A x.  Negative entries are then set to
    zero, all are lowered by the (k + 1)-th largest, and the length is made 1.  When that
    settles, the same steps without the lowering are taken on the support found.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components, found one after another, and nonzeros of each at most.
    apart : "supports" or "deflation"
        Set the features of a component aside for the next, or project the component out.
    init : "random", "positive", "pca", "variance" or array (d x m)
        Random normal entries, or their moduli, or the first start and random ones after it.
        With many features positive starts are all nearly the same direction, so that more of
        them hardly help.
    n_starts, seed : int
        How many starts, run side by side; the best is returned.
    tol, max_iter, max_seconds : float, int
        Stop where no variance changes by more than tol, relatively; ending at max_iter warns.
    progress : True or callable
        Told of each step.

    Returns
    -------
    Solution
        `history` holds the variance after each step of the best start.

    See Also
    --------
    nspca : The other rival.
    spannogram : Exact for low rank.

    Notes
    -----
    No guarantee: where it ends depends on the start, and lowering keeps the objective from
    rising at every step.  The steps on the support do rise.
    Cost of a step: one product with A and O(d) for each start.
    Sigg and Buhmann (2008); the rival of asteris2014.
    Explained in the chapter "EM and NSPCA: look at the rivals".

    References
    ----------
    Sigg and Buhmann, "Expectation-maximization for sparse and non-negative PCA", ICML 2008.

    Asteris, Papailiopoulos and Dimakis, "Nonnegative sparse PCA with provable guarantees", ICML
    2014.

    Examples
    --------
    >>> A = np.array([[2.0, -1.0, 0.5], [-1.0, 2.0, 0.8], [0.5, 0.8, 1.0]])
    >>> em(A, 1, 2, n_starts=10).support
    array([1, 2])
    """
    init = checked_init(init, A.size, m, ("random", "positive", "pca", "variance"))
    rngs = draws(seed)

    def method(A, k, run, init=init):
        return one_em(A, k, init, n_starts, next(rngs), tol, run)

    return one_by_one(
        A, m, k, method, apart=apart, max_iter=max_iter, max_seconds=max_seconds, progress=progress,
        init=init,
    )  # fmt: skip


def starts(A, init, n_starts, rng):
    """Return n_starts unit columns, none of which leads below zero in all entries."""
    W, word = rng.standard_normal((A.size, n_starts)), isinstance(init, str) and init
    if not word and init.any():  # of what is left for a later component it may have nothing
        W[:, :1] = init
    elif word in ("pca", "variance"):
        W[:, :1] = starting_point(A, SeparateSupports(1, 1), word, rng)[0]
    W = unit_columns(np.abs(W) if word == "positive" else W)
    return W * np.where(positive(A.product(W)).any(axis=0), 1.0, -1.0)


def one_em(A, k, init, n_starts, rng, tol, run):
    """Return the Solution with one component."""
    W, first = iterate(A, starts(A, init, n_starts, rng), k, tol, run)
    W = np.where(W.min(axis=0) >= 0, W, np.abs(W))  # one that explains nothing has not moved

    def build():
        starts = zip(W.T, first[1:].T, strict=True)
        ends = [settled_on_cut(A, k, *each, tol, run) for each in starts]
        return max(ends, key=lambda each: each.objective)

    return run.finish(build)


def settled_on_cut(A, k, w, before, tol, run):
    """Return the Solution where w, cut to k features, settles on these alone."""
    rows = largest(w, k) if np.count_nonzero(w) > k else np.flatnonzero(w)
    inner = Run(run.max_iter, run.seconds_left)
    v, after = iterate(A.restricted(rows), unit_columns(w[rows, None]), len(rows), tol, inner)
    if inner.stopped == "interrupted":
        raise KeyboardInterrupt
    x = embedded(v[:, 0], rows, A.size)
    x = x if x.any() else alone(A)
    value = float(x @ A.product(x[:, None])[:, 0])
    ended = run.stopped if run.stopped in CUT_SHORT else inner.stopped
    history = (*before, *after[1:, 0], value)
    return answer(A, k, x, "em", history=history, n_iter=len(history), stopped=ended)
