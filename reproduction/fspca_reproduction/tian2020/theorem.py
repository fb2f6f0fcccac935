"""The bound of tian2020's Theorem 5.1 on what Go loses."""

import numpy as np

from fspca.covariance.covariance import DENSE_SIZE


def theorem_loss(A, m, k):
    """Return the least of the four terms: Go loses at most that share."""
    return min(theorem_terms(A, m, k))


def theorem_terms(A, m, k):
    """Return the four terms for a Covariance; all are 0 for a zero one."""
    values = np.maximum(A.leading(min(A.size, 2 * m))[0], 0.0)
    if not values[0]:
        return [0.0] * 4
    tail = values[m:].sum()
    smallest = A.leading(A.size)[0][-1] if A.size <= DENSE_SIZE else 0.0
    first, second = A.size / k * tail / values[:m].sum(), A.size / m * tail / A.trace
    return [first, second, 1 - max(smallest, 0.0) / values[0], 1 - k / A.size]
