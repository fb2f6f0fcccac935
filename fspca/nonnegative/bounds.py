"""What is promised before any data are looked at: the factors of asteris2014's theorems."""

import numpy as np

from fspca.nonnegative.low_rank import asked


def rho_terms(A, k, rank):
    """Return the two terms of rho_r: k / 2d, and 1 / (1 + 2 (d / k) lambda_{r+1} / lambda_1).

    >>> rho_terms(np.diag([4.0, 1.0]), k=2, rank=1)
    (0.5, 0.6666666666666666)
    """
    A, _ = asked(A, k, rank)
    values = np.maximum(A.leading(min(rank + 1, A.size))[0], 0.0)
    tail = values[rank] if rank < A.size else 0.0
    ratio = tail / values[0] if values[0] else 0.0
    return k / (2 * A.size), float(1 / (1 + 2 * A.size / k * ratio))


def rho_bound(A, k, rank, epsilon=0.0):
    r"""Return the part of the optimum that a low-rank solver is sure to reach, beforehand.

    The problem is max x'Ax over unit x >= 0 with at most k nonzeros.  For a positive
    semidefinite A the best x of A_r explains at least rho_r of the optimum, rho_r the larger of
    k / 2d and 1 / (1 + 2 (d / k) lambda_{r+1} / lambda_1) (asteris2014, Theorem 1).  With the
    epsilon-net it is (1 - epsilon) rho_r, with probability 1 - 1/d (Theorem 2).

    Both terms rest on one fact: of the leading eigenvector or its opposite, the k largest
    positive entries carry at least k / 2d.  The optimum is at most that of A_r plus
    lambda_{r+1}, which gives the second term.
    Explained in the chapter "Trade certainty for speed: the epsilon-net".

    >>> rho_bound(np.diag([4.0, 1.0]), k=2, rank=1, epsilon=0.1)
    0.6
    """
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon={epsilon} must lie in [0, 1)")
    return (1 - epsilon) * max(rho_terms(A, k, rank))
