r"""The relaxation with a bound on every row, by ADMM, for the features that are still undecided.

To max <A, P> over 0 <= P <= I, P <= Diag(z), trace P = m, 0 <= z <= 1, sum z = k it adds what
P^2 = P says of a row: with z the indicator of the support, P e_i - z_i e_i / 2 has length z_i / 2
and at most k nonzeros, so that it lies in z_i / 2 times the hull of all vectors of length 1 that
have at most k.  That hull is the ball of a norm, written out in `project_rows`.  Its dual norm is
what the costs are made of in the theorem on rows (book/appendix/certificate_format.md).  The
multiplier of this copy is Y.

Of wide data only the rows of few features are bounded, each on these few alone; the others are seen
in a basis of their span.
"""

from typing import NamedTuple

import numpy as np
from numpy.linalg import eigvalsh

from fspca.check_certificate import row_terms
from fspca.proof.projections import TopPairs, clip_to_count, clip_to_most, largest_cost
from fspca.proof.relaxation import EPS, Balance, Basis, Consensus, Found, Relaxation
from fspca.proof.semidefinite import WEIGHT, normal_solver

# Sweeps of the search for each row's shrinkage, and of that for its level within each: the search
# begins where the last step's ended, so that these bring the projection to three digits.
SWEEPS = 6
REFINED = 3
FEWER = 3, 2  # of both, where many relaxations are followed for a short while


class RowParts(NamedTuple):
    """What the conditions are about: beside P, S = Diag(z) - P and z, the rows and their heights.

    Row i is P_i - z_i e_i / 2, its height z_i / 2, on the features that are seen one by one.
    """

    fantope: np.ndarray
    slack: np.ndarray
    rows: np.ndarray
    heights: np.ndarray
    chosen: np.ndarray


def has_rows(state):
    """Whether a state is one of the relaxation with a bound on every row."""
    return isinstance(state.multipliers, RowParts)


def with_rows(state):
    """Return where the relaxation without rows stands, as a start of the one with them."""
    few = len(state.z) if state.basis is None else len(state.basis.few)
    fantope, slack, chosen = state.multipliers
    multipliers = RowParts(fantope, slack, np.zeros((few, few)), np.zeros(few), chosen)
    return state._replace(multipliers=multipliers, guess=np.full(few, 0.25))


class Falling:
    """The entries of each row in falling order, to count and to add up those above a level."""

    def __init__(self, B):
        self.sorted = -np.sort(-B, axis=1)
        self.scale = np.maximum(self.sorted[:, 0], EPS**8)
        self.start = np.arange(len(B))
        # rows, scaled to [0, 1], one after another with gaps: one search serves them all
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
        """Return the level tau of each row at which the weights of its entries add up to count."""
        # It is found but nearly, by `refined` sweeps from the tau given; phi, count and tau have a
        # number for each row.  An entry b weighs 1 above tau / phi, where it is shrunk by phi;
        # (b / tau - 1) phi / (1 - phi) between that and tau, where it is cut at tau; and nothing
        # below.  For p and q entries above the two levels the sum is a formula: its tau is taken
        # where it lies between the bounds known, and else their middle.
        kth, next_one = self.at(count), self.at(count + 1)  # the count-th largest, and one more
        low, high, odds = phi * kth, next_one, (1 - phi) / phi
        tau = np.clip(tau, low, np.maximum(low, high))
        for _ in range(refined):
            p, q = self.count(tau / phi), self.count(tau)
            between = self.sums[self.start, q] - self.sums[self.start, p]
            weights = p + (between / np.maximum(tau, EPS**8) - (q - p)) / odds
            low, high = np.where(weights >= count, tau, low), np.where(weights < count, tau, high)
            share = odds * (count - p) + q - p
            guess = between / np.where(share > 0, share, 1)
            inside = (share > 0) & (guess >= low) & (guess <= high)
            tau = np.where(inside, guess, (low + high) / 2)
        # Where there is a gap, every level from next_one to phi * kth leaves weight 1 to the count
        # largest and none to the others: the lowest is taken.
        return np.where(phi * kth >= next_one, next_one, tau)


