"""Several components proven by prices: no false bound, no missed optimum, and what ends a proof."""

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from test_separate_certificate import best_apart
from test_solve_separate import awkward

from fspca import check_solution, datasets, solve_nonnegative, solve_separate
from fspca.check_certificate import check
from fspca.problem import Nonnegative, SeparateSupports
from fspca.proof import packing as packing_module
from fspca.proof import priced_tree
from fspca.proof.packing import Packing
from fspca.proof.priced_tree import PricedTree
from fspca.proof.separate import with_claim
from fspca.proof.spectral_prices import spectral_price
from fspca.separate_supports.sweeps import refine_in_turn
from fspca.solver import Run
from fspca.synthetic import make_scheme


def values_of(A, nonnegative):
    """What the best component on exactly each set of features explains, by the set as a mask."""
    d = len(A)
    values = np.full(2**d, -np.inf)
    for size in range(1, d + 1):
        for S in combinations(range(d), size):
            w, V = np.linalg.eigh(A[np.ix_(S, S)])
            v = V[:, -1] * np.sign(V[:, -1].sum() or 1.0)
            if not nonnegative or v.min() >= -1e-12:
                values[sum(1 << i for i in S)] = w[-1]
    return values


def best_packing(A, counts, nonnegative, in_all=None):
    """The most that disjoint components explain: a dynamic programme over all sets of features."""
    d = len(A)
    values = values_of(A, nonnegative)
    size = np.array([bin(mask).count("1") for mask in range(2**d)])
    best = np.zeros(2**d)  # by what may be used; of no components
    for count in counts:
        fits = np.where(size <= count, values, -np.inf)
        after = np.full(2**d, -np.inf)
        for mask in range(2**d):
            part = mask
            while part:
                after[mask] = max(after[mask], fits[part] + best[mask ^ part])
                part = (part - 1) & mask
        best = after
    return best[size <= (in_all or d)].max()


