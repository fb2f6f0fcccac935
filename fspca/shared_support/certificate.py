r"""How good is an answer: upper bounds on the optimum, each with what proves it.

For every C >= 0 (positive semidefinite) and every feasible W with support I,
trace(W'AW) = trace(W'CW) + trace(W'(A - C)W) <= sum_{i in I} C_ii + F_m(A - C): the first since
W W' <= I, the second by Ky Fan.  Hence  optimum <= S_k(diag C) + F_m(A - C).
C is returned as a factor G, C = GG', so that it is semidefinite by construction.
"""

from dataclasses import dataclass, field, replace
from itertools import islice
from time import perf_counter

import numpy as np

from fspca.covariance import DENSE_SIZE, as_covariance
from fspca.problem import SharedSupport
from fspca.shared_support.go import go
from fspca.shared_support.rounding import EPS, safe_bound, safe_bound_of_data
from fspca.shared_support.semidefinite import descend, start_from, sum_largest
from fspca.validate import checked_choice, checked_integer

METHODS = ("eigenvalue", "diagonal", "theorem", "shifted", "dual")


@dataclass(frozen=True, eq=False)
class Certificate:
    """An upper bound and the factor G that proves it, C = GG'.

    `z` is how much of each feature the relaxation wants, `state` where its iteration stands.
    """

    bound: float
    factor: np.ndarray | None = field(default=None, repr=False)
    z: np.ndarray | None = field(default=None, repr=False)
    n_iter: int = 0
    state: tuple | None = field(default=None, repr=False)

    def __post_init__(self):
        object.__setattr__(self, "bound", float(self.bound))


def upper_bound(A, m, k, method="dual", max_steps=600, max_seconds=None, target=-np.inf,
                start=None, progress=None):  # fmt: skip
    r"""Return a Certificate: no W with m orthonormal columns on k features explains more.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  Write S_k(c) for
    the sum of the k largest entries and F_m(B) for that of the m largest eigenvalues.  For
    every C >= 0 the optimum is at most S_k(diag C) + F_m(A - C); the methods choose C.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m, k : int
        Components and features, 1 <= m <= k <= d.
    method : str
        "eigenvalue" takes C = 0: F_m(A).  "diagonal" takes C = A: S_k(diag A).  "shifted"
        takes the part of A above lambda_{m+1}.  "theorem" is Go's value over 1 - epsilon,
        epsilon the least of the four terms of tian2020's Theorem 5.1.  "dual" minimises
        over C by ADMM on the semidefinite relaxation max <A, P> over 0 <= P <= I,
        P <= Diag(z), trace P = m, 0 <= z <= 1, sum z = k.
    max_steps, max_seconds, target
        The dual's budget, and the bound at which it may stop; it is valid whenever it stops,
        also by Ctrl-C.
    start : Certificate
        Of a dual run on the same A, from whose end to go on.
    progress : callable
        Called as progress(steps, bound).

    Returns
    -------
    Certificate
        Its `bound` holds for A without its ridge.  `factor` is G with C = GG' (None for
        "diagonal", where C = A, and for "theorem").

    Notes
    -----
    Valid for every positive semidefinite A, rounding included: eigenvalue sums are raised by
    the residual and the defect of the computed eigenvectors.  A step of the dual costs two
    eigenproblems of size min(d, rank A + 2k).
    Explained in the chapter "Say how far from the best it is".

    Examples
    --------
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> [round(upper_bound(A, 1, 2, method).bound, 3) for method in ("diagonal", "dual")]
    [5.0, 4.0]
    """
    A, problem = as_covariance(A).plain, SharedSupport(m, k)
    problem.fit(A.size)
    checked_choice("method", method, METHODS)
    if checked_integer("max_steps", max_steps) < 10:
        raise ValueError(f"max_steps={max_steps} must be at least 10")
    if method == "dual":
        return _dual(A, m, k, max_steps, max_seconds, target, start, progress)
    if method == "diagonal":
        return Certificate(sum_largest(A.diagonal(), k) * (1 + 4 * (k + 1) * EPS))
    count = min(A.size, 2 * m if method == "theorem" else m + 1)
    values, V = A.leading(count)
    values = np.maximum(values, 0.0)
    margin = 1 + 64 * A.size * EPS
    if method == "eigenvalue":
        return Certificate(values[:m].sum() * margin, np.zeros((A.size, 1)))
    if method == "shifted":
        sigma = values[m] if m < A.size else 0.0
        G = V[:, :m] * np.sqrt(values[:m] - sigma)
        return Certificate((sum_largest((G**2).sum(axis=1), k) + m * sigma) * margin, G)
    return Certificate(go(A, m, k).objective / (1 - theorem_loss(A, m, k)) * margin)


