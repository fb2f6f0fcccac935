"""The exact nonnegative optimum by trying every support: the oracle for small problems."""

from itertools import combinations
from math import comb

import numpy as np

from fspca.nonnegative.low_rank import answer, asked

MOST_SUPPORTS = 2_000_000
BLOCK = 20_000  # supports at a time


def exhaustive_nonnegative(A, k):
    r"""Find the best nonnegative component with at most k nonzeros, by enumeration.

    The problem is max x'Ax over unit x >= 0 with at most k nonzeros.  On the support S of an
    optimum all entries are positive, so x is a local maximum on the sphere of S, hence a
    leading eigenvector of A[S, S].  The optimum is therefore the largest lambda_1(A[S, S])
    among the S of at most k features whose leading eigenvector has no two signs.

    Parameters
    ----------
    A : array (d x d) or Covariance
    k : int
        Features at most, 1 <= k <= d; all supports up to that size must be at most 2 000 000.

    Returns
    -------
    Solution
        With `upper_bound` equal to its objective; `n_iter` counts supports.

    Notes
    -----
    Exact.  Where a leading eigenvalue is repeated, its nonnegative eigenvectors reach down to a
    smaller support, which is tried too.
    Explained in the chapter "Walk the spannogram".

    Examples
    --------
    >>> exhaustive_nonnegative(np.array([[2.0, -1.0], [-1.0, 3.0]]), 2).objective
    3.0
    """
    A, problem = asked(A, k, 1)
    count = sum(comb(A.size, size) for size in range(1, k + 1))
    if count > MOST_SUPPORTS:
        raise ValueError(
            f"d={A.size} and k={k} give {count} supports; at most {MOST_SUPPORTS} are tried"
        )
    full, best, x = A.submatrix(np.arange(A.size)), -np.inf, np.zeros(A.size)
    for size in range(1, k + 1):
        chosen = np.array(list(combinations(range(A.size), size)))
        for S in np.array_split(chosen, -(-len(chosen) // BLOCK)):
            values, vectors = np.linalg.eigh(full[S[:, :, None], S[:, None, :]])
            u = vectors[:, :, -1]
            u = u * np.sign(u[np.arange(len(u)), np.abs(u).argmax(axis=1)])[:, None]
            value = np.where((u >= -1e-12).all(axis=1), values[:, -1], -np.inf)
            i = int(np.argmax(value))
            if value[i] > best:
                best, x = value[i], np.zeros(A.size)
                x[S[i]] = np.maximum(u[i], 0.0)
    x /= np.linalg.norm(x)
    value = problem.score(A, x[:, None])
    return answer(A, problem, x, "exhaustive_nonnegative", bound=value, n_iter=count)
