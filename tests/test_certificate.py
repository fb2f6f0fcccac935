"""Every bound is a bound, in floating point too, and the stand-alone checker agrees."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from fspca import (
    Covariance,
    SeparateSupports,
    SharedSupport,
    certify,
    exhaustive,
    go,
    ipu,
    solve,
    solve_nonnegative,
    upper_bound,
)
from fspca.check_certificate import Floating, Verdict, check
from fspca.covariance.linalg import random_subspace
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.proof.bounds import METHODS
from fspca.proof.checked import CheckedMatrix, leading_less
from fspca.proof.probable import likely_largest_eigenvalue
from fspca.separate_supports import tpower
from fspca.synthetic import make_scheme, make_spiked


def random_case(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 9))
    m = int(rng.integers(1, d + 1))
    k = int(rng.integers(m, d + 1))
    X = rng.standard_normal((int(rng.integers(1, 2 * d)), d)) * 10.0 ** rng.uniform(-2, 2, d)
    return X.T @ X * 10.0 ** rng.integers(-100, 100), m, k


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(30))
def test_no_bound_lies_below_the_optimum(method, seed):
    A, m, k = random_case(seed)
    found = upper_bound(A, m, k, method=method, max_iter=60)
    assert found.bound >= exhaustive(A, m, k).objective * (1 - 1e-13)


@pytest.mark.parametrize("scale", [2.0**-200, 1.0, 2.0**200])
@pytest.mark.parametrize("seed", range(15))
def test_bounds_hold_exactly_where_the_optimum_is_an_integer(seed, scale):
    """Rank m and integer factors: the optimum is a sum of integers, known without rounding."""
    rng = np.random.default_rng(seed)
    m = 1 + seed % 3
    k = m + seed % 4
    X = rng.integers(-9, 10, (m, 9)) * 2.0 ** rng.integers(-20, 21, 9)
    A = X.T @ X
    optimum = np.sort(np.diag(A))[-k:].sum() * scale
    for method in METHODS:
        assert upper_bound(A * scale, m, k, method=method, max_iter=30).bound >= optimum
    assert go(A * scale, m, k, shift=True).upper_bound >= optimum


def test_of_nothing_nothing_is_proven():
    found = certify(np.zeros((4, 4)), go(np.zeros((4, 4)), 1, 2))
    assert 0 <= found.upper_bound < 1e-70
    assert found.certificate["gap"] == 0
    assert check(found.certificate | {"A": np.zeros((4, 4))}).holds


@pytest.mark.parametrize("name", "ABC")
@pytest.mark.parametrize("seed", range(10))
def test_shifted_bound_is_tight_on_spiked_spectra(name, seed):
    A = make_scheme(name, seed=seed)
    bound = upper_bound(A, 3, 7, method="shifted").bound
    assert bound == pytest.approx(exhaustive(A, 3, 7).objective, rel=1e-10)


@pytest.mark.parametrize("name", "DEF")
def test_rows_are_below_the_dual_and_that_below_those_in_closed_form(name):
    A = make_scheme(name, seed=1)
    bounds = {method: upper_bound(A, 3, 7, method=method, max_iter=200).bound for method in METHODS}
    assert bounds["rows"] < bounds["dual"] < min(bounds[x] for x in METHODS[:3])
    few, many = (upper_bound(A, 3, 7, method="dual", max_iter=n).bound for n in (20, 400))
    assert many < few


def test_dual_goes_on_from_a_certificate():
    A = make_scheme("F", 40, 1)
    first = upper_bound(A, 3, 7, method="dual", max_iter=50)
    second = upper_bound(A, 3, 7, method="dual", max_iter=50, init=first)
    assert second.bound < first.bound
    nearby = upper_bound(A, 3, 8, method="dual", max_iter=50, init=first)  # still a bound
    assert nearby.bound >= ipu(A, 3, 8, n_starts=20, seed=0).objective


def test_dual_stops_at_its_target_and_shows_its_progress():
    A, seen = make_scheme("F", 40, 1), []
    full = upper_bound(A, 3, 7, method="dual")
    target = 1.1 * full.bound
    early = upper_bound(A, 3, 7, method="dual", target=target, progress=seen.append)
    assert early.n_iter < full.n_iter
    assert [news.step for news in seen] == list(range(1, early.n_iter // 10 + 1))
    assert np.all(np.diff([news.bound for news in seen]) <= 0)


def test_interrupting_the_dual_leaves_a_valid_bound():
    A = make_scheme("F", 12, 1)

    def stop(news):
        if news.step == 3:
            raise KeyboardInterrupt

    certificate = upper_bound(A, 3, 5, progress=stop)
    assert certificate.n_iter == 30
    assert certificate.bound >= exhaustive(A, 3, 5).objective


@pytest.mark.parametrize("seed", range(6))
def test_wide_data_is_bounded_without_the_matrix(seed):
    X, _ = make_spiked(20, 700, 2, 10, strength=30.0, seed=seed)
    covariance = Covariance.from_data(X)
    wide = upper_bound(covariance, 2, 10, method="dual", max_iter=60)
    dense = upper_bound(np.cov(X.T), 2, 10, method="dual", max_iter=60)
    assert wide.bound == pytest.approx(dense.bound, rel=1e-2)
    assert "s" in wide.arrays
    assert "s" not in dense.arrays


def hidden_direction():
    """A direction of variance 1.5 that the start of an iteration, known to anybody, is blind to."""
    B = np.hstack([random_subspace(520, q, np.random.default_rng(0)) for q in (1, 2)])
    return hidden_from(B, 300, np.ones(60))


def hidden_from(B, T, v):
    """T variances of one, and below them a direction of 1.5 along v, less what B sees of it."""
    u, rows = np.zeros(len(B)), np.arange(T, T + len(v))
    Q = np.linalg.qr(B[rows])[0]
    for _ in range(2):
        v = v - Q @ (Q.T @ v)
    u[rows] = v / np.linalg.norm(v)
    A = 1.5 * np.outer(u, u)
    A[np.arange(T), np.arange(T)] += 1
    return A


def test_no_hidden_direction_makes_a_bound_false():
    A = hidden_direction()
    assert min(upper_bound(A, 1, 60, method=x).bound for x in METHODS[:3]) >= 1.5
    found = solve(A, 1, 60)
    assert found.upper_bound >= 1.5


def block_diagonal(rng, d, block):
    """Return integers A and, for m = 1 and k = block, the optimum exactly: one of the blocks.

    A block is v v' with integer v, of eigenvalue |v|^2; k features of several blocks explain
    at most what their largest part does, so the optimum is the largest sum of k squares.
    """
    A, best = np.zeros((d, d)), 0
    for start in range(0, d, block):
        v = rng.integers(-9, 10, min(block, d - start))
        A[start : start + block, start : start + block] = np.outer(v, v)
        best = max(best, int(v @ v))
    return A, best


@pytest.mark.parametrize("d", [12, 60, 200, pytest.param(800, marks=pytest.mark.nightly)])
def test_bounds_on_block_diagonal_integers(d):
    rng = np.random.default_rng(d)
    for _ in range(3 if d < 100 else 1):
        A, best = block_diagonal(rng, d, 6)
        for method in METHODS[:3] + METHODS[3:] * (d < 100):
            assert upper_bound(A, 1, 6, method=method, max_iter=60).bound >= best


def test_bounds_where_eigenvalues_repeat():
    for m, k in ((1, 3), (2, 3), (3, 5)):
        A = np.eye(9)
        for method in METHODS:
            assert upper_bound(A, m, k, method=method, max_iter=30).bound >= m


@pytest.mark.parametrize("seed", range(10))
def test_certify_gives_a_claim_that_the_checker_confirms(seed):
    A = make_scheme("DEF"[seed % 3], 14, seed)
    solution = certify(A, ipu(A, 3, 6), max_iter=60)
    claim = solution.certificate | {"A": np.asarray(A)}
    verdict = check(claim)
    assert verdict.holds
    assert verdict.value == pytest.approx(solution.objective)
    assert verdict.bound == pytest.approx(solution.upper_bound, rel=1e-9)
    assert not check(claim | {"gap": solution.gap - 1e-4}).holds
    assert check(claim, exact=True).holds or seed % 5
    assert "%" in str(solution) or "proven optimal" in str(solution)


@pytest.mark.parametrize("seed", range(30))
def test_ky_fan_sums_are_never_too_small(seed):
    """Integers of rank m: the sum of the eigenvalues is the trace, exactly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-99, 100, (1 + seed % 4, 12)) * 2.0 ** rng.integers(-9, 9, 12)
    A = X.T @ X
    numbers, none = Floating(A, False, []), np.zeros((12, 0))
    scaled = numbers.ky_fan(numbers.read(A, 2), none, None, len(X), 0)
    bound = numbers.back(scaled)
    assert np.trace(A) <= bound <= np.trace(A) * (1 + 1e-11)


