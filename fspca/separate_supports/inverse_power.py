"""The inverse power method for the ratio of a norm to the root of the variance."""

import numpy as np

from fspca.covariance import as_covariance
from fspca.factors import leading_on
from fspca.linalg import EPS, largest
from fspca.problem import SeparateSupports
from fspca.separate_supports.deflation import in_factors, schur
from fspca.separate_supports.penalty_search import penalty_search
from fspca.validate import checked_count, checked_share

TOLERANCE = 1e-6  # relative fall of the ratio at which a descent ends


def ratio_descent(Z, f, penalty, max_iter=1000):
    """Lower the ratio ((1 - a) |f|_2 + a |f|_1) / |Zf|_2 with a the penalty, until it settles.

    A step keeps what is beyond a of the ratio times the gradient of |Zf|_2.  Returns f with
    |Zf| = 1, the ratio before every step and at the end, and whether it settled.
    """
    ratios = []
    for n_iter in range(max_iter + 1):
        score = Z.matvec(f)
        length = np.linalg.norm(score)
        f, score = f / length, score / length
        ratios.append((1 - penalty) * np.linalg.norm(f) + penalty * np.abs(f).sum())
        settled = n_iter > 1 and ratios[-1] >= ratios[-2] * (1 - TOLERANCE)
        if settled or n_iter == max_iter:
            return f, ratios, settled
        g = ratios[-1] * Z.rmatvec(score)
        f = np.sign(g) * np.maximum(np.abs(g) - max(penalty, 8 * EPS * np.abs(g).max()), 0)


def inverse_power(A, m, penalty, *, max_iter=1000):
    r"""Find one sparse component after another by lowering a ratio of norms.

    With A = Z'Z the problem is to minimise ((1 - a) norm2(f) + a norm1(f)) / norm2(Zf), which for
    a = 0 is PCA.  In each step norm2(Zf) gives way to its tangent; what remains is solved by
    one soft threshold.  The loadings are refitted on the support found.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m : int
        Components.
    penalty : float
        a, in [0, 1).
    max_iter : int
        Steps per component at most; ending there warns.

    Returns
    -------
    Solution
        Its problem's k is the largest count that came out.

    Notes
    -----
    The ratio never rises (Hein and Buehler 2010), and the support is never empty, because a < 1.
    Deflation is on the scores, Z <- (I - yy') Z with y the component's unit score (Schur).
    Cost of a step: O(n d) for data of n samples, no d x d matrix.
    Explained in the chapter "Invert instead of multiply: GRQI and the inverse power method".

    Examples
    --------
    >>> inverse_power(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, penalty=0.5).support
    array([1, 3])
    """
    penalty = checked_share("penalty", penalty)

    def find(Z, squares):
        f, ratios, settled = ratio_descent(Z, _first(squares), penalty, max_iter)
        return leading_on(Z, np.flatnonzero(f))[:, None], len(ratios) - 1, settled, False

    return _one_by_one(A, m, None, "inverse_power", find, max_iter)


def inverse_power_with_k(A, m, k, *, max_iter=1000):
    """Find components of k nonzeros each, searching the penalty of each by bisection.

    Parameters and result are those of `inverse_power`.  Where no penalty gives k, a larger
    support is truncated to the k largest loadings and refitted, and the solver's name says
    "truncated".

    Examples
    --------
    >>> inverse_power_with_k(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=1).support
    array([1, 3])
    """
    k = SeparateSupports(m, k).k

    def find(Z, squares):
        steps = 0

        def run(penalty, start):
            nonlocal steps
            f = _first(squares) if start is None else start[0]
            f, ratios, settled = ratio_descent(Z, f, penalty, max_iter)
            steps += len(ratios) - 1
            return np.count_nonzero(f), (f, settled)

        f, settled = penalty_search(run, k, 0.0, 1.0)[1]
        x = leading_on(Z, np.flatnonzero(f))
        if truncated := np.count_nonzero(f) > k:
            x = leading_on(Z, largest(np.abs(x), k))
        return x[:, None], steps, settled, truncated

    return _one_by_one(A, m, k, "inverse_power_with_k", find, max_iter)


def _first(squares):
    return (np.arange(len(squares)) == largest(squares, 1)[0]).astype(float)


def _one_by_one(A, m, k, solver, find, max_iter):
    A = as_covariance(A)
    SeparateSupports(m, k or 1).fit(A.size)
    checked_count("max_iter", max_iter)
    return in_factors(A, m, k, solver, find, schur, max_iter)
