"""Conjugate gradients on the Stiefel manifold, with a strong Wolfe search."""

from dataclasses import dataclass, field

import numpy as np

from fspca.covariance.validate import checked_count, checked_nonnegative, checked_real
from fspca.separate_supports.line_search import strong_wolfe
from fspca.separate_supports.stiefel import qr, spin, tangent, transport


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
    Explained in the chapter "The Stiefel manifold: move without leaving it".

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
    V0 = checked_real("V0", V0)
    if not np.allclose(V0.T @ V0, np.eye(V0.shape[1]), rtol=0, atol=1e-6):  # far above rounding
        raise ValueError(f"V0 has shape {V0.shape}; its columns must be orthonormal")
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
