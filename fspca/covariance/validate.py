"""What may enter: every check of an argument, each saying argument, value and rule."""

import operator
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse

Features: TypeAlias = Sequence[Any]  # numbers, or names where the covariance has some
CARRIED = 0.5  # of all variance in one of three features or more: then its unit decides
IN_ONE_ROW = 0.5  # of a feature's variance: then a row decides; experiment `one_row` has how often
ROWS_TO_JUDGE = 30  # of fewer one may carry as much by chance; that experiment had as many


class UnitsWarning(UserWarning):
    """One feature's unit decides the answer.

    Its variance is most of all there is; the words say which feature, and what to do.

    See Also
    --------
    fspca.sklearn.SparsePrincipalSubspace : Scales, if asked.

    Examples
    --------
    >>> from fspca import Covariance
    >>> with warnings.catch_warnings(record=True, action="always") as told:
    ...     warn_of_units(Covariance(np.diag([9.0, 1.0, 1.0])), 1)
    >>> told[0].category.__name__
    'UnitsWarning'
    """


class TailsWarning(UserWarning):
    """One row carries most of a chosen feature's variance, and may decide the choice.

    Without that row other features may be chosen; the words say which row and feature, and what to
    do.

    See Also
    --------
    UnitsWarning : Where a unit decides.

    Examples
    --------
    >>> from fspca import Covariance
    >>> X = np.random.default_rng(0).standard_normal((50, 4))
    >>> X[7, 2] = 20.0
    >>> with warnings.catch_warnings(record=True, action="always") as told:
    ...     warn_of_tails(Covariance.from_data(X, standardize=True), [1, 2], 1)
    >>> str(told[0].message)[:49]
    'row 7 alone carries 87.1 % of the variance of fea'
    """


def needed(package, extra, asker):
    """Return a package or a module of it, or say what asks for it and what installs it."""
    try:
        return import_module(package)
    except ImportError as missing:
        raise ImportError(
            f"{asker} needs {package.partition('.')[0]}: pip install 'fspca[{extra}]'"
        ) from missing


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


