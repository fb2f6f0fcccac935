"""Uncorrelated factors and their lists, found by turns: what `solve_separate` does by default.

With A = Z'Z, W explains the largest sum of (u_j'Zw_j)^2 over orthonormal u_j.  For given W the
best u are near the polar factor of ZW diag(s), where s_j = u_j'Zw_j; for given u the best w_j
keeps the largest entries of Z'u_j.  Each half step raises a convex function along its tangent, so
that the sum never falls.  Of Z nothing is needed but products with A: Z'U is A Y (Y'AY)^(-1/2)
with Y = W diag(s).
"""

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np

from fspca.covariance.linalg import embedded, largest, random_subspace
from fspca.solver import each_of

RISE = 1e-10  # relative; a climb ends where less is gained
GAIN = 1e-9  # relative; less is no better answer
WIDER = 4  # times as many columns of PCA as components are turned
COLUMNS = 150  # of A that are looked at for the first component of each start
NARROWING = (8, 4, 2, 1)  # times k features are kept by a search, then fewer,
STEPS = 15  # with so many steps of each
LOOSE = (32, 8, 4, 2)  # times k features that every other start keeps before it climbs,
LOOSE_STEPS = 8  # with so many steps of each
FORMED = 600  # features within which the starts climb, at least if there are so many,
NEAR = 8  # and times k of those that go along with each factor
PATIENCE = 30  # components sought anew in vain
TRIED = 5  # of the weakest features, and of those that would replace them


class Restriction(NamedTuple):
    """Some features: products with A on them, and columns of PCA times the root of their values."""

    rows: np.ndarray
    times: Callable
    spread: np.ndarray


def search(A, counts, init, n_starts, rng, keep, n_jobs=None):
    """Climb from many starts, and tell keep(history, W) of the best so far after each climb.

    Of init, d x m, the largest entries are the first start after the columns of A.  So many jobs
    climb at once; what comes after the starts goes on from the best, one climb after another.
    """
    one_by_one = from_columns(A, counts, rng)
    at_first = joint_factors(A.product, one_by_one)
    part = surroundings(A, counts, init, at_first)
    history, best = climb(part.times, at_first[part.rows], counts)

    def adopt(found, W):
        """Take the end of a climb, and return whether the best is beaten."""
        nonlocal history, best
        better = found[-1] > history[-1] * (1 + GAIN)
        if better:
            history, best = found, W
        keep(history, embedded(best, part.rows, A.size))
        return better

    keep(history, embedded(best, part.rows, A.size))
    asked = (
        (part.times, *start, counts) for start in turned_starts(part, init, counts, n_starts, rng)
    )
    for end in each_of(climb_from, asked, n_jobs):
        adopt(*end)
    fails = 0
    while fails < PATIENCE:
        T = one_anew(part, best, counts, rng, along_pca=fails % 2 == 1)
        fails = 0 if adopt(*climb(part.times, T, counts)) else fails + 1
    while (T := exchanged_in_lists(part.times, best, history[-1], counts)) is not None:
        if not adopt(*climb(part.times, T, counts)):
            break
    W = embedded(best, part.rows, A.size)
    found, W = climb(A.product, joint_factors(A.product, W), counts)  # now among all features
    keep([*history, *(value for value in found if value > history[-1])], W)


def climb_from(times, T, loose, counts):
    """Climb from Z'U = T, for which first many features are kept, then fewer, so wide each."""
    for wider in loose:
        for _ in range(LOOSE_STEPS):
            W, s = with_lengths(cut_to(T, [wider * k for k in counts]))
            T = factors_times(times, W, s)
    return climb(times, T, counts)


def climb(times, T, counts):
    """Return the rising sums and the last W of turns that begin with Z'U = T."""
    W, s = with_lengths(cut_to(T, counts))
    history = [np.sum(s**2)]
    while len(history) == 1 or history[-1] > history[-2] * (1 + RISE):
        W, s = with_lengths(cut_to(factors_times(times, W, s), counts))
        history.append(np.sum(s**2))
    return np.maximum.accumulate(history).tolist(), W


def factors_times(times, W, s):
    """Return Z'U, where U is the polar factor of ZW diag(s)."""
    Y = W * s
    image = times(Y)
    values, V = np.linalg.eigh(Y.T @ image)
    kept = values > 1e-13 * max(values[-1], np.finfo(float).tiny)  # the others are rounding
    return image @ ((V[:, kept] / np.sqrt(values[kept])) @ V[:, kept].T)


def joint_factors(times, W):
    """Return Z'U, where U is the polar factor of the scores, each as long as it is."""
    return factors_times(times, W, deviations(times, W))


def deviations(times, W):
    """Return the standard deviations of the scores, none of them zero."""
    variances = np.einsum("ij,ij->j", W, times(W))
    return np.sqrt(np.maximum(variances, np.finfo(float).tiny))


