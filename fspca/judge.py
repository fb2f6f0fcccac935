"""The judge: one place that recomputes whatever an answer claims."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Matrix, as_covariance
from fspca.problem import TOLERANCE, Problem, Solution


@dataclass(frozen=True)
class Judgement:
    """What the judge found: true where there is no fault.

    Printed, it names the faults.

    Parameters
    ----------
    objective : float
        As recomputed; not a number where W is no matrix of numbers that fits.
    support : array of int
        The rows of W that are not zero.
    faults : tuple of str
        A sentence each.

    See Also
    --------
    fspca.check_solution : Returns one.

    Examples
    --------
    >>> Judgement(3.0, np.array([0]), ())
    feasible, explains 3
    >>> bool(Judgement(3.0, np.array([0]), ("a column is missing",)))
    False
    """

    objective: float
    support: np.ndarray
    faults: tuple

    def __bool__(self):
        return not self.faults

    def __str__(self):
        return "; ".join(self.faults) or f"feasible, explains {self.objective:.6g}"

    __repr__ = __str__


def as_loadings(W):
    """Return the array W of a Solution, or the array itself."""
    return W.W if isinstance(W, Solution) else W


def objective(A: Matrix, W: ArrayLike | Solution) -> float:
    """Return trace(W'AW) of loadings W or a Solution, on the covariance without its ridge.

    The columns are taken as they are: where they overlap, variance counts twice.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    W : Solution or array (d x m)
        The loadings.

    Returns
    -------
    float
        The variance explained, if the columns are orthonormal.

    See Also
    --------
    fspca.check_solution : Scores by the rule of a problem, and tests the constraints.
    fspca.metrics.normalised_explained_variance : On a basis, against PCA.

    Examples
    --------
    >>> objective(np.diag([3.0, 2.0, 1.0]), np.eye(3)[:, :2])
    5.0
    """
    return Problem(1, 1).score(as_covariance(A).plain, as_loadings(W))


def check_solution(A: Matrix, solution: Solution, problem: Problem | None = None, *,
                   rises: bool = False) -> Judgement:  # fmt: skip
    """Judge a Solution, or an array W for a problem: recompute all that it claims.

    The objective is recomputed on the covariance without its ridge, the support from W's
    nonzero rows, and each constraint of the problem is tested.  With `rises` the history, which
    must hold the objective in any case, may not fall.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    solution : Solution or array (d x m)
        What is judged.
    problem : SharedSupport, SeparateSupports or Nonnegative
        What was asked, where it is an array.
    rises : bool
        Whether the history may not fall.

    Returns
    -------
    Judgement
        True where there is no fault; printed, it names the faults.

    See Also
    --------
    certify : Adds how far from the best it is.

    Examples
    --------
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
    W = np.asarray(as_loadings(solution))
    fault = ""
    if W.shape != (A.size, problem.m):
        fault = f"W has shape {W.shape}, not (d, m) = {(A.size, problem.m)}"
    elif W.dtype.kind not in "biuf":
        fault = f"W holds {W.dtype} numbers, not real ones"
    elif not np.all(np.isfinite(W)):
        fault = "W has entries that are not finite"
    if fault:
        return Judgement(np.nan, np.empty(0, int), (fault,))
    W = W.astype(float)
    support = np.flatnonzero(W.any(axis=1))
    value = problem.score(A, W)
    if not claims:
        return Judgement(value, support, tuple(problem.faults(W, support)))
    faults = problem.faults(W, np.asarray(solution.support))
    return Judgement(value, support, (*faults, *_false_claims(solution, value, len(W), rises)))


def _false_claims(solution, value, d, rises):
    slack = TOLERANCE * max(abs(value), np.finfo(float).tiny)
    support, history = np.asarray(solution.support), np.array(solution.history, dtype=float)
    if support.dtype.kind not in "iu" or np.any(np.diff(np.r_[-1, support, d]) <= 0):
        yield f"the support {support.tolist()} is not features in ascending order"
    for name in ("objective", "upper_bound"):
        claimed = getattr(solution, name)
        if claimed is not None and not np.isfinite(claimed):
            yield f"the {name} claimed, {claimed}, is not finite"
    if abs(solution.objective - value) > slack:
        yield f"the objective is {value:.10g}, not {solution.objective:.10g} as claimed"
    if not np.all(np.isfinite(history)):
        yield "the history holds numbers that are not finite"
    elif len(history) and np.abs(history - value).min() > slack:
        yield "the history does not hold the objective"
    if rises and np.any(fallen := np.diff(history) < -slack):
        yield f"the history falls at step {1 + np.argmax(fallen)}"
    if (V := solution.orthonormal) is not None and (
        V.shape != (d, solution.problem.m)
        or not np.allclose(V.T @ V, np.eye(V.shape[1]), rtol=0, atol=TOLERANCE)
    ):
        yield "the columns of `orthonormal` are not orthonormal"
    if solution.upper_bound is not None and value > solution.upper_bound + slack:
        yield f"the objective {value:.10g} exceeds its bound {solution.upper_bound:.10g}"