def theorem_loss(A, m, k):
    """Return the least of the four terms of tian2020's Theorem 5.1."""
    return min(theorem_terms(A, m, k))


def theorem_terms(A, m, k):
    """Return the four terms of tian2020's Theorem 5.1; all are 0 for a zero covariance."""
    values = np.maximum(A.leading(min(A.size, 2 * m))[0], 0.0)
    if not values[0]:
        return [0.0] * 4
    tail = values[m:].sum()
    smallest = A.leading(A.size)[0][-1] if A.size <= DENSE_SIZE else 0.0
    first, second = A.size / k * tail / values[:m].sum(), A.size / m * tail / A.trace
    return [first, second, 1 - max(smallest, 0.0) / values[0], 1 - k / A.size]


def certify(A, solution, max_steps=600, max_seconds=None, progress=None):
    """Return the solution with a proven upper bound: print it to read how good it is.

    Its `certificate` is the factor G for `fspca.shared_support.tree_check.check`.

    >>> from fspca import ipu
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> certify(A, ipu(A, m=1, k=2))
    ipu: explains 4 (57.1 % of all, 100 % of PCA's) with m=1 components on 2 of 3 features, proven
    optimal (1 step)
    """
    problem, A = getattr(solution, "problem", None), as_covariance(A).plain
    if not isinstance(problem, SharedSupport):
        raise TypeError(f"problem={problem} has no certificate; only SharedSupport has one")
    m, k, target = problem.m, problem.k, solution.objective * (1 + 1e-9)
    found = upper_bound(A, m, k, "shifted")
    if found.bound > target:
        dual = upper_bound(A, m, k, "dual", max_steps, max_seconds, target, None, progress)
        found = min(found, dual, key=lambda each: each.bound)
    return replace(solution, upper_bound=found.bound, certificate=found.factor)


def _dual(A, m, k, max_steps, max_seconds, target, start, progress):
    """Follow the ADMM and keep the best bound; stop at the target, a budget or a standstill."""
    began = perf_counter()
    scale, state, X = relaxed(A, m, k) if start is None else start.state
    best, last, n_iter = (np.inf, None, None), np.inf, 0
    try:
        for bound, G, z, reached in islice(descend(state, m, k), max_steps // 10):
            n_iter, state = n_iter + 10, reached
            best = min(best, (bound, G, z), key=lambda each: each[0])
            if progress:
                progress(n_iter, best[0] * scale)
            late = max_seconds is not None and perf_counter() - began > max_seconds
            if late or best[0] * scale <= target:
                break
            if n_iter % 100 == 0:
                if last - best[0] < 1e-6 * best[0]:
                    break
                last = best[0]
    except KeyboardInterrupt:
        if best[1] is None:
            raise
    inner, Z = best[1] * np.sqrt(scale), state.basis
    G = inner if Z is None else Z @ inner
    if X is None:
        bound = safe_bound(A.submatrix(np.arange(A.size)), G, m, k)
    else:
        bound = safe_bound_of_data(X, Z, inner, m, k)
    return Certificate(bound, G, best[2], n_iter, (scale, state, X))


def relaxed(A, m, k):
    """Return (scale, state, X): the relaxation of A / scale before its first step.

    C is sought on the range of A and the unit vectors of the 2k largest variances.  X is the
    data where the rank of A is known from fewer samples than features, and None otherwise.
    """
    d, X = A.size, A.wide_factor()
    if X is not None:
        _, s, Y = np.linalg.svd(X, full_matrices=False)
        values, Y = s**2, Y.T
    else:
        full = A.submatrix(np.arange(d))
        values, Y = np.linalg.eigh(full)
    total = np.sort(values)[-m:].sum()
    scale = 2.0 ** np.round(np.log2(total / m)) if total > 0 else 1.0
    Y = Y[:, values > d * EPS * values.max()]
    if X is None and Y.shape[1] + 2 * k > 0.7 * d:
        return scale, start_from(full / scale, m, k), None
    likely = np.argsort(-A.diagonal(), kind="stable")[: 2 * k]
    Z, R = np.linalg.qr(np.hstack([Y, np.eye(d)[:, likely]]))
    Z = Z[:, np.abs(np.diag(R)) > 1e-8]  # unit vectors that the rest spans already add nothing
    return scale, start_from(Z.T @ A.product(Z) / scale, m, k, Z), X
