r"""The semidefinite relaxation of the problem, by ADMM, with a certificate at every step.

The relaxation is max <A, P> over 0 <= P <= I, P <= Diag(z), trace P = m, 0 <= z <= 1, sum z = k.
Its dual is min over C >= 0 of S_k(diag C) + F_m(A - C), S_k the sum of the k largest entries and
F_m of the m largest eigenvalues; every C >= 0 gives an upper bound.

The splitting: P, the slack S = Diag(z) - P and z are each projected on their own set (two
eigenproblems and a sort); then the three are projected together on the linear space where
S = Diag(z) - P (closed form).  The multiplier of that equation is C, and the negative part that
the projection of S removes, times the penalty, is a C >= 0 that costs nothing.

C is looked for as Z N Z', the columns of Z orthonormal and spanning the range of A and the unit
vectors of the likely features; `basis=None` means Z = I.  Where rank A is far below d, all
eigenproblems have the size of N, and the bound is hardly weaker.
"""

from contextlib import suppress
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.linalg import eigh, eigvalsh

WEIGHT, RELAX = 0.5, 1.7  # of z against P in the penalty; over-relaxation
EPS = np.finfo(float).eps


class State(NamedTuple):
    """Where the ADMM stands: A = Z inner Z', primal P and z, multiplier U = C / rho, all in Z."""

    basis: np.ndarray | None
    inner: np.ndarray
    P: np.ndarray
    U: np.ndarray
    z: np.ndarray
    rho: float


def start_from(inner, m, k, basis=None):
    """Return the state before the first step."""
    d, p = (len(inner),) * 2 if basis is None else basis.shape
    return State(basis, inner, np.eye(p) * (m / p), np.zeros((p, p)), np.full(d, k / d), 0.5)


def restrict(state, rows, dense=False):
    """Return the state of the problem on some of the features, in the order given.

    With `dense` it leaves its basis, as it does where that would span all there is.
    """
    Z, inner, P, U, z, rho = state
    if Z is None:
        square = np.ix_(rows, rows)
        return State(None, inner[square], P[square], U[square], z[rows], rho)
    Z, R = (None, Z[rows]) if dense or Z.shape[1] >= len(rows) else np.linalg.qr(Z[rows])
    return State(Z, R @ inner @ R.T, R @ P @ R.T, R @ U @ R.T, z[rows], rho)


def normal_solver(Z):
    """Return the solver of (0.5 (ZZ')^2 + w I) x = r, entrywise square, w = WEIGHT, to 3 digits.

    The row sums of that square are (ZZ')_ii <= 1: divided by the diagonal, its eigenvalues lie
    near 1 where (ZZ')_ii is near 0 or 1, and conjugate gradients need two steps.  Asked for the
    change of x, again and again, it comes as near as wanted: single precision does.
    """
    Z = Z.astype(np.float32)
    diagonal = 0.5 * np.einsum("ij,ij->i", Z, Z) ** 2 + WEIGHT

    def apply(v):
        return 0.5 * np.einsum("ij,ij->i", Z @ ((Z.T * v.astype(Z.dtype)) @ Z), Z) + WEIGHT * v

    def solve(r):
        x, rest, p, size = np.zeros_like(r), r, 0.0, 1.0
        while rest @ rest > 1e-6 * (r @ r):
            scaled = rest / diagonal
            size, old = rest @ scaled, size
            p = scaled + size / old * p
            q = apply(p)
            step = size / (p @ q)
            x, rest = x + step * p, rest - step * q
        return x

    return solve


def clip_to_sum(v, s):
    """Return the point nearest to v with entries in [0, 1] and sum s: clip(v - t, 0, 1)."""
    n = len(v)
    if n <= s:
        return np.ones(n)
    knots = np.concatenate([v - 1, v])
    order = np.argsort(knots)
    knots = knots[order]
    inside = np.where(order < n, 1.0, -1.0).cumsum()[:-1]  # entries strictly between 0 and 1
    sums = np.full(2 * n, float(n))
    sums[1:] -= (inside * (knots[1:] - knots[:-1])).cumsum()
    j = min(max((-sums).searchsorted(-s), 1), 2 * n - 1)
    drop = sums[j - 1] - sums[j]
    share = (sums[j - 1] - s) / drop if drop > 0 else 1.0
    return np.clip(v - (1 - share) * knots[j - 1] - share * knots[j], 0.0, 1.0)


def sum_largest(values, k):
    """Return the sum of the k largest entries (of all, if there are fewer)."""
    return values.sum() if k >= len(values) else np.partition(values, -k)[-k:].sum() if k else 0.0


