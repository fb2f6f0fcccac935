r"""A doubly nonnegative relaxation: bounds on nonnegative loadings, each with what proves it.

P = WW' of a W >= 0 with orthonormal columns has no negative entry, so that <A, P> <= <A + N, P>
for every N >= 0: a bound for A + N is one for A.  Theorem 1 (rows) gives it, and asks for no
semidefinite A.  The relaxation looks for the G, Y and N of the least bound.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from fspca.check_certificate import KINDS, Floating, Matrix, Node, bound_node, nonnegative_bound
from fspca.shared_support.semidefinite import clip_to_sum

RELAX = 1.7  # over-relaxation


class Bound(NamedTuple):
    """No P of the node explains more than `value`; a support J at most rest + sum of c over J."""

    rest: float
    c: np.ndarray
    value: float
    arrays: dict


class SignedState(NamedTuple):
    """Where the iteration stands: P and z, a multiplier for each copy of them, the penalty."""

    P: np.ndarray
    z: np.ndarray
    U: tuple
    rho: float

    def restricted(self, rows):
        """The state on some of the features."""
        square = np.ix_(rows, rows)
        U = tuple(u[square] if u.ndim == 2 else u[rows] for u in self.U)
        return SignedState(self.P[square], self.z[rows], U, self.rho)


def first_state(d, m, k):
    """Return the state before the first step; k counts the rows of all components."""
    zero, none = np.zeros((d, d)), np.zeros(d)
    rho = min(max(2 * m / k, 0.03), 0.5)  # P's entries are of the order m / k
    return SignedState(
        np.eye(d) * (m / d), np.full(d, k / d), (zero, zero, zero, zero, none, none), rho
    )


class SignedGround:
    """A dense matrix as the checker sees it: every bound is the one that it will compute."""

    def __init__(self, full, m, k):
        self.full, self.m, self.k = full, m, k
        self.numbers = Floating(full, False, [])
        self.matrix = Matrix(full, False, self.numbers)
        top = np.linalg.eigvalsh(full)[-1]
        self.scale = 2.0 ** np.round(np.log2(top)) if top > 0 else 1.0

    def bound(self, rows, required, arrays):
        """Return the Bound that the arrays G, Y and N prove of A on these rows, ascending."""
        state, read = np.zeros(len(self.full), dtype=np.int8), self.numbers.read
        state[rows], state[rows[required]] = 1, 2
        shapes = KINDS["nonnegative"].arrays
        held = {name: read(array, shapes[name][0]) for name, array in arrays.items()}
        none = dict.fromkeys(shapes) | {"H": np.zeros((len(rows), 0))}
        node = Node(state, self.matrix, none | held)
        found = bound_node(node, self.numbers, self.m, self.k, nonnegative_bound)
        rest, c, value = (np.ldexp(x, -2 * self.numbers.shift) for x in found)
        return Bound(float(rest), c, float(value), arrays)

    def descend(self, rows, required, state):
        """Yield (Bound, z, P, State) of the relaxation on these rows, after every ten steps."""
        root = np.sqrt(self.scale)
        steps = descend_signed(
            self.full[np.ix_(rows, rows)] / self.scale, self.m, self.k, required, state
        )
        for (G, Y, N), z, P, state in steps:
            arrays = {"G": root * G, "Y": self.scale * Y, "N": self.scale * N}
            yield self.bound(rows, required, arrays), z, P, state


def project_cones(Q, t):
    """Return the nearest (Q, t) with norm(row i) <= t_i for each row."""
    size = np.linalg.norm(Q, axis=1)
    share = np.clip((1 + t / np.maximum(size, np.finfo(float).tiny)) / 2, 0.0, 1.0)
    share = np.where(size <= t, 1.0, share)
    return Q * share[:, None], np.where(size <= t, t, share * size)


def descend_signed(A, m, k, required, state, every=10):
    r"""Yield ((G, Y, N), z, P, State) after every few steps of ADMM, for ever.

    The relaxation is max <A, P> over 0 <= P <= I with trace m, P <= Diag(z), P >= 0 entry by
    entry, 0 <= z <= 1 with sum k, and for each row |P_i - z_i e_i / 2| <= z_i / 2.  Each
    condition has a copy of its own, which is projected, and P and z are fitted to all of them.
    The last condition forgets that a row has only k nonzeros; the bound, which counts the k
    largest squares of a row of Y, does not.
    """
    P, z, U, rho = state
    d, step = len(z), 0
    diagonal = np.arange(d)
    while True:
        step += 1
        parts = P, np.diag(z) - P, P - np.diag(z / 2), P, z / 2, z
        to_fantope, to_slack, to_rows, to_sign, to_height, to_count = (
            part - u for part, u in zip(parts, U, strict=True)
        )
        values, V = eigh(to_fantope + A / rho, check_finite=False)
        f = clip_to_sum(values, m)
        V = V[:, f > 0] * np.sqrt(f[f > 0])
        values, G = eigh(-to_slack, check_finite=False)
        G = G[:, values > 0] * np.sqrt(values[values > 0])
        rows, heights = project_cones(to_rows, to_height)
        wanted = np.ones(d)
        wanted[~required] = clip_to_sum(to_count[~required], k - int(required.sum()))
        copies = V @ V.T, to_slack + G @ G.T, rows, np.maximum(to_sign, 0.0), heights, wanted
        if step % every == 0:
            N = np.maximum(-(to_sign + to_sign.T) / 2, 0.0)
            certificate = np.sqrt(rho) * G, rho * (to_rows - rows), rho * N
            yield certificate, wanted, copies[0], SignedState(P, z, U, rho)
        a, b, c, e, s, w = moved = tuple(
            RELAX * copy + (1 - RELAX) * part + u
            for copy, part, u in zip(copies, parts, U, strict=True)
        )
        right = a - b + (c + c.T) / 2 + e  # the normal equations: P and z nearest to all copies
        z = np.diagonal(b) - np.diagonal(c) / 2 + s / 2 + w / 2 + 0.375 * np.diagonal(right)
        z = z / 1.4375
        P = right / 4
        P[diagonal, diagonal] += 0.375 * z
        parts = P, np.diag(z) - P, P - np.diag(z / 2), P, z / 2, z
        U = tuple(x - part for x, part in zip(moved, parts, strict=True))
