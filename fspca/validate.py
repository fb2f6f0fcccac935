"""What may enter: every check of an argument, each saying argument, value and rule."""

import operator

import numpy as np
import scipy.linalg
import scipy.sparse


def checked_integer(name, value):
    """Return value as an int, or say which argument is not one."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={value!r} must be an integer, not a truth value")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} must be an integer") from None


def checked_support(support, k, d):
    """Return k different features, ascending."""
    rows = np.unique(np.asarray(support))
    if rows.dtype.kind not in "iu" or len(rows) != np.size(support) or len(rows) != k:
        raise ValueError(f"support={support!r} must hold k={k} different features")
    if rows[0] < 0 or rows[-1] >= d:
        raise ValueError(f"support={support!r} must hold features between 0 and {d - 1}")
    return rows


def checked_choice(name, value, choices):
    """Return value if it is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}")
    return value


def checked_real(name, M, finite=True):
    """Return M as an array of real, finite numbers with two dimensions, and its own dtype."""
    if scipy.sparse.issparse(M):
        raise TypeError(f"{name} is sparse; it must be a dense array (use {name}.toarray())")
    if isinstance(M, np.ma.MaskedArray):
        raise TypeError(f"{name} is masked; missing entries must be filled before")
    M = np.asanyarray(M)
    _refuse_dtype(name, M.dtype)
    if M.ndim != 2 or 0 in M.shape:
        raise ValueError(f"{name} has shape {M.shape}; it must have two nonzero dimensions")
    if finite and not np.all(np.isfinite(M)):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(M))[0])
        raise ValueError(f"{name} holds {M[where]} at {where}; all entries must be finite")
    return M


def checked_sparse(name, X):
    """Return a scipy.sparse matrix as CSC, with the checks of `checked_real`."""
    _refuse_dtype(name, X.dtype)
    X = scipy.sparse.csc_array(X)
    if 0 in X.shape:
        raise ValueError(f"{name} has shape {X.shape}; it must have two nonzero dimensions")
    if not np.all(np.isfinite(X.data)):
        raise ValueError(f"{name} holds NaN or infinite entries; all entries must be finite")
    return X


def _refuse_dtype(name, dtype):
    if not (np.issubdtype(dtype, np.integer) or np.issubdtype(dtype, np.floating)):
        raise TypeError(f"{name} has dtype {dtype}; it must hold real numbers")


def checked_covariance(A):
    """Return A as a symmetric, positive semidefinite float64 matrix of our own.

    Rounding is forgiven up to the square root of the precision of A's own dtype: asymmetry
    relative to the largest entry, a negative eigenvalue relative to the trace.
    """
    A = checked_real("A", A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(
            f"A has shape {A.shape}; a covariance must be square (for data: Covariance.from_data)"
        )
    precision = np.finfo(A.dtype if np.issubdtype(A.dtype, np.floating) else float).eps
    tolerance = np.sqrt(precision)
    A = np.array(A, dtype=float, order="C", subok=False)
    asymmetry = np.abs(A - A.T)
    if asymmetry.max() > tolerance * np.abs(A).max():
        i, j = (int(x) for x in np.unravel_index(asymmetry.argmax(), A.shape))
        raise ValueError(
            f"A[{i}, {j}]={A[i, j]:.6g} differs from A[{j}, {i}]={A[j, i]:.6g}; A must be symmetric"
        )
    A = (A + A.T) / 2
    slack = tolerance * np.trace(A)
    if A.any():
        shifted = A.copy()
        shifted.flat[:: len(A) + 1] += slack
        try:
            scipy.linalg.cholesky(shifted, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            lowest = scipy.linalg.eigvalsh(A, subset_by_index=[0, 0])[0]
            raise ValueError(
                f"A has the eigenvalue {lowest:.6g}, below the rounding allowed, "
                f"{-abs(slack):.3g}; A must be positive semidefinite"
            ) from None
    return A


def checked_ridge(ridge):
    """Return the ridge as a float that is finite and not negative."""
    if not isinstance(ridge, int | float | np.number) or isinstance(ridge, bool):
        raise TypeError(f"ridge={ridge!r} must be a number")
    if not np.isfinite(ridge) or ridge < 0:
        raise ValueError(f"ridge={ridge} must be finite and at least 0")
    return float(ridge)
