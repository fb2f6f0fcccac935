"""The exact nonnegative optimum by trying every support: the oracle for small problems."""

from itertools import combinations
from math import comb

import numpy as np

from fspca.problem import TRIED, Nonnegative, solution_of
from fspca.solver import solves

MOST_SUPPORTS, MOST_SHARED = 2_000_000, 12
BLOCK = 20_000  # supports at a time


@solves(Nonnegative, counts=True)
def exhaustive_nonnegative(A, m, k, *, in_all=False):
    r"""Find the best nonnegative components with at most k nonzeros each, by enumeration.

    For m = 1 the problem is max x'Ax over unit x >= 0 with at most k nonzeros.  On the support S
    of an optimum all entries are positive, so x is a local maximum on the sphere of S, hence a
    leading eigenvector of A[S, S].  The optimum is therefore the largest lambda_1(A[S, S])
    among the S of at most k features whose leading eigenvector has no two signs.
    For m > 1 supports are disjoint, and the best m of them are found by adding one at a time to
    all sets of features.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m, k : int
        Components, and features of each at most, one count or m; all supports up to that size must
        be at most 2 000 000, and for m > 1 there may be at most 12 features.
    in_all : bool
        Whether k counts the features of all components together.

    Returns
    -------
    Solution
        With `upper_bound` equal to its objective; `n_iter` counts supports.

    Notes
    -----
    Exact.  Where a leading eigenvalue is repeated, its nonnegative eigenvectors reach down to a
    smaller support, which is tried too.
    Explained in the chapter "The spannogram: walk it, or prune it cell by cell".

    Examples
    --------
    >>> exhaustive_nonnegative(np.array([[2.0, -1.0], [-1.0, 3.0]]), 1, 2).objective
    3.0
    """
    A, d, problem = A.plain, A.size, Nonnegative(m, k, disjoint=True, in_all=in_all)
    sizes = range(1, int(problem.counts.max()) + 1)
    total = sum(comb(d, size) for size in sizes)
    if total > MOST_SUPPORTS or (m > 1 and d > MOST_SHARED):
        raise ValueError(
            f"d={d}, m={m} and k={k} give {total} supports; at most {MOST_SUPPORTS} are tried, "
            f"and at most {MOST_SHARED} features for m > 1"
        )
    full, kept = A.submatrix(np.arange(d)), []
    for size in sizes:
        chosen = np.array(list(combinations(range(d), size)))
        for S in np.array_split(chosen, -(-len(chosen) // BLOCK)):
            values, vectors = np.linalg.eigh(full[S[:, :, None], S[:, None, :]])
            u = vectors[:, :, -1]
            u = u * np.sign(u[np.arange(len(u)), np.abs(u).argmax(axis=1)])[:, None]
            fits = np.flatnonzero((u >= -1e-12).all(axis=1))
            if m == 1 and len(fits):
                fits = fits[[int(np.argmax(values[fits, -1]))]]
            kept += [(values[i, -1], S[i], np.maximum(u[i], 0.0)) for i in fits]
    parts = [max(kept, key=lambda each: each[0])] if m == 1 else apart(kept, d, problem)
    W = np.zeros((d, m))
    for j, (_, S, u) in enumerate(parts):
        W[S, j] = u / np.linalg.norm(u)
    facts = {"n_iter": total, "stopped": TRIED, "upper_bound": problem.score(A, W)}
    return solution_of(A, problem, W, "exhaustive_nonnegative", **facts)


def apart(kept, d, problem):
    """Return those of (value, support, x) with disjoint supports that fit and the largest sum.

    Sets of features are the bits of numbers: best[M] is the most that j supports within M give.
    """
    sets, masks = np.arange(2**d), [int(np.sum(1 << S)) for _, S, _ in kept]
    best, choices = np.zeros(2**d), []
    for most in problem.counts:
        before, best, choice = best, np.full(2**d, -np.inf), np.zeros(2**d, dtype=int)
        for i, mask in enumerate(masks):
            if len(kept[i][1]) > most:
                continue
            within = sets[sets & mask == mask]
            value = kept[i][0] + before[within ^ mask]
            better = value > best[within]
            best[within[better]], choice[within[better]] = value[better], i
        choices.append(choice)
    small = np.bitwise_count(sets) <= problem.most
    left, parts = int(np.argmax(np.where(small, best, -np.inf))), []
    for choice in reversed(choices):
        parts.append(kept[choice[left]])
        left ^= masks[choice[left]]
    return parts
