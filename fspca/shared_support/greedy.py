"""Greedy: add the feature that raises what is explained most, k times."""

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.linalg import largest
from fspca.problem import SharedSupport, Solution
from fspca.shared_support.refit import refit, solution_on
from fspca.shared_support.swap import admitted, best_entry, columns_in_parts
from fspca.solver import Listener, Run, solves


@solves(SharedSupport, guarantee="heuristic", promises="rises shift")
def greedy(A: Covariance, m: int, k: int, *, max_seconds: float | None = None,
           progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Add one feature after another, each time the one that raises the objective most.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  Every step asks, for
    each feature outside, for the m largest eigenvalues of A on the support with it; bounds by an
    arrow matrix spare most of these eigenproblems.  The loadings are the best on the k features.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    max_seconds, progress : float, True or callable
        A budget, at whose end the largest variances fill up the support, and who is told after
        each feature.

    Returns
    -------
    Solution
        `history` has what one, two, ..., k features explain.

    See Also
    --------
    swap : Takes features out again, too.
    solve : Better, with a bound.

    Notes
    -----
    The first m features are those of largest variance, for m features explain the sum of theirs:
    on standardised data these are the first ones, and the answer is no better than this start.
    No guarantee: the objective is not submodular.
    Cost: k columns of A, O(dk m) for each feature added.
    Explained in the chapter "IPU: iterate the projection".

    Examples
    --------
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> greedy(A, m=1, k=2).support, greedy(A, m=2, k=2).support
    (array([0, 1]), array([0, 1]))
    """
    problem, support = SharedSupport(m, k), np.empty(0, dtype=int)
    with Run(k, max_seconds, progress) as run:
        for _ in run:
            support = np.append(support, addition(A, support, m))
            value = refit(A, support, min(m, len(support)))[1]
            run.record(value, support)
            if len(support) == k:
                run.stop("done")

    def build():
        chosen = admitted(problem, A.diagonal(), run.answer)
        return solution_on(A, problem, chosen, "greedy", **run.facts)

    return run.finish(build)


def addition(A, support, m):
    """Return the feature outside with which a support explains most; of equal ones the first."""
    outside, s = np.setdiff1d(np.arange(A.size), support), len(support)
    if s < m:  # so few features explain the sum of their variances
        return outside[largest(A.diagonal()[outside], 1)[0]]
    best, found = -np.inf, None
    inside = np.zeros((s + 1, s + 1))  # the last place is the new feature's
    inside[:s, :s] = A.submatrix(support)
    for part, C in columns_in_parts(A, support, outside):
        C = np.pad(C, ((0, 0), (0, 1)))
        lengths = np.einsum("ij,ij->i", C, C)
        entry = best_entry(inside, C, lengths, A.diagonal()[part], s, m, best)
        if entry is not None:
            best, found = entry[0], part[entry[1]]
    return found
