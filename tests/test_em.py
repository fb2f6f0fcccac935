"""EM: its step, its two stages, its starts."""

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, check_solution
from fspca.nonnegative import em
from fspca.nonnegative.em import em_step, soften, unit_columns
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.synthetic import make_scheme


@pytest.mark.parametrize("seed", range(20))
def test_the_step_is_projection_and_regression_of_the_data(seed):
    """E: z = Xw; M: the w that minimises |X - z w'|, which is X'z / z'z."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((30, 8)), np.abs(rng.standard_normal(8))
    X, w = X - X.mean(axis=0), w / np.linalg.norm(w)
    z = X @ w
    regressed = np.linalg.lstsq(z[:, None], X, rcond=None)[0][0]
    regressed = np.maximum(regressed, 0.0)
    regressed = np.maximum(regressed - np.sort(regressed)[-4], 0.0)
    moved, values = em_step(Covariance.from_data(X), w[:, None], 3)
    assert moved[:, 0] == pytest.approx(regressed / np.linalg.norm(regressed))
    assert values[0] == pytest.approx(z @ z / 29)


def test_lowering_leaves_k_nonzeros_and_signs():
    W = np.random.default_rng(0).standard_normal((9, 5))
    lowered = soften(W, 4)
    assert np.count_nonzero(lowered, axis=0).tolist() == [4] * 5
    assert np.all(lowered * W >= 0)
    assert np.array_equal(soften(W, 9), W)


@pytest.mark.parametrize("seed", range(20))
def test_the_end_is_a_fixed_point_on_its_support(seed):
    A = make_scheme("F", 12, seed)
    x = em(A, 1, 4, seed=seed, tol=1e-13).W[:, 0]
    rows = np.flatnonzero(x)
    power = np.maximum(A[np.ix_(rows, rows)] @ x[rows], 0.0)
    # the variance settles to 1e-13, the vector to its root
    assert power / np.linalg.norm(power) == pytest.approx(x[rows], abs=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_its_answer_is_judged_as_any_other(seed):
    A = make_scheme("F", 15, seed)
    found = em(A, 1, 4, n_starts=8)
    assert check_solution(A, found)
    assert found.objective == pytest.approx(found.history[-1])
    assert found.objective <= exhaustive_nonnegative(A, 1, 4).objective * (1 + 1e-9)


def test_it_often_finds_the_optimum_and_not_always():
    hits = 0
    for seed in range(40):
        A = make_scheme("F", 10, seed)
        best = exhaustive_nonnegative(A, 1, 4).objective
        hits += em(A, 1, 4).objective >= best * (1 - 1e-4)
    assert 10 <= hits < 40


@pytest.mark.parametrize("seed", range(10))
def test_its_history_is_of_the_run_that_won(seed):
    """One start after the other gives the same best run, step by step."""
    A = make_scheme("F", 15, seed)
    found = em(A, 1, 4, n_starts=3)
    W = unit_columns(np.random.default_rng(0).standard_normal((15, 3)))
    W = W * np.where((A @ W).max(axis=0) > 0, 1.0, -1.0)
    ends = []
    for w in W.T:
        steps = []
        for _ in range(2):
            w = em_step(Covariance(A), w[:, None], 4)[0][:, 0]
            steps.append(w @ A @ w)
        ends.append(steps)
    assert any(found.history[:2] == pytest.approx(steps) for steps in ends)


@pytest.mark.parametrize("init", ["pca", "variance", "positive", np.eye(12)[:, :1]])
def test_a_start_is_taken(init):
    A = make_scheme("F", 12, 0)
    one, three = em(A, 1, 4, init=init, n_starts=1), em(A, 1, 4, init=init, n_starts=3)
    assert check_solution(A, one)
    assert three.objective >= one.objective


def test_an_interruption_keeps_what_is_feasible():
    def stop(news):
        if news.step == 3:
            raise KeyboardInterrupt

    A = make_scheme("F", 12, 0)
    found = em(A, 1, 4, tol=0, progress=stop)
    assert found.stopped == "interrupted"
    assert check_solution(A, found)


def test_positive_starts_are_alike_and_signed_starts_are_not():
    """Two camps against each other: all positive starts lean to the larger one."""
    camps = np.r_[np.linspace(1.0, 1.2, 300), np.linspace(-1.5, -1.0, 200)]
    A = np.outer(camps, camps)
    ends = {tuple(em(A, 1, 5, n_starts=1, seed=s, init="positive").support) for s in range(10)}
    others = {tuple(em(A, 1, 5, n_starts=1, seed=s).support) for s in range(10)}
    assert len(ends) == 1 < len(others)
    best = em(A, 1, 5, n_starts=10)
    assert best.support.tolist() == [300, 301, 302, 303, 304]


def test_columns_of_zeros_stay():
    W = unit_columns(np.array([[0.0, 3e-300], [0.0, 4e-300]]))
    assert pytest.approx(np.array([[0, 0.6], [0, 0.8]])) == W


def test_budget_exhausted_warns_and_says_so():
    with pytest.warns(ConvergenceWarning, match="em stopped at max_iter=1 "):
        assert not em(make_scheme("F", 20, 0), 1, 5, max_iter=1).converged


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="n_starts=0 must be at least 1"):
        em(np.eye(3), 1, 1, n_starts=0)
    with pytest.raises(ValueError, match="init='zero' must be one of"):
        em(np.eye(3), 1, 1, init="zero")
    with pytest.raises(ValueError, match="tol=-1 must be"):
        em(np.eye(3), 1, 1, tol=-1)
