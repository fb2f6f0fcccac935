"""How good an answer is, against the optimum or against PCA without a limit on features."""

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from fspca.covariance import Matrix, as_covariance
from fspca.covariance.linalg import basis
from fspca.covariance.validate import checked_choice
from fspca.problem import TOLERANCE, Solution, as_loadings, objective

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
