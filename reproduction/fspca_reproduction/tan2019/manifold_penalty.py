"""tan2019's Manopt: block GPower's cost, minimised among orthonormal columns by descent."""

from functools import partial

from fspca.problem import SeparateSupports
from fspca.separate_supports.conjugate_gradient import minimize_on_stiefel
from fspca.separate_supports.deflation import in_factors
from fspca.separate_supports.patterns import loadings, thresholded, unit_columns_within
from fspca.solver import solves

RESTART = 20  # steps after which Fletcher and Reeves's directions, which can jam, begin anew


def cost(Z, gamma):
    """Return f(X) = -sum max(abs(Z'X) - gamma, 0)^2 / 2 and its gradient, as functions of X.

    The product Z'X is kept for the gradient at the same X.
    """
    last = [None, None]

    def inner(X):
        if last[0] is not X:
            last[:] = X, Z.rmatmat(X)
        return last[1]

    def f(X):
        return -thresholded(inner(X), gamma, "l1")[1] / 2

    def gradient(X):
        return -Z.matmat(thresholded(inner(X), gamma, "l1")[0])

    return f, gradient


def descend_on_manifold(Z, X, gamma, note=None, tol=1e-6, max_iter=200):
    """Return X, Z'X, the steps, and whether the gradient came down to tol or they ran out."""
    f, gradient = cost(Z, gamma)
    size = -f(X) or 1.0  # a unit in which slopes, of the order of f squared, do not overflow
    left = max_iter
    while True:
        minimum = minimize_on_stiefel(
            lambda V: f(V) / size, lambda V: gradient(V) / size, X, max_iter=min(RESTART, left),
            tol=tol,
        )  # fmt: skip
        X, left = minimum.V, left - minimum.n_iter
        T = Z.rmatmat(X)
        if note is not None:
            S = thresholded(T, gamma, "l1")[0]
            note(unit_columns_within(S, S != 0))
        if minimum.converged or minimum.n_iter < RESTART or not left:
            return X, T, max_iter - left, "settled" if minimum.converged else "max_iter"


@solves(SeparateSupports)
def manifold_penalty(A, m, k=None, *, penalty=None, tol=1e-6, max_iter=200):
    """Return the components of a descent of block GPower's cost, at a penalty or a count of each.

    The cost is that of the example program of the toolbox Manopt, by trust regions from a random
    start there; here the start and the search for the counts are those of `gpower`, so that the
    two differ in the way down alone.
    """
    find = partial(loadings, k=k, penalty=penalty, size=m, norm="l1",
                   climb=partial(descend_on_manifold, tol=tol, max_iter=max_iter))  # fmt: skip
    return in_factors(A, m, k, "manifold_penalty", find, None, m, init="variance", n_starts=1,
                      seed=0, max_seconds=None, progress=None)  # fmt: skip
