"""The estimators keep scikit-learn's conventions, and are PCA where nothing is left out."""

import pickle
import warnings
from dataclasses import replace
from unittest import SkipTest

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fspca import SOLVERS, Covariance, SharedSupport, solve
from fspca.covariance.validate import (
    CARRIED,
    IN_ONE_ROW,
    ROWS_TO_JUDGE,
    TailsWarning,
    UnitsWarning,
)
from fspca.sklearn import (
    PROBLEMS,
    SparsePrincipalSubspace,
    SparseSubspaceSelector,
)

BOTH = (SparsePrincipalSubspace, SparseSubspaceSelector)


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((40, 9)) * np.linspace(1, 2, 9)


@pytest.mark.filterwarnings("ignore::fspca.covariance.validate.UnitsWarning")
@parametrize_with_checks([kind(1, problem=problem) for kind in BOTH for problem in PROBLEMS])
def test_every_check_of_scikit_learn_passes(estimator, check):
    try:
        check(estimator)
    except SkipTest as why:
        if "array_api" not in str(why):  # of arrays that are not numpy's nothing is claimed
            raise


@pytest.mark.parametrize("scale", [False, True])
def test_with_all_features_it_is_pca_signs_included(X, scale):
    model = SparsePrincipalSubspace(3, 9, scale=scale).fit(X)
    Z = StandardScaler().fit_transform(X) * np.sqrt(39 / 40) if scale else X
    pca = PCA(3).fit(Z)
    np.testing.assert_allclose(model.components_, pca.components_, atol=1e-8)
    np.testing.assert_allclose(model.explained_variance_, pca.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_)
    np.testing.assert_allclose(model.transform(X), pca.transform(Z), atol=1e-8)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_shares_of_the_components_add_up_to_what_they_explain_together(X, problem):
    model = SparsePrincipalSubspace(3, 4, problem=problem).fit(X)
    assert model.explained_variance_.sum() == pytest.approx(model.objective_, rel=1e-9)
    share = model.explained_variance_ratio_.sum()
    if problem == "separate":  # uncorrelated factors explain no more than the span
        assert share <= model.score(X) * (1 + 1e-9)
        correlations = np.corrcoef(model.components_ @ X.T)[np.triu_indices(3, 1)]
        assert model.score_correlation_ == pytest.approx(np.abs(correlations).max(), abs=1e-9)
        in_two = np.flatnonzero(np.count_nonzero(model.components_, axis=0) > 1)
        assert np.array_equal(model.in_two_lists_, in_two)
    else:
        assert model.score(X) == pytest.approx(share, rel=1e-9)


def test_the_answer_is_that_of_the_solver_asked_for(X):
    A = Covariance.from_data(X)
    assert SparsePrincipalSubspace(2, 4).fit(X).objective_ == solve(A, 2, 4).objective
    for name, solver in SOLVERS.items():
        if solver.problem is SharedSupport and name in ("go", "ipu", "swap", "exhaustive"):
            model = SparsePrincipalSubspace(2, 4, solver=name).fit(X)
            assert model.objective_ == solver(A, 2, 4).objective
    with pytest.raises(ValueError, match="solves SharedSupport, not problem='separate'"):
        SparsePrincipalSubspace(2, 4, problem="separate", solver="go").fit(X)
    with pytest.raises(ValueError, match="solver='go' takes no init"):
        SparsePrincipalSubspace(2, 4, solver="go", init="pca").fit(X)


def test_certified_unless_told_not_to(X):
    assert SparsePrincipalSubspace(2, 4).fit(X).gap_ >= 0
    assert SparsePrincipalSubspace(2, 4, solver="ipu").fit(X).upper_bound_ is not None
    assert SparsePrincipalSubspace(2, 4, certify=False).fit(X).upper_bound_ is None


@pytest.mark.parametrize(("wanted", "count"), [(None, 9), (4, 4), (0.5, 4), (1.0, 9), (0.01, 2)])
def test_a_count_or_a_fraction_of_the_features(X, wanted, count):
    assert SparsePrincipalSubspace(2, wanted).fit(X).support_.sum() == count


