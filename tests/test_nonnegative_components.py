"""Several nonnegative components: apart by supports, or by deflation."""

import numpy as np
import pytest

from fspca import Covariance, check_solution, em, nonnegative_components, spannogram
from fspca.synthetic import make_scheme

OPTIONS = {
    "spannogram": {"rank": 2},
    "epsilon_net": {"rank": 2, "seed": 0},
    "net_bound": {"rank": 2},
    "em": {"seed": 0},
    "nspca": {"seed": 0},
}


@pytest.mark.parametrize("method", OPTIONS)
def test_supports_are_disjoint_and_components_orthogonal(method):
    A = make_scheme("F", 12, 0)
    found = nonnegative_components(A, 3, 4, method, **OPTIONS[method])
    assert check_solution(A, found)
    assert np.all(np.count_nonzero(found.W, axis=1) <= 1)
    assert np.allclose(found.W.T @ found.W, np.eye(3))
    assert np.all(np.diff(found.history) > 0)


@pytest.mark.parametrize("method", OPTIONS)
def test_one_component_is_the_methods_own(method):
    A = make_scheme("F", 12, 1)
    found = nonnegative_components(A, 1, 4, method, **OPTIONS[method])
    assert found.solver == method


def test_the_second_is_the_first_of_what_is_left():
    A = make_scheme("F", 12, 2)
    both = nonnegative_components(A, 2, 4, "spannogram", rank=2)
    left = np.setdiff1d(np.arange(12), np.flatnonzero(both.W[:, 0]))
    alone = spannogram(A[np.ix_(left, left)], 4, 2)
    assert np.array_equal(left[alone.support], np.flatnonzero(both.W[:, 1]))


def test_deflation_projects_out():
    A = make_scheme("F", 12, 3)
    both = nonnegative_components(A, 2, 4, "em", apart="deflation", seed=0)
    x = both.W[:, 0]
    P = np.eye(12) - np.outer(x, x)
    assert np.array_equal(em(P @ A @ P, 4, seed=0).support, np.flatnonzero(both.W[:, 1]))


def test_features_that_run_short_are_shared_out():
    A = make_scheme("F", 6, 0)
    found = nonnegative_components(Covariance(A), 6, 4, "em", seed=0)
    assert np.count_nonzero(found.W, axis=0).tolist() == [1] * 6
    assert found.objective == pytest.approx(np.trace(A))


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="method='pca' must be one of"):
        nonnegative_components(np.eye(3), 1, 1, "pca")
    with pytest.raises(ValueError, match="apart='signs' must be one of"):
        nonnegative_components(np.eye(3), 1, 1, "em", apart="signs", seed=0)
    with pytest.raises(ValueError, match="m=4 must lie"):
        nonnegative_components(np.eye(3), 4, 1, "em", seed=0)
    with pytest.raises(TypeError, match="rank='b' must be an integer"):
        nonnegative_components(np.eye(3), 2, 1, rank="b", seed=0)
