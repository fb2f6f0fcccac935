"""Claims that are built against a rule: the false one is refused, the honest one beside it taken.

Three judge each: the checker in floating point, the checker in integers, and a second one that was
written apart, from the page of the format alone.
"""

import re
import warnings
import zipfile
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import second_checker
from packing_claims import of_blocks
from test_check_certificate import forged, honest_bound, honest_few, honest_tree
from test_check_nonnegative import cut_claim, wide_claim
from test_check_nonnegative import honest as honest_of_components

from fspca import solve, solve_nonnegative, solve_separate
from fspca.check_certificate import check

PAGE = Path(__file__).parent.parent / "book" / "appendix" / "certificate_format.md"
NEAR = 1e-13  # relative: what an honest claim of some features leaves to rounding, at most
FALSE = 4e-15  # relative: what a false claim claims too much, a few units of the last place


def written(claim):
    """The claim as a file in memory."""
    file = BytesIO()
    np.savez(file, **claim)
    file.seek(0)
    return file


def second_holds(claim):
    """Whether the second checker takes the claim."""
    try:
        second_checker.check(written(claim))
    except second_checker.Refused:
        return False
    return True


def verdicts(claim):
    """Whether the claim holds: in floating point, in integers, and for the second checker."""
    return check(claim).holds, check(claim, exact=True).holds, second_holds(claim)


def claim_of(kind, A, m, k, gap, **fields):
    name = fields.pop("name", "A")
    return {"version": 1, "kind": kind, "m": m, "k": k, name: A, "gap": gap, **fields}


def shared(A, m, k, support, gap, **fields):
    fields = fields if any("_0" in x for x in fields) else {"G_0": np.zeros((len(A), 0)), **fields}
    return claim_of("shared", A, m, k, gap, support=support, **fields)


def of_columns(kind, A, counts, W, gap, **fields):
    k = fields.pop("k", min(len(W), sum(counts)))
    if not any("_0" in x for x in fields):
        fields["G_0"] = np.zeros((len(W), 0))
    return claim_of(kind, A, len(counts), k, gap, counts=counts, W=W, **fields)


separate = lambda *args, **fields: of_columns("separate", *args, **fields)  # noqa: E731
nonnegative = lambda *args, **fields: of_columns("nonnegative", *args, **fields)  # noqa: E731
factors = lambda *args, **fields: of_columns("factors", *args, **fields)  # noqa: E731


def packing(A, counts, W, gap, prices=(), trees=(), targets=(), **fields):
    """A claim of packed supports; a tree without arrays has none in G."""
    d = len(W)
    k = fields.pop("k", min(d, sum(counts)))
    given = {"counts": counts, "W": W}
    if len(trees):
        given |= {"prices": prices, "trees": trees, "targets": targets}
    for i in range(len(trees)):
        if not any(x.startswith(f"tree{i}_") and x[-2:] == "_0" for x in fields):
            fields[f"tree{i}_G_0"] = np.zeros((d, 0))
    return claim_of("packing", A, len(counts), k, gap, **given, **fields)


D = np.diag([5.0, 4.0, 1.0])  # the best feature explains 5, the second 4: a gap of a quarter
X = np.diag([2.0, 1.0, 1.0])  # the same with 4 and 1: a gap of three
ROOT, ONE = np.zeros((3, 0)), np.array([[0.0], [1.0], [0.0]])
OPEN = [[1, 1, 1]]
TREE = {"nodes": [[1, 1, 1], [2, 1, 1], [0, 1, 1]], "parent": [-1, 0, 0], "branch": [0, -1, -1]}
TWIN = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])  # 3 on two features
SIGNS = np.array([[2.0, -1.0], [-1.0, 2.0]])  # 3 by two signs, 2 without
AWAY = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
INDEFINITE = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 5.0]])
EVERY = np.ones((4, 4)) + np.eye(4)
TWO = np.array([[1.0, 0], [0, 1], [0, 0], [0, 0]])
RIGHT, LESS = 0.25 + NEAR, 0.25 - FALSE


def with_gap(claim, gap):
    return {**claim, "gap": gap}


def changed(claim, **fields):
    return {**claim, **fields}


WIDE = claim_of("shared", X, 1, 1, 3 + 4 * NEAR, name="X", support=[1],
                G_0=ROOT, s_0=4 + NEAR, H_0=ROOT)  # fmt: skip
FEW = claim_of("nonnegative", X, 1, 1, 3 + 4 * NEAR, name="X", counts=[1], W=ONE, G_0=ROOT,
               s_0=4 + NEAR, H_0=ROOT, few_0=[1, 2], N_0=np.zeros((2, 2)),
               Y_0=np.zeros((2, 2)))  # fmt: skip
# Of X, the rows of two features leave nothing, and G on the third 3/4: it costs 1/4, they 4 and 1.
ON_TWO = claim_of("shared", X, 1, 1, 3.75 + 4 * NEAR, name="X", support=[1], few_0=[0, 1],
                  Y_0=np.diag([4.0, 1.0]), G_0=0.5 * np.eye(3)[:, 2:], s_0=0.75 + NEAR,
                  H_0=ROOT)  # fmt: skip
# Feature 2 is required and none of the two, so that of the rows of Y nothing beside counts.
WITH_ANOTHER = changed(ON_TWO, k=2, gap=0.25 + 4 * NEAR, support=[0, 2], required=[2],
                       Y_0=[[4.0, 3.0], [-3.0, 1.0]])  # fmt: skip
TREE_ON_TWO = changed(ON_TWO, **TREE, support=[0], gap=NEAR, Y_0=np.diag([8.0, 2.0]),
                      G_0=1.5 * np.eye(3)[:, 2:], s_0=NEAR)  # fmt: skip
APART = separate(D, [1], ONE, RIGHT, orthonormal=1, Z_0=np.zeros((3, 3)), p_0=np.zeros(3))
PAIR = changed(separate(EVERY, [1, 1], TWO, 0.0), gap=1.5 + NEAR)  # F_2(EVERY) is 5 + 1, v is 4
PAIR_OF_ALL = changed(PAIR, gap=0.5 + NEAR)
CUT = nonnegative(
    np.array([[2.0, -1.0], [-1.0, 2.0]]), [2], np.array([[1.0], [0.0]]), 0.5 + NEAR,
    nodes=[[1, 1]] * 3, parent=[-1, 0, 0], branch=[2, -1, -1], directions=[[1, -1]],
)  # fmt: skip
LISTED = shared(D, 1, 1, [1], RIGHT, nodes=OPEN, parent=[-1], branch=[-1], G_0=2 * np.eye(3))
TWINS = shared(TWIN, 1, 2, [0, 1], NEAR, nodes=OPEN, parent=[-1], branch=[-1], G_0=3 * np.eye(3))
DIVIDED = shared(D, 1, 1, [0], NEAR, **TREE, G_0=3 * np.eye(3))
# Costs of 5, 4 and 1 and no rest: the bound is 5, and feature 0 is lost for 1 less.
COSTS = np.diag(np.sqrt([5.0, 4.0, 1.0]))
DECIDED = shared(np.diag([5.0, 4.0, 1.0]), 1, 1, [1], RIGHT, nodes=[[1, 1, 1], [1, 1, 0]],
                 parent=[-1, 0], branch=[-1, -1], G_0=COSTS)  # fmt: skip
