"""The Fantope: the convex hull of projectors, its exact projection, and ADMM over it."""

from dataclasses import dataclass

import numpy as np

from fspca.covariance import as_covariance
from fspca.covariance.linalg import TIE
from fspca.solver import Run

ACTIVE = 1e-4  # a diagonal entry of H above this is a row in use; at most 1, and known to `tol`


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The convex problem's answer: H is sparse, X lies in the Fantope, and they nearly agree.

    Y, of entries up to the penalty, is the multiplier of the penalty: no H is worth more than
    F_m(A - Y), the sum of the m largest eigenvalues.
    """

    H: np.ndarray
    X: np.ndarray
    penalty: float
    Y: np.ndarray
    primal: tuple
    dual: tuple
    stopped: str
    state: tuple

    @property
    def rows(self):
        """The number of rows in use."""
        return int(np.sum(np.diagonal(self.H) > ACTIVE))


def fantope_weights(values, m):
    """Return clip(values - theta, 0, 1) for the theta at which they add up to m.

    The sum falls with theta and is linear between the knots `values` and `values - 1`, so the
    root is found on one line: exactly, not by bisection.

    >>> fantope_weights(np.array([3.0, 1.2, 1.0, 0.0]), m=2)
    array([1. , 0.6, 0.4, 0. ])
    """
    values = values - values.max()  # of large ones, values - 1 would be the same
    knots = np.unique(np.r_[values, values - 1])
    sums = np.clip(values[:, None] - knots, 0, 1).sum(axis=0)
    right = np.flatnonzero(sums >= m * (1 - TIE))[-1]  # the sum is m here or before the next knot
    if sums[right] <= m:
        return np.clip(values - knots[right], 0, 1)
    share = (sums[right] - m) / (sums[right] - sums[right + 1])
    theta = knots[right] + share * (knots[right + 1] - knots[right])
    return np.clip(values - theta, 0, 1)


def project_fantope(S, m):
    """Return the matrix nearest to S among those with eigenvalues in [0, 1] and trace m."""
    values, vectors = np.linalg.eigh(S)
    weights = fantope_weights(values, m)
    used = weights > 0
    return (vectors[:, used] * weights[used]) @ vectors[:, used].T


def relax(A, m, penalty, *, tol=1e-3, max_iter=1000, max_seconds=None, progress=None, state=None):
    r"""Maximise <A, H> - penalty sum|H_ij| over the Fantope: 0 <= H <= I, trace H = m.

    The idea: projectors WW' span the Fantope, and the penalty asks for few entries.

    Parameters
    ----------
    tol : float
        Of both residuals, ||X - H||_F and the step's ||H - H'||_F, over sqrt(m).
    max_iter, max_seconds, progress
        As in `fspca.shared_support.fantope`.
    state : tuple
        Of an earlier Relaxation, to go on from.

    Returns
    -------
    Relaxation
        With the residuals of every step; `stopped` is "settled" where both met the tolerance.

    Notes
    -----
    ADMM (Vu, Cho, Lei and Rohe 2013): X projects onto the Fantope, H shrinks entries, U adds up
    their disagreement; A is measured in units of its largest entry off the diagonal, so neither
    scale nor A + sigma I matter.  Cost of a step: one eigenproblem of size d.
    """
    full = as_covariance(A)
    full = full.submatrix(np.arange(full.size))
    unit, most = np.abs(full - np.diag(np.diagonal(full))).max(), np.diagonal(full).max()
    unit = unit if unit > TIE * most else most or 1.0  # what is off the diagonal may be rounding
    S, shrink = full / unit, penalty / unit
    H, U, rho = state or (np.zeros_like(S), np.zeros_like(S), 1.0)
    primal, dual = [], []
    with Run(max_iter, max_seconds, progress, latest=True) as run:
        for _ in run:
            X = project_fantope(H - U + S / rho, m)
            before, H = H, np.sign(X + U) * np.maximum(np.abs(X + U) - shrink / rho, 0.0)
            U = U + X - H
            primal.append(float(np.linalg.norm(X - H)))
            dual.append(float(rho * np.linalg.norm(H - before)))
            if max(primal[-1], dual[-1]) <= tol * np.sqrt(m):
                run.stop("settled")
            elif primal[-1] > 10 * dual[-1]:
                rho, U = 2 * rho, U / 2
            elif dual[-1] > 10 * primal[-1]:
                rho, U = rho / 2, 2 * U
            run.keep(-np.inf, (H, X, U, rho))  # not feasible: it is rounded by the caller
    H, X, U, rho = run.answer
    Y = rho * unit * U  # entries of at most `penalty`, whatever the iterate
    return Relaxation(H, X, penalty, Y, tuple(primal), tuple(dual), run.stopped, (H, U, rho))
