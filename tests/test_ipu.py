"""IPU: the proxy, the ascent, the stop."""

import numpy as np
import pytest
import scipy.linalg

from fspca import ConvergenceWarning, Covariance, exhaustive, go, ipu
from fspca.covariance.linalg import random_subspace
from fspca.shared_support.ipu import proxy_diagonal
from fspca.synthetic import make_scheme

SAME = 1e-9  # relative rounding of a pseudoinverse of a well-conditioned m x m matrix


@pytest.mark.parametrize("seed", range(20))
def test_proxy_diagonal_is_the_diagonal_of_the_proxy(seed):
    A = make_scheme("F", 9, seed)
    rng = np.random.default_rng(seed)
    W = np.zeros((9, 3))
    rows = np.sort(rng.choice(9, 5, replace=False))
    W[rows] = random_subspace(5, 3, rng)
    P = A @ W @ np.linalg.pinv(W.T @ A @ W) @ W.T @ A
    assert proxy_diagonal(Covariance(A), W[rows], rows) == pytest.approx(np.diag(P), rel=SAME)
    assert proxy_diagonal(Covariance(A), W) == pytest.approx(np.diag(P), rel=SAME)


@pytest.mark.parametrize("seed", range(20))
def test_orthogonal_iteration_form(seed):
    """diag(P) is the squared row norms of A^(1/2) Q, Q an orthonormal basis of A^(1/2) W."""
    A = make_scheme("E", 9, seed)
    W = random_subspace(9, 2, np.random.default_rng(seed))
    root = scipy.linalg.sqrtm(A).real
    Z = root @ np.linalg.qr(root @ W)[0]
    assert proxy_diagonal(Covariance(A), W) == pytest.approx((Z**2).sum(axis=1), rel=1e-6)


def test_singular_start_is_handled_by_the_pseudoinverse():
    A = np.diag([3.0, 2.0, 0.0, 0.0])
    W = np.eye(4)[:, 2:]  # A W = 0: the proxy is zero
    assert proxy_diagonal(Covariance(A), W).tolist() == [0, 0, 0, 0]
    assert ipu(A, 2, 2, init=W).objective == 5.0


@pytest.mark.parametrize("name", "ABCDEF")
@pytest.mark.parametrize("seed", range(10))
def test_never_below_its_start(name, seed):
    A = Covariance(make_scheme(name, seed=seed), ridge=0.1)
    assert ipu(A, 3, 7).objective >= go(A, 3, 7).objective * (1 - 1e-12)
    several = ipu(A, 3, 7, init="random", n_starts=4, seed=seed)
    assert several.objective >= ipu(A, 3, 7, init="random", seed=seed).objective


@pytest.mark.parametrize("seed", range(30))
def test_strict_ascent_when_positive_definite(seed):
    A = make_scheme("F", 14, seed) + 0.1 * np.eye(14)
    history = np.array(ipu(A, 3, 6, init="random", seed=seed).history)
    assert np.all(np.diff(history) > 0)


def algorithm_2(A, W, k):
    """The paper's loop, dense and without the module: supports and objectives of all steps."""
    supports, values = [], []
    while len(supports) < 2 or supports[-1] != supports[-2]:
        P = A @ W @ np.linalg.pinv(W.T @ A @ W) @ W.T @ A
        support = np.sort(np.argsort(-np.diag(P), kind="stable")[:k])
        w, V = np.linalg.eigh(A[np.ix_(support, support)])
        W = np.zeros_like(W)
        W[support] = V[:, -W.shape[1] :]
        supports.append(support.tolist())
        values.append(w[-W.shape[1] :].sum())
    return supports, values


@pytest.mark.parametrize("name", "DEF")
@pytest.mark.parametrize("seed", range(20))
def test_agrees_step_by_step_with_the_papers_loop(name, seed):
    A = make_scheme(name, 14, seed) + 0.1 * np.eye(14)
    W = random_subspace(14, 3, np.random.default_rng(seed))
    supports, values = algorithm_2(A, W, 6)
    solution = ipu(A, 3, 6, init=W)
    assert solution.support.tolist() == supports[-1]
    assert list(solution.history) == pytest.approx(values[:-1], rel=SAME)
    assert np.all(np.diff(values[:-1]) > 0)


