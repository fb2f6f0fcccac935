"""Several nonnegative components, one after another, by any method for one."""

import numpy as np

from fspca.covariance import as_covariance
from fspca.nonnegative.em import em
from fspca.nonnegative.epsilon_net import epsilon_net
from fspca.nonnegative.net_bound import net_bound
from fspca.nonnegative.nspca import nspca_with_k
from fspca.nonnegative.spannogram import spannogram
from fspca.problem import Nonnegative, Solution
from fspca.validate import checked_choice, checked_count

METHODS = {
    "spannogram": spannogram, "epsilon_net": epsilon_net, "net_bound": net_bound, "em": em,
    "nspca": nspca_with_k,
}  # fmt: skip


def nonnegative_components(A, m, k, method="epsilon_net", *, apart="supports", **options):
    r"""Find m nonnegative components with k nonzeros each, one after another.

    The problem is max trace(Q'AQ), Q an orthonormal basis of m unit columns x >= 0 with at
    most k nonzeros each.  After each component either its features are set aside, so that
    supports are disjoint and components orthogonal, or its variance is projected out.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m, k : int
        Components, and nonzeros of each.
    method : str
        "spannogram", "epsilon_net", "net_bound", "em" or "nspca"; `options` are passed to it, a
        rank above the number of features that are left being lowered to it.
    apart : "supports" or "deflation"
        Set features aside, as in asteris2014's Figure 3, or A <- (I - xx') A (I - xx').  Where
        fewer than k features are left for each component to come, one is kept for each.

    Returns
    -------
    Solution
        `history` holds the score after each component; for m = 1 it is the method's own answer.

    Notes
    -----
    Greedy: no guarantee beyond the method's for the first component.
    Explained in the chapter "Look at the rivals: EM and NSPCA".

    Examples
    --------
    >>> A = np.kron(np.diag([3.0, 2.0]), np.ones((2, 2))) + np.eye(4)
    >>> nonnegative_components(A, 2, 2, "em", seed=0).W.T.round(3)
    array([[0.707, 0.707, 0.   , 0.   ],
           [0.   , 0.   , 0.707, 0.707]])
    """
    A, problem = as_covariance(A), Nonnegative(m, k)
    problem.fit(A.size)
    checked_choice("method", method, tuple(METHODS))
    checked_choice("apart", apart, ("supports", "deflation"))
    if m == 1:
        return METHODS[method](A, k, **fitting(options, A.size))
    W, rest, free = np.zeros((A.size, m)), A, np.arange(A.size)
    history, steps, converged = [], 0, True
    for j in range(m):
        most = min(k, len(free) - (m - 1 - j))
        found = METHODS[method](rest, most, **fitting(options, rest.size))
        W[free, j] = found.W[:, 0]
        steps, converged = steps + found.n_iter, converged and found.converged
        history.append(problem.score(A.plain, W[:, : j + 1]))
        if apart == "deflation":
            rest = rest.deflated(found.W[:, 0])
        elif j + 1 < m:
            free = np.delete(free, found.support)
            rest = A.restricted(free)
    support = np.flatnonzero(W.any(axis=1))
    stopped = "done" if converged else "max_iter"
    return Solution(W, support, history[-1], problem, method, tuple(history), steps, stopped)


def fitting(options, d):
    """The options, with no rank above the d features that are left."""
    if "rank" not in options:
        return options
    return options | {"rank": min(checked_count("rank", options["rank"]), d)}
