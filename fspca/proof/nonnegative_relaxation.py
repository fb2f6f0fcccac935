r"""A doubly nonnegative relaxation: bounds on nonnegative loadings, each with what proves it.

P = WW' of a W >= 0 with m orthonormal columns has no negative entry, so that <A, P> <= <A + N, P>
for every N >= 0 (d x d): a bound for A + N is one for A.  Theorem 1 (rows) gives it, and asks for
no semidefinite A.  For every G (d x q) and Y (d x d), a W with support I explains at most

    F_m(A + N - GG' - sym Y) + sum over i in I of c_i,    c_i = |G_i|^2 + (Y_ii + r_i) / 2,

F_m the sum of the m largest eigenvalues, sym Y = (Y + Y') / 2, and r_i the root of Y_ii^2 plus the
k - 1 largest squares beside it in its row, or fewer where no component has k features.  The
relaxation looks for the G, Y and N of the least bound.

A cut is a direction whose product with x is at least 0, where m = 1.  With cuts C (n x d) B = I
above C, and BPB' has no negative entry: N is (d + n) x (d + n), and B'NB stands in its place.

Of wide data Y and N are about few features, those of large variance.  The others, R, enter by the
span of their columns alone: P is looked for as V Q V', V = [I, 0; 0, Z], Z a basis of that span.
It has a row for each of the others; Q is p x p, p the few and the columns of Z.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag, eigh

from fspca.covariance.linalg import largest
from fspca.proof.checked import Bound, CheckedMatrix
from fspca.proof.projections import TopPairs, clip_to_count, clip_to_most, project_cones
from fspca.proof.relaxation import Consensus, Relaxation, State
from fspca.proof.rows import FEWER, project_rows
from fspca.proof.semidefinite import WEIGHT, normal_solver

POWERS = {"G": 0.5, "H": 0.5}  # of A's scale in an array; in the others it is 1
SWEEPS = 3  # towards the nearest matrix that keeps to the cuts, in a step of the iteration


class SignedParts(NamedTuple):
    """What the conditions are about: P, S = Diag(z) - P, rows P_i - z_i e_i / 2, P's entries, z.

    P and S (p x p) are in the basis V, z has an entry for each feature, the few first.  Rows and
    entries (few x few), and heights z / 2, are those of the few; without Z all are among them.
    """

    fantope: np.ndarray
    slack: np.ndarray
    rows: np.ndarray
    entries: np.ndarray
    heights: np.ndarray
    chosen: np.ndarray


def project_signs(Q, C, N):
    """Return X near the nearest to Q with X, XC' and CXC' >= 0, and the multipliers N >= 0 of that.

    The nearest is X = Q + B'NB, B = I above C, for the best N.  Its blocks belong to the three
    conditions: S is known exactly where K and T are, and these take a few steps along their
    gradients, from the N given.  Without cuts C there is S alone, and X is the nearest.
    """
    n, size = len(Q), np.linalg.norm(C @ C.T) or 1.0
    K, T = N[n:, :n], N[n:, n:]

    def cut():
        """Q moved by the multipliers of the cuts alone."""
        return Q + C.T @ K + K.T @ C + C.T @ T @ C

    for _ in range(SWEEPS if len(C) else 1):
        S = np.maximum(-cut(), 0.0)
        K = np.maximum(K - C @ (cut() + S) / (2 * size), 0.0)
        T = np.maximum(T - C @ (cut() + S) @ C.T / size**2, 0.0)
    return cut() + S, np.block([[S, K.T], [K, T]])


class SignedRelaxation(Relaxation):
    r"""max <A, P> over 0 <= P <= I with trace m, P <= Diag(z), P >= 0 entry by entry, and more.

    That is 0 <= z <= 1 with sum k, and rows P_i - z_i e_i / 2 within z_i / 2 times the hull of the
    vectors of length 1 with `row_count` nonzeros, the largest count of a component.  Where that is
    None, |P_i - z_i e_i / 2| <= z_i / 2 stands for it: the bound, which counts the largest squares
    of a row of Y, does not forget the number, and a step costs less.  With prices the sum of z may
    be less than k, and what is maximised is <A, P> - prices'z.
    What is not one of the few is seen in the basis Z: only the first two and the count are
    about it.  With cuts C, PC' >= 0 and CPC' >= 0 are asked beside P >= 0; they are about the few
    alone, and there are none where others are.
    """

    def __init__(self, state, Z, required, cuts, prices, *, m, k, row_count):
        self.inner = state.inner
        self.Z = Z
        self.m = m
        self.k = k
        self.row_count = row_count
        self.required = required
        self.prices = prices
        few = len(state.multipliers.heights)
        # long cuts are shortened to 1, so that one step length suits them all
        self.weights = np.append(np.ones(few), 1 / np.maximum(np.linalg.norm(cuts, axis=1), 1.0))
        self.cuts = self.weights[few:, None] * cuts[:, :few]
        self.few = few
        self.square = np.s_[:few, :few]
        self.N = state.guess  # where the projection on the signs begins
        self.phi = np.full(few, 0.25)  # where that on the rows begins: all in (0, 1/2) do
        self.solve = normal_solver(Z)
        self.top = TopPairs()
        self.negative = TopPairs()

    def start(self, state):
        """The iteration from a state."""
        return Consensus(self, self.parts(state.P, state.z), state.multipliers, state.penalty)

    def parts(self, P, z):
        """What each condition is about."""
        entries = P[self.square]
        half = z[: self.few] / 2
        lifted = block_diag(np.diag(z[: self.few]), (self.Z.T * z[self.few :]) @ self.Z)
        return SignedParts(P, lifted - P, entries - np.diag(half), entries, half, z)

    def project(self, aims, penalty):
        """Put P, S, the rows, the entries and z each on its set; prices lower what z aims at."""
        V = self.top.between(aims.fantope + self.inner / penalty, self.m)
        self.G = self.negative.positive_part(-aims.slack)
        required = self.required[: self.few]
        if self.row_count is None:
            rows, heights = project_cones(aims.rows, aims.heights)
        else:
            rows, heights, self.phi = project_rows(
                aims.rows, aims.heights, required, self.row_count, self.phi, *FEWER
            )
        if self.prices is None:
            z = clip_to_count(aims.chosen, self.k, self.required)
        else:  # who costs more than he brings is left out
            drawn = aims.chosen - self.prices / (WEIGHT * penalty)
            z = clip_to_most(drawn, self.k, self.required)
        entries = (aims.entries + aims.entries.T) / 2
        entries, self.N = project_signs(entries, self.cuts, self.N)
        return SignedParts(V @ V.T, aims.slack + self.G @ self.G.T, rows, entries, heights, z)

    def fit(self, moved, parts, penalty):
        """Return the parts of the P and z nearest to all copies, by the normal equations."""
        # Nearest is where the squares |P - F|^2 + |S - M|^2 + |rows - R|^2 + |entries - E|^2 +
        # |z / 2 - h|^2 + WEIGHT |z - t|^2 are least, F, M, R, E, h and t what the copies moved to.
        # The penalty weighs all of them alike.
        few = self.few
        apart = moved.fantope - moved.slack
        right = apart[self.square] + (moved.rows + moved.rows.T) / 2 + moved.entries
        own = np.diagonal(moved.slack)[:few] - np.diagonal(moved.rows) / 2
        own = own + moved.heights / 2 + WEIGHT * moved.chosen[:few]
        # Beside the diagonal of the few 4 P = right, on it 4 P - 1.5 z = right by the derivative in
        # P, and (1.5 + WEIGHT) z - 1.5 P = own by that in z.  With P = right / 4 + 0.375 z:
        z = (own + 0.375 * np.diagonal(right)) / (1.5 + WEIGHT - 1.5 * 0.375)
        # Beside the few 2 P = F - M + Z' Diag(z) Z, and what is left is `normal_solver`'s system.
        # It is solved for the change of z: three digits are known, of a change that goes to 0.
        # Both terms of `beside` are halved, the first by P's elimination, the second by WEIGHT.
        change = moved.fantope + moved.slack - parts.fantope - parts.slack
        beside = np.einsum("ij,ij->i", self.Z @ change[few:, few:], self.Z)
        beside = beside + (moved.chosen - parts.chosen)[few:]
        z = np.append(z, parts.chosen[few:] + self.solve(beside / 2))
        P = apart / 2
        P[few:, few:] += (self.Z.T * z[few:]) @ self.Z / 2
        P[self.square] = right / 4
        diagonal = np.arange(few)
        P[diagonal, diagonal] += 0.375 * z[:few]
        return self.parts(P, z)

    def arrays(self, walk):
        """Return G, Y and N of the claim: penalty times the multipliers after the projections."""
        # G is in the basis V, Y and N are about the few, N about the cuts, too, unshortened.
        N = walk.penalty / 2 * np.outer(self.weights, self.weights) * (self.N + self.N.T)
        Y = walk.penalty * (walk.aims.rows - walk.copies.rows)
        return {"G": np.sqrt(walk.penalty) * self.G, "Y": Y, "N": N}


def descend_signed(state, Z, required, cuts, prices, **sizes):
    """Yield (arrays, z, P, State) after every ten steps of ADMM, for ever.

    `sizes` are m, k and row_count of the SignedRelaxation.
    """
    relaxation = SignedRelaxation(state, Z, required, cuts, prices, **sizes)
    for walk in relaxation.start(state).pauses():
        now = state.now(walk, relaxation.N)
        yield relaxation.arrays(walk), walk.copies.chosen, walk.copies.fantope, now


def scale_of(array):
    """Return a power of two near the largest eigenvalue, in which a relaxation counts."""
    top = np.linalg.eigvalsh(array)[-1]
    return 2.0 ** np.round(np.log2(top)) if top > 0 else 1.0


class SignedFound(NamedTuple):
    """What a relaxation has found: a Bound, proven, its z and P, and where it stands.

    The costs `c` have the order of the node's rows.  So have z and P, unless features of wide data
    are seen in a basis: then z has the few first and the others after them, and P (p x p) is in V.
    """

    proven: Bound
    z: np.ndarray
    P: np.ndarray
    state: State

    @property
    def bound(self):
        return self.proven.value

    @property
    def c(self):
        return self.proven.c


class NonnegativeRelaxation:
    """The relaxation of a problem with nonnegative loadings, whose bounds the checker computes.

    `array` is A; with a count it is data X of A = X'X, of which so many features, `few`, are seen
    one by one, and Y and N are about these.  `inner` is A, or V'AV with a count.  `start` is the
    state before the first step.

    Two attributes may be set before a descent.  `prices` has one for each feature: bounds are then
    about what a support explains less its prices.  `by_rows` says whether the relaxation knows the
    largest count of a row; with prices it always does.
    """

    either_sign = False  # no loading is negative

    def __init__(self, array, problem, count=None):
        d = array.shape[1]
        m = problem.m
        k = max(m, min(problem.most, d))
        self.m = m
        self.k = k
        self.row_count = min(int(max(problem.counts)), d)
        self.prices = None
        self.by_rows = self.m > 1  # a search for one component takes many steps, cheap ones
        self.checked = CheckedMatrix(array, count is not None, problem.kind, m, k)
        self.checked.row_count = self.row_count
        self.inner = array
        self.Z = np.zeros((0, 0))
        if count is not None:
            self._split(array, count)
        self.scale = scale_of(self.inner)
        few = count or d
        p = len(self.inner)
        square = np.zeros((p, p))
        small = np.zeros((few, few))
        none = SignedParts(square, square, small, small, np.zeros(few), np.zeros(d))
        P, z = np.eye(p) * (m / p), np.full(d, k / d)
        penalty = min(max(2 * m / k, 0.06), 0.5)  # P's entries are of the order m / k
        # The state has no basis, though with a count there is one: the relaxation keeps it, and
        # never asks for a part of such a state.
        self.start = State(None, self.inner / self.scale, P, z, none, penalty, small)

    def _split(self, X, count):
        """Choose the features of largest variance, and a basis Z of the span of all others."""
        # V (d x p) has a unit vector for each of those, then the columns of Z.
        d = X.shape[1]
        self.few = largest(np.sum(X**2, axis=0), count)
        others = np.delete(np.arange(d), self.few)
        self.Z = np.linalg.qr(X[:, others].T)[0]
        self.V = np.zeros((d, count + self.Z.shape[1]))
        self.V[self.few, np.arange(count)] = 1.0
        self.V[others, count:] = self.Z
        image = X @ self.V
        self.inner = image.T @ image

    def descend(self, rows, required, state, cuts=()):
        """Yield what is SignedFound on these rows, after every ten steps, for ever."""
        # With a basis the state's order is not that of the features (see SignedFound).
        part = len(rows) < len(self.start.z) or required.any() or len(cuts)
        if self.Z.size and (part or self.prices is not None):
            raise ValueError(
                "with a count a bound is about all features, none of them required, without cuts "
                "and prices: leave out the count"
            )
        cuts = np.reshape([cut[rows] for cut in cuts], (-1, len(rows)))
        prices = None if self.prices is None else self.prices[rows] / self.scale
        by_rows = self.by_rows or prices is not None
        sizes = {"m": self.m, "k": self.k, "row_count": self.row_count if by_rows else None}
        walk = descend_signed(state, self.Z, required, cuts, prices, **sizes)
        for arrays, *rest in walk:
            if self.Z.size:
                arrays |= self.arrays_of_wide(state.inner, **arrays)
            arrays = {x: v * self.scale ** POWERS.get(x, 1) for x, v in arrays.items()}
            if self.Z.size:
                arrays["few"] = self.few
            if self.prices is not None:
                # Half the size of a claim, which has many trees then.  Any G, Y and N give a valid
                # bound: it is computed from the rounded ones.
                arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
            proven = self.checked.bound(rows, required, arrays, cuts=cuts, prices=self.prices)
            yield SignedFound(proven, *rest)

    def arrays_of_wide(self, A, G, Y, N):
        """Return what the claim of wide data needs: G on all features, and s and H."""
        # m s + |H|^2 bounds F_m(A + N - GG' - sym Y), as sI + HH' is above that matrix.
        M = A - G @ G.T
        few = np.s_[: len(N), : len(N)]
        M[few] += N - (Y + Y.T) / 2
        values, H = eigh(M, subset_by_index=(len(M) - self.m, len(M) - 1))
        least = max(values[0], 0.0)
        H = self.V @ (H * np.sqrt(np.maximum(values - least, 0.0)))
        s = least + 1e-9 * (1 + np.sum(G**2))  # far above rounding
        return {"G": self.V @ G, "s": s, "H": H}
