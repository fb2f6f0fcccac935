"""A bound where neither the matrix nor the data fit the memory: it holds with a probability."""

import numpy as np

from fspca.proof.claims import Certificate
from fspca.proof.projections import largest_cost

FAILURE = 1e-9
PRODUCTS = 100  # of the Lanczos iteration


def probable_bound(A, problem):
    r"""Return a Certificate of a shared support without arrays, whose bound holds very likely.

    The bound is the least of S(diag A) and S(diag C) + m (sigma + 2 |QAV|) over some C = V (V'AV -
    sigma)_+ V'.  S is the largest sum over a support that the problem allows, V (d x 2m) holds
    leading eigenvectors, nearly, and Q = I - VV'.  With rho >= lambda_max(QAQ) A is at most
    VV'AVV' + rho Q + QAVV' + VV'AQ: for sigma >= rho the eigenvalues of A - C are at most sigma +
    2 |QAV|.  As sigma, rho and the eigenvalues of V'AV above it are tried.

    rho is found by Lanczos' iteration from a random start: after j steps its largest Ritz value is
    below (1 - epsilon) lambda_max with probability at most 1.648 sqrt(d) exp(-sqrt(epsilon)
    (2j - 1)) (Kuczynski and Wozniakowski 1992).  The start is chance's own, so that no data can be
    made that it misses.
    """
    m, k, d = problem.m, problem.k, A.size
    rows = np.setdiff1d(np.arange(d), problem.forbidden)
    required = np.isin(rows, problem.required)

    def most(c):
        """The largest sum of c over an allowed support."""
        return largest_cost(c[rows], k, required)

    diagonal = most(A.diagonal()) * (1 + 1e-12)
    _, V = A.leading(min(2 * m, d))
    V = np.linalg.qr(V)[0]
    image = A.product(V)
    inner = V.T @ image
    missed = np.linalg.norm(image - V @ inner)
    values, U = np.linalg.eigh((inner + inner.T) / 2)
    V = V @ U
    rho = likely_largest_eigenvalue(lambda v: off_span(V, A.product(off_span(V, v))), d)
    bounds = []
    for sigma in {*values[values > rho].tolist(), rho}:
        c = V**2 @ np.maximum(values - sigma, 0.0)
        bounds.append(most(c) + m * (sigma + 2 * missed))
    return Certificate(float(min(diagonal, *bounds)) * (1 + 1e-12), {}, 1 - FAILURE)


def off_span(V, v):
    """v less its part in the span of V."""
    return v - V @ (V.T @ v)


def likely_largest_eigenvalue(product, d):
    """Return what the largest eigenvalue of a semidefinite operator exceeds with chance 1e-9."""
    steps = min(PRODUCTS, d)
    root = np.log(1.648 * np.sqrt(d) / FAILURE) / (2 * steps - 1)
    v = np.random.default_rng().standard_normal((d, 1))
    V, T = v / np.linalg.norm(v), np.zeros((steps, steps))
    for j in range(steps):
        w = product(V[:, -1:])
        T[: j + 1, j] = T[j, : j + 1] = (V.T @ w)[:, 0]
        for _ in range(2):
            w = off_span(V, w)
        size = np.linalg.norm(w)
        if size <= 1e-13 * np.abs(T).max():  # an invariant space: all that the start can see
            return np.linalg.eigvalsh(T[: j + 1, : j + 1])[-1] * (1 + 1e-9)
        V = np.hstack([V, w / size])
    if steps == d:  # V spans all there is, and below some ten features the chance says nothing
        return np.linalg.eigvalsh(T)[-1] * (1 + 1e-9)
    return np.linalg.eigvalsh(T)[-1] / (1 - root**2)
