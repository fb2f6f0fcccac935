"""What all forms of GPower share: a block X among the samples, and what it chooses.

T = Z'X, d x m, holds every feature's inner product with every column of X; a threshold on T is
the pattern of the loadings.
"""

from typing import NamedTuple

import numpy as np

from fspca.covariance.factors import leading_on
from fspca.covariance.linalg import EPS, largest
from fspca.covariance.validate import checked_share
from fspca.separate_supports.penalty_search import penalty_search

POWER = {"l1": 1, "l0": 2}  # of the scale of Z that a threshold has
SETTLED, MOST_STEPS = 1e-8, 1000  # of the loadings on a fixed pattern


class Pattern(NamedTuple):
    """Where a climb ended: X, T = Z'X, the entries that pass the threshold, and why it ended."""

    X: np.ndarray
    T: np.ndarray
    mask: np.ndarray
    ended: str


def thresholded(T, gamma, norm):
    """Return half the gradient of the penalised variance in T, and the variance itself."""
    if norm == "l0":
        S = np.where(gamma < T**2, T, 0.0)
        return S, float(np.sum(np.maximum(T**2 - gamma, 0)))
    S = np.sign(T) * np.maximum(np.abs(T) - gamma, 0)
    return S, float(np.sum(S**2))


def polar(G, X):
    """Return the orthonormal Y with the largest <G, Y>; where many have it, one close to X."""
    U, _, V = np.linalg.svd(G + (SETTLED * np.linalg.norm(G) or 1.0) * X, full_matrices=False)
    return U @ V


def largest_columns(Z, squares, size):
    """Return an orthonormal basis of the longest column, the one longest apart from it, ..."""
    X = np.zeros((Z.shape[0], size))
    for j in range(size):
        X[:, j] = Z.matvec(np.arange(Z.shape[1]) == largest(squares, 1)[0])
        X[:, : j + 1] = np.linalg.qr(X[:, : j + 1])[0]
        squares = squares - Z.rmatvec(X[:, j]) ** 2
    return X


def pattern_at(Z, squares, penalty, X, norm, climb, note=None):
    """Return the Pattern that climb(Z, X, gamma, note) finds for penalties relative to the largest.

    Where nothing of X passes the threshold, the climb starts from the longest columns of Z.
    """
    peak = np.sqrt(squares.max())
    gamma = np.maximum(penalty, (8 * EPS) ** POWER[norm]) * peak ** POWER[norm]
    if not thresholded(Z.rmatmat(X), gamma, norm)[0].any():
        X = largest_columns(Z, squares, X.shape[1])
    X, T, _, ended = climb(Z, X, gamma, note)
    mask = thresholded(T, gamma, norm)[0] != 0
    for j in np.flatnonzero(~mask.any(axis=0)):  # a component keeps its largest entry
        mask[largest(np.abs(T[:, j]), 1), j] = True
    return Pattern(X, T, mask, ended)


def unit_columns_within(W, mask):
    """Return W within the mask, with columns of unit length."""
    W, firsts = np.where(mask, W, 0.0), np.argmax(mask, axis=0)
    W[firsts, range(W.shape[1])] += ~W.any(axis=0)
    return W / np.linalg.norm(W / (peak := np.abs(W).max(axis=0)), axis=0) / peak


def fitted(Z, mask, X):
    """Return the unit columns W within the mask that, with an orthonormal X, raise tr(X'ZW)."""
    if mask.shape[1] == 1:
        return leading_on(Z, np.flatnonzero(mask))[:, None]
    W = unit_columns_within(Z.rmatmat(X), mask)
    for _ in range(MOST_STEPS):
        X = polar(Z.matmat(W), X)
        before, W = W, unit_columns_within(Z.rmatmat(X), mask)
        if np.linalg.norm(W - before) <= SETTLED * np.linalg.norm(W):
            break
    return W


def loadings(Z, squares, Y, note, *, k, penalty, size, norm, climb):
    """Return loadings of k nonzeros each, or at a penalty, and why they ended.

    For k the penalties are searched; what is too many is cut off, and then refitted.
    """
    start = largest_columns(Z, squares, size) if Y is None else np.linalg.qr(Z.matmat(Y))[0]
    if k is None:
        found = pattern_at(Z, squares, checked_share("penalty", penalty), start, norm, climb, note)
        return _fitted(Z, found, norm, None), found.ended

    def run(penalties, last):
        found = pattern_at(Z, squares, penalties, last[0].X if last else start, norm, climb)
        W = _fitted(Z, found, norm, k)
        note(W)
        return found.mask.sum(axis=0), (found, W)

    found, W = penalty_search(run, k, np.zeros(size), np.ones(size))[1]
    return W, found.ended


def _fitted(Z, found, norm, k):
    """Return the loadings of a Pattern: l1's are refitted, l0's only where k cuts them."""
    l1 = norm == "l1"
    W = fitted(Z, found.mask, found.X) if l1 else unit_columns_within(found.T, found.mask)
    if k is None or not np.any(found.mask.sum(axis=0) > k):
        return W
    mask = np.zeros(W.shape, dtype=bool)
    for j, w in enumerate(W.T):
        mask[largest(np.abs(w), k), j] = True
    return fitted(Z, mask & found.mask, found.X)
