"""One component beside the others: which features it should have, and with what loadings.

Beside an orthonormal basis Q of the other components, a component x adds x'Rx / x'(I - QQ')x to
the variance that these explain, with R = (I - QQ') A (I - QQ').  Where a condition asks that x is
orthogonal to Q, x'Rx is its own variance: Q then spans the other components ("orthonormal") or what
A makes of them ("uncorrelated").  Where no feature may be shared ("disjoint"), x is sought among
those that are free, and Q is empty.
"""

from typing import NamedTuple

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.linalg import basis, largest
from fspca.problem import TOLERANCE

SUBSPACE, ORTHONORMAL = "subspace", "orthonormal"  # what is asked of the columns
UNCORRELATED, DISJOINT = "uncorrelated", "disjoint"
GAIN = 1e-9  # relative; less is rounding
DOUBLED, FORMED = 5, 2000  # a search keeps 2^5 k features, then 2^4 k, ..., fewer than so many,
STEPS = 10  # with so many steps of each at most
PAIRED, TRIED = 100, 3  # up to so many features exchanges are tried too, of three with three


class Beside(NamedTuple):
    """R, Q, whether a component must be orthogonal to Q, and the features that R is about."""

    rest: Covariance
    Q: np.ndarray
    orthogonal: bool
    features: np.ndarray


class Block(NamedTuple):
    """What a component adds, its features and its loadings on them."""

    gain: float
    rows: np.ndarray
    x: np.ndarray


def beside(A, W, j, condition):
    """Return what component j is sought beside: all columns of W but its own."""
    others = np.delete(W, j, axis=1)
    if condition == DISJOINT:
        free = np.flatnonzero(~others.any(axis=1))
        return Beside(A.restricted(free), np.zeros((len(free), 0)), False, free)
    Q = A.product(others) if condition == UNCORRELATED else others
    rest, Q = A, basis(Q, TOLERANCE) if Q.any() else Q[:, :0]
    for q in Q.T:
        rest = rest.deflated(q)
    return Beside(rest, Q, condition != SUBSPACE, np.arange(len(W)))


def best_on(given, rows):
    """Return the Block on these features, or on those of any line of rows, that adds most."""
    union, places = np.unique(np.atleast_2d(rows), return_inverse=True)
    places = places.reshape(-1, np.shape(rows)[-1])
    B, Q, one = given.rest.submatrix(union), given.Q[union], np.eye(places.shape[1])
    U, within = np.broadcast_to(one, (*places.shape, len(one))), np.zeros(places.shape)
    if Q.any():
        _, s, Vt = np.linalg.svd(np.swapaxes(Q[places], 1, 2))
        U, within[:, : s.shape[1]] = np.swapaxes(Vt, 1, 2), s  # what of each direction Q has
    apart = within <= TOLERANCE if given.orthogonal else 1 - within**2 > TOLERANCE
    U = U * np.where(apart, 1 / np.sqrt(np.where(apart, 1 - within**2, 1)), 0)[:, None]
    M = np.swapaxes(U, 1, 2) @ B[places[:, :, None], places[:, None]] @ U
    M -= (1 + given.rest.trace) * one * ~apart[:, None]
    values, V = np.linalg.eigh(M)
    i = np.argmax(np.where(apart.any(axis=1), values[:, -1], -np.inf))
    if not apart[i].any():
        return Block(-np.inf, union[places[i]], one[0])
    x = U[i] @ V[i, :, -1]
    return Block(float(values[i, -1]), union[places[i]], x / np.linalg.norm(x))


def whittled(rest, y, k):
    """Return R x after truncated power steps that keep fewer and fewer features, down to 2 k.

    R is formed, once, on the most of them.
    """
    y = rest.product(y[:, None] / (np.linalg.norm(y) or 1.0))[:, 0]
    sizes = [k * 2**i for i in range(DOUBLED, 0, -1) if k * 2**i < min(len(y), FORMED)]
    if not sizes:
        return y
    among = largest(np.abs(y), sizes[0])
    B, z = rest.submatrix(among), y[among]
    for size in sizes:
        rows = None
        for _ in range(STEPS):
            chosen = largest(np.abs(z), size)
            if np.array_equal(chosen, rows):
                break
            rows, x = chosen, np.zeros(len(z))
            x[rows] = z[rows] / (np.linalg.norm(z[rows]) or 1.0)
            z = B @ x
    return rest.product(x[:, None], among)[:, 0]


def exchanged(given, block, y):
    """Return the best Block with one of its weakest features for one that the gradient wants."""
    y = np.abs(y)
    y[block.rows] = -1
    weakest = np.argsort(np.abs(block.x), kind="stable")[:TRIED]
    entrants = largest(y, min(TRIED, len(y) - len(block.rows)))
    pairs = ([*np.delete(block.rows, i), j] for i in weakest for j in entrants)
    return best_on(given, np.sort(list(pairs)))


def climb_block(given, block):
    """Return the Block where neither a power step nor an exchange adds anything more."""
    k = len(block.rows)
    while True:
        least = block.gain + GAIN * given.rest.trace
        y = given.rest.product(block.x[:, None], block.rows)[:, 0]
        rows = largest(np.abs(y), k)
        better = block if np.array_equal(rows, block.rows) else best_on(given, rows)
        if better.gain <= least and k <= PAIRED and k < len(y):
            better = exchanged(given, block, y)
        if better.gain <= least:
            return block
        block = better


def component(given, k, y):
    """Return the best Block of k features that a search from this direction finds."""
    found = best_on(given, largest(np.abs(whittled(given.rest, y, k)), k))
    if found.gain < 0:  # then where something must be orthogonal to the others, if anything is
        found = best_on(given, largest(-np.linalg.norm(given.Q, axis=1), k))
    return climb_block(given, found)


def padded(A, w, k):
    """Return k features: the largest loadings, and of those that are 0 what A w wants most."""
    rows = np.flatnonzero(w)
    if len(rows) >= k:
        return largest(np.abs(w), k)
    y = np.abs(A.product(w[:, None])[:, 0])
    y[rows] = -1
    return np.sort(np.append(rows, largest(y, k - len(rows))))


def cut(V, scores, counts):
    """Return the loadings V where the scores of each column are largest, at unit length."""
    W = np.zeros(V.shape)
    for j, k in enumerate(counts):
        rows = largest(np.abs(scores[:, j]), k)
        W[rows, j] = V[rows, j] / (np.linalg.norm(V[rows, j]) or 1.0)
        W[rows[0], j] += not W[:, j].any()
    return W


def in_turn(A, W, counts, condition):
    """Return W after a sweep: each component climbs beside all others."""
    W = W.copy()
    for j, k in enumerate(counts):
        given = beside(A, W, j, condition)
        among = A if len(given.features) == A.size else A.restricted(given.features)
        start = padded(among, W[given.features, j], k)
        found = climb_block(given, best_on(given, start))
        if found.gain >= -GAIN * A.trace:  # of a variance of zero rounding may leave less
            W[:, j] = 0
            W[given.features[found.rows], j] = found.x
    return W
