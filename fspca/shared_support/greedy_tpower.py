"""Greedy TPower: the leading sparse component's support, for all components."""

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.linalg import largest
from fspca.problem import SharedSupport, Solution
from fspca.separate_supports.tpower import tpower
from fspca.shared_support.refit import solution_on
from fspca.shared_support.starts import WORDS, checked_init
from fspca.solver import Listener, Run, solves


@solves(SharedSupport, guarantee="heuristic", promises="labels")
def greedy_tpower(A: Covariance, m: int, k: int, *, init: str | np.ndarray = "variance",
                  seed: int | np.random.Generator | None = 0, tol: float = 1e-12,
                  max_iter: int = 200, max_seconds: float | None = None,
                  progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Choose the support of one k-sparse component, then the best m loadings on it.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  The truncated power
    method finds the features that carry most variance along one direction; they serve all m.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    init : "variance", "pca", "random" or array (d x m)
        Start from the feature of largest variance, from the leading eigenvector, from a random
        direction, or from the first column given.
    seed, tol, max_iter, max_seconds, progress : int, float, True or callable
        As in `fspca.separate_supports.tpower`.

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
    Explained in the chapter "SOAP, SRT, CSSP and truncated power: change one line of IPU".

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Yuan and Zhang, "Truncated power method for sparse eigenvalue problems", JMLR 14, 2013.

    Examples
    --------
    >>> greedy_tpower([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.5]], m=2, k=2).support
    array([0, 2])
    """
    init = checked_init(init, A.size, m, WORDS)
    start = init if isinstance(init, str) else np.asarray(init)[:, :1]
    with Run(None, max_seconds, progress) as run:
        first = tpower(A, 1, k, init=start, seed=seed, tol=tol, max_iter=max_iter,
                       max_seconds=run.seconds_left, progress=lambda _: run.report())  # fmt: skip
        support = largest(np.abs(first.W[:, 0]), k)
        facts = {"n_iter": first.n_iter, "stopped": first.stopped}
        run.adopt(solution_on(A, SharedSupport(m, k), support, "greedy_tpower", **facts))
        run.report()
    return run.solution
