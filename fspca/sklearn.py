"""Estimators for scikit-learn: a transformer to few components, and a selector of few features."""

import inspect
import re
from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.frames import is_frame, numbers_of_frame, refuse_columns
from fspca.covariance.missing import filled_rows, filling_of, weights_of_samples
from fspca.covariance.validate import (
    Features,
    checked_choice,
    needed,
    numbered,
    warn_of_tails,
    warn_of_units,
)
from fspca.problem import in_two_lists
from fspca.registry import PROBLEMS, SOLVERS
from fspca.selection import explained_by_each, fewest, held_out_share

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_array, check_is_fitted, validate_data
except ImportError as missing:
    raise ImportError(
        "fspca.sklearn needs scikit-learn 1.6 or newer: pip install 'fspca[learn]'"
    ) from missing


def seed_of(random_state):
    """Return an integer seed: 0 for None, so that the same call gives the same answer."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return 0 if random_state is None else int(random_state)
    return int(check_random_state(random_state).randint(2**31))


class _SparseSubspace(BaseEstimator):
    """What both estimators share: their parameters and how they are fitted."""

    def __init__(self, n_components: int = 2,
                 n_features_to_select: int | float | str | None = None, *,
                 problem: str = "shared", solver: str = "auto", init: str | ArrayLike = "auto",
                 n_init: int = 1, required: Features = (), forbidden: Features = (),
                 center: bool = True, scale: bool = False, certify: bool = True,
                 max_seconds: float | None = None, missing: str = "refuse",
                 random_state: int | np.random.RandomState | None = None
                 ) -> None:  # fmt: skip
        self.n_components = n_components
        self.n_features_to_select = n_features_to_select
        self.problem = problem
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.required = required
        self.forbidden = forbidden
        self.center = center
        self.scale = scale
        self.certify = certify
        self.max_seconds = max_seconds
        self.missing = missing
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the features and find the subspace on them."""
        checked_choice("problem", self.problem, tuple(PROBLEMS))
        X = self._read(X, ensure_min_samples=2)
        weights = weights_of_samples(sample_weight, X.shape[0])
        A = Covariance.from_data(X, center=self.center, standardize=self.scale,
                                 divisor="n" if weights is not None and weights.sum() <= 1
                                 else "n-1", missing=self.missing, sample_weight=weights,
                                 names=getattr(self, "feature_names_in_", None))  # fmt: skip
        if not self.scale:
            warn_of_units(A, stacklevel=3)
        solution = self._solve(A)
        if self.scale:
            warn_of_tails(A, solution.support, stacklevel=3)
        W = solution.W
        longest = W[np.argmax(np.abs(W), axis=0), np.arange(W.shape[1])]
        self.components_ = (W * np.where(longest < 0, -1.0, 1.0)).T.astype(X.dtype)
        self.support_ = np.zeros(A.size, dtype=bool)
        self.support_[solution.support] = True
        means, deviations = A.moments
        self.mean_ = np.array(means)
        self.scale_ = np.array(deviations) if self.scale else np.ones(A.size)
        self.scale_[self.scale_ == 0] = 1.0
        self._filling = filling_of(A)
        self.explained_variance_ = explained_by_each(A, solution.problem, solution.W)
        self.explained_variance_ratio_ = self.explained_variance_ / (A.trace or 1.0)
        self.objective_, self.upper_bound_ = solution.objective, solution.upper_bound
        self.gap_, self.n_iter_ = solution.gap, solution.n_iter
        self.score_correlation_ = solution.score_correlation
        self.in_two_lists_ = in_two_lists(solution.W)
        self.solution_ = solution
        return self

    def _read(self, X, **options):
        """Return X as scikit-learn reads it, or its words on what is wrong with it."""
        kinds = {"accept_sparse": ("csr", "csc"), "dtype": (np.float64, np.float32)}
        if is_frame(X):
            refuse_columns(X)
            if hasattr(X, "column_names"):  # scikit-learn does not know Arrow's tables
                values, names = numbers_of_frame(X)
                frame = needed("pandas", "frames", "a table of Arrow").DataFrame
                X = frame(values, columns=list(names))
        return validate_data(self, X, **kinds, ensure_all_finite="allow-nan", **options)

    def _new(self, X):
        """Return new rows, which may have missing values where there is something to fill in."""
        check_is_fitted(self)
        X = self._read(X, reset=False)
        absent = np.isnan(X.data if scipy.sparse.issparse(X) else X).any()
        if absent and (self._filling is None or scipy.sparse.issparse(X)):
            raise ValueError(
                f"X holds NaN, missing values; missing={self.missing!r} has nothing to fill in: "
                "fit with missing='mean' or missing='em'"
            )
        return X

    def _measured(self, X):
        """Return the chosen columns of a frame that lacks others of those fitted, else None."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None or not hasattr(X, "columns"):
            return None
        # it may hold columns that were fitted and no other, in any order: names say which
        given, chosen = list(X.columns), names[self.support_].tolist()
        whole = len(given) >= len(names) or len(set(given)) < len(given)
        if whole or not set(chosen) <= set(given) <= set(names):
            return None  # scikit-learn's words say what is wrong, where something is
        return X[chosen]

    def _solve(self, A):
        """Return the Solution, by the solver named or by the one to call first."""
        asked = PROBLEMS[self.problem]
        sides = {side: numbered(side, getattr(self, side), A.names)
                 for side in ("required", "forbidden")}  # fmt: skip
        m, k = self.n_components, self._count(A, sides)
        function, fixed = self._solver(asked)
        given = {side: features or None for side, features in sides.items()} | {
            "init": None if self.init == "auto" else self.init,
            "n_starts": None if self.n_init == 1 else self.n_init,
            "seed": seed_of(self.random_state),
            "max_seconds": self.max_seconds,
        }
        known = inspect.signature(function).parameters
        options = {name: value for name, value in given.items() if value is not None}
        must = ("required", "forbidden", "init", "n_starts")
        if refused := [name for name in options if name not in known and name in must]:
            raise ValueError(
                f"solver={self.solver!r} takes no {' or '.join(refused)} "
                f"for problem={self.problem!r}"
            )
        options = fixed | {name: value for name, value in options.items() if name in known}
        solution = function(A, m, k, **options)
        if self.certify and solution.upper_bound is None and asked.bounded:
            solution = asked.bounded(A, solution, max_seconds=self.max_seconds)
        return solution

    def _solver(self, asked):
        """Return the function that solves, and the options that go with its name."""
        if self.solver == "auto" and asked.quick and not self.certify:
            return asked.quick, {}
        name = asked.first if self.solver == "auto" else self.solver
        solver = SOLVERS[checked_choice("solver", name, tuple(SOLVERS))]
        if solver.problem is not asked.problem:
            raise ValueError(
                f"solver={self.solver!r} solves {solver.problem.__name__}, "
                f"not problem={self.problem!r}"
            )
        return solver.function, solver.options

    def _count(self, A, sides):
        """Return k: a count, a fraction of the features, or the fewest that explain "80%"."""
        wanted = self.n_features_to_select
        if wanted is None:
            allowed = A.size - len(sides["forbidden"])
            return max(min(10, allowed), self._least(), len(sides["required"]))
        if isinstance(wanted, str):
            share = re.fullmatch(r"(\d+(?:\.\d*)?) ?%", wanted)
            if not share or not 0 < float(share[1]) <= 100:
                raise ValueError(f"n_features_to_select={wanted!r} must be a share such as '80%'")
            return fewest(A, self.n_components, float(share[1]) / 100, **sides)
        if isinstance(wanted, float | np.floating):
            if not 0 < wanted <= 1:
                raise ValueError(f"n_features_to_select={wanted} must be a count, or lie in (0, 1]")
            return max(round(wanted * A.size), self._least())
        return wanted

    def _least(self):
        return PROBLEMS[self.problem].least(self.n_components)


class SparsePrincipalSubspace(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _SparseSubspace):
    r"""Project on few components that live on few features.

    Finds W (d x m) with at most k nonzero rows that maximises trace(W'AW) for the covariance A
    of the rows fitted, and says how far from the best choice of features it can be.

    Parameters
    ----------
    n_components : int
        The number m of components.
    n_features_to_select : int, float, str or None
        The number k: a count, a fraction of all features, or a share such as "80%": then as few
        as explain that share of all variance.  None takes the lesser of ten and all.
    problem : "shared", "separate" or "nonnegative"
        One support for all components; each its own with k nonzeros; or the same with no
        negative loadings.
    solver : str
        "auto" is the one to call first for the problem; else a name in `fspca.SOLVERS`.
    init, n_init : str or array, int
        Where the solver starts, and how often; "auto" leaves both to the solver.
    required, forbidden : sequences of features
        What the choice must hold, and must lack: names of columns, or their numbers.
    center, scale : bool
        Subtract the means; divide by the standard deviations.
    certify : bool
        Look for an upper bound.  Searches over parameters need none.
    max_seconds : float
        A budget for people; results then depend on the machine.
    missing : "refuse", "drop", "mean" or "em"
        What becomes of missing values, as in `Covariance.from_data`.  New rows are filled in
        by the means, or the normal distribution, of those fitted.
    random_state : int, RandomState or None
        None is seed 0: the same call gives the same answer.

    Attributes
    ----------
    components_ : array (m x d)
        Loadings, each with its entry of largest modulus positive, as in PCA.
    support_ : array of d bool
        The features chosen.
    mean_, scale_ : arrays of d
        What is subtracted and divided by.
    explained_variance_, explained_variance_ratio_ : arrays of m
        What each component adds to what those before it explain together.
    objective_, upper_bound_, gap_ : float
        The variance explained together, what no choice of features exceeds, and how far
        apart they are, relatively.
    n_iter_ : int
        The steps of the solver's run.
    score_correlation_ : float or None
        Of separate supports, the largest modulus of a correlation of two scores.
    in_two_lists_ : array of int
        The features that more than one component uses.
    solution_ : Solution
        The answer as the solver gave it.

    See Also
    --------
    SparseSubspaceSelector : Hands on the chosen columns themselves.

    Notes
    -----
    With all features it is PCA, signs included.  In `fit` a sample of weight w counts as w samples;
    weights that sum to 1 or less count as shares.  `transform` needs of a frame the chosen columns
    alone; an array must have all columns, in order.  Where values are missing, `score` judges what
    was observed.

    On new rows of 285 real tables, brought to unit
    variances by themselves, the best choice explains 1.9 % more than a sort by leverage in the
    mean, and wins 102 of 1,022 questions: chapter "Ask when the best choice matters".
    With `scale`, a row that carries over half of a chosen feature's variance is warned of.
    Explained in the chapter "From a table to a choice".

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> wine = load_wine(as_frame=True).data
    >>> model = SparsePrincipalSubspace(2, 4, scale=True).fit(wine)
    >>> wine.columns[model.support_].tolist()
    ['total_phenols', 'flavanoids', 'color_intensity', 'od280/od315_of_diluted_wines']
    """

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of each row's projection on the components."""
        measured = self._measured(X)
        onto = np.linalg.pinv(self.components_.astype(float)) / self.scale_[:, None]
        mean = self.mean_
        if measured is None:
            X = self._new(X)
            if self._filling is not None and not scipy.sparse.issparse(X):
                X = filled_rows(X, *self._filling).astype(X.dtype, copy=False)
        else:
            X = check_array(measured, dtype=(np.float64, np.float32))
            onto, mean = onto[self.support_], mean[self.support_]
        return (X @ onto - mean @ onto).astype(X.dtype)

    def inverse_transform(self, X: ArrayLike) -> np.ndarray:
        """Return the points of the subspace that have these coordinates."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_ * self.scale_ + self.mean_

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance of X that the span of the components explains."""
        X = self._new(X)
        return held_out_share(self.components_.T, X, self.mean_, self.scale_, self._filling)

    @property
    def _n_features_out(self):
        return len(self.components_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "refuse"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class SparseSubspaceSelector(SelectorMixin, _SparseSubspace):
    """Keep the columns of the features that the best sparse subspace stands on.

    Attributes and `fit` are those of `SparsePrincipalSubspace`; `transform` hands on the chosen
    columns as they are.  A frame needs these alone; an array must have all columns, in order.

    Parameters
    ----------
    n_components : int
        The number m of components.
    n_features_to_select : int, float, str or None
        As in `SparsePrincipalSubspace`.
    problem : "shared", "separate" or "nonnegative"
        As in `SparsePrincipalSubspace`.
    solver : str
        As in `SparsePrincipalSubspace`.
    init, n_init : str or array, int
        As in `SparsePrincipalSubspace`.
    required, forbidden : sequences of features
        As in `SparsePrincipalSubspace`.
    center, scale : bool
        As in `SparsePrincipalSubspace`.
    certify : bool
        As in `SparsePrincipalSubspace`.
    max_seconds : float
        As in `SparsePrincipalSubspace`.
    missing : "refuse", "drop", "mean" or "em"
        As in `SparsePrincipalSubspace`.
    random_state : int, RandomState or None
        As in `SparsePrincipalSubspace`.

    See Also
    --------
    SparsePrincipalSubspace : Projects on the components instead.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X = load_wine().data
    >>> SparseSubspaceSelector(2, 4, scale=True).fit_transform(X).shape
    (178, 4)
    """

    def transform(self, X: Any) -> Any:
        """Return the chosen columns."""
        measured = self._measured(X)
        if measured is None:
            return super().transform(X)
        checked = check_array(measured, dtype=None)
        return measured if hasattr(self, "_sklearn_output_config") else checked

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "refuse"
        return tags