def test_a_share_takes_the_fewest_features_that_explain_it(X):
    share = 0.4
    model = SparsePrincipalSubspace(2, "40%").fit(X)
    k = int(model.support_.sum())
    assert model.explained_variance_ratio_.sum() >= share
    A = Covariance.from_data(X)
    assert solve(A, 2, k - 1).objective < share * A.trace
    with pytest.raises(ValueError, match="cannot be had: m=2 components of all features"):
        SparsePrincipalSubspace(2, "99%").fit(X)
    for wrong in ("-3%", "0%", "half", "101%", 1.5, 0.0):
        with pytest.raises(ValueError, match="n_features_to_select="):
            SparsePrincipalSubspace(2, wrong).fit(X)


@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "csr_matrix"])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("scale", [False, True])
def test_sparse_data_give_what_dense_data_give(X, kind, center, scale):
    X = np.where(X > 0, X, 0.0)
    asked = {"center": center, "scale": scale}
    dense = SparsePrincipalSubspace(2, 4, **asked).fit(X)
    sparse = SparsePrincipalSubspace(2, 4, **asked).fit(getattr(scipy.sparse, kind)(X))
    np.testing.assert_array_equal(dense.support_, sparse.support_)
    np.testing.assert_allclose(dense.components_, sparse.components_, atol=1e-9)
    S = getattr(scipy.sparse, kind)(X)
    np.testing.assert_allclose(dense.transform(X), sparse.transform(S), atol=1e-9)


