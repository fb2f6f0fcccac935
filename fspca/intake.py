"""What data may be, and what is said of those that may not."""

import numpy as np
import scipy.sparse

KINDS = "biuf"  # truth values, integers, floats


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