# Lowered to the level 3, the features explain 3, 3 and 1, and 7 / 3 times 3 is 7; W explains 5.
PLAIN = np.diag([4.0, 3.0, 1.0])
APART_BY_TWO = np.array([[1.0, 0], [0, 0], [0, 1]])
LEVEL = factors(PLAIN, [1, 1], APART_BY_TWO, 0.4 + NEAR, factors=APART_BY_TWO / [2, 1],
                R=[[0.5], [0], [0]], levels=[3.0])  # fmt: skip
FIRST = np.array([[1.0, 0], [0, 1], [0, 0]])
TIMES = factors(PLAIN, [1, 1], FIRST, 1 / 7 + NEAR, factors=FIRST / [2, 3**0.5],
                R=np.zeros((3, 0)), levels=np.zeros(0), nodes=OPEN, parent=[-1], branch=[-1],
                G_0=3 * np.eye(3))  # fmt: skip
# Of two features that explain 25 each, and 40 together: their leaders' bounds are 40 too.
LEADERS = claim_of("shared", np.array([[5.0, 3, 0], [0, 4, 0], [0, 0, 5]]), 1, 2, 0.6 + NEAR,
                   name="X", support=[0, 2], whole_0=1, nodes=OPEN, parent=[-1],
                   branch=[-2])  # fmt: skip
# Features 0 to 2 explain 43 together, feature 3 is far from them; with it two explain 40.
NEIGHBOURS = claim_of("shared", np.array([[5.0, 3, 3, 0], [0, 4, -4, 0], [0, 0, 0, 5]]), 1, 3, NEAR,
                      name="X", support=[0, 1, 2], whole_0=1, parent=[-1, 0, 0, 0],
                      nodes=[[1, 1, 1, 1], [2, 1, 1, 0], [1, 2, 1, 0], [1, 1, 2, 0]],
                      branch=[-2, -1, -1, -1])  # fmt: skip
LESSER = {"support": [0, 1, 3], "gap": 0.075 - FALSE}  # the gap of 40 to 43
TOGETHER = np.array([[1.0, 0.75], [0.75, 1.0]])
TINY = 2.0**-560
# Prices of 4 and 3, and 1 that is left of each: 7 + 2.
MORE = 1 + 2 * NEAR  # of a tree
PRICED = packing(D, [1, 1], FIRST, NEAR, [[4.0, 3, 0]], [[0, 1, 1]], [MORE])
# Two pairs that explain 3 each and 2 alone, at most three features: at a price of 1/2 each pair
# leaves 2 and one feature 1.5.
PAIRS = np.kron(np.eye(2), [[2.0, 1], [1, 2]])
THREE = np.array([[1.0, 0], [1, 0], [0, 1], [0, 0]])
UNEQUAL = packing(PAIRS, [2, 1], THREE, NEAR, [[0.5] * 4], [[0, 1, 2], [0, 1, 1]],
                  [2 + NEAR, 1.5 + NEAR])  # fmt: skip
IN_ALL = packing(PAIRS, [2, 2], THREE, NEAR, [[1.0] * 4], [[0, 1, 2]], [MORE], k=3)
# Of three features each two explain 3, and the fourth 2; halves of the pairs would explain 5.5.
TRIANGLE = np.block([[np.ones((3, 3)) + np.eye(3), np.zeros((3, 1))], [np.zeros((1, 3)), 2.0]])
SOME = np.array([[1.0, 0], [1, 0], [0, 0], [0, 1]])
LIST = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
LEFT_OUT = packing(TRIANGLE, [2, 2], SOME, NEAR, [[0.5, 0.5, 0.5, 0]], [[0, 1, 2]], [1.5 + NEAR],
                   columns=LIST)  # fmt: skip
# In blocks: 3 and 1 on features of their own, or both on the twins.
BLOCKS = packing(TWIN, [2, 2], np.array([[1.0, 0], [1, 0], [0, 1]]), NEAR,
                 [[1.0, 1, 0], [0, 0, 0]], [[0, 1, 2], [1, 2, 2]], [1 + NEAR, 4 + NEAR],
                 orthonormal=1)  # fmt: skip
ONLY_FIRST = packing(D, [1, 1], FIRST, NEAR, first_G_0=COSTS)
# Costs of 6, 5 and 1 and a rest of -1: the bound is 10, and 6 with feature 2.
KEPT = packing(D, [1, 1], FIRST, NEAR, [[4.0, 3, 0]], [[0, 1, 1]], [MORE], kept=[0, 1],
               first_G_0=np.diag(np.sqrt([6.0, 5, 1])), tree0_G_0=ROOT[:2])  # fmt: skip
# Costs of 5, 4 and 3, which prices lower to 1, 1 and 3: each of two is lost for 2.
NET = packing(D, [1, 1], FIRST, NEAR, [[4.0, 3, 0]], [[0, 1, 1]], [MORE],
              tree0_G_0=np.diag(np.sqrt([5.0, 4, 3])), tree0_nodes=[[1, 1, 1], [0, 0, 1]],
              tree0_parent=[-1, 0], tree0_branch=[-1, -1])  # fmt: skip
BELOW = packing(D, [1, 1], FIRST, NEAR, [[4.0, 3, 0]], [[0, 1, 1]], [MORE], tree0_G_0=ROOT,
                tree0_nodes=[[1, 1, 1], [2, 1, 1], [0, 1, 1]], tree0_parent=[-1, 0, 0],
                tree0_branch=[0, -1, -1])  # fmt: skip
SIGNED = packing(SIGNS, [2], np.array([[1.0], [0]]), NEAR, [[0.0, 0]], [[0, 1, 2]], [2 + NEAR],
                 nonnegative=1)  # fmt: skip
ADDED = changed(SIGNED, tree0_N_0=np.array([[0, 1.0], [1, 0]]))
BOTH = np.array([[1.0], [-1.0]])
OF_SIGNS = changed(packing(SIGNS, [2], BOTH, NEAR, [[0.0, 0]], [[0, 1, 2]], [3 + NEAR]),
                   tree0_N_0=np.array([[0, 1.0], [1, 0]]))  # fmt: skip
# Six features on which two components explain 49.4, and 48.7 at most with four nonzeros each.
SIX = np.array([[14.0, 5, 2, -5, -1, -7], [5, 11, -1, -5, 4, 3], [2, -1, 17, -4, 2, -5],
                [-5, -5, -4, 8, -4, -4], [-1, 4, 2, -4, 7, 7], [-7, 3, -5, -4, 7, 15]])  # fmt: skip
SPECTRAL = of_blocks(SIX, [4, 4], np.eye(6)[:, [2, 5]])
SPECTRAL |= {
    "prices": np.round(SPECTRAL["prices"]),  # short numbers, which fractions add faster
    "targets": np.array([17.5, 47.0]),
    "columns": np.ones((1, 6), dtype=int),
    "spectral_0": np.array([[0.8], [-0.45], [0.8], [0.15], [-0.55], [-1.35]]),
    "gap": 48.7 / 32 - 1,
}

