"""GPower: the generalised power method, in the space of the samples."""

from functools import partial

from fspca.covariance import as_covariance
from fspca.problem import SeparateSupports
from fspca.separate_supports.deflation import in_factors, projected
from fspca.separate_supports.patterns import (
    POWER,
    loadings_at,
    loadings_with,
    polar,
    thresholded,
)
from fspca.validate import checked_choice, checked_count, checked_share, checked_truth

TOLERANCE = 1e-6  # relative rise of the objective at which a climb ends


def climb(Z, X, gamma, norm="l1", max_iter=1000):
    """Raise the penalised variance of X by gradient steps that are not damped: X <- polar(Z S).

    Returns X, Z'X, the objective before every step, and whether it settled.
    """
    values = []
    for n_iter in range(max_iter + 1):
        T = Z.rmatmat(X)
        S, value = thresholded(T, gamma, norm)
        values.append(value)
        settled = n_iter > 1 and value <= values[-2] * (1 + TOLERANCE)
        if settled or n_iter == max_iter:
            return X, T, values, settled
        X = polar(Z.matmat(S), X)


def gpower(A, m, penalty, *, norm="l1", block=False, max_iter=1000):
    r"""Find sparse components by maximising a convex function of a vector among the samples.

    With A = Z'Z and columns z_i of Z, the sparsest loadings can be eliminated: over unit x,
    maximise sum_i max(abs(z_i'x) - gamma, 0)^2 (l1), or sum_i max((z_i'x)^2 - gamma, 0) (l0).
    Both are convex, so that the maximiser of their tangent is a better x: a power step with a
    threshold.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m : int
        Components.
    penalty : float
        In [0, 1): gamma relative to the length of the longest z_i (l1), or to its square (l0),
        from where on nothing would be chosen.
    norm : "l1" or "l0"
    block : bool
        False finds one component after another (projection deflation), True all at once over
        X'X = I, with equal weights.
    max_iter : int
        Steps of a climb at most.

    Returns
    -------
    Solution
        Its problem's k is the largest count that came out.

    Notes
    -----
    The penalised objective never falls (Journee et al. 2010).  With l1 the loadings are refitted
    on the pattern found, with l0 they are not: at a fixed point they are the refit already.
    Cost of a step: O(n d m) for data of n samples, no d x d matrix.
    Explained in the chapter "Threshold the power step: GPower".

    Examples
    --------
    >>> import numpy as np
    >>> gpower(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, penalty=0.5)
    gpower: explains 9 with m=2 components on 2 of 4 features (4 steps)
    """
    penalty = checked_share("penalty", penalty)
    return _gpower(A, m, None, "gpower", partial(loadings_at, penalty=penalty), norm, block,
                   max_iter)  # fmt: skip


def gpower_with_k(A, m, k, *, norm="l1", block=False, max_iter=1000):
    """Find components of k nonzeros each by GPower, searching the penalty of each by bisection.

    Parameters and result are those of `gpower`.  Where no penalty gives k, a larger pattern is
    truncated to the k largest loadings and refitted, and the solver's name says "truncated".

    Examples
    --------
    >>> import numpy as np
    >>> gpower_with_k(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=1).support
    array([1, 3])
    """
    problem = SeparateSupports(m, k)
    return _gpower(A, m, problem.k, "gpower_with_k", partial(loadings_with, k=problem.k), norm,
                   block, max_iter)  # fmt: skip


def _gpower(A, m, k, solver, find, norm, block, max_iter):
    A = as_covariance(A)
    SeparateSupports(m, k or 1).fit(A.size)
    checked_choice("norm", norm, tuple(POWER))
    checked_truth("block", block)
    checked_count("max_iter", max_iter)
    size = m if block else 1

    def climbed(Z, X, gamma):
        X, T, values, settled = climb(Z, X, gamma, norm, max_iter)
        return X, T, len(values) - 1, settled

    def one_block(Z, squares):
        return find(Z, squares, size=size, norm=norm, climb=climbed)

    return in_factors(A, m, k, solver, one_block, projected, max_iter, size)
