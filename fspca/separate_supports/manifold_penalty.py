"""The cost of block GPower, minimised among orthonormal columns by conjugate gradients."""

from functools import partial

from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.problem import SeparateSupports, Solution
from fspca.separate_supports.conjugate_gradient import minimize_on_stiefel
from fspca.separate_supports.deflation import in_factors
from fspca.separate_supports.patterns import loadings, thresholded, unit_columns_within
from fspca.solver import Listener, solves

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


@solves(SeparateSupports, guarantee="heuristic", promises="labels", needs="factor")
def manifold_penalty(A: Covariance, m: int, k: int | None = None, *, penalty: float | None = None,
                     init: str | ArrayLike = "variance", n_starts: int = 1, seed: int | None = 0,
                     tol: float = 1e-6, max_iter: int = 200, max_seconds: float | None = None,
                     progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find m sparse components at once by a Riemannian descent of block GPower's cost.

    With A = Z'Z the problem is min -1/2 sum max(abs(Z'X) - gamma, 0)^2 over n x m matrices X with
    X'X = I, one gamma for all.  Where GPower takes the polar factor of the gradient, here the
    Stiefel manifold is descended by conjugate gradients; the loadings on the pattern
    abs(Z'X) > gamma are refitted in the same way.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m : int
        Components.
    k : int
        Nonzeros per component; a penalty for each is searched, as in `gpower`.
    penalty : float
        In place of k, in [0, 1): gamma relative to the largest standard deviation.
    init, n_starts, seed : str or array, int
        As in `gpower`.
    tol, max_iter : float, int
        Of the descent, as in `minimize_on_stiefel`; ending by max_iter warns.
    max_seconds, progress : float, True or callable
        As everywhere.

    Returns
    -------
    Solution
        Without k its problem's k is the largest count that came out.

    See Also
    --------
    gpower : The same cost, column by column.
    sadmm : Orthonormal loadings with a sparse copy.

    Notes
    -----
    A stationary point is all that is promised.  The cost is that of the example program which
    tan2019 calls Manopt, which uses trust regions from a random start (for those there is
    pymanopt); the start here is that of `gpower`.  Cost of a step: O(n d m) for each trial of
    its line search, no d x d matrix.
    Explained in the chapter "Generalised power and inverse power: threshold a step, or invert it".

    References
    ----------
    Tan, Hu, Yan, Cao, Gong and Wu, "Learning sparse PCA with stabilized ADMM method on Stiefel
    manifold", IEEE TKDE 33(3), 2021 (online 2019).

    Journee, Nesterov, Richtarik and Sepulchre, "Generalized power method for sparse principal
    component analysis", JMLR 11, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.diag([1.0, 5.0, 2.0, 4.0])
    >>> manifold_penalty(A, 2, 1).support, manifold_penalty(A, 2, penalty=0.5).support
    (array([1, 3]), array([1, 3]))
    """
    find = partial(loadings, k=k, penalty=penalty, size=m, norm="l1",
                   climb=partial(descend_on_manifold, tol=tol, max_iter=max_iter))  # fmt: skip
    return in_factors(A, m, k, "manifold_penalty", find, None, m, init=init, n_starts=n_starts,
                      seed=seed, max_seconds=max_seconds, progress=progress)  # fmt: skip