def test_a_bound_by_chance_says_so_and_holds():
    X, _ = make_spiked(40, 900, 2, 10, strength=30.0, seed=0)
    covariance = Covariance.from_data(X)
    found = solve(covariance, 2, 10, max_memory=10**5)
    assert found.bound_probability == 1 - 1e-9
    assert found.certificate is None
    assert "with probability at least 1 - 1e-09" in str(found)
    assert "proven" not in str(found)
    sure = [upper_bound(covariance, 2, 10, method=x).bound for x in METHODS[:3]]
    assert found.upper_bound <= min(sure) * 1.02
    assert found.upper_bound >= found.objective
    with pytest.raises(ValueError, match="gap=0.0 needs the matrix or the data"):
        solve(covariance, 2, 10, gap=0.0, max_memory=10**5)


def test_lanczos_from_a_random_start_is_not_below_the_largest_eigenvalue():
    rng = np.random.default_rng(0)
    for d in (3, 40, 400):
        values = np.sort(rng.exponential(size=d))
        values[-1] = values[-2] * (1 + 1e-6)
        found = likely_largest_eigenvalue(lambda v, values=values: values[:, None] * v, d)
        assert values[-1] <= found * (1 + 1e-12) <= 1.03 * values[-1]


def test_certificates_are_for_answers_to_a_problem():
    A = make_scheme("F", 8, 0)
    with pytest.raises(TypeError, match="must be a Solution of one of the three problems"):
        certify(A, np.eye(8)[:, :2])
    assert certify(A, tpower(A, 2, 3)).problem == SeparateSupports(2, 3, score="subspace")
    with pytest.raises(ValueError, match="method='sdp' must be one of 'eigenvalue'"):
        upper_bound(A, 2, 3, method="sdp")
    with pytest.raises(ValueError, match="max_iter"):
        upper_bound(A, 2, 3, max_iter=0)


