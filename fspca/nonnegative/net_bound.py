"""Net bound: the low-rank optimum to any tolerance, by cells of the sphere, without chance."""

import warnings
from itertools import combinations, product

import numpy as np

from fspca.nonnegative.low_rank import answer, asked, climb, keep_positive, low_rank, settle
from fspca.problem import ConvergenceWarning
from fspca.validate import checked_count, checked_nonnegative

MARGIN = 1e-9  # relative: the small systems lose digits as cells shrink, to 1e-10 at width 1e-3
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

    cells (b x r x r) holds r unit corners a cell, h (b x r) their heights.  h is convex and
    h(tc) = t h(c), so for c = sum a_i v_i with a >= 0 it is at most sum a_i h(v_i) = g'c.  The
    largest g'c over the cone's unit vectors lies inside one of its faces, where it is |g| of
    that face.
    """
    r, bound = cells.shape[1], h.max(axis=1)
    for size in range(2, r + 1):
        for face in combinations(range(r), size):
            corners, height = cells[:, face], h[:, face, None]
            a = np.linalg.solve(corners @ corners.transpose(0, 2, 1), height)
            inside = (a[:, :, 0] >= -1e-9).all(axis=1)
            length = np.sqrt(np.maximum((a * height).sum(axis=(1, 2)), 0.0))
            bound = np.where(inside, np.maximum(bound, length), bound)
    return bound * (1 + MARGIN)


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
    halves, hs = [], []
    for end in (0, 1):
        child, its = cells.copy(), h.copy()
        child[np.arange(b), ends[:, end]] = unique[back.ravel()]
        its[np.arange(b), ends[:, end]] = height[back.ravel()]
        halves.append(child)
        hs.append(its)
    return np.concatenate(halves), np.concatenate(hs), unique, height


def net_bound(A, k, rank, tol=1e-3, *, shift=True, max_cells=200_000, progress=None):
    r"""Find the best nonnegative component of a low-rank part to a tolerance, and bound A's.

    The problem is max x'Ax over unit x >= 0 with at most k nonzeros.  For A = VV' of rank r the
    optimum is the square of the largest h(c), the length of the k largest positive entries
    of Vc, on the sphere of r dimensions.  h is convex and positively homogeneous, so on a
    simplicial cone it lies below the linear function through its corners.  Cones where that
    exceeds the best value known are cut in two; the others are done.

    Parameters
    ----------
    A : array (d x d) or Covariance
    k, rank : int
        Nonzeros at most, and the rank r of the part of A that is solved.
    tol : float
        Of the low-rank optimum, relatively.
    shift : bool
        True takes the part of A above lambda_{r+1}, whose bound is never looser; False A_r.
    max_cells : int
        How many cells are looked at in all, but for the first 2^r; ending there warns, and
        leaves a valid bound.
    progress : callable
        Called as progress(cells, value, bound), both of the low-rank part.

    Returns
    -------
    Solution
        Its `upper_bound` is the bound on the low-rank part plus lambda_{r+1}: deterministic,
        for every positive semidefinite A.  `n_iter` counts the cells.

    Notes
    -----
    Of a smooth h a cell of width w misses O(w^2), so that few cells per level are left around
    each maximum; d enters through the cost of h alone, which is one pass over V.
    It serves ranks up to 4 or 5; the first cells are the 2^r orthants, and r may be at most 8.
    Not in asteris2014.  Explained in the chapter "Trade certainty for speed: the epsilon-net".

    Examples
    --------
    >>> V = np.array([[3.0, 0.0], [1.0, 1.0], [-3.0, 1.0]])
    >>> found = net_bound(V @ V.T, k=2, rank=2, tol=1e-6)
    >>> found.support, bool(found.gap < 1e-6)
    (array([0, 1]), True)
    """
    A, problem = asked(A, k, rank)
    tol = checked_nonnegative("tol", tol)
    checked_count("max_cells", max_cells)
    V, _, tail = low_rank(A, rank, shift)
    r = V.shape[1]
    if r == 0:
        return answer(A, problem, keep_positive(A.diagonal(), 1), "net_bound", bound=tail)
    if r > MOST_RANK:
        raise ValueError(f"rank={rank} must be at most {MOST_RANK}, for the sake of the cells")
    scale = np.linalg.norm(V)
    V = V / scale
    cells = np.array([np.diag(signs) for signs in product((1.0, -1.0), repeat=r)])
    h, seen, closed = heights(V, cells.reshape(-1, r), k).reshape(-1, r), 0, 0.0
    x, value = max((climb(V, c, k) for c in np.vstack([np.eye(r), -np.eye(r)])),
                   key=lambda found: found[1])  # fmt: skip
    while True:
        bounds, seen = cell_bounds(cells, h) ** 2, seen + len(cells)
        is_open = bounds > value * (1 + tol)
        closed = max(closed, bounds[~is_open].max(initial=0.0))
        top = max(closed, bounds.max(initial=0.0), value)
        if progress:
            progress(seen, value * scale**2, top * scale**2)
        if not is_open.any() or seen + 2 * is_open.sum() > max_cells:
            break
        cells, h, middles, height = halve(cells[is_open], h[is_open], V, k)
        found = climb(V, middles[int(np.argmax(height))], k)
        x, value = max((x, value), found, key=lambda each: each[1])
    converged = not is_open.any()
    if not converged:
        warnings.warn(
            f"net_bound stopped at max_cells={max_cells} before tol={tol:g} was reached",
            ConvergenceWarning,
            stacklevel=2,
        )
    bound = top * scale**2 + tail
    stopped = "gap reached" if converged else "max_iter"
    return answer(A, problem, settle(V, x), "net_bound", bound, n_iter=seen, stopped=stopped)
