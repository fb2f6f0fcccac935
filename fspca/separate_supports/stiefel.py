"""The Stiefel manifold: steps among d x m matrices with orthonormal columns."""

from functools import cache

import numpy as np


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
