"""The few pieces of linear algebra that every solver shares."""

from itertools import combinations, permutations

import numpy as np
import scipy.linalg

TIE = 1e-12  # relative; numbers closer than this are equal up to rounding
ALIKE = 1e-10  # relative; scores of features, sums over many samples, are known no better
EPS = np.finfo(float).eps
ACCURACY = 1e-12  # of residuals, relative to the largest eigenvalue
ALL_ORDERS, SOME = 4, 8  # columns up to which every order is tried; how many of more are
TURNS = 100  # sweeps at most; ten are many


def largest(score, k):
    """Return the indices, ascending, of the k largest entries of a score.

    Ties, up to rounding, go to the smallest index, so that no answer depends on last digits.

    Parameters
    ----------
    score : array of d
        A number for each feature.
    k : int
        How many, 1 <= k <= d.

    Returns
    -------
    array of int
        Ascending.

    See Also
    --------
    fspca.go : Chooses features so.

    Examples
    --------
    >>> largest([3.0, 1.0, 3.0, 3.0 + 1e-15], 2)
    array([0, 2])
    """
    score = np.asarray(score, dtype=float)
    last = np.partition(score, -k)[-k]
    slack = max(ALIKE * abs(last), 8 * EPS * np.abs(score).max())  # the second where last is noise
    chosen = score > last + slack
    tied = np.flatnonzero(~chosen & (score >= last - slack))
    chosen[tied[: k - chosen.sum()]] = True
    return np.flatnonzero(chosen)


def fix_signs(V):
    """Flip columns so that the entry of largest modulus in each is positive.

    >>> fix_signs(np.array([[0.6, 0.8], [-0.8, 0.6]]))
    array([[-0.6,  0.8],
           [ 0.8,  0.6]])
    """
    peaks = V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])]
    return V * np.where(peaks < 0, -1.0, 1.0)


def leading_of_matrix(A, m):
    """Return the m largest eigenvalues, descending, and their eigenvectors of a dense A.

    All are computed: asked for a subset, LAPACK may return fewer where eigenvalues coincide.
    """
    values, vectors = np.linalg.eigh(A)
    return values[: -m - 1 : -1], fix_signs(vectors[:, : -m - 1 : -1])


def embedded(V, rows, d):
    """Return an array of d rows: those of V where told, zeros elsewhere.

    >>> embedded(np.array([3.0, 4.0]), [2, 0], 4)
    array([4., 0., 3., 0.])
    """
    W = np.zeros((d, *np.shape(V)[1:]))
    W[rows] = V
    return W


def random_subspace(d, m, rng):
    """Draw an orthonormal d x m basis of a uniformly random m-dimensional subspace.

    It is the Q of normal numbers.

    Parameters
    ----------
    d, m : int
        Dimensions of the space and of the subspace.
    rng : numpy.random.Generator
        Draws the numbers.

    Returns
    -------
    array (d x m)
        Orthonormal columns.

    See Also
    --------
    fspca.metrics.subspace_distance : Compares two.

    Examples
    --------
    >>> Q = random_subspace(4, 2, np.random.default_rng(0))
    >>> np.allclose(Q.T @ Q, np.eye(2))
    True
    """
    return np.linalg.qr(rng.standard_normal((d, m)))[0]


def basis(W, least):
    """Return an orthonormal basis of W's span, without directions that are rounding.

    Those are the ones whose singular value is at most `least` times the largest.

    >>> basis(np.array([[1.0, 1.0], [0.0, 1e-13]]), 1e-8).shape
    (2, 1)
    """
    return scipy.linalg.orth(W, rcond=least)


def root_of(K):
    """Return the symmetric S with S S = K; of K's eigenvalues those that are rounding are none.

    >>> root_of(np.diag([4.0, 0.0]))
    array([[2., 0.],
           [0., 0.]])
    """
    values, V = np.linalg.eigh((K + K.T) / 2)
    values = np.where(values > 64 * EPS * values[-1], values, 0.0)
    return (V * np.sqrt(values)) @ V.T


def most_on_diagonal(K):
    """Return the largest sum of R_jj^2 found over square R with R'R = K.

    Every R gives a valid lower value.  One is turned into another by rotations of two rows, each
    of which has a best angle in closed form: for one and two columns the value is the largest
    there is.  The turns begin at the root of K and at the triangular R of several orders of the
    columns, so that none of these is worth more.

    Parameters
    ----------
    K : array (m x m)
        Symmetric, positive semidefinite.

    Returns
    -------
    float
        Between the largest entry of K's diagonal and its trace.

    See Also
    --------
    fspca.metrics.explained_by_factors : What this is of W'AW.

    Examples
    --------
    >>> bool(np.isclose(most_on_diagonal(np.array([[1.0, 0.6], [0.6, 1.0]])), 1 + 0.8))
    True
    """
    return float(max(np.sum(np.diagonal(R) ** 2) for R in turned_roots(K)))


def turned_roots(K):
    """Return several square R with R'R = K, turned until their diagonals' squares add to most."""
    root, m = root_of(K), len(K)
    by_size = np.argsort(-np.diagonal(K), kind="stable")
    if m <= ALL_ORDERS:
        orders = [list(order) for order in permutations(by_size)]
    else:
        orders = [[j, *by_size[by_size != j]] for j in by_size[:SOME]]
    R = np.array([root, *(triangular(root, order) for order in orders)])
    value, last = np.sum(np.diagonal(R, axis1=1, axis2=2) ** 2, axis=1).max(), -1.0
    for _ in range(TURNS):
        if value <= last * (1 + TIE):
            break
        for i, j in combinations(range(m), 2):
            turn_rows(R, i, j)
        value, last = np.sum(np.diagonal(R, axis1=1, axis2=2) ** 2, axis=1).max(), value
    return R


def triangular(root, order):
    """Return the R whose rows and columns, in this order, are those of a triangle."""
    R = np.empty_like(root)
    R[np.ix_(order, order)] = np.linalg.qr(root[:, order])[1]
    return R


def turn_rows(R, i, j):
    """Turn rows i and j of each R, in place, by the angle that makes R_ii^2 + R_jj^2 largest."""
    a, b, c, e = R[:, i, i], R[:, j, i], R[:, i, j], R[:, j, j]
    angle = np.arctan2(2 * (a * b - c * e), a**2 + e**2 - b**2 - c**2) / 2
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    R[:, i], R[:, j] = cos * R[:, i] + sin * R[:, j], cos * R[:, j] - sin * R[:, i]
