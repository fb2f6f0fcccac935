"""The three problems, the answer to one, and the judge, which recomputes what an answer claims."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Matrix, as_covariance
from fspca.covariance.linalg import basis, most_on_diagonal
from fspca.covariance.validate import (
    checked_choice,
    checked_count,
    checked_features,
    checked_truth,
    needed,
)
from fspca.proof import claim_files


class ConvergenceWarning(UserWarning):
    """A loop ended before its stopping rule was met.

    The answer is feasible, and its `stopped` says what ended it.

    See Also
    --------
    Solution : Has `converged`.

    Examples
    --------
    >>> import warnings
    >>> from fspca.shared_support import fantope
    >>> with warnings.catch_warnings(record=True, action="always") as told:
    ...     answer = fantope(np.diag([3.0, 2.0, 1.0]), 1, 2, max_iter=1)
    >>> [each.category.__name__ for each in told], answer.stopped
    (['ConvergenceWarning'], 'max_iter')
    """


TOLERANCE = 1e-8  # of the judge: far above rounding, far below any difference that matters
SCORES = ("factors", "subspace")  # of components on features of their own
TRIED = "all supports tried"  # the end of an enumeration, whose answer is optimal without a bound
# the ends that are no stopping rule
CUT_SHORT = ("max_iter", "max_seconds", "max_work", "parts left open", "interrupted")


def with_image(A, W):
    """Return V, the rows of W that are not zero, and those of AW."""
    A, W = as_covariance(A), np.asarray(W, dtype=float)
    if W.ndim != 2 or len(W) != A.size:
        raise ValueError(f"W has shape {W.shape}; it must have d={A.size} rows and two dimensions")
    rows = np.flatnonzero(W.any(axis=1))
    V = W[rows]
    if len(rows) ** 2 <= A.size * W.shape[1]:  # then A[I, I] costs less than a product
        return V, A.submatrix(rows) @ V
    return V, A.precise.product(V, rows)[rows]


def covariance_of_scores(A, W):
    """Return W'AW, symmetric."""
    V, image = with_image(A, W)
    K = V.T @ image
    return (K + K.T) / 2


def correlation_of_scores(K):
    """Return the largest modulus of a correlation of two scores, of their covariance K.

    >>> correlation_of_scores(np.array([[4.0, -1.0], [-1.0, 1.0]]))
    0.5
    """
    deviation = np.sqrt(np.maximum(np.diagonal(K), 0.0))  # rounding may be below
    apart = np.outer(deviation, deviation) > 0
    np.fill_diagonal(apart, False)
    products = np.where(apart, np.outer(deviation, deviation), 1.0)
    most = np.abs(K / products).max(where=apart, initial=0.0)
    return float(min(most, 1.0))


@dataclass(frozen=True)
class Problem:
    """What the three problems share: m components and k nonzeros, counted as each says."""

    kind: ClassVar[str]  # the word for it, in a claim too
    adjective: ClassVar[str]  # of its components, in a sentence, before a space where there is one
    one_support: ClassVar[bool] = False  # whether all components have the same features

    m: int
    k: int

    def __post_init__(self):
        object.__setattr__(self, "m", checked_count("m", self.m))
        object.__setattr__(self, "k", checked_count("k", self.k))

    def fit(self, d: int) -> Self:
        """Return the problem if it can be asked of d features, and say why not otherwise."""
        if self.m > d:
            raise ValueError(f"m={self.m} must lie between 1 and d={d}")
        if np.max(self.k) > d:
            raise ValueError(f"k={self.k} must lie between 1 and d={d}")
        return self

    def score(self, A: Matrix, W: ArrayLike) -> float:
        """Return trace(W'AW), the variance that W explains."""
        return float(np.vdot(*with_image(A, W)))

    def facts(self, A: Matrix, W: np.ndarray) -> dict[str, Any]:
        """Return what a Solution says of W beside its score."""
        return {}

    def faults_with(self, A: Matrix, W: np.ndarray) -> list[str]:
        """Return what is wrong with W where the covariance says so, a sentence each."""
        return []

    def faults(self, W: np.ndarray, support: ArrayLike) -> list[str]:
        """Return what is wrong with W as an answer, a sentence each."""
        outside = np.setdiff1d(np.flatnonzero(W.any(axis=1)), support)
        faults = [f"rows {outside.tolist()} of W lie outside the support"] if len(outside) else []
        if not np.allclose(np.linalg.norm(W, axis=0), 1.0, rtol=0, atol=TOLERANCE):
            faults.append("the columns of W do not have unit length")
        return faults


