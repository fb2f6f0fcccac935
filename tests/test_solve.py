"""Solve finds and proves what enumeration finds, and can be stopped at any time."""

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse.linalg
from sklearn.datasets import load_breast_cancer

from fspca import Covariance, exhaustive, ipu, solve, upper_bound
from fspca.check_certificate import LISTED, check, decisions
from fspca.covariance import as_covariance
from fspca.problem import SharedSupport
from fspca.proof import tree
from fspca.proof.checked import CheckedMatrix
from fspca.proof.search import Tree
from fspca.proof.tree import shortened
from fspca.shared_support import swap
from fspca.shared_support.refit import solution_on
from fspca.shared_support.solve import search_from
from fspca.solver import Run
from fspca.synthetic import make_scheme

PROOF = 2e-9  # twice the relative gap at which a bound counts as reached


@pytest.mark.parametrize("name", "ABCDEF")
@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_enumeration(name, seed):
    A = make_scheme(name, 14, seed)
    m, k = 1 + seed % 4, 4 + seed % 5
    found, best = solve(A, m, k, gap=0.0), exhaustive(A, m, k)
    assert found.objective == pytest.approx(best.objective, rel=PROOF)
    assert found.converged
    assert best.objective * (1 - 1e-13) <= found.upper_bound <= best.objective * (1 + PROOF)


def test_spiked_spectra_need_no_node():
    assert all(solve(make_scheme(s, seed=1), 3, 7, gap=0.0).n_iter == 0 for s in "ABC")


class Looking(Tree):
    """A tree that only notes what it is asked to look at."""

    def __init__(self, value, smaller, closes):
        super().__init__(4, 2, 0.0, None)
        self.value, self.smaller, self.closes, self.seen = value, smaller, closes, []

    relax = walk = inherited = prove = divided = None

    def evaluate(self, supports):
        self.seen.append(supports.tolist())
        return self.closes


@pytest.mark.parametrize("smaller", [False, True])
def test_supports_are_enumerated_that_can_be_above_the_target(smaller):
    rows, c = np.array([2, 4, 6, 8]), np.array([0.0, 1.0, 2.0, 2.0])
    tree, of_one = Looking(0.0, smaller, True), np.array([False, True, False, False])
    assert tree.enumerate_leaf(rows, np.zeros(4, dtype=bool), -3.0, c)
    assert tree.seen == [[[6, 8]]]  # -3 + 1 + 2 is the target itself
    tree.seen.clear()
    assert tree.enumerate_leaf(rows, of_one, -0.5, c)
    assert tree.seen == [[[4]]] * smaller + [[[4, 2], [4, 6], [4, 8]]]
    numbers = (11, 4) if smaller else (6, 3)  # of two features at most, or exactly
    assert tree.to_enumerate == LISTED - sum(numbers)


def test_supports_that_stay_open_are_not_counted():
    tree = Looking(0.0, False, False)
    assert not tree.enumerate_leaf(np.arange(4), np.zeros(4, dtype=bool), 1.0, np.zeros(4))
    assert tree.to_enumerate == LISTED


def test_what_a_proof_keeps_is_short_and_close():
    Y = np.array([[2e3, -1.23456789], [1e-3, 3e-3]])
    kept = shortened(Y)
    assert kept.dtype == np.float32
    np.testing.assert_allclose(kept, [[2e3, -1.23456789], [0, 3e-3]], rtol=2.0**-14)
    assert not np.any(kept.view(np.uint32) % 512)


def claim_of(A, found):
    return found.certificate | {"A": np.asarray(A)}


@pytest.mark.parametrize("seed", range(6))
def test_the_tree_passes_the_checker(seed):
    A = make_scheme("F", seed=seed)
    found = solve(A, 3, 7, gap=0.0)
    assert check(claim_of(A, found)).holds
    worse = np.r_[found.support[1:], np.setdiff1d(np.arange(20), found.support)[0]]
    assert not check(claim_of(A, found) | {"support": worse}).holds


def test_the_checker_refuses_a_damaged_tree():
    A = make_scheme("F", 30, seed=2)
    claim = claim_of(A, solve(A, 3, 7, gap=0.0))
    assert len(claim["nodes"]) >= 2
    closed = [x for x in claim if x[:2] == "G_"][-1]
    for damage in ({closed: 0.5 * claim[closed]}, {"nodes": claim["nodes"][:-1]}):
        assert not check(claim | damage).holds
    assert check(claim).holds


