"""Best first: the search of the exact solvers, and its tree, which proves what it found.

A part is what a node of the tree leaves open.  The open part with the largest bound is taken first,
and that bound is valid for the whole tree, so an interruption loses nothing.

A part is processed in the same way for every problem: its relaxation is followed until it closes
the part, is late, or decides much; what it proves decides features; the supports of what is left
are enumerated where they are few; otherwise the relaxation goes on without what was decided, or the
part is divided.  A problem says how a part is relaxed, proven, enumerated and divided.
"""

from abc import ABC, abstractmethod
from functools import lru_cache
from heapq import heappop, heappush
from itertools import chain, combinations, count
from math import comb
from typing import Any, NamedTuple

import numpy as np

from fspca.check_certificate import LISTED, decisions
from fspca.proof.checked import on_rows

PROOF = 1e-9  # relative: bounds this close to the value prove it
SHARE = 0.1  # of the free features, which must be decided for the relaxation to begin again
INHERITED = 1 + 1e-12  # a bound holds for the parts of its node, rounding apart


class Part(NamedTuple):
    """The features that an answer may use, ascending, a mask of those that it must, and the rest.

    That is where the relaxation of the part stands, and the number of its node.
    """

    rows: np.ndarray
    required: np.ndarray
    state: Any
    place: int


class Left(NamedTuple):
    """A part with how much of each feature its relaxation wants, and the costs of each."""

    part: Part
    z: np.ndarray
    c: np.ndarray


class Pace(NamedTuple):
    """How long the relaxation of a part is followed."""

    budget: int  # steps
    patience: float  # the least share of what is missing that `window` steps must gain
    window: int
    reprieve: int = 1  # times the budget, as long as the part is bounded no better than its parent


class Walk:
    """The relaxation of a part, as far as it was followed, and the best that it has found."""

    def __init__(self, tree, part, pace, steps=0):
        self.tree = tree
        self.part = part
        self.pace = pace
        self.steps = steps  # of all relaxations of the node
        self.since = 0  # of this one
        self.last_look = np.inf  # the bound where a window of steps last ended
        self.late = False  # whether it ended for want of time or progress
        self.enough = False  # whether it ended as many features are decided
        self.best = None
        self.source = tree.relax(part)

    @property
    def bound(self):
        """The least bound so far, in A's unit; what the checker proves may differ by rounding."""
        return self.best.bound * self.tree.scale

    def follow(self, inherited_bound):
        """Go on until the part is closed, it is `late`, or `enough` features are decided."""
        while True:
            self.advance()
            closes = self.bound <= self.tree.target
            looks = self.since % self.tree.looks_every == 0
            self.late = not closes and looks and self.is_late(inherited_bound)
            if not closes and looks:
                self.tree.round_on_the_way(self)
            if self.changed_relaxation(closes):
                continue
            if not (closes or looks):
                continue
            self.enough = self.decides_enough()
            if closes or self.late or self.enough:
                return

    def advance(self):
        """Take the next bound of the relaxation."""
        self.found = next(self.source)
        self.tree.spend(self.found)
        self.steps += 10
        self.since += 10
        if self.best is None or self.found.bound < self.best.bound:
            self.best = self.found

    def is_late(self, inherited_bound):
        """Whether the budget is spent, or too little was gained since `last_look`; sets that."""
        at = self.bound
        gains = at < inherited_bound
        budget = self.pace.budget * (1 if gains else self.pace.reprieve)
        spent = self.steps >= budget or self.tree.run.seconds_left == 0
        if self.since % self.pace.window:
            return spent
        missing = at - self.tree.target
        slow = gains and self.last_look - at < self.pace.patience * missing
        self.last_look = at
        return spent or slow

    def changed_relaxation(self, closes):
        """Begin another relaxation of the part, where one is due; return whether it did."""
        return False

    def decides_enough(self):
        """Whether the best bound would decide so much that the relaxation should begin again."""
        tree, required, best = self.tree, self.part.required, self.best
        target = tree.target / tree.scale
        decided = np.sum(decisions(best.c, required, tree.k, best.bound, target))
        return decided >= max(tree.least_decided, SHARE * np.count_nonzero(~required))


def handed_down(bound):
    """A bound as the parts of its node have it; beyond prices it may be near 0 or below."""
    return bound + (INHERITED - 1) * abs(bound)


