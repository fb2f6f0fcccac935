"""One loop for IPU, SOAP and SRT: they differ in how the rows of AW are scaled before the choice.

| method | the rows that are scored     | the loadings                           |
|--------|------------------------------|----------------------------------------|
| IPU    | AW (W'AW)^(-1/2)             | the best on the support chosen         |
| SOAP   | an orthonormal basis of AW   | the chosen rows, orthonormalised again |
| SRT    | AW                           | the chosen rows, orthonormalised       |
"""

import warnings

import numpy as np

from fspca.covariance import as_covariance
from fspca.linalg import TIE, largest, random_subspace
from fspca.problem import ConvergenceWarning, SharedSupport, Solution
from fspca.shared_support.fantope import fantope
from fspca.shared_support.go import go
from fspca.shared_support.refit import refit
from fspca.validate import checked_choice, checked_count, checked_real

SAME = 1e-8  # the sines between two subspaces that are called the same


def applied(A, W, support):
    """Return AW and M = W'AW for a W with its rows in the support (None: in all rows)."""
    V = W if support is None else W[support]
    AW = A.product(V, support)
    return AW, V.T @ (AW if support is None else AW[support])


def steps(A, problem, start, scale, refined):
    """Yield W, its support and its objective after each step, until nothing changes.

    `start` is a pair: W, and its support or None.  `scale(AW, M)` with M = W'AW returns the d x m
    array whose rows are scored.  A step costs one product with A.
    """
    W, support = start
    AW, M = applied(A, W, support)
    while True:
        Z = scale(AW, M)
        chosen = largest(np.einsum("ij,ij->i", Z, Z), problem.k)
        repeated = support is not None and np.array_equal(chosen, support)
        if refined:
            if repeated:  # and so would be the loadings
                return
            W, _ = refit(A, chosen, problem.m)
        else:
            V, before = np.linalg.qr(Z[chosen])[0], W
            if repeated and np.linalg.norm(before[chosen] - V @ (V.T @ before[chosen])) <= SAME:
                return
            W = np.zeros((A.size, problem.m))
            W[chosen] = V
        support = chosen
        AW, M = applied(A, W, support)
        yield W, support, float(np.trace(M)) - problem.m * A.ridge


def starting_point(A, problem, init, rng):
    """Return a start as W and its support (None for a W that is not row sparse)."""
    if not isinstance(init, str):
        return init, None
    if init == "random":
        return random_subspace(A.size, problem.m, rng), None
    if init == "variance":
        support = largest(A.diagonal(), problem.k)
        return refit(A, support, problem.m)[0], support
    solution = {"go": go, "fantope": fantope}[init](A, problem.m, problem.k)
    return solution.W, solution.support


def iterate(A, m, k, scale, solver, init, n_starts, seed, max_iter, refined, keep="last"):
    """Check the arguments, run the steps from every start, and return the best Solution."""
    A, problem, init = checked(A, m, k, init, n_starts, max_iter, keep)
    rng = np.random.default_rng(seed)
    solutions = []
    for each in [init] + ["random"] * (n_starts - 1):
        start = starting_point(A, problem, each, rng)
        solutions.append(_run(A, problem, start, scale, solver, max_iter, refined, keep))
    return max(solutions, key=lambda solution: solution.objective)


def checked(A, m, k, init, n_starts=1, max_iter=1, keep="last"):
    """Return the covariance, the problem and the start, or say what is wrong with an argument."""
    A, problem = as_covariance(A), SharedSupport(m, k)
    problem.fit(A.size)
    if isinstance(init, str):
        checked_choice("init", init, ("go", "fantope", "variance", "random"))
    else:
        init = np.asarray(checked_real("init", init), dtype=float)
        if init.shape != (A.size, problem.m):
            raise ValueError(f"init has shape {init.shape}; it must be {(A.size, problem.m)}")
    checked_choice("keep", keep, ("last", "best"))
    checked_count("n_starts", n_starts)
    checked_count("max_iter", max_iter)
    return A, problem, init


def stuck(history, value, refined):
    """Say whether a refined step did not rise: then the start was a fixed point of A's own."""
    return refined and bool(history) and value <= history[-1] * (1 + TIE)


def _run(A, problem, start, scale, solver, max_iter, refined, keep):
    history = [] if start[1] is None else [problem.score(A.plain, start[0])]
    kept, walk = start, steps(A, problem, start, scale, refined)
    for n_iter in range(1, max_iter + 1):  # noqa: B007 (its last value is kept)
        W, support, value = next(walk, (None, None, -np.inf))
        if converged := W is None or stuck(history, value, refined):
            break
        if keep == "last" or value > max(history, default=-np.inf):
            kept = W, support
        history.append(value)
    if not converged:
        warnings.warn(
            f"{solver} stopped at max_iter={max_iter} before its support repeated",
            ConvergenceWarning,
            stacklevel=4,
        )
    W, support = kept
    objective = problem.score(A.plain, W)
    return Solution(W, support, objective, problem, solver, tuple(history), n_iter, converged)
