"""NSPCA: nonnegative components together, one entry at a time, with penalties."""

import warnings

import numpy as np

from fspca.covariance import as_covariance
from fspca.nonnegative.em import unit_columns
from fspca.nonnegative.low_rank import keep_positive
from fspca.problem import ConvergenceWarning, Nonnegative, Solution
from fspca.validate import checked_count, checked_nonnegative

PROBES = 24  # penalties side by side in each round of the search for a count
ROUNDS = 3


def largest_root(p, q):
    """Return the largest real root of t^3 = p t + q, elementwise.

    >>> largest_root(np.array([1.0, 0.0]), np.array([0.0, 8.0])).round(12)
    array([1., 2.])
    """
    inner = (q / 2) ** 2 - (p / 3) ** 3
    root = np.sqrt(np.maximum(inner, 0.0))
    u = np.cbrt(q / 2 + np.where(q >= 0, root, -root))  # the sign that does not cancel
    single = u + p / 3 / np.where(u == 0, 1.0, u)
    size = np.sqrt(np.where(inner < 0, p, 3.0) / 3)
    cosine = np.where(inner < 0, q / 2 / size**3, 1.0)
    return np.where(inner >= 0, single, 2 * size * np.cos(np.arccos(cosine) / 3))


def penalised(S, U, alpha, beta):
    """Return NSPCA's objective of each lane of U (d x m x lanes)."""
    G = np.einsum("isl,ijl->sjl", U, U)
    off = np.eye(U.shape[1])[:, :, None] - G
    variance = np.einsum("isl,isl->l", U, np.tensordot(S, U, 1))
    return variance / 2 - alpha / 4 * (off**2).sum(axis=(0, 1)) - beta * U.sum(axis=(0, 1))


def sweep(S, U, SU, alpha, beta):
    """Maximise over each entry in turn, in place: a quartic with the others held."""
    d, m, _ = U.shape
    G = np.einsum("isl,ijl->sjl", U, U)
    for r in range(d):
        for s in range(m):
            u, others = U[r, s], np.arange(m) != s
            row = U[r, others]
            square = S[r, r] + alpha - alpha * (G[s, s] - u**2 + (row**2).sum(axis=0))
            linear = SU[r, s] - S[r, r] * u - beta
            linear = linear - alpha * (row * (G[s, others] - u * row)).sum(axis=0)
            t = np.maximum(largest_root(square / alpha, linear / alpha), 0.0)
            value = -alpha / 4 * t**4 + square / 2 * t**2 + linear * t
            step = np.where(value > 0, t, 0.0) - u
            SU[:, s] += S[:, r, None] * step
            G[s, s] += (2 * u + step) * step
            G[s, others] += row * step
            G[others, s] += row * step
            U[r, s] += step


def lanes(S, U, alpha, beta, tol, max_sweeps):
    """Sweep until no lane's objective changes by more than tol; return also sweeps, whether so."""
    values = penalised(S, U, alpha, beta)
    for n_iter in range(1, max_sweeps + 1):
        sweep(S, U, np.tensordot(S, U, 1), alpha, beta)
        before, values = values, penalised(S, U, alpha, beta)
        if np.all(np.abs(values - before) <= tol * alpha):
            return U, values, n_iter, True
    return U, values, max_sweeps, False