# For each rule of the page: an honest claim, and false ones, each as near as floating point allows.
# After the honest one may stand the arithmetic that cannot hold its numbers.
RULES = {
    "version and kind": (
        shared(D, 1, 1, [0], NEAR),
        [{"version": 2}, {"version": 1.0}, {"kind": "Shared"}, {"kind": ["shared"] * 2}],
    ),
    "m and k": (
        shared(D, 1, 3, [0, 1, 2], NEAR),
        [{"k": 4}, {"m": 0}, {"m": 4, "k": 4}, {"k": 3.0}],
    ),
    "numbers of a matrix": (
        shared(np.array([[2**53, 0], [0, 1]]), 1, 1, [0], NEAR),
        [
            {"A": np.array([[2**53 + 1, 0], [0, 1]])},
            {"A": np.array([[2**63 + 1, 0], [0, 1]], dtype=np.uint64)},
            *({"A": np.array([[bad, 0], [0, 1.0]])} for bad in (np.nan, np.inf, -np.inf)),
            {"A": np.eye(2, dtype=bool)},
            {"A": np.eye(2, dtype=complex)},
        ],
    ),
    "symmetry": (
        shared(TWIN, 1, 2, [0, 1], NEAR),
        [{"A": TWIN + np.array([[0, 2.0**-51, 0], [0] * 3, [0] * 3])}],
    ),
    "A or X": (shared(D, 1, 1, [0], NEAR), [{"X": np.sqrt(D)}, {"sha256": "0" * 64}]),
    "lists of features": (
        shared(D, 1, 2, [0, 1], NEAR, required=[0], forbidden=[2], G_0=ROOT[:2]),
        [
            {"support": [0, -2]},
            {"support": [0, 0]},
            {"support": [0, 3]},
            {"support": [0.0, 1.0]},
            {"support": [True, False]},
            {"support": np.array([0, 2**64 - 2], dtype=np.uint64)},
            {"forbidden": [-1]},
            {"forbidden": [2, 2]},
            {"required": [2]},
            {"required": [[0]]},
        ],
    ),
    "the support": (
        shared(TWIN, 1, 2, [1, 0], NEAR, required=[0], forbidden=[2], G_0=ROOT[:2]),
        [{"support": [1]}, {"support": [0, 2]}, {"support": [0, 1, 2]}, {"support": []}],
    ),
    "the gap": (
        shared(D, 1, 1, [1], RIGHT),
        [{"gap": LESS}, {"gap": -0.25}, {"gap": np.nan}, {"gap": np.inf}, {"gap": [0.5]}],
    ),
    "a negative value has no gap": (
        shared(INDEFINITE, 2, 2, [0, 2], NEAR, nodes=OPEN, parent=[-1], branch=[-1]),
        [{"support": [0, 1], "gap": gap} for gap in (1e17, 1e30, 1e300)],
    ),
    "the bound of costs": (shared(D, 1, 1, [1], RIGHT, G_0=COSTS), [{"gap": LESS}]),
    "the bound of rows": (shared(D, 1, 1, [1], RIGHT, Y_0=D), [{"gap": LESS}, {"k": 2}]),
    "required rows": (
        shared(D, 1, 1, [1], NEAR, required=[1], Y_0=D),
        [{"required": [0]}, {"forbidden": [0], "required": [], "Y_0": D}, {"k": 2, "gap": LESS}],
    ),
    "all of the data": (
        claim_of("shared", X, 1, 1, 3 + NEAR, name="X", support=[1], whole_0=1),
        [{"gap": 3 - 4 * FALSE}, {"whole_0": 2}, {"whole_0": 1.0}, {"whole_0": 0}],
    ),
    "a matrix taken whole": (  # its diagonal is 1, 0, 0, its eigenvalues 1, 2, -2
        shared(AWAY, 1, 2, [1, 2], 1.5 + 10 * NEAR, whole_0=1),
        [{"support": [0], "gap": 1 - 4 * FALSE}, {"support": [0], "gap": 0.0}, {"whole_0": 0}],
    ),
    "what is required": (  # alone it explains 1, and whoever joins it adds nothing
        shared(np.eye(3), 1, 2, [0, 1], 2 * NEAR, required=[0], whole_0=3),
        [
            {"required": [], "gap": 1 - 4 * FALSE},
            {
                "k": 3,
                "gap": 0.5 - 4 * FALSE,
                "A": np.eye(3) + np.diag([0.5], 2) + np.diag([0.5], -2),
            },
            {"whole_0": 1},
            {"whole_0": 2},
            {"whole_0": 4},
            {"whole_0": 3.0},
            {"A": np.diag([-4.0, 0, 0]), "k": 3, "support": [0, 1, 2], "gap": 0.0},
        ],
    ),
    "what is required of data": (
        claim_of("shared", X, 1, 1, 3 + NEAR, name="X", support=[1], whole_0=1),
        [{"whole_0": 3}],
    ),
    "a witness": (
        shared(D, 1, 1, [1], RIGHT, s_0=5 + NEAR / 2, H_0=ROOT),
        [
            {"gap": LESS},
            {"s_0": 4.0},
            {"s_0": 5 * (1 - 1e-10), "gap": 0.25 - 2e-11},
            {"s_0": np.inf},
        ],
    ),
    "a witness of data": (
        WIDE,
        [
            {"gap": 3 - 4 * FALSE},
            {"s_0": 2.0, "gap": 1.0},
            {"s_0": 0.0, "gap": 1.0},
            {"Y_0": np.zeros((3, 3))},
            {"s_0": 5e-324, "gap": 1.0},
        ],
    ),
    "few features": (
        FEW,
        [
            {"gap": 3 - 4 * FALSE},
            {"few_0": [1, 1]},
            {"few_0": [1.0, 2.0]},
            {"few_0": [1, 3]},
            {"few_0": [1, -1]},
            {"few_0": [1]},
            {"N_0": -np.eye(2)},
            {"s_0": 2.0, "gap": 1.0},
        ],
    ),
    "rows on few features": (
        ON_TWO,
        [
            {"gap": 3.75 - 4 * FALSE},
            {"few_0": [1, 0]},
            {"few_0": [0, 0]},
            {"few_0": [0.0, 1.0]},
            {"few_0": [0, 3]},
            {"few_0": [-3, 1]},
            {"few_0": [0]},
            {"few_0": [0, 2], "forbidden": [2], "G_0": ROOT[:2], "H_0": ROOT[:2]},
            {"s_0": 0.0},
            {"s_0": 0.75 * (1 - 1e-10), "gap": 3.75 - 2e-10},
            {"G_0": ROOT, "gap": 3.75 - 4 * FALSE},
            {"k": 2},
            {"Y_0": np.zeros((2, 2)), "N_0": -np.diag([4.0, 1.0]), "gap": 0.0},
            {
                "kind": "separate",
                "counts": [1],
                "W": ONE,
                "orthonormal": 1,
                "Z_0": np.zeros((2, 2)),
            },
        ],
    ),
    "required beside the few": (
        WITH_ANOTHER,
        [
            {"gap": 0.25 - 4 * FALSE},
            {"required": []},
            {"required": [1], "support": [0, 1]},
            {"required": [0]},
            {"k": 3, "support": [0, 1, 2]},
        ],
    ),
    "few features below": (
        TREE_ON_TWO,
        [
            {"support": [1], "gap": 0.1},
            {"few_2": [0, 1], "Y_2": np.diag([4.0, 1.0]), "G_2": ROOT[:2], "s_2": 1 + NEAR},
            {"few_2": [0], "Y_2": [[4.0]], "G_2": ROOT[:2], "s_2": 1 + NEAR},
            {"Y_2": np.diag([1.0, 1.0]), "G_2": ROOT[:2], "s_2": NEAR},
            {"few_2": [1], "Y_2": np.diag([1.0, 1.0]), "G_2": ROOT[:2], "s_2": 1 + NEAR},
            {"few_0": [0, 2], "G_0": 1.5 * np.eye(3)[:, 1:2], "gap": 0.0, "Y_0": np.diag([8, 0.5])},
        ],
    ),
    "nodes": (
        DIVIDED,
        [
            {"nodes": [[1, 1, 1], [2, 1, 1], [0, 0, 1]], "support": [1], "gap": 0.0},
            {"nodes": [[1, 1, 0], [2, 1, 0], [0, 1, 0]]},
            {"parent": [-1, 0, 2]},
            {"parent": [-1, 0, -1]},
            {"nodes": [[1, 1, 1], [2, 1, 1], [3, 1, 1]]},
            {"parent": [0, 0, 0]},
            {"nodes": np.ones((0, 3), int), "parent": [], "branch": []},
        ],
    ),
    "children that miss a support": (
        DIVIDED,
        [
            {"nodes": [[1, 1, 1], [0, 1, 1], [0, 1, 1]], "support": [1], "gap": NEAR},
            {"nodes": [[1, 1, 1], [2, 1, 1], [2, 1, 1]]},
            {"nodes": [[1, 1, 1], [1, 1, 1], [0, 1, 1]]},
            {"branch": [-1, -1, -1]},
            {"branch": [-3, -1, -1]},
            {"branch": [3, -1, -1]},
            {"branch": np.array([2**64 - 3, 0, 0], dtype=np.uint64)},
            {
                "nodes": [[1, 1, 1], [0, 1, 1]],
                "parent": [-1, 0],
                "branch": [0, -1],
                "support": [1],
                "gap": NEAR,
            },
        ],
    ),
    "decisions": (
        DECIDED,
        [
            {"gap": 0.25 - FALSE},
            {"nodes": [[1, 1, 1], [0, 1, 1]], "gap": NEAR},
            {"nodes": [[1, 1, 1], [1, 2, 1]], "gap": NEAR},
            {"nodes": [[1, 1, 1], [1, 2, 1]], "gap": LESS},
        ],
    ),
    "leaders": (
        LEADERS,
        [
            {"gap": 0.6 - FALSE},
            {
                "nodes": [[1, 1, 1], [2, 0, 1], [0, 2, 1]],
                "parent": [-1, 0, 0],
                "branch": [-2, -1, -1],
                "gap": 0.6 - FALSE,
            },
            {"m": 2, "k": 3, "gap": 0.25},
            {"kind": "separate", "counts": [2], "W": ONE, "gap": 0.9},
            {"required": [0], "nodes": [[2, 1, 1]]},
        ],
    ),
    "leaders of data alone": (
        shared(
            np.array([[25.0, 15, 0], [15, 25, 0], [0, 0, 25]]) / 128,
            1,
            2,
            [0, 2],
            0.6 + NEAR,
            nodes=OPEN,
            parent=[-1],
            branch=[-1],
            G_0=np.eye(3),
        ),
        [{"branch": [-2]}],
    ),
    "children of leaders": (
        NEIGHBOURS,
        [
            LESSER,
            LESSER | {"nodes": [[1, 1, 1, 1], [2, 1, 0, 1], [1, 2, 0, 1], [1, 0, 2, 1]]},
            LESSER | {"nodes": [[1, 1, 1, 1]], "parent": [-1], "branch": [-2]},
            {
                "nodes": [[1, 1, 1, 1], [1, 2, 1, 0], [1, 1, 2, 0]],
                "parent": [-1, 0, 0],
                "branch": [-2, -1, -1],
            },
            {
                "nodes": [*NEIGHBOURS["nodes"], [1, 1, 2, 0]],
                "parent": [-1, 0, 0, 0, 0],
                "branch": [-2, -1, -1, -1, -1],
            },
            {"nodes": [[1, 1, 1, 1], [2, 2, 1, 0], [1, 2, 1, 0], [1, 1, 2, 0]]},
            {"nodes": [[1, 1, 1, 1], [2, 1, 1, 0], [1, 2, 1, 0], [1, 1, 1, 0]]},
            {
                "forbidden": [1],
                "support": [0, 2, 3],
                "gap": 0.1,
                "nodes": [[1, 0, 1, 1], [2, 1, 1, 1]],
                "parent": [-1, 0],
                "branch": [-2, -1],
            },
            {"branch": [-1, -1, -1, -1]},
        ],
    ),
    "listed supports": (LISTED, [{"gap": LESS}, {"gap": 0.2}]),
    "listed supports of two": (
        TWINS,
        [{"support": [0, 2], "gap": 0.5 - FALSE}, {"k": 1, "support": [0, 1]}],
    ),
    "inherited arrays": (
        shared(D, 1, 1, [0], NEAR, **TREE, G_0=3 * np.eye(3), G_2=ROOT[:2]),
        [
            {"G_2": ROOT},
            {"G_1": ROOT[:2]},
            {"G_2": ROOT[:2], "Y_2": np.zeros((3, 3))},
            {"nodes": [[1, 1, 1], [2, 1, 1], [1, 1, 1]]},
        ],
    ),
    "no arrays at all": (shared(D, 1, 1, [0], NEAR), [{"support": [1], "gap": 0.1}]),
    "a witness alone": (shared(D, 1, 1, [1], RIGHT, s_0=5 + NEAR / 2), [{"s_0": 0.0, "H_0": ROOT}]),
    "counts": (
        PAIR_OF_ALL,
        [
            {"counts": np.array([2**62] * 2)},
            {"counts": np.array([2**63] * 2, dtype=np.uint64)},
            {"counts": np.array([128, 128], dtype=np.uint8)},
            {"counts": [2, 1]},
            {"counts": [0, 1]},
            {"counts": [1.0, 1.0]},
            {"counts": [True, True]},
            {"counts": [-1, 4]},
        ],
    ),
    "columns": (
        separate(D, [1], ONE, RIGHT),
        [{"gap": LESS}, {"W": ONE + 5e-324}, {"W": 0 * ONE}, {"W": ONE * np.nan}],
    ),
    "dependent columns": (
        separate(np.diag([1.0, 0.0, 0.0]), [1, 1], np.array([[1.0, 1], [0, 0], [0, 0]]), 1e-7),
        [
            {"A": np.diag([1.0, -5.0, -1.0])},
            {
                "A": np.diag([1.0, -5.0, -1.0]),
                "counts": [1, 2],
                "k": 3,
                "W": np.array([[1, 1], [0, 1e-9], [0, 0]]),
            },
            {"A": np.diag([1.0, -1e-3, -1e-3])},
        ],
    ),
    "orthonormal columns": (
        APART,
        [
            {"gap": LESS},
            {"orthonormal": 2},
            {"p_0": [0, 0, -5e-324]},
            {"Z_0": np.zeros((2, 2))},
            {"p_0": np.zeros(2)},
        ],
    ),
    "orthonormal to a hundred millionth": (
        separate(np.eye(2), [2, 2], np.array([[1.0, 0.99e-8], [0.0, 1.0]]), NEAR, orthonormal=1),
        [{"W": np.array([[1.0, 1.01e-8], [0.0, 1.0]])}, {"W": np.array([[1.0, 0], [0, 0]])}],
    ),
    "row sums": (
        changed(separate(D, [1], ONE, RIGHT, whole_0=2), orthonormal=1),
        [
            {"gap": LESS},
            *({"counts": [count], "k": 3, "gap": 0.0} for count in (2**52, 2**53, 2**62)),
            {"counts": np.array([2**63], dtype=np.uint64), "k": 3, "gap": 0.0},
        ],
    ),
    "what factors explain": (
        factors(D, [1], ONE, RIGHT, factors=ONE),
        [
            {"gap": LESS},
            {"factors": 0 * ONE},
            {"factors": ONE * np.nan},
            {"factors": ONE + [[1e-6], [0], [0]]},
            {"factors": np.ones((3, 2))},
            {"factors": np.array([[1.0], [0], [0]])},
            {"W": 0 * ONE},
        ],
    ),
    "factors that are not orthonormal": (  # they share what they explain: 2 / 1.75 of 1.75
        factors(TOGETHER, [1, 1], np.eye(2), 0.75 + NEAR, factors=np.eye(2)),
        [
            {"gap": 0.75 - FALSE},
            {"factors": np.ones((2, 2))},
            {"factors": np.array([[1.0, 1], [0, 0]])},
            {"factors": np.array([[1.0, 0], [0, 1e-3]])},
        ],
    ),
    "factors in their own unit": (
        factors(D, [1], ONE * 2.0**-1000, RIGHT, factors=ONE * 2.0**700),
        [{"gap": LESS}, {"factors": np.array([[1.0], [1], [0]]) * 2.0**-700}],
    ),
    "factors of what is semidefinite": (
        factors(np.diag([5.0, 4, 2.0**-70]), [1], ONE, RIGHT, factors=ONE),
        [
            {"A": np.diag([5.0, 4, -1e-6])},
            {"A": np.diag([1.0, 4, -9]), "gap": NEAR},
            {"A": np.array([[5.0, 0, 0], [0, 4, 3e-4], [0, 3e-4, 0]])},
        ],
    ),
    "levels": (
        LEVEL,
        [
            {"gap": 0.4 - FALSE},
            {"levels": [2.99]},
            {"levels": [3.01]},
            *({"levels": bad} for bad in ([-3.0], [0.0], [np.nan], [np.inf], [3.0, 3.0], 3.0)),
            {"R": [[0.51], [0], [0]]},
            {"R": [[0.0], [0.5], [0]]},
            {"R": [[0.5], [0]]},
            {"R": [[0.5, 0.5], [0, 0], [0, 0]], "levels": [3.0, 3.0]},
            {"R": [[2.0], [0], [0]], "levels": [0.1], "gap": 0.5},
        ],
    ),
    "entries of R": (
        changed(LEVEL, R=[[1.0], [0], [0]], gap=1 + 4 * NEAR),  # 10 / 3 times 3
        [
            {"R": [[1 + 2.0**-52], [0], [0]], "gap": 2.0},
            {"R": [[-1 - 2.0**-52], [0], [0]], "gap": 2.0},
        ],
    ),
    "one component of M": (
        TIMES,
        [
            {"gap": 1 / 7 - FALSE},
            {"k": 1},
            {"counts": [2, 1], "A": PLAIN + [[0, 1, 0], [1, 0, 0], [0, 0, 0]]},
            {"R": np.zeros((3, 1)), "levels": [0.0]},
            {"levels": [1.0]},
        ],
    ),
    "one component of data": (
        factors(
            X,
            [1, 1],
            FIRST,
            0.6 + NEAR,
            name="X",
            factors=FIRST / [2, 1],
            R=np.zeros((3, 0)),
            levels=np.zeros(0),
            whole_0=1,
        ),
        [
            {"gap": 0.6 - FALSE},
            {"whole_0": 2},
        ],
    ),
    "no entry is negative": (
        nonnegative(D, [3], np.array([[-0.0], [1.0], [0.0]]), RIGHT),
        [{"W": np.array([[-5e-324], [1.0], [0.0]])}, {"gap": LESS}],
    ),
    "no feature in two columns": (
        nonnegative(np.eye(3), [2, 2], np.array([[1.0, 0], [0, 1], [0, 0]]), NEAR),
        [
            {"W": np.array([[1.0, 5e-324], [0, 1], [0, 0]])},
            {"W": np.array([[1.0, 0], [0, 0], [0, 0]])},
        ],
    ),
    "rows in all": (nonnegative(D, [2], ONE, RIGHT, k=1), [{"W": np.array([[1.0], [1.0], [0.0]])}]),
    "what N adds": (
        nonnegative(SIGNS, [2], np.array([[1.0], [0.0]]), NEAR, N_0=np.array([[0, 1.0], [1, 0]])),
        [
            {"N_0": np.array([[0, 1.0], [1 - 2.0**-53, 0]])},
            {"A": np.abs(SIGNS)},
            {"N_0": np.array([[-1e-300, 1.0], [1, 0]])},
            {"A": np.diag([2.0, 2 + 1e-12])},
        ],
    ),
    "directions": (
        CUT,
        [
            {"gap": -0.1},
            {"directions": [[1.0, -1.0]]},
            {"branch": [3, -1, -1]},
            {"branch": [2, -1, 2]},
            {"nodes": [[1, 1], [1, 1], [1, 0]], "gap": 0.1},
            {"A": np.diag([2.0, 4.0]), "gap": 1 - FALSE},
        ],
    ),
    "eigenvectors with two signs": (
        nonnegative(
            SIGNS,
            [2],
            np.array([[1.0], [0.0]]),
            NEAR,
            nodes=[[1, 1]],
            parent=[-1],
            branch=[-1],
            G_0=2 * np.eye(2),
        ),
        [{"A": np.abs(SIGNS)}, {"A": np.array([[2, 1e-9], [1e-9, 2]])}, {"A": np.diag([2.0, 2.1])}],
    ),
    "W in its own unit": (
        nonnegative(np.diag([2.0, 1.0]), [2], np.array([[1.0], [0.0]]) * 2.0**-59, 1e-12),
        [
            {"W": np.array([[1.0], [0.999]]) * 2.0**-59},
            {"W": np.array([[1.0], [0.999]]) * 2.0**-1060},
            {
                "A": np.diag([2.0, 1.0]) * 2.0**1000,
                "W": np.array([[1.0], [0.9 * 2.0**-9]]) * 2.0**-565,
            },
        ],
    ),
    "a basis in its own unit": (
        separate(np.diag([2.0, 1.0]), [2], np.array([[1.0], [0.0]]) * 2.0**-59, 1e-12),
        [
            {"W": np.array([[1.0], [0.999]]) * 2.0**-59},
            {"W": np.array([[1.0], [0.999]]) * 2.0**-1060},
            {
                "A": np.diag([2.0, 1.0]) * 2.0**1000,
                "W": np.array([[1.0], [0.9 * 2.0**-9]]) * 2.0**-565,
            },
        ],
    ),
    "a scale without what is forbidden": (
        claim_of(
            "shared",
            np.diag([1.0, 2.0**-566, 2.0**-565]),
            1,
            1,
            NEAR,
            name="X",
            support=[2],
            forbidden=[0],
            whole_0=1,
        ),
        [{"support": [1], "gap": gap} for gap in (0.0, 1.0, 3 - 4 * FALSE)],
    ),
    "squares that are lost": (
        shared(np.diag([1.0, 2 * TINY, TINY]), 1, 1, [1], NEAR, forbidden=[0], G_0=ROOT[:2]),
        [
            {
                "A": np.array([[1, 0, 0], [0, TINY, TINY], [0, TINY, TINY]]),
                "k": 2,
                "support": [1],
                "gap": 0.5,
                "Y_0": np.array([[0, TINY], [TINY, 0]]),
            },
            {"support": [2], "gap": 1 - FALSE},
        ],
    ),
    "scales within a matrix": (
        shared(np.diag([1.0, TINY, TINY]), 1, 1, [0], NEAR),
        [{"support": [1], "gap": gap} for gap in (0.0, 1.0, 1e100)],
    ),
}
# which exact arithmetic does not follow
NOT_EXACT = {
    "few features", "rows on few features", "required beside the few", "few features below"
}  # fmt: skip
RULES |= {
    "prices": (
        PRICED,
        [
            {"prices": [[4.0, 3, -5e-324]]},
            {"prices": [[4.0, -3, 0]], "targets": [7.0]},
            {"prices": [4.0, 3, 0]},
            {"prices": [[4.0, 3]]},
            {"prices": [[np.inf, 3, 0]]},
            {"prices": [[np.nan, 3, 0]]},
            {"prices": [[4 - 4 * NEAR, 3, 0]]},
            {"prices": [[4.0, 3 + 30 * NEAR, 0]]},
            {"prices": np.zeros((0, 3))},
            {"A": np.diag([5.0, 4, 1.0 + 20 * NEAR])},
        ],
    ),
    "the sum of prices and targets": (
        changed(PRICED, W=np.array([[1.0, 0], [0, 0], [0, 1]]), gap=0.5 + NEAR),
        [{"gap": 0.5 - FALSE}, {"targets": [MORE], "gap": 0.4}, {"targets": [1 + 20 * NEAR]}],
    ),
    "targets of trees": (
        UNEQUAL,
        [
            {"targets": [1.5 + NEAR, 2 + NEAR]},
            {"targets": [1.5 + NEAR, 1.5 + NEAR]},
            {"targets": [2 + NEAR, 1.5 - NEAR]},
            {"targets": [2 + NEAR]},
            {"targets": [np.nan, 1.5]},
            {"targets": [2 + 20 * NEAR, 1.5]},
            {"trees": [[0, 1, 1], [0, 1, 2]]},
        ],
    ),
    "trees of a packing": (
        UNEQUAL,
        [
            {"trees": [[0, 1, 2], [0, 1, 2]], "targets": [2 + NEAR] * 2},
            {"trees": [[0, 1, 1], [0, 1, 1]], "targets": [1.5 + NEAR] * 2},
            {"trees": [[0, 1, 2], [-1, 1, 1]]},
            {"trees": [[0, 1, 2], [1, 1, 1]]},
            {"trees": [[0, 1, 2], [0, 0, 1]]},
            {"trees": [[0, 2, 2], [0, 1, 1]]},
            {"trees": [[0.0, 1, 2], [0, 1, 1]]},
            {"trees": [[0, 1], [0, 1]]},
            {"counts": [2, 2], "k": 4},
            {"counts": [2, 3], "k": 4},
        ],
    ),
    "rows of a packing": (
        IN_ALL,
        [
            {"k": 4},
            {"k": 4, "W": np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]), "gap": 0.0},
            {"W": np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])},
            {"prices": [[1.0, 1, 1, 1 - 20 * NEAR]]},
        ],
    ),
    "supports that share a feature": (
        IN_ALL,
        [
            {"W": np.array([[1.0, 0], [1, 5e-324], [0, 1], [0, 0]])},
            {"W": np.array([[1.0, 1], [1, 1], [0, 0], [0, 0]])},
            {"W": np.array([[1.0, 0], [1, 0], [1, 0], [0, 1]])},
            {"W": np.array([[1.0, 0], [1, 0], [0, 0], [0, 0]])},
            {"W": np.array([[1.0, np.nan], [1, 0], [0, 1], [0, 0]])},
        ],
    ),
    "columns that trees leave": (
        LEFT_OUT,
        [
            *({"columns": np.delete(LIST, i, axis=0)} for i in range(4)),
            {"columns": 2 * LIST},
            {"columns": LIST.astype(float)},
            {"columns": LIST[:, :3]},
            {"columns": LIST[0]},
            {"targets": [1.5 - 4 * NEAR]},
            {"targets": [1.5 + 30 * NEAR]},
            {"A": TRIANGLE + np.diag([0, 0, 0, 1e-11])},
        ],
    ),
    "columns behind a division": (  # a set is the same in whatever order its features come
        changed(
            LEFT_OUT,
            tree0_G_0=np.zeros((4, 0)),
            tree0_parent=[-1, 0, 0],
            tree0_nodes=[[1, 1, 1, 1], [1, 1, 2, 1], [1, 1, 0, 1]],
            tree0_branch=[2, -1, -1],
        ),
        [{"columns": np.delete(LIST, i, axis=0)} for i in range(3)],
    ),
    "families of columns": (
        changed(LEFT_OUT, columns=np.vstack([LIST, [0, 0, 1, 0], [0, 0, 1, 1], [1, 1, 1, 0]])),
        [
            {"A": PAIRS, "columns": np.vstack([LIST, [0, 0, 1, 1]])},
            {
                "counts": [2, 2, 1],
                "m": 3,
                "W": np.array([[1.0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]]),
            },
            {"counts": [1, 2]},
            {
                "gap": 0.0,
                "W": np.array([[1.0, 0], [1, 0], [0, 1], [0, 0]]),
                "A": TRIANGLE + np.diag([0, 0, 0, 1.0]),
            },
        ],
    ),
    "what comes first": (
        ONLY_FIRST,
        [
            {"W": np.array([[1.0, 0], [0, 0], [0, 1]]), "gap": 0.5 - FALSE},
            {"first_G_0": COSTS * (1 - 1e-12), "gap": 0.0},
            {"first_G_0": COSTS[:2]},
            {"first_nodes": OPEN},
            {"first_s_0": -1.0},
            {"A": np.diag([5.0, 4, 4.5])},
        ],
    ),
    "features that are dropped": (
        KEPT,
        [
            {"kept": [0, 2]},
            {"kept": [0, 1, 1]},
            {"kept": [0, -2]},
            {"kept": [0.0, 1.0]},
            {"kept": [0]},
            {"first_G_0": np.diag(np.sqrt([5.0, 4, 8]))},
            {"first_G_0": np.diag(np.sqrt([6.0, 5, 4.5])), "A": np.diag([5.0, 4, 4.5])},
            {"columns": [[0, 0, 1]]},
            {"tree0_G_0": ROOT},
        ],
    ),
    "dropped without a first node": (
        PRICED,
        [{"kept": [0, 1]}, {"kept": [0, 1], "tree0_G_0": ROOT[:2]}],
    ),
    "decisions at a price": (
        NET,
        [
            {"prices": [[3.9, 3, 0]]},
            {"tree0_nodes": [[1, 1, 1], [1, 0, 0]]},
            {"tree0_nodes": [[1, 1, 1], [2, 0, 1]]},
            {"tree0_nodes": [[0, 1, 1], [0, 0, 1]]},
            {"tree0_parent": [-1, -1]},
            {"tree0_parent": [-1, 1]},
            {"tree0_nodes": [[1, 1, 1], [0, 0, 0]]},
        ],
    ),
    "required at a price": (
        BELOW,
        [
            {"prices": [[4 - 20 * NEAR, 3, 0]]},
            {"A": np.diag([5 + 1e-11, 4, 1])},
            {"tree0_nodes": [[1, 1, 1], [0, 1, 1], [0, 1, 1]], "A": np.diag([6.0, 4, 1])},
            {"tree0_branch": [1, -1, -1]},
        ],
    ),
    "a packing without signs": (
        SIGNED,
        [
            {"nonnegative": 2},
            {"nonnegative": 0},
            {"nonnegative": 1.0},
            {"orthonormal": 1},
            {"A": np.abs(SIGNS)},
            {"W": np.array([[1.0], [-5e-324]])},
        ],
    ),
    "what N adds to a packing": (
        ADDED,
        [
            {"tree0_N_0": np.array([[0, 1.0], [1 - 2.0**-53, 0]])},
            {"tree0_N_0": np.array([[-1e-300, 1.0], [1, 0]])},
            {"A": np.abs(SIGNS)},
        ],
    ),
    "no N without nonnegative": (OF_SIGNS, [{"W": np.array([[1.0], [0]]), "targets": [2 + NEAR]}]),
    "blocks of components that overlap": (
        BLOCKS,
        [
            {"trees": [[0, 1, 2], [0, 1, 2]], "targets": [MORE, MORE]},
            {"trees": [[0, 1, 2], [1, 2, 3]]},
            {"trees": [[1, 1, 2], [1, 2, 2]]},
            {"trees": [[0, 1, 2], [0, 2, 2]]},
            {"targets": [1 + NEAR, 4 - 4 * NEAR]},
            {"orthonormal": 0},
            {"W": np.array([[1.0, 0], [1, 1e-6], [0, 1]])},
            {"nonnegative": 1},
            {"A": np.array([[2.0, 1, 0], [1, 2.1, 0], [0, 0, 1]])},
            {"counts": [3, 2]},
        ],
    ),
    "spectral prices": (
        SPECTRAL,
        [
            {"gap": 48.5 / 32 - 1},
            {"spectral_0": np.zeros((6, 1))},
            {"spectral_0": SPECTRAL["spectral_0"][:5]},
            {"spectral_0": 2 * SPECTRAL["spectral_0"]},
            {"counts": [5, 5]},
            {"columns": np.zeros((0, 6), dtype=int)},
            {"targets": [17.5, 45.0]},
        ],
    ),
    "rows of columns that share nothing": (
        packing(EVERY, [1, 1], TWO, NEAR, first_Y_0=EVERY),
        [{"orthonormal": 1}, {"counts": [2, 1], "k": 3}, {"counts": [1, 2], "k": 3}],
    ),
    "rows of nonnegative columns": (
        nonnegative(EVERY, [1, 1], TWO, NEAR, Y_0=EVERY),
        [{"counts": [2, 1], "k": 3}, {"kind": "separate"}],
    ),
}
FORGED = [(rule, number) for rule, (_, forged) in RULES.items() for number in range(len(forged))]


