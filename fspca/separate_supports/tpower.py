"""TPower: the truncated power method, one component at a time."""

import numpy as np

from fspca.covariance import as_covariance
from fspca.linalg import TIE, largest
from fspca.problem import SeparateSupports
from fspca.separate_supports.deflation import in_projections
from fspca.validate import checked_count


def truncated_power(A, k, max_iter=200):
    """Return a unit x with k nonzeros of large x'Ax, its steps, and whether it converged.

    Starts from the feature of largest variance; each step multiplies by A and keeps the k
    entries of largest modulus.  x'Ax never falls if A is positive semidefinite.
    """
    d, value = A.size, -np.inf
    rows, v = largest(A.diagonal(), 1), np.ones(1)
    for n_iter in range(max_iter + 1):
        product = A.product(v[:, None], rows)[:, 0]
        before, value = value, v @ product[rows]
        if n_iter > 1 and value <= before * (1 + TIE):
            break
        chosen = largest(np.abs(product), k)
        norm = np.linalg.norm(product[chosen] / (peak := np.abs(product).max() or 1.0))
        if norm == 0:  # nothing is left to explain
            break
        rows, v = chosen, product[chosen] / peak / norm
    x = np.zeros(d)
    x[rows] = v
    return x, n_iter, n_iter < max_iter


def tpower(A, m, k, max_iter=200):
    r"""Find one sparse component after another, each with k features of its own.

    The problem is max trace(Q'AQ) over d x m matrices W with unit columns of at most k nonzeros
    each, Q an orthonormal basis of W.  A power step followed by keeping the k largest entries
    finds one component; its variance is then projected out, A <- (I - xx') A (I - xx'), and the
    next one is sought.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m, k : int
        Components, and nonzeros per component; together they may use up to m k features.
    max_iter : int
        Steps per component at most; ending there warns.

    Returns
    -------
    Solution
        `history` holds the score after each component; `support` is the union.

    Notes
    -----
    For one component x'Ax never falls, and for data with a sparse leading eigenvector that is
    well apart the error contracts from a good start (Yuan and Zhang 2013).  Deflation carries
    none of this to further components.  Components need not be orthogonal.
    tian2020 calls it TPower (D) and plots it as a baseline that solves an easier problem.
    Cost of a step: O(dk) for a dense A.
    Explained in the chapter "Find one component at a time: truncated power".

    Examples
    --------
    >>> tpower(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=1)
    tpower: explains 9 with m=2 components on 2 of 4 features (4 steps)
    """
    A, problem = as_covariance(A), SeparateSupports(m, k)
    problem.fit(A.size)
    checked_count("max_iter", max_iter)

    def find(rest):
        return truncated_power(rest, k, max_iter)

    return in_projections(A, m, problem.k, "tpower", find, max_iter)
