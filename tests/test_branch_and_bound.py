"""Branch and bound proves what enumeration finds, and can be stopped at any time."""

import numpy as np
import pytest

import fspca.shared_support.tree_check as checker
from fspca import Covariance, branch_and_bound, exhaustive, ipu, solve
from fspca.shared_support.reduced_costs import decide
from fspca.synthetic import make_scheme

PROOF = 2e-9  # twice the relative gap at which a bound counts as reached


@pytest.mark.parametrize("name", "ABCDEF")
@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_enumeration(name, seed):
    A = make_scheme(name, 14, seed)
    m, k = 1 + seed % 4, 4 + seed % 5
    found, best = branch_and_bound(A, m, k), exhaustive(A, m, k)
    assert found.objective == pytest.approx(best.objective, rel=PROOF)
    assert found.converged
    assert best.objective * (1 - 1e-13) <= found.upper_bound <= best.objective * (1 + PROOF)


def test_spiked_spectra_need_no_node():
    assert all(branch_and_bound(make_scheme(s, seed=1), 3, 7).n_iter == 0 for s in "ABC")


@pytest.mark.parametrize("seed", range(6))
def test_the_tree_passes_the_checker(seed):
    A, proof = make_scheme("F", seed=seed), {}
    found = branch_and_bound(A, 3, 7, proof=proof)
    assert proof
    assert checker.check_tree(A, 3, 7, found.support, proof)
    worse = np.r_[found.support[1:], np.setdiff1d(np.arange(20), found.support)[0]]
    assert not checker.check_tree(A, 3, 7, worse, proof)


def test_the_checker_refuses_a_damaged_tree():
    A, proof = make_scheme("F", 30, seed=3), {}
    found = branch_and_bound(A, 3, 7, proof=proof)
    assert len(proof) > 3
    closed = next(name for name, node in proof.items() if "kept" not in node)
    for damage in (lambda p: p.pop(closed), lambda p: p[closed].update(G=0.5 * p[closed]["G"])):
        broken = {name: dict(node) for name, node in proof.items()}
        damage(broken)
        assert not checker.check_tree(A, 3, 7, found.support, broken)
    assert checker.check_tree(A, 3, 7, found.support, proof)


def test_a_budget_of_nodes_leaves_a_valid_gap():
    A = make_scheme("F", 30, seed=3)
    full, part = branch_and_bound(A, 3, 7), branch_and_bound(A, 3, 7, max_nodes=2)
    assert not part.converged
    assert part.n_iter == 2
    assert part.upper_bound >= full.objective
    assert "ended by max_iter" in str(part)


def test_a_gap_asked_for_is_reached_sooner():
    A = make_scheme("F", 30, seed=3)
    exact, rough = branch_and_bound(A, 3, 7), branch_and_bound(A, 3, 7, gap=0.03)
    assert rough.converged
    assert rough.gap <= 0.03 + PROOF
    assert rough.n_iter < exact.n_iter


def test_interrupting_keeps_the_best_so_far_with_a_valid_bound():
    A = make_scheme("F", 30, seed=3)

    def stop(nodes, value, bound):
        if nodes == 3:
            raise KeyboardInterrupt

    stopped = branch_and_bound(A, 3, 7, progress=stop)
    assert not stopped.converged
    assert stopped.upper_bound >= branch_and_bound(A, 3, 7).objective


def test_reduced_costs_never_decide_against_the_optimum():
    """With a valid bound, the features decided agree with every support above the target."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        A = make_scheme("F", 10, seed)
        G = rng.standard_normal((10, 10)) * 0.5
        c = (G**2).sum(axis=1)
        bound = np.sort(c)[-4:].sum() + np.linalg.eigvalsh(A - G @ G.T)[-2:].sum()
        best = exhaustive(A, 2, 4)
        inside, outside = decide(c, 0, 4, bound, best.objective * (1 - 1e-9))
        assert set(np.flatnonzero(inside)) <= set(best.support.tolist())
        assert not set(np.flatnonzero(outside)) & set(best.support.tolist())


@pytest.mark.parametrize("effort", ["fast", "thorough"])
@pytest.mark.parametrize("seed", range(5))
def test_solve_is_at_least_as_good_as_its_starts_and_bounded(effort, seed):
    A = Covariance(make_scheme("EF"[seed % 2], 16, seed), ridge=0.1)
    found, best = solve(A, 3, 6, effort=effort, seed=0), exhaustive(A, 3, 6)
    assert found.solver == "solve"
    assert found.objective >= max(ipu(A, 3, 6, init=i).objective for i in ("go", "variance")) * (
        1 - 1e-12
    )
    assert found.upper_bound >= best.objective * (1 - 1e-12)
    if effort == "thorough":
        assert found.objective == pytest.approx(best.objective, rel=PROOF)


def test_bad_budgets_are_refused():
    A = np.eye(4)
    with pytest.raises(ValueError, match="gap=-1 must be at least 0"):
        branch_and_bound(A, 1, 2, gap=-1)
    with pytest.raises(ValueError, match="max_nodes=0 must be at least 1"):
        branch_and_bound(A, 1, 2, max_nodes=0)
    with pytest.raises(ValueError, match="effort='slow' must be one of"):
        solve(A, 1, 2, effort="slow")