def arrays_of(claim):
    return {name: np.array(x) for name, x in claim.items()}


def among_twelve(claim):
    """The same claim where constant features stand before its own, so that there are twelve."""
    size = np.shape(claim["A"] if "A" in claim else claim["X"])[1]
    more, padded = 12 - size, dict(claim)
    if str(claim["kind"]) == "packing":
        return None  # its columns and trees would be others
    everywhere = sum(map(int, claim.get("counts", []))) > size  # nonzeros may be, and k allows it
    for field, x in claim.items():
        name, _, node = field.partition("_")
        if name in ("support", "required", "forbidden", "few", "branch") and x.dtype.kind in "iu":
            padded[field] = np.where((x >= 0) & (x < 100), x + x.dtype.type(more), x)
        elif field == "k":
            padded[field] = x + more * (x > size or (x == size and everywhere))
        elif name in ("W", "G", "H", "p", "factors", "R"):
            padded[field] = np.pad(x, [(more, 0), (0, 0)][: x.ndim])
        elif name == "A" or (name in ("Y", "Z", "N") and f"few_{node}" not in claim):
            padded[field] = np.pad(x, (more, 0))
        elif name in ("X", "directions", "nodes"):
            padded[field] = np.pad(x, [(0, 0), (more, 0)], constant_values=int(name == "nodes"))
    return padded


