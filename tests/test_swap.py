"""Swap: strict ascent to a support that no single exchange improves."""

from dataclasses import replace
from importlib import import_module
from itertools import combinations, product

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, SharedSupport, exhaustive, go, ipu
from fspca.covariance.linalg import largest, random_subspace
from fspca.shared_support import swap
from fspca.shared_support.iteration import ascend_together
from fspca.shared_support.swap import best_of, columns_in_parts, entry_bounds, quick_bounds, top_sum
from fspca.synthetic import make_scheme

module = import_module("fspca.shared_support.swap")


def value(A, support, m):
    return np.linalg.eigvalsh(A[np.ix_(support, support)])[-m:].sum()


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("seed", range(15))
def test_no_exchange_improves_the_end(seed, m):
    A = make_scheme("F", 12, seed)
    end = swap(A, m, 5, init=np.random.default_rng(seed).choice(12, 5, replace=False))
    others = np.setdiff1d(np.arange(12), end.support)
    exchanges = [np.r_[np.delete(end.support, i), j] for i, j in product(range(5), others)]
    assert max(value(A, I, m) for I in exchanges) <= end.objective * (1 + 1e-9)
    assert np.all(np.diff(end.history) > 0)
    assert end.objective <= exhaustive(A, m, 5).objective * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_entry_bounds_are_bounds(seed):
    """Neither bound promises less than the feature gives, and the arrow's is the tighter."""
    rng = np.random.default_rng(seed)
    A, m = make_scheme("F", 12, seed), 1 + seed % 6
    A = A * np.outer(*[10.0 ** rng.uniform(-2, 1, 12)] * 2)  # no two features on one scale
    J, outside = np.array([0, 3, 4, 7, 9]), np.array([1, 2, 5, 6, 8, 10, 11])
    values, V = np.linalg.eigh(A[np.ix_(J, J)])
    B = A[np.ix_(outside, J)] @ V
    cut = max(5 - m, 0)
    given = values, B[:, cut:], np.linalg.norm(B[:, :cut], axis=1), np.diag(A)[outside], m
    exact = [top_sum(A[np.ix_(I, I)], m) for I in (np.append(J, j) for j in outside)]
    assert np.all(entry_bounds(*given) >= np.array(exact) * (1 - 1e-12))
    assert np.all(quick_bounds(*given) >= entry_bounds(*given) * (1 - 1e-12))


def test_a_feature_on_its_own_adds_nothing_to_what_is_larger():
    """Nothing is lost in a bound where there is nothing to bound."""
    values, none = np.array([1.0, 2.0, 4.0, 5.0]), np.zeros((1, 2))
    given = values, none, np.zeros(1), np.array([1.5]), 2
    assert quick_bounds(*given) == pytest.approx([9.0], rel=1e-9)
    assert entry_bounds(*given) == pytest.approx([9.0], rel=1e-12)


def test_bounds_are_given_the_length_of_what_they_are_not_shown(monkeypatch):
    A, seen = make_scheme("F", 12, 4), []

    def noting(values, shaft, rest, variances, m):
        seen.append((variances, np.sum(shaft**2, axis=1) + rest**2))
        return quick_bounds(values, shaft, rest, variances, m)

    monkeypatch.setattr(module, "quick_bounds", noting)
    end = swap(A, 2, 5, max_iter=1000)
    squares = {A[j, j]: A[j, end.support] ** 2 for j in range(12)}
    last = seen[-5:]  # of the last look around each of the five was to leave
    assert {len(left) for left, _ in last} != {0}
    for variances, lengths in last:
        for variance, length in zip(variances, lengths, strict=True):
            without = squares[variance].sum() - squares[variance]
            assert np.isclose(length, without, rtol=1e-9).any()


def test_the_history_is_of_the_covariance_without_its_ridge():
    A = make_scheme("F", 12, 0)
    ridged = swap(Covariance(A, ridge=5.0), 2, 5)
    assert ridged.history == pytest.approx(swap(A, 2, 5).history)


def test_the_best_of_several_says_whether_it_was_interrupted(monkeypatch):
    A, problem = Covariance(make_scheme("F", 40, 2)), SharedSupport(2, 6)
    starts = [np.arange(6), np.arange(20, 26)]
    assert best_of(A, problem, starts).stopped == "no gain"
    calls = []

    def cut_short(*given, **facts):
        calls.append(facts)
        return replace(swap(*given, **facts), stopped="interrupted")

    monkeypatch.setattr(module, "swap", cut_short)
    assert best_of(A, problem, starts).stopped == "interrupted"
    assert len(calls) == 1


def test_the_default_start_is_the_largest_variances():
    A = make_scheme("F", 10, 3)
    assert swap(A, 2, 4).history == swap(A, 2, 4, init=np.argsort(-np.diag(A))[:4]).history


def test_a_budget_of_exchanges_warns():
    A = make_scheme("F", 12, 0)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        end = swap(A, 2, 5, init=[7, 8, 9, 10, 11], max_iter=1)
    assert not end.converged
    assert end.n_iter == 1


