"""NSPCA: nonnegative components together, one entry at a time, with penalties."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance, as_covariance
from fspca.covariance.validate import checked_count, checked_nonnegative, checked_positive
from fspca.nonnegative.components import alone, draws, one_by_one
from fspca.nonnegative.em import unit_columns
from fspca.nonnegative.low_rank import answer
from fspca.problem import Nonnegative, SeparateSupports, Solution, solution_of
from fspca.shared_support.starts import WORDS, checked_init, starting_point
from fspca.solver import Listener, Run, solves

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


def lanes(S, U, alpha, beta, tol, run):
    """Sweep until no lane's objective changes by more than tol; return U and all objectives."""
    values = penalised(S, U, alpha, beta)
    with run:
        for _ in run:
            sweep(S, U, np.tensordot(S, U, 1), alpha, beta)
            before, values = values, penalised(S, U, alpha, beta)
            run.record(values.max(), U)
            if np.all(np.abs(values - before) <= tol * alpha):
                run.stop("settled")
    return U, values


@solves(Nonnegative, guarantee="heuristic", promises="rises", needs="matrix")
def nspca(A: Covariance, m: int, k: int | None = None, *, penalty: float | None = None,
          alpha: float | None = None, apart: str = "supports", init: str | ArrayLike = "random",
          n_starts: int = 3, seed: int | None = 0, tol: float = 1e-6, max_iter: int = 1000,
          max_seconds: float | None = None,
          progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find nonnegative components, sparse and nearly orthogonal by penalties.

    The problem is max 1/2 tr(U'AU) - alpha/4 norm(I - U'U)^2 - beta sum(U) over U >= 0.  In one
    entry, with all others held, that is a quartic; its maximum over u >= 0 is at zero or at
    the largest root of a cubic.  Entries are visited in turn until the objective settles.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components, and nonzeros of each: then they are found one after another, and for each
        penalties are tried side by side until one leaves k nonzeros.  The count jumps, so that k
        may not be met: then the best component with fewer is returned.
    penalty : float
        Beta, in place of k; all m components are then found at once.
    alpha : float
        How much the components must be orthogonal and of length 1, well above the largest
        eigenvalue of A: ten times it unless given.
    apart : "supports" or "deflation"
        Set the features of a component aside for the next, or project the component out.
    init : "random", "pca", "variance" or array (d x m)
        Uniform entries, or the first start, its negative entries left out, followed by random ones.
    n_starts, seed : int
        Starts, run side by side; the one of largest penalised objective is returned.
    tol, max_iter, max_seconds : float, int
        Stop where no objective changes by more than tol times alpha; ending at max_iter sweeps
        warns.
    progress : True or callable
        Told of each sweep; the objective is the penalised one.

    Returns
    -------
    Solution
        Columns are scaled to length 1 for the judge, and one that the penalty empties is the
        feature of largest variance; with a penalty `problem.k` is the largest count found.

    See Also
    --------
    em : The other rival.
    spannogram : Exact for low rank.

    Notes
    -----
    The penalised objective never falls; where it ends depends on the start.
    Cost of a sweep: O(d^2 m), with d x d numbers held.
    Zass and Shashua (2007); plotted in asteris2014's Figure 4.
    Explained in the chapter "EM and NSPCA: look at the rivals".

    References
    ----------
    Zass and Shashua, "Nonnegative sparse PCA", NeurIPS 2006 (printed 2007).

    Asteris, Papailiopoulos and Dimakis, "Nonnegative sparse PCA with provable guarantees", ICML
    2014.

    Examples
    --------
    >>> A = np.array([[2.0, -1.0, 0.5], [-1.0, 2.0, 0.8], [0.5, 0.8, 1.0]])
    >>> nspca(A, 1, penalty=0, alpha=30).support
    array([1, 2])
    >>> nspca(np.kron(np.diag([3.0, 2.0]), np.ones((2, 2))) + 0.1, 1, 2).support
    array([0, 1])
    """
    init, given = checked_init(init, A.size, m, WORDS), alpha
    alpha = checked_alpha(A, alpha)
    if penalty is None:
        rngs = draws(seed)

        def method(A, k, run, init=init):
            return with_count(
                A, k, run, alpha=given, init=init, n_starts=n_starts, seed=next(rngs), tol=tol
            )

        return one_by_one(
            A, m, k, method, apart=apart, max_iter=max_iter, max_seconds=max_seconds,
            progress=progress, init=init,
        )  # fmt: skip
    A, beta = A.plain, checked_nonnegative("penalty", penalty)
    U = drawn(A, m, init, n_starts, seed)
    run = Run(max_iter, max_seconds, progress)
    U, values = lanes(A.submatrix(np.arange(A.size)), U, alpha, beta, tol, run)
    return finished(A, U[:, :, int(np.argmax(values))], run)


def checked_alpha(A, alpha):
    """Return alpha as a float: ten times the largest eigenvalue of A unless given."""
    top = max(A.leading(1)[0][0], np.finfo(float).tiny)
    return checked_positive("alpha", 10 * top if alpha is None else alpha)


def drawn(A, m, init, n_starts, seed):
    """Return starts (d x m x n_starts) with columns of length 1."""
    U = np.random.default_rng(seed).uniform(size=(A.size, m, n_starts))
    if isinstance(init, str) and init != "random":
        init = starting_point(A, SeparateSupports(m, 1), init, None)[0]
    if not isinstance(init, str):
        U[:, :, 0] = np.maximum(init, 0.0)
    return unit_columns(U)


def finished(A, U, run):
    """Return the Solution with these columns, of length 1; k is the largest count of nonzeros.

    An empty one becomes the feature of largest variance.
    """
    W, empty = unit_columns(U), ~U.any(axis=0)
    W[:, empty] = alone(A)[:, None]
    k = int(np.count_nonzero(W, axis=0).max())
    # what comes before is not of length 1
    return solution_of(A, Nonnegative(W.shape[1], k), W, "nspca", **run.facts | {"history": ()})


def nspca_path(A, penalties, *, alpha=None, init="random", n_starts=3, seed=0, tol=1e-6,
               max_iter=1000, run=None):  # fmt: skip
    """Return one NSPCA component for each penalty beta and start, all run side by side.

    alpha is ten times the largest eigenvalue of A unless given.  Read the sparsity of each from
    `len(solution.support)`: it falls with beta, and jumps.

    >>> path = nspca_path(np.diag([3.0, 3.0, 1.0]) + 4, [0.0, 9.0], n_starts=1)
    >>> [len(each.support) for each in path]
    [3, 1]
    """
    A, run = as_covariance(A).plain, run or Run(checked_count("max_iter", max_iter))
    alpha = checked_alpha(A, alpha)
    betas = [checked_nonnegative("penalties", beta) for beta in penalties]
    init = checked_init(init, A.size, 1, WORDS)
    U = drawn(A, 1, init, checked_count("n_starts", n_starts), seed)
    U, betas = np.tile(U, len(betas)), np.repeat(betas, n_starts)
    tol = checked_nonnegative("tol", tol)
    U, _ = lanes(A.submatrix(np.arange(A.size)), U, alpha, betas, tol, run)
    return run.finish(lambda: [finished(A, u, run) for u in np.moveaxis(U, 2, 0)])


def with_count(A, k, run, *, alpha, init, n_starts, seed, tol):
    """Return the best component with k nonzeros, or fewer, searching for its penalty."""
    top = max(A.leading(1)[0][0], np.finfo(float).tiny)
    penalties, tried = np.append(0.0, np.geomspace(top / A.size / 10, top, PROBES - 1)), []
    rngs = draws(seed)
    try:
        for _ in range(ROUNDS):
            inner = Run(run.max_iter, run.seconds_left, run.relay)
            tried += nspca_path(A, penalties, alpha=alpha, init=init, n_starts=n_starts,
                                seed=next(rngs), tol=tol, run=inner)  # fmt: skip
            counts = np.array([len(each.support) for each in tried[-PROBES * n_starts :]])
            least = counts.reshape(PROBES, n_starts).min(axis=1)
            i = int(np.argmax(least <= k))  # the first penalty that is large enough
            if (counts == k).any() or i == 0 or inner.stopped in ("interrupted", "max_seconds"):
                break
            penalties = np.linspace(penalties[i - 1], penalties[i], PROBES)
    except KeyboardInterrupt:
        if not tried:
            raise
        inner.stop("interrupted")
    fits = [each for each in tried if len(each.support) <= k]
    if not fits:
        return answer(A, k, alone(A), "nspca", stopped=inner.stopped)
    best = max(fits, key=lambda each: (len(each.support) == k, each.objective))
    cut = inner.stopped in ("interrupted", "max_seconds")
    return replace(best, problem=Nonnegative(1, k), stopped=inner.stopped if cut else best.stopped)
