"""Missing values and weights: what is estimated is what the definitions say, and is said."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from fspca import Covariance, solve
from fspca.covariance.missing import em_moments, filled_rows
from fspca.selection import held_out_share, select_k
from fspca.sklearn import SparsePrincipalSubspace

WAYS = ("drop", "mean", "em")


def complete(n=80, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 3


def holed(share=0.1, n=80, d=5, seed=0):
    X = complete(n, d, seed)
    X[np.random.default_rng(seed + 1).random(X.shape) < share] = np.nan
    return X


def matrix(A):
    return A.submatrix(np.arange(A.size))


def log_likelihood(X, mean, S):
    """Of the values that are there, under a normal distribution."""
    total = 0.0
    for row in X:
        seen = ~np.isnan(row)
        if seen.any():
            R = S[np.ix_(seen, seen)]
            gap = row[seen] - mean[seen]
            total -= 0.5 * (np.linalg.slogdet(2 * np.pi * R)[1] + gap @ np.linalg.solve(R, gap))
    return total


def test_two_columns_of_which_one_has_gaps_have_a_closed_form():
    """Anderson 1957: the regression on the rows with both, moved to the mean of all rows."""
    X = complete(60, 2)
    X[40:, 1] = np.nan
    x, y = X[:40].T
    slope = np.cov(x, y, ddof=0)[0, 1] / np.var(x)
    rest = np.var(y) - slope**2 * np.var(x)
    mean = np.array([X[:, 0].mean(), y.mean() + slope * (X[:, 0].mean() - x.mean())])
    v = np.var(X[:, 0])
    expected = np.array([[v, slope * v], [slope * v, rest + slope**2 * v]])
    found = em_moments(X)
    np.testing.assert_allclose(found[0], mean, rtol=1e-6)  # steps of 1e-9, on a linear way
    np.testing.assert_allclose(found[1], expected, rtol=1e-6)


def test_no_step_lowers_the_likelihood_and_the_end_is_its_top():
    X = holed(0.3)
    ends = [em_moments(X, max_iter=steps) for steps in (*range(1, 12), 1000)]
    values = [log_likelihood(X, *end) for end in ends]
    assert np.all(np.diff(values) > 0)
    mean, S = ends[-1]
    rng = np.random.default_rng(0)
    for _ in range(20):
        turn = np.eye(5) + 1e-3 * rng.standard_normal((5, 5))
        assert log_likelihood(X, mean + 1e-3 * rng.standard_normal(5), S) < values[-1]
        assert log_likelihood(X, mean, turn @ S @ turn.T) < values[-1]


def test_complete_data_are_what_they_were():
    X = complete()
    for missing in ("refuse", *WAYS):
        for given in ({}, {"standardize": True}, {"center": False}, {"divisor": "n"}):
            A = Covariance.from_data(X, missing=missing, **given)
            np.testing.assert_array_equal(matrix(A), matrix(Covariance.from_data(X, **given)))
            assert A.about is None
    np.testing.assert_allclose(em_moments(X)[1], np.cov(X.T, ddof=0), rtol=1e-12)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("missing", WAYS)
def test_each_way_gives_a_covariance_that_says_what_it_is_of(missing, center, standardize):
    X = holed()
    A = Covariance.from_data(X, missing=missing, center=center, standardize=standardize)
    assert np.linalg.eigvalsh(matrix(A))[0] > 0
    if standardize:
        np.testing.assert_allclose(A.diagonal(), 1)
    other = {
        "drop": X[~np.isnan(X).any(axis=1)],
        "mean": np.where(np.isnan(X), np.nanmean(X, axis=0), X),
    }.get(missing)
    if other is not None:
        same = Covariance.from_data(other, center=center, standardize=standardize)
        np.testing.assert_allclose(matrix(A), matrix(same), rtol=1e-12)  # means in another order
    word = {"drop": "rows of 80 without", "mean": "means for", "em": "EM under normality"}[missing]
    assert word in A.about
    assert word in str(solve(A, 1, 2))
    assert word in str(solve(A.restricted([0, 2, 3]), 1, 2))


def test_em_is_nearer_the_truth_than_means():
    X, gaps = complete(400), holed(0.2, 400)
    truth = matrix(Covariance.from_data(X))
    far = {
        way: np.linalg.norm(matrix(Covariance.from_data(gaps, missing=way)) - truth)
        for way in ("mean", "em")
    }
    assert far["em"] < far["mean"] / 2


def test_a_missing_value_is_refused_with_its_column_its_share_and_the_ways():
    frame = pd.DataFrame(complete(40), columns=list("abcde"))
    frame.loc[:9, "b"] = np.nan
    frame.loc[5:6, "e"] = np.nan
    said = "25 % in column 'b', 5 % in column 'e'.*the 10 rows"
    for table in (frame, pl.from_pandas(frame)):
        with pytest.raises(ValueError, match=said) as e:
            Covariance.from_data(table)
        assert all(f"missing={way!r}" in str(e.value) for way in WAYS)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Covariance.from_data(holed(), missing="median"), "missing='median' must be one"),
        (lambda: Covariance.from_data(holed(0.9), missing="drop"), "missing='drop' leaves"),
        (lambda: Covariance.from_data(holed(n=5), missing="em"), "more rows .* than columns"),
        (lambda: Covariance.from_data(np.c_[complete(), np.full(80, np.nan)], missing="em"),
         "column 5 of X has no value at all"),
        (lambda: Covariance.from_data(scipy.sparse.csr_array(holed()), missing="em"),
         "is for an array or a DataFrame"),
        (lambda: Covariance.from_data(complete(), sample_weight=[1, 2]), r"shape \(2,\).*n=80"),
        (lambda: Covariance.from_data(complete(), sample_weight=-np.ones(80)), "-1.0 at 0"),
        (lambda: Covariance.from_data(complete(), sample_weight=np.zeros(80)), "zero for all"),
        (lambda: Covariance.from_data(complete(), sample_weight=np.full(80, 1 / 80)),
         "sums to 1; divisor='n-1'"),
        (lambda: Covariance.from_data(complete(), sample_weight=["a"] * 80), "must hold numbers"),
        (lambda: Covariance.from_data(complete().view(np.memmap), sample_weight=np.ones(80)),
         "read by blocks"),
        (lambda: Covariance.from_data(complete(), names="ab"), "names holds 2 names"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(call, said):
    with pytest.raises((TypeError, ValueError), match=said):
        call()


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("formed", [0, 1000])
def test_a_weight_counts_as_so_many_samples(kind, center, standardize, formed, monkeypatch):
    monkeypatch.setattr("fspca.covariance.covariance.FORMED_SIZE", formed)
    X = complete() * (np.random.default_rng(3).random((80, 5)) < 0.6)
    weights = np.random.default_rng(4).integers(0, 4, 80)
    given = {"center": center, "standardize": standardize}
    weighted = Covariance.from_data(kind(X), sample_weight=weights, **given)
    many = Covariance.from_data(np.repeat(X, weights, axis=0), **given)
    V = np.random.default_rng(5).standard_normal((5, 2))
    near = {"rtol": 1e-9, "atol": 1e-9 * many.trace}
    np.testing.assert_allclose(matrix(weighted), matrix(many), **near)
    np.testing.assert_allclose(weighted.product(V), many.product(V), **near)
    np.testing.assert_allclose(weighted.columns([1, 3]), many.columns([1, 3]), **near)
    np.testing.assert_allclose(weighted.leading(2)[0], many.leading(2)[0], **near)
    gram = weighted.gram() if formed == 0 else np.eye(1)
    top = np.linalg.eigvalsh(gram)[-1]
    assert formed or top == pytest.approx(many.leading(1)[0][0], rel=1e-9)
    Z = weighted.factor if formed == 0 else None
    assert formed or np.allclose(Z.rmatmat(Z.matmat(V)), many.product(V))
    for ours, theirs in zip(weighted.moments, many.moments, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert "weights of samples" in weighted.about


def test_weights_and_missing_values_together():
    X, weights = holed(), np.random.default_rng(4).integers(0, 4, 80)
    for missing in WAYS:
        weighted = Covariance.from_data(X, missing=missing, sample_weight=weights)
        many = Covariance.from_data(np.repeat(X, weights, axis=0), missing=missing)
        np.testing.assert_allclose(matrix(weighted), matrix(many), rtol=1e-7)  # of EM's end


@pytest.mark.parametrize("missing", ["mean", "em"])
def test_the_held_out_share_is_judged_on_what_was_observed(missing):
    X = holed(0.15)
    W = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 2)))[0]
    A = Covariance.from_data(X, missing=missing)
    mean, scale, seen = A.moments[0], np.ones(5), ~np.isnan(X)
    Z = filled_rows(X, *A.filling) - mean
    rest = Z - Z @ W @ W.T
    expected = 1 - np.sum(rest[seen] ** 2) / np.sum((X - mean)[seen] ** 2)
    assert held_out_share(W, X, mean, scale, A.filling) == pytest.approx(expected)
    full = complete()
    known = held_out_share(W, full, mean, scale)
    full[0, 0] += 1e-9
    assert held_out_share(W, full, mean, scale, A.filling) == pytest.approx(known)


@pytest.mark.parametrize("missing", WAYS)
def test_counts_are_chosen_from_data_with_gaps(missing):
    X = complete(120, 6)
    X[:, :3] += 9 * np.random.default_rng(9).standard_normal((120, 1))
    X[np.random.default_rng(8).random(X.shape) < 0.03] = np.nan
    asked = {"ks": [1, 2, 3, 6], "subsamples": 4, "permutations": 2, "folds": 3}
    with pytest.raises(ValueError, match="X holds NaN"):
        select_k(X, 1, **asked)
    choice = select_k(X, 1, **asked, missing=missing)
    assert choice.chosen == 3
    assert choice.solution.about
    assert 0.5 < choice.held_out[2] < 1


@pytest.mark.parametrize("standardize", [False, True])
def test_counts_are_chosen_from_sparse_data_as_from_dense(standardize):
    X = complete(60) * (np.random.default_rng(3).random((60, 5)) < 0.6)
    asked = {"ks": [1, 2, 5], "subsamples": 4, "permutations": 2, "folds": 3}
    dense = select_k(X, 1, **asked, standardize=standardize)
    sparse = select_k(scipy.sparse.csr_matrix(X), 1, **asked, standardize=standardize)
    np.testing.assert_allclose(sparse.held_out, dense.held_out, rtol=1e-9)
    np.testing.assert_array_equal(sparse.frequency, dense.frequency)
    assert np.all(sparse.noise <= 1)


@pytest.mark.parametrize("missing", WAYS)
def test_the_estimators_fill_new_rows_as_those_fitted(missing):
    X = holed()
    model = SparsePrincipalSubspace(2, 3, missing=missing).fit(X)
    A = Covariance.from_data(X, missing=missing)
    assert model.objective_ == solve(A, 2, 3).objective
    np.testing.assert_array_equal(model.mean_, A.moments[0])
    if missing == "drop":
        with pytest.raises(ValueError, match="has nothing to fill in"):
            model.transform(X)
        return
    np.testing.assert_allclose(model.transform(X), model.transform(filled_rows(X, *A.filling)))
    assert model.score(X) < 1


def test_rows_of_weight_zero_are_transformed_but_not_chosen_on():
    X = complete()
    model = SparsePrincipalSubspace(2, 3).fit(X, sample_weight=np.arange(80) < 50)
    alone = SparsePrincipalSubspace(2, 3).fit(X[:50])
    np.testing.assert_allclose(model.transform(X[50:]), alone.transform(X[50:]))
    shares = SparsePrincipalSubspace(2, 3).fit(X, sample_weight=np.full(80, 1 / 80))
    np.testing.assert_array_equal(shares.support_, SparsePrincipalSubspace(2, 3).fit(X).support_)


def test_a_frame_of_covariances_keeps_its_names_and_says_how_far_it_is_from_one():
    frame = pd.DataFrame(complete(30, 4), columns=list("abcd"))
    assert Covariance(frame.cov()).names == tuple("abcd")
    assert solve(frame.cov(), 1, 2).names == tuple("abcd")
    gaps = pd.DataFrame(holed(0.3, 12, 6), columns=list("abcdef"))
    with pytest.raises(ValueError, match=r"\(.* % of the largest\).*missing='em'"):
        Covariance(gaps.cov())
