"""How far from the best any answer is, for the three problems, by the relaxation that fits."""

from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from fspca.covariance import Matrix, as_covariance
from fspca.nonnegative.solve import tell_bound
from fspca.problem import Nonnegative, SeparateSupports, SharedSupport, Solution, check_solution
from fspca.proof.bounds import dual_bound, least_closed_form
from fspca.proof.checked import MAX_MEMORY, CheckedMatrix
from fspca.proof.claims import claimed
from fspca.proof.leaders import Leaders
from fspca.proof.levelled import SHARE
from fspca.proof.search import PROOF
from fspca.proof.separate import with_claim
from fspca.solver import Listener, Run, check_common


def certify(A: Matrix, solution: Solution, *, max_iter: int = 600, max_seconds: float | None = None,
            max_memory: float = MAX_MEMORY,
            progress: Listener | None = None) -> Solution:  # fmt: skip
    """Return the solution with a proven upper bound: print it to read how good it is.

    Of one shared support the bound is that of `upper_bound`; of nonnegative components that of
    the doubly nonnegative relaxation; of components on supports of their own the least of those
    that `solve_separate` knows.  For what uncorrelated factors explain it then looks for the best
    component of a matrix whose largest eigenvalues are levelled.  A smaller upper bound that the
    solution had before is kept where it is certain.
    Its `certificate`, where there is one, is a claim for `fspca.check_certificate.check`, which
    accepted it with the matrix, `certificate | {"A": A}`, or of wide data with the factor,
    `certificate | {"X": A.wide_factor()}`.  `solution.save_claim` writes whichever it is.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    solution : Solution
        Of any of the three problems.
    max_iter, max_seconds : int, float
        Steps and seconds of the relaxation, which ends where it proves the answer; of a shared
        support, a quarter of the steps is taken beforehand, as in `upper_bound`.  0 seconds leave
        a closed-form bound, where the problem has one.
    max_memory : float
        Bytes that it may take.
    progress : True or callable
        Told of the relaxation's steps.

    Returns
    -------
    Solution
        The same answer, with `upper_bound` and `certificate`.

    See Also
    --------
    upper_bound : The bound alone.
    check_solution : Judges the answer, without a bound.

    Examples
    --------
    >>> from fspca import ipu
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> certify(A, ipu(A, m=1, k=2))  # doctest: +NORMALIZE_WHITESPACE
    ipu: explains 4 (57.1 % of all, 100 % of PCA's) on 2 of 3 features
      with m=1 component: proven optimal (1 step)
    """
    problem, A = getattr(solution, "problem", None), as_covariance(A).plain
    bound = BOUNDS.get(getattr(problem, "kind", None))
    if bound is None:
        raise TypeError(f"solution={solution!r} must be a Solution of one of the three problems")
    check_common({"max_iter": max_iter, "max_seconds": max_seconds, "progress": progress})
    if not problem.one_support and not (verdict := check_solution(A, solution)):  # of another A
        raise ValueError(f"solution does not fit A: {verdict}")
    found = bound(A, solution, Budget(max_iter, max_seconds, max_memory, progress))
    known = solution.upper_bound if solution.bound_probability == 1 else None
    kept = known is not None and (found.upper_bound is None or known < found.upper_bound)
    return solution if kept else found


class Budget(NamedTuple):
    """What a bound may cost, and who is told of its steps."""

    max_iter: int
    max_seconds: float | None
    max_memory: float
    progress: Listener | None


def shared(A, solution, budget):
    """Return the solution with the least of the closed-form bounds and the relaxation's."""
    progress = budget.progress
    ends = None if budget.max_seconds is None else perf_counter() + budget.max_seconds
    checked = CheckedMatrix.of(A, solution.problem, budget.max_memory)
    target = solution.objective * (1 + PROOF)
    found = least_closed_form(checked)
    if found.bound > target and (leaders := Leaders.of(checked, solution.objective)):
        found = min(found, leaders.certificate(solution.objective), key=lambda each: each.bound)
    late = ends is not None and perf_counter() > ends
    if found.bound > target and checked.matrix is not None and not late:
        dual = found  # where the run is ended before the relaxation has a bound
        with Run(None, None, progress) as run:  # which may be a bar
            run.record(solution.objective, solution)
            tell = None if progress is None else run.relay
            dual = dual_bound(checked, True, budget.max_iter, ends, target, None, tell)
        found = min(found, dual, key=lambda each: each.bound)
    return claimed(checked, solution, found)


def separate(A, solution, budget):
    """Return the solution with the least bound that the checker accepts of separate supports."""
    return with_claim(A, solution, budget.max_iter, SHARE, budget.max_seconds)


def nonnegative(A, solution, budget):
    """Return the solution with the doubly nonnegative bound.

    For columns that may overlap it is the sum of the bounds of each alone.
    """
    problem = solution.problem
    max_iter, max_seconds = budget.max_iter, budget.max_seconds
    if problem.m > 1 and not problem.disjoint:
        single = {k: Run(None, max_seconds) for k in set(problem.counts.tolist())}
        for k, alone in single.items():  # any loadings do: they are for a claim, which is not kept
            tell_bound(A, Nonnegative(1, k), np.eye(A.size, 1), max_iter, alone)
        return bounded_by(solution, sum(single[k].bound for k in problem.counts.tolist()))
    claim = None
    with Run(None, max_seconds, budget.progress) as run:
        run.record(solution.objective, solution)
        claim, _ = tell_bound(A, problem, solution.W, max_iter, run)
    if run.bound is None:  # ended before there was one
        return solution
    return bounded_by(solution, run.bound, claim)


def bounded_by(solution, bound, claim=None):
    """Return the solution with a bound that was proven, and its claim where there is one."""
    bound = max(bound, solution.objective)
    return replace(solution, upper_bound=bound, certificate=claim, bound_probability=1.0)


# What bounds an answer to each of the problems, by the problem's kind.
BOUNDS = {
    SharedSupport.kind: shared,
    SeparateSupports.kind: separate,
    Nonnegative.kind: nonnegative,
}
