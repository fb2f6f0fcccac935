"""Greedy TPower: the leading sparse component's support, for all components."""

from fspca.covariance import Covariance
from fspca.linalg import largest
from fspca.problem import SharedSupport, Solution
from fspca.running import solves
from fspca.separate_supports.tpower import truncated_power
from fspca.shared_support.refit import solution_on


@solves(SharedSupport)
def greedy_tpower(A: Covariance, m: int, k: int, *, max_iter: int = 200) -> Solution:
    r"""Choose the support of one k-sparse component, then the best m loadings on it.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  The truncated power
    method finds the features that carry most variance along one direction; they serve all m.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    max_iter : int
        Power steps at most.

    Returns
    -------
    Solution
        The best loadings on the support of the first component.

    See Also
    --------
    tpower : Each component its own support.

    Notes
    -----
    Nothing is promised for m > 1: features that serve the other components only are not seen,
    which is why tian2020 (Remark 3.1, Figure 2) shows it as TPower (G) to argue for choosing the
    support for all components at once.  Cost of a step: O(dk) for a dense A.
    Explained in the chapter "Find one component at a time: truncated power".

    Examples
    --------
    >>> greedy_tpower([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.5]], m=2, k=2).support
    array([0, 2])
    """
    x, n_iter, stopped = truncated_power(A, k, max_iter=max_iter)
    facts = {"n_iter": n_iter, "stopped": stopped}
    return solution_on(A, SharedSupport(m, k), largest(abs(x), k), "greedy_tpower", **facts)
