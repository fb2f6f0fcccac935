r"""The relaxation with a bound on every row, by ADMM, for the features that are still undecided.

To max <A, P> over 0 <= P <= I, P <= Diag(z), trace P = m, 0 <= z <= 1, sum z = k it adds what
P^2 = P says of a row: with z the indicator of the support, P e_i - z_i e_i / 2 has length z_i / 2
and at most k nonzeros, so that it lies in z_i / 2 times the hull of all such vectors.  That is a
norm (required entries and the diagonal in full, of the others the (k - 1)-support norm), and its
dual norm is what the costs of Theorem 1 are made of.  The multiplier of this copy is Y.
"""

from typing import NamedTuple

import numpy as np
from numpy.linalg import eigvalsh

from fspca.check_certificate import row_terms
from fspca.proof.semidefinite import EPS, RELAX, WEIGHT, TopPairs, clip_to_sum, sum_largest

SWEEPS, REFINED = 6, 3  # of the search for each row's level, which begins where the last ended


class RowState(NamedTuple):
    """Where the ADMM stands: primal P, z; scaled multipliers of P, S, the rows, heights and z."""

    inner: np.ndarray
    P: np.ndarray
    z: np.ndarray
    U: np.ndarray
    V: np.ndarray
    R: np.ndarray
    r: np.ndarray
    u: np.ndarray
    rho: float
    phi: np.ndarray


def with_rows(state):
    """Return where the relaxation without rows stands, as a start of the one with them."""
    d, u = len(state.z), -np.diagonal(state.U) / WEIGHT
    none = np.zeros((d, d))
    return RowState(state.inner, state.P, state.z, state.U, state.U, none, np.zeros(d), u,
                    state.rho, np.full(d, 0.25))  # fmt: skip


def restrict_rows(state, rows):
    """Return the state of the problem on some of the features, in the order given."""
    return RowState(*(
        x if np.ndim(x) == 0 else x[rows] if x.ndim == 1 else x[np.ix_(rows, rows)] for x in state
    ))  # fmt: skip


class Falling:
    """The entries of each row, falling, and how many and how much of them lies above a level."""

    def __init__(self, B):
        self.sorted = -np.sort(-B, axis=1)
        self.scale = np.maximum(self.sorted[:, 0], EPS**8)
        self.start = np.arange(len(B))
        self.flat = (2 * self.start[:, None] - self.sorted / self.scale[:, None]).ravel()
        self.sums = np.pad(self.sorted.cumsum(axis=1), ((0, 0), (1, 0)))
        self.squares = np.pad((self.sorted**2).cumsum(axis=1), ((0, 0), (1, 0)))

    def count(self, level):
        """How many entries of each row are at least its level."""
        keys = 2 * self.start - np.minimum(level / self.scale, 1.5)
        return np.searchsorted(self.flat, keys, side="right") - self.start * self.sorted.shape[1]

    def at(self, count):
        """The entry of that rank in each row, 0 beyond the last."""
        width = self.sorted.shape[1]
        inside = (count >= 1) & (count <= width)
        return np.where(inside, self.sorted[self.start, np.clip(count, 1, width) - 1], 0.0)

    def cut(self, phi, count, tau, refined):
        """Return tau: beside the largest, shrunk by phi, the next are cut there.

        The weights of all, 1 for those shrunk and (b / tau - 1) phi / (1 - phi) for those that
        are cut, add up to the count.  The search begins at the tau given.
        """
        last, following = self.at(count), self.at(count + 1)
        low, high, ratio = phi * last, following, (1 - phi) / phi
        tau = np.clip(tau, low, np.maximum(low, high))
        for _ in range(refined):
            p, q = self.count(tau / phi), self.count(tau)
            between = self.sums[self.start, q] - self.sums[self.start, p]
            weights = p + (between / np.maximum(tau, EPS**8) - (q - p)) / ratio
            low, high = np.where(weights >= count, tau, low), np.where(weights < count, tau, high)
            share = ratio * (count - p) + q - p
            guess = between / np.where(share > 0, share, 1)
            inside = (share > 0) & (guess >= low) & (guess <= high)
            tau = np.where(inside, guess, (low + high) / 2)
        return np.where(phi * last >= following, following, tau)