@pytest.mark.parametrize("rule", RULES)
def test_an_honest_claim_beside_a_rule_is_taken(rule):
    exact = rule not in NOT_EXACT
    claim = arrays_of(RULES[rule][0])
    wider = among_twelve(claim)
    if claim["kind"] == "factors":  # its margins are of sums over all features
        wider["gap"] = wider["gap"] + 10 * NEAR
    for each in (claim, wider) if wider else (claim,):
        assert verdicts(each) == (True, exact, True), (check(each), check(each, exact=True))


@pytest.mark.parametrize(("rule", "number"), FORGED)
def test_a_false_claim_against_a_rule_is_refused(rule, number):
    honest, forged = RULES[rule]
    claim = arrays_of({**honest, **forged[number]})
    wider = among_twelve(claim)
    for each in (claim, wider) if wider else (claim,):
        assert verdicts(each) == (False, False, False)


@pytest.mark.parametrize("kind", ["O", "V", "S", "M", "m", "g"])
def test_no_other_type_of_numbers_is_read(kind):
    claim = arrays_of(shared(D, 1, 1, [0], NEAR))
    claim["A"] = np.zeros((3, 3), dtype=[("x", "f8")]) if kind == "V" else D.astype(
        {"M": "M8[s]", "m": "m8[s]"}.get(kind, kind))  # fmt: skip
    assert not check(claim).holds
    assert not check(claim, exact=True).holds


