"""NSPCA: nonnegative components together, one entry at a time, with penalties."""

import warnings
from dataclasses import replace

import numpy as np

from fspca.covariance import as_covariance
from fspca.nonnegative.em import unit_columns
from fspca.nonnegative.low_rank import keep_positive
from fspca.problem import ConvergenceWarning, Nonnegative, Solution
from fspca.validate import checked_count, checked_nonnegative, checked_positive

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
    message = f"nspca stopped at max_sweeps={max_sweeps} before its objective settled"
    warnings.warn(message, ConvergenceWarning, stacklevel=3)
    return U, values, max_sweeps, False


def nspca(A, m, alpha, beta, *, n_starts=5, seed, tol=1e-6, max_sweeps=1000):
    r"""Find m nonnegative components at once, sparse and nearly orthogonal by penalties.

    The problem is max 1/2 tr(U'AU) - alpha/4 norm(I - U'U)^2 - beta sum(U) over U >= 0.  In one
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
    Nonnegative(m, 1).fit(A.size)
    alpha, beta = checked_positive("alpha", alpha), checked_nonnegative("beta", beta)
    S, rng = A.submatrix(np.arange(A.size)), np.random.default_rng(seed)
    U = rng.uniform(size=(A.size, m, checked_count("n_starts", n_starts)))
    U /= np.linalg.norm(U, axis=0)
    U, values, n_iter, converged = lanes(
        S, U, alpha, beta, checked_nonnegative("tol", tol), checked_count("max_sweeps", max_sweeps)
    )
    W = columns(A, U[:, :, int(np.argmax(values))])
    return finished(A, W, n_iter, converged)


def columns(A, U):
    """Scale columns to length 1; an empty one becomes the feature of largest variance."""
    W, empty = unit_columns(U), ~U.any(axis=0)
    W[:, empty] = keep_positive(A.diagonal(), 1)[:, None]
    return W


def finished(A, W, n_iter, converged):
    """Return the Solution with these unit columns; k is the largest count of nonzeros."""
    k = int(np.count_nonzero(W, axis=0).max())
    problem, support = Nonnegative(W.shape[1], k), np.flatnonzero(W.any(axis=1))
    value = problem.score(A.plain, W)
    stopped = "settled" if converged else "max_iter"
    return Solution(W, support, value, problem, "nspca", (value,), n_iter, stopped)


def nspca_path(A, penalties, *, alpha=None, n_starts=3, seed, tol=1e-6, max_sweeps=1000):
    """Return one NSPCA component for each penalty beta and start, all run side by side.

    alpha is ten times the largest eigenvalue of A unless given.  Read the sparsity of each from
    `len(solution.support)`: it falls with beta, and jumps.

    >>> path = nspca_path(np.diag([3.0, 3.0, 1.0]) + 4, [0.0, 9.0], n_starts=1, seed=0)
    >>> [len(each.support) for each in path]
    [3, 1]
    """
    A = as_covariance(A)
    top = max(A.leading(1)[0][0], np.finfo(float).tiny)
    alpha = checked_positive("alpha", 10 * top if alpha is None else alpha)
    betas = [checked_nonnegative("penalties", beta) for beta in penalties]
    starts = np.random.default_rng(seed).uniform(
        size=(A.size, 1, checked_count("n_starts", n_starts))
    )
    S, U = A.submatrix(np.arange(A.size)), starts / np.linalg.norm(starts, axis=0)
    U, _, n_iter, converged = lanes(
        S, np.tile(U, len(betas)), alpha, np.repeat(betas, n_starts),
        checked_nonnegative("tol", tol), checked_count("max_sweeps", max_sweeps),
    )  # fmt: skip
    found = (columns(A, U[:, :, lane]) for lane in range(U.shape[2]))
    return [finished(A, W, n_iter, converged) for W in found]


def nspca_with_k(A, k, *, n_starts=3, seed, tol=1e-6, max_sweeps=1000):
    """Find one NSPCA component with k nonzeros, searching for the penalty that gives so many.

    Penalties are tried side by side, then more of them between those whose counts enclose k.
    The count jumps, so that k may not be met: then the best component with fewer is returned,
    and `len(solution.support)` says with how many.

    >>> A = np.kron(np.diag([3.0, 2.0]), np.ones((2, 2))) + 0.1
    >>> nspca_with_k(A, k=2, seed=0).support
    array([0, 1])
    """
    A, problem = as_covariance(A), Nonnegative(1, k)
    problem.fit(A.size)
    top = max(A.leading(1)[0][0], np.finfo(float).tiny)
    penalties, tried = np.append(0.0, np.geomspace(top / A.size / 10, top, PROBES - 1)), []
    for _ in range(ROUNDS):
        tried += nspca_path(
            A, penalties, n_starts=n_starts, seed=seed, tol=tol, max_sweeps=max_sweeps
        )
        counts = np.array([len(each.support) for each in tried[-PROBES * n_starts :]])
        least = counts.reshape(PROBES, n_starts).min(axis=1)
        i = int(np.argmax(least <= k))  # the first penalty that is large enough
        if (counts == k).any() or i == 0:
            break
        penalties = np.linspace(penalties[i - 1], penalties[i], PROBES)
    fits = [each for each in tried if len(each.support) <= k]
    best = max(fits, key=lambda each: (len(each.support) == k, each.objective))
    return replace(
        best, problem=problem, n_iter=sum(each.n_iter for each in tried[:: PROBES * n_starts])
    )
