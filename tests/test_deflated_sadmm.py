"""SADMM one component at a time."""

import numpy as np
import pytest

from fspca import Covariance, check_solution, deflated_sadmm, deflated_sadmm_with_k, sadmm
from fspca.separate_supports.alternation import settling_rho
from fspca.synthetic import make_scheme

pytestmark = pytest.mark.filterwarnings("ignore::fspca.ConvergenceWarning")


@pytest.mark.parametrize("seed", range(5))
def test_each_component_is_sadmms_first_on_the_projected_covariance(seed):
    A = make_scheme("F", 10, seed)
    penalty = 0.1 * np.linalg.eigvalsh(A)[-1]
    rho = settling_rho(Covariance(A), 1, penalty)
    solution = deflated_sadmm(A, 3, penalty, rho, rho)
    for w in solution.W.T:
        x = sadmm(A, 1, penalty, rho, rho).W[:, 0]
        assert abs(x @ w) == pytest.approx(1, abs=1e-6)  # signs of the start may differ
        P = np.eye(10) - np.outer(w, w)
        A = P @ A @ P


@pytest.mark.parametrize("seed", range(5))
def test_k_counts_each_components_features(seed):
    A = make_scheme("F", 20, seed)
    solution = deflated_sadmm_with_k(A, 3, 4)
    assert check_solution(A, solution)
    assert np.count_nonzero(solution.W, axis=0).tolist() == [4] * 3
    assert np.all(np.diff(solution.history) > 0)
    assert solution.orthonormal is None


def test_wide_data_is_deflated_by_its_factor():
    X = np.random.default_rng(0).standard_normal((30, 600)) * np.linspace(3, 1, 600)
    wide = Covariance.from_data(X, center=False, divisor=1)
    narrow = Covariance(X.T @ X)
    first, second = (deflated_sadmm_with_k(A, 2, 5) for A in (wide, narrow))
    assert first.support.tolist() == second.support.tolist()
    assert first.objective == pytest.approx(second.objective, rel=1e-4)  # tol of V


def test_a_start_for_all_components_is_refused():
    with pytest.raises(TypeError, match="must be 'pca' or 'random'"):
        deflated_sadmm(np.eye(4), 2, 0.1, 1.0, 1.0, init=np.eye(4)[:, :2])
    with pytest.raises(ValueError, match="k=5 must lie between 1 and d=4"):
        deflated_sadmm_with_k(np.eye(4), 2, 5)
