"""TPower: the truncated power method, one component at a time."""

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.linalg import embedded, largest
from fspca.problem import SeparateSupports, Solution
from fspca.separate_supports.deflation import in_projections
from fspca.shared_support.starts import starting_point
from fspca.solver import Listener, solves


def truncated_power(A, k, start=None, note=None, tol=1e-12, max_iter=200):
    """Return a unit x with k nonzeros of large x'Ax, its steps, and why it ended.

    Each step multiplies by A and keeps the k entries of largest modulus.  x'Ax never falls if A
    is positive semidefinite.  The start is by default the feature of largest variance.
    """
    if start is None:
        start = starting_point(A, SeparateSupports(1, k), "variance", None)[0][:, 0]
    value, rows, x = -np.inf, np.flatnonzero(start), start
    v = start[rows] / np.linalg.norm(start)
    for n_iter in range(max_iter + 1):
        product = A.product(v[:, None], rows)[:, 0]
        before, value = value, v @ product[rows]
        if n_iter and note is not None:
            note(x[:, None], value)
        if n_iter > 1 and value <= before * (1 + tol):
            return x, n_iter, "settled"
        if n_iter == max_iter:
            return x, n_iter, "max_iter"
        chosen = largest(np.abs(product), k)
        norm = np.linalg.norm(product[chosen] / (peak := np.abs(product).max() or 1.0))
        if norm == 0:  # nothing lies in this direction
            product[chosen], peak, norm = 1.0, 1.0, np.sqrt(k)
        rows, v = chosen, product[chosen] / peak / norm
        x = embedded(v, rows, A.size)


@solves(SeparateSupports, guarantee="heuristic", promises="labels")
def tpower(A: Covariance, m: int, k: int, *, init: str | ArrayLike = "variance", n_starts: int = 1,
           seed: int | None = 0, tol: float = 1e-12, max_iter: int = 200,
           max_seconds: float | None = None,
           progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find one sparse component after another, each with k features of its own.

    The problem is max trace(Q'AQ) over d x m matrices W with unit columns of at most k nonzeros
    each, Q an orthonormal basis of W.  A power step followed by keeping the k largest entries
    finds one component; its variance is then projected out, A <- (I - xx') A (I - xx'), and the
    next one is sought.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components, and nonzeros per component; together they may use up to m k features.
    init : "variance", "pca", "random" or array (d x m)
        Each component starts from the feature of largest variance that is left, from the leading
        eigenvector of what is left, from a random direction, or from its column.
    n_starts, seed : int
        Runs in all; those after the first start from random directions.  The one with the
        highest score is kept.
    tol : float
        A component ends where a step raises x'Ax by less, relatively.
    max_iter : int
        Steps per component at most; ending there warns.
    max_seconds, progress : float, True or callable
        As everywhere.

    Returns
    -------
    Solution
        `history` holds the score of the components so far after each step; `support` is the union.

    See Also
    --------
    gpower : Thresholds where it truncates.
    greedy_tpower : One support for all components.

    Notes
    -----
    For one component x'Ax never falls, and for data with a sparse leading eigenvector that is
    well apart the error contracts from a good start (Yuan and Zhang 2013).  Deflation carries
    none of this to further components.  Components need not be orthogonal.
    tian2020 calls it TPower (D) and plots it as a baseline that solves an easier problem.
    Cost of a step: O(dk) for a dense A.
    Explained in the chapter "SOAP, SRT, CSSP and truncated power: change one line of IPU".

    References
    ----------
    Yuan and Zhang, "Truncated power method for sparse eigenvalue problems", JMLR 14, 2013.

    Mackey, "Deflation methods for sparse PCA", NeurIPS 2009.

    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Examples
    --------
    >>> tpower(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=1).support
    array([1, 3])
    """

    def find(rest, start, note):
        return truncated_power(rest, k, start, note, tol, max_iter)

    return in_projections(A, m, k, "tpower", find, init=init, n_starts=n_starts, seed=seed,
                          max_seconds=max_seconds, progress=progress)  # fmt: skip