def cut_to(T, counts):
    """Return T with the largest entries of each column, as many as are counted."""
    W = np.zeros_like(T)
    for j, k in enumerate(counts):
        rows = largest(np.abs(T[:, j]), min(k, len(T)))
        W[rows, j] = T[rows, j]
    return W


def with_lengths(W):
    """Return W with columns of unit length, but for those of zeros; and the lengths."""
    lengths = np.linalg.norm(W, axis=0)
    return W / np.where(lengths > 0, lengths, 1.0), lengths


def taken_out(times, W):
    """Return H with A - HH' what the scores of W leave of A, the Schur complement."""
    image = times(W)
    values, V = np.linalg.eigh(W.T @ image)
    kept = values > 1e-11 * max(values.max(initial=0.0), np.finfo(float).tiny)
    return image @ (V[:, kept] / np.sqrt(values[kept]))


def sought(times, H, k, z):
    """Return a component by power steps in A - HH' that keep fewer and fewer features."""
    for size in (k * wider for wider in NARROWING):
        for _ in range(STEPS if size < len(z) or size == k else 0):
            x = with_lengths(cut_to(z[:, None], [size]))[0]
            z = (times(x) - H @ (H.T @ x))[:, 0]
    return x[:, 0]


def from_columns(A, counts, rng):
    """Return W whose components are sought one by one, each in what those before it leave.

    Each begins at the column of a feature whose k largest squares are most beside its variance,
    among the features of largest variance and as many drawn ones.
    """
    half = min(COLUMNS, A.size) // 2
    some = np.union1d(largest(A.diagonal(), max(half, 1)), rng.permutation(A.size)[:half])
    columns, W = A.product(np.eye(len(some)), some), np.zeros((A.size, len(counts)))
    for j, k in enumerate(counts):
        H = taken_out(A.product, W[:, :j])
        left = columns - H @ H[some].T
        variances = left[some, range(len(some))]
        gains = np.sum(np.partition(left**2, -k, axis=0)[-k:], axis=0)
        seen = variances > 1e-9 * variances.max()  # the others are rounding
        gains = np.where(seen, gains / np.where(seen, variances, 1.0), 0.0)
        W[:, j] = sought(A.product, H, k, left[:, np.argmax(gains)])
    return W


def surroundings(A, counts, init, T):
    """Return the Restriction to the features that PCA, the start and the factors in T want most."""
    values, V = A.leading(min(WIDER * len(counts), A.size))
    values = np.maximum(values, 0.0)
    most = min(FORMED, A.size)
    wanted = [largest(np.abs(t), min(NEAR * max(counts), A.size)) for t in np.hstack([T, init]).T]
    rows = np.unique(np.concatenate([largest(V**2 @ values, most), *wanted]))
    return Restriction(rows, A.submatrix(rows).__matmul__, (V * np.sqrt(values))[rows])


def turned_starts(part, init, counts, n_starts, rng):
    """Yield Z'U: that of the start that was asked for, then of columns of PCA, turned at random.

    With each comes how many times k features it first keeps: many for every other one.
    """
    yield joint_factors(part.times, with_lengths(cut_to(init[part.rows], counts))[0]), ()
    for n in range(n_starts - 1):
        T = part.spread @ random_subspace(part.spread.shape[1], len(counts), rng)
        yield T, LOOSE if n % 2 else ()


def one_anew(part, W, counts, rng, along_pca):
    """Return Z'U where one component is sought anew beside what the others leave."""
    j, W = rng.integers(len(counts)), W.copy()
    if along_pca:
        z = part.spread @ rng.standard_normal(part.spread.shape[1])
    else:
        z = part.times(rng.standard_normal(len(part.rows)))
    W[:, j] = sought(part.times, taken_out(part.times, np.delete(W, j, 1)), counts[j], z)
    return joint_factors(part.times, W)


def exchanged_in_lists(times, W, value, counts):
    """Return Z'U after an exchange of one feature that raises the sum, or None where none does.

    The weakest features of each component give way to those that its factor wants most.
    """
    T = joint_factors(times, W)
    for j in range(len(counts)):
        used, wanted = np.flatnonzero(W[:, j]), np.abs(T[:, j])
        wanted[used] = -1.0
        weakest = used[np.argsort(np.abs(W[used, j]), kind="stable")[:TRIED]]
        entrants = largest(wanted, min(TRIED, len(T) - len(used))) if len(used) < len(T) else []
        for out, into in product(weakest, entrants):
            V = W.copy()
            V[into, j], V[out, j] = np.sign(T[into, j]) * np.abs(V[out, j]), 0.0
            V, s = fit_within(times, V, 4)  # a few turns show what they are worth
            if np.sum(s**2) > value * (1 + GAIN):
                return factors_times(times, V, s)
    return None


def fit_within(times, W, turns):
    """Return W and its lengths after so many turns that keep its features."""
    mask, s = W != 0, deviations(times, W)
    for _ in range(turns):
        W, s = with_lengths(np.where(mask, factors_times(times, W, s), 0.0))
    return W, s
