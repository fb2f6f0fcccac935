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


class Basis(NamedTuple):
    """How features are seen: some one by one, the others by an orthonormal basis of their span.

    V has a unit vector for each of the few, in their order, and then the columns of the basis,
    which has a row for each of the others.  A matrix of the iteration stands for V N V'.
    """

    few: np.ndarray
    others: np.ndarray
    span: np.ndarray

    @classmethod
    def of_all(cls, d):
        """Every one of d features by itself: V is the identity."""
        return cls(np.arange(d), np.arange(0), np.zeros((0, 0)))

    @classmethod
    def beside(cls, few, images):
        """The few by themselves, and the others by a basis of the columns of their images."""
        others = np.setdiff1d(np.arange(len(images)), few)
        Z, R = np.linalg.qr(images[others])
        diagonal = np.abs(np.diag(R))
        return cls(few, others, Z[:, diagonal > 1e-8 * diagonal.max(initial=0)])

    @property
    def first(self):
        """The places of the few in a matrix of the iteration."""
        return np.s_[: len(self.few), : len(self.few)]

    @property
    def rest(self):
        """The places of the basis."""
        return np.s_[len(self.few) :, len(self.few) :]

    def lift(self, z):
        """V' Diag(z) V."""
        order = len(self.few) + self.span.shape[1]
        lifted = np.zeros((order, order))
        here = np.arange(len(self.few))
        lifted[here, here] = z[self.few]
        lifted[self.rest] = (self.span.T * z[self.others]) @ self.span
        return lifted

    def diagonal(self, N):
        """The diagonal of V N V'."""
        found = np.empty(len(self.few) + len(self.others))
        found[self.few] = np.diagonal(N)[: len(self.few)]
        found[self.others] = np.einsum("ij,ij->i", self.span @ N[self.rest], self.span)
        return found

    def whole(self, G, rows=None):
        """V G, or some of its rows."""
        found = np.empty((len(self.few) + len(self.others), G.shape[1]))
        found[self.few] = G[: len(self.few)]
        found[self.others] = self.span @ G[len(self.few) :]
        return found if rows is None else found[rows]

    def image(self, X):
        """X V."""
        return np.hstack([X[:, self.few], X[:, self.others] @ self.span])

    def on_some(self, rows, few):
        """Return (basis, known, turn): that of these features, and how to come there from here."""
        # `few` are places in `rows`, as in `State.seen`.  `known` has for each of the new few its
        # place among those of before, -1 where it was none.  `turn`, new order x old order, takes
        # a matrix N of before to turn N turn': it has unit vectors for features that stay, rows of
        # the old span for those that leave it, and for the new span, of which it is QR, R.
        d = len(self.few) + len(self.others)
        place = np.full(d, -1)  # in the matrices of before
        place[self.few] = np.arange(len(self.few))
        place = place[rows]
        few = np.arange(len(rows)) if few is None else np.unique(few[few >= 0])
        others = np.setdiff1d(np.arange(len(rows)), few)
        beside = np.full(d, -1)
        beside[self.others] = np.arange(len(self.others))
        Z = self.span[beside[rows[others]]]
        if Z.shape[1] >= len(others):  # a basis saves nothing: all are seen one by one
            few, Z = np.arange(len(rows)), Z[:0]
            others = few[:0]
        Z, R = np.linalg.qr(Z) if len(others) else (Z, Z)
        order = len(self.few) + self.span.shape[1]
        turn = np.zeros((len(few) + len(R), order))
        known = place[few]
        (new,) = np.nonzero(known < 0)
        (same,) = np.nonzero(known >= 0)
        turn[same, known[same]] = 1
        turn[new, len(self.few) :] = self.span[beside[rows[few[new]]]]
        turn[len(few) :, len(self.few) :] = R
        return (Basis(few, others, Z) if len(others) else None), known, turn


