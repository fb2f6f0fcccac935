r"""Swap: exchange one chosen feature for another while that helps.

A support that no exchange improves is a local optimum of the whole problem.
"""

import warnings

import numpy as np

from fspca.covariance import as_covariance
from fspca.linalg import largest
from fspca.problem import ConvergenceWarning, SharedSupport
from fspca.shared_support.ipu import ipu
from fspca.shared_support.refit import refit, solution_on
from fspca.validate import checked_integer, checked_support

GAIN = 1e-10  # relative; less is rounding, and would let the search circle


def top_sum(A, rows, m):
    """Return the sum of the m largest eigenvalues of A[I, I]."""
    return np.linalg.eigvalsh(A.submatrix(rows))[-m:].sum()


def leave_one_out(A, support, m):
    """Return the supports less one feature, the least loss first, from one batch of eigenvalues."""
    k = len(support)
    others = np.array([np.delete(np.arange(k), t) for t in range(k)], dtype=int).reshape(k, k - 1)
    blocks = A.submatrix(support)[others[:, :, None], others[:, None, :]]
    left = np.linalg.eigvalsh(blocks)[:, -m:].sum(axis=1) if k > 1 else np.zeros(1)
    return support[others[np.argsort(-left, kind="stable")]]


def entry_bounds(values, B, variances, m):
    r"""Return, for each candidate j, a bound on the m-sum of J and j together.

    In the eigenbasis of A[J, J] the bordered matrix is an arrow: eigenvalues w, shaft b, tip
    A_jj.  Raising every eigenvalue below the m-th to w_{m+1} can only raise the m-sum, and lets
    the shaft there be rotated into one entry, so that an arrow of size m + 2 is left.
    """
    n = len(values)
    arrow = np.zeros((len(variances), min(n, m + 1) + 1, min(n, m + 1) + 1))
    head = np.arange(min(n, m + 1))
    arrow[:, head, head] = values[::-1][: m + 1]
    shaft = B[::-1][: m + 1].T.copy()
    if n > m:
        shaft[:, m] = np.linalg.norm(B[: n - m], axis=0)
    arrow[:, -1, :-1], arrow[:, -1, -1] = shaft, variances
    return np.linalg.eigvalsh(arrow)[:, -m:].sum(axis=1)


def best_entry(A, J, variances, m, floor):
    """Return (value, j) of the best feature to add to J, or (floor, None) if none beats it."""
    values, V = np.linalg.eigh(A.submatrix(J))
    outside = np.setdiff1d(np.arange(A.size), J)
    outside = outside[values[-m:].sum() + variances[outside] > floor]  # the m-sum is subadditive
    if not len(outside):
        return floor, None
    B = A.product(V, J)[outside].T
    bounds = entry_bounds(values, B, variances[outside], m)
    best, entrant = floor, None
    for t in np.argsort(-bounds, kind="stable"):
        if bounds[t] <= best:
            break
        value = top_sum(A, np.append(J, outside[t]), m)
        if value > best:
            best, entrant = value, outside[t]
    return best, entrant


def swap(A, m, k, support=None, max_swaps=1000):
    r"""Improve a support by exchanging one feature for another while that helps.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  Features whose
    loss costs least are tried first; each is exchanged for the best feature outside, which a
    bound by an arrow matrix of size m + 2 finds without an eigenproblem for every candidate.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m, k : int
        Components and features, 1 <= m <= k <= d.
    support : array of k features
        Where to begin; by default at the k largest variances.
    max_swaps : int
        Exchanges at most; ending there warns.

    Returns
    -------
    Solution
        A support that no exchange of one feature improves.

    Notes
    -----
    The objective rises strictly; nothing is promised about the optimum.
    Cost of a round: k eigenproblems of size k, k(d - k) of size m + 2 at most.
    Explained in the chapter "Prove it, by branching and bounding".

    Examples
    --------
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> swap(A, m=1, k=2, support=[0, 1]).support
    array([1, 2])
    """
    A, problem = as_covariance(A), SharedSupport(m, k)
    problem.fit(A.size)
    variances = A.diagonal()
    support = largest(variances, k) if support is None else checked_support(support, k, A.size)
    if checked_integer("max_swaps", max_swaps) < 0:
        raise ValueError(f"max_swaps={max_swaps} must be at least 0")
    value, history = top_sum(A, support, m), []
    for n_iter in range(max_swaps + 1):
        history.append(value - m * A.ridge)
        better = next(improvements(A, support, variances, m, value * (1 + GAIN)), None)
        if better is None or n_iter == max_swaps:
            break
        support, value = better
    if better is not None:
        warnings.warn(f"swap stopped at max_swaps={max_swaps}", ConvergenceWarning, stacklevel=2)
    facts = {"history": tuple(history), "n_iter": n_iter}
    facts["stopped"] = "max_iter" if better else "no gain"
    return solution_on(A, problem, support, "swap", **facts)


def improvements(A, support, variances, m, floor):
    """Yield (support, value) for exchanges with a value above the floor."""
    for J in leave_one_out(A, support, m):
        value, entrant = best_entry(A, J, variances, m, floor)
        if entrant is not None:
            yield np.sort(np.append(J, entrant)), value


def climb(A, m, k, support):
    """Improve a support by IPU, then by exchanges."""
    W, _ = refit(A, np.sort(support), m)
    return swap(A, m, k, ipu(A, m, k, init=W).support)


def best_start(A, m, k, n_starts, seed):
    """Return the best of IPU and exchanges from Go, the largest variances and random starts."""
    rng = np.random.default_rng(seed)
    starts = [ipu(A, m, k, init=init) for init in ("go", "variance")]
    starts += [ipu(A, m, k, init="random", seed=rng) for _ in range(n_starts)]
    supports = sorted({tuple(start.support.tolist()) for start in starts})
    return max((swap(A, m, k, list(s)) for s in supports), key=lambda s: s.objective)
