"""Best first: the search of the exact solvers, and its tree, which proves what it found.

A part is what a node of the tree leaves open.  The open part with the largest bound is taken first,
and that bound is valid for the whole tree, so an interruption loses nothing.
"""

from abc import ABC, abstractmethod
from functools import lru_cache
from heapq import heappop, heappush
from itertools import chain, combinations, count
from math import comb
from typing import Any, NamedTuple

import numpy as np

from fspca.check_certificate import LISTED

PROOF = 1e-9  # relative: bounds this close to the value prove it


class Part(NamedTuple):
    """The features that an answer may use, those that it must, its relaxation, its place."""

    rows: np.ndarray
    required: Any
    state: Any
    place: int


class Tree(ABC):
    """The best answer, the parts that are open, and the nodes as the checker will read them."""

    one_by_one = 30_000  # supports of a node that are looked at so
    smaller = False  # whether those of fewer than k features are too

    def __init__(self, size, k, gap, run):
        self.size, self.k, self.gap, self.run, self.left = size, k, gap, run, LISTED
        self.value, self.answer, self.stuck = -np.inf, None, -np.inf
        self.heap, self.tickets, self.nodes, self.history = [], count(), 0, []
        self.states, self.parent, self.branch, self.arrays = [], [], [], {}

    @abstractmethod
    def opened(self, part):
        """Bound a part and decide what can be decided; return (bound, part) of what is left."""

    @abstractmethod
    def look(self, supports):
        """Offer the best on these supports; return whether none can be above the target."""

    def keep(self, value, answer):
        """Keep an answer if it is better."""
        if value > self.value:
            self.value, self.answer = value, answer

    @property
    def target(self):
        """A bound up to here closes a node."""
        return self.value * (1 + self.gap) + PROOF * self.value

    @property
    def bound(self):
        """Nothing explains more."""
        return max(self.target, self.stuck, *(-bound for bound, _, _ in self.heap[:1]))

    def place(self, rows, required, parent):
        """Write a node down and return its number."""
        state = np.zeros(self.size, dtype=np.int8)
        state[rows], state[required] = 1, 2
        self.states.append(state)
        self.parent.append(parent)
        self.branch.append(-1)
        return len(self.states) - 1

    def push(self, parts):
        """Leave parts open, each with its bound."""
        for bound, part in parts:
            heappush(self.heap, (-bound, next(self.tickets), part))

    def search(self):
        """Open the part with the largest bound until none is above the target."""
        for _ in self.run:
            self.history.append(self.value)
            parts = self.opened(self.heap[0][2])
            heappop(self.heap)  # not before: an interruption loses nothing
            self.nodes += 1
            self.push(parts)
            self.run.tell(self.value, self.bound)
            if not self.heap or -self.heap[0][0] <= self.target:
                self.run.stop("gap reached" if self.bound <= self.target else "parts left open")

    def listed(self, rows, required, rest, c):
        """Look at supports one by one; False if they are too many, or one stays open.

        A support I explains at most rest + c(I); `required` says which of the rows it must have.
        """
        fixed, free = np.flatnonzero(required), np.flatnonzero(~required)
        most = max(0, min(self.k - len(fixed), len(free)))
        sizes = range(0 if self.smaller else most, most + 1)
        number, closed = sum(comb(len(free), size) for size in sizes), True
        if number > min(self.one_by_one, self.left):
            return False
        for size in sizes:
            chosen = free[choices(len(free), size)]
            supports = np.hstack([np.broadcast_to(fixed, (len(chosen), len(fixed))), chosen])
            supports = supports[rest + c[supports].sum(axis=1) > self.target]
            if supports.size:
                closed &= self.look(rows[supports])
        self.left -= number if closed else 0
        return closed

    @property
    def proof(self):
        """The tree as far as it is grown, in the words of a claim."""
        arrays = {f"{x}_{t}": v for t, kept in self.arrays.items() for x, v in kept.items()}
        facts = {"nodes": self.states, "parent": self.parent, "branch": self.branch}
        return {name: np.array(fact) for name, fact in facts.items()} | arrays


@lru_cache(maxsize=32)
def choices(n, r):
    """Return all choices of r out of n, one a row."""
    flat = chain.from_iterable(combinations(range(n), r))
    return np.fromiter(flat, dtype=np.intp, count=r * comb(n, r)).reshape(comb(n, r), r)