def test_a_transform_does_not_depend_on_the_number_of_rows(X):
    model = SparsePrincipalSubspace(3, 4, problem="separate").fit(X)
    np.testing.assert_allclose(model.transform(X)[:5], model.transform(X[:5]), atol=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_projection_is_the_nearest_point_of_the_subspace(X, problem):
    model = SparsePrincipalSubspace(2, 4, problem=problem).fit(X)
    back = model.inverse_transform(model.transform(X))
    assert np.abs((X - back) @ model.components_.T).max() < 1e-9
    again = model.inverse_transform(model.transform(back))
    np.testing.assert_allclose(again, back, atol=1e-9)


def test_names_come_out_and_pandas_goes_through():
    wine = load_wine(as_frame=True).data
    model = SparsePrincipalSubspace(2, 4, scale=True).set_output(transform="pandas").fit(wine)
    assert model.transform(wine).columns.tolist() == model.get_feature_names_out().tolist()
    selector = SparseSubspaceSelector(2, 4, scale=True).set_output(transform="pandas").fit(wine)
    chosen = selector.transform(wine)
    assert chosen.equals(wine[selector.get_feature_names_out()])
    assert list(model.solution_.names) == wine.columns.tolist()


def test_a_unit_that_decides_is_named():
    wine = load_wine(as_frame=True).data
    with pytest.warns(UnitsWarning, match="'proline' alone carries 99.8 % .* Standardise"):
        SparsePrincipalSubspace(2, 4).fit(wine)
    for variances, warned in (([1, 1, 2.01], True), ([1, 1, 1.99], False), ([1, 9], False)):
        X = np.vstack([np.eye(len(variances)), -np.eye(len(variances))]) * np.sqrt(variances)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            SparsePrincipalSubspace(1, 1).fit(X)
        assert bool(caught) is warned, (variances, CARRIED)


def outlying(n=60, value=25.0):
    """Rows of which one alone makes features 5 and 6 go together."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 7))
    X[:, :5] += rng.standard_normal((n, 1))
    X[n // 2, 5:] = value
    return X


def test_a_row_that_decides_is_named():
    X = outlying()
    with pytest.warns(TailsWarning, match=r"row 30 alone carries 9\d(\.\d)? % .* number [56]"):
        decided = SparsePrincipalSubspace(1, 2, scale=True).fit(X)
    assert np.flatnonzero(decided.support_).tolist() == [5, 6]
    without = SparsePrincipalSubspace(1, 2, scale=True).fit(np.delete(X, 30, axis=0))
    assert not without.support_[5:].any()


@pytest.mark.parametrize(
    "X",
    [
        outlying(value=1.0),  # nothing stands out
        outlying(n=ROWS_TO_JUDGE - 1),  # too few rows
        scipy.sparse.csr_array(outlying()),  # counts, of which most are zero
    ],
)
def test_no_row_is_named_where_none_decides(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error", TailsWarning)
        SparsePrincipalSubspace(1, 2, scale=True, center=not scipy.sparse.issparse(X)).fit(X)


def test_a_row_is_named_from_the_share_on_that_the_experiment_asked_of():
    share = np.array([IN_ONE_ROW - 0.01, IN_ONE_ROW + 0.01])
    for value, warned in zip(np.sqrt(share / (1 - share)), (False, True), strict=True):
        X = np.zeros((40, 2))
        X[0, 0] = X[0, 1] = 1.0
        X[1:3, 0] = X[3:5, 1] = np.sqrt(0.5) / value, -np.sqrt(0.5) / value
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            SparsePrincipalSubspace(1, 1, scale=True, center=False).fit(X)
        assert bool(caught) is warned


def test_in_a_pipeline_a_search_a_clone_and_a_pickle(X):
    y = np.arange(40) % 2
    from sklearn.linear_model import LogisticRegression

    pipeline = make_pipeline(SparsePrincipalSubspace(2, certify=False), LogisticRegression())
    grid = {"sparseprincipalsubspace__n_features_to_select": [2, 4]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    model = SparsePrincipalSubspace(2, 4).fit(X)
    assert clone(model).fit(X).objective_ == model.objective_
    assert GridSearchCV(
        SparsePrincipalSubspace(2, certify=False), {"n_features_to_select": [2, 9]}, cv=3
    ).fit(X + 9 * X[:, :1]).best_params_ == {"n_features_to_select": 9}  # all move together


def test_features_are_forced_in_and_out_by_name_or_number():
    wine = load_wine(as_frame=True).data
    A = Covariance.from_data(wine, standardize=True)
    sides = {"required": ["ash", "malic_acid"], "forbidden": ["proline", "flavanoids"]}
    places = wine.columns.get_loc
    numbers = {side: [places(name) for name in names] for side, names in sides.items()}
    for kind in BOTH:
        named = kind(2, 5, scale=True, **sides).fit(wine)
        chosen = set(wine.columns[named.support_])
        assert set(sides["required"]) <= chosen
        assert not chosen & set(sides["forbidden"])
        assert named.objective_ == solve(A, 2, 5, **numbers).objective
        assert named.gap_ < 1e-8  # proven
        by_number = kind(2, 5, scale=True, **numbers).fit(wine.to_numpy())
        np.testing.assert_array_equal(named.support_, by_number.support_)
        quick = kind(2, 5, scale=True, certify=False, **sides).fit(wine)
        assert set(sides["required"]) <= set(wine.columns[quick.support_])
    many = {"required": wine.columns[:11].tolist()}
    assert SparsePrincipalSubspace(2, scale=True, **many).fit(wine).support_.sum() == 11
    few = {"forbidden": wine.columns[:9].tolist()}
    assert SparsePrincipalSubspace(2, scale=True, **few).fit(wine).support_.sum() == 4
    share = SparsePrincipalSubspace(2, "40%", scale=True, required=["ash"]).fit(wine)
    assert "ash" in wine.columns[share.support_]
    assert share.explained_variance_ratio_.sum() >= 0.4


def test_names_that_no_column_has_are_refused_with_those_near_them():
    wine = load_wine(as_frame=True).data
    with pytest.raises(ValueError, match="required holds 'hues', the name of no column; near it "
                       "are 'hue'"):  # fmt: skip
        SparsePrincipalSubspace(2, 4, scale=True, required=["hues"]).fit(wine)
    with pytest.raises(ValueError, match="holds 'hue', and the data have no names: give its"):
        SparsePrincipalSubspace(2, 4, scale=True, required=["hue"]).fit(wine.to_numpy())
    with pytest.raises(TypeError, match=r"forbidden='hue' must be a list of features: \['hue'\]"):
        SparsePrincipalSubspace(2, 4, scale=True, forbidden="hue").fit(wine)
    with pytest.raises(ValueError, match="solver='go' takes no required for problem='shared'"):
        SparsePrincipalSubspace(2, 4, scale=True, solver="go", required=["hue"]).fit(wine)
    with pytest.raises(ValueError, match="takes no forbidden for problem='separate'"):
        SparsePrincipalSubspace(2, 4, problem="separate", scale=True, forbidden=[0]).fit(wine)
    with pytest.raises(ValueError, match="the 11 features allowed explain"):
        SparsePrincipalSubspace(2, "55%", scale=True, forbidden=["flavanoids", "hue"]).fit(wine)


@pytest.mark.parametrize("output", ["default", "pandas"])
@pytest.mark.parametrize("kind", BOTH)
def test_a_frame_of_the_chosen_columns_is_enough(kind, output):
    """Measuring fewer is the point: new rows need no other column, in whatever order they come."""
    wine = load_wine(as_frame=True).data
    model = kind(2, 4, scale=True).set_output(transform=output).fit(wine)
    chosen = wine.columns[model.support_].tolist()
    whole = np.asarray(model.transform(wine))
    others = [name for name in wine if name not in chosen]
    for columns in (chosen, chosen[::-1], [others[0], *chosen[::-1], others[1]]):
        part = model.transform(wine[columns])
        np.testing.assert_allclose(np.asarray(part), whole, rtol=0, atol=1e-12)  # rounding
        if output == "pandas":
            assert part.columns.tolist() == model.get_feature_names_out().tolist()
            assert part.index.equals(wine.index)
    for columns in (chosen[1:], [*others, *chosen[1:]]):
        with pytest.raises(ValueError, match="seen at fit time, yet now missing"):
            model.transform(wine[columns])
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.transform(wine[chosen].assign(visit=1.0))
    with pytest.raises(ValueError, match="in the same order as they were in fit"):
        model.transform(wine[wine.columns[::-1]])
    with pytest.raises(ValueError, match="4 features, but .* is expecting 13"):
        kind(2, 4, scale=True).fit(wine.to_numpy()).transform(wine[chosen].to_numpy())
    with pytest.raises(ValueError, match="NaN"):
        model.transform(wine[chosen].mask(wine[chosen] > 4))


def test_the_chosen_columns_are_enough_in_units_as_they_are_and_after_a_fit_alone(X):
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    model = SparsePrincipalSubspace(2, 4).fit(frame)
    chosen = frame.columns[model.support_]
    np.testing.assert_allclose(model.transform(frame[chosen]), model.transform(frame), atol=1e-12)
    with pytest.raises(ValueError, match="not fitted"):
        SparsePrincipalSubspace(2, 4).transform(frame)


def test_the_longest_loading_of_each_component_is_positive_whatever_the_solver_gives(X):
    class Turned(SparsePrincipalSubspace):
        def _solve(self, A):
            solution = super()._solve(A)
            return replace(solution, W=-solution.W)

    for problem in ("shared", "separate"):
        as_it_is = SparsePrincipalSubspace(3, 4, problem=problem).fit(X).components_
        turned = Turned(3, 4, problem=problem).fit(X).components_
        np.testing.assert_array_equal(turned, as_it_is)
        longest = np.abs(as_it_is).argmax(axis=1)
        assert np.all(as_it_is[range(3), longest] > 0)


def test_a_constant_column_is_scaled_by_nothing(X):
    X = np.hstack([X, np.full((40, 1), 3.0)])
    model = SparsePrincipalSubspace(2, 4, scale=True).fit(X)
    assert model.scale_[9] == 1.0
    np.testing.assert_allclose(model.scale_[:9], X[:, :9].std(axis=0, ddof=1))
    assert np.all(np.isfinite(model.transform(X)))
    assert not model.support_[9]


def test_a_bound_is_looked_for_where_there_is_none_and_one_is_asked(X):
    assert SparsePrincipalSubspace(2, 4, solver="ipu", certify=False).fit(X).upper_bound_ is None
    separate = SparsePrincipalSubspace(2, 4, problem="separate", solver="tpower").fit(X)
    assert separate.upper_bound_ is None  # of these none is looked for
    known = SparsePrincipalSubspace(2, 4, max_seconds=0).fit(X)
    weak = solve(Covariance.from_data(X), 2, 4, max_seconds=0)
    assert known.upper_bound_ == weak.upper_bound  # as the solver gave it


@pytest.mark.parametrize(("d", "m", "count"), [(15, 2, 10), (15, 12, 12), (8, 2, 8)])
def test_ten_features_are_the_default_where_there_are_so_many(d, m, count):
    X = np.random.default_rng(0).standard_normal((30, d))
    assert SparsePrincipalSubspace(m, certify=False).fit(X).support_.sum() == count


def test_a_bound_is_looked_for_where_there_is_none_and_within_the_time_given(X, monkeypatch):
    asked, told = PROBLEMS["shared"], []

    def bounded(A, solution, max_seconds):
        told.append(max_seconds)
        return asked.bounded(A, solution, max_seconds=max_seconds)

    monkeypatch.setitem(PROBLEMS, "shared", replace(asked, bounded=bounded))
    SparsePrincipalSubspace(2, 4, solver="ipu", max_seconds=7.0).fit(X)
    assert told == [7.0]
    SparsePrincipalSubspace(2, 4, max_seconds=7.0).fit(X)  # `solve` has its own
    assert told == [7.0]