def checked_rows(rows, d):
    """Return different features as an array, in their own order."""
    rows = np.asarray(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not rows.size:
        raise ValueError(f"rows={rows!r} must be a list of features")
    if rows.min() < 0 or rows.max() >= d or len(np.unique(rows)) < len(rows):
        raise ValueError(f"rows={rows!r} must be different features between 0 and {d - 1}")
    return rows


def checked_features(name, features):
    """Return different features as a tuple of ints, ascending."""
    rows = sorted(checked_integer(name, each) for each in features)
    if len(set(rows)) < len(rows) or (rows and rows[0] < 0):
        raise ValueError(f"{name}={list(features)} must hold different features, 0 or above")
    return tuple(rows)


def numbered(argument, features, names):
    """Return features with a number in the place of each name, or say which name no column has.

    >>> numbered("required", ["ash", 0], ("alcohol", "ash"))
    [1, 0]
    """
    if isinstance(features, str):
        raise TypeError(f"{argument}={features!r} must be a list of features: [{features!r}]")
    return [column_number(argument, each, names) if isinstance(each, str) else each
            for each in features]  # fmt: skip


def column_number(argument, name, names):
    """Return the number of the column of this name, or say why there is none."""
    if names is None:
        raise ValueError(f"{argument} holds {name!r}, and the data have no names: give its number")
    if names.count(name) > 1:
        raise ValueError(
            f"{argument} holds {name!r}, the name of several columns: give the number of one"
        )
    if name not in names:
        raise ValueError(f"{argument} holds {name!r}, the name of no column{near(name, names)}")
    return names.index(name)


def near(name, names):
    """Return the end of a sentence: which names are like one that is not among them.

    >>> near("Hues", ("hue", "ash"))
    "; near it are 'hue'"
    """
    folded = {each.casefold(): each for each in names}
    found = [repr(folded[each]) for each in get_close_matches(name.casefold(), folded)]
    return f"; near it are {', '.join(found)}" if found else ""


def checked_jobs(n_jobs):
    """Return how many jobs may run at once: None, a count, or a negative number as joblib's."""
    if n_jobs is not None and checked_integer("n_jobs", n_jobs) == 0:
        raise ValueError("n_jobs=0 must be None, at least 1, or -1 for all cores")
    return n_jobs


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


def _refuse_dtype(name, dtype):
    if dtype.kind not in "iuf":
        raise TypeError(f"{name} has dtype {dtype}; it must hold real numbers")


def checked_covariance(A):
    """Return A as a symmetric, positive semidefinite float64 matrix of our own.

    Rounding is forgiven on the scale of each pair of features, sqrt(a_ii a_jj), up to the
    square root of the precision of A's own dtype; a variance may be negative by a few units
    in the last place of the trace.
    """
    A = checked_real("A", A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(
            f"A has shape {A.shape}; a covariance must be square (for data: Covariance.from_data)"
        )
    # of numbers longer than float64 no more than its digits is kept
    precision = max(np.finfo(A.dtype if A.dtype.kind == "f" else float).eps, np.finfo(float).eps)
    A = np.array(A, dtype=float, order="C", subok=False)
    with np.errstate(over="ignore"):
        trace = np.abs(np.diagonal(A)).sum()
    if not np.isfinite(trace):
        raise ValueError("A has a trace that overflows; its entries must be smaller")
    if 0 < trace < np.finfo(float).tiny:
        raise ValueError(
            f"A has variances of {trace:.3g} in all, below the smallest normal number "
            f"{np.finfo(float).tiny:.3g}; multiply it by a constant"
        )
    least = 16 * len(A) * precision * trace
    if A.diagonal().min() < -least:
        _refuse_indefinite(A.diagonal().min(), -least)
    scale = np.sqrt(np.maximum(A.diagonal(), least))
    scale[scale == 0] = 1.0  # all is zero, or not semidefinite
    if not np.array_equal(A, A.T):
        A = symmetric_up_to(A, scale, np.sqrt(precision))
    R = A / scale
    R /= scale[:, None]
    R.flat[:: len(A) + 1] += np.sqrt(precision)
    try:
        scipy.linalg.cholesky(R, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        values = scipy.linalg.eigvalsh(A)
        _refuse_indefinite(values[0], -np.sqrt(precision) * scale.min() ** 2, values[-1])
    return A


def symmetric_up_to(A, scale, allowed):
    """Return the symmetric part of A, or refuse what is more than rounding away from it."""
    R = A / scale / scale[:, None]
    asymmetry = np.abs(R - R.T)
    if asymmetry.max() > allowed:
        i, j = (int(x) for x in np.unravel_index(asymmetry.argmax(), A.shape))
        raise ValueError(
            f"A[{i}, {j}]={A[i, j]:.6g} differs from A[{j}, {i}]={A[j, i]:.6g}; A must be symmetric"
        )
    return A / 2 + A.T / 2


def _refuse_indefinite(lowest, allowed, largest=None):
    share = f" ({-100 * lowest / largest:.3g} % of the largest)" if largest else ""
    raise ValueError(
        f"A has the eigenvalue {lowest:.6g}{share}, below the rounding allowed, {allowed:.3g}; "
        "A must be positive semidefinite, which df.cov() of data with missing values need not be: "
        "Covariance.from_data(df, missing='em') gives a covariance that is"
    ) from None


def checked_nonnegative(name, value):
    """Return value as a float that is finite and not negative."""
    if not isinstance(value, int | float | np.number) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r} must be a number")
    if not np.isfinite(value) or value < 0:
        raise ValueError(f"{name}={value} must be finite and at least 0")
    return float(value)


def checked_positive(name, value):
    """Return value as a float that is finite and above 0."""
    if (number := checked_nonnegative(name, value)) == 0:
        raise ValueError(f"{name}={value} must be positive")
    return number


def checked_share(name, value):
    """Return value as a float of at least 0 and below 1."""
    if (share := checked_nonnegative(name, value)) >= 1:
        raise ValueError(f"{name}={value} must be below 1")
    return share


def checked_truth(name, value):
    """Return value if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={value!r} must be True or False")
    return value


def checked_ridge(ridge):
    """Return the ridge as a float that is finite and not negative."""
    return checked_nonnegative("ridge", ridge)


def checked_count(name, value):
    """Return value as an int of at least 1."""
    if (count := checked_integer(name, value)) < 1:
        raise ValueError(f"{name}={value} must be at least 1")
    return count


def checked_seed(seed):
    """Return the seed if numpy can draw from it; None asks for chance."""
    try:
        np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ValueError(
            f"seed={seed!r} must be None, an integer of at least 0 or a Generator"
        ) from None
    return seed


def warn_of_units(A, stacklevel):
    """Warn where one of three features or more carries over half of all the variance."""
    variances = A.diagonal()
    share = variances.max() / (variances.sum() or 1.0)
    if len(variances) > 2 and share > CARRIED:
        j = int(np.argmax(variances))
        name = f"number {j}" if A.names is None else repr(A.names[j])
        warnings.warn(
            f"feature {name} alone carries {100 * share:.3g} % of the variance: its unit decides "
            "the answer. Standardise (scale=True), or give the features comparable units.",
            UnitsWarning,
            stacklevel=stacklevel,
        )


def warn_of_tails(A, support, stacklevel):
    """Warn where one row carries over half of the variance of a chosen feature.

    Of rows that are here and dense; of few rows one carries much by chance.
    """
    if A.table is None or type(X := A.table[0]) is not np.ndarray or len(X) < ROWS_TO_JUDGE:
        return
    chosen = np.asarray(X[:, support], dtype=float)
    squares = (chosen - np.asarray(A.moments[0])[support]) ** 2
    squares[np.isnan(squares)] = 0.0
    shares = squares / np.where((total := squares.sum(axis=0)) > 0, total, 1.0)
    row, at = np.unravel_index(np.argmax(shares), shares.shape)
    if (share := shares[row, at]) > IN_ONE_ROW:
        j = int(support[at])
        name = f"number {j}" if A.names is None else repr(A.names[j])
        warnings.warn(
            f"row {row} alone carries {100 * share:.3g} % of the variance of feature {name}, which "
            "is chosen: without it the choice may be another. Look at that row; logarithms, or "
            "limits to the values, make the tails lighter.",
            TailsWarning,
            stacklevel=stacklevel,
        )
