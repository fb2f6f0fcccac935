"""Factors Z of a covariance, A = Z'Z, for the methods that work among the samples."""

import numpy as np
from scipy.sparse.linalg import aslinearoperator

from fspca.covariance.covariance import DENSE_SIZE, FORMED_SIZE
from fspca.covariance.leading import leading_in_memory
from fspca.covariance.linalg import EPS, embedded, leading_of_matrix


def factor_of(A, least=1):
    """Return a linear operator Z with A = Z'Z and at least so many rows.

    Where A comes from wide data it is the data, never formed into d x d; a dense A, or that of
    small and tall data, gives the eigenfactor, one row for each eigenvalue that is not zero
    (and so does data with a ridge, which has no factor of few rows).

    >>> from fspca import Covariance
    >>> Z = factor_of(Covariance(np.diag([4.0, 0.0])))
    >>> Z.shape, abs(Z @ np.eye(2))
    ((1, 2), array([[2., 0.]]))
    """
    Z = _own_factor(A)
    if Z is not None and (least <= Z.shape[0] <= A.size or A.size > FORMED_SIZE):
        if Z.shape[0] < least:
            raise ValueError(f"A has n={Z.shape[0]} samples; m={least} components need as many")
        return aslinearoperator(Z)
    values, vectors = leading_of_matrix(A.submatrix(np.arange(A.size)), A.size)
    rows = max(least, np.count_nonzero(values > A.size * EPS * values[0]))
    return aslinearoperator(np.sqrt(np.maximum(values[:rows], 0))[:, None] * vectors[:, :rows].T)


def _own_factor(A):
    try:
        return A.factor
    except ValueError:  # an array, or seen with a ridge
        return None


def leading_on(Z, rows):
    """Return the leading eigenvector of A[I, I] embedded in d rows, for A = Z'Z."""
    d, k = Z.shape[1], len(rows)
    if k <= DENSE_SIZE:
        columns = Z @ embedded(np.eye(k), rows, d)
        v = leading_of_matrix(columns.T @ columns, 1)[1][:, 0]
    else:
        v = leading_in_memory(lambda V: (Z.T @ (Z @ embedded(V, rows, d)))[rows], k, 1)[1][:, 0]
    return embedded(v, rows, d)
