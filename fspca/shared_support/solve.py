"""Solve: what to call first; a good answer, and how good it is."""

from dataclasses import replace

from fspca.covariance import as_covariance
from fspca.linalg import largest
from fspca.problem import SharedSupport
from fspca.shared_support.branch_and_bound import PROOF, branch_and_bound
from fspca.shared_support.certificate import upper_bound
from fspca.shared_support.swap import best_start, climb
from fspca.validate import checked_choice

STARTS = {"fast": 5, "thorough": 30}
FORMED = 2000  # above so many features the thorough search, which needs d x d, is not started


def solve(A, m, k, effort="fast", seed=None, progress=None):
    r"""Find a good support and say how far from the best it can be.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  Go, the k
    largest variances and random starts are improved by IPU and by exchanges; an upper bound
    from the semidefinite relaxation certifies the best of them, and the features that the
    relaxation wants most are one start more.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m, k : int
        Components and features, 1 <= m <= k <= d.
    effort : "fast" or "thorough"
        "thorough" takes more starts and then branches and bounds, for 500 nodes at most.
    seed : int
        Of the random starts.
    progress : callable
        Called as progress(nodes, value, bound) by the thorough search.

    Returns
    -------
    Solution
        Its `gap` is proven; print it.

    Notes
    -----
    Never worse than Go, IPU from Go, or the k largest variances.
    Explained in the chapter "Prove it, by branching and bounding".

    Examples
    --------
    >>> A = [[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]]
    >>> solution = solve(A, m=1, k=2, seed=0)
    >>> solution.support, bool(solution.gap < 1e-8)
    (array([1, 2]), True)
    """
    A = as_covariance(A).plain
    SharedSupport(m, k).fit(A.size)
    starts = STARTS[checked_choice("effort", effort, tuple(STARTS))]
    if effort == "thorough" and A.size <= FORMED:
        budget = {"max_nodes": 500, "n_starts": starts, "seed": seed, "progress": progress}
        return replace(branch_and_bound(A, m, k, **budget), solver="solve")
    best = best_start(A, m, k, starts, seed)
    bound = upper_bound(A, m, k, "shifted")
    if bound.bound > best.objective * (1 + PROOF):
        light, bound = bound, upper_bound(A, m, k, max_steps=200, target=best.objective)
        rounded = climb(A, m, k, largest(bound.z, k))
        best = max(best, rounded, key=lambda solution: solution.objective)
        bound = min(light, bound, key=lambda each: each.bound)
    return replace(best, solver="solve", upper_bound=bound.bound, certificate=bound.factor)
