"""SRT: truncated orthogonal iteration, the rows chosen before they are orthonormalised."""

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.problem import SharedSupport, Solution
from fspca.shared_support.iteration import from_every_start
from fspca.solver import Listener, solves


def product_rows(AW, M):
    """Return AW, its largest entry scaled to 1 (so that squares of tiny numbers survive)."""
    peak = np.abs(AW).max()
    return AW / peak if peak > 0 else AW


@solves(SharedSupport, guarantee="heuristic", promises="labels")
def srt(A: Covariance, m: int, k: int, *, refined: bool = False, keep: str = "last",
        init: str | ArrayLike = "go", n_starts: int = 1, seed: int | None = 0, max_iter: int = 100,
        max_seconds: float | None = None,
        progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Iterate: multiply by A, keep the k longest rows, orthonormalise.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  The rows of AW
    weigh each direction by its variance, so that the first component decides most of the choice;
    SOAP gives all m directions the same weight, and IPU the root of the variance, which is the
    one that makes the objective rise.

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
        As in `ipu`.  For an array that is not orthonormal the first step depends on its scaling.
    n_starts, seed, max_iter, max_seconds, progress : int, float, True or callable
        As in `ipu`.

    Returns
    -------
    Solution
        Stops when the support repeats and the subspace moves by less than 1e-8.

    See Also
    --------
    ipu : The same loop with a score that never lets the objective fall.
    soap : The same loop with another score.

    Notes
    -----
    With high probability it finds the spikes of the spiked model from a stream of samples
    (Yang and Xu 2015; here each block of the stream is the whole covariance).  For a given A
    nothing is promised: the objective may fall (tian2020, Remark 5.7), nothing proves that the
    support settles.  Cost of a step: O(dkm) for a dense A.
    Explained in the chapter "SOAP, SRT, CSSP and truncated power: change one line of IPU".

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Yang and Xu, "Streaming sparse principal component analysis", ICML 2015.

    Examples
    --------
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.5]])
    >>> srt(A, m=1, k=2)
    srt: explains 3 (46.2 % of all, 100 % of PCA's) on 2 of 3 features
      with m=1 component (1 step)
    """
    return from_every_start(
        A,
        m,
        k,
        product_rows,
        "srt",
        init=init,
        n_starts=n_starts,
        seed=seed,
        max_iter=max_iter,
        max_seconds=max_seconds,
        progress=progress,
        refined=refined,
        keep=keep,
    )
