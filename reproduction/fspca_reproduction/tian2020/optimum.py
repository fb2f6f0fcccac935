"""The exact optimum of many small instances: enumeration, with what cannot win left out."""

from functools import cache
from itertools import combinations

import numpy as np

from fspca.covariance.linalg import TIE
from fspca.shared_support.ipu import ipu


@cache
def all_supports(d, k):
    """Return every support of k features, a row each, and its indicator vector."""
    supports = np.array(list(combinations(range(d), k)))
    members = np.zeros((len(supports), d))
    np.put_along_axis(members, supports, 1.0, axis=1)
    return supports, members


def bounds(A, members, m, k):
    r"""Return, for every support I, a number that the m largest eigenvalues of A[I, I] don't pass.

    The smaller of two.  Whatever sigma is, A <= sigma I + B with B the part of A above sigma, so
    the sum is at most trace B[I, I] + m sigma; sigma runs over the eigenvalues of A.  And of k
    numbers with sum t and sum of squares f the m largest add up to at most
    (m t + sqrt(m (k - m) (k f - t^2))) / k.
    """
    values, vectors = np.linalg.eigh(A)
    parts = [vectors**2 @ np.maximum(values - sigma, 0.0) for sigma in values]
    split = (members @ np.array(parts).T + m * values).min(axis=1)
    trace = members @ np.diagonal(A)
    squares = np.einsum("ij,ij->i", members @ A**2, members)
    spread = np.maximum(m * (k - m) * (k * squares - trace**2), 0.0)
    return np.minimum(split, (m * trace + np.sqrt(spread)) / k)


def optimum(A, m, k):
    """Return the best support and its objective, as `exhaustive` does, in a tenth of its time.

    Supports with a bound below what IPU reaches are not looked at.
    """
    full = A.plain.submatrix(np.arange(A.size))
    supports, members = all_supports(A.size, k)
    reached = ipu(A.plain, m, k).objective
    left = supports[bounds(full, members, m, k) >= reached * (1 - 1e-9)]  # far above rounding
    values = np.linalg.eigvalsh(full[left[:, :, None], left[:, None, :]])[:, -m:].sum(axis=1)
    first = np.argmax(values >= values.max() * (1 - TIE))
    return left[first], float(values[first])
