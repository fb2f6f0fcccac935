"""One component after another, each found in what the earlier ones have left."""

import warnings

import numpy as np
from scipy.sparse.linalg import aslinearoperator

from fspca.factors import factor_of
from fspca.linalg import EPS
from fspca.problem import ConvergenceWarning, SeparateSupports, Solution


def without(Z, squares, u, v):
    """Return Z - uv', never formed, and the squares of its columns' lengths."""
    squares = squares - 2 * v * Z.rmatvec(u) + v**2 * (u @ u)
    rest = Z - aslinearoperator(u[:, None]) @ aslinearoperator(v[None, :])
    return rest, np.maximum(squares, 0)


def projected(Z, squares, x):
    """Projection deflation, A <- (I - xx') A (I - xx'), as Z <- Z (I - xx')."""
    return without(Z, squares, Z.matvec(x), x)


def schur(Z, squares, x):
    """Schur deflation, A <- A - Ax x'A / x'Ax, as Z <- (I - yy') Z for the unit score y = Zx."""
    y = Z.matvec(x)
    y /= np.linalg.norm(y) or 1.0
    return without(Z, squares, y, Z.rmatvec(y))


def in_projections(A, m, k, solver, find, max_iter):
    """Return the Solution whose components are found in A, projected off each before.

    `find(A)` returns a unit vector, its steps, and whether it converged.
    """
    W, rest, steps, converged = np.zeros((A.size, m)), A, 0, True
    for j in range(m):
        if rest.trace <= A.size * EPS * A.trace:  # nothing is left to explain
            W[0, j] = 1
            continue
        W[:, j], n_iter, ended = find(rest)
        rest = rest.deflated(W[:, j])
        steps, converged = steps + n_iter, converged and ended
    return _solution(A, W, k, solver, steps, converged, max_iter, caller=4)


def in_factors(A, m, k, solver, find, deflate, max_iter, size=1):
    """Return the Solution whose components are found, `size` at a time, in a factor of A.

    `find(Z, squares)` returns loadings (d x size), its steps, whether it converged, and whether
    the loadings were truncated to k nonzeros; with k None the count is what it is.
    """
    Z, squares = factor_of(A, size), A.diagonal()
    W, steps, converged, cut = np.zeros((A.size, m)), 0, True, False
    for j in range(0, m, size):
        if squares.max() <= A.size * EPS * A.trace:  # nothing is left to explain
            W[0, j : j + size] = 1
            continue
        W[:, j : j + size], n_iter, ended, truncated = find(Z, squares)
        steps, converged, cut = steps + n_iter, converged and ended, cut or truncated
        if j + size < m:
            Z, squares = deflate(Z, squares, W[:, j])
    name = f"{solver}, truncated" if cut else solver
    return _solution(A, W, k, name, steps, converged, max_iter, caller=5, size=size)


def _solution(A, W, k, solver, steps, converged, max_iter, caller, size=1):
    if not converged:
        message = f"{solver} stopped at max_iter={max_iter} before it settled"
        warnings.warn(message, ConvergenceWarning, stacklevel=caller)
    m = W.shape[1]
    problem = SeparateSupports(m, k or int(np.count_nonzero(W, axis=0).max()))
    history = tuple(problem.score(A.plain, W[:, :j]) for j in range(size, m + 1, size))
    support = np.flatnonzero(W.any(axis=1))
    stopped = "settled" if converged else "max_iter"
    return Solution(W, support, history[-1], problem, solver, history, steps, stopped)
