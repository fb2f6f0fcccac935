"""The smooth step of ADMM: a quadratic on the Stiefel manifold, with as few products as can be."""

import numpy as np

from fspca.separate_supports.stiefel import qr, spin


def quadratic(product, C):
    """Return f(V) = <C, V> - 1/2 tr(V'AV), its gradient and its curve, where product(V) = AV.

    On a curve W = (V + tZ) R^-1, R'R = I + t^2 Z'Z, all is made of m x m matrices: a search
    costs one product, AZ, and the image at its end is (AV + t AZ) R^-1.
    """
    known = [None, None]

    def image(V):
        if known[0] is not V:
            known[:] = V, product(V)
        return known[1]

    def curve(V, G, Z):
        AV, AZ = C - G, product(Z)
        M, N, L = V.T @ AV, Z.T @ AZ, V.T @ AZ
        CV, CZ, VZ, ZZ, eye = C.T @ V, C.T @ Z, V.T @ Z, Z.T @ Z, np.eye(V.shape[1])

        def along(t):
            B = np.linalg.inv(np.linalg.cholesky(eye + t * t * ZZ)).T  # R^-1
            CW = (CV + t * CZ) @ B
            WAZ = B.T @ (L + t * N) @ B
            WAW = B.T @ (M + t * (L + L.T) + t * t * N) @ B
            turn = spin(B.T @ (VZ + t * ZZ) @ B)
            slope = np.vdot(CZ.T, B) - np.vdot(eye, WAZ) - np.vdot((CW - WAW).T, turn)
            return np.vdot(eye, CW - WAW / 2), slope

        def arrive(t):
            W, R = qr(V + t * Z)
            return W, C - np.linalg.solve(R.T, (AV + t * AZ).T).T

        return along, arrive

    return lambda V: np.vdot(C - image(V) / 2, V), lambda V: C - image(V), curve