@pytest.mark.filterwarnings("ignore:solve stopped at max_iter")
def test_a_budget_of_nodes_leaves_a_valid_gap():
    A = make_scheme("F", 40, seed=3)
    full, part = solve(A, 3, 7, gap=0.0), solve(A, 3, 7, max_iter=1, gap=0.0)
    assert part.stopped == "max_iter"
    assert part.n_iter == 1
    assert part.upper_bound >= full.objective
    assert check(claim_of(A, part)).holds
    assert check(claim_of(A, part)).bound == pytest.approx(part.upper_bound, rel=1e-9)


@pytest.mark.filterwarnings("ignore:solve stopped at max_iter")
def test_a_search_cut_short_is_bounded_no_worse_than_before_it():
    """Five of thirty standardised columns explain at most 5, which the first node cannot see."""
    R = np.corrcoef(load_breast_cancer().data.T)
    found = solve((R + R.T) / 2, 3, 5, max_iter=1, gap=0.0)
    assert found.n_iter == 1
    assert found.upper_bound <= 5 * (1 + 1e-12)
    assert check(claim_of((R + R.T) / 2, found)).holds


def bounds_below(A, m, k, heavy):
    """What a search says of its first nodes, whose root has this bound."""
    checked, seen = CheckedMatrix.of(as_covariance(A), SharedSupport(m, k)), []
    with Run(3, None, lambda news: seen.append(news.bound)) as run:
        found = search_from(checked, 0.0, swap(A, m, k), heavy, run)
    assert check(claim_of(A, found)).holds
    return seen


@pytest.mark.filterwarnings("ignore:solve stopped at max_iter")
def test_a_part_is_bounded_no_worse_than_the_node_above_it():
    A = make_scheme("F", 40, seed=3)
    heavy = upper_bound(A, 3, 7, max_iter=2000)
    alone = bounds_below(A, 3, 7, replace(heavy, bound=np.inf))
    assert max(alone) > heavy.bound * 1.001
    assert max(bounds_below(A, 3, 7, heavy)) <= heavy.bound * (1 + 1e-9)


@pytest.fixture
def rewarded(monkeypatch):
    """Parts are divided, not enumerated, and rewards are tried wherever they may decide."""
    for name, value in {"FEW": 0, "AT_FIRST": 0, "WORTH": 0.0, "DEAR": 0}.items():
        monkeypatch.setattr(tree, name, value)
    monkeypatch.setattr("fspca.proof.search.SHARE", 1.0)
    monkeypatch.setattr(Tree, "most_enumerated", 1)
    honest, decided = tree.SupportTree.tightened_costs, []

    def noted(self, found, required):
        decided.append(honest(self, found, required))
        return decided[-1]

    monkeypatch.setattr(tree.SupportTree, "tightened_costs", noted)
    return decided


@pytest.mark.parametrize("name", "DEF")
@pytest.mark.parametrize("seed", range(4))
def test_what_rewards_decide_agrees_with_enumeration(rewarded, name, seed):
    A, told = make_scheme(name, 16, seed), []
    m, k = 1 + seed % 3, 5 + seed % 4
    found, best = solve(A, m, k, progress=told.append, gap=0.0), exhaustive(A, m, k)
    assert found.objective == pytest.approx(best.objective, rel=PROOF)
    assert check(claim_of(A, found)).holds
    bounds = np.array([news.bound for news in told if news.bound is not None])
    assert np.all(bounds >= best.objective * (1 - 1e-12))
    assert np.all(np.diff(bounds) <= 1e-9 * best.objective)


def test_rewards_decide_what_the_least_bound_leaves_open(rewarded, monkeypatch):
    nodes = {}
    for tried in (24, 0):
        monkeypatch.setattr(tree, "TRIED", tried)
        nodes[tried] = [solve(make_scheme("F", 24, s), 2, 6, gap=0.0).n_iter for s in range(4)]
    assert any(rewarded)
    assert sum(nodes[24]) < sum(nodes[0])


@pytest.mark.parametrize("seed", range(8))
def test_required_and_forbidden_features_agree_with_enumeration(seed):
    A = make_scheme("DEF"[seed % 3], 13, seed)
    m, k = 1 + seed % 3, 4 + seed % 3
    sides = {"required": [seed % 13], "forbidden": [(seed + 5) % 13, (seed + 7) % 13]}
    found, best = solve(A, m, k, **sides, gap=0.0), exhaustive(A, m, k, **sides)
    assert found.objective == pytest.approx(best.objective, rel=PROOF)
    assert check(claim_of(A, found)).holds