class TopPairs:
    """Eigenpairs of a sequence of matrices of which only the few largest matter, each time.

    As many are computed as mattered the last time, and some; all, where that was not enough.
    """

    def __init__(self):
        self.count = None

    def above(self, M, level):
        """Return the eigenpairs, ascending, that hold all with an eigenvalue above the level."""
        n = len(M)
        if self.count is not None and self.count + 4 < n / 8:
            top = (n - self.count - 4, n - 1)
            with suppress(np.linalg.LinAlgError):  # MRRR gives up on some matrices
                values, V = scipy.linalg.eigh(M, subset_by_index=top, check_finite=False)
                if len(values) == self.count + 4 and values[0] < level(values):
                    self.count = int(np.sum(values > level(values)))
                    return values, V
        values, V = eigh(M)
        self.count = int(np.sum(values > level(values)))
        return values, V

    def between(self, M, m, exactly):
        """Return X with XX' the projection of M on 0 <= P <= I, trace P = m (or at most m)."""

        def level(values):
            f = np.clip(values, 0.0, 1.0)
            if not exactly and f.sum() <= m:
                return 0.0
            f = clip_to_sum(values, m) if len(values) > m else np.ones(len(values))
            return values[f > 0].min() - 1e-300 if f[0] == 0 else values[0]

        values, V = self.above(M, level)
        f = np.clip(values, 0.0, 1.0)
        f = clip_to_sum(values, m) if exactly or f.sum() > m else f
        return V[:, f > 0] * np.sqrt(f[f > 0])

    def positive_part(self, M):
        """Return G with GG' the projection of M on the semidefinite matrices."""
        values, V = self.above(M, lambda values: 0.0)
        return V[:, values > 0] * np.sqrt(values[values > 0])


def descend(state, m, k, fixed=0, every=10):
    """Yield (bound, c, G, None, z, state) after every few ADMM steps, for ever; C = (Z G)(Z G)'.

    The first `fixed` features are required, so z is 1 there; c is the diagonal of C.  The bound
    is that of the basis, as computed: what it misses, and rounding, `Ground` puts right.
    """
    Z, L, P, U, z, rho = state
    d = len(z)
    if Z is None:
        diagonal, lift = np.diagonal, np.diag
        solve = lambda r: r / (0.5 + WEIGHT)  # noqa: E731
    else:
        diagonal = lambda N: np.einsum("ij,ij->i", Z @ N, Z)  # noqa: E731
        lift = lambda z: (Z.T * z) @ Z  # noqa: E731
        solve = normal_solver(Z)
    step, S, primal, slack = 0, lift(z) - P, TopPairs(), TopPairs()
    u = -diagonal(U) / WEIGHT  # the multiplier of z follows from that of S
    while True:
        step += 1
        # each on its own set
        V = primal.between(P - U + L / rho, m, Z is None)
        P1 = V @ V.T
        G = slack.positive_part(U - S)
        N = G @ G.T
        S1 = S - U + N
        z1 = np.ones(d)
        z1[fixed:] = clip_to_sum((z - u)[fixed:], k - fixed)
        if step % every == 0:
            c = rho * diagonal(N)
            bound = c[:fixed].sum() + sum_largest(c[fixed:], k - fixed)
            top = eigvalsh(L - rho * N)[-m:]
            bound += top.sum() if Z is None else np.maximum(top, 0).sum()
            G = np.sqrt(rho) * G
            yield bound, c, G if Z is None else Z @ G, None, z1, State(Z, L, P, U, z, rho)
        # together on S = lift(z) - P
        old = P, z
        Pu = RELAX * P1 + (1 - RELAX) * P + U
        Su = RELAX * S1 + (1 - RELAX) * S + U
        zu = RELAX * z1 + (1 - RELAX) * z + u
        z = z + solve(0.5 * diagonal(Pu + Su - P - S) + WEIGHT * (zu - z))
        lifted = lift(z)
        P = 0.5 * (Pu - Su + lifted)
        S = lifted - P
        U, u = Pu - P, zu - z
        if step % 20 == 0 and step <= 400:  # keep primal and dual residuals within a factor 3
            apart = np.sqrt(((P1 - P) ** 2).sum() + ((S1 - S) ** 2).sum()) / np.sqrt(m)
            moved = np.sqrt(2 * ((P - old[0]) ** 2).sum()) / max(np.linalg.norm(U), EPS)
            factor = 1.5 if apart > 3 * moved else 1 / 1.5 if moved > 3 * apart else 1.0
            rho, U, u = rho * factor, U / factor, u / factor
