"""The cost of tan2019's Manopt: the minimum that pymanopt finds, and what block GPower finds."""

import numpy as np
import pymanopt
import pytest
from pymanopt.manifolds import Stiefel
from pymanopt.optimizers import TrustRegions

from fspca import ConvergenceWarning, Covariance
from fspca.covariance.factors import factor_of
from fspca.separate_supports.gpower import climb_penalised
from fspca.separate_supports.patterns import largest_columns
from fspca.synthetic import make_scheme
from fspca_reproduction.tan2019.manifold_penalty import (
    cost,
    descend_on_manifold,
    manifold_penalty,
)


def problem(seed):
    """A factor of random data, a start, and a gamma of 0.3 of the largest column."""
    rng = np.random.default_rng(seed)
    n, d, m = int(rng.integers(8, 30)), int(rng.integers(20, 60)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, d)) * rng.uniform(0.5, 2, d)
    A = Covariance.from_data(X, center=False, divisor=1)
    Z = factor_of(A, m)
    return Z, largest_columns(Z, A.diagonal(), m), 0.3 * np.sqrt(A.diagonal().max())


def trust_regions(Z, X0, gamma):
    """Return the minimum of the same cost by pymanopt, to a relative gradient of 1e-7."""
    manifold, Z = Stiefel(*X0.shape), Z @ np.eye(Z.shape[1])

    def beyond(T):
        return np.sign(T) * np.maximum(np.abs(T) - gamma, 0)

    @pymanopt.function.numpy(manifold)
    def f(X):
        return -np.sum(beyond(Z.T @ X) ** 2) / 2

    @pymanopt.function.numpy(manifold)
    def gradient(X):
        return -Z @ beyond(Z.T @ X)

    @pymanopt.function.numpy(manifold)
    def hessian(X, U):
        return -Z @ ((np.abs(Z.T @ X) > gamma) * (Z.T @ U))

    asked = pymanopt.Problem(manifold, f, euclidean_gradient=gradient, euclidean_hessian=hessian)
    least = 1e-7 * np.linalg.norm(gradient(X0))
    optimizer = TrustRegions(verbosity=0, min_gradient_norm=least, max_iterations=1000)
    return optimizer.run(asked, initial_point=X0).cost


@pytest.mark.parametrize("seed", range(20))
def test_it_reaches_the_minimum_that_pymanopt_reaches(seed):
    Z, X0, gamma = problem(seed)
    X, *_ = descend_on_manifold(Z, X0, gamma, max_iter=1000)
    # a gradient of 1e-6 leaves a value off by its square, and conditioning
    assert cost(Z, gamma)[0](X) == pytest.approx(trust_regions(Z, X0, gamma), rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_not_above_block_gpower(seed):
    Z, X0, gamma = problem(seed)
    values = climb_penalised(Z, X0, gamma)[2]
    assert cost(Z, gamma)[0](descend_on_manifold(Z, X0, gamma)[0]) <= -values[-1] / 2 * (
        1 - 1e-9
    )  # rounding


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_that_of_the_cost(seed):
    """Halving t quarters the error of the tangent, until a threshold is crossed or rounding."""
    rng = np.random.default_rng(seed)
    Z, X, gamma = problem(seed)
    f, gradient = cost(Z, gamma)
    U = rng.standard_normal(X.shape)
    slope = np.vdot(gradient(X), U)
    errors = [abs(f(X + t * U) - f(X) - t * slope) for t in (1e-3, 5e-4)]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)  # a third-order term of 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_structure_is_found(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 90))
    X[:, :5] += 6 * rng.standard_normal((60, 1))
    X[:, 5:10] += 4 * rng.standard_normal((60, 1))
    for A in (np.cov(X.T), Covariance.from_data(X)):
        for solution in (manifold_penalty(A, 2, penalty=0.3), manifold_penalty(A, 2, 5)):
            supports = [np.flatnonzero(w).tolist() for w in solution.W.T]
            assert supports == [[*range(5)], [*range(5, 10)]]


@pytest.mark.filterwarnings("ignore::fspca.ConvergenceWarning")
@pytest.mark.parametrize("k", [1, 7, 20])
def test_the_count_is_hit(k):
    A = make_scheme("F", 20, 2)
    assert np.count_nonzero(manifold_penalty(A, 2, k).W, axis=0).tolist() == [k, k]


def test_bad_arguments_and_a_small_budget():
    with pytest.raises(ValueError, match="penalty=1 must be below 1"):
        manifold_penalty(np.eye(3), 1, penalty=1)
    with pytest.raises(ValueError, match="max_iter=0 must be at least 1"):
        manifold_penalty(np.eye(3), 1, 1, max_iter=0)
    with pytest.warns(ConvergenceWarning, match="manifold_penalty stopped at max_iter=1 "):
        assert not manifold_penalty(make_scheme("F", 30, 3), 2, penalty=0.1, max_iter=1).converged
