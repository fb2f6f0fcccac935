"""EM: its step, its two stages, its starts."""

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, check_solution, em
from fspca.nonnegative.em import em_step, soften, unit_columns
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.registry import oracle
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
    moved, values = em_step(Covariance.from_data(X), w[:, None], 3, True)
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
    x = em(A, 4, seed=seed, tol=1e-13).W[:, 0]
    rows = np.flatnonzero(x)
    power = np.maximum(A[np.ix_(rows, rows)] @ x[rows], 0.0)
    # the variance settles to 1e-13, the vector to its root
    assert power / np.linalg.norm(power) == pytest.approx(x[rows], abs=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_more_starts_are_never_worse(seed):
    A = make_scheme("F", 15, seed)
    found = em(A, 4, seed=0, n_starts=8)
    assert check_solution(A, found)
    assert np.all(np.diff(found.history) >= 0)
    assert len(found.history) == 8
    assert found.objective == found.history[-1]
    assert found.objective <= exhaustive_nonnegative(A, 4).objective * (1 + 1e-9)


def test_it_often_finds_the_optimum_and_not_always():
    hits = 0
    for seed in range(40):
        A = make_scheme("F", 10, seed)
        best = exhaustive_nonnegative(A, 4).objective
        hits += em(A, 4, seed=0).objective >= best * (1 - 1e-4)
    assert 10 <= hits < 40


@pytest.mark.parametrize("seed", range(10))
def test_with_signs_it_is_judged_by_the_other_problem(seed):
    A = make_scheme("F", 12, seed)
    found = em(A, 4, nonnegative=False, seed=0)
    assert check_solution(A, found)
    assert oracle(A, found.problem).objective >= found.objective * (1 - 1e-9)


def test_all_features_without_signs_give_pca():
    A = make_scheme("D", 10, 0)
    assert em(A, 10, nonnegative=False, seed=0, tol=1e-12).objective == pytest.approx(
        np.linalg.eigvalsh(A)[-1], rel=1e-6
    )


def test_positive_starts_are_alike_and_signed_starts_are_not():
    """Two camps against each other: all positive starts lean to the larger one."""
    camps = np.r_[np.linspace(1.0, 1.2, 300), np.linspace(-1.5, -1.0, 200)]
    A = np.outer(camps, camps)
    ends = {tuple(em(A, 5, start="positive", n_starts=1, seed=s).support) for s in range(10)}
    others = {tuple(em(A, 5, n_starts=1, seed=s).support) for s in range(10)}
    assert len(ends) == 1 < len(others)
    best = em(A, 5, n_starts=10, seed=0)
    assert best.support.tolist() == [300, 301, 302, 303, 304]


def test_columns_of_zeros_stay():
    W = unit_columns(np.array([[0.0, 3e-300], [0.0, 4e-300]]))
    assert pytest.approx(np.array([[0, 0.6], [0, 0.8]])) == W


def test_budget_exhausted_warns_and_says_so():
    with pytest.warns(ConvergenceWarning, match="em stopped at max_iter=1 "):
        assert not em(make_scheme("F", 20, 0), 5, seed=0, max_iter=1).converged


def test_what_does_not_fit_is_refused():
    with pytest.raises(TypeError, match="nonnegative=1 must be"):
        em(np.eye(3), 1, nonnegative=1, seed=0)
    with pytest.raises(ValueError, match="n_starts=0 must be at least 1"):
        em(np.eye(3), 1, n_starts=0, seed=0)
    with pytest.raises(ValueError, match="start='zero' must be one of"):
        em(np.eye(3), 1, start="zero", seed=0)
    with pytest.raises(ValueError, match="tol=-1 must be"):
        em(np.eye(3), 1, tol=-1, seed=0)
