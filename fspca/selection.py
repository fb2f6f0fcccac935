r"""Choosing how many: what each count explains, in sample and held out, and how stable it is.

`select_k` follows a path over the number of features, `select_m` over that of components.  Each
count gets a certified bound, the held-out share of cross-validation with its standard error, how
often each feature is chosen from half of the samples, and what permuted data would explain.
"""

import hashlib
import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.intake import opened, reader
from fspca.covariance.missing import filled_rows, filling_of
from fspca.covariance.validate import Features, checked_count, checked_jobs, needed, numbered
from fspca.datasets.files import write_whole
from fspca.problem import Solution
from fspca.shared_support.path import path
from fspca.solver import Listener, Run, each_of


@dataclass(frozen=True, eq=False)
class Choice:
    """A row for each count tried, and the count chosen.

    Printed, it says what the chosen count explains; `chosen` follows the one-standard-error rule,
    and `elbow` is where the share in sample bends most.  `report(path, X)` takes the data, or their
    covariance, and the options of `fspca.proof.report.write_report`.

    Parameters
    ----------
    what : "k" or "m"
        What is counted: features or components.
    counts : array of int
        The numbers tried, ascending.
    explained, bound : array
        The share of all variance in sample, and what no answer exceeds.
    held_out, standard_error : array
        The mean share on folds left out, and its standard error.
    frequency : array (counts x d)
        How often a feature is chosen from half of the samples.
    stability, interval : array
        Agreement of these choices, corrected for chance, and 95 % of it.
    noise : array
        The share that columns permuted one by one explain, the largest of the permutations.
    solutions : tuple of Solution
        The answer at each count.
    names : tuple of str
        Of the features, where they have some.

    See Also
    --------
    select_k, select_m : Return one.
    fspca.plots.plot_path : Draws it.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((60, 8))
    >>> X[:, :3] += 3 * np.random.default_rng(1).standard_normal((60, 1))
    >>> choice = select_k(X, m=1, ks=[1, 3, 8], subsamples=10)
    >>> choice.counts, choice.frequency.shape
    (array([1, 3, 8]), (3, 8))
    """

    what: str
    counts: np.ndarray
    explained: np.ndarray
    bound: np.ndarray
    held_out: np.ndarray
    standard_error: np.ndarray
    frequency: np.ndarray = field(repr=False)
    stability: np.ndarray
    interval: np.ndarray
    noise: np.ndarray
    solutions: tuple[Solution, ...] = field(repr=False)
    names: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def best(self) -> int:
        """The count with the largest held-out mean."""
        return int(self.counts[np.argmax(self.held_out)])

    @property
    def chosen(self) -> int:
        """The least count whose held-out mean is within a standard error of the best."""
        at = int(np.argmax(self.held_out))
        enough = self.held_out >= self.held_out[at] - self.standard_error[at]
        return int(self.counts[np.argmax(enough)])

    @property
    def elbow(self) -> int:
        """The count whose share in sample lies highest above a line from the first to the last."""
        x, y = self.counts, self.explained
        above = y - y[0] - (y[-1] - y[0]) * (x - x[0]) / (x[-1] - x[0] or 1)
        above[-1] = above[0]  # but for rounding
        return int(x[np.argmax(above)])

    @property
    def solution(self) -> Solution:
        """The answer at the count chosen."""
        return self.solutions[int(np.searchsorted(self.counts, self.chosen))]

    def report(self, path: str | Path, X: Any, **options: Any) -> None:
        """Write the answer at the count chosen, and what defends it, into one HTML file."""
        import_module("fspca.proof.report").write_report(path, self, X, **options)

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame."""
        columns = ("explained", "bound", "held_out", "standard_error", "stability", "noise")
        table = {self.what: self.counts} | {name: getattr(self, name) for name in columns}
        return needed("pandas", "frames", "Choice.to_frame").DataFrame(table).set_index(self.what)

    def __str__(self):
        at = int(np.searchsorted(self.counts, self.chosen))
        return (
            f"{self.what}={self.chosen}: explains {100 * self.held_out[at]:.3g} % held out "
            f"(+- {100 * self.standard_error[at]:.2g}), {100 * self.explained[at]:.3g} % in "
            f"sample, at most {100 * self.bound[at]:.3g} % possible; "
            f"stability {self.stability[at]:.2g}; best at {self.what}={self.best}"
        )

    __repr__ = __str__


def stability(chosen: ArrayLike) -> tuple[float, tuple[float, float]]:
    """Return how well selections agree beyond chance, and its 95 % interval.

    1 is full agreement, 0 what choices at random give; the interval is the asymptotic one.

    Parameters
    ----------
    chosen : array of bool (runs x d)
        True where a run chose a feature.

    Returns
    -------
    index : float
        At most 1.
    interval : pair of float
        What holds it in 95 of 100 cases, for many runs.

    See Also
    --------
    select_k : Shows it for each count.

    References
    ----------
    Nogueira, Sechidis and Brown, "On the stability of feature selection algorithms", JMLR 18,
    2018.

    Examples
    --------
    >>> stability(np.array([[True, False, False], [True, False, False]]))[0]
    1.0
    """
    Z = np.asarray(chosen, dtype=float)
    runs, d = Z.shape
    share = Z.mean(axis=0)
    density = share.mean()
    if not 0 < density < 1:  # all or none are chosen: nothing could differ
        return 1.0, (1.0, 1.0)
    chance = density * (1 - density)
    index = 1 - runs / (runs - 1) * np.mean(share * (1 - share)) / chance
    counts = Z.sum(axis=1)
    # of each run's agreement what is the same for all is left out
    each = (
        Z @ share / d - counts * density / d + index / 2 * (2 * counts * density / d - counts / d)
    ) / chance
    spread = 1.96 * np.sqrt(4 / runs**2 * np.sum((each - each.mean()) ** 2))
    return float(index), (float(index - spread), float(min(index + spread, 1.0)))


def held_out_share(W: np.ndarray, X: Any, mean: ArrayLike, scale: ArrayLike,
                   filling: Any = None) -> float:  # fmt: skip
    """Return the share of the variance of rows X, centred and scaled so, that span(W) explains.

    The rows need not be those that W was found on.  Where values are missing they are filled in
    as in the rows fitted, and what was observed alone is judged.

    Parameters
    ----------
    W : array (d x m)
        Loadings, whose span counts.
    X : array or sparse matrix (n x d)
        Rows.
    mean, scale : array of d
        What is subtracted and divided by: those of the rows fitted.
    filling : pair
        The means of missing values, and the covariance that says more of them, or None.

    Returns
    -------
    float
        At most 1; 0 where the rows have no variance, below it where filled values mislead.

    See Also
    --------
    fspca.metrics.normalised_explained_variance : Of a covariance, against PCA.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [-1.0, 1.0]])
    >>> held_out_share(np.eye(2)[:, :1], X, np.zeros(2), np.ones(2))
    0.5
    """
    Q = np.linalg.qr(W)[0]
    if scipy.sparse.issparse(X):
        onto, sums = Q / np.asarray(scale)[:, None], np.asarray(X.sum(axis=0)).ravel()
        squares = np.asarray(X.multiply(X).sum(axis=0)).ravel()
        squares = squares - 2 * mean * sums + X.shape[0] * np.square(mean)
        total, Y = float(np.sum(squares / np.square(scale))), X @ onto - mean @ onto
        return float(np.vdot(Y, Y) / total) if total else 0.0
    observed = ~np.isnan(X)
    if not observed.all():
        Z = (filled_rows(X, *(filling or (mean, None))) - mean) / scale
        total, rest = np.sum(Z[observed] ** 2), Z - Z @ Q @ Q.T
        return float(1 - np.sum(rest[observed] ** 2) / total) if total else 0.0
    Z = (X - mean) / scale
    total = np.vdot(Z, Z)
    return float(np.vdot(Z @ Q, Z @ Q) / total) if total else 0.0


def select_k(X: Any, m: int, ks: Sequence[int] | None = None, *,
             folds: int = 5, subsamples: int = 40, permutations: int = 5, center: bool = True,
             standardize: bool = False, missing: str = "refuse", required: Features = (),
             forbidden: Features = (), bound: str = "dual", seed: int = 0,
             progress: Listener | None = None, n_jobs: int | None = None,
             resume: str | Path | None = None) -> Choice:  # fmt: skip
    r"""Say what each number of features explains, and choose one.

    Each count is fitted on all rows, on folds for its held-out share, on halves for the stability
    of its choice, and on permuted data.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame, n samples x d features
        The data.
    m : int
        The number of components.
    ks : sequence of int
        The counts of features to try; by default about ten, from m to d, evenly in logarithm.
    folds : int
        Of the cross-validation; a fold's rows take no part in any step of its fit.
    subsamples : int
        Halves of the samples from which features are chosen again, for their stability.
    permutations : int
        Copies of the data with each column permuted, which have no common direction.
    center, standardize : bool
        As in `Covariance.from_data`; means and deviations are those of the rows fitted.
    missing : "refuse", "drop", "mean" or "em"
        As in `Covariance.from_data`; each fit fills in by its own rows, and the held-out share
        is judged on what was observed.
    required, forbidden : sequences of features
        What every choice must hold, and must lack: numbers, or names of the columns.
    bound : "dual" or "shifted"
        As in `path`: the tight bound, or the quick one.
    seed : int
        Of the folds, halves and permutations.
    progress : bool or callable
        As of every solver: an event for each fit of all counts, whose objective is the best
        held-out mean so far.
    n_jobs : int
        How many bounds and fits are made at once, each on a core of its own, by joblib, which
        scikit-learn brings; -1 takes all cores.  The choice is the same.
    resume : path
        A file of what is done, so that a run that was ended goes on where it was.

    Returns
    -------
    Choice
        Print it; `chosen` follows the one-standard-error rule.

    See Also
    --------
    select_m : The same for the number of components.

    Notes
    -----
    Held-out shares compare what was fitted on other rows; certified bounds concern the rows
    given.  The cost is that of folds + subsamples + permutations + 1 paths, and of a bound for
    each count.
    Explained in the chapter "Choose how many".

    References
    ----------
    Nogueira, Sechidis and Brown, "On the stability of feature selection algorithms", JMLR 18,
    2018.

    Examples
    --------
    >>> from fspca.synthetic import make_spiked
    >>> X = np.random.default_rng(0).standard_normal((60, 8))
    >>> X[:, :3] += 3 * np.random.default_rng(1).standard_normal((60, 1))
    >>> select_k(X, m=1, ks=[1, 2, 3, 5, 8], subsamples=10).chosen
    3
    """
    X, names = as_table(X)
    sides = checked_sides(required, forbidden, names)
    if ks is None:
        least = max(m, len(sides["required"]))
        ks = default_counts(least, X.shape[1] - len(sides["forbidden"]))
    ks = sorted(set(map(int, ks)))
    return _choose(
        X,
        "k",
        (m, ks),
        names=names,
        sides=sides,
        folds=folds,
        subsamples=subsamples,
        permutations=permutations,
        conventions=(center, standardize, missing),
        bound=bound,
        seed=seed,
        progress=progress,
        n_jobs=n_jobs,
        resume=resume,
    )


def select_m(X: Any, k: int, ms: Sequence[int] | None = None, *,
             folds: int = 5, subsamples: int = 40, permutations: int = 5, center: bool = True,
             standardize: bool = False, missing: str = "refuse", required: Features = (),
             forbidden: Features = (), bound: str = "dual", seed: int = 0,
             progress: Listener | None = None, n_jobs: int | None = None,
             resume: str | Path | None = None) -> Choice:  # fmt: skip
    """Say what each number of components on k features explains, and choose one.

    Parameters and result are those of `select_k`, with the counts `ms` of components (by default
    1 to the lesser of ten and k).  More components never explain less, so read where they stop
    explaining more than permuted data would.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame, n samples x d features
        The data.
    k : int
        The number of features.
    ms : sequence of int
        The numbers of components to try.
    folds, subsamples, permutations : int
        As in `select_k`.
    center, standardize : bool
        As in `select_k`.
    missing : "refuse", "drop", "mean" or "em"
        As in `select_k`.
    required, forbidden : sequences of features
        As in `select_k`.
    bound : "dual" or "shifted"
        As in `select_k`.
    seed : int
        As in `select_k`.
    progress : bool or callable
        As in `select_k`.
    n_jobs : int
        As in `select_k`.
    resume : path
        As in `select_k`.

    Returns
    -------
    Choice
        Print it.

    See Also
    --------
    select_k : The same for the number of features.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((60, 8))
    >>> X[:, :3] += 3 * np.random.default_rng(1).standard_normal((60, 1))
    >>> choice = select_m(X, k=3, ms=[1, 2, 3], subsamples=10)
    >>> bool(choice.held_out[0] > 0.5)
    True
    """
    X, names = as_table(X)
    ms = list(range(1, min(10, k) + 1)) if ms is None else sorted(set(map(int, ms)))
    return _choose(
        X,
        "m",
        (ms, k),
        names=names,
        sides=checked_sides(required, forbidden, names),
        folds=folds,
        subsamples=subsamples,
        permutations=permutations,
        conventions=(center, standardize, missing),
        bound=bound,
        seed=seed,
        progress=progress,
        n_jobs=n_jobs,
        resume=resume,
    )


def explained_by_each(A, problem, W):
    """Return what each component adds to the variance that those before it explain together."""
    return np.diff([problem.score(A, W[:, : j + 1]) for j in range(W.shape[1])], prepend=0.0)


def fewest(A, m, share, required=(), forbidden=()):
    """Return the least k at which a quick answer explains this share of all variance.

    >>> fewest(Covariance(np.diag([5.0, 3.0, 1.0, 1.0])), 2, 0.8)
    2
    """
    sides = checked_sides(required, forbidden, A.names)
    allowed = np.setdiff1d(np.arange(A.size), np.array(sides["forbidden"], dtype=int))
    within = A.restricted(allowed) if len(allowed) < A.size else A
    top = float(within.leading(m)[0].sum()) / (A.trace or 1.0)
    if top < share:
        those = "all features" if within is A else f"the {len(allowed)} features allowed"
        raise ValueError(
            f"{100 * share:.4g} % of the variance cannot be had: m={m} components of {those} "
            f"explain {100 * top:.4g} %"
        )
    # below `low` it is too little, at `high` it is enough
    low, high = max(m, len(sides["required"])) - 1, len(allowed)
    while high - low > 1:
        k = (low + high) // 2
        enough = quick(A, (m, [k]), sides)[0].objective >= share * A.trace
        low, high = (low, k) if enough else (k, high)
    return high


def default_counts(m, d):
    """Return about ten counts from m to d, evenly in logarithm."""
    return np.unique(np.geomspace(m, d, 10).round().astype(int)).tolist()


def checked_sides(required, forbidden, names):
    """Return what a choice must hold and lack as numbers, by the words of `path` and `solve`."""
    given = {"required": required, "forbidden": forbidden}
    return {side: tuple(numbered(side, features, names)) for side, features in given.items()}


def as_table(X):
    """Return the values of X, in memory, and the names of its columns, None where it has none."""
    if hasattr(X, "dask"):
        reader(X)
    X, names = opened(X)
    return (X.tocsr() if scipy.sparse.issparse(X) else np.asarray(X, dtype=float)), names


def prepared(X, center, standardize, missing="refuse"):
    """Return the covariance of these rows, and the means and deviations that it takes off."""
    A = Covariance.from_data(X, center=center, standardize=standardize, missing=missing)
    mean, spread = A.moments
    return A, mean, np.where(spread > 0, spread, 1.0) if standardize else np.ones(A.size)


def quick(A, asked, sides):
    """Return an answer for each count asked for, without a bound."""
    return path(A, *asked, bound=None, n_starts=1, **sides)


def fold_shares(X, rows, asked, conventions, sides):
    """Return the share of each count on these rows, fitted on the others alone."""
    others = np.setdiff1d(np.arange(X.shape[0]), rows)
    A, mean, scale = prepared(X[others], *conventions)
    held, filling = X[rows], filling_of(A)
    return [held_out_share(each.W, held, mean, scale, filling) for each in quick(A, asked, sides)]


def half_supports(X, rows, asked, conventions, sides):
    """Return the features chosen from these rows, for each count."""
    A, _, _ = prepared(X[rows], *conventions)
    return [each.support.tolist() for each in quick(A, asked, sides)]


def noise_shares(X, seed, asked, conventions, sides):
    """Return the share that each count explains of X with every column permuted by itself."""
    A, _, _ = prepared(permuted(X, np.random.default_rng(seed)), *conventions)
    return [each.objective / (A.trace or 1.0) for each in quick(A, asked, sides)]


def permuted(X, rng):
    """Return X with every column permuted by itself."""
    if not scipy.sparse.issparse(X):
        return rng.permuted(X, axis=0)
    X = X.tocsc(copy=True)
    X.sort_indices()
    for start, stop in zip(X.indptr, X.indptr[1:], strict=False):
        X.indices[start:stop] = rng.choice(X.shape[0], stop - start, replace=False)
    return type(X)((X.data, X.indices, X.indptr), shape=X.shape).tocsr()


WORK = {"fold": fold_shares, "half": half_supports, "noise": noise_shares}


def work_of(kind, *given):
    """Return what a job gives."""
    return WORK[kind](*given)


class Rows(list):
    """What each job gave, kept in a file of lines where one is named, so that a run goes on."""

    def __init__(self, file, question):
        self.file = None if file is None else Path(file)
        head = hashlib.sha256(pickle.dumps(question)).hexdigest()
        if self.file is None:
            return
        lines = self.file.read_text(errors="replace").split("\n") if self.file.is_file() else []
        if lines and lines[0] != head:
            raise ValueError(f"resume={str(file)!r} holds the rows of other data or options")
        for line in lines[1:-1]:  # what has no line break after it was cut off
            self.append(json.loads(line))
        write_whole(self.file, "\n".join([head, *lines[1:-1], ""]))

    def add(self, row):
        """Keep a row, in the file too."""
        self.append(row)
        if self.file is not None:
            with self.file.open("a") as file:
                file.write(json.dumps(row) + "\n")


def _choose(X, what, asked, *, names, sides, folds, subsamples, permutations, conventions, bound,
            seed, progress, n_jobs, resume):  # fmt: skip
    """Return the Choice among the counts asked for, one job for each fold, shuffle and half."""
    n_jobs = checked_jobs(n_jobs)
    center, standardize, missing = conventions
    A = Covariance.from_data(X, center=center, standardize=standardize, missing=missing,
                             names=names)  # fmt: skip
    if missing == "drop":  # what is left has no missing values in any of its parts
        X, conventions = X[A.table[1]["kept"]], (center, standardize, "refuse")
    n = X.shape[0]
    if not 2 <= checked_count("folds", folds) <= n // 2:
        raise ValueError(f"folds={folds} must lie between 2 and n / 2 = {n // 2}")
    for name, number in {"subsamples": subsamples, "permutations": permutations}.items():
        if checked_count(name, number) < 2:
            raise ValueError(f"{name}={number} must be at least 2")
    solutions = tuple(path(A, *asked, bound=bound, n_jobs=n_jobs, **sides))
    rng = np.random.default_rng(seed)
    jobs = [("fold", rows) for rows in np.array_split(rng.permutation(n), folds)]
    jobs += [("noise", int(number)) for number in rng.integers(2**32, size=permutations)]
    jobs += [("half", rng.permutation(n)[: n // 2]) for _ in range(subsamples)]
    rows, run = Rows(resume, [X, asked, conventions, sides, jobs]), Run(progress=progress)
    to_do = ((kind, X, given, asked, conventions, sides) for kind, given in jobs[len(rows) :])
    with run:
        done = each_of(work_of, to_do, n_jobs)
        for at in range(len(jobs)):
            if at >= len(rows):
                rows.add(next(done))
            if at > folds + permutations:  # two halves: now a Ctrl-C leaves a choice
                run.answer = rows
            run.report(float(np.max(np.mean(rows[:folds], axis=0))))
    shares, noise = np.array(rows[:folds]), np.array(rows[folds : folds + permutations])
    frequency, agreement = [], []
    for supports in zip(*rows[folds + permutations :], strict=True):
        chosen = np.array([np.isin(np.arange(A.size), support) for support in supports])
        frequency.append(chosen.mean(axis=0))
        agreement.append(stability(chosen))
    total = A.trace or 1.0
    return Choice(
        what,
        np.array(asked["mk".index(what)]),
        np.array([each.objective for each in solutions]) / total,
        np.array([each.upper_bound for each in solutions]) / total,
        shares.mean(axis=0),
        shares.std(axis=0, ddof=1) / np.sqrt(folds),
        np.array(frequency),
        np.array([index for index, _ in agreement]),
        np.array([interval for _, interval in agreement]),
        noise.max(axis=0),
        solutions,
        names,
    )