def test_a_matrix_that_is_given_must_be_the_one_that_is_carried():
    claim = arrays_of(shared(D, 1, 1, [0], NEAR))
    assert check(claim, A=D).holds
    for given in ({"A": 2 * D}, {"X": np.sqrt(D)}, {"A": D, "X": np.sqrt(D)}, {"A": D[:2]}):
        assert "given" in check(claim, **given).reason


def test_a_name_that_stands_twice_in_a_file_is_refused(tmp_path):
    path, claim = tmp_path / "claim.npz", arrays_of(shared(D, 1, 1, [0], NEAR))
    np.savez(path, **claim)
    assert check(path).holds
    other = BytesIO()
    np.save(other, np.eye(3))
    for name in ("A.npy", "A"):  # numpy reads each of them as A
        np.savez(path, **claim)
        with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of zipfile, which finds it strange too
            archive.writestr(name, other.getvalue())
        assert "twice" in check(path).reason
        with pytest.raises(second_checker.Refused):
            second_checker.check(path)


def test_a_claim_that_changes_while_it_is_read_is_read_once():
    class Changing(dict):
        def __getitem__(self, name):
            value = super().__getitem__(name)
            if name == "W":
                self[name] = ONE  # honest where it is looked at again
            return value

    claim = Changing(arrays_of(separate(D, [1], np.ones((3, 1)), RIGHT)))
    assert not check(claim).holds


