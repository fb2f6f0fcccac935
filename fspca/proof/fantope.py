"""The Fantope: the convex hull of projectors, and a sparse matrix in it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fspca.covariance import as_covariance
from fspca.covariance.linalg import TIE
from fspca.proof.projections import project_fantope
from fspca.proof.relaxation import Balance, Consensus, Relaxation
from fspca.solver import Run

ACTIVE = 1e-4  # a diagonal entry of H above this is a row in use; at most 1, and known to `tol`


@dataclass(frozen=True, eq=False)
class Answer:
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


class Shrunk(NamedTuple):
    """What the conditions are about: H alone, whose copy X lies in the Fantope."""

    fantope: np.ndarray


class FantopeRelaxation(Relaxation):
    """max <matrix, H> - shrink sum|H_ij| over the Fantope; the fit is where entries shrink.

    `weight` is ADMM's, which other relaxations call the penalty.
    """

    over_relaxation = 1.0  # as Vu, Cho, Lei and Rohe have it
    balance = Balance(last=np.inf, every=1, ratio=10.0, factor=2.0)  # Boyd et al. 2011, 3.4.1

    def __init__(self, matrix, m, shrink):
        self.matrix = matrix
        self.m = m
        self.shrink = shrink

    def project(self, aims, weight):
        """Return X, the point of the Fantope nearest to what is aimed at, drawn towards A."""
        return Shrunk(project_fantope(aims.fantope + self.matrix / weight, self.m))

    def fit(self, moved, parts, weight):
        """Return H: the modulus of every entry falls by shrink / weight, to 0 at least."""
        rest = np.maximum(np.abs(moved.fantope) - self.shrink / weight, 0.0)
        return Shrunk(np.sign(moved.fantope) * rest)

    def residuals(self, walk):
        primal = np.linalg.norm(walk.copies.fantope - walk.parts.fantope)
        return float(primal), float(walk.penalty * np.linalg.norm(walk.parts.fantope - walk.before))


def relax(A, m, penalty, *, tol=1e-3, max_iter=1000, max_seconds=None, progress=None, state=None):
    r"""Maximise <A, H> - penalty sum|H_ij| over the Fantope: 0 <= H <= I, trace H = m.

    The idea: projectors WW' span the Fantope, and the penalty asks for few entries.

    Parameters
    ----------
    A : array (d x d) or Covariance
        Its d x d matrix is formed.
    m : int
        Components.
    penalty : float
        On the sum of the moduli of H's entries, in units of A.
    tol : float
        Of both residuals, ||X - H||_F and weight ||H - H'||_F, over sqrt(m); H' is the H of the
        step before, and weight that of ADMM, which is changed to keep the two alike.
    max_iter, max_seconds, progress
        As in `fspca.shared_support.fantope`.
    state : tuple
        Of an earlier Answer for the same A and m, to go on from: (H, U, weight).

    Returns
    -------
    Answer
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
    H, U, weight = state or (np.zeros_like(full), np.zeros_like(full), 1.0)
    relaxation = FantopeRelaxation(full / unit, m, penalty / unit)
    walk = Consensus(relaxation, Shrunk(H), Shrunk(U), weight)
    primal = []
    dual = []
    with Run(max_iter, max_seconds, progress, latest=True) as run:
        for _ in run:
            walk.project()
            walk.fit()
            residuals = relaxation.residuals(walk)
            primal.append(residuals[0])
            dual.append(residuals[1])
            if max(residuals) <= tol * np.sqrt(m):
                run.stop("settled")
            else:
                walk.rebalance()
            now = (walk.parts.fantope, walk.copies.fantope, walk.multipliers.fantope, walk.penalty)
            run.record(-np.inf, now)  # not feasible: it is rounded by the caller
    H, X, U, weight = run.answer
    Y = weight * unit * U  # entries of at most `penalty`, whatever the iterate
    facts = (tuple(primal), tuple(dual), run.stopped, (H, U, weight))
    return Answer(H, X, penalty, Y, *facts)
