"""Wide data: the search whose relaxation bounds the rows of few features, beside enumeration."""

from itertools import combinations

import numpy as np
import pytest

from fspca import Covariance, certify, ipu, solve
from fspca.check_certificate import check
from fspca.datasets import load
from fspca.problem import SharedSupport
from fspca.proof import bounds, checked, search, tree
from fspca.shared_support.crossing import (
    ascend_samples,
    central_features,
    cross,
    from_central_sets,
)
from fspca.shared_support.iteration import ascend_together
from fspca.solver import Run

ROUNDING = 1e-9  # relative: how far above the answer a search may stop


@pytest.fixture
def wide_from_five(monkeypatch):
    """Data of more than five features are wide, four have rows, and next to nothing is listed."""
    monkeypatch.setattr("fspca.covariance.covariance.DENSE_SIZE", 5)
    monkeypatch.setattr(checked, "FORMED", 5)
    monkeypatch.setattr(tree, "FORMED", 5)
    monkeypatch.setattr(bounds, "FEW_ROWS", 4)
    monkeypatch.setattr(tree, "DEAR", 5)
    monkeypatch.setattr(tree, "PLAIN_STEPS", 20)
    for name in ("FEW", "AT_FIRST"):
        monkeypatch.setattr(tree, name, 1)
    monkeypatch.setattr(search.Tree, "most_enumerated", 1)


def problem_of(rng):
    """Data of three to five samples, some in one factor, and m and k."""
    n, d, m = int(rng.integers(3, 6)), int(rng.integers(9, 13)), int(rng.integers(1, 3))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-0.5, 0, d)
    X += np.outer(rng.standard_normal(n), rng.random(d) < 0.4)
    if rng.random() < 0.5:
        X /= np.linalg.norm(X, axis=0)
    k = int(rng.integers(m + 1, 5))
    required = rng.permutation(d)[: rng.integers(0, 2)]
    return X, m, k, required.tolist()


def best_by_enumeration(X, m, k, required):
    """The most that any k features with those required explain."""
    supports = [I for I in combinations(range(X.shape[1]), k) if set(required) <= set(I)]
    parts = np.moveaxis(X[:, np.array(supports)], 1, 0)
    values = np.linalg.svd(parts, compute_uv=False)[:, :m]
    return np.sum(values**2, axis=1).max()


def searches_enumerated(seeds):
    """Search each problem, and count those that bounded rows of few features."""
    with_few = 0
    for seed in seeds:
        X, m, k, required = problem_of(np.random.default_rng(seed))
        A = Covariance.from_data(X, center=False, divisor=1)
        best = best_by_enumeration(X, m, k, required)
        for steps in (0, 30):  # as it is left after a node, and at its end
            found = solve(A, m, k, required=required, gap=0.0, max_iter=steps + 1)
            assert found.upper_bound >= best * (1 - 1e-12), seed
            assert check(found.certificate | {"X": X}).holds, seed
            with_few += any(name.startswith("few_") for name in found.certificate)
        if found.stopped == "gap reached":
            assert found.objective == pytest.approx(best, rel=2 * ROUNDING)
        alone = certify(A, ipu(A, m, k), max_iter=100)
        assert alone.upper_bound >= best_by_enumeration(X, m, k, []) * (1 - 1e-12)
    return with_few


@pytest.mark.usefixtures("wide_from_five")
@pytest.mark.filterwarnings("ignore")
def test_searches_of_wide_data_agree_with_enumeration():
    assert searches_enumerated(range(6)) > 3


@pytest.mark.nightly
@pytest.mark.usefixtures("wide_from_five")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(10))
def test_searches_of_wide_data_agree_with_enumeration_by_night(part):
    assert searches_enumerated(range(100 * part, 100 * part + 100)) > 30


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(6))
def test_a_search_with_no_free_feature_left_ends_in_words(monkeypatch, seed):
    """Where no support may be listed any more, costs may require all features of a part."""
    monkeypatch.setattr(search.Tree, "most_enumerated", 0)
    for name in ("FEW", "AT_FIRST"):
        monkeypatch.setattr(tree, name, 0)
    X = np.random.default_rng(seed).standard_normal((6, 9))
    X /= np.linalg.norm(X, axis=0)
    A = Covariance.from_data(X, center=False, divisor=1)
    for m in (1, 2):
        found = solve(A, m, 3, gap=0.0)
        best = best_by_enumeration(X, m, 3, [])
        assert found.stopped in ("gap reached", "parts left open")
        assert found.objective <= best * (1 + 1e-12) <= found.upper_bound * (1 + 2e-12)
        assert check(found.certificate | {"A": A.submatrix(np.arange(9))}).holds


def planted(n, d, m, size, seed):
    """Unit columns of noise, and m groups of `size` that are nearly the same."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    for group, direction in enumerate(rng.standard_normal((m, n))):
        columns = slice(3 * size * group, 3 * size * group + size)
        X[:, columns] = direction[:, None] + 0.2 * rng.standard_normal((n, size))
    return X / np.linalg.norm(X, axis=0)


@pytest.mark.parametrize("seed", range(3))
def test_sets_of_central_features_lead_to_groups(seed):
    """Where m groups of k / m features are nearly the same, the best start holds them all."""
    m, size = 3, 4
    X = planted(20, 600, m, size, seed)
    A = Covariance.from_data(X, center=False, divisor=1).plain
    problem = SharedSupport(m, m * size)
    groups = [3 * size * group + i for group in range(m) for i in range(size)]
    assert from_central_sets(A, problem, np.random.default_rng(seed))[0].tolist() == groups
    for central in central_features(X, m, m * size):
        assert set(groups) <= set(central.tolist())
    assert from_central_sets(A, SharedSupport(1, 5), None) == []  # leaders are better there


def test_an_ascent_of_the_samples_is_that_of_ipu():
    X = np.random.default_rng(0).standard_normal((20, 600))
    A = Covariance.from_data(X, center=False, divisor=1).plain
    first = np.array([3, 100, 500])
    support, value = ascend_samples(X, np.linalg.qr(X[:, first])[0], 3, 8)
    (end,) = ascend_together(A, [(3, 8, first)])
    assert support.tolist() == end.support.tolist()
    assert value == pytest.approx(end.value, rel=1e-12)


@pytest.mark.needs_data("colon")
def test_correlations_of_two_thousand_genes_have_a_better_start():
    """Without starts from central features the crossings end at 19.3967."""
    X = np.asarray(load("colon").X, dtype=float)
    X = X - X.mean(axis=0)
    A = Covariance.from_data(X / np.linalg.norm(X, axis=0), center=False, divisor=1).plain
    with Run(10) as run:
        run.adopt(ipu(A, 3, 20))
        cross(A, SharedSupport(3, 20), 0, run)
        run.stop("done")
    assert run.value > 19.45