def project_rows(Q, t, required, k, phi, sweeps=SWEEPS, refined=REFINED):
    r"""Return (X, heights, phi): each (Q_i, t_i) projected on {(x, h): norm(x) <= h}, row by row.

    Q is d x d; t, `required` (a mask) and phi have an entry for each of the d features.  In row i
    the diagonal and what is required always count, and so do the n largest of the others: n is k -
    the number required, less 1 where i is not one of these, but at least 0.  Then

        norm(x)^2 = the squares that always count + (n-support norm of the others)^2,
        dual(y)^2 = the squares that always count + the n largest squares of the others.

    What is taken away, y = Q_i - X_i, is phi Q_i where it always counts or is among the largest,
    cut at tau where it is next, and Q_i itself where it is small.  Its dual norm is what is added
    to t, and is t phi / (1 - 2 phi), an equation for phi, which is solved by secants.  Any answer
    gives a valid bound, so a few sweeps do.  They begin at the phi given, 1/4 for want of a better
    one, and the phi that they end with is a start for a Q and t nearby.
    """
    d, here = len(Q), np.arange(len(Q))
    B = np.abs(Q)
    B[here, here] = 0
    free = np.flatnonzero(~required)
    always = np.diagonal(Q) ** 2 + np.sum(B[:, required] ** 2, axis=1)
    B = B[:, free] if len(free) else np.zeros((d, 1))  # where all are required, one that is 0
    count = np.maximum(k - (d - len(free)) - ~required, 0)
    phi, tau, N = shrinkage(Falling(B), always, t, count, phi, sweeps, refined)
    tau = np.where(count > 0, tau, np.inf)[:, None]
    X = Q * (1 - phi)[:, None]
    left = (B - np.minimum(B, np.maximum(phi[:, None] * B, tau)))[:, : len(free)]
    diagonal = X[here, here]
    X[:, free] = np.sign(Q[:, free]) * left
    X[here, here] = diagonal
    return X, np.maximum(t + N, 0), np.clip(phi, 1e-6, 1 - 1e-6)


def shrinkage(falling, always, t, count, phi, sweeps, refined):
    """Return (phi, tau, N) of each row: what solves N = t phi / (1 - 2 phi) best, of some sweeps.

    N is the dual norm of what `project_rows` takes away.  `falling` has the sizes of the entries of
    which the `count` largest count, and `always` the sum of the squares that do anyway.
    """
    here, low = falling.start, np.zeros(len(t))
    high = np.full(len(t), 1 - 1e-12)  # at 1 no row is left
    # the level from which entries are shrunk by phi, tau / phi
    upper = np.sqrt(falling.at(count + 1) * np.maximum(falling.at(count), EPS**8))
    before, nearest = None, np.full((4, len(t)), np.inf)
    for _ in range(sweeps):  # excess falls in phi, to 0 at the answer
        tau = falling.cut(phi, np.maximum(count, 1), upper * phi, refined)
        upper = tau / phi
        p = np.minimum(falling.count(upper), count)
        N = always + falling.squares[here, p]
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
    return nearest[1:]


