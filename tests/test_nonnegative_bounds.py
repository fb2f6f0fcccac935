"""Bounds for nonnegative components: valid against the oracle, and tight where they should be."""

from dataclasses import replace

import numpy as np
import pytest

from fspca import Covariance, epsilon_net, go, upper_bound
from fspca.nonnegative import em
from fspca.nonnegative.bounds import certify_nonnegative, nonnegative_bounds, positive_part
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.synthetic import make_scheme


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("k", [1, 3, 9])
def test_no_bound_lies_below_the_optimum(seed, k):
    A = make_scheme("F", 9, seed)
    best = exhaustive_nonnegative(A, 1, k).objective
    bounds = nonnegative_bounds(A, k, rank=2)
    assert len(bounds) == 3
    assert min(bounds.values()) >= best * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_the_positive_part_bounds_every_nonnegative_vector(seed):
    A = make_scheme("F", 9, seed)
    P, s = positive_part(A)
    x = np.abs(np.random.default_rng(seed).standard_normal((500, 9)))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    plus = np.einsum("ni,ij,nj->n", x, P.submatrix(range(9)), x) - s
    assert np.all(np.einsum("ni,ij,nj->n", x, A, x) <= plus + 1e-9)
    assert np.linalg.eigvalsh(P.submatrix(range(9)))[0] >= -1e-9


def test_two_camps_are_told_apart_by_the_positive_part_only():
    """With signs all four features go together; without, either pair."""
    v = np.array([1.0, 1.0, -1.0, -1.0])
    A = np.outer(v, v)
    P, s = positive_part(A)
    assert upper_bound(A, 1, 4).bound == pytest.approx(4)
    assert upper_bound(P, 1, 4).bound - s == pytest.approx(2)
    assert exhaustive_nonnegative(A, 1, 4).objective == pytest.approx(2)


def test_bounds_are_as_close_as_is_said():
    """Of low rank the cells' is within a thousandth; the dual's is that of the positive part."""
    shifts = []
    for seed in range(5):
        V = np.random.default_rng(seed).standard_normal((9, 3))
        bounds = nonnegative_bounds(A := V @ V.T, 4)
        assert bounds["cells"] <= exhaustive_nonnegative(A, 1, 4).objective * (1 + 1e-3 + 1e-9)
        P, s = positive_part(A)
        dual = upper_bound(P, 1, 4, method="dual", max_iter=200).bound - s
        assert bounds["dual, positive part"] == pytest.approx(dual)
        shifts.append(s)
    assert max(shifts) > 0.1


def test_nothing_changes_where_nothing_is_negative():
    A = np.abs(make_scheme("F", 6, 0))
    A = A @ A
    P, s = positive_part(A)
    assert s == pytest.approx(0, abs=1e-9)
    assert P.submatrix(range(6)) == pytest.approx(A)


@pytest.mark.parametrize("seed", range(10))
def test_a_certificate_closes_part_of_the_gap(seed):
    A = make_scheme("F", 9, seed)
    answer = certify_nonnegative(A, em(A, 1, 3, n_starts=10))
    assert answer.upper_bound >= exhaustive_nonnegative(A, 1, 3).objective * (1 - 1e-9)
    assert answer.gap < 0.5


def badly_scaled(seed):
    """Features from 1e-9 to 1, fewer than nine."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(3, 9))
    X = rng.standard_normal((int(rng.integers(1, 2 * d)), d)) * 10.0 ** rng.uniform(-9, 0, d)
    return X.T @ X, int(rng.integers(1, d + 1))


@pytest.mark.parametrize("seed", range(60))
def test_features_of_any_scale_have_a_positive_part(seed):
    A, k = badly_scaled(seed)
    best = exhaustive_nonnegative(A, 1, k).objective
    assert min(nonnegative_bounds(A, k).values()) >= best * (1 - 1e-12)


def test_many_features_do_without_the_positive_part(monkeypatch):
    monkeypatch.setattr("fspca.nonnegative.bounds.MOST_FORMED", 5)
    X = np.random.default_rng(0).standard_normal((10, 8))
    assert list(nonnegative_bounds(Covariance.from_data(X), 3)) == ["cells"]
    assert len(nonnegative_bounds(Covariance.from_data(X[:, :5]), 3)) == 3


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="must be Nonnegative with m=1"):
        certify_nonnegative(np.eye(3), go(np.eye(3), 1, 2))
    with pytest.raises(ValueError, match="problem=None must be Nonnegative"):
        certify_nonnegative(np.eye(3), np.eye(3)[:, :1])
    with pytest.raises(ValueError, match="rank=4"):
        nonnegative_bounds(np.eye(3), 1, rank=4)


def test_an_answer_for_another_covariance_is_refused():
    """Else its larger objective would be taken for its own bound: "proven optimal"."""
    A = make_scheme("F", 9, 0)
    answer = em(A, 1, 3)
    with pytest.raises(ValueError, match="solution does not fit A: W has shape"):
        certify_nonnegative(A[:5, :5], answer)
    with pytest.raises(ValueError, match="solution does not fit A: the objective is"):
        certify_nonnegative(A / 2, answer)


def test_a_certificate_does_not_rest_on_chance():
    """The net's own bound, too low here as one run in d may have it, is not taken over."""
    A = make_scheme("F", 9, 1)
    best = exhaustive_nonnegative(A, 1, 3)
    lucky = replace(epsilon_net(A, 1, 3, rank=2, n_samples=1), upper_bound=best.objective * 0.99)
    assert lucky.bound_probability == 1 - 1 / 9
    lucky = replace(lucky, upper_bound=max(lucky.upper_bound, lucky.objective))
    assert certify_nonnegative(A, lucky).upper_bound >= best.objective * (1 - 1e-9)
    assert certify_nonnegative(A, best).upper_bound == best.upper_bound


@pytest.mark.parametrize("d", [1, 2])
def test_few_features_need_no_rank(d):
    A = make_scheme("F", 9, 0)[:d, :d]
    best = exhaustive_nonnegative(A, 1, 1).objective
    assert min(nonnegative_bounds(A, 1).values()) >= best * (1 - 1e-9)
    assert certify_nonnegative(A, em(A, 1, 1)).upper_bound >= best * (1 - 1e-9)
