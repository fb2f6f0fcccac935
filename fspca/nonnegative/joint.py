"""Several nonnegative components at once: disjoint supports, chosen by bipartite matching."""

import numpy as np
import scipy  # which loads its parts when they are needed

from fspca.covariance.linalg import EPS, largest
from fspca.nonnegative.low_rank import ascend


def matched(weights, problem):
    """Return m disjoint supports, of 1 to so many features, with the largest sum of weights.

    weights (d x m) are not negative.  Each component has as many places as its count, a place is
    worth to a feature what the component is, and no place needs a feature that is not among the
    heaviest of its component, as many as there are places.  Of a count in all, each component has
    one place, and each other place is worth to a feature what its best component is.  First
    places are worth more than all others together.

    >>> from fspca import Nonnegative
    >>> weights = np.array([[3.0, 2.9], [2.0, 0.5], [1.0, 0.0]])
    >>> matched(weights, Nonnegative(2, 1))
    [array([1]), array([0])]
    >>> matched(weights, Nonnegative(2, 3, in_all=True))
    [array([1, 2]), array([0])]
    """
    m, most = problem.m, min(problem.most, len(weights))
    rows = np.unique([largest(column, most) for column in weights.T])
    worth, best = weights[rows], weights[rows].argmax(axis=1)
    owner = np.repeat(np.arange(m), 1 if problem.in_all else problem.counts)
    first = np.searchsorted(owner, np.arange(m))
    places = np.hstack([worth[:, owner]] + [worth.max(axis=1, keepdims=True)] * (most - len(owner)))
    places[:, first] += worth.sum() or 1.0
    chosen, taken = scipy.optimize.linear_sum_assignment(places, maximize=True)
    kept = places[chosen, taken] > 0
    chosen, taken = chosen[kept], taken[kept]
    owners = np.where(taken < len(owner), owner[np.minimum(taken, len(owner) - 1)], best[chosen])
    return [np.sort(rows[chosen[owners == j]]) for j in range(m)]


def assigned(C, problem):
    """Return unit columns x_j >= 0 with disjoint supports and the largest sum of (c_j'x_j)^2.

    On a support I the best is the positive part of c_j there, worth the sum of its squares: so
    the supports are a matching.  A component that is worth nothing anywhere has one feature.
    """
    plus, W = np.maximum(C, 0.0), np.zeros_like(C)
    peak = plus.max(initial=0.0) or 1.0
    for j, support in enumerate(matched((plus / peak) ** 2, problem)):
        W[support, j] = plus[support, j] if plus[support, j].any() else 1 / np.sqrt(len(support))
        W[:, j] /= W[:, j].max()  # the squares of small numbers would be none
        W[:, j] /= np.linalg.norm(W[:, j])
    return W


def settled(A, W):
    """Return W, each column the leading eigenvector on its support where that has one sign."""
    W = W.copy()
    for j, w in enumerate(W.T):
        rows = np.flatnonzero(w)
        v = np.linalg.eigh(A.submatrix(rows))[1][:, -1]
        v = v * np.sign(v.sum())
        if v.min() >= 0:
            W[rows, j] = v
    return W


def pointed(A, W):
    """Return where the components point: A W over the roots of w_j'A w_j."""
    AW = A.product(W)
    own = np.maximum(np.einsum("ij,ij->j", W, AW), 0.0)
    return AW / np.sqrt(np.where(own > EPS * own.max(initial=0.0), own, np.inf))


def rematch(A, W, problem, run):
    """Let all columns move to the best matching of A W, and settle, until nothing is gained.

    With C = A W over the roots of w_j'A w_j, sum (c_j'x_j)^2 is at most trace X'AX for every X,
    and equal for X = W: so no step lowers what is explained.
    """
    return ascend(A, W, lambda W: settled(A, assigned(pointed(A, W), problem)), run)
