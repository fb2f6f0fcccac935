"""The Stiefel manifold: steps among d x m matrices with orthonormal columns."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np

from fspca.separate_supports.line_search import strong_wolfe
from fspca.validate import checked_count, checked_nonnegative


def tangent(V, Z):
    """Project Z on the tangent space at V, the T with V'T + T'V = 0.

    >>> tangent(np.array([[1.0], [0.0]]), np.array([[3.0], [4.0]]))
    array([[0.],
           [4.]])
    """
    S = V.T @ Z
    return Z - V @ ((S + S.T) / 2)


def retract(V, step):
    """Bring V + step back to the manifold: the Q of its QR factors, R with positive diagonal.

    >>> retract(np.array([[1.0], [0.0]]), np.array([[0.0], [0.75]]))
    array([[0.8],
           [0.6]])
    """
    return qr(V + step)[0]


def transport(V, Z):
    """Carry a tangent vector Z of another point to the tangent space at V, by projection."""
    return tangent(V, Z)


def qr(M):
    """Return the QR factors of which R has a positive diagonal."""
    Q, R = np.linalg.qr(M)
    signs = np.where(np.diagonal(R) < 0, -1.0, 1.0)
    return Q * signs, R * signs[:, None]


@cache
def _upper_half(m):
    return np.triu(np.ones((m, m))) - np.eye(m) / 2


def spin(H):
    """dR R^-1 where V + tZ = WR, from H = W'Z R^-1: upper triangular, with the sum H + H'."""
    return (H + H.T) * _upper_half(len(H))


def by_retraction(f, gradient):
    """Return the curve of any f: each trial costs one f and one gradient, kept for the arrival."""

    def curve(V, G, Z):
        seen = {}

        def along(t):
            W, R = qr(V + t * Z)
            ZR = np.linalg.solve(R.T, Z.T).T
            seen[t] = W, gradient(W)
            return f(W), np.vdot(seen[t][1], ZR - W @ spin(W.T @ ZR))

        return along, seen.get

    return curve


@dataclass(frozen=True)
class Minimum:
    """Where the descent ended; `steps` holds (t, f, f', new f, new f') of every step taken."""

    V: np.ndarray = field(repr=False)
    value: float
    gradient_norm: float
    n_iter: int
    converged: bool
    steps: tuple = field(repr=False)


def minimize_on_stiefel(f, gradient, V0, *, max_iter=30, tol=1e-5, c1=1e-4, c2=0.4, curve=None):
    r"""Find a stationary point of a smooth f on V'V = I by nonlinear conjugate gradients.

    The direction is Z = -grad f + beta (the last Z transported), with Fletcher and Reeves's
    beta = ||grad f||^2 / ||last grad f||^2; a step along V(t) = qf(V + tZ) meets the strong
    Wolfe conditions f(V(t)) <= f + c1 t f' and abs(d/dt f(V(t))) <= c2 abs(f').

    Parameters
    ----------
    f, gradient : functions of V
        The value, and the gradient in the space of all d x m matrices.
    V0 : array, d x m, orthonormal columns
    max_iter, tol : int, float
        Stops where the norm of grad f, the projected gradient, is at most tol times the
        gradient's; no warning is given where max_iter comes first.
    c1, c2 : float
        0 < c1 < c2 < 1/2.
    curve : function of V, its gradient G and a tangent Z, or None
        Returns two functions of t: the value and slope on V(t), and V(t) with its gradient.
        None computes them by f and gradient; `quadratic` makes a cheaper one.

    Returns
    -------
    Minimum

    Notes
    -----
    tan2019's Theorem 1: then liminf ||grad f|| = 0.  Its proof needs the transport that belongs
    to the curve; with the projection a direction may not descend, and then begins anew from
    -grad f.
    This is Algorithm 3 of tan2019.  Cost of a step: one curve, and O(dm^2).
    Explained in the chapter "Move without leaving the manifold".

    Examples
    --------
    >>> A = np.diag([2.0, 1.0])
    >>> start = np.array([[0.6], [0.8]])
    >>> minimize_on_stiefel(lambda V: -np.vdot(V, A @ V) / 2, lambda V: -A @ V, start).converged
    True
    """
    checked_count("max_iter", max_iter)
    tol = checked_nonnegative("tol", tol)
    if not 0 < c1 < c2 < 0.5:
        raise ValueError(f"c1={c1} and c2={c2} must satisfy 0 < c1 < c2 < 1/2")
    curve = curve or by_retraction(f, gradient)
    V, G, value = V0, gradient(V0), f(V0)
    grad, taken = tangent(V, G), []
    Z, size, t = -grad, np.vdot(grad, grad), 1 / (np.linalg.norm(G) or 1.0)
    while not (converged := bool(np.sqrt(size) <= tol * np.linalg.norm(G))):
        if len(taken) == max_iter:
            break
        if (slope := np.vdot(grad, Z)) >= 0:
            Z, slope = -grad, -size
        along, arrive = curve(V, G, Z)
        if (found := strong_wolfe(along, value, slope, t, c1, c2)) is None:
            break
        taken.append((found[0], value, slope, *found[1:]))
        t, value, _ = found
        V, G = arrive(t)
        before, grad = size, tangent(V, G)
        size = np.vdot(grad, grad)
        Z = size / before * transport(V, Z) - grad
    return Minimum(V, float(value), float(np.sqrt(size)), len(taken), converged, tuple(taken))
