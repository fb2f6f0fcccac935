"""Points where curves meet: all supports that a low-rank covariance can make best."""

from itertools import chain, combinations, islice
from math import comb

import numpy as np

import fspca.nonnegative.low_rank as lower
from fspca.covariance.validate import checked_truth
from fspca.nonnegative.components import alone, one_by_one
from fspca.nonnegative.halfspaces import halfspaces_batch, unit_rows
from fspca.problem import Nonnegative
from fspca.solver import solves

BLOCK = 4_000_000  # numbers held at a time
APART = 1e-9  # relative: rows are moved so far, so that no d + 1 curves meet in a point


def intersections(V, block=None):
    """Yield (members, c): where d of the n curves of V and the zero line meet, in blocks.

    members (b x d) holds the curves, n standing for zero; c (b x d) is a unit vector at which
    they are equal.
    """
    n, d = V.shape
    with_zero = np.vstack([V, np.zeros(d)])
    numbers = chain.from_iterable(combinations(range(n + 1), d)) if d > 1 else iter([n])
    while len(flat := np.fromiter(islice(numbers, d * (block or max(1, BLOCK // n))), int)):
        members = flat.reshape(-1, d)
        rows = with_zero[members]
        yield members, null_vector(rows[:, 1:] - rows[:, :1])


def null_vector(M):
    """Return the unit null vectors of a stack of (d - 1) x d matrices."""
    d = M.shape[2]
    if d == 1:
        return np.ones((len(M), 1))
    if d == 2:
        c = np.stack([-M[:, 0, 1], M[:, 0, 0]], axis=1)
    elif d == 3:
        c = np.cross(M[:, 0], M[:, 1])
    else:
        return np.linalg.svd(M)[2][:, -1]
    return c / np.maximum(np.linalg.norm(c, axis=1, keepdims=True), np.finfo(float).tiny)


def candidates(V, members, c, k):
    """Yield the supports that meet at these points, as masks (b x n): the ambiguous ones.

    Away from the intersections the k largest positive entries of Vc do not change, so that
    every cell of the sphere with one such set has a corner among these points.
    """
    n, d = V.shape
    values = c @ V.T
    if d == 1:  # the sphere is two points, and nothing changes along it
        yield np.array([lower.keep_positive(a, k) > 0 for a in values])
        return
    real = members < n
    at = np.take_along_axis(values, np.minimum(members, n - 1), axis=1)
    level = np.where(real.all(axis=1), at.mean(axis=1), 0.0)
    above = values > level[:, None]
    for column in range(d):  # the members are equal there, whatever rounding says
        rows = np.flatnonzero(real[:, column])
        above[rows, members[rows, column]] = False
    free = k - above.sum(axis=1)
    for size in range(d + 1):
        for chosen in combinations(range(d), size):
            chosen = list(chosen)
            with_zero = ~real.all(axis=1)
            fits = np.where(with_zero, size <= free, (size == free) & (free < d)) & (free > 0)
            rows = np.flatnonzero(fits & (level >= 0) & real[:, chosen].all(axis=1))
            mask = above[rows]
            mask[np.arange(len(rows))[:, None], members[rows][:, chosen]] = True
            yield mask


def best_on_masks(V, mask, value):
    """Return the best x'VV'x above `value` among nonnegative x on these supports, with its c.

    A support whose leading eigenvalue is no larger cannot win; the others are solved exactly.
    """
    products = (V[:, :, None] * V[:, None, :]).reshape(len(V), -1)
    Q = (mask @ products).reshape(-1, V.shape[1], V.shape[1])
    promising = np.flatnonzero(np.linalg.eigvalsh(Q)[:, -1] > value)
    best = None
    for part in np.array_split(promising, -(-len(promising) // 200)) if len(promising) else ():
        R = unit_rows(V * mask[part][:, :, None])
        R = R[:, mask[part].any(axis=0)]
        c, reached = halfspaces_batch(Q[part], R)
        if reached.max() > value:
            i = int(np.argmax(reached))
            value, best = reached[i], np.maximum(mask[part[i]] * (V @ c[i]), 0.0)
    return value, best


@solves(Nonnegative)
def spannogram_points(A, m, k, *, rank=None, shift=False, apart="supports", max_seconds=None,
                      progress=None):  # fmt: skip
    r"""Find what `fspca.spannogram` finds as asteris2014 does: at every point where curves meet.

    All supports at the points where r of the d + 1 curves of the spannogram meet are collected,
    and `halfspaces` finds the best x on each.  Options and answer are those of `spannogram`;
    `n_iter` counts the points, of which there are (d + 1 choose r).

    Notes
    -----
    asteris2014, Algorithms 1 and 2, with the candidates that those leave out.  Rows are moved by
    1e-9 of their length while supports are collected, so that no more curves meet in a point than
    must; the value found is then right to about that much.
    Cost: O(d^{r+1}) for the points, in blocks, so that memory does not grow with them.
    Explained in the chapter "The spannogram: walk it, or prune it cell by cell".

    Examples
    --------
    >>> V = np.array([[3.0, 0.0], [1.0, 1.0], [-3.0, 1.0]])
    >>> spannogram_points(V @ V.T, 1, 2, rank=2).n_iter
    6
    """
    rank = lower.checked_rank(rank, A.size)
    checked_truth("shift", shift)

    def method(A, k, run):
        return best_point(A, k, min(rank, A.size), shift, run)

    return one_by_one(A, m, k, method, apart=apart, max_seconds=max_seconds, progress=progress)


def best_point(A, k, rank, shift, run):
    """Return the Solution with one component."""
    V, tail = lower.low_rank(A, rank, shift)
    if not V.shape[1]:  # nothing is left above the shift: every unit vector explains the same
        return lower.answer(A, k, alone(A), "spannogram_points", bound=tail)
    scale = np.linalg.norm(V)
    V = V / scale
    total, seen = comb(len(V) + 1, V.shape[1]) if V.shape[1] > 1 else 1, 0
    starts = np.vstack([np.eye(V.shape[1]), -np.eye(V.shape[1]), V])
    x, value = max((lower.climb_low_rank(V, c, k) for c in starts[:50]), key=lambda found: found[1])
    noise = np.random.default_rng(0).uniform(-1, 1, V.shape)
    moved = V + APART * np.linalg.norm(V, axis=1).max() * noise
    blocks = intersections(moved)
    with run:
        for _ in run:
            members, c = next(blocks, (None, None))
            if members is None:
                break
            for sign in (1.0, -1.0):
                for mask in candidates(moved, members, sign * c, k):
                    value, found = best_on_masks(V, mask, value)
                    x = x if found is None else found / np.linalg.norm(found)
            run.record(value * scale**2, x)
            seen += len(members)
    x, value = max([(x, value), lower.climb_low_rank(V, V.T @ x, k)], key=lambda found: found[1])
    bound = value * scale**2 + tail if seen == total else None
    facts = {"n_iter": seen, "stopped": run.stopped or "done"}
    return lower.answer(A, k, lower.settle(V, x), "spannogram_points", bound, **facts)
