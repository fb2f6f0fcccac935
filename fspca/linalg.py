"""The few pieces of linear algebra that every solver shares."""

import numpy as np
import scipy.sparse.linalg

TIE = 1e-12  # relative; numbers closer than this are equal up to rounding


def largest(score, k):
    """Return the indices, ascending, of the k largest entries of a score.

    Ties, up to rounding, go to the smallest index, so that no answer depends on last digits.

    >>> largest([3.0, 1.0, 3.0, 3.0 + 1e-15], 2)
    array([0, 2])
    """
    score = np.asarray(score, dtype=float)
    last = np.partition(score, -k)[-k]
    chosen = score > last + TIE * abs(last)
    tied = np.flatnonzero(~chosen & (score >= last - TIE * abs(last)))
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


def leading_of_operator(product, d, m):
    """Return the m leading eigenpairs of the d x d operator v -> product(v), by Lanczos."""
    operator = scipy.sparse.linalg.LinearOperator((d, d), matvec=product, dtype=float)
    start = np.random.default_rng(0).standard_normal(d)
    values, vectors = scipy.sparse.linalg.eigsh(operator, m, v0=start)
    order = np.argsort(-values)
    return values[order], fix_signs(vectors[:, order])


def random_subspace(d, m, rng):
    """Draw an orthonormal d x m basis of a uniformly random m-dimensional subspace."""
    return np.linalg.qr(rng.standard_normal((d, m)))[0]
