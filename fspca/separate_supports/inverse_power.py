"""The inverse power method for the ratio of a norm to the root of the variance."""

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.factors import leading_on
from fspca.covariance.linalg import EPS, largest
from fspca.covariance.validate import checked_share
from fspca.problem import SeparateSupports, Solution
from fspca.separate_supports.deflation import in_factors, schur
from fspca.separate_supports.penalty_search import penalty_search
from fspca.solver import Listener, solves


def ratio_descent(Z, f, penalty, tol=1e-6, max_iter=1000, note=None):
    """Lower the ratio ((1 - a) |f|_2 + a |f|_1) / |Zf|_2 with a the penalty, until it settles.

    A step keeps what is beyond a of the ratio times the gradient of |Zf|_2.  Returns f with
    |Zf| = 1, the ratio before every step and at the end, and why it ended.
    """
    ratios = []
    while True:
        score = Z.matvec(f)
        length = np.linalg.norm(score)
        f, score = f / length, score / length
        ratios.append((1 - penalty) * np.linalg.norm(f) + penalty * np.abs(f).sum())
        if len(ratios) > 2 and ratios[-1] >= ratios[-2] * (1 - tol):
            return f, ratios, "settled"
        if len(ratios) > max_iter:
            return f, ratios, "max_iter"
        g = ratios[-1] * Z.rmatvec(score)
        f = np.sign(g) * np.maximum(np.abs(g) - max(penalty, 8 * EPS * np.abs(g).max()), 0)
        if note is not None:
            note((f / np.linalg.norm(f))[:, None])


@solves(SeparateSupports, guarantee="heuristic", promises="labels", needs="factor")
def inverse_power(A: Covariance, m: int, k: int | None = None, *, penalty: float | None = None,
                  init: str | ArrayLike = "variance", n_starts: int = 1, seed: int | None = 0,
                  tol: float = 1e-6, max_iter: int = 1000, max_seconds: float | None = None,
                  progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find one sparse component after another by lowering a ratio of norms.

    With A = Z'Z the problem is to minimise ((1 - a) norm2(f) + a norm1(f)) / norm2(Zf), which for
    a = 0 is PCA.  In each step norm2(Zf) gives way to its tangent; what remains is solved by
    one soft threshold.  The loadings are refitted on the support found.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m : int
        Components.
    k : int
        Nonzeros per component; a is searched for each by bisection.  Where none gives k, a larger
        support is cut to its k largest loadings and refitted.
    penalty : float
        In place of k: the factor a, in [0, 1).
    init, n_starts, seed : str or array, int
        As in `tpower`.
    tol : float
        A descent ends where a step lowers the ratio by less, relatively.
    max_iter : int
        Steps of a descent at most; ending there warns.
    max_seconds, progress : float, True or callable
        As everywhere.

    Returns
    -------
    Solution
        Without k its problem's k is the largest count that came out.  `history` holds the score
        after each penalty tried or, where one is given, after each step.

    See Also
    --------
    grqi : The other method that inverts.
    gpower : Multiplies where it inverts.

    Notes
    -----
    The ratio never rises (Hein and Buehler 2010), and the support is never empty, because a < 1.
    Deflation is on the scores, Z <- (I - yy') Z with y the component's unit score (Schur).
    Cost of a step: O(n d) for data of n samples, no d x d matrix.
    Explained in the chapter "Generalised power and inverse power: threshold a step, or invert it".

    References
    ----------
    Hein and Buehler, "An inverse power method for nonlinear eigenproblems with applications in
    1-spectral clustering and sparse PCA", NeurIPS 2010.

    Examples
    --------
    >>> A = np.diag([1.0, 5.0, 2.0, 4.0])
    >>> inverse_power(A, m=2, k=1).support, inverse_power(A, m=2, penalty=0.5).support
    (array([1, 3]), array([1, 3]))
    """

    def find(Z, squares, Y, note):
        start = np.zeros(Z.shape[1]) if Y is None else Y[:, 0]
        if not Z.matvec(start).any():
            start[largest(squares, 1)] = 1.0
        if k is None:
            a = checked_share("penalty", penalty)
            f, _, ended = ratio_descent(Z, start, a, tol, max_iter, note)
            return leading_on(Z, np.flatnonzero(f))[:, None], ended

        def run(a, last):
            f, _, ended = ratio_descent(Z, last[0] if last else start, a, tol, max_iter)
            x, count = leading_on(Z, np.flatnonzero(f)), np.count_nonzero(f)
            if count > k:
                x = leading_on(Z, largest(np.abs(x), k))
            note(x[:, None])
            return count, (f, x[:, None], ended)

        _, x, ended = penalty_search(run, k, 0.0, 1.0)[1]
        return x, ended

    return in_factors(A, m, k, "inverse_power", find, schur, init=init, n_starts=n_starts,
                      seed=seed, max_seconds=max_seconds, progress=progress)  # fmt: skip
