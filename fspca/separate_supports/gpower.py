"""GPower: the generalised power method, in the space of the samples."""

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.validate import checked_choice, checked_truth
from fspca.problem import TOLERANCE, SeparateSupports, Solution
from fspca.separate_supports.deflation import in_factors, projected
from fspca.separate_supports.patterns import (
    POWER,
    loadings,
    polar,
    thresholded,
    unit_columns_within,
)
from fspca.solver import Listener, solves


def explained(G, S):
    """Return the variance on a basis of the loadings S, from G = ZS."""
    lengths, U = np.linalg.eigh(S.T @ S)
    kept = lengths > TOLERANCE**2 * lengths[-1]
    return float(np.sum((G @ U[:, kept]) ** 2 / lengths[kept]))


def climb_penalised(Z, X, gamma, norm="l1", tol=1e-6, max_iter=1000, note=None):
    """Raise the penalised variance of X by gradient steps that are not damped: X <- polar(Z S).

    Returns X, Z'X, the penalised variance before every step, and why it ended.
    """
    values = []
    while True:
        T = Z.rmatmat(X)
        S, value = thresholded(T, gamma, norm)
        values.append(value)
        if len(values) > 2 and value <= values[-2] * (1 + tol):
            return X, T, values, "settled"
        if len(values) > max_iter:
            return X, T, values, "max_iter"
        G = Z.matmat(S)
        if note is not None:
            note(unit_columns_within(S, S != 0), explained(G, S))
        X = polar(G, X)


@solves(SeparateSupports, guarantee="heuristic", promises="labels", needs="factor")
def gpower(A: Covariance, m: int, k: int | None = None, *, penalty: float | None = None,
           norm: str = "l1", block: bool = False, init: str | ArrayLike = "variance",
           n_starts: int = 1, seed: int | None = 0, tol: float = 1e-6, max_iter: int = 1000,
           max_seconds: float | None = None,
           progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find sparse components by maximising a convex function of a vector among the samples.

    With A = Z'Z and columns z_i of Z, the sparsest loadings can be eliminated: over unit x,
    maximise sum_i max(abs(z_i'x) - gamma, 0)^2 (l1), or sum_i max((z_i'x)^2 - gamma, 0) (l0).
    Both are convex, so that the maximiser of their tangent is a better x: a power step with a
    threshold.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m : int
        Components.
    k : int
        Nonzeros per component; the penalty of each is searched by bisection.  Where none gives
        k, a larger pattern is cut to its k largest loadings and refitted.
    penalty : float
        In place of k, in [0, 1): gamma relative to the length of the longest z_i (l1), or to its
        square (l0), from where on nothing would be chosen; after a deflation, of what is left.
    norm : "l1" or "l0"
        Price the moduli of the loadings, or their count.
    block : bool
        False finds one component after another (projection deflation), True all at once over
        X'X = I, with equal weights.
    init : "variance", "pca", "random" or array (d x m)
        X starts from the longest columns of Z, or from the images of the leading eigenvectors of
        what is left, of random directions, or of the columns given.
    n_starts, seed : int
        As in `tpower`.
    tol, max_iter : float, int
        A climb ends where a step raises the penalised variance by less, relatively, or after so
        many steps, which warns.
    max_seconds, progress : float, True or callable
        As everywhere.

    Returns
    -------
    Solution
        Without k its problem's k is the largest count that came out.  `history` holds the score
        after each penalty tried or, where one is given, after each step.

    See Also
    --------
    tpower : Truncates where it thresholds.

    Notes
    -----
    The penalised objective never falls (Journee et al. 2010).  With l1 the loadings are refitted
    on the pattern found, with l0 they are not: at a fixed point they are an eigenvector on it, the
    refit wherever that is the leading one.
    Cost of a step: O(n d m) for data of n samples, no d x d matrix.
    Explained in the chapter "Generalised power and inverse power: threshold a step, or invert it".

    References
    ----------
    Journee, Nesterov, Richtarik and Sepulchre, "Generalized power method for sparse principal
    component analysis", JMLR 11, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.diag([1.0, 5.0, 2.0, 4.0])
    >>> gpower(A, m=2, k=1).support, gpower(A, m=2, penalty=0.5).support
    (array([1, 3]), array([1, 3]))
    """
    checked_choice("norm", norm, tuple(POWER))
    checked_truth("block", block)
    size = m if block else 1

    def climbed(Z, X, gamma, note):
        return climb_penalised(Z, X, gamma, norm, tol, max_iter, note)

    find = partial(loadings, k=k, penalty=penalty, size=size, norm=norm, climb=climbed)
    return in_factors(A, m, k, "gpower", find, projected, size, init=init, n_starts=n_starts,
                      seed=seed, max_seconds=max_seconds, progress=progress)  # fmt: skip
