"""What data may be, and what is said of those that may not."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from fspca.covariance import validate
from fspca.covariance.data import Data, Sparse
from fspca.covariance.frames import KINDS, numbers_of_frame
from fspca.covariance.missing import (
    Filled,
    called,
    checked_way,
    filled_data,
    told_missing,
    weights_of_samples,
)
from fspca.covariance.sources import Dense, Remembering


class Taken(NamedTuple):
    """A source that reads data, and what is known of them.

    `moments` are the means and the deviations that were taken off, `about` says what the
    covariance is of where some values are missing or samples weigh differently, and `kept` are
    the rows that count.
    """

    source: Any
    names: tuple[str, ...] | None
    moments: tuple[np.ndarray, np.ndarray]
    about: str | None
    kept: np.ndarray | None
    filling: tuple[np.ndarray, np.ndarray | None] | None


def taken_in(X, *, center, divisor, standardize, max_memory, missing, sample_weight, names):
    """Return the Taken of data, or say what is wrong with them."""
    validate.checked_truth("center", center)
    validate.checked_truth("standardize", standardize)
    max_memory = validate.checked_positive("max_memory", max_memory)
    checked_way(missing)
    if isinstance(divisor, str):
        validate.checked_choice("divisor", divisor, ("n-1", "n"))
    else:
        validate.checked_positive("divisor", divisor)
    X, own = opened(X)
    names = own if names is None else tuple(map(str, names))
    if names is not None and len(names) != X.shape[1]:
        raise ValueError(f"names holds {len(names)} names; X has d={X.shape[1]} features")
    weights = weights_of_samples(sample_weight, X.shape[0])
    in_memory = type(X) is np.ndarray
    if not in_memory and (missing != "refuse" or weights is not None):
        refuse_far(X, missing, weights)
    filled = Filled(X, None)
    if in_memory and missing != "refuse":
        filled = filled_data(X, names, missing, weights, center)
    X = filled.X
    if weights is not None and filled.kept is not None:
        weights = weights[filled.kept]
    count = X.shape[0] if weights is None else int(np.count_nonzero(weights))
    if count < (least := 2 if center or divisor == "n-1" else 1):
        told = f"center={center} and divisor={divisor!r}"
        raise ValueError(f"X has n={count} samples; {told} need at least {least}")
    divisor = divisor_of(divisor, X.shape[0] if weights is None else weights.sum())
    about = filled.about
    if weights is not None:
        about = "with weights of samples" + (f", {about}" if about else "")
    filling = None if filled.mean is None else (filled.mean, filled.matrix)
    if filled.matrix is not None:
        total = X.shape[0] if weights is None else weights.sum()
        source, moments = of_moments(filled, total / divisor, standardize)
    else:
        source, moments = source_of(X, weights, center, divisor, (standardize, max_memory))
        refuse_sizes(X, source, names)
        source = Remembering(source)
    return Taken(source, names, moments, about, filled.kept, filling)


def divisor_of(divisor, total):
    """Return what sums of squares are divided by, for a sum of weights (1 each)."""
    if divisor == "n-1" and total <= 1:
        raise ValueError(f"sample_weight sums to {total:.6g}; divisor='n-1' needs more than 1: say "
                         "divisor='n', or give weights of mean 1")  # fmt: skip
    return {"n-1": total - 1, "n": total}.get(divisor, divisor)


def refuse_far(X, missing, weights):
    """Refuse what is done to arrays in memory alone, where data are elsewhere or sparse."""
    if missing != "refuse":
        raise TypeError(f"missing={missing!r} is for an array or a DataFrame; fill a "
                        f"{type(X).__name__} before")  # fmt: skip
    if not scipy.sparse.issparse(X):
        raise TypeError(f"sample_weight is for arrays, DataFrames and sparse matrices, not for a "
                        f"{type(X).__name__}, whose rows are read by blocks")  # fmt: skip


def of_moments(filled, factor, standardize):
    """Return the source of a matrix that was estimated, and its moments."""
    A = filled.matrix * factor
    spread = np.sqrt(np.diag(A))
    if standardize:
        A = A / np.outer(np.where(spread > 0, spread, 1), np.where(spread > 0, spread, 1))
        np.fill_diagonal(A, (spread > 0).astype(float))
    return Dense(A), (filled.mean, spread)


def source_of(X, weights, center, divisor, rest):
    """Return the source that reads data, and the means and deviations that it takes off."""
    with np.errstate(over="ignore", invalid="ignore"):  # said afterwards, in words
        if weights is None:
            source = reader(X)(X, center, divisor, *rest)
            return source, (source.centre, source.spread)
        roots = np.sqrt(weights)
        if scipy.sparse.issparse(X):
            weighted = sparse(scipy.sparse.diags_array(roots) @ X)
            source = Sparse(weighted, center, divisor, *rest, roots=roots)
            return source, (source.centre, source.spread)
        centre = weights @ X / weights.sum() if center else np.zeros(X.shape[1])
        source = Data((X - centre) * roots[:, None], False, divisor, *rest)
        return source, (centre, source.spread)


def refuse_sizes(X, source, names):
    """Refuse entries that are infinite, or whose squares are no numbers."""
    variances = source.diagonal()
    if not np.all(np.isfinite(variances)):
        if type(X) is np.ndarray and (absent := np.isnan(X)).any():
            raise ValueError(told_missing(absent, names))
        column = called(int(np.argmin(np.isfinite(variances))), names)
        raise ValueError(
            f"X holds NaN, infinite or too large entries in {column}; all squares must be finite"
        )
    if variances.max() < np.finfo(float).tiny and 0 < (size := _largest_entry(X)) < 1e-150:
        raise ValueError(
            f"X has entries of at most {size:.3g}, whose squares are below the smallest normal "
            "number; multiply it by a constant"
        )


def _largest_entry(X):
    entries = X.data if scipy.sparse.issparse(X) else X
    return float(np.abs(entries).max(initial=0)) if isinstance(entries, np.ndarray) else 0.0


def reader(X):
    """Return the class that reads data of this kind."""
    if scipy.sparse.issparse(X):
        return Sparse
    if hasattr(X, "dask"):
        from fspca.covariance.dask_data import Dask, refuse_sparse_chunks

        refuse_sparse_chunks(getattr(X, "_meta", None))
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
    X, names = numbers_of_frame(X)
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


def sparse(X):
    """Return a sparse matrix as CSR or CSC without entries that come twice; copied only if so."""
    X = X if X.format in ("csr", "csc") else X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
