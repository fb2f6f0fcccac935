"""One iteration for every relaxation: copies that each keep to one condition, and a point for all.

A relaxation maximises <A, P> over the matrices P that keep to several conditions.  The iteration is
ADMM in its consensus form.  What each condition is about is a part of the point.  Each part has a
copy, which is projected on the condition's own set; a point is then fitted to all copies, and what
still separates a copy from its part adds up in a multiplier.  The multipliers of the dual, times
the penalty, are what bounds are made of.

A relaxation is therefore three things: its parts, by name, the projections, and the fit.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

EPS = np.finfo(float).eps


class Balance(NamedTuple):
    """When and how the penalty is changed, to keep primal and dual residual alike."""

    last: float  # the last step that may change it: with a fixed one the iteration converges
    every: int = 20  # steps from one change to the next, in which residuals follow the last one
    ratio: float = 3.0  # residuals that differ by less are left alone
    factor: float = 1.5  # of a change, less than the ratio, so that it does not turn the next way


class State(NamedTuple):
    """Where an iteration stands, so that it can go on from there, or on some of the features.

    The matrix is A = Z inner Z' and P is looked for as Z P Z', the columns of the basis Z
    orthonormal; None is the identity.  `guess` is where an inexact projection begins, a number or
    a row for each feature.
    """

    basis: np.ndarray | None
    inner: np.ndarray
    P: np.ndarray
    z: np.ndarray
    multipliers: Any
    penalty: float
    guess: np.ndarray | None = None

    def now(self, walk, guess=None):
        """The state at a later step of the same iteration."""
        point = {"P": walk.parts[0], "z": walk.parts.chosen}
        multipliers = walk.multipliers
        return self._replace(**point, multipliers=multipliers, penalty=walk.penalty, guess=guess)

    def restricted(self, rows, dense=False):
        """The state of the problem on some of the features, in the order given.

        With `dense` it leaves its basis, as it does where that would span all there is.
        """
        if self.basis is not None:
            return self._in_new_basis(rows, dense)
        square = np.ix_(rows, rows)
        guess = self.guess
        if guess is not None:  # what follows the features stays
            kept = np.append(rows, np.arange(len(self.z), len(guess)))
            guess = guess[np.ix_(*[kept] * guess.ndim)]
        multipliers = [u[square] if u.ndim == 2 else u[rows] for u in self.multipliers]
        return State(
            None,
            self.inner[square],
            self.P[square],
            self.z[rows],
            type(self.multipliers)(*multipliers),
            self.penalty,
            guess,
        )

    def _in_new_basis(self, rows, dense):
        Z = self.basis[rows]
        leaves = dense or Z.shape[1] >= len(rows)
        Z, R = (None, Z) if leaves else np.linalg.qr(Z)

        def turned(X):
            return R @ X @ R.T

        multipliers = [turned(u) if u.ndim == 2 else u[rows] for u in self.multipliers]
        return State(
            Z,
            turned(self.inner),
            turned(self.P),
            self.z[rows],
            type(self.multipliers)(*multipliers),
            self.penalty,
        )


class Found(NamedTuple):
    """What a relaxation has found: a bound, its costs and arrays, and where the iteration stands.

    No support J explains more than `bound`, nor than bound - (the k largest costs) + c(J).
    """

    bound: float
    c: np.ndarray
    G: np.ndarray
    Y: np.ndarray | None
    z: np.ndarray
    state: State


class Relaxation(ABC):
    """The conditions of a relaxation of m components: how they are projected on and fitted."""

    m = 1
    over_relaxation = 1.7  # 1 is none, 2 too much; between 1.5 and 1.8 is the usual advice
    balance = Balance(last=0)

    @abstractmethod
    def project(self, aims, penalty):
        """Return the copies: for each aim the nearest that keeps to its condition.

        That for P itself is drawn to larger <A, P>, by the gradient A over the penalty.
        """

    @abstractmethod
    def fit(self, moved, parts, penalty):
        """Return the parts of the point that is nearest to what the copies moved to."""

    def residuals(self, walk):
        """Return how far copies are from their parts, and the parts from those before.

        Each is measured in its own unit: sqrt(m) is the norm of P.
        """
        matrices = [i for i, copy in enumerate(walk.copies) if copy.ndim == 2]
        apart = sum(np.sum((walk.copies[i] - walk.parts[i]) ** 2) for i in matrices)
        change = len(matrices) * np.sum((walk.parts[0] - walk.before) ** 2)
        size = max(np.linalg.norm(walk.multipliers[0]), EPS)
        return np.sqrt(apart / self.m), np.sqrt(change) / size


class Consensus:
    """The iteration for a relaxation, as far as it has come."""

    def __init__(self, relaxation, parts, multipliers, penalty):
        self.relaxation = relaxation
        self.parts = parts
        self.multipliers = multipliers
        self.penalty = penalty

    def _each(self, change, *arrays):
        return type(self.parts)(*map(change, *arrays))

    def project(self):
        """Put each copy on its own set."""
        self.aims = self._each(np.subtract, self.parts, self.multipliers)
        self.copies = self.relaxation.project(self.aims, self.penalty)

    def fit(self):
        """Fit a point to all copies, and add up in the multipliers what separates them."""
        share = self.relaxation.over_relaxation
        self.before = self.parts[0]

        def move(copy, part, multiplier):
            moved = share * copy
            moved += (1 - share) * part
            moved += multiplier
            return moved

        moved = self._each(move, self.copies, self.parts, self.multipliers)
        self.parts = self.relaxation.fit(moved, self.parts, self.penalty)
        self.multipliers = self._each(np.subtract, moved, self.parts)

    def rebalance(self):
        """Raise the penalty where copies are far from their parts, lower it where parts move."""
        balance = self.relaxation.balance
        primal, dual = self.relaxation.residuals(self)
        if primal > balance.ratio * dual:
            factor = balance.factor
        elif dual > balance.ratio * primal:
            factor = 1 / balance.factor
        else:
            return
        self.penalty *= factor
        self.multipliers = self._each(lambda u: u / factor, self.multipliers)

    def pauses(self, every=10):
        """Yield itself after the projections of every few steps, for ever."""
        step = 0
        balance = self.relaxation.balance
        while True:
            step += 1
            self.project()
            if step % every == 0:
                yield self
            self.fit()
            if step % balance.every == 0 and step <= balance.last:
                self.rebalance()
