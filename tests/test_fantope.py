"""The Fantope: an exact projection, residuals that vanish, a search that ends at k rows."""

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, exhaustive
from fspca.check_certificate import check
from fspca.proof.fantope import relax
from fspca.proof.projections import clip_to_sum, project_fantope
from fspca.shared_support import fantope
from fspca.shared_support.fantope import penalty_for
from fspca.synthetic import make_scheme, make_spiked


@pytest.mark.parametrize("seed", range(40))
def test_weights_add_up_and_are_one_clipped_shift(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 12))
    m = int(rng.integers(1, d + 1))
    values = rng.normal(0, 10.0 ** rng.integers(-3, 3), d).round(int(rng.integers(0, 4)))
    weights = clip_to_sum(values, m)
    assert weights.sum() == pytest.approx(m, abs=1e-9)
    inside = (weights > 1e-9) & (weights < 1 - 1e-9)
    shifts = (values - weights)[inside]
    assert np.ptp(shifts) < 1e-9 if inside.any() else True
    order = np.argsort(values)
    assert np.all(np.diff(weights[order]) >= 0)


@pytest.mark.parametrize("seed", range(20))
def test_projection_is_the_nearest_point(seed):
    """Its defining inequality: <S - P(S), F - P(S)> <= 0 for every F of the Fantope."""
    rng = np.random.default_rng(seed)
    S, m = make_scheme("F", 8, seed) / 20, 3
    P = project_fantope(S, m)
    values = np.linalg.eigvalsh(P)
    assert values.min() > -1e-9
    assert values.max() < 1 + 1e-9
    assert np.trace(P) == pytest.approx(m)
    for _ in range(20):
        F = np.linalg.qr(rng.standard_normal((8, m)))[0]
        assert np.sum((S - P) * (F @ F.T - P)) < 1e-9
    assert project_fantope(P, m) == pytest.approx(P, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_solution_meets_the_optimality_conditions(seed):
    A = make_scheme("F", 10, seed)
    penalty = 0.1 * np.abs(A).max()
    found = relax(A, 3, penalty, tol=1e-8, max_iter=20000)
    assert found.stopped == "settled"
    assert len(found.primal) == len(found.dual)
    value = np.sum(A * found.H) - penalty * np.abs(found.H).sum()
    dual = np.linalg.eigvalsh(A - found.Y)[-3:].sum()
    assert np.abs(found.Y).max() <= penalty * (1 + 1e-12)
    assert value == pytest.approx(dual, rel=1e-5)  # no gap between primal and dual


@pytest.mark.parametrize("seed", range(10))
def test_without_penalty_it_is_pca(seed):
    A = make_scheme("D", 10, seed)
    V = np.linalg.eigh(A)[1][:, -3:]
    assert pytest.approx(V @ V.T, abs=1e-5) == relax(A, 3, 0.0, tol=1e-8, max_iter=5000).H


@pytest.mark.parametrize("seed", range(10))
def test_the_search_ends_between_enough_rows_and_too_few(seed):
    A = make_scheme("F", 15, seed)
    found = penalty_for(A, 3, 7)
    assert found.rows >= 7
    largest_entry = np.abs(A - np.diag(np.diag(A))).max()
    assert found.penalty < largest_entry
    assert relax(A, 3, largest_entry, tol=1e-6, max_iter=20000).rows == 3


def test_large_eigenvalues_have_weights_too():
    assert clip_to_sum(np.full(4, 1.3e16), 3) == pytest.approx(0.75)
    assert clip_to_sum(1e16 * np.array([4.0, 2.0, 1.0]), 2).tolist() == [1, 1, 0]


def test_an_identity_with_rounding_beside_it_is_one():
    A = np.eye(4)
    A[0, 1] = A[1, 0] = 1e-16
    assert pytest.approx(relax(np.eye(4), 3, 0.1).H) == relax(A, 3, 0.1).H


def test_scale_and_shift_do_not_matter():
    A = make_scheme("F", 12, 1)
    plain = relax(A, 3, 2.0)
    assert pytest.approx(plain.H, abs=1e-8) == relax(1e6 * A, 3, 2e6).H
    assert pytest.approx(plain.H, abs=1e-8) == relax(A + 40 * np.eye(12), 3, 2.0).H


def test_finds_the_spiked_features_from_many_samples():
    X, _ = make_spiked(n=2000, d=30, m=2, k=6, strength=10, seed=0)
    assert fantope(np.cov(X.T), 2, 6).support.tolist() == list(range(6))


@pytest.mark.parametrize("penalty", [None, 0.0, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(5))
def test_bound_holds_for_any_penalty_even_when_stopped_early(seed, penalty):
    A, best = make_scheme("F", 9, seed), exhaustive(make_scheme("F", 9, seed), 2, 4).objective
    assert fantope(A, 2, 4, penalty=penalty, tol=1e-2).upper_bound >= best
    with pytest.warns(ConvergenceWarning, match="fantope stopped at max_iter=1 "):
        early = fantope(Covariance(A, ridge=0.5), 2, 4, penalty=3.0, max_iter=1, tol=1e-9)
    assert early.upper_bound >= best
    assert check(early.certificate | {"A": A}).bound == pytest.approx(early.upper_bound)


def test_a_diagonal_covariance_gets_its_largest_variances():
    assert fantope(np.diag([1.0, 5.0, 2.0, 4.0]), 2, 3).support.tolist() == [1, 2, 3]
