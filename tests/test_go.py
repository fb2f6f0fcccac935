"""Go: exact where its theorem says so, and not where it does not."""

from fractions import Fraction

import numpy as np
import pytest

from fspca import Covariance, exhaustive, go
from fspca.check_certificate import check
from fspca.synthetic import make_scheme, with_spectrum

SAME = 1e-10  # relative; the same eigenvalue problem solved in two orders


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("shift", [False, True])
def test_exact_up_to_rank_m(seed, shift):
    rng = np.random.default_rng(seed)
    d, m = 9, 1 + seed % 4
    k, rank = m + seed % (d - m), rng.integers(1, m + 1)
    X = rng.standard_normal((rank, d))
    best = exhaustive(X.T @ X, m, k).objective
    assert go(X.T @ X, m, k, shift=shift).objective == pytest.approx(best, rel=SAME)


@pytest.mark.parametrize("seed", range(50))
def test_with_shift_exact_and_proven_for_identity_plus_rank_m(seed):
    m = 1 + seed % 3
    spectrum = np.r_[np.random.default_rng(seed).uniform(2, 9, m), np.ones(10 - m)]
    A = with_spectrum(spectrum, seed, basis="haar")
    solution = go(A, m, m + 2, shift=True)
    assert solution.objective == pytest.approx(exhaustive(A, m, m + 2).objective, rel=SAME)
    assert solution.gap <= 1e-9
    assert "proven optimal" in str(solution)
    assert check(solution.certificate | {"A": A}).holds


def test_rank_m_plus_one_can_break_it():
    """The hypothesis of Theorem 4.2 is needed: one more rank, and Go errs for both forms."""
    failures = []
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((3, 8))
        best = exhaustive(X.T @ X, 2, 4).objective
        failures.append(
            [go(X.T @ X, 2, 4, shift=s).objective < best * 0.999 for s in (False, True)]
        )
    assert np.sum(failures, axis=0).min() >= 1


def test_best_rank_m_part_is_not_the_part_above_the_shift():
    """Go on A_m may miss the optimum of sigma I + rank m, which the shift finds."""
    missed = 0
    for seed in range(200):
        A = make_scheme("A", seed=seed, basis="haar")
        missed += not np.array_equal(go(A, 3, 7).support, go(A, 3, 7, shift=True).support)
    assert missed >= 1


@pytest.mark.parametrize("seed", range(20))
def test_bound_holds_with_a_ridge_and_at_m_equal_d(seed):
    A = make_scheme("F", 8, seed)
    solution = go(Covariance(A, ridge=0.3), 2, 4, shift=True)
    assert solution.upper_bound >= exhaustive(A, 2, 4).objective
    whole = go(A, 8, 8, shift=True)
    assert whole.objective == pytest.approx(np.trace(A), rel=SAME)


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_exact_where_k_is_m_and_proven_where_a_bound_is_asked_for(seed, shift):
    A = make_scheme("F", 9, seed)
    solution = go(Covariance(A, ridge=0.2), 3, 3, shift=shift)
    assert solution.objective == pytest.approx(exhaustive(A, 3, 3).objective, rel=SAME)
    assert "proven optimal" in str(solution) if shift else solution.upper_bound is None
    assert not shift or check(solution.certificate | {"A": A}).holds


@pytest.mark.parametrize("seed", range(20))
def test_where_k_is_m_the_bound_is_not_below_the_exact_sum(seed):
    variances = np.random.default_rng(seed).uniform(1, 2, 40)
    exact = sum(map(Fraction, np.sort(variances)[-30:].tolist()))
    bound = Fraction(go(np.diag(variances), 30, 30, shift=True).upper_bound)
    assert exact <= bound <= exact * (1 + Fraction(1e-11))  # eigenvalues of 40 features, rounded


def test_an_answer_that_explains_nothing_is_bounded_without_a_claim():
    """Nothing is left above a shift that two eigenvalues share; a gap is a share of the value."""
    found = go(np.diag([0.0, 0.0, 1.0, 1.0]), 1, 2, shift=True)
    assert found.objective == 0
    assert 1 <= found.upper_bound < 1 + 1e-9
    assert found.certificate is None
    assert found.gap == np.inf
    assert "by a computed bound the optimum is at most 1 (1 step)" in str(found)


def test_a_shift_is_wanted_or_not():
    with pytest.raises(TypeError, match="shift='yes'"):
        go(np.eye(3), 1, 2, shift="yes")


def test_ties_go_to_the_smallest_index():
    assert go(np.ones((5, 5)), 2, 3).support.tolist() == [0, 1, 2]
