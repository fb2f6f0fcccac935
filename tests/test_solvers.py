"""What every solver in the registry promises, on random and on awkward instances."""

import dataclasses

import numpy as np
import pytest

from fspca import SOLVERS, Covariance, SharedSupport, check_solution
from fspca.registry import oracle
from fspca.synthetic import make_scheme, with_spectrum

ROUNDING = 1e-9  # relative; objectives of well-scaled matrices differ by far less when equal

# SOAP and SRT crawl where A[I, I] has no eigengap, and say so; that they do is tested with them.
pytestmark = pytest.mark.filterwarnings("ignore::fspca.ConvergenceWarning")

solvers = pytest.mark.parametrize("solver", SOLVERS.values(), ids=list(SOLVERS))


def random_case(seed):
    """A covariance of random size, rank and scale with sensible m and k."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(3, 10))
    m = int(rng.integers(1, d))
    k = int(rng.integers(m, d + 1))
    X = rng.standard_normal((int(rng.integers(1, 2 * d)), d)) * rng.uniform(0.1, 3, d)
    return X.T @ X * 10.0 ** rng.integers(-6, 7), m, k


def optimum(problem, A):
    """The exact optimum, or where the problem has no oracle what no answer exceeds."""
    best = oracle(A, problem)
    return Covariance(A).leading(problem.m)[0].sum() if best is None else best.objective


AWKWARD = {
    "m = 1": (make_scheme("F", 8, 1), 1, 3),
    "k = m": (make_scheme("F", 8, 2), 3, 3),
    "k = d": (make_scheme("F", 8, 3), 3, 8),
    "m = k = d": (make_scheme("E", 5, 1), 5, 5),
    "d = 1": (np.array([[2.0]]), 1, 1),
    "zero rows": (np.diag([0.0, 3.0, 0.0, 1.0, 0.0]), 2, 4),
    "all zero": (np.zeros((5, 5)), 2, 3),
    "identity": (np.eye(6), 2, 4),
    "all ones": (np.ones((6, 6)), 2, 3),
    "repeated eigenvalues": (with_spectrum([5, 5, 5, 1, 1, 1, 1], 0), 2, 4),
    "rank below m": (with_spectrum([5, 3, 0, 0, 0, 0], 1), 3, 4),
    "duplicated features": (np.kron(make_scheme("F", 4, 0), np.ones((2, 2))), 2, 4),
    "tiny": (1e-200 * make_scheme("F", 6, 4), 2, 3),
    "huge": (1e150 * make_scheme("F", 6, 4), 2, 3),
}


@solvers
@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_instances_survive(solver, case):
    A, m, k = AWKWARD[case]
    solution = solver(A, m, k)
    best = optimum(solution.problem, A)
    assert check_solution(A, solution)
    assert solution.objective <= best * (1 + ROUNDING)
    assert len(solution.support) == k or solver.problem is not SharedSupport
    assert all(np.isfinite(solution.history))


@solvers
@pytest.mark.parametrize("seed", range(40))
def test_feasible_true_and_never_above_the_optimum(solver, seed):
    A, m, k = random_case(seed)
    before = A.copy()
    solution = solver(A, m, k)
    best = optimum(solution.problem, A)
    assert check_solution(A, solution)
    assert np.array_equal(A, before)
    assert solution.objective <= best * (1 + ROUNDING)
    if solver.guarantee == "exact":
        assert solution.objective >= best * (1 - ROUNDING)
    if solution.upper_bound is not None and oracle(A, solution.problem) is not None:
        assert solution.upper_bound >= best * (1 - ROUNDING)


@solvers
def test_same_seed_same_answer(solver):
    A = make_scheme("F", 12, 7)
    first, second = solver(A, 3, 5), solver(A, 3, 5)
    assert np.array_equal(first.W, second.W)
    assert first.history == second.history
    if "n_starts" in solver.options:  # then the first start is random
        other = dataclasses.replace(solver, options=solver.options | {"seed": 1, "n_starts": 1})
        starts = {other(make_scheme("F", 12, s), 3, 5).history[0] for s in range(3)}
        assert len(starts) == 3


@pytest.mark.parametrize("name", [n for n, s in SOLVERS.items() if s.promise("labels")])
@pytest.mark.parametrize("seed", range(10))
def test_relabelling_features_relabels_the_support(name, seed):
    solver = SOLVERS[name]
    A = make_scheme("F", 10, seed)
    order = np.random.default_rng(seed).permutation(10)
    support = solver(A, 3, 5).support
    moved = solver(A[np.ix_(order, order)], 3, 5).support
    assert set(order[moved]) == set(support)


@solvers
@pytest.mark.parametrize("factor", [1e-3, 1e5])
def test_scaling_the_covariance_scales_the_objective_only(solver, factor):
    A = make_scheme("D", 12, 3)
    plain, scaled = solver(A, 3, 5), solver(factor * A, 3, 5)
    assert np.array_equal(plain.support, scaled.support)
    assert scaled.objective == pytest.approx(factor * plain.objective, rel=ROUNDING)


@solvers
@pytest.mark.parametrize("seed", range(10))
def test_adding_a_multiple_of_the_identity(solver, seed):
    A = make_scheme("F", 10, seed)
    moved = solver(A + 7 * np.eye(10), 3, 5)
    if solver.promise("shift"):
        assert np.array_equal(moved.support, solver(A, 3, 5).support)
        assert moved.objective == pytest.approx(solver(A, 3, 5).objective + 21, rel=ROUNDING)


# solve finds the optimum of every small instance tried, with the shift and without.
@pytest.mark.parametrize(
    "name", [n for n, s in SOLVERS.items() if not s.promise("shift") and n != "solve"]
)
def test_solvers_not_called_shift_invariant_are_not(name):
    """The registry does not merely leave the property out: an instance shows it missing."""
    solver = SOLVERS[name]
    moves = 0
    for seed in range(10):
        A = make_scheme("F", 10, seed)
        plain, moved = solver(A, 3, 5), solver(A + 50 * np.eye(10), 3, 5)
        moves += not np.array_equal(plain.support, moved.support)
        moves += abs(moved.objective - 150 - plain.objective) > 1e-3 * plain.objective
    assert moves


@solvers
def test_ridge_does_not_enter_the_score(solver):
    A = make_scheme("F", 10, 1)
    solution = solver(Covariance(A, ridge=0.5), 3, 5)
    assert check_solution(A, solution)
    assert solution.history[-1] == pytest.approx(solution.objective, rel=ROUNDING)


@solvers
def test_data_gives_the_answer_of_its_covariance(solver):
    X = np.random.default_rng(5).standard_normal((8, 12)) * np.linspace(1, 3, 12)
    from_data, dense = Covariance.from_data(X), np.cov(X.T)
    assert np.array_equal(solver(from_data, 2, 4).support, solver(dense, 2, 4).support)


def test_guarantees_are_of_three_kinds():
    assert {solver.guarantee for solver in SOLVERS.values()} <= {"exact", "bounded", "heuristic"}
