"""The inverse power method: its ratio falls, its supports are never empty, its counts are hit."""

import numpy as np
import pytest
import scipy.sparse

from fspca import ConvergenceWarning, Covariance
from fspca.covariance.factors import factor_of
from fspca.separate_supports import inverse_power
from fspca.separate_supports.deflation import schur
from fspca.separate_supports.inverse_power import ratio_descent
from fspca.synthetic import make_scheme


def planted(seed=0):
    """Data with two components on the features 0 to 4 and 5 to 9, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 90))
    X[:, :5] += 6 * rng.standard_normal((60, 1))
    X[:, 5:10] += 4 * rng.standard_normal((60, 1))
    return X


@pytest.mark.parametrize("penalty", [0.0, 0.2, 0.7, 0.99])
@pytest.mark.parametrize("seed", range(10))
def test_the_ratio_never_rises(penalty, seed):
    Z = factor_of(Covariance(make_scheme("F", 30, seed)))
    start = np.random.default_rng(seed).standard_normal(30)
    f, ratios, why = ratio_descent(Z, start, penalty)
    assert why == "settled"
    assert np.all(np.diff(ratios) <= 1e-12 * ratios[-1])  # rounding of a sum of d terms
    assert f.any()
    assert np.linalg.norm(Z @ f) == pytest.approx(1)
    value = (1 - penalty) * np.linalg.norm(f) + penalty * np.abs(f).sum()
    assert ratios[-1] == pytest.approx(value)


@pytest.mark.parametrize("seed", range(10))
def test_the_soft_threshold_solves_the_inner_problem(seed):
    """min (1 - a) |f|_2 + a |f|_1 - mu'f over the unit ball, beside a general optimiser."""
    rng = np.random.default_rng(seed)
    a, mu = 0.3, rng.standard_normal(4) * 2

    def inner(f):
        return (1 - a) * np.linalg.norm(f) + a * np.abs(f).sum() - mu @ f

    f = np.sign(mu) * np.maximum(np.abs(mu) - a, 0)
    f = f / np.linalg.norm(f) if np.linalg.norm(f) > 1 - a else np.zeros(4)
    trials = rng.standard_normal((4000, 4))
    trials /= np.maximum(1, np.linalg.norm(trials, axis=1))[:, None]
    assert inner(f) <= min(map(inner, trials)) + 1e-12  # rounding


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_structure_is_found(seed):
    A = Covariance.from_data(planted(seed))
    for solution in (inverse_power(A, 2, penalty=0.3), inverse_power(A, 2, 5)):
        assert [np.flatnonzero(w).tolist() for w in solution.W.T] == [[*range(5)], [*range(5, 10)]]


@pytest.mark.parametrize("k", [1, 7, 20, 90])
def test_the_count_is_hit(k):
    solution = inverse_power(Covariance.from_data(planted()), 2, k)
    assert np.count_nonzero(solution.W, axis=0).tolist() == [k, k]


def test_a_count_that_is_jumped_over_is_truncated():
    solution = inverse_power(np.ones((6, 6)), 1, 3)  # all features are the same
    assert solution.W[:, 0] == pytest.approx([3**-0.5] * 3 + [0] * 3)


def test_without_a_penalty_it_is_pca():
    A = make_scheme("D", 12, 0)
    assert inverse_power(A, 3, penalty=0.0).objective == pytest.approx(280, rel=1e-9)  # refitted


@pytest.mark.parametrize("seed", range(10))
def test_loadings_are_the_best_on_their_support(seed):
    A = make_scheme("F", 20, seed)
    solution = inverse_power(A, 1, penalty=0.3)
    rows = solution.support
    best = np.linalg.eigvalsh(A[np.ix_(rows, rows)])[-1]
    assert solution.objective == pytest.approx(best, rel=1e-12)  # rounding


@pytest.mark.parametrize("seed", range(10))
def test_schur_deflation_is_that_of_the_matrix(seed):
    rng, A = np.random.default_rng(seed), make_scheme("F", 9, seed)
    x = rng.standard_normal(9)
    covariance = Covariance(A)
    Z, squares = schur(factor_of(covariance), covariance.diagonal(), x)
    rest = A - np.outer(A @ x, A @ x) / (x @ A @ x)
    dense = Z @ np.eye(9)
    assert np.allclose(dense.T @ dense, rest, rtol=0, atol=1e-12 * A.max())  # rounding
    assert np.allclose(squares, np.diag(rest), rtol=0, atol=1e-12 * A.max())


def test_wide_sparse_and_dense_give_one_answer():
    X = planted()
    X[np.abs(X) < 0.5] = 0
    sources = (Covariance.from_data(X), Covariance.from_data(scipy.sparse.csr_array(X)),
               np.cov(X.T))  # fmt: skip
    first, *others = (inverse_power(A, 2, 8) for A in sources)
    for other in others:
        assert np.array_equal(other.support, first.support)
        assert other.objective == pytest.approx(first.objective, rel=1e-9)  # refitted: rounding


def test_bad_arguments_and_a_small_budget():
    with pytest.raises(ValueError, match="penalty=-0.1 must be finite and at least 0"):
        inverse_power(np.eye(3), 1, penalty=-0.1)
    with pytest.raises(ValueError, match="k=4 must lie between 1 and d=3"):
        inverse_power(np.eye(3), 1, 4)
    with pytest.warns(ConvergenceWarning, match="inverse_power stopped at max_iter=1 "):
        assert not inverse_power(make_scheme("F", 30, 3), 1, penalty=0.1, max_iter=1).converged
