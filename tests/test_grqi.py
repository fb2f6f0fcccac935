"""GRQI: Rayleigh quotient iteration with truncation."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, sadmm
from fspca.separate_supports import gpower, grqi, inverse_power, tpower
from fspca.separate_supports.grqi import inverse_step, rayleigh
from fspca.synthetic import make_scheme


def angle(x, y):
    return np.linalg.norm(x - y * np.sign(x @ y))


@pytest.mark.parametrize("seed", range(20))
def test_the_inverse_step_is_that_of_the_shifted_matrix(seed):
    B = make_scheme("F", 8, seed)
    v = np.random.default_rng(seed).standard_normal(8)
    v /= np.linalg.norm(v)
    direct = np.linalg.solve(B - (v @ B @ v) * np.eye(8), v)
    # the solve is as bad as the shifted matrix is near to singular, here 1e-4 of its norm at most
    assert angle(direct / np.linalg.norm(direct), inverse_step(B, v)) < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_convergence_without_truncation_is_cubic(seed):
    B = np.diag([5.0, 3.0, 2.0, 1.0])
    v = np.array([1.0, 0, 0, 0]) + 0.02 * np.random.default_rng(seed).standard_normal(4)
    v /= np.linalg.norm(v)
    before = angle(v, np.eye(4)[0])
    after = angle(inverse_step(B, v), np.eye(4)[0])
    assert after <= 2 * before**3  # the constant is at most 1 + small where the gap is 2 of 5


def test_an_eigenvector_stays():
    B = make_scheme("F", 6, 0)
    v = np.linalg.eigh(B)[1][:, 3]
    assert angle(inverse_step(B, v), v) < 1e-12
    v = np.array([0.6, 0.8])
    assert angle(inverse_step(np.zeros((2, 2)), v), v) < 1e-12  # rounding


@pytest.mark.parametrize("seed", range(20))
def test_a_component_is_an_eigenvector_on_its_support(seed):
    A = make_scheme("F", 15, seed)
    x, _, why = rayleigh(Covariance(A), 5)
    rows = np.flatnonzero(x)
    assert why == "settled"
    # the last two iterates differ by 1e-6 at most
    assert np.linalg.norm(A[np.ix_(rows, rows)] @ x[rows] - (x @ A @ x) * x[rows]) < 1e-4 * A.max()


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_structure_is_found(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 90))
    X[:, :5] += 6 * rng.standard_normal((60, 1))
    X[:, 5:10] += 4 * rng.standard_normal((60, 1))
    for A in (np.cov(X.T), Covariance.from_data(X)):
        solution = grqi(A, 2, 5)
        assert [np.flatnonzero(w).tolist() for w in solution.W.T] == [[*range(5)], [*range(5, 10)]]


@pytest.mark.parametrize("seed", range(10))
def test_without_power_steps_the_support_stays_that_of_the_start(seed):
    A = make_scheme("F", 15, seed)
    start = np.argsort(-np.abs(A[:, np.argmax(np.diag(A))]), kind="stable")[:5]
    assert set(np.flatnonzero(rayleigh(Covariance(A), 5, power_steps=0)[0])) == set(start)


def test_bad_arguments_and_a_small_budget():
    with pytest.raises(ValueError, match="power_steps=-1 must be at least 0, or None"):
        grqi(np.eye(3), 1, 1, power_steps=-1)
    with pytest.raises(ValueError, match="max_iter=0 must be at least 1"):
        grqi(np.eye(3), 1, 1, max_iter=0)
    with pytest.warns(ConvergenceWarning, match="grqi stopped at max_iter=1 "):
        assert not grqi(make_scheme("F", 60, 3), 3, 20, max_iter=1).converged


def test_nothing_left_to_explain_is_no_search():
    """The third component of rank-one data in two blocks is rounding, which never settles."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        solution = grqi(np.ones((6, 6)), 3, 3)
    assert solution.objective == pytest.approx(6.0)


@pytest.mark.parametrize(
    "run",
    [
        lambda A: grqi(A, 1, 20, max_iter=1),
        lambda A: tpower(A, 1, 20, max_iter=1),
        lambda A: gpower(A, 1, penalty=0.1, max_iter=1),
        lambda A: inverse_power(A, 1, penalty=0.1, max_iter=1),
        lambda A: sadmm(A, 1, penalty=0.1, deflated=True, max_iter=1),
    ],
)
def test_warnings_point_at_the_callers_line(run):
    with pytest.warns(ConvergenceWarning) as caught:
        run(make_scheme("F", 60, 3))
    assert {Path(each.filename).name for each in caught} == {Path(__file__).name}
    assert {each.lineno for each in caught} == {run.__code__.co_firstlineno}