class State(NamedTuple):
    """Where an iteration stands, so that it can go on from there, or on some of the features.

    The matrix is A = V inner V' and P is looked for as V P V', V the basis; None sees all
    features one by one.  `guess` is where an inexact projection begins, a number or a row for each
    feature that is seen by itself.  Without a basis it may be longer: what follows the features is
    about something else, and stays where these become fewer.
    """

    basis: Basis | None
    inner: np.ndarray
    P: np.ndarray
    z: np.ndarray
    multipliers: Any
    penalty: float
    guess: np.ndarray | None = None

    def now(self, consensus, guess=None):
        """The state at a later step of the same iteration."""
        point = {"P": consensus.parts[0], "z": consensus.parts.chosen}
        multipliers, penalty = consensus.multipliers, consensus.penalty
        return self._replace(**point, multipliers=multipliers, penalty=penalty, guess=guess)

    def restricted(self, rows, dense=False):
        """The state on some features, in their order; with `dense` all are seen one by one."""
        if self.basis is not None:
            place = np.full(len(self.z), -1)
            place[rows] = np.arange(len(rows))
            return self.seen(rows, None if dense else place[self.basis.few])
        square = np.ix_(rows, rows)
        guess = self.guess
        if guess is not None:
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

    def seen(self, rows, few):
        """The state on `rows`, of which those at the places `few` are seen one by one."""
        # The state must have a basis, and what that sees one by one must be seen so again: the
        # places in `rows` of such features must be among `few`.  Negative places are none, None is
        # all.  Where the span has no fewer columns than there are others, all are seen one by one.
        basis, known, turn = self.basis.on_some(rows, few)
        (same,) = np.nonzero(known >= 0)

        def of_few(u, start=0.0):
            """What there is for each of the few, or each two; for those new it is `start`."""
            kept = np.full((len(known),) * u.ndim, start)
            kept[np.ix_(*[same] * u.ndim)] = u[np.ix_(*[known[same]] * u.ndim)]
            return kept

        moved = {name: of_few(u) for name, u in self.multipliers._asdict().items()
                 if name not in ("fantope", "slack", "chosen")}  # fmt: skip
        for name in ("fantope", "slack"):
            moved[name] = turn @ getattr(self.multipliers, name) @ turn.T
        moved["chosen"] = self.multipliers.chosen[rows]
        return State(
            basis,
            turn @ self.inner @ turn.T,
            turn @ self.P @ turn.T,
            self.z[rows],
            type(self.multipliers)(**moved),
            self.penalty,
            None if self.guess is None else of_few(self.guess, 0.25),
        )


class Found(NamedTuple):
    """What a relaxation has found: a bound, its costs and arrays, and where the iteration stands.

    No support J explains more than `bound`, nor than bound - (the k largest costs) + c(J).
    Y is about the features that the state sees one by one.
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
        """Return the copies, each nearest to its aim; P's is drawn by A over the penalty, too."""

    @abstractmethod
    def fit(self, moved, parts, penalty):
        """Return the parts of the point that is nearest to `moved`, what the copies moved to."""
        # `parts` is the point before: some fits compute its change alone.  The penalty is for a fit
        # that shrinks entries.

    def residuals(self, consensus):
        """Return (primal, dual): of copies and parts, and of a step, each in its own unit."""
        # Of the n parts that are matrices:
        #   primal = |copies - parts| / sqrt(m), all n together; sqrt(m) is the norm of P,
        #   dual = sqrt(n) |P - P_before| / |multiplier of the first part|.
        # Each holds P or -P, and counts as moving as far as P does.  Vectors are left out: they
        # hold z and the like, which are on the diagonals of the matrices, too.
        copies, parts = consensus.copies, consensus.parts
        P, P_before = parts[0], consensus.before
        matrices = [i for i, copy in enumerate(copies) if copy.ndim == 2]
        apart = sum(np.sum((copies[i] - parts[i]) ** 2) for i in matrices)
        change = len(matrices) * np.sum((P - P_before) ** 2)
        size = max(np.linalg.norm(consensus.multipliers[0]), EPS)
        return np.sqrt(apart / self.m), np.sqrt(change) / size


class Consensus:
    """The iteration for a relaxation, as far as it has come.

    `parts`, `aims`, `copies` and `multipliers` have a field for each condition; `before` is the P
    of the step before.
    """

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
