r"""Swap: exchange one chosen feature for another while that helps.

A support that no exchange improves is a local optimum of the whole problem.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.linalg import largest, random_subspace
from fspca.covariance.validate import Features, checked_choice, checked_support
from fspca.problem import SharedSupport, Solution
from fspca.shared_support.iteration import ascend_together
from fspca.shared_support.refit import solution_on
from fspca.shared_support.starts import checked_init
from fspca.solver import Listener, Run, solves

GAIN = 1e-10  # relative; less is rounding, and would let the search circle


@solves(SharedSupport, guarantee="heuristic", promises="rises shift labels")
def swap(A: Covariance, m: int, k: int, *, required: Features = (),
         forbidden: Features = (), init: str | ArrayLike = "variance", max_iter: int = 1000,
         max_seconds: float | None = None,
         progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Improve a support by exchanging one feature for another while that helps.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  Features whose
    loss costs least are tried first; each is exchanged for the best feature outside, which two
    bounds, the second by an arrow matrix of size m + 2, find without an eigenproblem for every
    candidate.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    required, forbidden : sequences of features
        Those that stay in the support, and those that stay out: numbers, or names.
    init : "variance", "go", "pca", array of k features or array (d x m)
        Where to begin: at the k features of largest variance, of largest score by Go's rule, of
        longest rows in the leading eigenvectors or in the array.
    max_iter : int
        Exchanges at most; ending there warns.
    max_seconds, progress : float, True or callable
        A budget, and who is told after each exchange.

    Returns
    -------
    Solution
        A support that no exchange of one feature improves.

    See Also
    --------
    ipu : Where it starts.
    solve : Both, with a bound.

    Notes
    -----
    The objective rises strictly; nothing is promised about the optimum.
    Cost of an exchange: one column of A (one pass over data; where d x k numbers do not fit
    the covariance's `max_memory`, two: for A[I, I] and for as many rows of A[:, I] as fit, large
    variances first, and one for each further part where these hold no exchange), k eigenproblems
    of size k, O(dkm) for each feature that might leave.
    Explained in the chapter "Exact search: prove it by branching and bounding".

    Examples
    --------
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> swap(A, m=1, k=2, init=[0, 1]).support
    array([1, 2])
    """
    problem = SharedSupport(m, k, required=required, forbidden=forbidden)
    support = first_support(A, problem, init)
    with Run(max_iter, max_seconds, progress) as run:
        value = top_sum(A.submatrix(support), m)
        run.record(value - m * A.ridge, support)
        for _ in run:
            better = next(improvements(A, problem, support, value * (1 + GAIN)), None)
            if better is None:
                run.stop("no gain")
            else:
                support, value = better
                run.record(value - m * A.ridge, support)
    return run.finish(lambda: solution_on(A, problem, run.answer, "swap", **run.facts))


def first_support(A, problem, init):
    """Return the features to begin with, within the constraints."""
    if isinstance(init, str):
        checked_choice("init", init, ("variance", "go", "pca"))
        if init == "variance":
            return admitted(problem, A.diagonal())
        values, V = A.leading(problem.m)
        return admitted(problem, V**2 @ (values if init == "go" else np.ones(problem.m)))
    if np.ndim(init) == 2:
        init = checked_init(init, A.size, problem.m, ())
        return admitted(problem, np.einsum("ij,ij->i", init, init))
    support = checked_support(init, problem.k, A.size)
    if not np.array_equal(admitted(problem, A.diagonal(), support), support):
        raise ValueError(f"init={init!r} must hold all that is required, nothing forbidden")
    return support


def admitted(problem, score, support=()):
    """Return the k features of largest score within the constraints, those of a support first."""
    score = score / (np.abs(score).max() or 1.0)
    score[np.asarray(support, dtype=int)] += 2
    score[list(problem.required)] += 8
    score[list(problem.forbidden)] = -1
    return largest(score, problem.k)


def top_sum(B, m):
    """Return the sum of the m largest eigenvalues of an array."""
    return np.linalg.eigvalsh(B)[-m:].sum()


def improvements(A, problem, support, floor):
    """Yield (support, value) for exchanges with a value above the floor."""
    m, k, variances = problem.m, problem.k, A.diagonal()
    fixed = np.isin(support, problem.required)
    outside = np.setdiff1d(np.arange(A.size), np.r_[support, problem.forbidden].astype(int))
    inside = A.submatrix(support)
    others = np.array([np.delete(np.arange(k), t) for t in range(k)], dtype=int).reshape(k, k - 1)
    blocks = inside[others[:, :, None], others[:, None, :]]
    left = np.linalg.eigvalsh(blocks)[:, -m:].sum(axis=1) if k > 1 else np.zeros(1)
    outside = outside[left[~fixed].max(initial=0) + variances[outside] > floor]  # subadditive
    for part, C in columns_in_parts(A, support, outside):
        lengths = np.einsum("ij,ij->i", C, C)
        for t in np.argsort(-left, kind="stable"):
            if not fixed[t]:
                entry = best_entry(inside, C, lengths, variances[part], t, m, floor)
                if entry is not None:
                    yield np.sort(np.append(support[others[t]], part[entry[1]])), entry[0]


