"""The few pieces of linear algebra that every solver shares."""

from inspect import signature

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from scipy.sparse.linalg import LinearOperator

TIE = 1e-12  # relative; numbers closer than this are equal up to rounding
EPS = np.finfo(float).eps
ACCURACY, MOST_STEPS = 1e-12, 500  # of residuals, relative to the largest eigenvalue
MISSED = 1e-8  # relative to the largest: what is left may not exceed the least found by more


def largest(score, k):
    """Return the indices, ascending, of the k largest entries of a score.

    Ties, up to rounding, go to the smallest index, so that no answer depends on last digits.

    >>> largest([3.0, 1.0, 3.0, 3.0 + 1e-15], 2)
    array([0, 2])
    """
    score = np.asarray(score, dtype=float)
    last = np.partition(score, -k)[-k]
    slack = max(TIE * abs(last), 8 * EPS * np.abs(score).max())  # the second where last is noise
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


def leading_of_operator(product, d, m, tol=ACCURACY, width=3):
    """Return the m leading eigenpairs of a d x d operator, V -> product(V), by block Lanczos.

    A block of m vectors is multiplied at once, so that up to m copies of a repeated eigenvalue
    are found.  At most `width` blocks of basis vectors are kept; where they are full, all but the
    last is rotated to the best of their span.
    """
    V, T, used = np.empty((d, width * m)), np.zeros((width * m, width * m)), m
    V[:, :m] = random_subspace(d, m, np.random.default_rng(0))
    scale = 0.0
    for _ in range(MOST_STEPS):
        basis, last = V[:, :used], slice(used - m, used)
        block = product(V[:, last])
        T[:used, last] = basis.T @ block
        T[last, :used] = T[:used, last].T
        theta, Y = np.linalg.eigh(T[:used, :used])
        theta, Y = theta[::-1], Y[:, ::-1]
        block -= basis @ T[:used, last]
        block, R = np.linalg.qr(block)
        scale = max(scale, abs(theta[0]))
        if np.linalg.norm(R @ Y[-m:, :m], axis=0).max() <= tol * scale or used + m > d:
            break
        if used == width * m:
            used -= m
            rotate(basis, Y[:, :used])
            T[:] = 0
            T[range(used), range(used)] = theta[:used]
        basis = V[:, :used]
        for _ in range(2):  # once leaves rounding along the basis
            block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
        V[:, used : used + m] = block
        used += m
    rotate(V[:, :used], Y[:, :m])
    return theta[:m], fix_signs(V[:, :m])


def rotate(V, Y):
    """Replace the first columns of V by V Y, some rows at a time."""
    for start in range(0, len(V), 4096):
        V[start : start + 4096, : Y.shape[1]] = V[start : start + 4096] @ Y


def leading_in_memory(product, d, m, tol=ACCURACY, matrix=None):
    """Return the m leading eigenpairs of an operator whose products cost only arithmetic.

    ARPACK multiplies one vector at a time, which needs the fewest products but may miss a copy
    of a repeated eigenvalue.  So what is left must be below: by a Cholesky factorisation where
    the matrix is given, else by the largest eigenvalue of what is left, found from a random
    start: it falls short by more than the share t with a probability of at most
    1.65 sqrt(d) exp(-sqrt(t) (2 q - 1)) after q products (Kuczynski and Wozniakowski 1992).
    Where a copy is missed, all are found by blocks.
    """
    rng, size = np.random.default_rng(0), (d, d)

    def eigsh(apply, m, tol):
        operator = LinearOperator(size, lambda x: apply(x.reshape(d, 1))[:, 0], dtype=float)
        options = {"v0": rng.standard_normal(d), "tol": tol, "ncv": min(d, 2 * m + 1)}
        if "rng" in signature(scipy.sparse.linalg.eigsh).parameters:  # else restarts are its own
            options["rng"] = rng
        return scipy.sparse.linalg.eigsh(operator, m, which="LA", **options)

    try:
        values, V = eigsh(product, m, tol)
        values, V = values[::-1], V[:, ::-1]
        limit = values[-1] + max(MISSED, 10 * tol) * values[0]
        if matrix is not None:
            rest = matrix - (V * values) @ V.T
            missed = not positive_definite(limit * np.eye(d) - rest)
        else:
            rest = lambda x: product(x) - V @ (values[:, None] * (V.T @ x))  # noqa: E731
            missed = eigsh(rest, 1, 0.01)[0][0] > limit
    except scipy.sparse.linalg.ArpackError:  # no convergence, or nothing to multiply
        missed = True
    return leading_of_operator(product, d, m, tol) if missed else (values, fix_signs(V))


def positive_definite(A):
    """Say whether A has a Cholesky factorisation."""
    try:
        scipy.linalg.cholesky(A, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return True


def random_subspace(d, m, rng):
    """Draw an orthonormal d x m basis of a uniformly random m-dimensional subspace."""
    return np.linalg.qr(rng.standard_normal((d, m)))[0]


def basis(W, least):
    """Return an orthonormal basis of W's span, without directions that are rounding.

    Those are the ones whose singular value is at most `least` times the largest.

    >>> basis(np.array([[1.0, 1.0], [0.0, 1e-13]]), 1e-8).shape
    (2, 1)
    """
    return scipy.linalg.orth(W, rcond=least)
