"""Claims made small: their arrays rounded as far as every step of the proof still holds.

A node needs its arrays for one thing: to be closed, or to let its children decide features.  So
each is rounded to the coarsest multiples of a power of two with which it still does that.
"""

import numpy as np

from fspca.best_first import PROOF
from fspca.check_certificate import (
    KINDS,
    Floating,
    Matrix,
    Node,
    bound_node,
    check,
    decisions,
    find_arrays,
    shared_bound,
)

PLACES = range(2, 26)  # binary, below the bound of one component
SPARE = 0.1  # of a gap that is left: the proof may lose so much
LEAST = 3e-4  # that it may lose where nothing was searched, of more features than this
UNSEARCHED = 150
LARGE = 100_000  # bytes: of a larger tree that proves no optimum, nodes before its first division


class Proof:
    """A claim of one support without data or witnesses, and the arithmetic of the checker."""

    def __init__(self, claim, A):
        self.claim, self.m, self.k = claim, int(claim["m"]), int(claim["k"])
        self.numbers = Floating(A, False, [])
        self.matrix = Matrix(A, False, self.numbers)
        block, error = self.matrix.block(np.sort(claim["support"]))
        self.value = self.numbers.top_sums(block[None], self.m, error)[0][0]
        self.states = claim.get("nodes", np.ones((1, len(A)), dtype=np.int8))
        self.parent = claim.get("parent", np.array([-1]))
        self.branch = claim.get("branch", np.array([-1]))

    def arrays_of(self, t):
        """The arrays of a node, by name."""
        return {x: self.claim[f"{x}_{t}"] for x in "GY" if f"{x}_{t}" in self.claim}

    def bounded(self, t, arrays):
        """Return the node and (rest, c, bound) of it by these arrays."""
        state, named = self.states[t], {f"{name}_{t}": x for name, x in arrays.items()}
        rows = KINDS["shared"].arrays
        found = find_arrays(named, t, int((state > 0).sum()), 0, self.numbers, rows)
        node = Node(state, self.matrix, found)
        return node, bound_node(node, self.numbers, self.m, self.k, shared_bound)

    def does(self, t, arrays, target):
        """Say whether a node is closed by these arrays, or decides what its children take."""
        node, (_, c, bound) = self.bounded(t, arrays)
        if bound <= target:
            return True
        inside, outside = decisions(c, node.required, self.k, bound, target)
        children = np.flatnonzero(self.parent == t)
        for i in children:
            child = self.states[i, node.rows]
            changed = (child != self.states[t, node.rows]) & (node.rows != self.branch[t])
            if np.any(changed & ~np.where(child == 2, inside, outside)):
                return False
            if not self.arrays_of(i):  # it takes these
                left = np.flatnonzero(child)
                below = {x: v[left][:, left] if x == "Y" else v[left] for x, v in arrays.items()}
                if not self.does(i, below, target):
                    return False
        return len(children) > 0


def lighter(claim, A):
    """Return the claim with rounded arrays, which the checker accepts, or as it was."""
    gap = float(claim["gap"])
    spare = SPARE * gap if gap > 10 * PROOF else 0.0
    if "nodes" not in claim and len(A) > UNSEARCHED:
        spare = max(spare, LEAST)
    claim = claim | {"gap": gap + spare}
    proof, found = Proof(claim, A), dict(claim)
    target = proof.numbers.target(proof.value, claim["gap"])
    scale = A.diagonal().max()
    for t in range(len(proof.states)):
        arrays = proof.arrays_of(t)
        for places in PLACES if arrays else ():
            rounded = {name: multiples(x, scale, places, name) for name, x in arrays.items()}
            if proof.does(t, rounded, target):
                found |= {f"{name}_{t}": x for name, x in rounded.items()}
                break
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
    last = max(t for t in range(divided + 1) if f"G_{t}" in claim)
    kept = {x: v for x, v in claim.items() if x[:2] not in ("G_", "Y_") or int(x[2:]) <= last}
    kept |= {"nodes": claim["nodes"][: last + 1], "parent": claim["parent"][: last + 1]}
    kept["branch"] = np.full(last + 1, -1)
    proof = Proof(kept, A)
    _, (_, _, bound) = proof.bounded(last, proof.arrays_of(last))
    return kept | {"gap": (bound / proof.value - 1) * (1 + 1e-12) + 1e-15}
