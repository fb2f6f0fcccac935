"""Fantope projection and selection: the k rows that a convex relaxation suggests."""

import warnings

import numpy as np

from fspca.covariance import as_covariance
from fspca.linalg import fix_signs, largest
from fspca.problem import ConvergenceWarning, SharedSupport, Solution
from fspca.shared_support.refit import refit
from fspca.shared_support.relaxation import ACTIVE, relax


def penalty_for(A, m, k, tol=1e-3, max_iter=1000, bisections=12):
    """Search for the largest penalty that leaves at least k rows in use.

    Rows drop out as the penalty grows (now and then one comes back), up to the largest entry off
    the diagonal, where A is as good as diagonal.  Each problem goes on from the last one's state.
    Returns the Relaxation found (where no penalty leaves k rows, that of the smallest one tried)
    and the smallest dual_value + penalty k sqrt(m) seen.
    """
    A = as_covariance(A)
    full = A.submatrix(np.arange(A.size))
    low, high = 0.0, float(np.abs(full - np.diag(np.diagonal(full))).max())
    found, bound, state = None, np.inf, None
    for _ in range(bisections):
        tried = relax(A, m, (low + high) / 2, tol, max_iter, state)
        state = tried.state
        bound = min(bound, tried.dual_value + tried.penalty * k * np.sqrt(m))
        if tried.rows >= k:
            found, low = tried, tried.penalty
        else:
            high = tried.penalty
    return found or tried, bound


def fantope(A, m, k, penalty=None, refined=False, tol=1e-3, max_iter=1000):
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
        Of each convex problem, see `relax`; ending at max_iter warns.

    Returns
    -------
    Solution
        Its `upper_bound` holds for every positive semidefinite A, but is loose.

    Notes
    -----
    The relaxation finds the support with high probability if samples are many and the leading
    subspace is sparse (Vu, Cho, Lei and Rohe 2013); for a given A the rows kept are heuristic.
    tian2020 names it "Convex Relaxation" and leaves open its penalty, step and stopping.
    Cost: one eigenproblem of size d per step, some hundred steps.
    Explained in the chapter "Relax to the Fantope, then round".

    Examples
    --------
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.5]])
    >>> fantope(A, m=1, k=2, refined=True).support
    array([0, 1])
    """
    A, problem = as_covariance(A), SharedSupport(m, k)
    problem.fit(A.size)
    if penalty is None:
        relaxation, bound = penalty_for(A, m, k, tol, max_iter)
    else:
        relaxation = relax(A, m, penalty, tol, max_iter)
        bound = relaxation.dual_value + penalty * k * np.sqrt(m)
    if not relaxation.converged:
        warnings.warn(
            f"fantope stopped at max_iter={max_iter} before its residuals met tol={tol}",
            ConvergenceWarning,
            stacklevel=2,
        )
    W, support = truncated(A, relaxation.H, problem)
    if refined:
        W = refit(A, support, m)[0]
    value = problem.score(A.plain, W)
    n_iter = len(relaxation.primal)
    return Solution(
        W, support, value, problem, "fantope", (value,), n_iter, relaxation.converged,
        upper_bound=bound - m * A.ridge,
    )  # fmt: skip


def truncated(A, H, problem):
    """Return the m leading eigenvectors of H cut to k rows and orthonormalised, and the rows.

    Rows not in use, if needed, are taken by their variance.
    """
    weight, variance = np.diagonal(H), A.diagonal()
    support = largest(
        np.where(weight > ACTIVE, 1 + weight, variance / (2 * variance.max() or 1.0)), problem.k
    )
    vectors = fix_signs(np.linalg.eigh(H)[1][:, : -problem.m - 1 : -1])
    W = np.zeros_like(vectors)
    W[support] = np.linalg.qr(vectors[support])[0]
    return W, support
