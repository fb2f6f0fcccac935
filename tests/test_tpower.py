"""Truncated power: one component at a time."""

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, check_solution
from fspca.separate_supports import tpower
from fspca.separate_supports.tpower import truncated_power
from fspca.synthetic import make_scheme


@pytest.mark.parametrize("seed", range(20))
def test_a_component_is_a_fixed_point_of_the_truncated_power_step(seed):
    A = make_scheme("F", 12, seed)
    x, _, why = truncated_power(Covariance(A), 4)
    y = A @ x
    y[np.argsort(-abs(y))[4:]] = 0
    assert why == "settled"
    assert abs(y @ x / np.linalg.norm(y)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_variance_rises_along_the_steps(seed):
    values = []
    truncated_power(Covariance(make_scheme("F", 30, seed)), 6, note=lambda _, x: values.append(x))
    assert len(values) > 2
    assert np.all(np.diff(values) >= -1e-12 * values[-1])  # rounding


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


def test_all_features_give_pca():
    A = make_scheme("D", 10, 0)
    assert tpower(A, 3, 10, max_iter=2000).objective == pytest.approx(280, rel=1e-6)


def test_more_components_than_rank_are_still_unit_vectors():
    solution = tpower(np.diag([2.0, 1.0, 0.0, 0.0]), 4, 1)
    assert np.linalg.norm(solution.W, axis=0) == pytest.approx(np.ones(4))
    assert solution.objective == pytest.approx(3.0)


def test_budget_exhausted_warns_and_says_so():
    with pytest.warns(ConvergenceWarning, match="tpower stopped at max_iter=1 "):
        assert not tpower(make_scheme("F", 60, 3), 3, 20, max_iter=1).converged


def test_features_of_equal_variance_are_tried_in_order():
    """On standardised data all variances are 1 up to rounding: the first feature is the start."""
    X = np.random.default_rng(0).standard_normal((40, 200))
    X /= np.linalg.norm(X, axis=0)
    A = Covariance.from_data(X, center=False, divisor=1)
    first = tpower(A, 1, 10, init=np.eye(200)[:, :1])
    assert np.array_equal(tpower(A, 1, 10).W, first.W)
    variances = A.diagonal()
    assert variances.argmax() > 0  # what rounding would have chosen
    other = tpower(A, 1, 10, init=np.eye(200)[:, [variances.argmax()]])
    assert not np.array_equal(other.support, first.support)


def test_more_starts_never_score_less():
    A = make_scheme("F", 40, 3)
    scores = [tpower(A, 3, 5, init="random", n_starts=n).objective for n in (1, 3, 9)]
    assert scores == sorted(scores)
    assert scores[0] < scores[2]


def test_interrupted_it_returns_the_components_found_so_far():
    def stop(news):
        if news.step == 12:
            raise KeyboardInterrupt

    A = make_scheme("F", 60, 3)
    solution = tpower(A, 4, 6, progress=stop)
    assert solution.stopped == "interrupted"
    assert check_solution(A, solution)


def test_a_start_must_be_a_direction():
    with pytest.raises(ValueError, match="init has a column of zeros"):
        tpower(np.eye(4), 2, 2, init=np.eye(4)[:, :2] * [1, 0])
    with pytest.raises(ValueError, match=r"init has shape \(4, 1\); it must be \(4, 2\)"):
        tpower(np.eye(4), 2, 2, init=np.eye(4)[:, :1])