@pytest.mark.parametrize("seed", range(30))
def test_the_end_is_a_fixed_point(seed):
    A = make_scheme("F", 14, seed)
    solution = ipu(A, 3, 6, init="random", seed=seed)
    again = ipu(A, 3, 6, init=solution.W)
    assert solution.converged
    assert np.array_equal(again.support, solution.support)
    assert again.n_iter <= 2


def test_an_optimal_start_stays_optimal():
    A = make_scheme("F", 10, 0)
    best = exhaustive(A, 2, 4)
    assert ipu(A, 2, 4, init=best.W).objective == pytest.approx(best.objective, rel=1e-12)


def test_singular_covariance_may_move_without_gain_and_stops():
    """Theorem 5.5's strict ascent fails on [[1, 1], [1, 1]]: both features explain the same."""
    solution = ipu(np.ones((2, 2)), 1, 1, init=np.array([[0.0], [1.0]]))
    assert solution.converged
    assert solution.objective == 1.0


def test_a_step_without_gain_is_the_last():
    """Two pairs of opposites, from one of the second: other features, and the same objective."""
    A = np.kron(np.diag([1.0, 1.0, 0.0]), [[1.0, -1.0], [-1.0, 1.0]])
    solution = ipu(A, 2, 3, init=np.eye(6)[:, [3, 4]])
    assert solution.stopped == "no gain"
    assert solution.history == pytest.approx([3.0])
    assert ipu(make_scheme("F", 14, 0), 3, 6).stopped == "the support repeats"


def test_the_history_is_of_the_covariance_without_its_ridge():
    A = Covariance(make_scheme("F", 14, 0), ridge=5.0)
    solution = ipu(A, 3, 6, init="random")
    assert solution.history[-1] == pytest.approx(solution.objective)
    assert solution.history == ipu(A, 3, 6, init="random", seed=0).history


def test_words_are_checked_where_nothing_starts():
    with pytest.raises(ValueError, match="init='top'"):
        ipu(np.eye(4), 2, 2, init="top")


def test_budget_exhausted_warns_and_says_so():
    A = make_scheme("F", 60, 3)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        solution = ipu(A, 3, 20, init="random", seed=0, max_iter=1)
    assert not solution.converged
    assert "ended by max_iter" in str(solution)
    assert solution.n_iter == 1


@pytest.mark.parametrize("k", [50, 700])
def test_partial_eigensolver_agrees_with_the_dense_one(k):
    """Above 500 features the refit uses Lanczos."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 900)) * np.linspace(3, 1, 900)
    A = X.T @ X
    solution = ipu(A, 4, k, init="variance")
    top = np.linalg.eigvalsh(A[np.ix_(solution.support, solution.support)])[-4:].sum()
    assert solution.objective == pytest.approx(top, rel=1e-10)


@pytest.mark.parametrize("init", ["go", "variance", "random"])
def test_where_k_is_m_the_answer_is_optimal_from_any_start(init):
    A = make_scheme("F", 12, 3)
    solution = ipu(A, 3, 3, init=init, seed=0)
    assert solution.objective == pytest.approx(exhaustive(A, 3, 3).objective, rel=1e-12)


def test_the_answer_has_the_best_loadings_on_its_support_whatever_the_start():
    """The relaxation's own have not, and its support is often the one that repeats."""
    for seed in range(20):
        A = make_scheme("E", 12, seed)
        for init in ("go", "fantope", "pca", "variance", "random"):
            found = ipu(A, 2, 5, init=init)
            best = np.linalg.eigvalsh(A[np.ix_(found.support, found.support)])[-2:].sum()
            assert np.isclose(found.objective, best, rtol=1e-9)
