r"""Bounds on components of few features each, every one with the claim that proves it.

For W with orthonormal columns of k_1, ..., k_m nonzeros, P = WW' = P_1 + ... + P_m is a sum of
projections, each with rows of k_j nonzeros, and has itself rows of K = k_1 + ... + k_m.  What the
theorem on rows says holds of both, and a price p >= 0 says how much of diag GG' is paid by the
columns, how much by their union: that is the theorem on columns.  Both are proven in
book/appendix/certificate_format.md.  The relaxation looks for the best G, Y, Z and p.
"""

from itertools import islice
from typing import NamedTuple

import numpy as np

from fspca.check_certificate import row_terms
from fspca.problem import SharedSupport
from fspca.proof.bounds import least_closed_form
from fspca.proof.checked import CheckedMatrix
from fspca.proof.claims import claimed, least_claimed
from fspca.proof.levelled import with_factors_claim
from fspca.proof.projections import TopPairs, clip_to_sum, sum_largest
from fspca.proof.relaxation import Consensus, Relaxation
from fspca.proof.rows import project_rows

SMALL = 40  # features up to which all is relaxed: a hundred steps then take tenths of a second
SUMMED = 10_000  # features up to which rows are summed, at the price of one product
# Of what factors explain, by a search for one component: without being asked for, it takes this
# share of the work of `solve`, a second at most, and up to so many features.
QUICK, SEARCHED = 0.25, 100
FEW = 2, 2  # sweeps of a projection, which begins where the last one ended
ROW_SUMS = {"whole": 2}  # in place of a node's arrays: the checker takes its bound by row sums


def with_claim(A, solution, max_iter=100, share=QUICK, max_seconds=None):
    """Return the solution with the least bound that the checker accepts, and the claim of it.

    Here all bounds on separate supports are gathered but those of prices.  What factors explain
    that need not be orthogonal has bounds of its own (`levelled`), and a kind of claim.  Else these
    are tried:

    - the least closed form of a shared support of k_1 + ... + k_m features, always: it holds of
      every score, and stands alone where the matrix is too large for a proof;
    - row sums, of orthonormal columns of up to 10,000 features: they stand for prices where there
      are too many features for these;
    - the theorem on columns, of orthonormal columns of up to 40 features, by `max_iter` steps.
      It may be better than prices that do not end: for three columns of five features of
      ionosphere it leaves 2.4 % and prices 8.1, for two of ten 4.7 and 11.3.

    `share` of the work of `solve`, and `max_seconds`, are for what factors explain.
    """
    problem = solution.problem
    if problem.scored == "factors" and not problem.orthogonal:
        small = A.size <= SEARCHED or share > QUICK
        return with_factors_claim(A, solution, share if small else 0, max_seconds)
    counts, orthonormal = problem.counts, problem.orthogonal
    union = max(problem.m, min(int(counts.sum()), A.size))
    checked = CheckedMatrix.of(A, SharedSupport(problem.m, union))
    if checked.matrix is None:
        return claimed(checked, solution, least_closed_form(checked))
    tried = [least_closed_form(checked).arrays]
    if orthonormal and A.size <= SUMMED:
        tried.append(ROW_SUMS)
    if orthonormal and A.size <= SMALL:
        tried.append(column_arrays(checked.block(np.arange(A.size)), counts, max_iter))
    facts = {"kind": problem.kind, "counts": counts, "W": np.array(solution.W)}
    if orthonormal:
        facts["orthonormal"] = 1
    return least_claimed(checked, solution, tried, **facts)