@pytest.mark.parametrize("stops", [1, 2])
def test_interrupting_solve_keeps_the_best(stops):
    A, seen = make_scheme("F", 30, seed=3), []

    def stop(news):
        seen.append(news)
        if len(seen) == stops:
            raise KeyboardInterrupt

    found = solve(A, 3, 7, progress=stop)
    assert found.stopped == "interrupted"
    assert found.objective >= max(news.objective for news in seen) * (1 - 1e-9)


def test_a_gap_asked_for_is_reached_sooner():
    A = make_scheme("F", 40, seed=3)
    exact, rough = solve(A, 3, 7, gap=0.0), solve(A, 3, 7, gap=0.03)
    assert rough.converged
    assert rough.gap <= 0.03 + PROOF
    assert rough.n_iter < exact.n_iter
    assert check(claim_of(A, rough)).holds


def test_a_gap_that_holds_at_once_needs_no_node():
    A = make_scheme("F", 40, seed=3)
    rough = solve(A, 3, 7, gap=1.0)
    assert (rough.n_iter, rough.stopped) == (0, "gap reached")
    assert rough.gap <= 1.0
    assert solve(A, 3, 7, gap=rough.gap / 2, max_iter=2).n_iter >= 1


@pytest.mark.filterwarnings("ignore:solve stopped at max_seconds")
def test_without_time_the_first_answer_is_kept():
    A = make_scheme("F", 30, seed=3)
    found = solve(A, 3, 7, max_seconds=1e-9)
    assert (found.n_iter, found.stopped) == (0, "max_seconds")
    assert check(claim_of(A, found)).holds


def test_an_interruption_that_comes_with_the_proof_leaves_it_proven():
    A, told, seen = make_scheme("F", 30, seed=3), [], []
    nodes = solve(A, 3, 7, gap=0.0, progress=told.append).n_iter
    assert nodes <= 15  # more are needed where what is decided is not used at once

    def stop(news):
        seen.append(news)
        if news.step == len(told):
            raise KeyboardInterrupt

    found = solve(A, 3, 7, progress=stop, gap=0.0)
    assert len(seen) == len(told)
    assert (found.n_iter, found.stopped) == (nodes, "gap reached")


def test_interrupting_keeps_the_best_so_far_with_a_valid_bound():
    A = make_scheme("F", 30, seed=3)

    def stop(news):
        if news.step == 3:
            raise KeyboardInterrupt

    stopped = solve(A, 3, 7, progress=stop, gap=0.0)
    assert not stopped.converged
    assert stopped.upper_bound >= solve(A, 3, 7, gap=0.0).objective
    assert check(claim_of(A, stopped)).holds


def test_a_ctrl_c_while_the_answer_is_put_together_loses_nothing(monkeypatch):
    A, calls = make_scheme("F", 30, seed=2), []
    best = solve(A, 3, 7, gap=0.0)

    def nervous(*given, **facts):
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return solution_on(*given, **facts)

    module = import_module("fspca.shared_support.solve")
    monkeypatch.setattr(module, "solution_on", nervous)
    again = solve(A, 3, 7, gap=0.0)
    assert len(calls) == 2
    assert (again.objective, again.upper_bound) == (best.objective, best.upper_bound)
    assert check(claim_of(A, again)).holds


