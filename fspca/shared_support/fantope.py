"""Fantope projection and selection: the k rows that a convex relaxation suggests."""

import numpy as np

from fspca.covariance import Covariance, as_covariance
from fspca.covariance.linalg import embedded, fix_signs, largest
from fspca.covariance.validate import checked_nonnegative, checked_truth
from fspca.problem import SharedSupport, Solution
from fspca.proof.checked import CheckedMatrix
from fspca.proof.claims import Certificate, claimed
from fspca.proof.fantope import ACTIVE, relax
from fspca.shared_support.refit import solution_on
from fspca.solver import Listener, Run, solves


def penalty_for(A, m, k, run=None, bisections=12, **options):
    """Return the Relaxation at the largest penalty that leaves at least k rows in use.

    Rows drop out as the penalty grows (now and then one comes back), up to the largest entry off
    the diagonal, where A is as good as diagonal.  Each problem goes on from the last one's state.
    Where no penalty leaves k rows, it is that of the smallest one tried.
    """
    A, run = as_covariance(A), run or Run(latest=True)
    full = A.submatrix(np.arange(A.size))
    low, high = 0.0, float(np.abs(full - np.diag(np.diagonal(full))).max())
    state, met = None, False
    for n in run:
        penalty = (low + high) / 2
        news = {"max_seconds": run.seconds_left, "progress": run.relay}
        tried = relax(A, m, penalty, state=state, **news, **options)
        if (enough := tried.rows >= k) or not met:
            keep_rounded(run, A, m, k, tried)
        else:
            run.report()
        if tried.stopped == "interrupted":
            raise KeyboardInterrupt
        low, high = (penalty, high) if enough else (low, penalty)
        state, met = tried.state, met or enough
        if n == bisections:
            run.stop(run.answer[0].stopped)
    return run.answer[0]


def keep_rounded(run, A, m, k, relaxation):
    """Keep a Relaxation and the loadings that it rounds to."""
    problem = SharedSupport(m, k)
    W, support = rounded(A, relaxation.H, problem)
    value = problem.score(A.plain, W)
    run.record(value, (relaxation, W, support))


@solves(SharedSupport, measured=("penalty",), guarantee="bounded", promises="shift", needs="matrix")
def fantope(A: Covariance, m: int, k: int, *, penalty: float | None = None, refined: bool = False,
            tol: float = 1e-3, max_iter: int = 1000, max_seconds: float | None = None,
            progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Solve a convex relaxation, and keep the k rows with the largest diagonal in its answer.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  In terms of the
    projector WW' the objective is linear; the relaxation lets the projector be any matrix with
    eigenvalues in [0, 1] and trace m, and asks for few entries by a penalty on their sum.

    Parameters
    ----------
    A : array (d x d) or Covariance
        Its d x d matrix is formed.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    penalty : float
        On the sum of moduli of H; None takes the largest one that leaves k rows in use.
    refined : bool
        False truncates the m leading eigenvectors of H to the k rows and orthonormalises them,
        which is how tian2020 starts its rivals; True takes the best loadings on these rows.
    tol, max_iter : float, int
        Of each convex problem, see `fspca.proof.fantope.relax`; ending at max_iter
        warns.
    max_seconds : float
        Round then what the relaxation has found.
    progress : True or callable
        Shows a bar, or is called with a `fspca.solver.Progress` after every step.

    Returns
    -------
    Solution
        Its `upper_bound` is proven by the relaxation's multipliers, and is loose.

    See Also
    --------
    go : No relaxation, one eigenproblem.
    upper_bound : A bound that is tighter.

    Notes
    -----
    The relaxation finds the support with high probability if samples are many and the leading
    subspace is sparse (Vu, Cho, Lei and Rohe 2013); for a given A the rows kept are heuristic.
    tian2020 names it "Convex Relaxation" and leaves open its penalty, step and stopping.
    Cost: one eigenproblem of size d per step, some hundred steps.
    Explained in the chapter "The Fantope: relax, then round".

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Vu, Cho, Lei and Rohe, "Fantope projection and selection: a near-optimal convex relaxation of
    sparse PCA", NeurIPS 2013.

    Examples
    --------
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.5]])
    >>> fantope(A, m=1, k=2, refined=True).support
    array([0, 1])
    """
    checked_truth("refined", refined)
    options = {"tol": tol, "max_iter": max_iter}
    with Run(None, max_seconds, progress, latest=True) as run:
        if penalty is None:
            penalty_for(A, m, k, run, **options)
        else:
            checked_nonnegative("penalty", penalty)
            only = relax(A, m, penalty, max_seconds=max_seconds, progress=run.relay, **options)
            keep_rounded(run, A, m, k, only)
            run.stop(only.stopped)
    relaxation, W, support = run.answer
    problem = SharedSupport(m, k)

    def build():
        facts = {"n_iter": len(relaxation.primal), "stopped": run.stopped}
        if refined:
            found = solution_on(A, problem, support, "fantope", **facts)
        else:
            found = Solution(W, support, run.value, problem, "fantope", (run.value,), **facts)
        full = as_covariance(A.plain.submatrix(np.arange(A.size)))
        checked = CheckedMatrix.of(full, problem)
        if checked.matrix is None:
            return found
        none = np.zeros((A.size, 0))
        proven = checked.prove(checked.rows, checked.required, none, relaxation.Y)
        return claimed(checked, found, Certificate(proven.value, proven.arrays))

    return run.finish(build)


def rounded(A, H, problem):
    """Return the m leading eigenvectors of H cut to k rows and orthonormalised, and the rows.

    Rows not in use, if needed, are taken by their variance.
    """
    weight, variance = np.diagonal(H), A.diagonal()
    support = largest(
        np.where(weight > ACTIVE, 1 + weight, variance / (2 * variance.max() or 1.0)), problem.k
    )
    vectors = fix_signs(np.linalg.eigh(H)[1][:, : -problem.m - 1 : -1])
    return embedded(np.linalg.qr(vectors[support])[0], support, A.size), support