@dataclass(frozen=True)
class SharedSupport(Problem):
    """Maximise trace(W'AW) over W'W = I with at most k nonzero rows: one support for all.

    The support must hold the features `required`, and none that is `forbidden`.

    Parameters
    ----------
    m, k : int
        Components, and features in all, 1 <= m <= k.
    required, forbidden : sequence of int
        Features that must be in the support, and that must not.

    See Also
    --------
    SeparateSupports : A support for each component.

    Examples
    --------
    >>> SharedSupport(2, 4, required=[3])
    SharedSupport(m=2, k=4, required=(3,), forbidden=())
    """

    kind: ClassVar[str] = "shared"
    adjective: ClassVar[str] = ""
    one_support: ClassVar[bool] = True

    required: Sequence[int] = field(default=(), kw_only=True)
    forbidden: Sequence[int] = field(default=(), kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        for name in ("required", "forbidden"):
            object.__setattr__(self, name, checked_features(name, getattr(self, name)))
        if both := sorted(set(self.required) & set(self.forbidden)):
            raise ValueError(f"required and forbidden both hold {both}")
        if len(self.required) > self.k:
            raise ValueError(f"required={self.required} must hold at most k={self.k} features")

    def fit(self, d: int) -> Self:
        if not self.m <= self.k <= d:
            raise ValueError(f"k={self.k} must lie between m={self.m} and d={d}")
        for name in ("required", "forbidden"):
            if getattr(self, name) and getattr(self, name)[-1] >= d:
                raise ValueError(f"{name}={getattr(self, name)} must lie between 0 and {d - 1}")
        if d - len(self.forbidden) < self.k:
            raise ValueError(
                f"forbidden leaves {d - len(self.forbidden)} features, fewer than k={self.k}"
            )
        return self

    def faults(self, W: np.ndarray, support: ArrayLike) -> list[str]:
        faults = super().faults(W, support)
        if len(support) > self.k:
            faults.append(f"the support has {len(support)} features, more than k={self.k}")
        if absent := sorted(set(self.required) - set(np.asarray(support).tolist())):
            faults.append(f"the support lacks the required features {absent}")
        if present := sorted(set(self.forbidden) & set(np.asarray(support).tolist())):
            faults.append(f"the support holds the forbidden features {present}")
        if not np.allclose(W.T @ W, np.eye(self.m), rtol=0, atol=TOLERANCE):
            faults.append("the columns of W are not orthonormal")
        return faults


@dataclass(frozen=True)
class OwnSupports(Problem):
    """Each component has its own support; k is one count for all of them, or m counts."""

    k: int | Sequence[int]  # type: ignore[assignment]

    def __post_init__(self):
        if np.ndim(self.k) == 0:
            super().__post_init__()
            return
        counts = tuple(checked_count("k", each) for each in self.k)
        object.__setattr__(self, "m", checked_count("m", self.m))
        object.__setattr__(self, "k", counts if len(set(counts)) > 1 else counts[0])
        if len(counts) != self.m:
            raise ValueError(f"k={list(counts)} must be one count or m={self.m} counts")

    @property
    def counts(self) -> np.ndarray:
        """The m counts."""
        return np.broadcast_to(self.k, self.m)

    @property
    def most(self) -> int:
        """How many nonzeros all columns have together at most."""
        return int(self.counts.sum())

    def score(self, A: Matrix, W: ArrayLike) -> float:
        """Return trace(Q'AQ) with Q an orthonormal basis of W, so that no variance counts twice."""
        # a direction that is rounding beside the longest is none of the basis
        return super().score(A, basis(W, TOLERANCE))

    def faults(self, W: np.ndarray, support: ArrayLike) -> list[str]:
        found = np.count_nonzero(W, axis=0)
        return super().faults(W, support) + [
            f"column {j} of W has {found[j]} nonzeros, more than k={self.counts[j]}"
            for j in np.flatnonzero(found > self.counts)
        ]


@dataclass(frozen=True, init=False, repr=False)
class SeparateSupports(OwnSupports):
    """Maximise explained variance over unit columns, each with at most k nonzeros of its own.

    What columns explain that overlap or correlate can be counted in several ways; `score` says
    in which.  "factors": the largest sum of (u_j'Zw_j)^2 over orthonormal u_1, ..., u_m, where
    A = Z'Z: what m uncorrelated factors explain, each of its own list.  For more than two
    components this is the best of several climbs, which can only be too low.  "subspace":
    trace(Q'AQ) with Q an orthonormal basis of W.  Columns that are orthogonal are scored by
    trace(W'AW).

    Parameters
    ----------
    m, k : int
        Components, and nonzeros of each: one count for all of them, or m counts.
    score : "factors" or "subspace"
        How variance is counted.
    uncorrelated : bool
        Ask that the scores are uncorrelated: W'AW is diagonal.
    orthonormal : bool
        Ask that the columns are orthogonal: W'W = I.
    disjoint : bool
        Ask that no feature is in two columns.

    See Also
    --------
    SharedSupport : One support for all components.
    Nonnegative : The same with loadings that are not negative.
    fspca.metrics.explained_by_factors : The score by which it is maximised.

    References
    ----------
    Chavent and Chavent, "Optimal projected variance group-sparse block PCA", arXiv 1705.00461.

    Examples
    --------
    >>> SeparateSupports(3, [4, 2, 2]).counts
    array([4, 2, 2])
    >>> SeparateSupports(2, 3, orthonormal=True)
    SeparateSupports(m=2, k=3, orthonormal=True)
    """

    kind: ClassVar[str] = "separate"
    adjective: ClassVar[str] = "sparse "

    scored: str = "factors"
    uncorrelated: bool = False
    orthonormal: bool = False
    disjoint: bool = False

    def __init__(self, m: int, k: int | Sequence[int], *, score: str = "factors",
                 uncorrelated: bool = False, orthonormal: bool = False,
                 disjoint: bool = False) -> None:  # fmt: skip
        # by hand, since `score` is also the method that computes it
        asked = {"uncorrelated": uncorrelated, "orthonormal": orthonormal, "disjoint": disjoint}
        checked_choice("score", score, SCORES)
        for name, wanted in asked.items():
            checked_truth(name, wanted)
        given = [f"score={score!r}"] if score == "subspace" else []
        given += [f"{name}=True" for name, wanted in asked.items() if wanted]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} are different problems: ask for one of them")
        for name, value in {"m": m, "k": k, "scored": score, **asked}.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    def __repr__(self):
        told = [f"m={self.m}", f"k={self.k}"]
        told += ["score='subspace'"] if self.scored == "subspace" else []
        told += [f"{x}=True" for x in ("uncorrelated", "orthonormal", "disjoint")
                 if getattr(self, x)]  # fmt: skip
        return f"SeparateSupports({', '.join(told)})"

    @property
    def orthogonal(self) -> bool:
        """Whether the columns must be, and so their variances can be summed."""
        return self.orthonormal or self.disjoint

    def fit(self, d: int) -> Self:
        super().fit(d)
        if self.uncorrelated and self.counts.min() < self.m:
            raise ValueError(
                f"k={self.k} must be at least m={self.m}: with fewer nonzeros a component may "
                "have no loadings whose scores are uncorrelated with the others'"
            )
        return self

    def score(self, A: Matrix, W: ArrayLike) -> float:
        """Return what W explains, counted as the problem says."""
        if self.orthogonal:
            return Problem.score(self, A, W)
        if self.scored == "subspace":
            return super().score(A, W)
        return most_on_diagonal(covariance_of_scores(A, W))

    def facts(self, A: Matrix, W: np.ndarray) -> dict[str, Any]:
        if self.m == 1:
            return {}
        return {"score_correlation": correlation_of_scores(covariance_of_scores(A, W))}

    def faults(self, W: np.ndarray, support: ArrayLike) -> list[str]:
        faults, shared = super().faults(W, support), in_two_lists(W)
        if self.orthonormal and not np.allclose(W.T @ W, np.eye(self.m), rtol=0, atol=TOLERANCE):
            faults.append("the columns of W are not orthonormal")
        if self.disjoint and len(shared):
            faults.append(f"columns of W share the features {shared.tolist()}")
        return faults

    def faults_with(self, A: Matrix, W: np.ndarray) -> list[str]:
        if not self.uncorrelated:
            return []
        V, image = with_image(A, W)
        K = V.T @ image
        # of numbers w'(Aw) rounding is relative to Aw
        most = np.abs(K - np.diag(np.diagonal(K))).max()
        correlate = most > TOLERANCE * np.abs(image).max(initial=0.0)
        return [f"scores of W have a covariance of {most:.3g}, not 0"] if correlate else []


