"""What data may be, and what is said of those that may not."""

import numpy as np
import scipy.sparse

from fspca.covariance import validate
from fspca.covariance.data import Data, Sparse
from fspca.covariance.sources import Remembering

KINDS = "biuf"  # truth values, integers, floats


def source_of(X, center, divisor, standardize, max_memory):
    """Return the source that reads data, and the names of their features; or say what is wrong."""
    validate.checked_truth("center", center)
    validate.checked_truth("standardize", standardize)
    max_memory = validate.checked_positive("max_memory", max_memory)
    if isinstance(divisor, str):
        validate.checked_choice("divisor", divisor, ("n-1", "n"))
    else:
        validate.checked_positive("divisor", divisor)
    X, names = opened(X)
    n = X.shape[0]
    if n < (least := 2 if center or divisor == "n-1" else 1):
        told = f"center={center} and divisor={divisor!r}"
        raise ValueError(f"X has n={n} samples; {told} need at least {least}")
    divisor = {"n-1": n - 1, "n": n}.get(divisor, divisor)
    with np.errstate(over="ignore", invalid="ignore"):  # said below, in words
        source = reader(X)(X, center, divisor, standardize, max_memory)
        variances = source.diagonal()
    if not np.all(np.isfinite(variances)):
        j = int(np.argmin(np.isfinite(variances)))
        column = f"column {j}" if names is None else f"column {names[j]!r}"
        raise ValueError(
            f"X holds NaN, infinite or too large entries in {column}; all squares must be finite"
        )
    if variances.max() < np.finfo(float).tiny and 0 < (size := _largest_entry(X)) < 1e-150:
        raise ValueError(
            f"X has entries of at most {size:.3g}, whose squares are below the smallest normal "
            "number; multiply it by a constant"
        )
    return Remembering(source), names


def _largest_entry(X):
    entries = X.data if scipy.sparse.issparse(X) else X
    return float(np.abs(entries).max(initial=0)) if isinstance(entries, np.ndarray) else 0.0


def reader(X):
    """Return the class that reads data of this kind."""
    if scipy.sparse.issparse(X):
        return Sparse
    if hasattr(X, "dask"):
        from fspca.covariance.dask_data import Dask

        return Dask
    return Data


def opened(X):
    """Return data as something to be read by rows, and the names of its features or None.

    An array, and a sparse matrix in CSR or CSC, is taken as it is and not copied; a DataFrame
    becomes an array; what else has a shape, a dtype and slices of rows is read block by block.
    """
    if hasattr(X, "obsm") and hasattr(X, "X"):
        raise TypeError("X is an AnnData; hand over its matrix: Covariance.from_data(adata.X)")
    if hasattr(X, "to_dask_array"):
        raise TypeError("X is a dask DataFrame; hand over X.to_dask_array(lengths=True)")
    names = None
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        X, names = frame(X), tuple(str(name) for name in X.columns)
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError("X is masked; missing entries must be filled before")
    if isinstance(X, (list, tuple, np.matrix)):
        X = np.asarray(X)
    shape, dtype = getattr(X, "shape", None), getattr(X, "dtype", None)
    if shape is None or not (hasattr(X, "__getitem__") or scipy.sparse.issparse(X)):
        raise TypeError(
            f"X is a {type(X).__name__}; it must be an array, a DataFrame, or something with a "
            "shape, a dtype and slices of rows, X[start:stop]"
        )
    try:
        kind = np.dtype(dtype).kind
    except TypeError:
        raise TypeError(f"X has dtype {dtype}, which NumPy does not know; try np.asarray") from None
    if kind not in KINDS:
        raise TypeError(f"X has dtype {dtype}; it must hold real numbers")
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"X has shape {tuple(shape)}; it must have two nonzero dimensions")
    return (sparse(X) if scipy.sparse.issparse(X) else X), names


def frame(X):
    """Return a DataFrame's numbers, a missing one as NaN, or say which column has none."""
    dtypes = list(getattr(X, "dtypes", ()))
    for name, dtype in zip(X.columns, dtypes, strict=False):
        if getattr(dtype, "kind", "f") not in KINDS:
            raise TypeError(f"X has column {name!r} of dtype {dtype}; it must hold real numbers")
    if dtypes and all(hasattr(dtype, "fill_value") for dtype in dtypes):
        return X.sparse.to_coo()
    values = X.to_numpy()
    return X.to_numpy(dtype=float, na_value=np.nan) if values.dtype == object else values


def sparse(X):
    """Return a sparse matrix as CSR or CSC without entries that come twice; copied only if so."""
    X = X if X.format in ("csr", "csc") else X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