def nspca(A, m, alpha, beta, *, n_starts=5, seed, tol=1e-7, max_sweeps=1000):
    r"""Find m nonnegative components at once, sparse and nearly orthogonal by penalties.

    The problem is max 1/2 tr(U'AU) - alpha/4 |I - U'U|^2 - beta sum(U) over U >= 0.  In one
    entry, with all others held, that is a quartic; its maximum over u >= 0 is at zero or at
    the largest root of a cubic.  Entries are visited in turn until the objective settles.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m : int
        Components.
    alpha, beta : float
        How much the components must be orthogonal and of length 1, and how sparse.
        `alpha` is well above the largest eigenvalue of A where lengths are to be near 1.
    n_starts, seed
        Random starts, run side by side; the one of largest penalised objective is returned.
    tol, max_sweeps
        Stop where no objective changes by more than tol times alpha; ending at max_sweeps
        warns.

    Returns
    -------
    Solution
        Columns are scaled to length 1 for the judge, and one that the penalty empties is the
        feature of largest variance; `problem.k` is the largest count of nonzeros found.

    Notes
    -----
    The penalised objective never falls; where it ends depends on the start.
    Cost of a sweep: O(d^2 m), with d x d numbers held.
    Zass and Shashua (2007); plotted in asteris2014's Figure 4.
    Explained in the chapter "Look at the rivals: EM and NSPCA".

    Examples
    --------
    >>> A = np.array([[2.0, -1.0, 0.5], [-1.0, 2.0, 0.8], [0.5, 0.8, 1.0]])
    >>> nspca(A, m=1, alpha=30, beta=0, seed=0).support
    array([1, 2])
    """
    A = as_covariance(A)
    Nonnegative(1, m=m).fit(A.size)
    alpha, beta = checked_nonnegative("alpha", alpha), checked_nonnegative("beta", beta)
    if alpha == 0:
        raise ValueError("alpha=0 must be positive: without it the objective has no maximum")
    S, rng = A.submatrix(np.arange(A.size)), np.random.default_rng(seed)
    U = rng.uniform(size=(A.size, m, checked_count("n_starts", n_starts)))
    U /= np.linalg.norm(U, axis=0)
    U, values, n_iter, converged = lanes(
        S, U, alpha, beta, checked_nonnegative("tol", tol), checked_count("max_sweeps", max_sweeps)
    )
    W = columns(A, U[:, :, int(np.argmax(values))])
    return finished(A, W, int(np.count_nonzero(W, axis=0).max()), "nspca", n_iter, converged)


def columns(A, U):
    """Scale columns to length 1; an empty one becomes the feature of largest variance."""
    W, empty = unit_columns(U), ~U.any(axis=0)
    W[:, empty] = keep_positive(A.diagonal(), 1)[:, None]
    return W


def finished(A, W, k, solver, n_iter, converged):
    problem, support = Nonnegative(k, m=W.shape[1]), np.flatnonzero(W.any(axis=1))
    value = problem.score(A.plain, W)
    if not converged:
        message = f"{solver} stopped at its budget before its objective settled"
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
    return Solution(W, support, value, problem, solver, (value,), n_iter, converged)


def nspca_with_k(A, k, *, n_starts=3, seed, tol=1e-7, max_sweeps=1000):
    """Find one NSPCA component with k nonzeros, searching for the penalty that gives so many.

    alpha is ten times the largest eigenvalue.  Penalties are tried side by side, then more of
    them between those whose counts enclose k.  The count jumps, so that k may not be met: then
    the best component with fewer is returned.  The component's own sparsity is
    `len(solution.support)`.

    >>> nspca_with_k(np.diag([3.0, 3.0, 1.0]) + 4, k=2, seed=0).support
    array([0, 1])
    """
    A, problem = as_covariance(A), Nonnegative(k)
    problem.fit(A.size)
    S, rng = A.submatrix(np.arange(A.size)), np.random.default_rng(seed)
    top = max(A.leading(1)[0][0], np.finfo(float).tiny)
    low, high, best, steps, settled = 0.0, top, (False, -np.inf, None), 0, True
    starts = rng.uniform(size=(A.size, 1, checked_count("n_starts", n_starts)))
    starts /= np.linalg.norm(starts, axis=0)
    for _ in range(ROUNDS):
        betas = np.linspace(low, high, PROBES).repeat(n_starts)
        U, _, n_iter, ended = lanes(S, np.tile(starts, PROBES), 10 * top, betas, tol, max_sweeps)
        steps, settled = steps + n_iter, settled and ended
        counts = np.count_nonzero(U[:, 0], axis=0)
        for j in np.flatnonzero(counts <= k):
            x = columns(A, U[:, :, j])
            found = (counts[j] == k, problem.score(A.plain, x), x)
            best = max(best, found, key=lambda each: each[:2])
        least = counts.reshape(PROBES, n_starts).min(axis=1)
        i = int(np.argmax(least <= k))  # the first penalty that is large enough
        if best[0] or i == 0:
            break
        low, high = betas[(i - 1) * n_starts], betas[i * n_starts]
    return finished(A, best[2], k, "nspca", steps, settled)
