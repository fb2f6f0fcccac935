"""SOAP: an orthogonal iteration whose objective may fall."""

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, check_solution
from fspca.covariance.linalg import random_subspace
from fspca.shared_support import soap
from fspca.shared_support.refit import refit
from fspca.shared_support.soap import orthonormal_rows
from fspca.synthetic import make_scheme

pytestmark = pytest.mark.filterwarnings("ignore::fspca.ConvergenceWarning")


def by_the_book(A, W, k, steps):
    """SOAP as its authors write it, without a line of ours."""
    for _ in range(steps):
        V = np.linalg.qr(A @ W)[0]
        drop = np.argsort(-np.linalg.norm(V, axis=1))[k:]
        V[drop] = 0
        W = np.linalg.qr(V)[0]
        W[drop] = 0
    return W


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_the_definition_step_by_step(seed):
    A = make_scheme("F", 12, seed)
    start = random_subspace(12, 3, np.random.default_rng(seed))
    solution = soap(A, 3, 6, init=start, max_iter=7)
    W = by_the_book(A, start, 6, len(solution.history))
    assert np.linalg.norm(W @ W.T - solution.W @ solution.W.T) < 1e-6  # of well-separated rows
    assert solution.objective == pytest.approx(np.trace(W.T @ A @ W), rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_ends_at_the_best_loadings_on_its_support_where_it_converges(seed):
    A = Covariance(make_scheme("D", 12, seed))
    solution = soap(A, 3, 6, init="random", seed=seed, max_iter=2000)
    if solution.converged:
        assert solution.objective == pytest.approx(refit(A, solution.support, 3)[1], rel=1e-6)


def test_the_objective_may_fall():
    """Remark 5.7 of tian2020: an instance, and how often among random starts."""
    falls = [
        np.diff(soap(make_scheme("D", seed=s), 3, 7, init="random", seed=s).history).min() < -1e-6
        for s in range(50)
    ]
    assert 5 <= sum(falls) < 50


def test_it_settles():
    found = [soap(make_scheme("D", seed=s), 3, 7, init="random", seed=s) for s in range(10)]
    assert any(each.stopped == "the support repeats" for each in found)


def test_the_last_iterate_counts_also_where_an_earlier_one_was_better():
    for seed in range(50):
        A = make_scheme("D", seed=seed)
        (fallen,) = np.nonzero(np.diff(soap(A, 3, 7, init="random", seed=seed).history) < -1e-6)
        if fallen.size:
            break
    cut = soap(A, 3, 7, init="random", seed=seed, max_iter=int(fallen[0]) + 2)
    assert cut.objective == pytest.approx(cut.history[-1], abs=1e-9)
    assert cut.objective < max(cut.history) - 1e-6


def test_without_a_limit_it_is_orthogonal_iteration():
    A = make_scheme("D", 10, 1)
    assert soap(A, 3, 10, init="random", seed=0).objective == pytest.approx(280, rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_best_iterate_and_refinement(seed):
    A = Covariance(make_scheme("F", 12, seed))
    last = soap(A, 3, 6, init="random", seed=seed)
    best = soap(A, 3, 6, init="random", seed=seed, keep="best")
    assert best.objective == pytest.approx(max(last.history), rel=1e-12)
    assert check_solution(A, best)
    refined = soap(A, 3, 6, init="random", seed=seed, refined=True)
    assert np.all(np.diff(refined.history) > 0)


def test_budget_exhausted_warns_and_says_so():
    with pytest.warns(ConvergenceWarning, match="soap stopped at max_iter=1 "):
        assert not soap(make_scheme("F", 60, 3), 3, 20, init="random", max_iter=1).converged


def test_scored_rows_span_the_product():
    AW = make_scheme("F", 8, 0)[:, :2]
    Q = orthonormal_rows(AW, AW[:2])
    assert pytest.approx(np.eye(2), abs=1e-12) == Q.T @ Q
    assert np.linalg.matrix_rank(np.c_[Q, AW]) == 2


def test_bad_options():
    with pytest.raises(ValueError, match="keep='first' must be one of 'last', 'best'"):
        soap(np.eye(4), 1, 2, keep="first")
