"""Greedy adds what the plain loop adds, and fails where two features matter together."""

import numpy as np
import pytest

from fspca import exhaustive
from fspca.shared_support import greedy


def plain(A, m, k):
    """The ten lines that everybody writes first."""
    support = []

    def explained(j):
        rows = [*support, j]
        return np.linalg.eigvalsh(A[np.ix_(rows, rows)])[-m:].sum()

    for _ in range(k):
        support.append(max((j for j in range(len(A)) if j not in support), key=explained))
    return sorted(support)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_plain_loop(seed):
    rng = np.random.default_rng(seed)
    d = rng.integers(3, 12)
    X = rng.standard_normal((d + 3, d))
    k = rng.integers(1, d + 1)
    m = min(k, rng.integers(1, 4))
    found = greedy(X.T @ X, m, k)
    assert found.support.tolist() == plain(X.T @ X, m, k)
    assert len(found.history) == k
    assert found.history[-1] == pytest.approx(found.objective)


def test_two_features_that_matter_together_are_passed_by():
    A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    assert greedy(A, 1, 2).objective == pytest.approx(3.0)
    assert exhaustive(A, 1, 2).objective == pytest.approx(4.0)


def test_without_time_the_largest_variances_fill_up():
    A = np.diag([1.0, 4.0, 3.0, 2.0])
    found = greedy(A, 1, 3, max_seconds=0)
    assert found.support.tolist() == [1, 2, 3]
    assert found.stopped == "max_seconds"
