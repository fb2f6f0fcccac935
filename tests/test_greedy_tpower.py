"""Greedy TPower: one component's support, for all."""

import numpy as np
import pytest

from fspca import Covariance, exhaustive
from fspca.separate_supports.tpower import truncated_power
from fspca.shared_support import greedy_tpower
from fspca.synthetic import make_scheme


def test_greedy_takes_the_first_components_support():
    A = make_scheme("F", 12, 3)
    x, _, _ = truncated_power(Covariance(A), 5)
    assert greedy_tpower(A, 3, 5).support.tolist() == np.flatnonzero(x).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_loadings_are_the_best_on_the_support(seed):
    A = make_scheme("F", 12, seed)
    solution = greedy_tpower(A, 3, 5)
    block = A[np.ix_(solution.support, solution.support)]
    assert solution.objective == pytest.approx(np.linalg.eigvalsh(block)[-3:].sum(), rel=1e-10)


def test_misses_what_serves_other_components_only():
    """Remark 3.1 of tian2020: the second component lives on features that the first ignores."""
    A = np.eye(6)
    A[:4, :4] += 0.5 * (1 - np.eye(4))  # four features, which together explain 2.5
    A[4:, 4:] += 0.9 * (1 - np.eye(2))  # two more, which explain 1.9
    greedy, best = greedy_tpower(A, 2, 4), exhaustive(A, 2, 4)
    assert greedy.support.tolist() == [0, 1, 2, 3]
    assert greedy.objective == pytest.approx(2.5 + 0.5)
    assert best.support.tolist() == [0, 1, 4, 5]
    assert best.objective == pytest.approx(1.5 + 1.9)
