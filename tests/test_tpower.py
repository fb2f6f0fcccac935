"""Truncated power: one component at a time, and its support for all."""

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, exhaustive, greedy_tpower, tpower
from fspca.separate_supports.tpower import truncated_power
from fspca.synthetic import make_scheme


@pytest.mark.parametrize("seed", range(20))
def test_a_component_is_a_fixed_point_of_the_truncated_power_step(seed):
    A = make_scheme("F", 12, seed)
    x, _, converged = truncated_power(Covariance(A), 4)
    y = A @ x
    y[np.argsort(-abs(y))[4:]] = 0
    assert converged
    assert abs(y @ x / np.linalg.norm(y)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_variance_rises_along_the_steps(seed):
    A = Covariance(make_scheme("F", 30, seed))
    values = []
    for steps in range(8):
        x, _, _ = truncated_power(A, 6, max_iter=steps)
        values.append(x @ A.product(x[:, None])[:, 0])
    assert np.all(np.diff(values) >= -1e-12 * values[-1])


@pytest.mark.parametrize("seed", range(20))
def test_each_component_is_that_of_the_deflated_matrix(seed):
    A = make_scheme("F", 10, seed)
    W = tpower(A, 3, 4).W
    for j in range(3):
        x, _, _ = truncated_power(Covariance(A), 4)
        assert abs(x @ W[:, j]) == pytest.approx(1, abs=1e-6)  # found to 1e-12 in x'Ax
        P = np.eye(10) - np.outer(W[:, j], W[:, j])
        A = P @ A @ P


@pytest.mark.parametrize("seed", range(10))
def test_supports_are_each_components_own(seed):
    solution = tpower(make_scheme("F", 30, seed), 4, 5)
    assert np.count_nonzero(solution.W, axis=0).tolist() == [5] * 4
    assert len(solution.support) > 5
    assert np.all(np.diff(solution.history) > 0)


def test_all_features_give_pca():
    A = make_scheme("D", 10, 0)
    assert tpower(A, 3, 10, max_iter=2000).objective == pytest.approx(280, rel=1e-6)


def test_more_components_than_rank_are_still_unit_vectors():
    solution = tpower(np.diag([2.0, 1.0, 0.0, 0.0]), 4, 1)
    assert np.linalg.norm(solution.W, axis=0) == pytest.approx(np.ones(4))
    assert solution.objective == pytest.approx(3.0)


def test_greedy_takes_the_first_components_support():
    A = make_scheme("F", 12, 3)
    x, _, _ = truncated_power(Covariance(A), 5)
    assert greedy_tpower(A, 3, 5).support.tolist() == np.flatnonzero(x).tolist()


def test_greedy_misses_what_serves_other_components_only():
    """Remark 3.1 of tian2020: the second component lives on features the first does not use."""
    A = np.kron(np.diag([3.0, 2.0]), np.ones((2, 2)))
    assert greedy_tpower(A, 2, 2).objective < exhaustive(A, 2, 2).objective + 1e-9
    assert greedy_tpower(A + np.diag([0, 0.1, 0, 0]), 2, 2).support.tolist() == [0, 1]
    assert greedy_tpower(A, 2, 2).objective == pytest.approx(6.0)  # the trace is 6 ...
    assert greedy_tpower(A, 2, 3).objective == pytest.approx(8.0)


def test_budget_exhausted_warns_and_says_so():
    with pytest.warns(ConvergenceWarning, match="tpower stopped at max_iter=1 "):
        assert not tpower(make_scheme("F", 60, 3), 3, 20, max_iter=1).converged