class Tree(ABC):
    """The best answer, the parts that are open, and the nodes as the checker will read them."""

    most_enumerated = 30_000  # supports of a node: they take as long as a relaxation
    smaller = False  # whether those of fewer than k features are too
    looks_every = 10  # steps after which a walk is looked at: decisions cost a sort
    least_decided = 0  # features, so that it pays to begin again
    scale = 1.0  # of the relaxation's bounds

    def __init__(self, size, k, gap, run):
        self.size = size
        self.k = k
        self.gap = gap
        self.run = run
        self.to_enumerate = LISTED
        self.value = -np.inf
        self.answer = None
        self.unresolved_bound = -np.inf
        self.heap = []
        self.tickets = count()
        self.nodes = 0
        self.history = []
        self.states = []
        self.parent = []
        self.branch = []
        self.arrays = {}

    @abstractmethod
    def evaluate(self, supports):
        """Propose the best on these supports; return whether none can be above the target."""

    @abstractmethod
    def relax(self, part):
        """Yield what the relaxation of a part finds, after every ten steps, for ever."""

    @abstractmethod
    def walk(self, part, steps=0):
        """Return a Walk of a part, in whose node so many steps were taken already."""

    @abstractmethod
    def inherited(self, part):
        """Return the bound that the part in hand, first in the heap, has from the nodes above."""

    def prove(self, walk, inherited_bound):
        """Return the Bound of a walk's best, as SignedFound has it, and `keep` its arrays."""
        # What is Found without a proof is proven by whoever overrides this.
        return self.keep(walk.part, walk.best.proven, inherited_bound)

    def keep(self, part, proven, inherited_bound):
        """Return a Bound of a part; its arrays stay if it is below the one inherited."""
        if proven.value < inherited_bound:
            self.arrays[part.place] = proven.arrays
        return proven

    @abstractmethod
    def divided(self, part, z, bound):
        """Return (bound, part) pairs that together hold every support of a part; none of one."""

    def settled(self, part):
        """Whether a part is closed at once, as its few supports, if any, were enumerated here."""
        # They are counted off `to_enumerate`.
        return False

    def is_one_support(self, part):
        """Whether a part has one support, so that there is nothing to relax."""
        return False

    def round_on_the_way(self, walk):
        """Propose what a walk suggests, now and then."""
        return None

    def round_at_the_end(self, walk):
        """Propose what a walk suggests once it is late."""
        return None

    def divided_otherwise(self, walk, bound):
        """Return (bound, part) pairs that differ otherwise than by a feature, or None."""
        # `ComponentTree` has such: in one the product of x with a direction is >= 0, in one <= 0.
        return None

    def tightened(self, walk, proven):
        """Return (a Bound that decides more features, its arrays), or (proven, None)."""
        # Or (a Bound that closes the part, None): then its arrays have become those of the node.
        return proven, None

    def spend(self, found):
        """Count the work of ten steps of a relaxation, where that is counted."""
        return None

    def goes_on(self, sharper_arrays):
        """Whether a late walk goes on without what was decided, perhaps by a sharper bound."""
        return False

    def inherited_found(self, walk):
        """The Found whose state and z the parts inherit: the best, or the last."""
        return walk.best

    def record(self, value, answer):
        """Keep an answer if it is better."""
        if value > self.value:
            self.value = value
            self.answer = answer

    @property
    def target(self):
        """A bound up to here closes a node."""
        return self.value * (1 + self.gap) + PROOF * self.value

    @property
    def bound(self):
        """Nothing explains more."""
        return max(self.target, self.unresolved_bound, *(-bound for bound, _, _ in self.heap[:1]))

    def place(self, rows, required, parent):
        """Write a node down and return its number."""
        state = np.zeros(self.size, dtype=np.int8)
        state[rows] = 1
        state[rows[required]] = 2
        self.states.append(state)
        self.parent.append(parent)
        self.branch.append(-1)
        return len(self.states) - 1

    def push(self, parts):
        """Leave parts open, each with its bound."""
        for bound, part in parts:
            heappush(self.heap, (-bound, next(self.tickets), part))

    def search(self):
        """Process the part with the largest bound until none is above the target."""
        for _ in self.run:
            self.history.append(self.value)
            self.process_first()
            self.run.report(self.value, self.bound)
            if not self.heap or -self.heap[0][0] <= self.target:
                self.run.stop("gap reached" if self.bound <= self.target else "parts left open")

    def process_first(self):
        """Process the open part with the largest bound, and open what it leaves in its place."""
        parts = self.process_node(self.heap[0][2])
        # Not before, so that an interruption loses nothing, and `inherited` finds the bound there.
        heappop(self.heap)
        self.nodes += 1
        self.push(parts)

    def process_node(self, part):
        """Bound a part and decide features until it is closed or divided; return (bound, part)s."""
        # Each round of the loop ends in one of four ways:
        #   the part is closed, by its bound or as all of its supports were looked at: no pairs;
        #   it is divided, otherwise or as its walk is late: pairs with the bound they inherit;
        #   nothing was decided and the walk is not late: the same walk goes on;
        #   features were decided: a new walk begins, on what is left, a node below this one.
        if self.settled(part):
            return []
        inherited_bound = self.inherited(part)
        walk = self.walk(part)
        while True:
            walk.follow(inherited_bound)
            if walk.enough and not walk.late:
                # To decide much is worth more than a better bound: any is taken, and a worse one
                # than that inherited takes its place.
                inherited_bound = np.inf
            proven = self.prove(walk, inherited_bound)
            if proven.value <= self.target:
                return []
            found = self.inherited_found(walk)
            left = Left(part=self.carried_on(walk), z=found.z, c=proven.c)
            sharper_arrays = None
            is_better = proven.value < inherited_bound
            if is_better:
                inherited_bound = handed_down(proven.value)
            if parts := self.divided_otherwise(walk, inherited_bound):
                return parts
            if is_better:
                left, sharper_arrays = self.decide(walk, left, proven)
                if left is None:
                    return []
            decided = left.part.place != walk.part.place
            ended = walk.late and not (decided and self.goes_on(sharper_arrays))
            if ended or self.is_one_support(left.part):
                return self.divided(left.part, left.z, inherited_bound)
            if decided:
                # Sharper arrays come after a walk that has spent its budget: the next has its own.
                walk = self.walk(left.part, 0 if sharper_arrays else walk.steps)

    def decide(self, walk, left, proven):
        """Return (Left, arrays of a sharper bound or None), or (None, None) if that closes it."""
        # What is left without the features decided is written down as a node; a walk that is late
        # may propose answers, and so does an enumeration, which is counted off `to_enumerate`.
        proven, sharper_arrays = self.tightened(walk, proven)
        if proven.value <= self.target:
            return None, None
        if walk.late:
            self.round_at_the_end(walk)
        left = self.without_decided(left._replace(c=proven.c), proven.value, sharper_arrays)
        if self.enumerate_leaf(left.part.rows, left.part.required, proven.rest, left.c):
            return None, None
        return left, sharper_arrays

    def carried_on(self, walk):
        """The part of a walk, to go on from where the walk has brought its relaxation."""
        return walk.part._replace(state=self.inherited_found(walk).state)

    def without_decided(self, left, bound, sharper_arrays=None):
        """Return what is left without the features that costs decide, as a node of its own."""
        # Where a sharper bound decided them, the node above gets its arrays, and this one those
        # that the node above had, which bound it better.
        part, z, c = left
        inside, outside = decisions(c, part.required, self.k, bound, self.target)
        if not (inside.any() or outside.any()):
            return left
        kept = np.flatnonzero(~outside)
        rows, required = part.rows[kept], (part.required | inside)[kept]
        place = self.place(rows, required, part.place)
        if sharper_arrays:
            self.arrays[place] = on_rows(self.arrays[part.place], part.rows, kept)
            self.arrays[part.place] = sharper_arrays
        part = Part(rows, required, self.restricted(part.state, kept), place)
        return Left(part, z[kept], c[kept])

    def restricted(self, state, rows):
        """Where a relaxation stands on some of its features."""
        return state.restricted(rows)

    def with_and_without(self, part, i, bound):
        """Return the parts that have the i-th feature, and lack it, each with the bound."""
        rows, required, state, place = part
        self.branch[place] = int(rows[i])
        with_i = required.copy()
        with_i[i] = True
        others = np.delete(np.arange(len(rows)), i)
        first = Part(rows, with_i, state, self.place(rows, with_i, place))
        below = self.place(rows[others], required[others], place)
        second = Part(rows[others], required[others], self.restricted(state, others), below)
        return [(bound, first), (bound, second)]

    def enumerate_leaf(self, rows, required, rest, c):
        """Look at supports one by one; False if they are too many, or one stays open."""
        fixed = np.flatnonzero(required)
        free = np.flatnonzero(~required)
        most = max(0, min(self.k - len(fixed), len(free)))
        sizes = range(0 if self.smaller else most, most + 1)
        number = sum(comb(len(free), size) for size in sizes)
        if number > min(self.most_enumerated, self.to_enumerate):
            return False
        closed = True
        for size in sizes:
            chosen = free[choices(len(free), size)]
            supports = np.hstack([np.broadcast_to(fixed, (len(chosen), len(fixed))), chosen])
            supports = supports[rest + c[supports].sum(axis=1) > self.target]  # may explain more
            if supports.size:
                closed &= self.evaluate(rows[supports])
        self.to_enumerate -= number if closed else 0
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
