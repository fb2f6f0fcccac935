"""What is asked, the three problems, and what an answer is."""

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from fspca.covariance import as_covariance
from fspca.validate import checked_integer


class ConvergenceWarning(UserWarning):
    """A loop ended before its stopping rule was met."""


TOLERANCE = 1e-8  # of the judge: far above rounding, far below any difference that matters


@dataclass(frozen=True)
class Problem:
    """What the three problems share: m components and k nonzeros, counted as each says."""

    m: int
    k: int

    def __post_init__(self):
        for name in ("m", "k"):
            value = checked_integer(name, getattr(self, name))
            if value < 1:
                raise ValueError(f"{name}={value} must be at least 1")
            object.__setattr__(self, name, value)

    def fit(self, d):
        """Return the problem if it can be asked of d features, and say why not otherwise."""
        if self.m > d:
            raise ValueError(f"m={self.m} must lie between 1 and d={d}")
        if self.k > d:
            raise ValueError(f"k={self.k} must lie between 1 and d={d}")
        return self

    def score(self, A, W):
        """trace(W'AW), the variance that W explains."""
        A, W = as_covariance(A), np.asarray(W, dtype=float)
        if W.ndim != 2 or len(W) != A.size:
            raise ValueError(
                f"W has shape {W.shape}; it must have d={A.size} rows and two dimensions"
            )
        rows = np.flatnonzero(W.any(axis=1))
        return float(np.vdot(W[rows], A.product(W[rows], rows)[rows]))

    def oracle(self, A):
        """Return the exact optimum by enumeration, or None where the problem has no oracle."""
        return None

    def faults(self, W, support):
        """Return what is wrong with W as an answer, a sentence each."""
        outside = np.setdiff1d(np.flatnonzero(W.any(axis=1)), support)
        faults = [f"rows {outside.tolist()} of W lie outside the support"] if len(outside) else []
        if not np.allclose(np.linalg.norm(W, axis=0), 1.0, rtol=0, atol=TOLERANCE):
            faults.append("the columns of W do not have unit length")
        return faults

    def count_faults(self, W):
        """Return a sentence for each column of W with more than k nonzeros."""
        counts = np.count_nonzero(W, axis=0)
        return [
            f"column {j} of W has {n} nonzeros, more than k={self.k}"
            for j, n in enumerate(counts)
            if n > self.k
        ]


@dataclass(frozen=True)
class SharedSupport(Problem):
    """Maximise trace(W'AW) over W'W = I with at most k nonzero rows: one support for all."""

    def fit(self, d):
        if not self.m <= self.k <= d:
            raise ValueError(f"k={self.k} must lie between m={self.m} and d={d}")
        return self

    def oracle(self, A):
        from fspca.shared_support.exhaustive import exhaustive

        return exhaustive(A, self.m, self.k)

    def faults(self, W, support):
        faults = super().faults(W, support)
        if len(support) > self.k:
            faults.append(f"the support has {len(support)} features, more than k={self.k}")
        if not np.allclose(W.T @ W, np.eye(self.m), rtol=0, atol=TOLERANCE):
            faults.append("the columns of W are not orthonormal")
        return faults


@dataclass(frozen=True)
class SeparateSupports(Problem):
    """Maximise explained variance over unit columns, each with at most k nonzeros of its own."""

    def score(self, A, W):
        """trace(Q'AQ) with Q an orthonormal basis of W, so that no variance counts twice."""
        return super().score(A, scipy.linalg.orth(W))

    def oracle(self, A):
        return SharedSupport(1, self.k).oracle(A) if self.m == 1 else None

    def faults(self, W, support):
        return super().faults(W, support) + self.count_faults(W)


@dataclass(frozen=True, init=False)
class Nonnegative(Problem):
    """Maximise the variance of unit, entrywise nonnegative columns with at most k nonzeros."""

    def __init__(self, k, *, m=1):
        object.__setattr__(self, "m", m)
        object.__setattr__(self, "k", k)
        self.__post_init__()

    def faults(self, W, support):
        negative = ["W has negative entries"] if W.min() < 0 else []
        return super().faults(W, support) + self.count_faults(W) + negative


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer: loadings, support, objective, and how it was reached.

    `history` holds the objective of every feasible iterate; `upper_bound`, where known, is a
    value that no feasible W exceeds, and `gap` is its relative distance from the objective.
    `orthonormal` is the V with V'V = I of which W is the sparse copy, where a solver has both.
    """

    W: np.ndarray = field(repr=False)
    support: np.ndarray
    objective: float
    problem: Problem
    solver: str = ""
    history: tuple = ()
    n_iter: int = 0
    converged: bool = True
    upper_bound: float | None = None
    certificate: np.ndarray | None = field(default=None, repr=False)
    orthonormal: np.ndarray | None = field(default=None, repr=False)

    def __post_init__(self):
        for name in ("W", "support", "orthonormal"):
            if getattr(self, name) is None:
                continue
            array = np.array(getattr(self, name))
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def gap(self):
        """How far, relatively, the optimum may lie above; None where no bound is known."""
        if self.upper_bound is None:
            return None
        excess = self.upper_bound - self.objective
        return excess / self.objective if self.objective > 0 else excess

    def __str__(self):
        gap = ""
        if self.gap is not None and self.gap < -TOLERANCE:
            gap = f", contradicted by the upper bound {self.upper_bound:.6g}"
        elif self.gap is not None and self.gap <= TOLERANCE:
            gap = ", proven optimal"
        elif self.gap is not None:
            gap = f", the optimum is at most {100 * self.gap:.3g} % higher"
        steps = "step" if self.n_iter == 1 else "steps"
        end = "" if self.converged else ", not converged"
        return (
            f"{self.solver}: explains {self.objective:.6g} with m={self.problem.m} components "
            f"on {len(self.support)} of {len(self.W)} features{gap} ({self.n_iter} {steps}{end})"
        )

    __repr__ = __str__
