"""Bounds that stay valid in floating point: raised by a residual and a defect that are computed."""

import numpy as np

from fspca.shared_support.semidefinite import EPS, sum_largest


def ky_fan_bound(M, m):
    r"""Return a number not below the sum of the m largest eigenvalues of M, rounding included.

    With computed eigenpairs (w, V), M = V diag(w) V' + E, so F_m(M) <= F_m(V diag(w) V') +
    m ||E||, and by Ostrowski's theorem each eigenvalue of V diag(w) V' differs from that of
    diag(w) by at most ||V'V - I|| max|w|.
    """
    w, V = np.linalg.eigh(M)
    error = np.linalg.norm(M - (V * w) @ V.T)
    error += np.linalg.norm(V.T @ V - np.eye(len(M))) * np.abs(w).max()
    return w[-m:].sum() + m * (error + 4 * len(M) * EPS * np.abs(w).sum())


def safe_bound(A, G, m, k):
    """Return S_k(diag GG') + F_m(A - GG') plus what rounding may have hidden, A dense."""
    C, c = G @ G.T, (G**2).sum(axis=1)
    size = np.linalg.norm(A) + np.trace(C)
    return sum_largest(c, k) + ky_fan_bound(A - C, m) + 4 * m * max(G.shape) * EPS * size


def safe_bound_of_data(X, Z, N, m, k):
    """Return the same for A = X'X and C = ZN(ZN)', by eigenproblems of the size of Z's columns.

    Z holds the range of A up to a residual R = X - XZZ', which costs m (2||X|| ||R|| + ||R||^2).
    """
    XZ, G = X @ Z, Z @ N
    R, defect = np.linalg.norm(X - XZ @ Z.T), np.linalg.norm(Z.T @ Z - np.eye(Z.shape[1]))
    inner = XZ.T @ XZ - N @ N.T
    size = np.linalg.norm(XZ.T @ XZ) + (G**2).sum()
    zeros = np.maximum(-np.linalg.eigvalsh(inner)[-m:], 0).sum()  # eigenvalues 0 outside Z
    margin = 2 * np.linalg.norm(X) * R + R**2 + (defect + 4 * max(X.shape) * EPS) * size
    return sum_largest((G**2).sum(axis=1), k) + ky_fan_bound(inner, m) + zeros + m * margin
