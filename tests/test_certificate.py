"""Every bound is a bound, in floating point too, and the stand-alone checker agrees."""

import ast
from pathlib import Path

import numpy as np
import pytest

import fspca.shared_support.tree_check as checker
from fspca import Covariance, SeparateSupports, certify, exhaustive, go, ipu, tpower, upper_bound
from fspca.shared_support.certificate import METHODS
from fspca.shared_support.semidefinite import clip_to_sum
from fspca.synthetic import make_scheme, make_spiked


def random_case(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 9))
    m = int(rng.integers(1, d + 1))
    k = int(rng.integers(m, d + 1))
    X = rng.standard_normal((int(rng.integers(1, 2 * d)), d)) * 10.0 ** rng.uniform(-2, 2, d)
    return X.T @ X * 10.0 ** rng.integers(-100, 100), m, k


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(60))
def test_no_bound_lies_below_the_optimum(method, seed):
    A, m, k = random_case(seed)
    assert upper_bound(A, m, k, method).bound >= exhaustive(A, m, k).objective * (1 - 1e-13)


@pytest.mark.parametrize("scale", [2.0**-200, 1.0, 2.0**200])
@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_exactly_where_the_optimum_is_an_integer(seed, scale):
    """Rank m and integer factors: the optimum is a sum of integers, known without rounding."""
    rng = np.random.default_rng(seed)
    m = 1 + seed % 3
    k = m + seed % 4
    X = rng.integers(-9, 10, (m, 9)) * 2.0 ** rng.integers(-20, 21, 9)
    A = X.T @ X
    optimum = np.sort(np.diag(A))[-k:].sum() * scale
    for method in METHODS:
        if method != "theorem":  # Go's own value, which it starts from, is rounded
            assert upper_bound(A * scale, m, k, method).bound >= optimum


@pytest.mark.parametrize("name", "ABC")
@pytest.mark.parametrize("seed", range(10))
def test_shifted_bound_is_tight_on_spiked_spectra(name, seed):
    A = make_scheme(name, seed=seed)
    bound = upper_bound(A, 3, 7, "shifted").bound
    assert bound == pytest.approx(exhaustive(A, 3, 7).objective, rel=1e-10)


@pytest.mark.parametrize("name", "DEF")
def test_dual_is_the_least_of_the_bounds_and_improves_with_steps(name):
    A = make_scheme(name, seed=1)
    bounds = {method: upper_bound(A, 3, 7, method).bound for method in METHODS}
    assert min(bounds, key=bounds.get) == "dual"
    few, many = (upper_bound(A, 3, 7, max_steps=steps).bound for steps in (20, 400))
    assert many < few


def test_dual_goes_on_from_a_certificate():
    A = make_scheme("F", 40, 1)
    first = upper_bound(A, 3, 7, max_steps=50)
    second = upper_bound(A, 3, 7, max_steps=50, start=first)
    assert second.bound < first.bound
    assert second.bound == pytest.approx(upper_bound(A, 3, 7, max_steps=100).bound, rel=1e-2)
    nearby = upper_bound(A, 3, 8, max_steps=50, start=first)  # another k: still a bound
    assert nearby.bound >= ipu(A, 3, 8, n_starts=20, seed=0).objective


def test_dual_stops_at_its_target_and_shows_its_progress():
    A, seen = make_scheme("F", 40, 1), []
    full = upper_bound(A, 3, 7)
    early = upper_bound(
        A, 3, 7, target=1.1 * full.bound, progress=lambda steps, bound: seen.append((steps, bound))
    )
    assert early.n_iter < full.n_iter
    assert [steps for steps, _ in seen] == list(range(10, early.n_iter + 1, 10))
    assert np.all(np.diff([bound for _, bound in seen]) <= 0)


def test_interrupting_the_dual_leaves_a_valid_bound():
    A = make_scheme("F", 12, 1)

    def stop(steps, bound):
        if steps == 30:
            raise KeyboardInterrupt

    certificate = upper_bound(A, 3, 5, progress=stop)
    assert certificate.n_iter == 30
    assert certificate.bound >= exhaustive(A, 3, 5).objective


@pytest.mark.parametrize("seed", range(10))
def test_wide_data_is_bounded_without_the_matrix(seed, monkeypatch):
    X, _ = make_spiked(20, 700, 2, 10, strength=30.0, seed=seed)
    covariance = Covariance.from_data(X)
    wide = upper_bound(covariance, 2, 10, max_steps=60)
    dense = upper_bound(np.cov(X.T), 2, 10, max_steps=60)
    assert wide.bound == pytest.approx(dense.bound, rel=1e-3)
    A, G = np.cov(X.T), wide.factor
    checked, _ = checker.bound_of(A, G, 2, 10)
    assert checked == pytest.approx(wide.bound, rel=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_certify_gives_a_gap_that_the_checker_confirms(seed):
    A = make_scheme("DEF"[seed % 3], 14, seed)
    solution = certify(A, ipu(A, 3, 6))
    holds, value, bound = checker.check(
        A, 3, 6, solution.support, solution.certificate, solution.gap + 1e-9
    )
    assert holds
    assert value == pytest.approx(solution.objective)
    assert bound == pytest.approx(solution.upper_bound, rel=1e-9)
    assert not checker.check(A, 3, 6, solution.support, solution.certificate, solution.gap - 1e-4)[
        0
    ]
    assert "%" in str(solution) or "proven optimal" in str(solution)


def test_checker_refuses_what_does_not_hold():
    A = make_scheme("F", 14, 0)
    solution = certify(A, ipu(A, 3, 6, n_starts=20, seed=0))
    support, G, gap = solution.support, solution.certificate, solution.gap + 1e-9
    assert checker.check(A, 3, 6, support, G, gap)[0]
    assert not checker.check(A, 3, 6, support, 0.5 * G, gap)[0]
    assert not checker.check(A, 3, 6, np.arange(6), G, gap)[0]
    assert not checker.check(A, 3, 5, support, G, gap)[0]  # one feature too many


def test_checker_imports_nothing_of_ours():
    tree = ast.parse(Path(checker.__file__).read_text())
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    names = {alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}
    names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    assert names == {"sys", "itertools", "numpy"}


def test_theorem_often_says_no_more_than_k_over_d():
    A = make_scheme("F", seed=0)
    assert upper_bound(A, 3, 7, "theorem").bound == pytest.approx(go(A, 3, 7).objective * 20 / 7)


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_clip_to_sum_is_the_projection(n):
    """Against a bisection for the same root."""
    rng = np.random.default_rng(n)
    for _ in range(50):
        v, s = rng.normal(0, 2, n), rng.integers(0, n + 1)
        low, high = v.min() - 2, v.max() + 2
        for _ in range(200):
            t = (low + high) / 2
            low, high = (t, high) if np.clip(v - t, 0, 1).sum() > s else (low, t)
        assert clip_to_sum(v, s) == pytest.approx(np.clip(v - t, 0, 1), abs=1e-9)


def test_certificates_are_for_shared_supports():
    A = make_scheme("F", 8, 0)
    with pytest.raises(TypeError, match="only SharedSupport"):
        certify(A, tpower(A, 2, 3))
    assert tpower(A, 2, 3).problem == SeparateSupports(2, 3)
    with pytest.raises(ValueError, match="method='sdp' must be one of 'eigenvalue'"):
        upper_bound(A, 2, 3, method="sdp")
    with pytest.raises(ValueError, match="max_steps=5 must be at least 10"):
        upper_bound(A, 2, 3, max_steps=5)