def in_two_lists(W):
    """Return the features that more than one column of W uses.

    >>> in_two_lists(np.array([[1.0, 0.6], [0.0, 0.8]]))
    array([0])
    """
    return np.flatnonzero(np.count_nonzero(W, axis=1) > 1)


@dataclass(frozen=True)
class Nonnegative(OwnSupports):
    """Maximise the variance of unit, entrywise nonnegative columns with at most k nonzeros.

    With `disjoint` no two columns may share a feature, so that they are orthogonal.

    Parameters
    ----------
    m, k : int
        Components, and nonzeros of each: one count for all of them, or m counts.
    disjoint : bool
        Whether each feature serves one component at most.
    in_all : bool
        Whether k, one count, is that of all nonzeros together, of which each component has one.

    See Also
    --------
    SeparateSupports : The same with loadings of either sign.

    Examples
    --------
    >>> Nonnegative(1, 2).faults(np.array([[0.6], [-0.8]]), [0, 1])
    ['W has negative entries']
    """

    kind: ClassVar[str] = "nonnegative"
    adjective: ClassVar[str] = "nonnegative "

    disjoint: bool = field(default=False, kw_only=True)
    in_all: bool = field(default=False, kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        if self.in_all and (np.ndim(self.k) or self.k < self.m):
            raise ValueError(f"k={self.k} in all must be one count of at least m={self.m}")

    @property
    def counts(self) -> np.ndarray:
        """The m counts: in all, what is left if the others have a feature each."""
        return np.full(self.m, self.k - self.m + 1) if self.in_all else super().counts

    @property
    def most(self) -> int:
        """How many nonzeros all columns have together at most."""
        return int(self.k) if self.in_all else super().most

    def faults(self, W: np.ndarray, support: ArrayLike) -> list[str]:
        faults = super().faults(W, support) + (["W has negative entries"] if W.min() < 0 else [])
        if self.in_all and np.count_nonzero(W) > self.k:
            faults.append(f"W has {np.count_nonzero(W)} nonzeros, more than k={self.k} in all")
        shared = in_two_lists(W)
        if self.disjoint and len(shared):
            faults.append(f"columns of W share the features {shared.tolist()}")
        return faults


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer: loadings, support, objective, and how it was reached.

    Printed, an answer is "proven" where its `certificate` says so to the stand-alone checker, and
    else optimal by enumeration or by a computed bound.  Its arrays are not to be written to.

    `save_claim(path, A)` writes the claim, the matrix (of wide data the factor) and its sha256, and
    of data the sha256 of the table and what was done to it.  `report(path, X)` takes the data, or
    their covariance, and the options of `fspca.proof.report.write_report`.

    Parameters
    ----------
    W : array (d x m)
        The loadings.
    support : array of int
        The features chosen, ascending; the rows of W that are not zero lie within.
    objective : float
        The score that the problem defines, on the covariance without its ridge.
    problem : SharedSupport, SeparateSupports or Nonnegative
        What was asked.
    solver : str
        Who answered.
    history : tuple of float
        The objective after each step of the answer's own run.
    n_iter : int
        The steps of that run.
    stopped : str
        Why it ended: "the support repeats", "gap reached", "max_iter", ...
    seconds, passes : float, int
        What the answer cost: time, and readings of all the data.
    upper_bound : float
        Where known, a value that no feasible W exceeds.
    bound_probability : float
        With which the bound holds at least: 1 but for bounds that rest on chance.
    certificate : dict of arrays
        What proves the bound to the stand-alone checker; `save_claim` writes it to a file.
    orthonormal : array (d x m)
        The V with V'V = I of which W is the sparse copy, where a solver has both.
    score_correlation : float
        The largest modulus of a correlation of two scores, of several components on features of
        their own.
    total_variance, pca_variance : float
        The trace, and what m components of all features explain, where that is at hand.
    names : tuple of str
        Of the features, where the covariance has some.
    about : str
        Of which matrix all this is, where values are missing or samples weigh differently.

    See Also
    --------
    check_solution : Recomputes all that an answer claims.
    certify : Adds a bound to an answer.

    Examples
    --------
    >>> from fspca import go
    >>> answer = go(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=2)
    >>> answer.support, answer.objective, answer.converged
    (array([1, 3]), 9.0, True)
    """

    W: np.ndarray = field(repr=False)
    support: np.ndarray
    objective: float
    problem: Problem
    solver: str = ""
    history: tuple = ()
    n_iter: int = 0
    stopped: str = "done"
    seconds: float | None = None
    passes: int | None = None
    upper_bound: float | None = None
    bound_probability: float = 1.0
    certificate: dict[str, Any] | None = field(default=None, repr=False)
    orthonormal: np.ndarray | None = field(default=None, repr=False)
    score_correlation: float | None = None
    total_variance: float | None = None
    pca_variance: float | None = None
    names: tuple[str, ...] | None = None
    about: str | None = None

    def __post_init__(self):
        for name in ("W", "support", "orthonormal"):
            array = getattr(self, name)
            if array is None:
                continue
            if not isinstance(array, np.ndarray) or array.flags.writeable or array.base is not None:
                array = np.array(array)
                array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __setstate__(self, state):
        """Unpickle: numpy gives back arrays that can be written to."""
        self.__dict__.update(state)
        self.__post_init__()

    def times(self, unit: float) -> "Solution":
        """Return the same answer for the covariance times a power of four."""
        history = tuple(unit * value for value in self.history)
        values = {"objective": unit * self.objective, "history": history}
        if self.upper_bound is not None:
            values["upper_bound"] = unit * self.upper_bound
        if self.certificate:
            values["certificate"] = claim_files.scaled_claim(self.certificate, unit)
        return replace(self, **values)

    def save_claim(self, path: str | Path, A: Matrix) -> None:
        """Write the proof to an npz file that `fspca check` and the stand-alone checker read."""
        claim_files.save_claim(path, self.certificate, A)

    def report(self, path: str | Path, X: Any, **options: Any) -> None:
        """Write the answer and what defends it into one HTML file, to be read by anybody."""
        import_module("fspca.proof.report").write_report(path, self, X, **options)

    @property
    def converged(self) -> bool:
        """Whether a stopping rule ended the run, and no budget and no Ctrl-C."""
        return self.stopped not in CUT_SHORT

    @property
    def gap(self) -> float | None:
        """How far, relatively, the optimum may lie above; None where no bound is known."""
        if self.upper_bound is None:
            return None
        excess = self.upper_bound - self.objective
        if self.objective > 0:
            return excess / self.objective
        return np.inf if excess > TOLERANCE * (self.total_variance or 0.0) else 0.0

    def to_frame(self) -> Any:
        r"""Return the loadings of the chosen features as a pandas DataFrame."""
        rows = self.support if self.names is None else [self.names[j] for j in self.support]
        components = [f"component {j + 1}" for j in range(self.problem.m)]
        frame = needed("pandas", "frames", "Solution.to_frame").DataFrame
        return frame(self.W[self.support], index=rows, columns=components)

    def __str__(self) -> str:
        share = ""
        if self.total_variance:
            share = f" ({100 * self.objective / self.total_variance:.3g} % of all"
            pca = 100 * self.objective / self.pca_variance if self.pca_variance else None
            share += ")" if pca is None else f", {pca:.3g} % of PCA's)"
        unit = "node" if self.solver == "solve" else "step"
        steps = unit if self.n_iter == 1 else f"{unit}s"
        end = "" if self.converged else f", ended by {self.stopped}"
        end = "; max_seconds=60 goes on" if self.stopped == "max_work" else end
        lines = [
            f"{self.solver}: explains {self.objective:.6g}{share} "
            f"on {len(self.support)} of {len(self.W)} features",
            f"{self._what_explains()}{self._what_is_known()} ({self.n_iter} {steps}{end})",
        ]
        if self.score_correlation is not None:
            shared = len(in_two_lists(self.W))
            most = f"{self.score_correlation:.2f}"
            lines += [f"{shared} in two lists; scores correlate at most {most}"]
        lines += [f"all of the covariance {self.about}"] if self.about else []
        return "\n  ".join(lines)

    def _what_explains(self):
        """Name the score."""
        m, scored = self.problem.m, getattr(self.problem, "scored", "")
        if m == 1 or getattr(self.problem, "orthogonal", False):
            scored = ""
        names = {
            "factors": f"by m={m} uncorrelated factors",
            "subspace": f"in the span of m={m} components",
        }
        return names.get(scored, f"with m={m} component{'s' * (m > 1)}")

    def _what_is_known(self):
        """Say how far the optimum may lie above, and by what."""
        if (gap := self.gap) is None:
            return ""
        own = "" if claims_its_gap(self) else " by a computed bound"
        if gap < -TOLERANCE:
            return f": contradicted by the upper bound {self.upper_bound:.6g}"
        if gap <= TOLERANCE and self.bound_probability == 1:
            if self.stopped == TRIED:
                return ": optimal by enumeration"
            return f": optimal{own}" if own else ": proven optimal"
        if self.bound_probability < 1:
            own = f" with probability at least 1 - {1 - self.bound_probability:.1g}"
        most = f"{self.upper_bound:.6g}" if gap == np.inf else f"{100 * gap:.3g} % higher"
        return f":{own} the optimum is at most {most}"

    __repr__ = __str__


def claims_its_gap(solution: Solution) -> bool:
    """Say whether the certificate proves the gap that the solution has.

    Of m scores in fewer dimensions the checker may grant less than they explain, and so claim more.
    """
    claim, gap = solution.certificate, solution.gap
    return claim is not None and gap is not None and claim["gap"] <= gap + TOLERANCE


def solution_of(A: Any, problem: Problem, W: np.ndarray, solver: str, **facts: Any) -> Solution:
    """Return the Solution with these loadings; its history ends with what they explain."""
    value, history = problem.score(A, W), tuple(facts.pop("history", ()))
    if not history or abs(history[-1] - value) > TOLERANCE * value:
        history = (*history, value)
    support = facts.pop("support", np.flatnonzero(W.any(axis=1)))
    facts = problem.facts(A, W) | facts
    return Solution(W, support, value, problem, solver, history, **facts)


@dataclass(frozen=True)
class Judgement:
    """What the judge found: true where there is no fault.

    Printed, it names the faults.

    Parameters
    ----------
    objective : float
        As recomputed; not a number where W is no matrix of numbers that fits.
    support : array of int
        The rows of W that are not zero.
    faults : tuple of str
        A sentence each.

    See Also
    --------
    fspca.check_solution : Returns one.

    Examples
    --------
    >>> Judgement(3.0, np.array([0]), ())
    feasible, explains 3
    >>> bool(Judgement(3.0, np.array([0]), ("a column is missing",)))
    False
    """

    objective: float
    support: np.ndarray
    faults: tuple

    def __bool__(self):
        return not self.faults

    def __str__(self):
        return "; ".join(self.faults) or f"feasible, explains {self.objective:.6g}"

    __repr__ = __str__


def as_loadings(W):
    """Return the array W of a Solution, or the array itself."""
    return W.W if isinstance(W, Solution) else W


def objective(A: Matrix, W: ArrayLike | Solution) -> float:
    """Return trace(W'AW) of loadings W or a Solution, on the covariance without its ridge.

    The columns are taken as they are: where they overlap, variance counts twice.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    W : Solution or array (d x m)
        The loadings.

    Returns
    -------
    float
        The variance explained, if the columns are orthonormal.

    See Also
    --------
    fspca.check_solution : Scores by the rule of a problem, and tests the constraints.
    fspca.metrics.normalised_explained_variance : On a basis, against PCA.

    Examples
    --------
    >>> objective(np.diag([3.0, 2.0, 1.0]), np.eye(3)[:, :2])
    5.0
    """
    return Problem(1, 1).score(as_covariance(A).plain, as_loadings(W))


def check_solution(A: Matrix, solution: Solution, problem: Problem | None = None, *,
                   rises: bool = False) -> Judgement:  # fmt: skip
    """Judge a Solution, or an array W for a problem: recompute all that it claims.

    The objective is recomputed on the covariance without its ridge, the support from W's
    nonzero rows, and each constraint of the problem is tested.  With `rises` the history, which
    must hold the objective in any case, may not fall.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    solution : Solution or array (d x m)
        What is judged.
    problem : SharedSupport, SeparateSupports or Nonnegative
        What was asked, where it is an array.
    rises : bool
        Whether the history may not fall.

    Returns
    -------
    Judgement
        True where there is no fault; printed, it names the faults.

    See Also
    --------
    certify : Adds how far from the best it is.

    Examples
    --------
    >>> from fspca import SharedSupport
    >>> W = np.eye(3)[:, 1:]
    >>> check_solution(np.diag([3.0, 2.0, 1.0]), W, SharedSupport(m=2, k=2))
    feasible, explains 3
    >>> check_solution(np.diag([3.0, 2.0, 1.0]), 2 * W, SharedSupport(m=2, k=2))
    the columns of W do not have unit length; the columns of W are not orthonormal
    """
    A = as_covariance(A).plain
    claims = isinstance(solution, Solution)
    if problem is None and not claims:
        raise TypeError("problem=None: an array W can only be judged as an answer to a problem")
    problem = problem or solution.problem
    W = np.asarray(as_loadings(solution))
    fault = ""
    if W.shape != (A.size, problem.m):
        fault = f"W has shape {W.shape}, not (d, m) = {(A.size, problem.m)}"
    elif W.dtype.kind not in "biuf":
        fault = f"W holds {W.dtype} numbers, not real ones"
    elif not np.all(np.isfinite(W)):
        fault = "W has entries that are not finite"
    if fault:
        return Judgement(np.nan, np.empty(0, int), (fault,))
    W = W.astype(float)
    support = np.flatnonzero(W.any(axis=1))
    value = problem.score(A, W)
    of_pair = problem.faults_with(A, W)
    if not claims:
        return Judgement(value, support, (*problem.faults(W, support), *of_pair))
    faults = [*problem.faults(W, np.asarray(solution.support)), *of_pair]
    return Judgement(value, support, (*faults, *_false_claims(solution, value, len(W), rises)))


def _false_claims(solution, value, d, rises):
    slack = TOLERANCE * max(abs(value), np.finfo(float).tiny)
    support, history = np.asarray(solution.support), np.array(solution.history, dtype=float)
    if support.dtype.kind not in "iu" or np.any(np.diff(np.r_[-1, support, d]) <= 0):
        yield f"the support {support.tolist()} is not features in ascending order"
    for name in ("objective", "upper_bound"):
        claimed = getattr(solution, name)
        if claimed is not None and not np.isfinite(claimed):
            yield f"the {name} claimed, {claimed}, is not finite"
    if abs(solution.objective - value) > slack:
        yield f"the objective is {value:.10g}, not {solution.objective:.10g} as claimed"
    if not np.all(np.isfinite(history)):
        yield "the history holds numbers that are not finite"
    elif len(history) and np.abs(history - value).min() > slack:
        yield "the history does not hold the objective"
    if rises and np.any(fallen := np.diff(history) < -slack):
        yield f"the history falls at step {1 + np.argmax(fallen)}"
    if (V := solution.orthonormal) is not None and (
        V.shape != (d, solution.problem.m)
        or not np.allclose(V.T @ V, np.eye(V.shape[1]), rtol=0, atol=TOLERANCE)
    ):
        yield "the columns of `orthonormal` are not orthonormal"
    if solution.upper_bound is not None and value > solution.upper_bound + slack:
        yield f"the objective {value:.10g} exceeds its bound {solution.upper_bound:.10g}"
