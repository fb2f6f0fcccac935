"""The estimators keep scikit-learn's conventions, and are PCA where nothing is left out."""

import pickle
import warnings
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
from fspca.covariance.validate import CARRIED, UnitsWarning
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