def test_reduced_costs_never_decide_against_the_optimum():
    """With a valid bound, the features decided agree with every support above the target."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        A = make_scheme("F", 10, seed)
        G = rng.standard_normal((10, 10)) * 0.5
        c = (G**2).sum(axis=1)
        bound = np.sort(c)[-4:].sum() + np.linalg.eigvalsh(A - G @ G.T)[-2:].sum()
        best = exhaustive(A, 2, 4)
        nothing = np.zeros(10, dtype=bool)
        inside, outside = decisions(c, nothing, 4, bound, best.objective * (1 - 1e-9))
        assert set(np.flatnonzero(inside)) <= set(best.support.tolist())
        assert not set(np.flatnonzero(outside)) & set(best.support.tolist())


@pytest.mark.parametrize("seed", range(5))
def test_solve_is_at_least_as_good_as_its_starts_and_bounded(seed):
    A = Covariance(make_scheme("EF"[seed % 2], 16, seed), ridge=0.1)
    found, best = solve(A, 3, 6, seed=0), exhaustive(A, 3, 6)
    assert found.solver == "solve"
    assert found.objective >= max(ipu(A, 3, 6, init=i).objective for i in ("go", "variance")) * (
        1 - 1e-12
    )
    assert found.upper_bound >= best.objective * (1 - 1e-12)
    assert found.objective == pytest.approx(best.objective, rel=PROOF)


def test_bad_budgets_are_refused():
    A = np.eye(4)
    with pytest.raises(ValueError, match="gap=-1"):
        solve(A, 1, 2, gap=-1)
    with pytest.raises(ValueError, match="max_iter=0"):
        solve(A, 1, 2, max_iter=0, gap=0.0)
    with pytest.raises(ValueError, match="needs the matrix or the data in max_memory=10"):
        solve(A, 1, 2, max_memory=10, gap=0.0)


@pytest.mark.parametrize(("m", "strength"), [(1, 6.0), (1, 1.5), (2, 3.0)])
def test_wide_data_are_searched_without_rows_that_their_claims_cannot_carry(m, strength):
    """A of more than 500 features and fewer samples is not formed, and the checker takes no Y."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((53, 545))
    X[:, :6] += strength * rng.standard_normal((53, 1))
    A = Covariance.from_data(X, center=False, divisor=1)
    found = solve(A, m, 6, max_seconds=3)
    verdict = check(found.certificate | {"X": X})
    assert verdict.holds, verdict
    assert verdict.bound == pytest.approx(found.upper_bound, rel=1e-6)


def questions():
    rng = np.random.default_rng(7)
    return Covariance.from_data(rng.standard_normal((80, 60)))


def test_the_same_call_gives_the_same_bits():
    """Unproven, by counted work: the second run is under another load, and no clock is read."""
    found = [solve(questions(), 1, 20) for _ in range(2)]
    assert found[0].stopped == "max_work"
    assert "max_seconds=60 goes on" in str(found[0])
    assert found[0].upper_bound == found[1].upper_bound
    assert found[0].n_iter == found[1].n_iter
    np.testing.assert_array_equal(found[0].W, found[1].W)


def test_crossing_finds_what_a_peer_finds():
    """Best subset selection finds 8.5568548 for one component of ten features in milliseconds."""
    R = np.corrcoef(load_breast_cancer().data.T)
    found = solve((R + R.T) / 2, 1, 10)
    assert found.objective > 8.55685
    assert found.gap <= PROOF


def test_no_seconds_leave_the_answer_and_the_closed_form_bound(monkeypatch):
    """No matrix of this size is decomposed in full: its m + 1 pairs, and a factorisation, serve."""
    rng, honest = np.random.default_rng(0), np.linalg.eigh
    B = rng.standard_normal((600, 600)) * 0.9 ** np.arange(600)

    def small(M, *rest):
        assert max(M.shape) < 600
        return honest(M, *rest)

    monkeypatch.setattr(np.linalg, "eigh", small)
    found = solve(B @ B.T, 2, 9, max_seconds=0)
    assert (found.n_iter, found.stopped) == (0, "max_seconds")
    assert found.certificate is not None
    assert "s_0" in found.certificate or "whole_0" in found.certificate


def with_spectrum(values):
    """A covariance of these eigenvalues, its eigenvectors at random."""
    V = np.linalg.qr(np.random.default_rng(3).standard_normal((len(values), len(values))))[0]
    return (V * values) @ V.T


@pytest.mark.parametrize(
    ("spectrum", "name", "sought", "factorised"),
    [
        (np.linspace(2.0, 1.0, 520), "s_0", 1, 2),
        # this bound says nothing of eigenpairs: Go's own are sought and verified
        (1 / np.arange(1.0, 521.0), "whole_0", 2, 3),
    ],
)
def test_no_seconds_seek_pairs_once_and_factorise_once_each(
    monkeypatch, spectrum, name, sought, factorised
):
    """One factorisation is the prover's, one the checker's: the first verifies the pairs of Go."""
    A = Covariance(with_spectrum(spectrum))
    counted = {"eigsh": 0, "cholesky": 0}

    def counting(module, of):
        honest = getattr(module, of)

        def call(M, *given, **options):
            counted[of] += M.shape[0] == A.size
            return honest(M, *given, **options)

        monkeypatch.setattr(module, of, call)

    counting(scipy.sparse.linalg, "eigsh")
    counting(np.linalg, "cholesky")
    found = solve(A, 2, 9, max_seconds=0)
    assert name in found.certificate
    assert counted == {"eigsh": sought, "cholesky": factorised}


