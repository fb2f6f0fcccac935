"""Claims made small: their arrays rounded as far as every step of the proof still holds.

A node needs its arrays for one thing: to be closed, or to let its children decide features.  So
each is rounded to the coarsest multiples of a power of two with which it still does that.
"""

from contextlib import suppress

import numpy as np

from fspca.check_certificate import (
    KINDS,
    Floating,
    Matrix,
    Node,
    Refused,
    bound_node,
    check,
    decisions,
    find_arrays,
    listed_one_by_one,
    shared_bound,
)
from fspca.proof.checked import on_rows
from fspca.proof.search import PROOF

ARRAYS = ("G", "Y", "whole")  # that a node of one support without witnesses may have
PLACES = range(2, 26)  # binary, below the bound of one component
SPARE = 0.1  # of a gap that is left: the proof may lose so much
FEW = 20_000  # supports of a node that are looked at with arrays that are not its own
LARGE = 100_000  # bytes: of a larger tree that proves no optimum, nodes before its first division


class Proof:
    """A claim of one support without data or witnesses, and the arithmetic of the checker."""

    def __init__(self, claim, A):
        self.claim, self.A, self.m, self.k = claim, A, int(claim["m"]), int(claim["k"])
        self.numbers = Floating(A, False, [])
        self.matrix = Matrix(A, False, self.numbers)
        block, error = self.matrix.block(np.sort(claim["support"]))
        self.value = self.numbers.top_sums(block[None], self.m, error)[0][0]
        self.target = self.numbers.target(self.value, claim["gap"])
        self.states = claim.get("nodes", np.ones((1, len(A)), dtype=np.int8))
        self.parent = claim.get("parent", np.array([-1]))
        self.branch = claim.get("branch", np.array([-1]))

    def arrays_of(self, t):
        """The arrays of a node, by name."""
        return {x: self.claim[f"{x}_{t}"] for x in ARRAYS if f"{x}_{t}" in self.claim}

    def above(self, t):
        """The arrays that a node has if it has none of its own: those of the nearest above it."""
        rows, p = np.flatnonzero(self.states[t]), self.parent[t]
        while not self.arrays_of(p):
            p = self.parent[p]
        before = np.flatnonzero(self.states[p])
        return on_rows(self.arrays_of(p), before, np.searchsorted(before, rows))

    def bounded(self, t, arrays):
        """Return the node and (rest, c, bound) of it by these arrays."""
        state, named = self.states[t], {f"{name}_{t}": x for name, x in arrays.items()}
        rows = KINDS["shared"].arrays
        found = find_arrays(named, t, int((state > 0).sum()), 0, self.numbers, rows)
        node = Node(state, self.matrix, found)
        return node, bound_node(node, self.numbers, self.m, self.k, shared_bound)

    def does(self, t, arrays):
        """Say whether a node is closed by these arrays, or decides what its children take."""
        node, (rest, c, bound) = self.bounded(t, arrays)
        if bound <= self.target:
            return True
        inside, outside = decisions(c, node.required, self.k, bound, self.target)
        children = np.flatnonzero(self.parent == t)
        for i in children:
            child = self.states[i, node.rows]
            changed = (child != self.states[t, node.rows]) & (node.rows != self.branch[t])
            if np.any(changed & ~np.where(child == 2, inside, outside)):
                return False
            if not self.arrays_of(i):  # it takes these
                left = np.flatnonzero(child)
                if not self.does(i, on_rows(arrays, node.rows, left)):
                    return False
        if not len(children):
            limits = {"m": self.m, "k": self.k, "target": self.target, "left": FEW}
            with suppress(Refused):
                listed_one_by_one(node, self.numbers, c, rest, **limits, kind=KINDS["shared"])
                return True
        return len(children) > 0

    def dropped(self):
        """Return the claim without the arrays of nodes for which those above them do."""
        for t in reversed(range(1, len(self.states))):
            if self.arrays_of(t) and self.does(t, self.above(t)):
                own = {f"{name}_{t}" for name in ARRAYS}
                self.claim = {x: v for x, v in self.claim.items() if x not in own}
        return self.claim

    def rounded(self, t, scale):
        """Return the arrays of a node, each as coarse as it may be beside the other."""
        arrays, found = self.arrays_of(t), {}
        if "whole" in arrays:
            return arrays
        for names in ("GY", "Y", "G"):
            for places in PLACES if names == "GY" else reversed(range(-9, PLACES[-1])):
                tried = found | {
                    x: multiples(v, scale, places, x) for x, v in arrays.items() if x in names
                }
                holds = len(tried) == len(arrays) and self.does(t, tried)
                found = tried if holds else found
                if holds == (names == "GY"):
                    break
        return found or arrays


def lighter(claim, A, least=0.0):
    """Return the claim with rounded arrays, which the checker accepts, or as it was.

    The proof may lose a share of a gap that is left, and so much of the bound in any case.
    """
    gap, scale = float(claim["gap"]), A.diagonal().max()
    claim = claim | {"gap": gap + max(SPARE * gap if gap > 10 * PROOF else 0.0, least)}
    proof = Proof(claim, A)
    found = dict(proof.dropped())
    for t in range(len(proof.states)):
        if proof.arrays_of(t):
            small = proof.rounded(t, scale)
            found |= {f"{name}_{t}": x for name, x in small.items()}
    return found if check(found | {"A": A}).holds else claim


def multiples(x, scale, places, name):
    """Round to multiples of a power of two, in half precision where that holds them."""
    unit = 2.0 ** (np.round(np.log2(scale) / (2 if name == "G" else 1)) - places)
    x = np.round(np.asarray(x, dtype=float) / unit) * unit
    x = x[:, x.any(axis=0)] if name == "G" else x
    with np.errstate(over="ignore"):
        half = x.astype(np.float16)
    return half if np.array_equal(half, x) else x.astype(np.float32)


def first_of(claim, A):
    """Return the claim of the nodes before the first division, with the gap that they prove."""
    divided = int(np.argmax(claim["branch"] >= 0))
    last = max(t for t in range(divided + 1) if any(f"{name}_{t}" in claim for name in ARRAYS))
    later = {f"{name}_{t}" for name in ARRAYS for t in range(last + 1, len(claim["nodes"]))}
    kept = {x: v for x, v in claim.items() if x not in later}
    kept |= {"nodes": claim["nodes"][: last + 1], "parent": claim["parent"][: last + 1]}
    kept["branch"] = np.full(last + 1, -1)
    proof = Proof(kept, A)
    _, (_, _, bound) = proof.bounded(last, proof.arrays_of(last))
    return kept | {"gap": (bound / proof.value - 1) * (1 + 1e-12) + 1e-15}