def column_arrays(A, counts, max_iter):
    """Return the arrays of the best certificate that so many steps find."""
    top = np.linalg.eigvalsh(A)[-1]
    unit = 2.0 ** np.round(np.log2(top)) if top > 0 else 1.0
    walk = column_steps(A / unit, np.asarray(counts))
    found = islice(walk, max(1, max_iter // 10))
    _, arrays = min(found, key=lambda each: each[0])
    return {x: np.sqrt(unit) * v if x == "G" else unit * v for x, v in arrays.items()}


def bound_of(A, counts, G, Y, Z, p):
    """Return the bound that the theorem on columns gives for these arrays, but for rounding.

    c_i = p_i + what Z says of row i is charged for each column, what is above p for the union.
    """
    union, none = min(counts.sum(), len(A)), np.zeros(len(A), dtype=bool)

    def rows(M, k):
        """What the theorem on rows charges for each row of M, of k nonzeros."""
        return (np.diagonal(M) + row_terms(M, k, none, np.sqrt)) / 2

    shared = np.maximum(np.sum(G**2, axis=1) - p + rows(Y, union), 0.0)
    rest = A - G @ G.T - (Y + Y.T + Z + Z.T) / 2
    return (sum(sum_largest(p + rows(Z, k), k) for k in counts) + sum_largest(shared, union)
            + np.linalg.eigvalsh(rest)[-len(counts) :].sum())  # fmt: skip


class ColumnParts(NamedTuple):
    """What the conditions are about: P, y for the union of the supports, z for their counts.

    S = Diag(y) - P; rows P_i - y_i e_i / 2 of as many nonzeros as the union has, and the same with
    z of the largest count; their heights y / 2 and z / 2; and z - y, y and z themselves.
    """

    fantope: np.ndarray
    slack: np.ndarray
    rows_of_union: np.ndarray
    rows_of_one: np.ndarray
    heights_of_union: np.ndarray
    heights_of_one: np.ndarray
    more: np.ndarray
    union: np.ndarray
    chosen: np.ndarray


class ColumnRelaxation(Relaxation):
    r"""The relaxation for orthonormal columns of so many nonzeros each, K in all.

    max <A, P> over 0 <= P <= I with trace m, P <= Diag(y), 0 <= y <= 1, y <= z, 0 <= z <= m with
    sum K, and for every row that P_i - y_i e_i / 2 lies in y_i / 2 times the hull of vectors of
    length 1 with K nonzeros, and the same with z and the largest count.
    """

    def __init__(self, A, counts):
        d = len(A)
        self.A = A
        self.m = len(counts)
        self.in_all = min(counts.sum(), d)
        self.most = counts.max()
        self.none = np.zeros(d, dtype=bool)
        self.phi = [np.full(d, 0.25)] * 2
        # On the diagonal P, y and z are fitted together: the normal equations of the parts.
        self.inverse = np.linalg.inv([[4, -1.5, -0.5], [-1.5, 3.5, -1], [-0.5, -1, 2.5]])

    def start(self):
        """The iteration from its first point."""
        d = len(self.A)
        share = np.full(d, self.in_all / d)
        parts = self.parts(np.eye(d) * (self.m / d), share, share)
        return Consensus(self, parts, ColumnParts(*(0 * part for part in parts)), penalty=0.5)

    def parts(self, P, y, z):
        """What each condition is about."""
        rows = P - np.diag(y / 2), P - np.diag(z / 2)
        return ColumnParts(P, np.diag(y) - P, *rows, y / 2, z / 2, z - y, y, z)

    def project(self, aims, penalty):
        """Put P, S, the rows of the union and of one column, and y and z, each on its set."""
        V = TopPairs().between(aims.fantope + self.A / penalty, self.m)
        self.G = TopPairs().positive_part(-aims.slack)
        union, union_heights, self.phi[0] = project_rows(
            aims.rows_of_union, aims.heights_of_union, self.none, self.in_all, self.phi[0], *FEW
        )
        one, one_heights, self.phi[1] = project_rows(
            aims.rows_of_one, aims.heights_of_one, self.none, self.most, self.phi[1], *FEW
        )
        return ColumnParts(
            fantope=V @ V.T,
            slack=aims.slack + self.G @ self.G.T,
            rows_of_union=union,
            rows_of_one=one,
            heights_of_union=union_heights,
            heights_of_one=one_heights,
            more=np.maximum(aims.more, 0.0),
            union=np.clip(aims.union, 0.0, 1.0),
            chosen=self.m * clip_to_sum(aims.chosen / self.m, self.in_all / self.m),
        )

    def fit(self, moved, parts, penalty):
        """Return the parts of the P, y and z nearest to all copies: on the diagonal together."""
        union, one = moved.rows_of_union, moved.rows_of_one
        right = moved.fantope - moved.slack + (union + union.T + one + one.T) / 2
        on_y = np.diagonal(moved.slack) - np.diagonal(union) / 2
        on_y = on_y + moved.heights_of_union / 2 - moved.more + moved.union
        on_z = moved.more + moved.chosen + moved.heights_of_one / 2 - np.diagonal(one) / 2
        diagonal, y, z = self.inverse @ np.array([np.diagonal(right), on_y, on_z])
        P = right / 4
        np.fill_diagonal(P, diagonal)
        return self.parts(P, y, z)


def column_steps(A, counts, every=10):
    """Yield (bound, arrays) after every few steps of ADMM, for ever."""
    relaxation = ColumnRelaxation(A, counts)
    for consensus in relaxation.start().pauses(every):
        penalty, aims, copies = consensus.penalty, consensus.aims, consensus.copies
        arrays = {
            "G": np.sqrt(penalty) * relaxation.G,
            "Y": penalty * (aims.rows_of_union - copies.rows_of_union),
            "Z": penalty * (aims.rows_of_one - copies.rows_of_one),
            "p": penalty * np.maximum(-aims.more, 0.0),
        }
        yield bound_of(A, counts, **arrays), arrays
