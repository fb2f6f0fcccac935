r"""Columns, prices and packings: the linear programme behind proofs by prices.

A column is a support with what the best components on it explain, for a slot: one of so many places
for supports of at most so many features.  The linear programme chooses shares of columns so that
each feature is used at most once and no slot is overfull; its dual are a price of each feature and
a level of each slot.  With shares of 0 and 1 it is the best packing.  HiGHS solves both.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy  # which loads its parts when they are needed

from fspca.covariance.linalg import EPS

CLIMBS = 30  # steps of a climb at most: most end after a few
NODES = 10_000  # of a search for the best packing of listed columns, which mostly takes one
# Relative: by so much more than the least bound nearer prices may give.  HiGHS keeps to this to
# 1e-7 only, and what the prices then give is proven anew.
SLACK = 1e-12


class Slot(NamedTuple):
    """So many blocks, each of `block` components that together have at most `size` features."""

    block: int
    size: int
    number: int

    def fits(self, column):
        """Whether a column, (components, support), may be put here."""
        return column[0] == self.block and len(column[1]) <= self.size


class Prices(NamedTuple):
    """A price of each feature, and for each slot what a column is worth beyond its own, at most."""

    p: np.ndarray
    levels: np.ndarray


class Programme(NamedTuple):
    """Columns in the slots they fit, a row of M each: 1 for its features and 1 for its slot."""

    kept: list
    M: Any
    values: np.ndarray
    places: np.ndarray  # how often each feature and slot may be used
    counted: bool  # whether the last place is that of the features in all

    @classmethod
    def of(cls, pool, slots, rows, in_all=None):
        """Return the programme of a pool's columns on these rows, perhaps with a count in all."""
        at = {int(i): j for j, i in enumerate(rows)}
        n = len(rows)
        kept, entries, values = [], [], []
        for j, slot in enumerate(slots):
            for column, value in pool.items():
                if slot.fits(column) and all(i in at for i in column[1]):
                    kept.append(column)
                    entries.append([*(at[i] for i in column[1]), n + j])
                    values.append(value)
        starts = np.cumsum([0, *map(len, entries)])
        flat = np.concatenate(entries)
        shape = (len(kept), n + len(slots))
        M = scipy.sparse.csr_matrix((np.ones(len(flat)), flat, starts), shape)
        places = np.r_[np.ones(n), [slot.number for slot in slots]]
        if in_all is not None:
            used = scipy.sparse.csr_matrix(np.asarray(M[:, :n].sum(axis=1)))
            M = scipy.sparse.hstack([M, used]).tocsr()
            places = np.r_[places, in_all]
        return cls(kept, M, np.array(values), places, in_all is not None)

    def prices(self, near):
        """Return prices p >= 0 of least bound, and among these of least |p - near|_1, or None."""
        # None is where HiGHS fails.  The first programme finds the least bound, the second among
        # its prices the nearest, or where it fails the first's stay.  With a count in all a feature
        # costs its own price and that of one place in the count; p is the sum.
        n = len(near)
        scale = self.values.max()
        first = scipy.optimize.linprog(self.places, -self.M, -self.values / scale, method="highs")
        if first.status != 0:
            return None
        own = scipy.sparse.eye(n, self.M.shape[1]).tolil()
        if self.counted:
            own[:, -1] = 1.0
        one = scipy.sparse.eye(n)
        sums = scipy.sparse.csr_matrix(self.places)
        A_ub = scipy.sparse.bmat([[-self.M, None], [own, -one], [-own, -one], [sums, None]])
        b_ub = np.r_[-self.values / scale, near / scale, -near / scale, first.fun * (1 + SLACK)]
        cost = np.r_[np.zeros(self.M.shape[1]), np.ones(n)]
        second = scipy.optimize.linprog(cost, A_ub, b_ub, method="highs")
        x = second.x if second.status == 0 else first.x
        return np.maximum(own @ np.maximum(x[: self.M.shape[1]], 0.0), 0.0) * scale

    def packing(self, seconds=None):
        """Return (the best disjoint columns, their value, whether no others are known better)."""
        limit = {} if seconds is None else {"time_limit": max(seconds, 0.1)}
        found = scipy.optimize.milp(
            -self.values / self.values.max(),
            constraints=scipy.optimize.LinearConstraint(self.M.T, -np.inf, self.places),
            integrality=1,
            bounds=(0, 1),
            options={"mip_rel_gap": 0, "node_limit": NODES} | limit,
        )
        if found.x is None:
            return [], 0.0, False
        taken = np.flatnonzero(found.x > 0.5)
        return [self.kept[i] for i in taken], self.values[taken].sum(), found.status == 0


def climb_beyond_prices(A, p, slot, X, either_sign):
    """Return the columns at which climbs from the columns of X end, each (1, support).

    A step keeps the features that are worth their price.  For G = AX(X'AX)^{-1/2}, A - GG' is
    semidefinite: a support explains at least the squares of its rows of G, and what it explains
    then gives the next X.
    """
    size = min(slot.size, len(A))
    before = None
    for _ in range(CLIMBS):
        Y = A @ X
        own = np.maximum(np.einsum("ij,ij->j", X, Y), EPS**8)
        Y = Y if either_sign else np.maximum(Y, 0.0)
        score = Y**2 / own - p[:, None]
        keep = (score >= -np.sort(-score, axis=0)[size - 1]) & (score > 0)
        keep[np.argmax(score, axis=0), np.arange(X.shape[1])] = True
        X = np.where(keep, Y, 0.0)
        X = X / np.maximum(np.linalg.norm(X, axis=0), EPS**8)
        if before is not None and np.array_equal(keep, before):
            break
        before = keep
    return {(slot.block, tuple(S.tolist())) for S in map(np.flatnonzero, X.T) if 0 < len(S) <= size}


def climb_together(A, p, slot, X):
    """Return the columns at which climbs of whole blocks end, each (components, support).

    A climb begins with as many columns of X as the block has components, and goes on from the best
    loadings on the features that are worth their price.
    """
    found = set()
    size = min(slot.size, len(A))
    for first in range(0, X.shape[1] - slot.block + 1, slot.block):
        V = np.linalg.qr(X[:, first : first + slot.block])[0]
        support = None
        for _ in range(CLIMBS):
            Y = A @ V
            w, U = np.linalg.eigh(V.T @ Y)
            G = (Y @ U) / np.sqrt(np.maximum(w, EPS * max(w[-1], EPS**8)))
            score = np.sum(G**2, axis=1) - p
            order = np.argsort(-score, kind="stable")
            wanted = max(slot.block, min(size, int(np.sum(score > 0))))
            S = np.sort(order[:wanted])
            if support is not None and np.array_equal(S, support):
                break
            support = S
            V = np.zeros((len(A), slot.block))
            V[S] = np.linalg.eigh(A[np.ix_(S, S)])[1][:, -slot.block :]
        found.add((slot.block, tuple(support.tolist())))
    return found
