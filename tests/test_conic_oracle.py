"""The bound is as tight as the relaxation is: against a conic solver that knows none of our steps.

The relaxation is written down as its page says, once more, and solved by an interior-point method:
max <A, P> over 0 <= P <= I, P <= Diag(z), trace P = m, 0 <= z <= 1, sum z = k, z = 1 where
required; with rows, P e_i - z_i e_i / 2 also lies in z_i / 2 times the hull of the unit vectors
whose nonzeros are i, the required features and others, k in all: there are theta_j from 0 to
t = z_i / 2, theta_j = t for i and the required, of sum at most k t, with sum x_j^2 / theta_j <= t.
"""

import clarabel
import numpy as np
import pytest
import scipy.sparse

from fspca import upper_bound
from fspca.shared_support.exhaustive import exhaustive
from fspca.synthetic import make_scheme

NIGHT, PART = 200, 20
STEPS = 2000
CONVERGED = 2e-3  # relative: how near the steps come to their limit in so many
SOLVED = 1e-6  # relative: of the interior-point method


class Program:
    """min q'x over rows in cones: free numbers are asked for, and affine rows put into a cone."""

    def __init__(self):
        self.size, self.rows, self.cones = 0, [], []

    def free(self, *shape):
        first, self.size = self.size, self.size + int(np.prod(shape))
        return np.arange(first, self.size).reshape(shape)

    def put(self, cone, rows):
        """Each row is (its terms {variable: factor}, its constant)."""
        self.cones.append(cone)
        self.rows += rows

    def least(self, q):
        entries = [(r, x, -f) for r, (terms, _) in enumerate(self.rows) for x, f in terms.items()]
        r, x, f = zip(*entries, strict=True)
        M = scipy.sparse.csc_matrix((f, (r, x)), (len(self.rows), self.size))
        constants = np.array([constant for _, constant in self.rows], dtype=float)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        none = scipy.sparse.csc_matrix((self.size,) * 2)
        solved = clarabel.DefaultSolver(none, q, M, constants, self.cones, settings).solve()
        assert "Solved" in str(solved.status), solved.status
        return solved.obj_val


def relaxed_optimum(A, m, k, required, rowwise):
    """The optimum of the relaxation."""
    d, root = len(A), np.sqrt(2.0)
    program = Program()
    upper, z = program.free(d * (d + 1) // 2), program.free(d)
    at = {}
    for j in range(d):  # the upper triangle by columns, as the solver stacks it
        for i in range(j + 1):
            at[i, j] = at[j, i] = upper[j * (j + 1) // 2 + i]
    pairs = [(i, j) for j in range(d) for i in range(j + 1)]

    def semidefinite(sign, diagonal):
        """sign * P + a diagonal: each of its entries a pair of terms and constant."""
        rows = []
        for i, j in pairs:
            terms, constant = diagonal(i) if i == j else ({}, 0.0)
            rows.append(({at[i, j]: sign * (1 if i == j else root)} | terms, constant))
        program.put(clarabel.PSDTriangleConeT(d), rows)

    semidefinite(1, lambda i: ({}, 0.0))
    semidefinite(-1, lambda i: ({}, 1.0))
    semidefinite(-1, lambda i: ({z[i]: 1.0}, 0.0))
    program.put(clarabel.ZeroConeT(2), [
        ({at[i, i]: 1.0 for i in range(d)}, -m), (dict.fromkeys(z, 1.0), -k)
    ])  # fmt: skip
    program.put(clarabel.NonnegativeConeT(d), [({i: 1.0}, 0.0) for i in z])
    program.put(clarabel.NonnegativeConeT(d), [({i: -1.0}, 1.0) for i in z])
    if len(required):
        program.put(clarabel.ZeroConeT(len(required)), [({z[i]: 1.0}, -1.0) for i in required])
    for i in range(d) if rowwise else ():
        theta, s = program.free(d), program.free(d)
        whole = {*required, i}
        for j in range(d):  # x_j^2 <= theta_j s_j
            x = {at[i, j]: 2.0} | ({z[i]: -1.0} if i == j else {})
            plus, minus = {theta[j]: 1.0, s[j]: 1.0}, {theta[j]: 1.0, s[j]: -1.0}
            program.put(clarabel.SecondOrderConeT(3), [(plus, 0.0), (x, 0.0), (minus, 0.0)])
        equal = [({theta[j]: 1.0, z[i]: -0.5}, 0.0) for j in whole]
        program.put(clarabel.ZeroConeT(len(equal)), equal)
        program.put(clarabel.NonnegativeConeT(d + 2), [
            *[({theta[j]: -1.0, z[i]: 0.5}, 0.0) for j in range(d)],
            ({z[i]: max(k, len(whole)) / 2} | dict.fromkeys(theta, -1.0), 0.0),
            ({z[i]: 0.5} | dict.fromkeys(s, -1.0), 0.0),
        ])  # fmt: skip
    q = np.zeros(program.size)
    for i, j in pairs:
        q[at[i, j]] = -A[i, j] * (1 if i == j else 2)
    return -program.least(q)


def compared(seed):
    """Return our bound and the optimum of the relaxation, over that, of a small instance."""
    rng, rowwise = np.random.default_rng(seed), bool(seed % 2)
    d = int(rng.integers(4, 8 if rowwise else 11))
    m = int(rng.integers(1, 4))
    k = int(rng.integers(m, d))
    A = np.asarray(make_scheme("DEF"[seed % 3], d, seed)) / d
    required = sorted(rng.permutation(d)[: rng.integers(0, min(k, 3))].tolist())
    found = upper_bound(A, m, k, method="rows" if rowwise else "dual", required=required,
                        max_iter=STEPS).bound  # fmt: skip
    best = exhaustive(A, m, k, required=required).objective
    return found, relaxed_optimum(A, m, k, required, rowwise), best


def examine(seeds):
    for seed in seeds:
        found, optimum, best = compared(seed)
        assert best <= optimum * (1 + SOLVED), seed  # the oracle's program is a relaxation
        assert optimum * (1 - SOLVED) <= found <= optimum * (1 + CONVERGED), seed


def test_the_bound_is_the_optimum_of_the_relaxation():
    examine(range(8))


def test_the_oracle_tells_a_loose_bound():
    """The bound without rows is above the optimum with rows by more than a converged one may."""
    A = np.asarray(make_scheme("F", 7, 2))
    loose = upper_bound(A, 1, 3, method="dual", max_iter=STEPS).bound
    assert loose > relaxed_optimum(A, 1, 3, [], True) * (1 + 5 * CONVERGED)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(0, NIGHT, PART))
def test_the_bound_is_the_optimum_of_the_relaxation_by_night(part, record_property):
    record_property("instances", PART)
    examine(range(part, part + PART))
