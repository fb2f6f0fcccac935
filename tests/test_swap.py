"""Swap: strict ascent to a support that no single exchange improves."""

from itertools import product

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, exhaustive, swap
from fspca.shared_support.swap import entry_bounds, top_sum
from fspca.synthetic import make_scheme


def value(A, support, m):
    return np.linalg.eigvalsh(A[np.ix_(support, support)])[-m:].sum()


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("seed", range(15))
def test_no_exchange_improves_the_end(seed, m):
    A = make_scheme("F", 12, seed)
    end = swap(A, m, 5, np.random.default_rng(seed).choice(12, 5, replace=False))
    others = np.setdiff1d(np.arange(12), end.support)
    exchanges = [np.r_[np.delete(end.support, i), j] for i, j in product(range(5), others)]
    assert max(value(A, I, m) for I in exchanges) <= end.objective * (1 + 1e-9)
    assert np.all(np.diff(end.history) > 0)
    assert end.objective <= exhaustive(A, m, 5).objective * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_entry_bounds_are_bounds(seed):
    """The arrow matrix never promises less than the feature gives."""
    A, J = make_scheme("F", 12, seed), np.array([0, 3, 4, 7, 9])
    m, outside = 1 + seed % 3, np.array([1, 2, 5, 6, 8, 10, 11])
    values, V = np.linalg.eigh(A[np.ix_(J, J)])
    bounds = entry_bounds(values, (A[np.ix_(outside, J)] @ V).T, np.diag(A)[outside], m)
    exact = [top_sum(Covariance(A), np.append(J, j), m) for j in outside]
    assert np.all(bounds >= np.array(exact) * (1 - 1e-12))


def test_the_default_start_is_the_largest_variances():
    A = make_scheme("F", 10, 3)
    assert swap(A, 2, 4).history == swap(A, 2, 4, np.argsort(-np.diag(A))[:4]).history


def test_a_budget_of_exchanges_warns():
    A = make_scheme("F", 12, 0)
    with pytest.warns(ConvergenceWarning, match="max_swaps=1"):
        end = swap(A, 2, 5, [7, 8, 9, 10, 11], max_swaps=1)
    assert not end.converged
    assert end.n_iter == 1


@pytest.mark.parametrize("support", [[0, 0, 1], [0, 1], [0, 1, 9], [-1, 0, 1], [0.5, 1, 2], "abc"])
def test_a_bad_support_is_refused(support):
    with pytest.raises(ValueError, match="support="):
        swap(np.eye(5), 1, 3, support)