def instance(seed):
    """A covariance of 5 to 9 features, rarely of 9, and a problem of two or three components."""
    rng = np.random.default_rng(seed)
    d = int(rng.choice([5, 6, 7, 8, 9], p=[0.3, 0.3, 0.2, 0.15, 0.05]))
    X = awkward(rng, int(rng.integers(2, 9)), d, seed % 6)
    A = X.T @ X
    m = int(rng.integers(2, 4))
    k = int(rng.integers(1, d // m + 1))
    way = ("equal", "unequal", "in all")[seed % 3]
    if way == "unequal":
        k = [int(each) for each in rng.integers(1, d // m + 1, m)]
    if way == "in all":
        k = int(rng.integers(m, d + 1))
    return (A + A.T) / 2, m, k, way == "in all"


def proven(A, problem, signs, gap=0.0):
    """Return the Packing of a problem from a poor answer, and the Verdict on its claim."""
    W = np.eye(len(A))[:, : problem.m]
    run = Run()
    packing = Packing(A, problem, signs, gap, run)
    packing.start_from(W)
    packing.go_on()
    _, claim = packing.accepted(packing.W)
    return packing, check(claim | {"A": A})


def compare_with_enumeration(seed):
    """Prove an instance where the tree must work, and compare with the dynamic programme."""
    A, m, k, in_all = instance(seed)
    nonnegative = in_all or bool(seed % 2)
    scale = 10.0 ** (seed % 7 - 3)
    A = A * scale
    if nonnegative:
        problem = Nonnegative(m, k, disjoint=True, in_all=in_all)
    else:
        problem = SeparateSupports(m, k, disjoint=True)
    curbed = {"most_enumerated": 3 + seed % 40}
    with patch.multiple(PricedTree, **curbed), patch.object(priced_tree, "FEW", 3):
        packing, verdict = proven(A, problem, not nonnegative)
    best = best_packing(A, problem.counts, nonnegative, k if in_all else None)
    slack = 1e-12 * np.abs(A).max()
    assert verdict.holds
    assert verdict.bound >= best * (1 - 1e-12) - slack, "a false bound"
    assert packing.value >= best * (1 - 2e-9) - slack, "a missed optimum"
    assert verdict.bound <= best * (1 + 3e-9) + slack, "not proven"


@pytest.mark.parametrize("seed", range(40))
def test_bounds_are_the_optimum(seed):
    compare_with_enumeration(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("block", range(8))
def test_bounds_are_the_optimum_of_many(block, record_property):
    record_property("instances", 250)
    for seed in range(1000 + 250 * block, 1250 + 250 * block):
        compare_with_enumeration(seed)


@pytest.mark.parametrize("seed", range(12))
def test_blocks_are_never_below_enumeration(seed):
    """Two orthonormal columns that may overlap, over all pairs of supports."""
    rng = np.random.default_rng(seed)
    d, counts = int(rng.integers(5, 8)), rng.integers(1, 5, 2).tolist()
    X = awkward(rng, int(rng.integers(2, 9)), d, seed % 6)
    A = (X.T @ X + (X.T @ X).T) / 2
    problem = SeparateSupports(2, counts, orthonormal=True)
    with patch.object(priced_tree, "FEW", 3), patch.object(PricedTree, "most_enumerated", 20):
        packing, verdict = proven(A, problem, True)
    best = best_apart(A, counts)
    assert verdict.holds
    assert verdict.bound >= best * (1 - 1e-12)
    assert packing.value <= best * (1 + 1e-9)


def test_a_prover_that_forgets_what_prices_cost_is_not_believed(monkeypatch):
    """A saboteur: levels alone, which are below the optimum, prove nothing to the checker."""
    A = hard()
    best = solve_nonnegative(A, 3, 4, gap=0.0).objective

    def levels_alone(self, p, levels):
        return self.numbers @ levels

    monkeypatch.setattr(packing_module.Way, "bound_at", levels_alone)
    packing, verdict = proven(A, Nonnegative(3, 4, disjoint=True), False)
    assert packing.bound <= packing.target
    assert verdict.bound >= best * (1 - 1e-12)


def test_overlapping_columns_pass_what_disjoint_ones_explain():
    """The broken hypothesis: without their block the bound would be false."""
    W = np.zeros((4, 2))
    W[:, 0] = 0.5
    W[:, 1] = 0.5 * np.array([1, 1, -1, -1])
    A = W @ W.T
    _, verdict = proven((A + A.T) / 2, SeparateSupports(2, 4, orthonormal=True), True)
    disjoint, _ = proven((A + A.T) / 2, SeparateSupports(2, [3, 1], disjoint=True), True)
    assert verdict.bound >= 2 - 1e-9
    assert disjoint.bound < 1.6


@pytest.mark.parametrize("seed", range(6))
def test_a_price_on_directions_bounds_what_columns_explain(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((6, 5))
    A = X.T @ X
    best = best_apart(A, [3, 3])
    bound, H = spectral_price(A, (3, 3), best, Run())
    assert bound >= best * (1 - 1e-9)
    sets = [np.array(S) for S in combinations(range(5), 3)]
    M = A - H @ H.T
    most = max(np.linalg.eigvalsh(M[np.ix_(S, S)])[-1] for S in sets)
    assert bound == pytest.approx(np.sum(H**2) + 2 * most, rel=1e-12)


PITPROPS = [(2, k) for k in range(2, 7)] + [(3, k) for k in range(2, 7)]


@pytest.mark.parametrize(("m", "k"), PITPROPS)
def test_pitprops_is_proven(m, k):
    A = datasets.load("pitprops").A
    for answer in (solve_nonnegative(A, m, k), solve_separate(A, m, k, disjoint=True)):
        assert answer.gap < 2e-9
        assert check(answer.certificate | {"A": np.asarray(A)}).holds


@pytest.mark.parametrize(("m", "k"), [(2, 2), (2, 3), (2, 4), (2, 5), (3, 2), (3, 3)])
def test_pitprops_is_proven_where_columns_may_overlap(m, k):
    A = datasets.load("pitprops").A
    answer = solve_separate(A, m, k, orthonormal=True)
    assert answer.gap < 2e-9
    assert check(answer.certificate | {"A": np.asarray(A)}).holds


def test_where_prices_prove_it_nothing_else_is_run():
    """Neither random starts nor the bounds of rows and of row sums."""
    with (
        patch("fspca.separate_supports.solve_separate.refine_in_turn", wraps=refine_in_turn) as run,
        patch("fspca.separate_supports.solve_separate.with_claim", wraps=with_claim) as other,
    ):
        A = datasets.load("pitprops").A
        assert solve_separate(A, 2, 4, disjoint=True, n_starts=9).gap < 2e-9
        assert [call.args[3] for call in run.call_args_list] == [1]
        B = np.corrcoef(datasets.load("wine").X.T)  # a block's prices on directions end at the mark
        assert solve_separate(B, 2, 5, orthonormal=True).gap < 2e-9
        assert not other.called


def test_random_starts_are_taken_where_prices_do_not_prove():
    with (
        patch("fspca.separate_supports.solve_separate.refine_in_turn", wraps=refine_in_turn) as run,
        patch.object(packing_module, "WORK", 1e9),
        patch.object(packing_module, "STEPS", 10),
    ):
        assert solve_separate(hard(), 3, 4, disjoint=True, n_starts=9).gap > 2e-9
    assert [call.args[3] for call in run.call_args_list] == [1, 9]


def hard():
    """An instance that takes some columns, trees and programmes."""
    A = make_scheme("F", 24, 1)
    return (A + A.T) / 2


def test_a_tree_is_begun_once_climbs_find_no_column_any_more():
    """What 60 random directions miss, two trees came upon, one column after the other."""
    A = make_scheme("F", 20, 3)
    grown = []
    grow = Packing.grow

    def grow_and_note(self, *args, **kwargs):
        grown.append(grow(self, *args, **kwargs))
        return grown[-1]

    with patch.object(Packing, "grow", grow_and_note):
        found = solve_nonnegative((A + A.T) / 2, 3, 5, gap=0.0)
    assert found.gap < 2e-9
    assert len(grown) >= 1
    assert not any(tree.found for tree in grown)


def test_a_budget_leaves_a_bound_that_holds():
    A = hard()
    with patch.object(packing_module, "WORK", 2e9):
        short = solve_nonnegative(A, 3, 4)
    full = solve_nonnegative(A, 3, 4, gap=0.0)
    assert full.gap < 2e-9
    assert short.upper_bound >= full.objective * (1 - 1e-12)
    assert check(short.certificate | {"A": A}).holds


def test_the_same_call_gives_the_same_answer():
    A = hard()
    first, second = (solve_separate(A, 3, 4, disjoint=True, seed=0) for _ in range(2))
    assert first.objective == second.objective
    assert first.upper_bound == second.upper_bound


@pytest.mark.parametrize("when", [1, 20, 31, 33, 34])
def test_an_interruption_leaves_a_bound_that_holds(when):
    """While one relaxation bounds all components, and, after 30 news of that, while prices do."""
    A = hard()
    bounded = []

    def stop(news):
        if news.bound is not None:
            bounded.append(news)
        if len(bounded) >= when:
            raise KeyboardInterrupt

    found = solve_nonnegative(A, 3, 4, progress=stop, gap=0.0)
    assert found.stopped == "interrupted"
    assert check_solution(A, found)
    assert check(found.certificate | {"A": A}).holds


def test_a_gap_is_enough():
    A = hard()
    wide = solve_nonnegative(A, 3, 4, gap=0.5)
    assert wide.gap <= 0.5 * (1 + 1e-6)


def test_a_gap_of_what_is_not_searched_is_refused():
    with pytest.raises(ValueError, match=r"gap=0.1 needs disjoint=True or orthonormal=True"):
        solve_separate(np.eye(4), 2, 2, gap=0.1)
    for solver in (solve_separate, solve_nonnegative):
        with pytest.raises(ValueError, match="gap=-1"):
            solver(np.eye(4), 2, 2, gap=-1.0)


@pytest.mark.parametrize("exponent", [-120, 40])
def test_claims_of_prices_follow_the_scale_of_the_covariance(exponent):
    A = np.asarray(datasets.load("pitprops").A) * 10.0**exponent
    for found in (solve_nonnegative(A, 2, 4), solve_separate(A, 2, 5, orthonormal=True, gap=0.0)):
        assert "tree0_nodes" in found.certificate
        assert check(found.certificate | {"A": A}).holds
