"""Path: answers for many counts of features, or of components, for little more than one."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from fspca.covariance import Matrix, as_covariance
from fspca.problem import SharedSupport, Solution
from fspca.shared_support.certificate import upper_bound, with_bound
from fspca.shared_support.swap import GAIN, admitted, first_starts, swap
from fspca.shared_support.together import ascend_together
from fspca.validate import checked_choice


def path(A: Matrix, m: int | Sequence[int], k: int | Sequence[int], *,
         bound: str | None = "shifted", n_starts: int = 5, seed: int | None = 0,
         max_iter: int = 1000) -> list[Solution]:  # fmt: skip
    r"""Return answers for several k, or several m, each started from its neighbours.

    The problems are max trace(W'AW) over W'W = I with at most k nonzero rows.  Go, the largest
    variances and random starts of all the problems ascend by IPU side by side, then each problem
    starts again from its neighbours' answers until none gains, and exchanges end the ascent.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int, one of them a sequence
        Components and features of each problem.
    bound : "shifted", "dual" or None
        The method of `upper_bound`; "shifted" has the eigenpairs of A once for all problems.
    n_starts, seed : int
        Random starts of each problem, beside Go's and the largest variances.
    max_iter : int
        Exchanges at most, for each problem; ending there warns.

    Returns
    -------
    list of Solution
        In the order asked.  What they explain never falls where k or m rises.

    See Also
    --------
    solve : One k, with more effort.

    Notes
    -----
    Starts and problems share the passes over the data: a step of all is one product.
    Explained in the chapter "Go beyond memory".

    Examples
    --------
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> [solution.support.tolist() for solution in path(A, 1, [1, 2, 3])]
    [[0], [1, 2], [0, 1, 2]]
    """
    A = as_covariance(A).plain
    unit = A.unit
    A = A if unit == 1 else A.scaled(1 / unit)
    if (np.ndim(m) == 0) == (np.ndim(k) == 0):
        raise ValueError(f"m={m} and k={k}: one of the two must be a sequence")
    if bound is not None:
        checked_choice("bound", bound, ("shifted", "dual"))
    pairs = [(m, each) for each in k] if np.ndim(m) == 0 else [(each, k) for each in m]
    problems = [SharedSupport(*pair).fit(A.size) for pair in pairs]
    order = sorted(set(pairs))
    rng = np.random.default_rng(seed)
    starts = {pair: first_starts(A, SharedSupport(*pair), n_starts, rng) for pair in order}
    best = ascended(A, starts, {})
    while True:  # from the neighbours, in both directions, while that helps
        near = {pair: [] for pair in order}
        for first, second in pairwise(order):
            near[first].append(warm(best[second], first, A.size))
            near[second].append(warm(best[first], second, A.size))
        better = ascended(A, near, best)
        if all(better[pair] is best[pair] for pair in order):
            break
        best = better
    found, before = {}, None
    for pair in order:
        support = best[pair].support
        if before is not None and best[pair].value < before.objective:
            support = admitted(
                SharedSupport(*pair), A.diagonal(), before.support
            )  # which explains at least as much
        before = found[pair] = swap(A, *pair, init=support, max_iter=max_iter)
    answers = [bounded(A, found[problem.m, problem.k], bound) for problem in problems]
    return [replace(answer.times(unit), solver="path") for answer in answers]


def ascended(A, starts, best):
    """Return the best Ascent of each problem, after its starts have ascended."""
    asked = [(*pair, start) for pair, given in starts.items() for start in given]
    best = dict(best)
    for (m, k, _), end in zip(asked, ascend_together(A, asked) if asked else [], strict=True):
        if (m, k) not in best or end.value > best[m, k].value * (1 + GAIN):
            best[m, k] = end
    return best


def warm(end, pair, d):
    """Return a start of one problem at the end of another's ascent."""
    if len(end.support) == pair[1]:
        return end.support
    W = np.zeros((d, end.loadings.shape[1]))
    W[end.support] = end.loadings
    return W


def bounded(A, solution, method):
    if method is None:
        return solution
    problem = solution.problem
    return with_bound(A, solution, upper_bound(A, problem.m, problem.k, method=method))
