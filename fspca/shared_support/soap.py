"""SOAP: truncated orthogonal iteration, orthonormalised before the rows are chosen."""

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.problem import SharedSupport, Solution
from fspca.shared_support.iteration import from_every_start
from fspca.solver import Listener, solves


def orthonormal_rows(AW, M):
    """Return an orthonormal basis of AW, so that all directions weigh the same."""
    return np.linalg.qr(AW)[0]


@solves(SharedSupport, guarantee="heuristic", promises="labels")
def soap(A: Covariance, m: int, k: int, *, refined: bool = False, keep: str = "last",
         init: str | ArrayLike = "go", n_starts: int = 1, seed: int | None = 0, max_iter: int = 100,
         max_seconds: float | None = None,
         progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Iterate: multiply by A, orthonormalise, keep the k longest rows, orthonormalise again.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  Without the
    choice of rows it is orthogonal iteration, which finds the leading subspace of A; the choice
    is made anew in each step, on an orthonormal basis of AW.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    refined : bool
        Take the best loadings on the support in every step, and stop when these stop rising.
    keep : "last" or "best"
        The iterate to return.  They differ, since the objective may fall.
    init : "go", "fantope", "pca", "variance", "random" or array (d x m)
        As in `ipu`; the paper starts from "fantope".
    n_starts, seed, max_iter, max_seconds, progress : int, float, True or callable
        As in `ipu`.

    Returns
    -------
    Solution
        Stops when the support repeats and the subspace moves by less than 1e-8.

    See Also
    --------
    ipu : The same loop with a score that never lets the objective fall.
    srt : The same loop with another score.

    Notes
    -----
    Near the optimum, and with high probability for sub-Gaussian data with a sparse leading
    subspace, it converges geometrically (Wang, Lu and Liu 2014).  For a given A nothing is
    promised: the objective may fall from step to step (tian2020, Remark 5.7), and nothing proves
    that the support settles, though it did wherever we looked.  Once it does, SOAP converges to
    the best loadings on it if A[I, I] has an eigengap after m.
    Cost of a step: O(dkm + dm^2) for a dense A.
    The authors of tian2020 print it in their appendix (Algorithm 4, whose line 7 takes the QR of
    a k x k block: read the rows I of Q).
    Explained in the chapter "SOAP, SRT, CSSP and truncated power: change one line of IPU".

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Wang, Lu and Liu, "Tighten after relax: minimax-optimal sparse PCA in polynomial time", NeurIPS
    2014.

    Examples
    --------
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.5]])
    >>> soap(A, m=1, k=2)
    soap: explains 3 (46.2 % of all, 100 % of PCA's) on 2 of 3 features
      with m=1 component (1 step)
    """
    return from_every_start(
        A,
        m,
        k,
        orthonormal_rows,
        "soap",
        init=init,
        n_starts=n_starts,
        seed=seed,
        max_iter=max_iter,
        max_seconds=max_seconds,
        progress=progress,
        refined=refined,
        keep=keep,
    )
