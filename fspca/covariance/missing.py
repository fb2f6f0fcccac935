r"""Covariances of data with missing values: rows left out, means filled in, or EM.

Under normality the covariance of largest likelihood is found by expectation and maximisation:
each missing value is replaced by what the others of its row say of it, and what remains uncertain
is added to the covariance.  Each step is a sum of squares and conditional covariances, hence
positive semidefinite, and never lowers the likelihood.
"""

import warnings
from typing import NamedTuple

import numpy as np

from fspca.covariance import validate

WAYS = ("refuse", "drop", "mean", "em")
STEPS = 1000
SETTLED = 1e-9  # of a correlation: a step that moves none by more ends EM
RIDGE = 1e-10  # of a variance, so that columns which say the same can be distinguished


class Filled(NamedTuple):
    """Data without missing values, which rows they are of, and what was done.

    `mean` is what is filled in where nothing else is known; under "em" it and `matrix` are the
    moments, over n, and X stays as it was.
    """

    X: np.ndarray
    kept: np.ndarray
    about: str | None = None
    mean: np.ndarray | None = None
    matrix: np.ndarray | None = None


def filled_data(X, names, missing, weights=None, center=True):
    """Return the Filled of an array, or say why it cannot be filled in so."""
    absent = np.isnan(X) if X.dtype.kind == "f" else np.zeros(X.shape, dtype=bool)
    kept = np.arange(len(X))
    if not absent.any():
        return Filled(X, kept, mean=X.mean(axis=0) if missing in ("mean", "em") else None)
    share = f"{100 * absent.mean():.3g} % of the values are missing"
    if absent.all(axis=0).any():
        j = int(np.argmax(absent.all(axis=0)))
        raise ValueError(f"{called(j, names)} of X has no value at all; leave it out")
    if missing == "drop":
        kept = np.flatnonzero(~absent.any(axis=1))
        if len(kept) < 2:
            raise ValueError(
                f"missing='drop' leaves {len(kept)} rows of {len(X)}: {share}; say missing='mean' "
                "or missing='em'"
            )
        return Filled(X[kept], kept, f"of the {len(kept)} rows of {len(X)} without missing values")
    weights = np.ones(len(X)) if weights is None else weights
    if missing == "mean":
        seen = weights @ ~absent
        if np.any(seen == 0):
            j = int(np.argmax(seen == 0))
            raise ValueError(f"{called(j, names)} of X has no value in rows of positive weight")
        means = weights @ np.where(absent, 0.0, X) / seen
        about = f"of data with means for missing values ({share})"
        return Filled(np.where(absent, means, X), kept, about, means)
    mean, matrix = em_moments(X, weights, center=center)
    return Filled(X, kept, f"estimated by EM under normality ({share})", mean, matrix)


def called(j, names):
    """Return what a column is called in a sentence."""
    return f"column {j}" if names is None else f"column {names[j]!r}"


def told_missing(absent, names):
    """Return a sentence that names the columns with missing values, and the ways."""
    shares = absent.mean(axis=0)
    columns = np.flatnonzero(shares)
    first = columns[np.argsort(-shares[columns], kind="stable")][:3]
    worst = ", ".join(f"{100 * shares[j]:.2g} % in {called(j, names)}" for j in first)
    more = "" if len(columns) <= 3 else f" and {len(columns) - 3} columns more"
    rows = int(absent.any(axis=1).sum())
    return (
        f"X holds NaN, missing values: {worst}{more}. Say missing='drop' to leave out the {rows} "
        f"rows of {len(absent)} that have some, missing='mean' to fill in means, or missing='em' "
        "to estimate the covariance under normality"
    )


