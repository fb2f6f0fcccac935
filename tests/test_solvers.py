"""What the registry says of solvers, beside what test_conformance.py tries on many instances."""

import dataclasses

import numpy as np
import pytest

from fspca import SOLVERS, Covariance, check_certificate, check_solution
from fspca.proof.certify import BOUNDS
from fspca.registry import PROBLEMS
from fspca.synthetic import make_scheme

ROUNDING = 1e-9  # relative; objectives of well-scaled matrices differ by far less when equal

# SOAP and SRT crawl where A[I, I] has no eigengap, and say so; that they do is tested with them.
pytestmark = pytest.mark.filterwarnings("ignore::fspca.ConvergenceWarning")

solvers = pytest.mark.parametrize("solver", SOLVERS.values(), ids=list(SOLVERS))


@solvers
def test_same_seed_same_answer(solver):
    A, m = make_scheme("F", 12, 7), solver.most_components or 3
    first, second = solver(A, m, 5), solver(A, m, 5)
    assert np.array_equal(first.W, second.W)
    assert first.history == second.history
    if "n_starts" in solver.options:  # then the first start is random
        other = dataclasses.replace(solver, options=solver.options | {"seed": 1, "n_starts": 1})
        starts = {other(make_scheme("F", 12, s), 3, 5).history[0] for s in range(3)}
        assert len(starts) == 3


BEST = ("solve", "solve_nonnegative")  # find the optimum of all these, with the shift and without


@pytest.mark.parametrize(
    "name", [n for n, s in SOLVERS.items() if not s.promise("shift") and n not in BEST]
)
def test_solvers_not_called_shift_invariant_are_not(name):
    """The registry does not merely leave the property out: an instance shows it missing."""
    solver = SOLVERS[name]
    m = solver.most_components or 3

    def moves(seed):
        A = make_scheme("F", 10, seed)
        plain, moved = solver(A, m, 5), solver(A + 50 * np.eye(10), m, 5)
        others = not np.array_equal(plain.support, moved.support)
        return others or abs(moved.objective - 50 * m - plain.objective) > 1e-3 * plain.objective

    assert any(map(moves, range(10)))


@solvers
def test_ridge_does_not_enter_the_score(solver):
    A = make_scheme("F", 10, 1)
    solution = solver(Covariance(A, ridge=0.5), solver.most_components or 3, 5)
    assert check_solution(A, solution)
    assert solution.history[-1] == pytest.approx(solution.objective, rel=ROUNDING)


def test_guarantees_are_of_three_kinds():
    assert {solver.guarantee for solver in SOLVERS.values()} <= {"exact", "bounded", "heuristic"}


def test_each_problem_has_a_row_wherever_one_is_asked_for():
    assert BOUNDS.keys() == PROBLEMS.keys() <= check_certificate.KINDS.keys()
    assert {solver.problem.kind for solver in SOLVERS.values()} == PROBLEMS.keys()