SIDES = (second_checker.at_least, second_checker.at_most)
NEARLY = [
    np.zeros((3, 3)),
    np.ones((4, 4)),
    np.eye(5)[::-1],  # whose first pivot is zero
    np.diag([1.0, 1.0, 1.0, -1.0]),
    np.diag([1.0, 2.0**-70, -(2.0**-70)]),
    np.array([[2.0**-60, 1.0], [1.0, 0.0]]),
    np.array([[3.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 3.0]]),  # 3 is an eigenvalue and a pivot
    *(np.add.outer(x, x) for x in np.random.default_rng(0).standard_normal((5, 7))),
]


@pytest.mark.parametrize("B", NEARLY, ids=range(len(NEARLY)))
@pytest.mark.parametrize("scale", [1.0, 2.0**-500, 2.0**500])
def test_the_second_checkers_bounds_of_eigenvalues_are_near_and_on_their_side(B, scale):
    M = [[Fraction(x) for x in row] for row in scale * B]
    size = np.abs(B).max()
    for m in range(1, len(B) + 1):
        sum_of_them = np.linalg.eigvalsh(B)[-m:].sum()
        below, above = (float(f(M, m) / Fraction(scale)) for f in SIDES)
        assert below < above or not size
        # numpy and the guesses miss by some roundings of the norm, at most m entries each
        assert below <= sum_of_them + 1e-14 * size <= above + 2e-14 * size
        assert above - below <= 1e-13 * m * size


