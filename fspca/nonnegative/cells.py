"""Cells of a sphere: the largest of a convex, homogeneous function on it, to any tolerance."""

from itertools import combinations, product

import numpy as np

from fspca.covariance.linalg import EPS, embedded, largest
from fspca.nonnegative.low_rank import climb_low_rank, settle

LEAST = 1e-3  # of a cell's largest height: lower ones are raised to it, which keeps a bound valid
MARGIN = 64 * EPS  # relative, of a bound: that of heights, and of a few quotients
ROUNDING = 1e-12  # relative: bounds this close to the value are equal to it
NEAR = 1e-3  # relative: only so close to the value is it asked whether a support is constant
BLOCK = 4_000_000  # numbers held at a time
MOST_RANK = 8  # 2^r orthants to begin with, each with as many faces


def heights(V, C, k):
    """Return h(c) = max of c'V'x over unit x >= 0 with at most k nonzeros, or 0, for each row."""
    h = np.empty(len(C))
    for part in np.array_split(np.arange(len(C)), -(-len(C) * len(V) // BLOCK)):
        a = np.maximum(C[part] @ V.T, 0.0)
        if k < len(V):
            a = np.partition(a, len(V) - k, axis=1)[:, len(V) - k :]
        h[part] = np.linalg.norm(a, axis=1)
    return h


def cell_bounds(cells, h):
    """Return for each cell an upper bound of h on the unit vectors of its cone.

    cells (b x r x r) holds r unit corners v_i a cell, h (b x r) their heights.  For every unit u
    with all u'v_i > 0, h is at most the largest h_i / u'v_i.  The best u points to the point of
    the simplex of the v_i / h_i that is nearest to zero; on each face's plane that is one small
    system, whose rounding costs tightness only.
    """
    h = np.maximum(h, LEAST * h.max(axis=1, keepdims=True))
    h = np.maximum(h, np.finfo(float).tiny ** 0.25)  # where a whole cell leads below zero
    points, bound, r = cells / h[:, :, None], np.full(len(h), np.inf), h.shape[1]
    for size in range(1, r + 1):
        for first, *others in combinations(range(r), size):
            u = points[:, first]
            if others:
                edges = points[:, others] - u[:, None]
                gram = edges @ edges.transpose(0, 2, 1)
                least = 4 * EPS * np.trace(gram, axis1=1, axis2=2) + np.finfo(float).tiny
                gram = gram + least[:, None, None] * np.eye(size - 1)
                u = u - (np.linalg.solve(gram, edges @ u[:, :, None]) * edges).sum(axis=1)
            slopes = np.einsum("bid,bd->bi", cells, u / np.linalg.norm(u, axis=1)[:, None])
            ahead = (slopes > 0).all(axis=1)
            bound[ahead] = np.minimum(bound[ahead], (h[ahead] / slopes[ahead]).max(axis=1))
    return bound * (1 + MARGIN)


def constant_support(V, cell, k, slack):
    """Return a set that holds the k largest positive entries of Vc all over the cell, or None.

    That it does so is a system of inequalities linear in c, so the corners decide.
    """
    values = V @ cell.T
    middle = values.sum(axis=1)
    rows = largest(middle, k)
    rows = rows[middle[rows] > slack]
    if not len(rows):
        return None
    rest = np.delete(values, rows, axis=0).max(axis=0, initial=0.0)
    if len(rows) < k and rest.max() > slack:  # one more feature is positive somewhere
        return None
    return rows if np.all(values[rows].min(axis=0) >= rest - slack) else None


def close_constant(V, cells, bounds, k, x, value):
    """Lower the bounds of cells with one support, each by an eigenproblem; return the best x too.

    The leading eigenvalue bounds such a cell, and where its eigenvector is feasible it is a value.
    """
    slack = 8 * EPS * np.linalg.norm(V, axis=1).max()
    for i in np.flatnonzero((bounds > value * (1 + ROUNDING)) & (bounds <= value * (1 + NEAR))):
        S = constant_support(V, cells[i], k, slack)
        if S is None:
            continue
        top, vectors = np.linalg.eigh(V[S].T @ V[S])
        a = V[S] @ vectors[:, -1]
        a = a * np.sign(a.sum())
        if top[-1] > value and a.min() >= -slack:
            x = embedded(np.maximum(a, 0.0) / np.linalg.norm(np.maximum(a, 0.0)), S, len(V))
            value = np.sum((V.T @ x) ** 2)
        if top[-1] <= value * (1 + ROUNDING):
            bounds[i] = min(bounds[i], top[-1] * (1 + MARGIN))
    return x, value


def halve(cells, h, V, k):
    """Cut each cell through the middle of its longest edge; return cells, heights, middles."""
    b, r = h.shape
    pairs = np.array(list(combinations(range(r), 2)))
    cosine = np.einsum("bpd,bpd->bp", cells[:, pairs[:, 0]], cells[:, pairs[:, 1]])
    ends = pairs[cosine.argmin(axis=1)]
    middle = cells[np.arange(b), ends[:, 0]] + cells[np.arange(b), ends[:, 1]]
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    unique, back = np.unique(middle.round(14), axis=0, return_inverse=True)  # neighbours share
    height = heights(V, unique, k)
    halves, hs = np.concatenate([cells, cells]), np.concatenate([h, h])
    halves[np.arange(2 * b), ends.T.ravel()] = unique[np.tile(back.ravel(), 2)]
    hs[np.arange(2 * b), ends.T.ravel()] = height[np.tile(back.ravel(), 2)]
    return halves, hs, unique, height


def levels(V, k, tol):
    """Yield (x, value, bound, cells seen, whether done) after each level of cells.

    value = |V'x|^2 for the best x so far, and no x reaches more than the bound.  Cells whose
    bound exceeds the value by more than tol, relatively, are cut in two for the next level.
    """
    r = V.shape[1]
    cells = np.array([np.diag(signs) for signs in product((1.0, -1.0), repeat=r)])
    top = np.linalg.eigvalsh(V.T @ V)[-1] * (1 + MARGIN)  # no unit vector reaches more
    h, seen, closed = heights(V, cells.reshape(-1, r), k).reshape(-1, r), 0, 0.0
    found = [climb_low_rank(V, c, k)[0] for c in np.vstack([np.eye(r), -np.eye(r)])]
    while True:
        x = max(found, key=lambda x: np.sum((V.T @ x) ** 2))
        value = np.sum((V.T @ x) ** 2)
        bounds, seen = cell_bounds(cells, h) ** 2, seen + len(cells)
        if tol < NEAR:
            x, value = close_constant(V, cells, bounds, k, x, value)
        bounds = np.minimum(bounds, top)
        is_open = bounds > value * (1 + max(tol, ROUNDING))
        closed = max(closed, bounds[~is_open].max(initial=0.0))
        yield x, value, max(closed, bounds.max(), value), seen, not is_open.any()
        cells, h, middles, height = halve(cells[is_open], h[is_open], V, k)
        best = climb_low_rank(V, middles[int(np.argmax(height))], k)[0]
        found = [x, best, settle(V, best)]
