"""What GPower and the manifold method share: a block X among the samples, and what it chooses.

T = Z'X, d x m, holds every feature's inner product with every column of X; a threshold on T is
the pattern of the loadings.
"""

from typing import NamedTuple

import numpy as np

from fspca.factors import leading_on
from fspca.linalg import EPS, largest
from fspca.separate_supports.penalty_search import penalty_search

POWER = {"l1": 1, "l0": 2}  # of the scale of Z that a threshold has
SETTLED, MOST_STEPS = 1e-8, 1000  # of the loadings on a fixed pattern


class Pattern(NamedTuple):
    """Where a climb ended: X, T = Z'X, the entries that pass the threshold, and how it went."""

    X: np.ndarray
    T: np.ndarray
    mask: np.ndarray
    n_iter: int
    converged: bool


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


def pattern_at(Z, squares, penalty, size, norm, climb, start=None):
    """Return the Pattern that climb(Z, X, gamma) finds for penalties relative to the largest."""
    peak = np.sqrt(squares.max())
    gamma = np.maximum(penalty, (8 * EPS) ** POWER[norm]) * peak ** POWER[norm]
    if start is None or not thresholded(Z.rmatmat(start), gamma, norm)[0].any():
        start = largest_columns(Z, squares, size)
    X, T, n_iter, converged = climb(Z, start, gamma)
    mask = thresholded(T, gamma, norm)[0] != 0
    for j in np.flatnonzero(~mask.any(axis=0)):  # a component keeps its largest entry
        mask[largest(np.abs(T[:, j]), 1), j] = True
    return Pattern(X, T, mask, n_iter, converged)


def unit_columns(W, mask):
    """Return W within the mask, with columns of unit length."""
    W, firsts = np.where(mask, W, 0.0), np.argmax(mask, axis=0)
    W[firsts, range(W.shape[1])] += ~W.any(axis=0)
    return W / np.linalg.norm(W / (peak := np.abs(W).max(axis=0)), axis=0) / peak


def fitted(Z, mask, X):
    """Return the unit columns W within the mask that, with an orthonormal X, raise tr(X'ZW)."""
    if mask.shape[1] == 1:
        return leading_on(Z, np.flatnonzero(mask))[:, None]
    W = unit_columns(Z.rmatmat(X), mask)
    for _ in range(MOST_STEPS):
        X = polar(Z.matmat(W), X)
        before, W = W, unit_columns(Z.rmatmat(X), mask)
        if np.linalg.norm(W - before) <= SETTLED * np.linalg.norm(W):
            break
    return W


def loadings_at(Z, squares, penalty, size, norm, climb):
    """Return the loadings at a penalty as `in_factors` asks: l1 is refitted, l0 is not."""
    found = pattern_at(Z, squares, penalty, size, norm, climb)
    return _loadings(Z, found, norm), found.n_iter, found.converged, False


def loadings_with(Z, squares, k, size, norm, climb):
    """Return loadings of k nonzeros each: the penalties searched, what is too many cut off."""
    steps = 0

    def run(penalty, start):
        nonlocal steps
        found = pattern_at(Z, squares, penalty, size, norm, climb, start and start.X)
        steps += found.n_iter
        return found.mask.sum(axis=0), found

    found = penalty_search(run, k, np.zeros(size), np.ones(size))[1]
    W = _loadings(Z, found, norm)
    truncated = bool(np.any(found.mask.sum(axis=0) > k))
    if truncated:
        mask = np.zeros(W.shape, dtype=bool)
        for j in range(size):
            mask[largest(np.abs(W[:, j]), k), j] = True
        W = fitted(Z, mask & found.mask, found.X)
    return W, steps, found.converged, truncated


def _loadings(Z, found, norm):
    return fitted(Z, found.mask, found.X) if norm == "l1" else unit_columns(found.T, found.mask)
