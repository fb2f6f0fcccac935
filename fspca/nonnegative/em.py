"""EM: expectation-maximisation for one sparse, or sparse and nonnegative, component."""

import warnings

import numpy as np

from fspca.covariance import as_covariance
from fspca.linalg import largest
from fspca.nonnegative.low_rank import keep_positive
from fspca.problem import ConvergenceWarning, Nonnegative, SeparateSupports, Solution
from fspca.validate import checked_choice, checked_count, checked_nonnegative


def unit_columns(W):
    """Scale the columns to length 1; columns of zeros stay."""
    W = W / np.maximum(np.abs(W).max(axis=0), np.finfo(float).tiny)
    return W / np.maximum(np.linalg.norm(W, axis=0), 0.5)


def soften(W, k):
    """Lower the moduli of each column by its (k + 1)-th largest, which leaves k nonzeros."""
    size = np.abs(W)
    if k < len(W):
        size = np.maximum(size - np.partition(size, -k - 1, axis=0)[-k - 1], 0.0)
    return np.sign(W) * size


def em_step(A, W, k, nonnegative):
    """Return the columns after one E-step and one M-step, and the variances before."""
    AW = A.product(W)
    M = np.maximum(AW, 0.0) if nonnegative else AW
    moved = soften(unit_columns(M), k)
    for j in np.flatnonzero(~moved.any(axis=0)):  # more than k entries are equally large
        kept = largest(np.abs(M[:, j]), k)
        moved[kept, j] = M[kept, j]
    lost = ~moved.any(axis=0)  # nothing is left to explain: stay
    return np.where(lost, W, unit_columns(moved)), (W * AW).sum(axis=0)


def iterate(A, W, k, nonnegative, tol, max_iter):
    """Step until no variance changes by more than tol, relatively; return also whether so."""
    before = None
    for n_iter in range(max_iter + 1):
        moved, values = em_step(A, W, k, nonnegative)
        if before is not None and np.all(np.abs(values - before) <= tol * values):
            return W, values, n_iter, True
        W, before = (moved if n_iter < max_iter else W), values
    return W, values, max_iter, False


def em(A, k, *, nonnegative=True, start="signed", n_starts=5, seed, tol=1e-6, max_iter=1000):
    r"""Find one sparse, nonnegative component as the axis of a probabilistic model.

    The problem is max x'Ax over unit x (x >= 0) with at most k nonzeros.  Data are modelled as
    multiples of x plus noise that vanishes.  The E-step projects the data on x, the M-step
    regresses them on those projections: together x <- A x.  Negative entries are then set to
    zero, all are lowered by the (k + 1)-th largest, and the length is made 1.  When that
    settles, the same steps without the lowering are taken on the support found.

    Parameters
    ----------
    A : array (d x d) or Covariance
    k : int
        Nonzeros at most.
    nonnegative : bool
        False drops x >= 0; the answer is then one of `SeparateSupports(1, k)`.
    start : "signed" or "positive"
        Random normal entries, or their moduli.  With many features the second are all nearly
        the same direction, so that more starts hardly help.
    n_starts, seed
        How many random starts, run side by side; the best is returned.
    tol, max_iter
        Stop where no variance changes by more than tol, relatively; ending at max_iter warns.

    Returns
    -------
    Solution
        `history` holds the best objective after each start, `n_iter` the steps in all.

    Notes
    -----
    No guarantee: where it ends depends on the start, and lowering keeps the objective from
    rising at every step.  The steps on the support do rise.
    Cost of a step: one product with A and O(d) for each start.
    Sigg and Buhmann (2008); the rival of asteris2014.
    Explained in the chapter "Look at the rivals: EM and NSPCA".

    Examples
    --------
    >>> A = np.array([[2.0, -1.0, 0.5], [-1.0, 2.0, 0.8], [0.5, 0.8, 1.0]])
    >>> em(A, k=2, n_starts=10, seed=0).support
    array([1, 2])
    """
    A = as_covariance(A)
    if not isinstance(nonnegative, bool | np.bool_):
        raise TypeError(f"nonnegative={nonnegative!r} must be True or False")
    problem = (Nonnegative(1, k) if nonnegative else SeparateSupports(1, k)).fit(A.size)
    checked_choice("start", start, ("signed", "positive"))
    checked_count("n_starts", n_starts)
    checked_count("max_iter", max_iter)
    tol = checked_nonnegative("tol", tol)
    W = np.random.default_rng(seed).standard_normal((A.size, n_starts))
    W = unit_columns(np.abs(W) if start == "positive" else W)
    if nonnegative:  # a start that only leads below zero is turned round
        W = W * np.where(A.product(W).max(axis=0) > 0, 1.0, -1.0)
    W, _, first, settled = iterate(A, W, k, nonnegative, tol, max_iter)
    if nonnegative:  # one that explains nothing has not moved
        W = np.where(W.min(axis=0) >= 0, W, np.abs(W))
    steps, converged, columns = first * n_starts, settled, []
    for w in W.T:
        rows = largest(np.abs(w), k) if np.count_nonzero(w) > k else np.flatnonzero(w)
        inner = A.restricted(rows)
        v, _, n_iter, settled = iterate(
            inner, unit_columns(w[rows, None]), len(rows), nonnegative, tol, max_iter
        )
        column = np.zeros(A.size)
        column[rows] = v[:, 0]
        steps, converged = steps + n_iter, converged and settled
        columns.append(column if column.any() else keep_positive(A.diagonal(), 1))
    values = [problem.score(A.plain, column[:, None]) for column in columns]
    if not converged:
        warnings.warn(
            f"em stopped at max_iter={max_iter} before its objective settled",
            ConvergenceWarning,
            stacklevel=2,
        )
    best = int(np.argmax(values))
    return Solution(
        columns[best][:, None], np.flatnonzero(columns[best]), values[best], problem, "em",
        tuple(np.maximum.accumulate(values)), steps,
        "settled" if converged else "max_iter",
    )  # fmt: skip