class RowRelaxation(Relaxation):
    """The relaxation on the features of a state, of which some are required."""

    balance = Balance(last=600)

    def __init__(self, state, m, k, required=None, row_count=None, prices=None):
        self.inner = state.inner
        self.m = m
        self.k = k
        self.prices = prices
        self.sweeps = (SWEEPS, REFINED) if prices is None else FEWER
        self.required = np.zeros(len(state.z), dtype=bool) if required is None else required
        self.exactly = state.basis is None  # a basis leaves out where P may have some of its trace
        self.basis = state.basis or Basis.of_all(len(state.z))
        beside = k - np.sum(self.required[self.basis.others])  # of the few, at most
        self.in_row = min(row_count or k, beside)
        self.phi = state.guess
        self.reward = np.zeros(len(state.z))
        self.diagonal = np.arange(len(self.basis.few))
        self.solve = normal_solver(self.basis.span)
        self.top = TopPairs()
        self.negative = TopPairs()

    def start(self, state):
        """The iteration from a state."""
        return Consensus(self, self.parts(state.P, state.z), state.multipliers, state.penalty)

    def parts(self, P, z):
        """What each condition is about."""
        half = z[self.basis.few] / 2
        rows = P[self.basis.first] - np.diag(half)
        return RowParts(P, self.basis.lift(z) - P, rows, half, z)

    def project(self, aims, penalty):
        V = self.top.between(aims.fantope + self.inner / penalty, self.m, self.exactly)
        self.G = self.negative.positive_part(-aims.slack)
        rows, heights, self.phi = project_rows(
            aims.rows,
            aims.heights,
            self.required[self.basis.few],
            self.in_row,
            self.phi,
            *self.sweeps,
        )
        drawn = aims.chosen + self.reward / (WEIGHT * penalty)
        if self.prices is None:
            z = clip_to_count(drawn, self.k, self.required)
        else:  # who costs more than he brings is left out
            z = clip_to_most(drawn - self.prices / (WEIGHT * penalty), self.k, self.required)
        return RowParts(V @ V.T, aims.slack + self.G @ self.G.T, rows, heights, z)

    def fit(self, moved, parts, penalty):
        """P is in three matrices on the few, in two beside; on the diagonal it is fitted with z."""
        few, first = self.basis.few, self.basis.first
        square = moved.fantope[first] - moved.slack[first] + (moved.rows + moved.rows.T) / 2
        at_P = np.diagonal(square)
        at_z = np.diagonal(moved.slack)[: len(few)] - np.diagonal(moved.rows) / 2
        at_z = at_z + moved.heights / 2 + WEIGHT * moved.chosen[few]
        z = np.empty(len(moved.chosen))
        # 3 P - 1.5 z = at_P and (3/2 + WEIGHT) z - 1.5 P = at_z; P is eliminated.
        z[few] = (at_z + at_P / 2) / (3 / 4 + WEIGHT)
        z[self.basis.others] = self.fit_others(moved, parts)
        P = self.basis.lift(z)
        P += moved.fantope - moved.slack
        P /= 2
        P[first] = square / 3
        P[self.diagonal, self.diagonal] = (at_P + 1.5 * z[few]) / 3
        return self.parts(P, z)

    def fit_others(self, moved, parts):
        """The z of the features in the basis, by the change x that it needs."""
        # Z is the basis of the others' span.  P + S = Z'Diag(z)Z, and with P eliminated z minimises
        # |Z'Diag(z)Z - (P + S) as moved|^2 / 2 + WEIGHT |z - z as moved|^2.  So x solves
        # (0.5 (ZZ')^2 + WEIGHT I) x = missed, entrywise square, minus half the gradient at the z
        # before.  `solve` is good to three digits: of a change, which tends to 0, they suffice.
        others, rest = self.basis.others, self.basis.rest
        change = moved.fantope[rest] + moved.slack[rest] - parts.fantope[rest] - parts.slack[rest]
        missed = 0.5 * np.einsum("ij,ij->i", self.basis.span @ change, self.basis.span)
        missed += WEIGHT * (moved.chosen - parts.chosen)[others]
        return parts.chosen[others] + self.solve(missed)

    def bound(self, consensus):
        """Return (bound, c, G, Y): c are the costs of the theorem on rows, less any prices."""
        Y = consensus.penalty * (consensus.aims.rows - consensus.copies.rows)
        G = np.sqrt(consensus.penalty) * self.G
        few = self.basis.few
        terms = row_terms(Y, self.in_row, self.required[few], np.sqrt)
        rest = self.inner - G @ G.T
        rest[self.basis.first] -= (Y + Y.T) / 2
        top = eigvalsh(rest)[-self.m :]
        if not self.exactly:  # beside the basis the rest is 0
            top = np.maximum(top, 0)
        G = self.basis.whole(G)
        c = np.sum(G**2, axis=1)
        c[few] += (np.diagonal(Y) + terms) / 2
        if self.prices is not None:
            c = c - self.prices
        return top.sum() + largest_cost(c, self.k, self.required), c, G, Y


def descend_rows(state, m, k, required=None, every=10, row_count=None, prices=None):
    """Yield what is Found after every `every` ADMM steps, for ever.

    Found.bound is S_k(c) + F_m(A - GG' - sym Y) as computed: S_k is the sum of c over what is
    required and the largest positive others, k in all, F_m that of the m largest eigenvalues.
    send(reward), a number for each feature, returns the next Found, `every` steps later: these
    maximise <A, P> + reward'z.  Then c + reward is what has the least bound; `bound` and `c` are
    those of A alone, without the reward, and as valid.

    With prices it is about supports of at most k features, each of which costs its own price: c is
    costs - prices, and may be negative.  `row_count` is how many nonzeros a row of P has at most,
    where that is less than k: of several components on features of their own, the largest count.
    """
    relaxation = RowRelaxation(state, m, k, required, row_count, prices)
    for consensus in relaxation.start(state).pauses(every):
        now = state.now(consensus, relaxation.phi)
        reward = yield Found(*relaxation.bound(consensus), consensus.copies.chosen, now)
        if reward is not None:
            relaxation.reward = reward
