"""The nearest points of the sets that relaxations are made of."""

from contextlib import suppress
from math import ceil

import numpy as np
import scipy.linalg
from numpy.linalg import eigh

LARGE = 1e6  # of such numbers v - 1 loses digits


def clip_to_sum(v, s):
    """Return the point nearest to v with entries in [0, 1] and sum s: clip(v - t, 0, 1).

    The sum falls with t and is linear between the knots, the entries of v and of v - 1.  The two
    knots between which it passes s are found, and t by one division: exactly, not by bisection.

    >>> clip_to_sum(np.array([3.0, 1.2, 1.0, 0.0]), 2)
    array([1. , 0.6, 0.4, 0. ])
    """
    n = len(v)
    if n <= s:
        return np.ones(n)
    if np.abs(v).max() > LARGE:
        s_th = -np.sort(-v)[max(ceil(s), 1) - 1]  # t is at most this, and at most 1 less
        v = np.clip(v - s_th, -2.0, 2.0)
    knots = np.concatenate([v - 1, v])
    order = np.argsort(knots)
    knots = knots[order]
    inside = np.where(order < n, 1.0, -1.0).cumsum()[:-1]  # entries strictly between 0 and 1
    sums = np.full(2 * n, float(n))
    sums[1:] -= (inside * (knots[1:] - knots[:-1])).cumsum()
    j = min(max((-sums).searchsorted(-s), 1), 2 * n - 1)
    drop = sums[j - 1] - sums[j]
    share = (sums[j - 1] - s) / drop if drop > 0 else 1.0
    return np.clip(v - (1 - share) * knots[j - 1] - share * knots[j], 0.0, 1.0)


def clip_to_count(v, k, required):
    """Return the z nearest to v with entries in [0, 1], sum k, and 1 where required.

    Where more than k are required, the others are 0: such a part of a search holds no support.
    """
    z = np.ones(len(v))
    z[~required] = clip_to_sum(v[~required], max(k - np.count_nonzero(required), 0))
    return z


def clip_to_most(v, k, required):
    """Return the z nearest to v with entries in [0, 1], a sum of at most k, and 1 where required.

    >>> clip_to_most(np.array([0.5, -1.0, 0.2]), 2, np.zeros(3, dtype=bool))
    array([0.5, 0. , 0.2])
    """
    z = np.where(required, 1.0, np.clip(v, 0.0, 1.0))
    return z if z.sum() <= k else clip_to_count(v, k, required)


def sum_largest(values, k):
    """Return the sum of the k largest entries (of all, if there are fewer)."""
    return values.sum() if k >= len(values) else np.partition(values, -k)[-k:].sum() if k else 0.0


def largest_cost(c, k, required):
    """Return the largest sum of c over at most k features that hold those required."""
    others = max(k - np.count_nonzero(required), 0)
    return c[required].sum() + sum_largest(np.maximum(c[~required], 0.0), others)


class TopPairs:
    """Eigenpairs of a sequence of matrices of which only the few largest matter, each time.

    As many are computed as mattered the last time, and some; all, where that was not enough.
    """

    SPARE = 4  # more than mattered last time, so that a change of a few is noticed
    SHARE = 1 / 8  # of all pairs: up to here some cost less than all

    def __init__(self):
        self.count = None

    def above(self, M, level):
        """Return eigenpairs of M, ascending: all those above the level, and perhaps others."""
        # `level` is a function of the eigenvalues, as far as they were computed.
        n = len(M)
        if self.count is not None and self.count + self.SPARE < n * self.SHARE:
            wanted = self.count + self.SPARE
            with suppress(np.linalg.LinAlgError):  # MRRR gives up on some matrices
                values, V = scipy.linalg.eigh(
                    M, subset_by_index=(n - wanted, n - 1), check_finite=False
                )
                if len(values) == wanted and values[0] < level(values):
                    self.count = int(np.sum(values > level(values)))
                    return values, V
        values, V = eigh(M)
        self.count = int(np.sum(values > level(values)))
        return values, V

    def between(self, M, m, exactly=True):
        """Return X with XX' the projection of M on 0 <= P <= I, trace P = m (or at most m)."""

        def level(values):
            """The least eigenvalue that has a share f > 0, or 0 where all above 0 have one."""
            # Where all values have one, there may be more that were not computed: the least of them
            # is not below itself, and `above` then computes all.  1e-300 tells from a double only
            # where it is 0, which then counts among those that mattered.
            f = np.clip(values, 0.0, 1.0)
            if not exactly and f.sum() <= m:
                return 0.0
            f = clip_to_sum(values, m) if len(values) > m else np.ones(len(values))
            return values[f > 0].min() - 1e-300 if f[0] == 0 else values[0]

        values, V = self.above(M, level)
        f = np.clip(values, 0.0, 1.0)
        f = clip_to_sum(values, m) if exactly or f.sum() > m else f
        return V[:, f > 0] * np.sqrt(f[f > 0])

    def positive_part(self, M):
        """Return G with GG' the projection of M on the semidefinite matrices."""
        values, V = self.above(M, lambda values: 0.0)
        return V[:, values > 0] * np.sqrt(values[values > 0])


def project_fantope(S, m):
    """Return the matrix nearest to S among those with eigenvalues in [0, 1] and trace m."""
    X = TopPairs().between(S, m)
    return X @ X.T


def project_cones(Q, t):
    """Return the nearest (Q, t) with norm(row i) <= t_i for each row."""
    size = np.linalg.norm(Q, axis=1)
    share = np.clip((1 + t / np.maximum(size, np.finfo(float).tiny)) / 2, 0.0, 1.0)
    share = np.where(size <= t, 1.0, share)
    return Q * share[:, None], np.where(size <= t, t, share * size)
