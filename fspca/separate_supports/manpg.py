"""ManPG: a proximal gradient step within the tangent space of the Stiefel manifold."""

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.linalg import EPS
from fspca.covariance.validate import checked_nonnegative
from fspca.problem import SeparateSupports, Solution
from fspca.separate_supports.alternation import spread
from fspca.separate_supports.deflation import from_starts
from fspca.separate_supports.sparse_copy import copy_with, start_at
from fspca.separate_supports.stiefel import retract
from fspca.solver import Listener, solves

NEWTON, SLIGHTEST = 50, 1e-8  # steps of the inner solver; the least part of a step that is tried
DAMPING = 1e-4  # of Newton's steps, which where a column is empty have no derivative
LONGER = 1.05  # the step size grows while whole steps are taken


def shrunk(M, threshold):
    """Return M with every entry drawn towards 0 by the threshold."""
    return np.sign(M) * np.maximum(np.abs(M) - threshold, 0)


def tangent_step(V, G, t, penalty, L):
    """Return Y = V + D with the tangent D that minimises the model of the cost, and its multiplier.

    min <G, D> + ||D||^2 / 2t + penalty ||V + D||_1 over V'D + D'V = 0.  With the multiplier L,
    symmetric, Y is V - t (G - 2 V L) shrunk by t penalty, and L minimises the convex
    ||Y||^2 / 2t - 2 tr L, whose gradient is V'D + D'V: by Newton's method, with the derivative
    that the shrinkage has where it has one.
    """
    m = V.shape[1]
    base, (p, q) = V - t * G, np.triu_indices(m)
    units = np.zeros((len(p), m, m))
    units[range(len(p)), p, q] = units[range(len(p)), q, p] = np.where(p == q, 1, 0.5**0.5)

    def at(L):
        Y = shrunk(base + 2 * t * V @ L, t * penalty)
        S = V.T @ (Y - V)
        return Y, np.tensordot(units, S + S.T, 2), np.sum(Y**2) / (2 * t) - 2 * np.trace(L)

    Y, slope, value = at(L)
    for _ in range(NEWTON):
        if (size := np.linalg.norm(slope)) <= 64 * EPS * len(V):
            break
        kept = np.array([(V.T * y) @ V for y in (Y != 0).T])  # V' V on the rows kept of each column
        S = 2 * t * np.einsum("bac,ucb->uab", kept, units)
        J = np.tensordot(units, S + S.transpose(0, 2, 1), ((1, 2), (1, 2)))
        J += (DAMPING * min(1.0, size) + EPS) * np.eye(len(J))
        turn = -np.linalg.pinv(J, hermitian=True) @ slope
        part, fall = 1.0, turn @ slope
        while part > SLIGHTEST:
            trial = L + part * np.tensordot(turn, units, 1)
            Y, slope, reached = at(trial)
            if reached <= value + 1e-4 * part * fall or np.linalg.norm(slope) < size / 2:
                break
            part /= 2
        if part <= SLIGHTEST:
            break
        L, value = trial, reached
    return at(L)[0], L


def descend_proximally(A, V, penalty, note=None, tol=1e-6, max_iter=1000):
    """Lower -1/2 tr(V'AV) + penalty ||V||_1 until a step is short; return (V, Y), and why it ended.

    Y, the sparse end of the last step, leaves the manifold by no more than the square of it.
    """
    unit = spread(A) or 1.0  # in which the largest eigenvalue is 1, and so is t
    penalty, t, multiplier = penalty / unit, 1.0, np.zeros((V.shape[1], V.shape[1]))

    def cost(V, AV):
        return penalty * np.abs(V).sum() - np.vdot(V, AV) / 2

    AV = A.product(V) / unit
    value = cost(V, AV)
    for _ in range(max_iter):
        Y, multiplier = tangent_step(V, -AV, t, penalty, multiplier)
        D = Y - V
        if note is not None:
            note(V, Y)
        size = np.linalg.norm(D)
        if size <= tol * np.sqrt(V.shape[1]) * t:
            return (V, Y), "settled"
        part = 1.0
        while part > SLIGHTEST:
            W = retract(V, part * D)
            AW = A.product(W) / unit
            if cost(W, AW) <= value - 1e-4 * part * size**2 / t:
                break
            part /= 2
        else:  # a lower cost is beyond rounding
            return (V, Y), "no gain"
        t = t * LONGER if part == 1.0 else max(t / LONGER, 1.0)
        V, AV, value = W, AW, cost(W, AW)
    return (V, Y), "max_iter"


@solves(SeparateSupports, guarantee="heuristic", promises="labels")
def manpg(A: Covariance, m: int, k: int | None = None, *, penalty: float | None = None,
          init: str | ArrayLike = "pca", n_starts: int = 1, seed: int | None = 0, tol: float = 1e-6,
          max_iter: int = 1000, max_seconds: float | None = None,
          progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find orthonormal components and their sparse copy by proximal gradients on the manifold.

    The problem is that of `sadmm`, min -1/2 tr(V'AV) + penalty ||V||_1 over V'V = I.  A step
    minimises the gradient's model of the first part plus the second as it is, among the
    directions tangent at V, and is brought back to the manifold; it has no weight to be tuned.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k, penalty : int, float
        As in `sadmm`: the penalty is given, or searched for k features of each component.
    init, n_starts, seed : str or array, int
        As in `sadmm`.
    tol, max_iter : float, int
        Stops where a step, over the step size, is at most tol sqrt(m) times the largest
        eigenvalue, or after so many steps, which warns.
    max_seconds, progress : float, True or callable
        As everywhere.

    Returns
    -------
    Solution
        As `sadmm`.

    See Also
    --------
    sadmm : A sparse copy in place of a sparse column.

    Notes
    -----
    The cost falls in every step, and cluster points are stationary (Chen, Ma, So and Zhang 2020).
    Cost of a step: a product with A for each trial of its length, mostly one, and some Newton
    steps of O(dm^2 + m^6).
    Explained in the chapter "SADMM: keep the columns orthonormal and a copy sparse".

    References
    ----------
    Chen, Ma, So and Zhang, "Proximal gradient method for nonsmooth optimization over the Stiefel
    manifold", SIAM Journal on Optimization 30(1), 2020.

    Examples
    --------
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.1], [0.0, 0.1, 1.0]])
    >>> manpg(A, m=1, penalty=0.2).support, manpg(A, m=1, k=2).support
    (array([0, 1]), array([0, 1]))
    """
    A = A.plain  # a ridge adds the same to every V with V'V = I
    if penalty is not None:
        penalty = checked_nonnegative("penalty", penalty)

    def run(A, V, penalty, note=None, most=max_iter):
        return descend_proximally(A, V, penalty, note, tol, min(most, max_iter))

    def all_at_once(components, init, rng):
        components.begin()
        V = start_at(A, m, init, rng)
        components.add(*copy_with(A, V, k, penalty, run, components.note))

    return from_starts(
        A,
        m,
        k,
        "manpg",
        all_at_once,
        init=init,
        n_starts=n_starts,
        seed=seed,
        max_seconds=max_seconds,
        progress=progress,
    )