def project_rows(Q, t, fixed, k, phi, sweeps=SWEEPS, refined=REFINED):
    r"""Project each (row, height) = (Q_i, t_i) on the cone where the row's norm is at most that.

    What is taken away, y, is Q_i shrunk by phi where it is required, on the diagonal or among the
    largest, cut at tau where it is next, and Q_i itself where it is small.  Its dual norm is then
    t phi / (1 - 2 phi), an equation for phi, which is solved by secants.  Any answer gives a
    valid bound, so a few sweeps do, which begin at the phi given.
    """
    d, here = len(Q), np.arange(len(Q))
    B = np.abs(Q)
    B[here, here] = 0
    a = np.diagonal(Q) ** 2 + np.einsum("ij,ij->i", B[:, :fixed], B[:, :fixed])
    B = np.ascontiguousarray(B[:, fixed:])
    count = np.maximum(np.where(here < fixed, k - fixed, k - 1 - fixed), 0)
    falling, low, high = Falling(B), np.zeros(d), np.full(d, 1 - 1e-12)  # at 1 no row is left
    ratio = np.sqrt(falling.at(count + 1) * np.maximum(falling.at(count), EPS**8))
    before, nearest = None, np.full((4, d), np.inf)
    for _ in range(sweeps):
        tau = falling.cut(phi, np.maximum(count, 1), ratio * phi, refined)
        ratio = tau / phi
        p = np.minimum(falling.count(ratio), count)
        N = a + falling.squares[here, p]
        N = np.sqrt(N * phi**2 + (count - p) * tau**2)
        excess = N * (1 - 2 * phi) / phi - t
        miss = np.abs(excess) * phi * (1 - phi)  # the root may be at 0 or 1
        nearest = np.where(miss < nearest[0], (miss, phi, tau, N), nearest)
        low, high = np.where(excess > 0, phi, low), np.where(excess > 0, high, phi)
        guess = (1 - t * phi / np.maximum(N, EPS**8)) / 2
        if before is not None:
            slope = (excess - before[1]) / np.where(phi == before[0], 1, phi - before[0])
            secant = phi - excess / np.where(slope < 0, slope, -np.inf)
            guess = np.where((slope < 0) & (secant > low) & (secant < high), secant, guess)
        before = phi, excess
        phi = np.where((guess > low) & (guess < high), guess, (low + high) / 2)
    _, phi, tau, N = nearest
    tau = np.where(count > 0, tau, np.inf)[:, None]
    X = Q * (1 - phi)[:, None]
    free = B - np.minimum(B, np.maximum(phi[:, None] * B, tau))
    diagonal = np.eye(d, dtype=bool)[:, fixed:]
    X[:, fixed:] = np.where(diagonal, X[:, fixed:], np.sign(Q[:, fixed:]) * free)
    return X, np.maximum(t + N, 0), np.clip(phi, 1e-6, 1 - 1e-6)


def descend_rows(state, m, k, fixed=0, every=10):
    """Yield (bound, c, G, Y, z, state) after every few ADMM steps, for ever.

    The first `fixed` features are required.  The bound is S_k(c) + F_m(L - GG' - sym Y) as
    computed; c are the costs of Theorem 1.  Sent a reward, a number for each feature, it goes on
    with max <A, P> + reward'z: then c + reward has the least bound, and c has one too.
    """
    L, P, z, U, V, R, r, u, rho, phi = state
    reward = np.zeros(len(z))
    d, here, step = len(z), np.arange(len(z)), 0
    required, primal, slack = here < fixed, TopPairs(), TopPairs()
    while True:
        step += 1
        X = primal.between(P - U + L / rho, m, True)
        P1 = X @ X.T
        S = np.diag(z) - P
        G = slack.positive_part(V - S)
        S1 = S - V + G @ G.T
        Q = P - np.diag(z / 2)
        Q1, t1, phi = project_rows(Q - R, z / 2 - r, fixed, k, phi)
        z1 = np.ones(d)
        z1[fixed:] = clip_to_sum((z - u + reward / (WEIGHT * rho))[fixed:], k - fixed)
        if step % every == 0:
            Y, root = rho * (Q - R - Q1), np.sqrt(rho) * G
            c = np.sum(root**2, axis=1)
            c += (np.diagonal(Y) + row_terms(Y, k, required, np.sqrt)) / 2
            top = eigvalsh(L - root @ root.T - (Y + Y.T) / 2)[-m:].sum()
            bound = top + c[:fixed].sum() + sum_largest(c[fixed:], k - fixed)
            sent = yield bound, c, root, Y, z1, RowState(L, P, z, U, V, R, r, u, rho, phi)
            reward = reward if sent is None else sent
        old = P
        Pu = RELAX * P1 + (1 - RELAX) * P + U
        Su = RELAX * S1 + (1 - RELAX) * S + V
        Qu = RELAX * Q1 + (1 - RELAX) * Q + R
        tu = RELAX * t1 + (1 - RELAX) * z / 2 + r
        zu = RELAX * z1 + (1 - RELAX) * z + u
        # the nearest P and z with S = Diag(z) - P, rows P - Diag(z) / 2 and heights z / 2
        P = (Pu - Su + (Qu + Qu.T) / 2) / 3
        at_P = np.diagonal(Pu) - np.diagonal(Su) + np.diagonal(Qu)
        at_z = np.diagonal(Su) - np.diagonal(Qu) / 2 + tu / 2 + WEIGHT * zu
        z = (at_z + at_P / 2) / (3 / 4 + WEIGHT)
        P[here, here] = (at_P + 1.5 * z) / 3
        U, V, R = Pu - P, Su - np.diag(z) + P, Qu - P + np.diag(z / 2)
        r, u = tu - z / 2, zu - z
        if step % 20 == 0 and step <= 600:  # keep primal and dual residuals within a factor 3
            apart = np.sum((P1 - P) ** 2) + np.sum((S1 - np.diag(z) + P) ** 2)
            apart += np.sum((Q1 - P + np.diag(z / 2)) ** 2)
            moved = 3 * np.sum((P - old) ** 2) * m / max(np.sum(U**2), EPS**2)
            factor = 1.5 if apart > 9 * moved else 1 / 1.5 if moved > 9 * apart else 1.0
            rho *= factor
            U, V, R, r, u = (x / factor for x in (U, V, R, r, u))
