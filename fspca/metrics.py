"""How good an answer is, against the optimum or against PCA without a limit on features.

Several components explain more or less by how variance is counted that their scores share.  With
A = Z'Z, and unit columns w_j:

| measure | what it rewards | at most PCA | attained | order matters | who prints it |
|---|---|---|---|---|---|
| `fspca.problem.objective` | copies of one factor | no | yes | no | papers on orthonormal W |
| `explained_by_subspace` | copies on other features | yes | no | no | R's PMA |
| `adjusted_variance` | little correlation | yes | yes | yes | R's elasticnet, abess |
| `predicted_variance` | proxies of all features | yes | no | no | R's LSSPCA, Merola's spca |
| `explained_by_factors` | short lists, own factors | yes | yes | no | R's sparsePCA |

"Attained" is whether a best W exists for every A, m and k.  Chapter: "What should several
components maximise?".
"""

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from fspca.covariance import Matrix, as_covariance
from fspca.covariance.linalg import TIE, basis, most_on_diagonal, root_of
from fspca.covariance.validate import checked_choice
from fspca.problem import TOLERANCE, Solution, as_loadings, covariance_of_scores, objective

HIT = 1e-3  # the relative error up to which tian2020 counts an answer as optimal


def intersection_ratio(support: ArrayLike, optimal: ArrayLike) -> float:
    """Return the share of the optimal features that the support contains.

    It is 1 where all of them are found, however many others there are.

    Parameters
    ----------
    support : array of int
        The features chosen.
    optimal : array of int
        Those of an optimum.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    relative_error : Compares objectives, which several supports may share.

    Examples
    --------
    >>> intersection_ratio([0, 1, 5], [0, 1, 2])
    0.6666666666666666
    """
    return len(np.intersect1d(support, optimal)) / len(optimal)


def relative_error(value: float, optimum: float) -> float:
    """Return (optimum - value) / optimum.

    It is at least 0 for a feasible answer, and 0 where both are.

    Parameters
    ----------
    value, optimum : float
        The objectives of an answer and of the best one.

    Returns
    -------
    float
        Negative where the answer claims more than the optimum.

    See Also
    --------
    hit_frequency : How many errors are small.

    Examples
    --------
    >>> relative_error(9.0, 10.0)
    0.1
    """
    if optimum == value:  # both may be zero
        return 0.0
    if not optimum > 0:
        raise ValueError(f"optimum={optimum} must be positive")
    return (optimum - value) / optimum


def hit_frequency(errors: ArrayLike, tolerance: float = HIT) -> float:
    """Return the share of relative errors up to the tolerance.

    The tolerance is that of tian2020 unless told otherwise.

    Parameters
    ----------
    errors : array of float
        One of each instance.
    tolerance : float
        Up to which an answer counts as optimal.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    relative_error : Of one answer.

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Examples
    --------
    >>> hit_frequency([0.0, 0.0005, 0.2, 0.3])
    0.5
    """
    return float(np.mean(np.asarray(errors) <= tolerance))


def normalised_explained_variance(A: Matrix, W: ArrayLike | Solution) -> float:
    """Return trace(Q'AQ) over the sum of the m largest eigenvalues of A, Q a basis of W.

    1 means as good as PCA, which needs all features (and that of nothing all is explained).
    The basis is orthonormal, so that components which overlap do not count the same variance
    twice.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    W : Solution or array (d x m)
        The loadings.

    Returns
    -------
    float
        Between 0 and 1, up to rounding.

    See Also
    --------
    fspca.check_solution : Recomputes what a Solution claims.

    Examples
    --------
    >>> normalised_explained_variance(np.diag([4.0, 2.0, 1.0]), np.eye(3)[:, [1]])
    0.5
    """
    A, W = as_covariance(A).plain, as_loadings(W)
    values, _ = A.leading(np.shape(W)[1])
    most = float(values.sum())
    return objective(A, basis(W, TOLERANCE)) / most if most > 0 else 1.0


def explained_by_factors(A: Matrix, W: ArrayLike | Solution) -> float:
    """Return what m uncorrelated factors explain, each of its own list of features.

    With A = Z'Z it is the largest sum of (u_j'Zw_j)^2 over orthonormal u_1, ..., u_m, the optimal
    projected variance of Chavent and Chavent.  Exact for one and two components; for more the
    best of several climbs, which can only be too low.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    W : Solution or array (d x m)
        The loadings, unit columns.

    Returns
    -------
    float
        At most `explained_by_subspace`; equal to trace(W'AW) where the scores are uncorrelated.

    See Also
    --------
    adjusted_variance : At most as much, and dependent on the order.
    fspca.solve_separate : Maximises it.

    References
    ----------
    Chavent and Chavent, "Optimal projected variance group-sparse block PCA", arXiv 1705.00461.

    Examples
    --------
    Two scores of variance 1 that correlate 0.6 explain 1 + sqrt(1 - 0.6^2).

    >>> round(explained_by_factors(np.array([[1.0, 0.6], [0.6, 1.0]]), np.eye(2)), 9)
    1.8
    """
    return most_on_diagonal(covariance_of_scores(as_covariance(A).plain, as_loadings(W)))


