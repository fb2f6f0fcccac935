"""The judge: one place that recomputes whatever an answer claims."""

from dataclasses import dataclass

import numpy as np

from fspca.covariance import as_covariance
from fspca.problem import TOLERANCE, Problem, Solution


@dataclass(frozen=True)
class Verdict:
    """What the judge found: true where there is no fault."""

    objective: float
    support: np.ndarray
    faults: tuple

    def __bool__(self):
        return not self.faults

    def __str__(self):
        return "; ".join(self.faults) or f"feasible, explains {self.objective:.6g}"

    __repr__ = __str__


def loadings(W):
    """Return the array W of a Solution, or the array itself."""
    return W.W if isinstance(W, Solution) else W


def objective(A, W):
    """Return trace(W'AW) of loadings W or a Solution, on the covariance without its ridge.

    >>> objective(np.diag([3.0, 2.0, 1.0]), np.eye(3)[:, :2])
    5.0
    """
    return Problem(1, 1).score(as_covariance(A).plain, loadings(W))


def check_solution(A, solution, problem=None):
    """Judge a Solution, or an array W for a problem: recompute all that it claims.

    The objective is recomputed on the covariance without its ridge, the support from W's
    nonzero rows, and each constraint of the problem is tested.

    >>> from fspca import SharedSupport
    >>> W = np.eye(3)[:, 1:]
    >>> check_solution(np.diag([3.0, 2.0, 1.0]), W, SharedSupport(m=2, k=2))
    feasible, explains 3
    >>> check_solution(np.diag([3.0, 2.0, 1.0]), 2 * W, SharedSupport(m=2, k=2))
    the columns of W do not have unit length; the columns of W are not orthonormal
    """
    A = as_covariance(A).plain
    claims = isinstance(solution, Solution)
    if problem is None and not claims:
        raise TypeError("problem=None: an array W can only be judged as an answer to a problem")
    problem = problem or solution.problem
    W = np.asarray(loadings(solution), dtype=float)
    if W.shape != (A.size, problem.m):
        fault = f"W has shape {W.shape}, not (d, m) = {(A.size, problem.m)}"
        return Verdict(np.nan, np.empty(0, int), (fault,))
    if not np.all(np.isfinite(W)):
        return Verdict(np.nan, np.empty(0, int), ("W has entries that are not finite",))
    support = np.flatnonzero(W.any(axis=1))
    value = problem.score(A, W)
    faults = problem.faults(W, np.asarray(solution.support) if claims else support)
    slack = TOLERANCE * max(abs(value), np.finfo(float).tiny)
    if claims and abs(solution.objective - value) > slack:
        faults.append(f"the objective is {value:.10g}, not {solution.objective:.10g} as claimed")
    if claims and solution.orthonormal is not None:
        V, eye = solution.orthonormal, np.eye(problem.m)
        if V.shape != W.shape or not np.allclose(V.T @ V, eye, rtol=0, atol=TOLERANCE):
            faults.append("the columns of `orthonormal` are not orthonormal")
    if claims and solution.upper_bound is not None and value > solution.upper_bound + slack:
        faults.append(f"the objective {value:.10g} exceeds its bound {solution.upper_bound:.10g}")
    return Verdict(value, support, tuple(faults))