def columns_in_parts(A, support, outside):
    """Yield candidates j with the rows A[j, I]: all, or as many as fit, large variances first."""
    size = max(1, int(A.max_memory // (16 * len(support))) if np.isfinite(A.max_memory) else A.size)
    if size >= A.size:
        yield outside, A.columns(support)[outside]
        return
    outside = outside[np.argsort(-A.diagonal()[outside], kind="stable")]
    for start in range(0, len(outside), size):
        part = np.sort(outside[start : start + size])
        yield part, A.columns(support, part)


def best_entry(inside, C, lengths, variances, t, m, floor):
    """Return (value, place) of the best candidate to take the place of the t-th feature, or None.

    The rows of C hold A[j, I], `lengths` their squared lengths.
    """
    J = np.delete(np.arange(len(inside)), t)
    values, V = np.linalg.eigh(inside[np.ix_(J, J)])
    base = values[-m:].sum()
    (open_,) = np.nonzero(base + variances > floor)
    across = np.insert(V[:, -m:], t, 0.0, axis=0)
    shaft = C[open_] @ across
    squares = lengths[open_] - C[open_, t] ** 2 - np.einsum("ij,ij->i", shaft, shaft)
    rest = np.sqrt(np.maximum(squares, 0.0))
    near = quick_bounds(values, shaft, rest, variances[open_], m) > floor
    open_ = open_[near]
    bounds = entry_bounds(values, shaft[near], rest[near], variances[open_], m)
    best, entrant = floor, None
    for i in np.argsort(-bounds, kind="stable"):
        if bounds[i] <= best:
            break
        row, tip = C[open_[i]][J], variances[open_[i]]
        value = top_sum(np.block([[inside[np.ix_(J, J)], row[:, None]], [row, tip]]), m)
        if value > best:
            best, entrant = value, open_[i]
    return None if entrant is None else (best, entrant)


def quick_bounds(values, shaft, rest, variances, m):
    r"""Return, for each candidate, a bound on the m-sum of J with it, without an eigenproblem.

    In the eigenbasis of A[J, J] the bordered matrix is an arrow: eigenvalues w, shaft b, tip a.
    For D > 0 it is at most diag(w + D, a + b'D^{-1}b).  D = w_m - w_{m+1} below the m-th costs
    nothing but raises the tip; let s be what is left from there to w_m.  On the m largest,
    D_i = |b_i| L / s with L = sum |b_i| costs L^2 / s and raises the tip to w_m; where s < L,
    D_i = |b_i| costs 2 L - s.
    """
    top, L = values[-m:], np.abs(shaft).sum(axis=1)
    below = top[0] - values[-m - 1] if len(values) > m else np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = np.where(rest > 0, rest**2 / below, 0.0)
        room = top[0] - variances - tail if len(top) == m else -variances - tail
        rise = np.where(room >= L, np.where(L > 0, L**2 / room, 0.0), 2 * L - room)
    return (top.sum() + rise) * (1 + GAIN / 8)


def entry_bounds(values, shaft, rest, variances, m):
    r"""Return, for each candidate, a tighter bound on the m-sum of J with it.

    Raising every eigenvalue below the m-th to w_{m+1} can only raise the m-sum, and lets the
    shaft there be rotated into one entry, `rest`, so that an arrow of size m + 2 is left.
    """
    size = min(len(values), m + 1)
    arrow, head = np.zeros((len(variances), size + 1, size + 1)), np.arange(size)
    arrow[:, head, head] = values[::-1][:size]
    arrow[:, -1, : shaft.shape[1]] = shaft[:, ::-1]
    if len(values) > m:
        arrow[:, -1, m] = rest
    arrow[:, -1, -1] = variances
    return np.linalg.eigvalsh(arrow)[:, -m:].sum(axis=1) if len(arrow) else np.empty(0)


def best_start(A, problem, n_starts, seed, left=lambda: None):
    """Return the best of IPU and exchanges from Go, the largest variances and random starts."""
    starts = first_starts(A, problem, n_starts, np.random.default_rng(seed))
    return best_of(A, problem, starts, left)


def first_starts(A, problem, n_starts, rng):
    """Return Go's features, those of largest variance, and random subspaces."""
    supports = [first_support(A, problem, init) for init in ("go", "variance")]
    return supports + [random_subspace(A.size, problem.m, rng) for _ in range(n_starts)]


def best_of(A, problem, starts, left=lambda: None):
    """Return the best of IPU, then exchanges for left() seconds, from each of some supports."""
    ends = ascend_together(A, [(problem.m, problem.k, start) for start in starts])
    sides = {"required": problem.required, "forbidden": problem.forbidden}
    ends = {tuple(admitted(problem, A.diagonal(), end.support).tolist()) for end in ends}
    found = []
    for end in sorted(ends):
        found.append(swap(A, problem.m, problem.k, init=list(end), max_seconds=left(), **sides))
        if found[-1].stopped == "interrupted":
            break
    best = max(found, key=lambda solution: solution.objective)
    return replace(best, stopped="interrupted") if found[-1].stopped == "interrupted" else best