def test_eigenpairs_that_tie_are_not_handed_on():
    """Which span of tied eigenvectors is found depends on how many are sought: Go seeks its own."""
    full = with_spectrum(np.r_[9.0, 4.0, 4.0, np.linspace(1.0, 0.1, 517)])
    asked, fresh = Covariance(full), Covariance(full)
    assert "s_0" in solve(asked, 2, 60, max_seconds=0).certificate
    np.testing.assert_array_equal(asked.leading(2)[1], fresh.leading(2)[1])


@pytest.mark.parametrize("stops", [1, 2, 4])
def test_a_callback_that_says_no_ends_with_the_best(stops):
    A, seen = questions(), []

    def enough(news):
        seen.append(news)
        return len(seen) < stops

    found = solve(A, 2, 10, progress=enough)
    assert len(seen) == stops
    assert found.stopped == "interrupted"
    assert found.objective >= seen[-1].objective * (1 - 1e-12)
    assert (found.upper_bound is None) == (stops == 1)


def test_a_callback_that_fails_loses_no_answer():
    def broken(news):
        raise ZeroDivisionError(news.step)

    with pytest.warns(UserWarning, match="progress failed with ZeroDivisionError"):
        found = solve(questions(), 2, 10, progress=broken)
    assert found.stopped == "interrupted"


def test_the_news_never_gets_worse():
    told = []
    solve(questions(), 1, 20, progress=told.append)
    assert told[0].bound is None
    assert np.all(np.diff([news.objective for news in told]) >= 0)
    assert np.all(np.diff([news.bound for news in told[1:]]) <= 0)


def test_it_starts_from_what_is_given():
    A = questions()
    best = solve(A, 1, 20)
    first = solve(A, 1, 20, max_seconds=0)
    assert first.objective < best.objective
    for init in (best, best.W, best.support):
        assert solve(A, 1, 20, init=init, max_seconds=0).objective >= best.objective * (1 - 1e-12)
    with pytest.raises(ValueError, match="k=20 different features"):
        solve(A, 1, 20, init=[1, 2])


def test_a_counted_budget_says_when_it_is_spent():
    run = Run()
    run.work = 5.0
    run.record(1.0, "answer")
    for _ in run:
        run.spend(2.0)
    assert (run.n_iter, run.stopped) == (3, "max_work")


def test_a_reward_grows_is_bounded_and_lets_those_alone_that_moved(monkeypatch):
    """Out are features at 0, in those at 1 that are not required; who moves gets nothing more."""
    z = np.array([1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    required = np.arange(8) == 0
    sent = []

    def relaxed_on(state, m, k, required):
        cost = yield
        while True:
            sent.append(cost)
            moved = z.copy()
            if len(sent) == 2:
                moved[[1, 3]] = 0.9, 0.1  # one goes out, one comes in
            cost = yield SimpleNamespace(z=moved, c=np.zeros(8), bound=12.0)

    monkeypatch.setattr(tree, "descend_rows", relaxed_on)
    found = SimpleNamespace(z=z, bound=12.0, state=None)
    here = SimpleNamespace(target=20.0, scale=2.0, k=3, checked=SimpleNamespace(m=1), spent=[],
                           run=SimpleNamespace(seconds_left=None))  # fmt: skip
    here.spend = here.spent.append
    assert tree.SupportTree.tightened_costs(here, found, required) is None  # nothing was decided
    assert len(sent) == len(here.spent) == tree.TRIED
    side = np.array([0, -1, 0, 1, 1, 1, 1, 1])
    missing = 2.0  # a bound of 12, and a target of 10 in its unit
    np.testing.assert_allclose(sent[0], side * missing * tree.RISE)
    np.testing.assert_allclose(sent[1], sent[0])
    side[[1, 3]] = 0
    np.testing.assert_allclose(sent[2], side * missing * 2 * tree.RISE)
    np.testing.assert_allclose(sent[-1], side * missing * tree.REWARD)
    for decided, pays in ((1, False), (2, True)):  # of seven free features a quarter must be
        monkeypatch.setattr(tree, "decisions", lambda *_, count=decided: np.ones(count))
        answer = tree.SupportTree.tightened_costs(here, found, required)
        assert (answer is not None) == pays