def explained_by_subspace(A: Matrix, W: ArrayLike | Solution) -> float:
    """Return trace(Q'AQ), the variance within the span of W; Q is an orthonormal basis of W.

    It takes the lists for one: any other columns of the same span explain as much.  Shen and Huang
    proposed it: with A = X'X it is the sum of squares of X projected on the span.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    W : Solution or array (d x m)
        The loadings.

    Returns
    -------
    float
        At most what PCA explains.

    See Also
    --------
    normalised_explained_variance : The same over PCA's.

    References
    ----------
    Shen and Huang, "Sparse principal component analysis via regularized low rank matrix
    approximation", Journal of Multivariate Analysis, 2008.

    Examples
    --------
    >>> float(explained_by_subspace(np.array([[1.0, 0.6], [0.6, 1.0]]), np.eye(2)))
    2.0
    """
    return objective(A, basis(as_loadings(W), TOLERANCE))


def adjusted_variance(A: Matrix, W: ArrayLike | Solution) -> float:
    """Return the variance of the scores, of each only what does not follow from those before.

    It is the adjusted variance of Zou, Hastie and Tibshirani: the sum of R_jj^2 of the triangle
    in ZW = QR, where A = Z'Z.  It depends on the order of the columns.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    W : Solution or array (d x m)
        The loadings, unit columns.

    Returns
    -------
    float
        At most `explained_by_factors`, in any order.

    See Also
    --------
    explained_by_factors : The best of all uncorrelated factors, in no order.

    References
    ----------
    Zou, Hastie and Tibshirani, "Sparse principal component analysis", Journal of Computational
    and Graphical Statistics, 2006.

    Examples
    --------
    Of two scores that correlate 0.6 the second adds 1 - 0.6^2.

    >>> round(adjusted_variance(np.array([[1.0, 0.6], [0.6, 1.0]]), np.eye(2)), 9)
    1.64
    """
    root = root_of(covariance_of_scores(as_covariance(A).plain, as_loadings(W)))
    return float(np.sum(np.diagonal(np.linalg.qr(root)[1]) ** 2))


def predicted_variance(A: Matrix, W: ArrayLike | Solution) -> float:
    """Return the variance of all features that a regression on the scores predicts.

    It is trace(A W (W'AW)^+ W'A), the measure of Merola's least squares sparse PCA.  Few features
    predict many that go along with them, so that it is near PCA's even where the lists are poor.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    W : Solution or array (d x m)
        The loadings.

    Returns
    -------
    float
        At most what PCA explains, and at least `explained_by_subspace`.

    See Also
    --------
    explained_by_factors : Only what each list itself has.

    References
    ----------
    Merola, "Least squares sparse principal component analysis: a backward elimination approach
    to attain large loadings", Australian and New Zealand Journal of Statistics, 2015.

    Examples
    --------
    One of two features that correlate 0.6 predicts 0.6^2 of the other.

    >>> round(predicted_variance(np.array([[1.0, 0.6], [0.6, 1.0]]), np.eye(2)[:, :1]), 9)
    1.36
    """
    A, W = as_covariance(A).plain, np.asarray(as_loadings(W), dtype=float)
    values, V = np.linalg.eigh(covariance_of_scores(A, W))
    kept = values > TIE * values[-1]  # a score of less is rounding
    along = A.product(W) @ (V[:, kept] / np.sqrt(values[kept]))
    return float(np.sum(along**2))


def subspace_distance(U: ArrayLike, V: ArrayLike, norm: str = "frobenius") -> float:
    """Return the norm of sin(Theta) between the spans of U and V.

    Columns of U or V that depend on others, up to rounding, add nothing to its span; where one
    span has more dimensions, the largest sine is 1, and each dimension more adds 1/2 to the sum.

    Parameters
    ----------
    U, V : array (d x m)
        Bases of two subspaces.
    norm : "frobenius" or "spectral"
        The root of the sum of squares, ||UU' - VV'||_F / sqrt(2) for orthonormal U and V; or the
        largest sine, ||UU' - VV'||_2.

    Returns
    -------
    float
        0 for the same span.

    See Also
    --------
    intersection_ratio : Compares supports.

    Examples
    --------
    >>> subspace_distance(np.eye(3)[:, :2], np.eye(3)[:, 1:], norm="spectral")
    1.0
    """
    checked_choice("norm", norm, ("frobenius", "spectral"))
    if np.shape(U) != np.shape(V):
        raise ValueError(f"U has shape {np.shape(U)}, V {np.shape(V)}; they must be the same")
    U, V = basis(U, TOLERANCE), basis(V, TOLERANCE)
    sines = np.sin(scipy.linalg.subspace_angles(U, V)) if U.size and V.size else np.zeros(1)
    more = abs(U.shape[1] - V.shape[1])
    if norm == "spectral":
        return 1.0 if more else float(sines.max())
    return float(np.sqrt(sines @ sines + more / 2))
