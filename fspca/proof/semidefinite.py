r"""The semidefinite relaxation of the problem, by ADMM, with a certificate at every step.

The relaxation is max <A, P> over 0 <= P <= I, P <= Diag(z), trace P = m, 0 <= z <= 1, sum z = k.
Its dual is min over C >= 0 of S_k(diag C) + F_m(A - C), S_k the sum of the k largest entries and
F_m of the m largest eigenvalues; every C >= 0 gives an upper bound.

Its parts are P, the slack S = Diag(z) - P and z: two eigenproblems and a sort project them, and
the point that fits three copies has a closed form.  The multiplier of S is C, and the negative part
that the projection of S removes, times the penalty, is a C >= 0 that costs nothing.

C is looked for as V N V'.  The columns of V are the unit vectors of the likely features and a basis
of the span that the others have in A; without a basis V = I.  Where rank A is far below d, all
eigenproblems have the size of N, and the bound is hardly weaker.
"""

from typing import NamedTuple

import numpy as np
from numpy.linalg import eigvalsh

from fspca.proof.projections import TopPairs, clip_to_count, largest_cost
from fspca.proof.relaxation import Balance, Basis, Consensus, Found, Relaxation, State

WEIGHT = 0.5  # of z against P in the penalty: a feature has one z, and rows of P and of S


class Parts(NamedTuple):
    """What the conditions are about: P in the Fantope, S = Diag(z) - P semidefinite, z's sum."""

    fantope: np.ndarray
    slack: np.ndarray
    chosen: np.ndarray


def start_from(inner, m, k, basis=None):
    """Return the state before the first step."""
    p = len(inner)
    d = p if basis is None else len(basis.few) + len(basis.others)
    none = Parts(np.zeros((p, p)), np.zeros((p, p)), np.zeros(d))
    penalty = 0.5  # the entries of A and P are of the order 1 by then; it is adapted
    return State(basis, inner, np.eye(p) * (m / p), np.full(d, k / d), none, penalty)


def normal_solver(Z):
    """Return the solver of (0.5 (ZZ')^2 + w I) x = r, entrywise square, w = WEIGHT, to 3 digits.

    The row sums of that square are (ZZ')_ii <= 1: divided by the diagonal, its eigenvalues lie
    near 1 where (ZZ')_ii is near 0 or 1, and conjugate gradients need two steps.  Asked for the
    change of x, again and again, it comes as near as wanted: single precision does.
    """
    Z = Z.astype(np.float32)
    diagonal = 0.5 * np.einsum("ij,ij->i", Z, Z) ** 2 + WEIGHT

    def apply(v):
        """The matrix times v."""
        return 0.5 * np.einsum("ij,ij->i", Z @ ((Z.T * v.astype(Z.dtype)) @ Z), Z) + WEIGHT * v

    def solve(r):
        """Conjugate gradients from 0, with the diagonal as preconditioner."""
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


class SemidefiniteRelaxation(Relaxation):
    """The relaxation on the features of a state, of which some are required."""

    balance = Balance(last=400)

    def __init__(self, state, m, k, required=None):
        self.inner = state.inner
        self.m = m
        self.k = k
        self.required = np.zeros(len(state.z), dtype=bool) if required is None else required
        self.exactly = state.basis is None  # a basis leaves out where P may have some of its trace
        self.basis = state.basis or Basis.of_all(len(state.z))
        self.solve = normal_solver(self.basis.span)
        self.top = TopPairs()
        self.negative = TopPairs()

    def start(self, state):
        """The iteration from a state."""
        parts = Parts(state.P, self.basis.lift(state.z) - state.P, state.z)
        return Consensus(self, parts, state.multipliers, state.penalty)

    def project(self, aims, penalty):
        """Put P on the Fantope, S on the semidefinite matrices and z on the sums of k."""
        V = self.top.between(aims.fantope + self.inner / penalty, self.m, self.exactly)
        self.G = self.negative.positive_part(-aims.slack)
        self.N = self.G @ self.G.T
        z = clip_to_count(aims.chosen, self.k, self.required)
        return Parts(V @ V.T, aims.slack + self.N, z)

    def fit(self, moved, parts, penalty):
        """Return the parts of the P and z nearest to all copies, by the change that z needs."""
        change = moved.fantope + moved.slack - parts.fantope - parts.slack
        missed = 0.5 * self.basis.diagonal(change) + WEIGHT * (moved.chosen - parts.chosen)
        z = parts.chosen + missed / (0.5 + WEIGHT)
        others = self.basis.others
        z[others] = parts.chosen[others] + self.solve(missed[others])
        lifted = self.basis.lift(z)
        P = 0.5 * (moved.fantope - moved.slack + lifted)
        return Parts(P, lifted - P, z)

    def bound(self, penalty):
        """Return (bound, c) for the C that the last projection gave; c is its diagonal."""
        c = penalty * self.basis.diagonal(self.N)
        top = eigvalsh(self.inner - penalty * self.N)[-self.m :]
        if not self.exactly:  # beside the basis A - C is 0
            top = np.maximum(top, 0)
        return largest_cost(c, self.k, self.required) + top.sum(), c


def descend(state, m, k, required=None, every=10):
    """Yield what is Found after every few ADMM steps, for ever; C = GG', and no Y.

    The bound is that of the basis, as computed: what it misses, and rounding, the checked matrix
    puts right.
    """
    relaxation = SemidefiniteRelaxation(state, m, k, required)
    for consensus in relaxation.start(state).pauses(every):
        bound, c = relaxation.bound(consensus.penalty)
        G = relaxation.basis.whole(np.sqrt(consensus.penalty) * relaxation.G)
        yield Found(bound, c, G, None, consensus.copies.chosen, state.now(consensus))