def test_certify_takes_the_least_bound_and_no_step_where_a_closed_form_proves():
    R = np.corrcoef(load_breast_cancer().data.T)
    hasty = certify((R + R.T) / 2, ipu((R + R.T) / 2, 3, 5), max_iter=10)
    assert hasty.upper_bound <= 5 * (1 + 1e-12) < upper_bound(R, 3, 5, max_iter=10).bound
    A = make_scheme("F", 12, 1)
    closed_form = min(upper_bound(A, 2, 5, method=method).bound for method in METHODS[:3])
    assert certify(A, ipu(A, 2, 5)).upper_bound < closed_form
    told, low_rank = [], make_scheme("A", 20, 1)
    assert certify(low_rank, go(low_rank, 3, 7), progress=told.append).gap < 1e-12
    assert not told


@pytest.mark.parametrize("bad", [{"max_iter": 0}, {"max_seconds": -1.0}, {"progress": 1}])
def test_certify_refuses_a_bad_budget_even_where_it_needs_none(bad):
    A = make_scheme("A", 9, 1)
    with pytest.raises((TypeError, ValueError), match=next(iter(bad))):
        certify(A, go(A, 2, 4), **bad)


@pytest.mark.parametrize("seed", range(3))
def test_a_dual_that_stands_still_ends_after_a_whole_hundred_steps(seed):
    found = upper_bound(make_scheme("F", 12, seed), 2, 5, method="dual", max_iter=5000)
    assert found.n_iter % 100 == 0
    assert found.n_iter < 5000


