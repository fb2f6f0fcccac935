"""IPU: apply Go's rule to a proxy of rank m, rebuilt around each answer."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.problem import SharedSupport, Solution
from fspca.shared_support.go import go
from fspca.shared_support.iteration import from_every_start, proxy_rows
from fspca.shared_support.starts import SHARED_WORDS, checked_init
from fspca.solver import Listener, solves


def proxy_diagonal(A, V, rows=None):
    """Return diag(P), the squared row norms of Z, where W is V on the rows and 0 elsewhere.

    P itself is never formed: the cost is one product with A.
    """
    AW = A.product(V, rows)
    Z = proxy_rows(AW, V.T @ (AW if rows is None else AW[rows]))
    return np.einsum("ij,ij->i", Z, Z)


@solves(SharedSupport, guarantee="bounded", promises="rises labels")
def ipu(A: Covariance, m: int, k: int, *, init: str | ArrayLike = "go", n_starts: int = 1,
        seed: int | None = 0, max_iter: int = 100, max_seconds: float | None = None,
        progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Ascend from a start: choose the k largest variances of a proxy, refit on A, repeat.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  Around an answer
    W the proxy P = AW (W'AW)^+ W'A has rank at most m, lies below A and explains as much as A
    along W; Go solves it exactly, and the answer can only improve.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    init : "go", "fantope", "pca", "variance", "random" or array (d x m)
        Start from Go, from the convex relaxation, from the leading eigenvectors, from the k
        largest variances (no eigenproblem of size d), from a random subspace, or from the
        columns given.
    n_starts : int
        Ascents in all; those after the first start from random subspaces. The best is kept.
        All ascend side by side: a step of all is one product with A.
    seed : int
        Of the random starts.
    max_iter, max_seconds : int, float
        Steps of one ascent, and seconds of all, at most; ending at max_iter warns.
    progress : True or callable
        Shows a bar, or is called with a `fspca.solver.Progress` after every step.

    Returns
    -------
    Solution
        Stops when the support repeats or the objective does not rise.  Where k = m it is
        Go's, which is optimal then.

    See Also
    --------
    go : The rule of each step, and the start.
    swap : Goes on where it stays.
    soap : Its rival, which orthonormalises.

    Notes
    -----
    The objective never falls, and rises strictly until the end if A is positive definite
    (tian2020, Theorem 5.5), which a ridge ensures.  From Go it is at least as good as Go.
    Cost of a step: O(dkm + k^3) for a dense A.
    Explained in the chapter "IPU: climb by solving a proxy exactly".

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Examples
    --------
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.5]])
    >>> ipu(A, m=1, k=2)
    ipu: explains 3 (46.2 % of all, 100 % of PCA's) on 2 of 3 features
      with m=1 component (1 step)
    """
    if k == m:  # the largest variances are optimal: there is nothing to climb
        checked_init(init, A.size, m, SHARED_WORDS)
        return replace(go(A, m, k), solver="ipu")
    return from_every_start(
        A,
        m,
        k,
        proxy_rows,
        "ipu",
        init=init,
        n_starts=n_starts,
        seed=seed,
        max_iter=max_iter,
        max_seconds=max_seconds,
        progress=progress,
        refined=True,
    )
