"""IPU: apply Go's rule to a proxy of rank m, rebuilt around each answer."""

import warnings

import numpy as np

from fspca.covariance import as_covariance
from fspca.linalg import largest, random_subspace
from fspca.problem import SharedSupport, Solution
from fspca.shared_support.go import go
from fspca.shared_support.refit import refit
from fspca.validate import checked_choice, checked_integer, checked_real


class ConvergenceWarning(UserWarning):
    """A loop ended before its stopping rule was met."""


def proxy_diagonal(A, V, rows=None):
    """Return diag(P) of the proxy P = AW (W'AW)^+ W'A, where W is V on the rows, else 0.

    P itself is never formed: with M = W'AW = U diag(w) U', diag(P) is the squared row norms
    of AW U w^{-1/2}, at the cost of one product with A.
    """
    AW = A.product(V, rows)
    w, U = np.linalg.eigh(V.T @ (AW if rows is None else AW[rows]))
    kept = w > len(w) * np.finfo(float).eps * w[-1]
    return (AW @ U[:, kept]) ** 2 @ (1 / w[kept])


def ipu(A, m, k, init="go", n_starts=1, seed=None, max_iter=100):
    r"""Ascend from a start: choose the k largest variances of a proxy, refit on A, repeat.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  Around an answer
    W the proxy P = AW (W'AW)^+ W'A has rank at most m, lies below A and explains as much as A
    along W; Go solves it exactly, and the answer can only improve.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m, k : int
        Components and features, 1 <= m <= k <= d.
    init : "go", "variance", "random" or array (d x m)
        Start from Go, from the k largest variances (no eigenproblem of size d), from a random
        subspace, or from the columns given.
    n_starts : int
        Ascents in all; those after the first start from random subspaces. The best is kept.
    seed : int
        Of the random starts.
    max_iter : int
        Steps of one ascent at most; ending there warns.

    Returns
    -------
    Solution
        Stops when the support repeats or the objective does not rise.

    Notes
    -----
    The objective never falls, and rises strictly until the end if A is positive definite
    (tian2020, Theorem 5.5), which a ridge ensures.  From Go it is at least as good as Go.
    Cost of a step: O(dkm + k^3) for a dense A.
    Explained in the chapter "Climb by solving a proxy exactly".

    Examples
    --------
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.5]])
    >>> ipu(A, m=1, k=2)
    ipu: explains 3 with m=1 components on 2 of 3 features (1 step)
    """
    A, problem = as_covariance(A), SharedSupport(m, k)
    problem.fit(A.size)
    start = init
    if isinstance(init, str):
        checked_choice("init", init, ("go", "variance", "random"))
    else:
        start = np.asarray(checked_real("init", init), dtype=float)
        if start.shape != (A.size, problem.m):
            raise ValueError(f"init has shape {start.shape}; it must be {(A.size, problem.m)}")
    for name, value in (("n_starts", n_starts), ("max_iter", max_iter)):
        if checked_integer(name, value) < 1:
            raise ValueError(f"{name}={value} must be at least 1")
    rng = np.random.default_rng(seed)
    solutions = [_ascend(A, problem, start, rng, max_iter)]
    solutions += [_ascend(A, problem, "random", rng, max_iter) for _ in range(n_starts - 1)]
    return max(solutions, key=lambda solution: solution.objective)


def _ascend(A, problem, start, rng, max_iter):
    W, support, history, converged = start, None, [], False
    if isinstance(start, str):
        if start == "random":
            W = random_subspace(A.size, problem.m, rng)
        elif start == "go":
            support = go(A, problem.m, problem.k).support
        else:
            support = largest(A.diagonal(), problem.k)
    if support is not None:
        W, value = refit(A, support, problem.m)
        history.append(value)
    for n_iter in range(1, max_iter + 1):  # noqa: B007 (its last value is kept)
        known = W if support is None else W[support]
        chosen = largest(proxy_diagonal(A, known, support), problem.k)
        if converged := support is not None and np.array_equal(chosen, support):
            break
        refitted, value = refit(A, chosen, problem.m)
        if converged := bool(history) and value <= history[-1]:
            break
        W, support = refitted, chosen
        history.append(value)
    if not converged:
        warnings.warn(
            f"ipu stopped at max_iter={max_iter} before its support repeated",
            ConvergenceWarning,
            stacklevel=3,
        )
    objective = problem.score(A.plain, W)
    return Solution(W, support, objective, problem, "ipu", tuple(history), n_iter, converged)
