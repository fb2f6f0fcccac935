"""One loop for ADMM and SADMM, and the coordinates in which its smooth step is cheap."""

from itertools import islice
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.linalg

from fspca.covariance.linalg import EPS, leading_of_matrix
from fspca.covariance.validate import checked_nonnegative, checked_positive
from fspca.separate_supports.conjugate_gradient import minimize_on_stiefel
from fspca.separate_supports.quadratic import quadratic
from fspca.separate_supports.stiefel import tangent

LARGEST = 2000  # of min(n, d): up to here all singular vectors of X are computed, once
SEEN = 1e-8  # a direction shorter than this, relatively, changes V'V by its square: rounding
_SPECTRA = WeakKeyDictionary()


def spectrum(A):
    """Return the nonzero eigenvalues of A - w I with their eigenvectors, or None where too large.

    w is the smallest eigenvalue; on V'V = I it adds the same to every trace(V'AV).
    """
    if A not in _SPECTRA:
        Z, pairs = A.wide_factor(LARGEST), None
        if Z is not None:
            _, s, Bt = scipy.linalg.svd(Z, full_matrices=False)
            rank = np.count_nonzero(s > Z.shape[1] * EPS * s[0])
            pairs = s[:rank] ** 2, np.ascontiguousarray(Bt[:rank].T)
        elif A.size <= LARGEST:
            values, vectors = leading_of_matrix(A.submatrix(np.arange(A.size)), A.size)
            pairs = values - values[-1], np.ascontiguousarray(vectors)
        _SPECTRA[A] = pairs
    return _SPECTRA[A]


def coordinates(A, M):
    """Return a product, the coordinates of M, and the way back from coordinates to d rows.

    With A = B diag(w) B' the span of B and M is kept by every step that starts from V and uses
    A and C alone, M = [V, C]; there A is diagonal.  The cost is two products with B, and one
    on the way back.  Where B is too large, M is its own coordinates.
    """
    if (pairs := spectrum(A)) is None:
        return A.product, M, lambda a: a
    w, B = pairs
    on, E = B.T @ M, np.empty((A.size, 0))
    if len(w) < A.size:
        lengths = np.linalg.norm(M, axis=0)
        U, s, _ = np.linalg.svd((M - B @ on) / np.where(lengths, lengths, 1), full_matrices=False)
        E = U[:, s > SEEN]
    weights = np.append(w, np.zeros(E.shape[1]))[:, None]
    frame = lambda a: B @ a[: len(w)] + E @ a[len(w) :]  # noqa: E731
    return lambda a: weights * a, np.vstack([on, E.T @ M]), frame


def smooth_step(A, V, C, **options):
    """Minimise <C, V> - 1/2 tr(V'AV) over V'V = I from V by conjugate gradients."""
    unit, m = spread(A) or 1.0, V.shape[1]
    product, M, back = coordinates(A, np.hstack([V, C / unit]))
    f, gradient, curve = quadratic(lambda a: product(a) / unit, M[:, m:])
    return back(minimize_on_stiefel(f, gradient, M[:, :m], curve=curve, **options).V)


class Step(NamedTuple):
    """The orthonormal V, its sparse copy Y, the multiplier Omega, and rho of this step."""

    V: np.ndarray
    Y: np.ndarray
    Omega: np.ndarray
    rho: float


def steps(A, V, penalty, gamma, rho, growth=1.0, rho_max=np.inf, **inner):
    """Yield a `Step` without end: Algorithm 2 of tan2019, or where gamma is None Algorithm 1.

    V <- argmin -1/2 tr(V'AV) + <Omega, V - Y> + rho/2 ||V - Y||^2 over V'V = I,
    Y <- V + Omega/gamma shrunk by penalty/gamma,  Omega <- Omega + gamma (V - Y),
    rho <- min(growth rho, rho_max).  In Algorithm 1 gamma is the rho of the step.  `inner` goes
    to `minimize_on_stiefel`, whose tol the residuals cannot fall below.
    """
    Y, Omega = V, np.zeros_like(V)
    while True:
        weight = rho if gamma is None else gamma
        V = smooth_step(A, V, Omega - rho * Y, **inner)
        Z = V + Omega / weight
        Y = np.sign(Z) * np.maximum(np.abs(Z) - penalty / weight, 0)
        Omega = Omega + weight * (V - Y)
        yield Step(V, Y, Omega, rho)
        rho = min(growth * rho, rho_max)


def stationarity(A, V, Omega):
    """Return ||P(Omega - AV)||, P the projection on the tangent space at V.

    With V = Y it is 0 exactly at the stationary points of tan2019's problem (4), as every step
    leaves Omega among the subgradients of penalty ||Y||_1.
    """
    return float(np.linalg.norm(tangent(V, Omega - A.product(V))))


def settling_rho(A, m, penalty):
    """Return ||A - w I||_F + penalty sqrt(dm), w the least eigenvalue: enough, it seems.

    tan2019's Theorem 2 asks ||A||_F only; w changes nothing on the manifold, and Omega, of norm
    up to penalty sqrt(dm), is to be small beside rho too (the chapter shows it).  Where A is too
    large for its spectrum, the root of the largest eigenvalue times the trace bounds the norm.
    """
    pairs, unit = spectrum(A), A.trace or 1.0  # squares of tiny numbers would vanish
    size = np.linalg.norm(pairs[0] / unit) if pairs else np.sqrt(A.leading(1)[0][0] / unit)
    return float(unit * size + penalty * np.sqrt(A.size * m)) or 1.0


def spread(A):
    """Return the largest eigenvalue, less the smallest where the spectrum is at hand."""
    pairs = spectrum(A)
    return float(A.leading(1)[0][0] if pairs is None else pairs[0].max(initial=0))


def checked_weights(growth, **weights):
    """Refuse a growth or a weight that no step can be taken with; a weight may be None."""
    for name, value in weights.items():
        if value is not None:
            checked_positive(name, value)
    if not 1 <= checked_nonnegative("growth", growth) < 2:
        raise ValueError(f"growth={growth} must be at least 1, which is none, and below 2")


def alternate(A, V, penalty, gamma, rho, *, growth, rho_max, tol, max_iter, note=None):
    """Step until V and Y agree and stand still; return the last step and why it is the last.

    The rule: ||V - Y||, ||V - last V|| and ||Y - last Y|| (Frobenius) are all at most
    tol sqrt(m).  Omega changes by gamma (V - Y), so that it has settled with the first.
    """
    if rho_max is None:
        rho_max = settling_rho(A, V.shape[1], penalty)
    last, least = None, tol * np.sqrt(V.shape[1])
    for step in islice(steps(A, V, penalty, gamma, rho, growth, max(rho, rho_max)), max_iter):
        if note is not None:
            note(step.V, step.Y)
        moves = [step.V - step.Y, step.V - last.V, step.Y - last.Y] if last else [np.inf]
        last = step
        if max(map(np.linalg.norm, moves)) <= least:
            return step, "settled"
    return last, "max_iter"
