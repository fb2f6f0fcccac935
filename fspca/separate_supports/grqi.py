"""GRQI: the generalised Rayleigh quotient iteration."""

import numpy as np

from fspca.covariance import as_covariance
from fspca.linalg import EPS, largest
from fspca.problem import SeparateSupports
from fspca.separate_supports.deflation import in_projections
from fspca.validate import checked_count, checked_integer

SETTLED = 1e-6  # the distance between two iterates, up to sign, that are called the same


def inverse_step(B, v):
    """Return (B - mu I)^(-1) v of unit length, with mu the Rayleigh quotient v'Bv of a unit v."""
    values, vectors = np.linalg.eigh(B)
    distance = values - v @ B @ v
    least = EPS * np.abs(values).max()  # v is an eigenvector: its own direction, as large as can be
    distance[np.abs(distance) <= least] = least or 1.0
    step = (vectors.T @ v) / (distance / np.abs(distance).min())
    return vectors @ (step / np.linalg.norm(step))


def rayleigh(A, k, power_steps=None, max_iter=150):
    """Return a unit x with k nonzeros of large x'Ax, its steps, and whether it converged.

    Starts from the column of A of the largest variance.  Each step is one inverse iteration on
    the support, shifted by the Rayleigh quotient, then a power step (in the first `power_steps`
    steps, or always), then the k largest entries are kept.
    """

    def kept(y):
        chosen = largest(np.abs(y), k)
        v = y[chosen] / (np.abs(y[chosen]).max() or 1.0)
        if not v.any():  # nothing is left to explain
            v[0] = 1.0
        return chosen, v / np.linalg.norm(v)

    first = largest(A.diagonal(), 1)
    rows, v = kept(A.product(np.ones((1, 1)), first)[:, 0])
    for n_iter in range(1, max_iter + 1):
        before = np.zeros(A.size)
        before[rows] = v
        v = inverse_step(A.submatrix(rows), v)
        y = np.zeros(A.size)
        y[rows] = v
        if power_steps is None or n_iter <= power_steps:
            y = A.product(v[:, None], rows)[:, 0]
        rows, v = kept(y)
        x = np.zeros(A.size)
        x[rows] = v
        if converged := min(np.linalg.norm(x - before), np.linalg.norm(x + before)) <= SETTLED:
            break
    return x, n_iter, converged


def grqi(A, m, k, power_steps=None, max_iter=150):
    r"""Find one sparse component after another by Rayleigh quotient iteration and truncation.

    The problem is max trace(Q'AQ) over d x m matrices W with unit columns of at most k nonzeros
    each, Q an orthonormal basis of W.  The inverse iteration shifted by the Rayleigh quotient
    finds an eigenvector of A on the support in a few steps; a power step looks beyond the support.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m, k : int
        Components, and nonzeros per component.
    power_steps : int
        How many first steps have a power step; None for all, as in the demonstration of its
        author.  With 0 the support cannot grow, and is that of the start.
    max_iter : int
        Steps per component at most; ending there warns.

    Returns
    -------
    Solution
        `history` holds the score after each component; `support` is the union.

    Notes
    -----
    Without truncation Rayleigh quotient iteration converges cubically, from almost every start,
    to some eigenvector, which need not be the leading one; with truncation nothing is promised,
    and x'Ax may fall (Kuleshov 2013).  Deflation is by projection: the author's A - (x'Ax) xx'
    can have negative eigenvalues where x is no eigenvector.
    Cost of a step: O(dk + k^3) for a dense A.
    Explained in the chapter "Invert instead of multiply: GRQI and the inverse power method".

    Examples
    --------
    >>> grqi(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=1)
    grqi: explains 9 with m=2 components on 2 of 4 features (2 steps)
    """
    A, problem = as_covariance(A), SeparateSupports(m, k)
    problem.fit(A.size)
    checked_count("max_iter", max_iter)
    if power_steps is not None and checked_integer("power_steps", power_steps) < 0:
        raise ValueError(f"power_steps={power_steps} must be at least 0, or None")

    def find(rest):
        return rayleigh(rest, k, power_steps, max_iter)

    return in_projections(A, m, problem.k, "grqi", find, max_iter)
