"""CSSP: the features on which the leading eigenvectors put most weight."""

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.linalg import embedded, largest
from fspca.covariance.validate import checked_truth
from fspca.problem import SharedSupport, Solution, solution_of
from fspca.shared_support.refit import refit
from fspca.solver import solves


def encoder(A, support, m):
    r"""Return H, k x m, for which X_I H is the best rank-m fit of X within the span of X_I.

    With C = X_I = Q R, H = R^{-1} U where U holds the m leading left singular vectors of Q'X.
    In terms of A = X'X alone: R is any root of A[I, I], and Q'X (Q'X)' = R^{-T} N R^{-1} with
    N = A[I, :] A[:, I], so neither X nor its factor is needed.
    """
    w, E = np.linalg.eigh(A.submatrix(support))
    kept = w > len(w) * np.finfo(float).eps * w[-1]
    inverse_root = np.zeros_like(E)
    inverse_root[:, kept] = E[:, kept] / np.sqrt(w[kept])
    cross = A.product(inverse_root, support)  # X' Q, d x k
    return inverse_root @ np.linalg.svd(cross, full_matrices=False)[2][:m].T


@solves(SharedSupport, guarantee="heuristic", promises="labels")
def cssp(A: Covariance, m: int, k: int, *, refined: bool = False) -> Solution:
    r"""Choose the k features with the largest leverage scores, encode with regression loadings.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  Column subset
    selection asks another one: k features from which all features can be predicted best.  Its
    usual score is the leverage, the squared row norm of the m leading eigenvectors of A: Go's
    score with every eigenvalue replaced by 1.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    refined : bool
        False takes an orthonormal basis of the regression encoder; True the best loadings.

    Returns
    -------
    Solution
        Its loadings are the best on the features, unless `refined` says otherwise.

    See Also
    --------
    ipu : Chooses features for explained variance.

    Notes
    -----
    Sparse linear encoders (Magdon-Ismail and Boutsidis 2016) have a reconstruction error within
    a factor of the best, for a selection more careful than this one; for the explained variance
    nothing is promised.  tian2020 does not say which selection or loadings it used: the k
    largest leverage scores give its intersection ratios (Table 2), and no encoder its errors.
    Cost: m leading eigenpairs of A, O(dk^2 + k^3) for the loadings.
    Explained in the chapter "SOAP, SRT, CSSP and truncated power: change one line of IPU".

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Magdon-Ismail and Boutsidis, "Optimal sparse linear encoders and sparse PCA", NeurIPS 2016.

    Examples
    --------
    >>> cssp(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=2)
    cssp: explains 9 (75 % of all, 100 % of PCA's) on 2 of 4 features
      with m=2 components (1 step)
    """
    checked_truth("refined", refined)
    problem = SharedSupport(m, k)
    support = largest(np.sum(A.leading(m)[1] ** 2, axis=1), k)
    if refined:
        W = refit(A, support, m)[0]
    else:
        W = embedded(np.linalg.qr(encoder(A, support, m))[0], support, A.size)
    return solution_of(A.plain, problem, W, "cssp", support=support, n_iter=1)
