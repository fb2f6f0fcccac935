r"""A doubly nonnegative relaxation: bounds on nonnegative loadings, each with what proves it.

P = WW' of a W >= 0 with orthonormal columns has no negative entry, so that <A, P> <= <A + N, P>
for every N >= 0: a bound for A + N is one for A.  Theorem 1 (rows) gives it, and asks for no
semidefinite A.  The relaxation looks for the G, Y and N of the least bound.

Of wide data Y and N are about few features, those of large variance.  The others, R, enter by the
span of their columns alone: P is looked for as V Q V', V = [I, 0; 0, Z], Z a basis of that span.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag, eigh

import fspca.check_certificate as checker
from fspca.covariance.linalg import largest
from fspca.proof.search import PROOF
from fspca.proof.semidefinite import RELAX, clip_to_sum, normal_solver

SWEEPS = 3  # towards the nearest matrix that keeps to the cuts, in a step of the iteration


class Bound(NamedTuple):
    """No P of the node explains more than `value`; a support J at most rest + sum of c over J."""

    rest: float
    c: np.ndarray
    value: float
    arrays: dict


def claim_of_columns(W, counts, k, value, bound, arrays):
    """Return the claim, without its matrix, that nothing explains more than the bound."""
    gap = max(bound / value - 1, 0.0) + PROOF if value > 0 else 0.0
    asked = {"version": checker.VERSION, "kind": "nonnegative", "m": W.shape[1], "k": k, "gap": gap}
    return asked | {"W": W, "counts": counts} | arrays


class SignedState(NamedTuple):
    """Where the iteration stands: P and z, a multiplier for each copy of them, the penalty, N."""

    P: np.ndarray
    z: np.ndarray
    U: tuple
    rho: float
    N: np.ndarray

    def restricted(self, rows):
        """The state on some of the features."""
        square = np.ix_(rows, rows)
        U = tuple(u[square] if u.ndim == 2 else u[rows] for u in self.U)
        kept = np.append(rows, np.arange(len(self.z), len(self.N)))
        return SignedState(self.P[square], self.z[rows], U, self.rho, self.N[np.ix_(kept, kept)])


class SignedGround:
    """A dense matrix as the checker sees it: every bound is the one that it will compute.

    With a count it is data X of A = X'X, and Y and N are about so many features.
    """

    def __init__(self, array, m, k, count=None):
        self.m, self.k, self.full, self.Z, d = m, k, array, np.zeros((0, 0)), array.shape[1]
        self.numbers = checker.Floating(array, count is not None, [])
        self.matrix = checker.Matrix(array, count is not None, self.numbers)
        if count is not None:
            self.few = largest(np.sum(array**2, axis=0), count)
            others = np.delete(np.arange(d), self.few)
            self.Z = np.linalg.qr(array[:, others].T)[0]
            self.V = np.zeros((d, count + self.Z.shape[1]))
            self.V[self.few, np.arange(count)], self.V[others, count:] = 1.0, self.Z
            image = array @ self.V
            self.full = image.T @ image
        top = np.linalg.eigvalsh(self.full)[-1]
        self.scale = 2.0 ** np.round(np.log2(top)) if top > 0 else 1.0
        few, inner = count or d, len(self.full)
        U = tuple(np.zeros(n) for n in [(inner, inner)] * 2 + [(few, few)] * 2 + [few, d])
        rho = min(max(2 * m / k, 0.06), 0.5)  # P's entries are of the order m / k
        self.start = SignedState(np.eye(inner) * (m / inner), np.full(d, k / d), U, rho, U[2])

    def bound(self, rows, required, arrays, **cuts):
        """Return the Bound that the arrays G, Y and N prove of A on these rows, ascending."""
        state = np.zeros(self.matrix.array.shape[1], dtype=np.int8)
        state[rows], state[rows[required]] = 1, 2
        shapes, read = checker.KINDS["nonnegative"].arrays, self.numbers.read
        held = {name: read(array, shapes[name][0]) for name, array in arrays.items()}
        none = dict.fromkeys(shapes) | {"H": np.zeros((len(rows), 0))}
        node = checker.Node(state, self.matrix, none | held | cuts)
        found = checker.bound_node(node, self.numbers, self.m, self.k, checker.nonnegative_bound)
        rest, c, value = (np.ldexp(x, -2 * self.numbers.shift) for x in found)
        return Bound(float(rest), c, float(value), arrays)

    def descend(self, rows, required, state, cuts=()):
        """Yield (Bound, z, P, State) of the relaxation on these rows, after every ten steps.

        With cuts it is about the x whose product with each is at least 0.
        """
        A = (self.full if self.Z.size else self.full[np.ix_(rows, rows)]) / self.scale
        cuts = np.reshape([cut[rows] for cut in cuts], (-1, len(rows)))
        for (G, Y, N), *rest in descend_signed(A, self.Z, self.m, self.k, required, state, cuts):
            arrays = {"G": G, "Y": Y, "N": N} | (self.witness(A, G, Y, N) if self.Z.size else {})
            powers = {"G": 0.5, "H": 0.5, "few": 0}
            arrays = {x: v * self.scale ** powers.get(x, 1) for x, v in arrays.items()}
            yield self.bound(rows, required, arrays, cuts=cuts), *rest

    def witness(self, A, G, Y, N):
        """Return what wide data need: G on all features, which are few, s and H."""
        M, few = A - G @ G.T, np.s_[: len(N), : len(N)]
        M[few] += N - (Y + Y.T) / 2
        values, H = eigh(M, subset_by_index=(len(M) - self.m, len(M) - 1))
        least = max(values[0], 0.0)
        H = self.V @ (H * np.sqrt(np.maximum(values - least, 0.0)))
        s = least + 1e-9 * (1 + np.sum(G**2))  # far above rounding
        return {"G": self.V @ G, "few": self.few * 1.0, "s": s, "H": H}


def project_cones(Q, t):
    """Return the nearest (Q, t) with norm(row i) <= t_i for each row."""
    size = np.linalg.norm(Q, axis=1)
    share = np.clip((1 + t / np.maximum(size, np.finfo(float).tiny)) / 2, 0.0, 1.0)
    share = np.where(size <= t, 1.0, share)
    return Q * share[:, None], np.where(size <= t, t, share * size)


def project_signs(Q, C, N):
    """Return X = Q + B'NB near the nearest to Q with BXB' >= 0, B = I above C, and N >= 0.

    Without cuts C it is the nearest; else a few steps lead there from the N given.
    """
    n, size = len(Q), np.linalg.norm(C @ C.T) or 1.0
    K, T = N[n:, :n], N[n:, n:]

    def cut():
        return Q + C.T @ K + K.T @ C + C.T @ T @ C

    for _ in range(SWEEPS if len(C) else 1):
        S = np.maximum(-cut(), 0.0)
        K = np.maximum(K - C @ (cut() + S) / (2 * size), 0.0)
        T = np.maximum(T - C @ (cut() + S) @ C.T / size**2, 0.0)
    return cut() + S, np.block([[S, K.T], [K, T]])


def descend_signed(A, Z, m, k, required, state, C):
    r"""Yield ((G, Y, N), z, P, State) after every ten steps of ADMM, for ever.

    The relaxation is max <A, P> over 0 <= P <= I with trace m, P <= Diag(z), P >= 0 entry by
    entry, 0 <= z <= 1 with sum k, and for each row |P_i - z_i e_i / 2| <= z_i / 2.  Each
    condition has a copy of its own, which is projected, and P and z are fitted to all of them.
    The last condition forgets that a row has only k nonzeros; the bound, which counts the k
    largest squares of a row of Y, does not.
    What is not one of the few is seen in the basis Z: only the first two and the count are
    about it.  Of cuts C, PC' >= 0 and CPC' >= 0 belong to P >= 0.
    """
    P, z, U, rho, N = state
    few, step, solve = len(U[4]), 0, normal_solver(Z)
    weights = np.append(np.ones(few), 1 / np.maximum(np.linalg.norm(C, axis=1), 1.0))
    C, diagonal, square = weights[few:, None] * C[:, :few], np.arange(few), np.s_[:few, :few]

    def parts_of(P, z):
        F, half = P[square], z[:few] / 2
        lifted = block_diag(np.diag(z[:few]), (Z.T * z[few:]) @ Z)
        return P, lifted - P, F - np.diag(half), F, half, z

    while True:
        step += 1
        parts = parts_of(P, z)
        to_fantope, to_slack, to_rows, to_sign, to_height, to_count = (
            part - u for part, u in zip(parts, U, strict=True)
        )
        values, V = eigh(to_fantope + A / rho, check_finite=False)
        f = clip_to_sum(values, m)
        V = V[:, f > 0] * np.sqrt(f[f > 0])
        values, G = eigh(-to_slack, check_finite=False)
        G = G[:, values > 0] * np.sqrt(values[values > 0])
        rows, heights = project_cones(to_rows, to_height)
        wanted = np.ones(len(z))
        wanted[~required] = clip_to_sum(to_count[~required], k - int(required.sum()))
        signs, N = project_signs((to_sign + to_sign.T) / 2, C, N)
        copies = V @ V.T, to_slack + G @ G.T, rows, signs, heights, wanted
        if step % 10 == 0:
            both = rho / 2 * np.outer(weights, weights) * (N + N.T)
            certificate = np.sqrt(rho) * G, rho * (to_rows - rows), both
            yield certificate, wanted, copies[0], SignedState(P, z, U, rho, N)
        a, b, c, e, s, w = moved = tuple(
            RELAX * copy + (1 - RELAX) * part + u
            for copy, part, u in zip(copies, parts, U, strict=True)
        )
        # the normal equations: P and z nearest to all copies
        right = (a - b)[square] + (c + c.T) / 2 + e
        own = np.diagonal(b)[:few] - np.diagonal(c) / 2 + s / 2 + w[:few] / 2
        z = (own + 0.375 * np.diagonal(right)) / 1.4375
        beside = np.einsum("ij,ij->i", Z @ (a + b - parts[0] - parts[1])[few:, few:], Z)
        beside = parts[5][few:] + solve((beside + (w - parts[5])[few:]) / 2)
        z, P = np.append(z, beside), (a - b) / 2
        P[few:, few:] += (Z.T * z[few:]) @ Z / 2
        P[square] = right / 4
        P[diagonal, diagonal] += 0.375 * z[:few]
        U = tuple(x - part for x, part in zip(moved, parts_of(P, z), strict=True))
