"""The tree of a search over nonnegative supports, written down as the checker will read it."""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from fspca.check_certificate import LISTED, VERSION, none_positive
from fspca.nonnegative.low_rank import answer, ascend, keep_positive
from fspca.nonnegative.relaxation import Ground, State
from fspca.running import Run

PROOF = 1e-9  # relative: bounds this close to the value prove it
ONE_BY_ONE = 2000  # supports of a node that are looked at one by one


class Part(NamedTuple):
    """A part of the search: features that may be positive, those that must, its place."""

    rows: np.ndarray
    required: np.ndarray
    state: State
    place: int


class Tree:
    """The best answer, and the nodes as the checker will read them."""

    def __init__(self, A, k, gap, run):
        self.A, self.k, self.gap, self.run, self.left = A, k, gap, run, LISTED
        self.ground = Ground(A.submatrix(np.arange(A.size)), 1, k)
        self.value, self.x, self.stuck = -np.inf, None, -np.inf
        self.states, self.parent, self.branch, self.arrays = [], [], [], {}

    def offer(self, x):
        """Keep a component, improved by the rank-1 rule, if it is better."""
        x = ascend(self.A, keep_positive(x, self.k), self.k, Run(1000))
        x = answer(self.A, self.k, x, "").W[:, 0]
        value = float(x @ self.A.product(x[:, None])[:, 0])
        if value > self.value:
            self.value, self.x = value, x

    @property
    def target(self):
        """A bound up to here closes a node."""
        return self.value * (1 + self.gap) + PROOF * self.value

    def place(self, rows, required, parent):
        """Write a node down and return its number."""
        state = np.zeros(self.A.size, dtype=np.int8)
        state[rows], state[rows[required]] = 1, 2
        self.states.append(state)
        self.parent.append(parent)
        self.branch.append(-1)
        return len(self.states) - 1

    def claim(self, bound):
        """The tree, as a claim that lacks only its matrix: nothing explains more than the bound."""
        arrays = {f"{x}_{t}": v for t, kept in self.arrays.items() for x, v in kept.items()}
        tree = {"nodes": np.array(self.states), "parent": self.parent, "branch": self.branch}
        gap = max(bound / self.value - 1, 0.0) + PROOF if self.value > 0 else 0.0
        asked = {"version": VERSION, "kind": "nonnegative", "m": 1, "k": self.k, "gap": gap}
        return asked | {"W": self.x[:, None], "counts": [self.k]} | tree | arrays


def listed(tree, part, bound):
    """Look at the supports of a part one by one; False if they are too many, or one stays open."""
    fixed, free = np.flatnonzero(part.required), np.flatnonzero(~part.required)
    most = min(tree.k - len(fixed), len(free))
    number = sum(comb(len(free), size) for size in range(most + 1))
    if number > min(ONE_BY_ONE, tree.left):
        return False
    numbers, closed = tree.ground.numbers, True
    target = np.ldexp(tree.target, 2 * numbers.shift)
    for size in range(most + 1):
        chosen = np.array(list(combinations(free, size)), dtype=int)
        chosen = chosen.reshape(comb(len(free), size), size)
        supports = np.hstack([np.broadcast_to(fixed, (len(chosen), len(fixed))), chosen])
        over = bound.rest + bound.c[supports].sum(axis=1) > tree.target
        supports = part.rows[supports[over]]
        if not supports.size:
            continue
        blocks = tree.ground.full[supports[:, :, None], supports[:, None, :]]
        values, vectors = np.linalg.eigh(blocks)
        x, i = np.zeros(tree.A.size), int(np.argmax(values[:, -1]))
        x[supports[i]] = vectors[i, :, -1] * np.sign(vectors[i, :, -1].sum())
        tree.offer(x)
        target = np.ldexp(tree.target, 2 * numbers.shift)
        blocks = np.ldexp(blocks, 2 * numbers.shift)[values[:, -1] > tree.target * (1 - PROOF)]
        if len(blocks):
            closed &= all(none_positive(blocks, [0.0] * len(blocks), 1, target, numbers))
    tree.left -= number if closed else 0
    return closed
