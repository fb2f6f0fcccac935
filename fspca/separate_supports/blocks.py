"""One component beside the others: which features it should have, and with what loadings.

Beside an orthonormal basis Q of the other components, a component x adds x'Rx / x'(I - QQ')x to
the variance that these explain, with R = (I - QQ') A (I - QQ').
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from fspca.covariance import Covariance
from fspca.linalg import basis, largest
from fspca.problem import TOLERANCE

GAIN = 1e-9  # relative; less is rounding
WIDEST, STEPS = 32, 10  # a search first keeps 32 k features, then 16 k, ...; steps of each at most
PAIRED, TRIED = 100, 3  # up to so many features exchanges are tried too, of three with three


class Beside(NamedTuple):
    """R, Q, and whether a component must be orthogonal to Q."""

    rest: Covariance
    Q: np.ndarray
    orthogonal: bool


class Block(NamedTuple):
    """What a component adds, its features and its loadings on them."""

    gain: float
    rows: np.ndarray
    x: np.ndarray


def beside(A, W, j, orthogonal):
    """Return what component j is sought beside: all columns of W but its own."""
    rest, Q = A, basis(np.delete(W, j, axis=1), TOLERANCE) if W.shape[1] > 1 else W[:, :0]
    for q in Q.T:
        rest = rest.deflated(q)
    return Beside(rest, Q, orthogonal)


def best_on(given, rows):
    """Return the Block on these features with the loadings that add most."""
    B, Q = given.rest.submatrix(rows), given.Q[rows]
    U = np.eye(len(rows))
    if Q.any() and given.orthogonal:
        U = scipy.linalg.null_space(Q.T, rcond=TOLERANCE)
    elif Q.any():
        lengths, U = np.linalg.eigh(U - Q @ Q.T)
        kept = lengths > TOLERANCE  # along the rest nothing lies apart from the others
        U = U[:, kept] / np.sqrt(lengths[kept])
    if not U.size:
        return Block(-np.inf, rows, np.eye(len(rows))[0])
    values, V = np.linalg.eigh(U.T @ B @ U)
    x = U @ V[:, -1]
    return Block(float(values[-1]), rows, x / np.linalg.norm(x))


def whittled(rest, y, k):
    """Return R x after truncated power steps that keep fewer and fewer features, down to 2 k."""
    for size in (k * 2**i for i in range(WIDEST.bit_length() - 1, 0, -1) if k * 2**i < len(y)):
        rows = None
        for _ in range(STEPS):
            chosen = largest(np.abs(y), size)
            if np.array_equal(chosen, rows):
                break
            rows, x = chosen, y[chosen] / (np.abs(y).max() or 1.0)
            y = rest.product((x / (np.linalg.norm(x) or 1.0))[:, None], rows)[:, 0]
    return y


def exchanged(given, block, y):
    """Return the best Block with one of its weakest features for one that the gradient wants."""
    y = np.abs(y)
    y[block.rows] = -1
    weakest = np.argsort(np.abs(block.x), kind="stable")[:TRIED]
    entrants = largest(y, min(TRIED, len(y) - len(block.rows)))
    pairs = ((np.delete(block.rows, i), j) for i in weakest for j in entrants)
    tried = (best_on(given, np.sort(np.append(rows, j))) for rows, j in pairs)
    return max(tried, key=lambda each: each.gain)


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


def component(given, k, starts):
    """Return the best Block of k features that searches from these directions find."""
    found = [best_on(given, largest(np.abs(whittled(given.rest, y, k)), k)) for y in starts]
    free = largest(-np.linalg.norm(given.Q, axis=1), k)  # where nothing else can be orthogonal
    if all(each.gain < 0 for each in found):
        found.append(best_on(given, free))
    return max((climb_block(given, each) for each in found), key=lambda each: each.gain)


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


def greedy(A, counts, starts, orthogonal):
    """Return W whose components are searched for beside the earlier ones alone."""
    W = np.zeros((A.size, len(counts)))
    for j, k in enumerate(counts):
        given = beside(A, W[:, : j + 1], j, orthogonal)
        found = component(given, k, starts(given.rest, j))
        W[found.rows, j] = found.x
    return W


def in_turn(A, W, counts, orthogonal):
    """Return W after a sweep: each component climbs beside all others, and gives way to better."""
    W = W.copy()
    for j, k in enumerate(counts):
        given, w = beside(A, W, j, orthogonal), W[:, j]
        length = 1 - np.sum((given.Q.T @ w) ** 2)
        adds = w @ given.rest.product(w[:, None])[:, 0] / length if length > TOLERANCE else 0.0
        found = climb_block(given, best_on(given, padded(A, w, k)))
        if found.gain >= adds or (orthogonal and length < 1 - TOLERANCE):
            W[:, j] = 0
            W[found.rows, j] = found.x
    return W