@pytest.mark.parametrize("support", [[0, 0, 1], [0, 1], [0, 1, 9], [-1, 0, 1], [0.5, 1, 2], "abc"])
def test_a_bad_support_is_refused(support):
    with pytest.raises(ValueError, match="(support|init)="):
        swap(np.eye(5), 1, 3, init=support)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_required_stays_and_what_is_forbidden_stays_out(seed):
    A, sides = make_scheme("F", 9, seed), {"required": [8, 2], "forbidden": [0, 5]}
    end = swap(A, 2, 4, **sides)
    assert end.problem == SharedSupport(2, 4, **sides)
    assert {2, 8} <= set(end.support.tolist())
    assert not {0, 5} & set(end.support.tolist())
    exchanges = [[2, 8, *pair] for pair in combinations([1, 3, 4, 6, 7], 2)]
    near = [I for I in exchanges if len(set(I) - set(end.support.tolist())) <= 1]
    assert max(value(A, I, 2) for I in near) <= end.objective * (1 + 1e-9)
    with pytest.raises(ValueError, match="must hold all that is required"):
        swap(A, 2, 4, init=[0, 2, 3, 8], **sides)


@pytest.mark.parametrize("init", ["go", "pca", "array"])
def test_it_starts_where_it_is_told(init):
    A = make_scheme("F", 12, 1)
    V = np.linalg.eigh(A)[1][:, -2:]
    start = {"go": go(A, 2, 5).support}.get(init, largest(np.sum(V**2, axis=1), 5))
    given = V if init == "array" else init
    assert swap(A, 2, 5, init=given).history == swap(A, 2, 5, init=start).history


def test_an_exchange_costs_one_pass_over_streamed_data(monkeypatch):
    """One pass reads A[:, I] at first, one the new column of each exchange."""
    monkeypatch.setattr("fspca.covariance.covariance.FORMED_SIZE", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6)) @ rng.standard_normal((6, 30)) + rng.standard_normal((50, 30))
    poor = np.argsort(X.var(axis=0))[:6]
    streamed = Covariance.from_data(X.view(np.memmap))
    end = swap(streamed, 2, 6, init=poor)
    assert len(end.history) > 3
    assert end.passes == len(end.history)


@pytest.mark.parametrize("fit", [6, 10, 16])
def test_an_exchange_costs_two_passes_where_the_columns_do_not_fit(fit, monkeypatch):
    """One pass for A[I, I], one for the rows of A[:, I] of the largest variances."""
    monkeypatch.setattr("fspca.covariance.covariance.FORMED_SIZE", 0)
    rng, passes = np.random.default_rng(0), []
    X = rng.standard_normal((50, 6)) @ rng.standard_normal((6, 30)) + rng.standard_normal((50, 30))
    poor = np.argsort(X.var(axis=0))[:6]
    known = swap(np.cov(X.T), 2, 6, init=poor)
    A = Covariance.from_data(X.view(np.memmap), max_memory=16 * 6 * fit)
    start = A.passes
    end = swap(A, 2, 6, init=poor, progress=lambda _: passes.append(A.passes - start))
    assert np.array_equal(end.support, known.support)
    assert end.objective == pytest.approx(known.objective, rel=1e-12)
    assert passes == list(range(1, 2 * len(end.history), 2))
    last = -(-24 // fit) + 2  # A[I, I], every candidate that may gain, the answer's own A[I, I]
    assert end.passes <= passes[-1] + last
    outside = np.setdiff1d(np.arange(30), poor)
    parts = list(columns_in_parts(A, poor, outside))
    assert len(parts) == -(-24 // fit)
    rows = np.concatenate([part for part, _ in parts])
    assert np.array_equal(np.sort(rows), outside)
    columns = np.cov(X.T)[np.ix_(rows, poor)]
    np.testing.assert_allclose(np.vstack([each for _, each in parts]), columns, atol=1e-12)


def test_starts_that_ascend_together_end_where_they_would_alone():
    A = Covariance(make_scheme("F", 40, 2))
    W = [random_subspace(40, 2, np.random.default_rng(s)) for s in range(4)]
    ends = ascend_together(A, [(2, 6, each) for each in [*W, [0, 1, 2, 3, 4, 5]]])
    alone = [ipu(A, 2, 6, init=each).support.tolist() for each in W]
    assert [end.support.tolist() for end in ends[:4]] == alone
    values = [value(A.submatrix(np.arange(40)), end.support, 2) for end in ends]
    np.testing.assert_allclose([end.value for end in ends], values)
    assert len({tuple(end) for end in alone}) > 1


def test_many_starts_cost_the_passes_of_one(monkeypatch):
    monkeypatch.setattr("fspca.covariance.covariance.FORMED_SIZE", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6)) @ rng.standard_normal((6, 30)) + rng.standard_normal((50, 30))
    starts = [random_subspace(30, 2, rng) for _ in range(8)]
    alone = []
    for start in starts:
        A = Covariance.from_data(X.view(np.memmap))
        alone.append(ipu(A, 2, 6, init=start).passes)
    A = Covariance.from_data(X.view(np.memmap))
    before = A.passes
    ends = ascend_together(A, [(2, 6, start) for start in starts])
    assert A.passes - before <= max(alone) + 1
    asked = {"init": starts[0], "n_starts": 8, "seed": 0}
    many = ipu(Covariance.from_data(X.view(np.memmap)), 2, 6, **asked)
    assert many.passes <= max(alone) + 2
    assert many.objective == pytest.approx(ipu(np.cov(X.T), 2, 6, **asked).objective)
    assert many.objective >= ends[0].value * (1 - 1e-12)
