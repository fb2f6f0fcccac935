"""What is asked, the three problems, and what an answer is."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Matrix, as_covariance
from fspca.linalg import basis
from fspca.validate import checked_count, checked_features, needed


class ConvergenceWarning(UserWarning):
    """A loop ended before its stopping rule was met."""


TOLERANCE = 1e-8  # of the judge: far above rounding, far below any difference that matters
TRIED = "all supports tried"  # the end of an enumeration, whose answer is optimal without a bound
CUT_SHORT = ("max_iter", "max_seconds", "interrupted")  # the ends that are no stopping rule


@dataclass(frozen=True)
class Problem:
    """What the three problems share: m components and k nonzeros, counted as each says."""

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
        """trace(W'AW), the variance that W explains."""
        A, W = as_covariance(A), np.asarray(W, dtype=float)
        if W.ndim != 2 or len(W) != A.size:
            raise ValueError(
                f"W has shape {W.shape}; it must have d={A.size} rows and two dimensions"
            )
        rows = np.flatnonzero(W.any(axis=1))
        V = W[rows]
        if len(rows) ** 2 <= A.size * W.shape[1]:  # then A[I, I] costs less than a product
            return float(np.vdot(V, A.submatrix(rows) @ V))
        return float(np.vdot(V, A.precise.product(V, rows)[rows]))

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

    def score(self, A: Matrix, W: ArrayLike) -> float:
        """trace(Q'AQ) with Q an orthonormal basis of W, so that no variance counts twice.

        A direction of W that is rounding beside the longest is none of its basis.
        """
        return super().score(A, basis(W, TOLERANCE))

    def faults(self, W: np.ndarray, support: ArrayLike) -> list[str]:
        found = np.count_nonzero(W, axis=0)
        return super().faults(W, support) + [
            f"column {j} of W has {found[j]} nonzeros, more than k={self.counts[j]}"
            for j in np.flatnonzero(found > self.counts)
        ]


@dataclass(frozen=True)
class SeparateSupports(OwnSupports):
    """Maximise explained variance over unit columns, each with at most k nonzeros of its own.

    What overlapping columns explain is counted once, on an orthonormal basis of them.

    Parameters
    ----------
    m, k : int
        Components, and nonzeros of each: one count for all of them, or m counts.

    See Also
    --------
    SharedSupport : One support for all components.
    Nonnegative : The same with loadings that are not negative.

    Examples
    --------
    >>> SeparateSupports(3, [4, 2, 2]).counts
    array([4, 2, 2])
    """


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
        return int(self.k if self.in_all else self.counts.sum())

    def faults(self, W: np.ndarray, support: ArrayLike) -> list[str]:
        faults = super().faults(W, support) + (["W has negative entries"] if W.min() < 0 else [])
        if self.in_all and np.count_nonzero(W) > self.k:
            faults.append(f"W has {np.count_nonzero(W)} nonzeros, more than k={self.k} in all")
        shared = np.flatnonzero(np.count_nonzero(W, axis=1) > 1)
        if self.disjoint and len(shared):
            faults.append(f"columns of W share the features {shared.tolist()}")
        return faults


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer: loadings, support, objective, and how it was reached.

    `history` holds the objective after each step of the answer's own run, and `stopped` why that
    run ended.  `upper_bound`, where known, is a value that no feasible W exceeds, and `gap` its
    relative distance from the objective; it holds with at least `bound_probability`, which is 1
    but for bounds that rest on chance.  Printed, an answer is "proven" where its `certificate` says
    so to the stand-alone checker, and else optimal by enumeration or by a computed bound.
    `orthonormal` is the V with V'V = I of which W is the sparse copy, where a solver has both.
    `seconds` and `passes` over the data are what it cost.
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
    certificate: np.ndarray | None = field(default=None, repr=False)
    orthonormal: np.ndarray | None = field(default=None, repr=False)
    total_variance: float | None = None
    pca_variance: float | None = None
    names: tuple | None = None

    def __post_init__(self):
        for name in ("W", "support", "certificate", "orthonormal"):
            array = getattr(self, name)
            if array is None or isinstance(array, dict):
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
        """The same answer for the covariance times a power of four."""
        history = tuple(unit * value for value in self.history)
        values = {"objective": unit * self.objective, "history": history}
        if self.upper_bound is not None:
            values["upper_bound"] = unit * self.upper_bound
        if isinstance(self.certificate, np.ndarray):
            values["certificate"] = unit**0.5 * self.certificate
        elif self.certificate:
            powers = {"G": 0.5, "Y": 1, "N": 1, "s": 1, "H": 0.5}  # of the unit, in a node
            values["certificate"] = {
                name: array * unit ** powers[name[0]] if name[1:2] == "_" else array
                for name, array in self.certificate.items()
            }
        return replace(self, **values)

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
        return excess / self.objective if self.objective > 0 else excess

    def to_frame(self) -> Any:
        """Return the loadings of the chosen features, a row each, as a pandas DataFrame."""
        rows = self.support if self.names is None else [self.names[j] for j in self.support]
        components = [f"component {j + 1}" for j in range(self.problem.m)]
        frame = needed("pandas", "frames", "Solution.to_frame").DataFrame
        return frame(self.W[self.support], index=rows, columns=components)

    def __str__(self) -> str:
        share, gap, own = "", "", "" if self.certificate is not None else " by a computed bound"
        known = "proven optimal" if not own else f"optimal{own}"
        known = "optimal by enumeration" if self.stopped == TRIED else known
        if self.total_variance:
            share = f" ({100 * self.objective / self.total_variance:.3g} % of all"
            pca = 100 * self.objective / self.pca_variance if self.pca_variance else None
            share += ")" if pca is None else f", {pca:.3g} % of PCA's)"
        if self.gap is not None and self.gap < -TOLERANCE:
            gap = f", contradicted by the upper bound {self.upper_bound:.6g}"
        elif self.gap is not None and self.bound_probability < 1:
            chance = f"with probability at least 1 - {1 - self.bound_probability:.1g}"
            gap = f", {chance} the optimum is at most {100 * self.gap:.3g} % higher"
        elif self.gap is not None and self.gap <= TOLERANCE:
            gap = f", {known}"
        elif self.gap is not None:
            gap = f",{own} the optimum is at most {100 * self.gap:.3g} % higher"
        steps = "step" if self.n_iter == 1 else "steps"
        end = "" if self.converged else f", ended by {self.stopped}"
        return (
            f"{self.solver}: explains {self.objective:.6g}{share} "
            f"with m={self.problem.m} components on {len(self.support)} of {len(self.W)} "
            f"features{gap} ({self.n_iter} {steps}{end})"
        )

    __repr__ = __str__


def solution_of(A: Any, problem: Problem, W: np.ndarray, solver: str, **facts: Any) -> Solution:
    """Return the Solution with these loadings; its history ends with what they explain."""
    value, history = problem.score(A, W), tuple(facts.pop("history", ()))
    if not history or abs(history[-1] - value) > TOLERANCE * value:
        history = (*history, value)
    support = facts.pop("support", np.flatnonzero(W.any(axis=1)))
    return Solution(W, support, value, problem, solver, history, **facts)
