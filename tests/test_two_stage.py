"""Two-stage SADMM: the weights of the components, and what each stage leaves to the other."""

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, check_solution, sadmm, two_stage
from fspca.covariance.linalg import largest
from fspca.separate_supports.alternation import settling_rho
from fspca.shared_support.refit import refit
from fspca.shared_support.two_stage import feature_scores
from fspca.synthetic import make_scheme

pytestmark = pytest.mark.filterwarnings("ignore::fspca.ConvergenceWarning")


def test_a_component_counts_as_much_as_it_explains():
    """A redundant component, alone on its feature, is preferred only where all count alike."""
    A = np.diag([0.0, 0.0, 0.0, 0.01])
    A[:3, :3] = 1.0
    V = np.zeros((4, 2))
    V[:3, 0], V[3, 1] = 3**-0.5, 1.0
    assert largest(abs(V).sum(axis=1), 3).tolist() == [0, 1, 3]
    assert largest(feature_scores(Covariance(A), V), 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_those_of_the_data(seed):
    rng = np.random.default_rng(seed)
    X, V = rng.standard_normal((7, 12)), np.linalg.qr(rng.standard_normal((12, 3)))[0]
    expected = abs(V) @ np.linalg.norm(X @ V, axis=0)
    A = Covariance.from_data(X, center=False, divisor=1)
    assert np.allclose(feature_scores(A, V), expected)


@pytest.mark.parametrize("seed", range(5))
def test_its_stages_are_sadmm_on_all_and_then_on_the_chosen(seed):
    A = Covariance(make_scheme("F", 15, seed))
    penalty = 0.05 * A.leading(1)[0][0]
    rho = settling_rho(A, 3, penalty)
    solution = two_stage(A, 3, 6, penalty=penalty)
    first = sadmm(A, 3, penalty=penalty, gamma=rho, rho=rho, max_iter=200)
    support = largest(feature_scores(A, first.orthonormal), 6)
    second = sadmm(A.restricted(support), 3, penalty=penalty, gamma=rho, rho=rho, max_iter=200)
    assert np.array_equal(solution.support, support)
    assert np.allclose(solution.W[support], second.orthonormal, atol=1e-12)
    assert check_solution(A, solution)
    assert solution.n_iter == first.n_iter + second.n_iter


@pytest.mark.parametrize("seed", range(5))
def test_a_first_stage_can_be_shared(seed):
    A = Covariance(make_scheme("F", 15, seed))
    penalty = 0.05 * A.leading(1)[0][0]
    rho = settling_rho(A, 3, penalty)
    V = sadmm(A, 3, penalty=penalty, gamma=rho, rho=rho, max_iter=200).orthonormal
    for k in (4, 9):
        alone = two_stage(A, 3, k, penalty=penalty)
        shared = two_stage(A, 3, k, penalty=penalty, first=V)
        assert np.array_equal(alone.W, shared.W)
        assert shared.n_iter < alone.n_iter


@pytest.mark.parametrize("seed", range(10))
def test_refitted_it_explains_the_most_on_its_features(seed):
    A = Covariance(make_scheme("F", 15, seed))
    plain, refitted = two_stage(A, 3, 6), two_stage(A, 3, 6, refit=True)
    assert np.array_equal(plain.support, refitted.support)
    assert refitted.objective >= plain.objective
    assert refitted.objective == pytest.approx(refit(A, refitted.support, 3)[1])


def test_all_features_give_pca_without_a_penalty():
    A = Covariance(make_scheme("F", 8, 0))
    assert two_stage(A, 3, 8, penalty=0.0).objective == pytest.approx(A.leading(3)[0].sum())


def test_bad_options_and_budgets():
    A = make_scheme("F", 8, 0)
    with pytest.raises(ValueError, match=r"init has shape \(8, 2\); it must be \(8, 3\)"):
        two_stage(A, 3, 5, first=np.eye(8)[:, :2])
    with pytest.raises(TypeError, match="penalty='' must be a number"):
        two_stage(A, 3, 5, penalty="")
    with pytest.raises(TypeError, match="refit='no' must be True or False"):
        two_stage(A, 3, 5, refit="no")
    with pytest.raises(ValueError, match="k=2 must lie between m=3 and d=8"):
        two_stage(A, 3, 2)
    with pytest.warns(ConvergenceWarning, match="two_stage stopped at max_iter=1 before"):
        assert not two_stage(A, 3, 5, max_iter=1).converged


def test_interrupted_in_its_first_stage_it_answers_with_the_features_so_far():
    def stop(news):
        if news.step == 3:
            raise KeyboardInterrupt

    A = make_scheme("F", 15, 1)
    solution = two_stage(A, 3, 6, progress=stop)
    assert solution.stopped == "interrupted"
    assert solution.n_iter == 3
    assert check_solution(A, solution)
