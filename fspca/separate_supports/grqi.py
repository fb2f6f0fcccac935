"""GRQI: the generalised Rayleigh quotient iteration."""

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.linalg import EPS, embedded, largest
from fspca.covariance.validate import checked_integer
from fspca.problem import SeparateSupports, Solution
from fspca.separate_supports.deflation import in_projections
from fspca.shared_support.starts import starting_point
from fspca.solver import Listener, solves


def inverse_step(B, v):
    """Return (B - mu I)^(-1) v of unit length, with mu the Rayleigh quotient v'Bv of a unit v."""
    values, vectors = np.linalg.eigh(B)
    distance = values - v @ B @ v
    least = EPS * np.abs(values).max()  # v is an eigenvector: its own direction, as large as can be
    distance[np.abs(distance) <= least] = least or 1.0
    step = (vectors.T @ v) / (distance / np.abs(distance).min())
    return vectors @ (step / np.linalg.norm(step))


def rayleigh(A, k, start=None, note=None, power_steps=None, tol=1e-6, max_iter=150):
    """Return a unit x with k nonzeros of large x'Ax, its steps, and why it ended.

    The start, by default the feature of largest variance, is multiplied by A and cut to its k
    largest entries.  Each step is one inverse iteration on the support, shifted by the Rayleigh
    quotient, then a power step (in the first `power_steps` steps, or always), then another cut.
    """

    def kept(y):
        rows = largest(np.abs(y), k)
        v = y[rows] / (np.abs(y[rows]).max() or 1.0)
        if not v.any():  # nothing is left to explain
            v[0] = 1.0
        v = v / np.linalg.norm(v)
        return rows, v, embedded(v, rows, A.size)

    if start is None:
        start = starting_point(A, SeparateSupports(1, k), "variance", None)[0][:, 0]
    rows, v, x = kept(A.product(start[:, None])[:, 0])
    B = A.submatrix(rows)
    for n_iter in range(1, max_iter + 1):
        v, before = inverse_step(B, v), x
        y = embedded(v, rows, A.size)
        if power_steps is None or n_iter <= power_steps:
            y = A.product(v[:, None], rows)[:, 0]
        rows, v, x = kept(y)
        B = A.submatrix(rows)
        if note is not None:
            note(x[:, None], v @ B @ v)
        if min(np.linalg.norm(x - before), np.linalg.norm(x + before)) <= tol:
            return x, n_iter, "settled"
    return x, n_iter, "max_iter"


@solves(SeparateSupports, guarantee="heuristic", promises="labels")
def grqi(A: Covariance, m: int, k: int, *, power_steps: int | None = None,
         init: str | ArrayLike = "variance", n_starts: int = 1, seed: int | None = 0,
         tol: float = 1e-6, max_iter: int = 150, max_seconds: float | None = None,
         progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find one sparse component after another by Rayleigh quotient iteration and truncation.

    The problem is max trace(Q'AQ) over d x m matrices W with unit columns of at most k nonzeros
    each, Q an orthonormal basis of W.  The inverse iteration shifted by the Rayleigh quotient
    finds an eigenvector of A on the support in a few steps; a power step looks beyond the support.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components, and nonzeros per component.
    power_steps : int
        How many first steps have a power step; None for all, as in the demonstration of its
        author.  With 0 the support cannot grow, and is that of the start.
    init, n_starts, seed : str or array, int
        As in `tpower`.
    tol : float
        A component ends where a step moves it by less, up to sign.
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
    inverse_power : The other method that inverts.
    tpower : Its power steps.

    Notes
    -----
    Without truncation Rayleigh quotient iteration converges cubically, from almost every start,
    to some eigenvector, which need not be the leading one; with truncation nothing is promised,
    and x'Ax may fall (Kuleshov 2013).  Deflation is by projection: the author's A - (x'Ax) xx'
    can have negative eigenvalues where x is no eigenvector.
    Cost of a step: O(dk + k^3) for a dense A.
    Explained in the chapter "Generalised power and inverse power: threshold a step, or invert it".

    References
    ----------
    Kuleshov, "Fast algorithms for sparse principal component analysis based on Rayleigh quotient
    iteration", ICML 2013.

    Examples
    --------
    >>> grqi(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=1).support
    array([1, 3])
    """
    if power_steps is not None and checked_integer("power_steps", power_steps) < 0:
        raise ValueError(f"power_steps={power_steps} must be at least 0, or None")

    def find(rest, start, note):
        return rayleigh(rest, k, start, note, power_steps, tol, max_iter)

    return in_projections(A, m, k, "grqi", find, init=init, n_starts=n_starts, seed=seed,
                          max_seconds=max_seconds, progress=progress)  # fmt: skip
