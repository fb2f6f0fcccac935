"""The cost of block GPower, minimised among orthonormal columns by conjugate gradients."""

from functools import partial

from fspca.covariance import as_covariance
from fspca.problem import SeparateSupports
from fspca.separate_supports.deflation import in_factors
from fspca.separate_supports.patterns import loadings_at, loadings_with, thresholded
from fspca.separate_supports.stiefel import minimize_on_stiefel
from fspca.validate import checked_count, checked_share

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


def descend(Z, X, gamma, max_iter=200, tol=1e-6):
    """Return X, Z'X, the steps, and whether the gradient on the manifold came down to tol."""
    f, gradient = cost(Z, gamma)
    size = -f(X) or 1.0  # a unit in which slopes, of the order of f squared, do not overflow
    steps, left = 0, max_iter
    while left:
        minimum = minimize_on_stiefel(
            lambda V: f(V) / size, lambda V: gradient(V) / size, X, max_iter=min(RESTART, left),
            tol=tol,
        )  # fmt: skip
        X, steps = minimum.V, steps + minimum.n_iter
        left = 0 if minimum.converged or minimum.n_iter < RESTART else max_iter - steps
    return X, Z.rmatmat(X), steps, minimum.converged


def manifold_penalty(A, m, penalty, *, max_iter=200, tol=1e-6):
    r"""Find m sparse components at once by a Riemannian descent of block GPower's cost.

    With A = Z'Z the problem is min -1/2 sum max(abs(Z'X) - gamma, 0)^2 over n x m matrices X with
    X'X = I, one gamma for all.  Where GPower takes the polar factor of the gradient, here the
    Stiefel manifold is descended by conjugate gradients; the loadings on the pattern
    abs(Z'X) > gamma are refitted in the same way.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m : int
        Components.
    penalty : float
        In [0, 1): gamma relative to the largest standard deviation.
    max_iter, tol : int, float
        Of the descent, as in `minimize_on_stiefel`; ending by max_iter warns.

    Returns
    -------
    Solution
        Its problem's k is the largest count that came out.

    Notes
    -----
    A stationary point is all that is promised.  The cost is that of the example program which
    tan2019 calls Manopt, which uses trust regions from a random start (for those there is
    pymanopt); the start here is that of `gpower`.  Cost of a step: O(n d m) for each trial of
    its line search, no d x d matrix.
    Explained in the chapter "Threshold the power step: GPower".

    Examples
    --------
    >>> import numpy as np
    >>> manifold_penalty(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, penalty=0.5).support
    array([1, 3])
    """
    penalty = checked_share("penalty", penalty)
    find = partial(loadings_at, penalty=penalty)
    return _at_once(A, m, None, "manifold_penalty", find, max_iter, tol)


def manifold_penalty_with_k(A, m, k, *, max_iter=200, tol=1e-6):
    """Find m components of k nonzeros each at once, searching one penalty for each.

    Parameters and result are those of `manifold_penalty`.  Where no penalties give k, larger
    patterns are truncated to the k largest loadings and refitted, and the solver's name says
    "truncated".

    Examples
    --------
    >>> import numpy as np
    >>> manifold_penalty_with_k(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=1).support
    array([1, 3])
    """
    k = SeparateSupports(m, k).k
    find = partial(loadings_with, k=k)
    return _at_once(A, m, k, "manifold_penalty_with_k", find, max_iter, tol)


def _at_once(A, m, k, solver, find, max_iter, tol):
    A = as_covariance(A)
    SeparateSupports(m, k or 1).fit(A.size)
    checked_count("max_iter", max_iter)
    find = partial(find, size=m, norm="l1", climb=partial(descend, max_iter=max_iter, tol=tol))
    return in_factors(A, m, k, solver, find, None, max_iter, size=m)