def em_moments(X, weights=None, *, center=True, max_iter=STEPS, tol=SETTLED):
    """Return the mean and the covariance, over n, of largest likelihood; NaN stands for missing.

    A step costs d^3, and for each pattern of missing values the cube of their number.

    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 7.0], [4.0, np.nan]])
    >>> em_moments(X)[0].round(3)  # the line through three points, at 4, is 9.33
    array([2.5  , 5.583])
    """
    X = np.asarray(X, dtype=float)
    some = ~np.isnan(X).all(axis=1)  # a row of nothing says nothing
    X = X[some]
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)[some]
    X, weights = X[weights > 0], weights[weights > 0]
    n, d = X.shape
    if n <= d:
        raise ValueError(
            f"missing='em' needs more rows with values than columns, not n={n} of d={d}: the "
            "likelihood has no largest value; say missing='mean', or leave columns out"
        )
    start = np.nanmean(X, axis=0) if center else np.zeros(d)
    scale = np.sqrt(np.nanmean((X - start) ** 2, axis=0))
    scale[scale == 0] = 1.0
    Z, groups = (X - start) / scale, missing_patterns(X)
    mean, S = np.zeros(d), np.diag(np.nanmean(Z**2, axis=0))
    for _ in range(max_iter):
        before = mean, S
        mean, S = em_pass(Z, weights, groups, mean, S, center)
        if max(np.abs(mean - before[0]).max(), np.abs(S - before[1]).max()) <= tol:
            break
    else:
        if max_iter == STEPS:
            warnings.warn(f"EM stopped after {STEPS} steps before it settled", stacklevel=2)
    return start + scale * mean, S * np.outer(scale, scale)


def missing_patterns(X):
    """Return for each pattern of missing values its columns and its rows, the full one left out."""
    absent = np.isnan(X)
    packed = np.packbits(absent, axis=1)
    kinds, which = np.unique(packed, axis=0, return_inverse=True)
    order = np.argsort(which, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(which.ravel(), minlength=len(kinds)))[:-1])
    return [(np.flatnonzero(absent[part[0]]), part) for part in rows if absent[part[0]].any()]


def conditional(Z, groups, mean, S):
    """Return Z with its missing values as expected, and their covariance in each pattern."""
    d = len(mean)
    ridge = RIDGE * np.where(np.diag(S) > 0, np.diag(S), 1.0)
    K = np.linalg.inv(S + np.diag(ridge))
    Y, spread = Z.copy(), []
    for columns, rows in groups:
        rest = np.setdiff1d(np.arange(d), columns)
        C = np.linalg.inv(K[np.ix_(columns, columns)])
        pull = (Z[np.ix_(rows, rest)] - mean[rest]) @ K[np.ix_(rest, columns)]
        Y[np.ix_(rows, columns)] = mean[columns] - pull @ C
        spread.append((C + C.T) / 2)
    return Y, spread


def em_pass(Z, weights, groups, mean, S, center):
    """Return the moments after one expectation and one maximisation."""
    Y, spread = conditional(Z, groups, mean, S)
    total = weights.sum()
    mean = weights @ Y / total if center else np.zeros(len(S))
    R = (Y - mean) * np.sqrt(weights)[:, None]
    S = R.T @ R
    for (columns, rows), C in zip(groups, spread, strict=True):
        S[np.ix_(columns, columns)] += weights[rows].sum() * C
    return mean, S / total


def filling_of(A):
    """Return the means, and the matrix or None, by which rows like those of A are filled in.

    None where their missing values are refused, or their rows left out.
    """
    done = A.table[1]
    if A.filling is None or done["missing"] != "em" or A.filling[1] is not None:
        return A.filling
    if A.size >= A.table[0].shape[0]:
        return A.filling
    spread = A.moments[1] if done["standardize"] else np.ones(A.size)
    return A.filling[0], A.plain.submatrix(np.arange(A.size)) * np.outer(spread, spread)


def filled_rows(X, mean, matrix=None):
    """Return rows with what is expected of their missing values: means, or by normal moments.

    >>> filled_rows(np.array([[1.0, np.nan]]), np.zeros(2), np.array([[2.0, 1.0], [1.0, 2.0]]))
    array([[1. , 0.5]])
    """
    if not np.isnan(X).any():
        return X
    if matrix is None:
        return np.where(np.isnan(X), mean, X)
    return conditional(np.asarray(X, dtype=float), missing_patterns(X), mean, matrix)[0]


def weights_of_samples(sample_weight, n):
    """Return weights of samples as an array, or say what they must be."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"sample_weight has dtype {weights.dtype}; it must hold numbers")
    weights = weights.astype(float)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; X has n={n} samples")
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(f"sample_weight holds {weights[i]} at {i}; it must be finite, at least 0")
    if not weights.any():
        raise ValueError("sample_weight is zero for all samples; one weight must be positive")
    return weights


def checked_way(missing):
    """Return what is to be done with missing values."""
    return validate.checked_choice("missing", missing, WAYS)