def small(seed):
    """A covariance of 3 to 12 features, of many kinds and scales, with m and k."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(3, 13))
    m = int(rng.integers(1, 3))
    k = int(rng.integers(m, d))
    rank = int(rng.integers(1, d + 1))
    B = rng.standard_normal((rank, d)) * 2.0 ** rng.integers(-3, 4, d)
    A = B.T @ B * 2.0 ** int(rng.integers(-30, 30))
    return (A + A.T) / 2, m, k


SOLVERS = {
    "shared": solve,
    "factors": solve_separate,
    "separate": lambda A, m, k: solve_separate(A, m, k, score="subspace"),
    "orthonormal": lambda A, m, k: solve_separate(A, m, k, orthonormal=True),
    "nonnegative": solve_nonnegative,
}
FRESH = 500  # answers of each solver, in parts of 50


@pytest.mark.parametrize("kind", SOLVERS)
def test_both_checkers_take_a_fresh_answer(kind):
    fresh_answers(kind, range(3))


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(FRESH // 50))
@pytest.mark.parametrize("kind", SOLVERS)
def test_both_checkers_take_fresh_answers_by_night(kind, part, record_property):
    record_property("claims", fresh_answers(kind, range(50 * part, 50 * part + 50)))


def fresh_answers(kind, seeds):
    """Check the claims of answers with each arithmetic; return how many answers had one."""
    claims = 0
    for seed in seeds:
        A, m, k = small(seed)
        answer = SOLVERS[kind](A, m, k)
        if answer.certificate is None:
            continue
        claims += 1
        claim = arrays_of({**answer.certificate, "A": A})
        assert check(claim).holds, (seed, check(claim))
        if seed % 10 == 0:
            assert second_holds(claim), seed
    return claims


def made_and_shaken(count, seed):
    """Of claims that are made, and shaken, the second checker takes all that the first takes."""
    rng = np.random.default_rng(seed)
    makers = (honest_bound, honest_tree, honest_of_components, cut_claim,
              lambda rng: wide_claim(rng)[0], honest_few)  # fmt: skip
    taken = 0
    for number in range(count):
        if number % 10 == 0:
            claim = makers[number // 10 % len(makers)](rng)
            claim.pop("sha256", None)  # which binds it to the matrix without more features
            wider = among_twelve(arrays_of(claim))  # a bound may be worse, or k larger
            claim = wider if number % 20 and check(wider).holds else claim
        trial = forged(claim, rng) if number % 10 else claim
        verdict = check(trial)
        assert verdict.holds or number % 10, verdict
        if verdict.holds:
            taken += 1
            assert second_holds(trial), (number, trial)
    return taken


@pytest.mark.filterwarnings("ignore")  # a shaken array may warn when it is made
def test_the_second_checker_takes_what_the_first_takes():
    assert made_and_shaken(200, 0) > 20


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(1, 6))
def test_the_second_checker_takes_what_the_first_takes_by_night(seed, record_property):
    record_property("claims", made_and_shaken(2000, seed))


def instances():
    """The library's instances of at most 30 features that carry their matrix."""
    folder = PAGE.parent.parent.parent / "data" / "instances"
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            if "A" in file and len(file["A"]) <= 30:
                yield path.stem


@pytest.mark.parametrize("name", ["pitprops_3_5", "wine_2_10"])
def test_both_checkers_take_an_instance(name):
    path = PAGE.parent.parent.parent / "data" / "instances" / f"{name}.npz"
    assert second_checker.check(path) == pytest.approx(check(path).value, rel=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize("name", instances())
def test_both_checkers_take_an_instance_by_night(name):
    path = PAGE.parent.parent.parent / "data" / "instances" / f"{name}.npz"
    assert second_checker.check(path) == pytest.approx(check(path).value, rel=1e-12)


def test_the_page_names_each_rule_that_is_attacked():
    table = re.findall(r"^\| ([^|]+) \| \d+ \|$", PAGE.read_text(), flags=re.MULTILINE)
    assert sorted(table) == sorted(RULES)