@pytest.mark.parametrize(("n", "d", "r", "m"), [(20, 60, 5, 3), (20, 60, 0, 2), (15, 70, 30, 4)])
def test_leading_eigenpairs_of_data_less_a_certificate_need_no_matrix(n, d, r, m):
    rng = np.random.default_rng(r)
    X, G = rng.standard_normal((n, d)), rng.standard_normal((d, r))
    M = X.T @ X - G @ G.T
    values, V = leading_less(X, G, m)
    assert values == pytest.approx(np.linalg.eigvalsh(M)[-m:], rel=1e-11)  # of 60 roundings
    assert pytest.approx(V * values, abs=1e-9) == M @ V
    assert pytest.approx(np.eye(m), abs=1e-11) == V.T @ V


def test_wide_data_that_fit_stay_data_until_few_features_are_left():
    X = np.random.default_rng(0).standard_normal((400, 600))
    A = Covariance.from_data(X, center=False, divisor=1).plain
    checked = CheckedMatrix.of(A, SharedSupport(2, 5))
    assert checked.of_data
    assert not checked.wide(np.arange(450))
    assert checked.wide(np.arange(501))
    values, V = checked.leading(np.arange(600), 3)
    np.testing.assert_allclose(V.T @ V, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(values, np.linalg.svd(X)[1][:3] ** 2)


def test_data_that_are_no_longer_wide_take_what_is_known_of_few_rows():
    """As of 800 samples and features of which a search has 600 left: `few` is for wide data."""
    rng = np.random.default_rng(0)
    checked = CheckedMatrix.of(
        Covariance.from_data(rng.standard_normal((30, 600))), SharedSupport(2, 5)
    )
    rows, few = np.arange(50), np.array([3, 8, 20, 41])
    required, G, Y = rows == 8, 0.1 * rng.standard_normal((50, 3)), rng.standard_normal((4, 4))
    whole = np.zeros((50, 50))
    whole[np.ix_(few, few)] = Y
    assert checked.of_data
    assert not checked.wide(rows)
    found = checked.prove(rows, required, G, Y, few=few)
    assert found.value == checked.prove(rows, required, G, whole).value


def test_a_bound_that_the_checker_refuses_is_not_given(monkeypatch):
    refused = Verdict(False, "broken", np.nan, np.nan)
    monkeypatch.setattr("fspca.proof.claims.check", lambda claim: refused)
    with pytest.warns(UserWarning, match="no bound: the checker refuses it, broken"):
        assert certify(np.eye(3), ipu(np.eye(3), 1, 2)).upper_bound is None


def test_a_forbidden_feature_has_no_part_in_the_scale():
    """Beside a variance of 1 the squares of all others would be 0, and no bound would hold."""
    A = np.diag([1.0, 0.0, 0.0, 0.0])
    A[1:, 1:] = np.array([[2.0, 1.0, 0.5], [1.0, 2.0, 0.3], [0.5, 0.3, 1.0]]) * 2.0**-560
    answer = solve(A, 1, 2, forbidden=(0,))
    assert answer.gap < 1e-9
    assert check(answer.certificate | {"A": A}).holds


@pytest.mark.parametrize("solver", [go, ipu, solve_nonnegative], ids=lambda each: each.__name__)
def test_a_run_that_is_ended_at_its_first_news_proves_nothing_new(solver):
    """Who says stop gets no bound below the optimum, nor a proof that was not made."""
    A = make_scheme("F", 14, 3)
    found = replace(solver(A, 1, 4), upper_bound=None, certificate=None)
    least = exhaustive_nonnegative if solver is solve_nonnegative else exhaustive
    worse = replace(found, W=np.eye(14)[:, [np.argmin(A.diagonal())]])
    value = A.diagonal().min()
    worse = replace(worse, support=worse.W[:, 0].nonzero()[0], objective=value, history=(value,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ended = certify(A, worse, progress=lambda news: False)
    assert ended.upper_bound is None or ended.upper_bound >= least(A, 1, 4).objective
