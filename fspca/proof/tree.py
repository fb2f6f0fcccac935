r"""The tree of the search for a shared support: how a part of it is bounded and divided.

The bound of a part is the relaxation on what is left, warm-started from its parent, with a bound on
every row where that alone does not close it.  Reduced costs decide features while the relaxation is
being solved, and it goes on with the rest; few remaining supports are enumerated, and otherwise
the most fractional feature is branched on.  What is decided is decided by the arithmetic of the
checker.  One component of wide data begins with another division, by leaders.
"""

from math import comb

import numpy as np

from fspca.check_certificate import LED, decisions
from fspca.proof.bounds import ROWS_SIZE, begin_rows, few_of, step_work, with_dearest_seen
from fspca.proof.checked import FORMED, VARIANCES
from fspca.proof.leaders import WORK, Leaders
from fspca.proof.rows import descend_rows, has_rows
from fspca.proof.search import INHERITED, Pace, Part, Tree, Walk
from fspca.proof.semidefinite import descend, start_from
from fspca.shared_support.swap import best_of

# Chosen on the sets of the experiment `rewards`, by the seconds of whole searches.
PLAIN_STEPS = 60  # before a bound on every row comes in, from which a start must be fair
DEAR = 100  # features above which it costs less to go on with a node than to divide it
ROOT = Pace(budget=600, patience=0.02, window=120, reprieve=4)  # the root is solved only once
NODE = Pace(budget=60, patience=0.15, window=20, reprieve=4)
SMALL = Pace(budget=60, patience=0.15, window=20)  # of at most DEAR features
# From where that of another count ended; longer ones were no better on four sets.
AGAIN = Pace(budget=30, patience=0.3, window=10)
HANDED_ON = 2**28 // 48  # d^2 times the ends that are kept: of six arrays each, 256 MB
CLEAR = 0.05  # from 0 and 1: a feature at least so fractional is as good to branch on as another
FEW = 2_000  # supports that are enumerated before any relaxation: they cost less than one
AT_FIRST = 30_000  # and before that of the root, which is followed for longer

LOCAL = 0.5  # of all features: what a leader's neighbourhood is at most, in the mean, to divide so

# Rewards, which make a relaxation decide more; see `tightened_costs`.
RISE = 0.4  # of what is missing to the target: how much the reward grows
REWARD = 1.2  # of what is missing: the largest reward, past which a feature would have been decided
TRIED = 24  # tens of steps, at most
WORTH = 0.25  # of the free features, which must be decided so that it pays
ASIDE = 1e-3  # so near to 0 or 1 a feature is out or in
MOVED = 1e-2  # and so far from it no longer


def is_enumerated(free, wanted):
    """Whether so many features of so many make so few supports that all of them are looked at."""
    return comb(free, wanted) <= AT_FIRST


class Along:
    """What a tree leaves to that of the next count of features, whose nodes are much the same.

    A node is known by the features that were branched on above it, each with its side.  Of each
    there is where its relaxation first ended, and which feature it was divided by.
    """

    def __init__(self):
        self.scale = None
        self.root_state = None
        self.ends = {}
        self.branches = {}


class SupportWalk(Walk):
    """The relaxation of a part, which goes on with a bound on every row."""

    def changed_relaxation(self, closes):
        """Begin that with a bound on every row once the plain one was followed for long enough."""
        state = self.found.state
        if closes or has_rows(state) or not (self.since >= PLAIN_STEPS or self.late):
            return False
        state = begin_rows(self.tree.checked, self.part.rows, state)
        if state is None:
            return False
        self.source = self.tree.relax(self.part._replace(state=state))
        self.since = 0
        self.late = False
        return True


class SupportTree(Tree):
    """The best support."""

    looks_every = 20  # what is found is proven apart, at the price of two eigenproblems
    least_decided = 3

    def __init__(self, checked, gap, scale, run):
        super().__init__(checked.A.size, checked.k, gap, run)
        self.A = checked.A
        self.problem = checked.problem
        self.checked = checked
        self.scale = scale
        self.leaders = None  # known ones, at a value that the tree begins with or a smaller one
        self.root_start = None  # where that of all features began, for those that leaders leave
        self.led = {}  # by the number of a node that is led: the bound of its leader
        self.sides = []  # of each node: what was branched on above it, and the side
        self.before = Along()  # of another count
        self.along = None  # of this one, where it is for another
        self.resumes = False  # whether the node in hand begins where that of the other count ended

    def propose(self, support):
        """Keep a support if it is better, by the value that the checker grants it."""
        if len(support) < self.k:  # any others do not harm
            others = np.setdiff1d(self.checked.rows, support)
            support = np.append(support, others[: self.k - len(support)])
        self.record(self.checked.value(support), np.sort(support))

    def evaluate(self, supports):
        """Propose the support that explains most; another explains no more."""
        union = np.unique(supports)
        at = np.searchsorted(union, supports)
        blocks = self.checked.block(union)[at[:, :, None], at[:, None, :]]
        # A support costs four times a step of its size, as measured beside one.
        self.run.spend(4 * len(supports) * (self.k + 20) ** 3)
        values = np.linalg.eigvalsh(blocks)[:, -self.checked.m :].sum(axis=1)
        self.propose(supports[np.argmax(values)])
        return True

    def round_up(self, part, z):
        """Propose what a local search ends with, from the k features that z is largest for."""
        wanted = np.argsort(-np.where(part.required, 2.0, z), kind="stable")
        found = best_of(self.A, self.problem, [np.sort(part.rows[wanted[: self.k]])])
        self.propose(found.support)
        if found.stopped == "interrupted":
            raise KeyboardInterrupt

    def round_on_the_way(self, walk):
        if self.nodes == 0 and walk.steps % 100 == 0:
            self.round_up(walk.part, walk.best.z)

    def round_at_the_end(self, walk):
        required = walk.part.required
        fixed = np.count_nonzero(required)
        if comb(len(required) - fixed, self.k - fixed) > self.most_enumerated:
            self.round_up(walk.part, walk.best.z)

    def place(self, rows, required, parent):
        self.sides.append(self.sides[parent] if parent >= 0 else frozenset())
        return super().place(rows, required, parent)

    def process_node(self, part):
        if part.place == 0 and (parts := self.divided_by_leaders(part)) is not None:
            return parts
        if part.state is None:
            part = part._replace(state=self.first_state(part.rows))
        return super().process_node(self.resumed(part))

    def resumed(self, part):
        """A part from where the relaxation of the same node ended for another count, if it did."""
        # It sets `resumes`, and `looks_every`, for the part in hand.  A node that has no end there
        # counts as one without features.  The root has the state of the other count as it is.
        rows, state = self.before.ends.get(self.sides[part.place], (np.zeros(0), None))
        same = part.place > 0 and bool(np.isin(part.rows, rows).all())
        self.resumes = same if part.place else self.before.root_state is not None
        self.looks_every = AGAIN.window if self.resumes else type(self).looks_every
        if not same:
            return part
        return part._replace(state=state.restricted(np.searchsorted(rows, part.rows)))

    def left_behind(self, walk):
        """Note where the relaxation of a node ends first, for another count."""
        sides, state = self.sides[walk.part.place], walk.found.state
        dense = state.basis is None and has_rows(state)
        fits = len(self.along.ends) * self.size**2 <= HANDED_ON
        if dense and fits and not self.led:
            self.along.ends.setdefault(sides, (walk.part.rows, state))

    def divided_by_leaders(self, part):
        """Return a part for each feature that may lead a support, if these are small, or None."""
        leaders = self.leaders or Leaders.of(self.checked, self.target)
        if leaders is None:
            return None
        self.run.spend(WORK * max(len(leaders.among), 1) * len(part.rows))
        led = leaders.above(self.target)
        if sum(len(each.rows) for each in led) > LOCAL * len(led) * len(part.rows):
            return None
        self.root_start = part.state
        self.branch[part.place] = LED
        # The first node of a claim carries an array at least: this asks for the bound of C = A.
        self.arrays[part.place] = {"whole": VARIANCES}
        parts = []  # without a state: those of all would fill the memory
        for leader, bound, rows in led:
            required = rows == leader
            place = self.place(rows, required, part.place)
            self.led[place] = bound
            parts.append((bound, Part(rows, required, None, place)))
        return parts

    def first_state(self, rows):
        """Where the relaxation of a part begins that comes from no other."""
        if self.checked.wide(rows):
            at = np.searchsorted(self.checked.rows, rows)
            return self.restricted(self.root_start, at)
        return start_from(self.checked.block(rows) / self.scale, self.checked.m, self.k)

    @property
    def proof(self):
        """The tree without the parts whose leader's bound is no larger than that of the claim."""
        facts = super().proof
        if not self.led:
            return facts
        bound, kept = self.bound, []
        for t, above in enumerate(self.parent):
            needed = self.led.get(t, np.inf) > bound
            kept.append(needed and (not t or kept[above]))
        number = np.cumsum(kept) - 1
        parent = np.array([-1 if above < 0 else number[above] for above in self.parent])
        shown = {"nodes": facts["nodes"][kept], "parent": parent[kept]}
        shown["branch"] = facts["branch"][kept]
        arrays = {t: held for t, held in self.arrays.items() if kept[t]}
        return shown | {
            f"{x}_{number[t]}": v for t, held in arrays.items() for x, v in held.items()
        }

    def settled(self, part):
        rows, required = part.rows, part.required
        fixed = np.count_nonzero(required)
        if self.is_one_support(part):
            if not self.to_enumerate:
                self.closed_alone(part, self.inherited(part))
                return True
            self.propose(rows[required][: self.k] if fixed >= self.k else rows)
            self.to_enumerate -= 1  # the checker looks at it too
            return True
        most = FEW if self.nodes else AT_FIRST
        few = comb(len(rows) - fixed, self.k - fixed) <= most
        return few and self.enumerate_leaf(rows, required, np.inf, np.zeros(len(rows)))

    def inherited(self, part):
        """The bound of the part that is processed; of wide data, undivided by leaders, none."""
        unknown = self.checked.wide(part.rows) and not self.led
        return np.inf if unknown else -self.heap[0][0] * INHERITED

    def relax(self, part):
        """The relaxation that the state of a part is of."""
        follow = descend_rows if has_rows(part.state) else descend
        return follow(part.state, self.checked.m, self.k, part.required)

    def walk(self, part, steps=0):
        pace = SMALL if len(part.rows) <= DEAR else NODE if self.nodes else ROOT
        return SupportWalk(self, part, AGAIN if self.resumes else pace, steps)

    def prove(self, walk, inherited_bound):
        if self.along is not None:
            if walk.part.place == 0:
                self.along.root_state = walk.found.state
            self.left_behind(walk)
        return self.keep(walk.part, self.prove_found(walk.part, walk.best), inherited_bound)

    def prove_found(self, part, found):
        """Return the Bound that the checker computes of a part from what is Found of it."""
        size = np.sum(found.G**2, axis=0)
        G = found.G[:, size > 1e-9 * size.max(initial=0)] * np.sqrt(self.scale)
        Y = None if found.Y is None else shortened(found.Y * self.scale)
        few = few_of(found.state)
        return self.checked.prove(part.rows, part.required, G.astype(np.float32), Y, few=few)

    def restricted(self, state, rows):
        """The state on some of the features; where these are few, they leave the basis."""
        if state.basis is None:
            return state.restricted(rows)
        dense = len(rows) <= (FORMED if self.checked.of_data else ROWS_SIZE)
        if dense or not has_rows(state):
            return state.restricted(rows, dense)
        return with_dearest_seen(state, rows)  # in a basis still, with the dearest one by one

    def is_one_support(self, part):
        return len(part.rows) <= self.k or np.count_nonzero(part.required) >= self.k

    def closed_alone(self, part, bound):
        """Bound a part of one support by F_m(A) on its features, and return no parts."""
        # No more supports may be enumerated.  Where neither this nor the bound given is below the
        # target, the part stays open, and `unresolved_bound` rises to the lesser of both.
        self.propose(part.rows if len(part.rows) <= self.k else part.rows[part.required])
        proven = self.checked.prove(part.rows, part.required, np.zeros((len(part.rows), 0)))
        if proven.value <= bound:
            self.arrays[part.place] = proven.arrays
        if min(bound, proven.value) > self.target:
            self.unresolved_bound = max(self.unresolved_bound, min(bound, proven.value))
        return []

    def divided(self, part, z, bound):
        """Return the two parts that hold, and lack, the most fractional feature, with the bound."""
        # Or that by which the tree of another count divided the same node, if it is clearly so.
        if self.is_one_support(part):
            return self.closed_alone(part, bound)
        fraction = np.where(part.required, -1.0, np.minimum(z, 1 - z))
        i, sides = int(np.argmax(fraction)), self.sides[part.place]
        same = np.flatnonzero(part.rows == self.before.branches.get(sides, -1))
        if same.size and fraction[same[0]] > CLEAR:
            i = int(same[0])
        if self.along is not None:
            self.along.branches[sides] = int(part.rows[i])
        with_i, without_i = self.with_and_without(part, i, bound)
        for (_, each), side in ((with_i, True), (without_i, False)):
            self.sides[each.place] = sides | {(int(part.rows[i]), side)}
        return [with_i, without_i]

    def spend(self, found):
        self.run.spend(10 * step_work(found.state))

    def goes_on(self, sharper_arrays):
        return sharper_arrays is not None

    def tightened(self, walk, proven):
        """Look for a bound that decides more, where a large part was followed in vain."""
        # Returned are (proven, None) where none is found; (one that closes the part, None), whose
        # arrays the node takes; or (one that decides more, its arrays), and the node keeps its own.
        part, best = walk.part, walk.best
        if not walk.late or walk.enough or len(part.rows) <= DEAR or best.Y is None:
            return proven, None
        found = self.tightened_costs(best, part.required)
        if found is None:
            return proven, None
        sharper = self.prove_found(part, found)
        if sharper.value > self.target:
            return sharper, sharper.arrays
        self.arrays[part.place] = sharper.arrays
        return sharper, None

    def tightened_costs(self, found, required):
        """Return what is Found with rewards and decides many features, or None."""
        # Where the bound is least, most features left out cost nearly as much as the k-th, so that
        # none is decided.  The relaxation therefore maximises <A, P> + reward'z.  The reward draws
        # in those left out, and out those that are in; whoever it does not move gets costs that are
        # further from the k-th by as much, and whoever it moves has none from then on.
        target = self.target / self.scale
        side = (found.z < ASIDE) * 1.0 - (found.z > 1 - ASIDE) * ~required
        missing = found.bound - target
        best = None
        most = WORTH * np.sum(~required)
        source = descend_rows(found.state, self.checked.m, self.k, required)
        next(source)
        for tried in range(TRIED):
            if self.run.seconds_left == 0 or np.count_nonzero(side) <= most:
                break
            found = source.send(side * missing * min(RISE * (1 + tried // 2), REWARD))
            self.spend(found)
            came_in = (side > 0) & (found.z > MOVED)
            went_out = (side < 0) & (found.z < 1 - MOVED)
            side[came_in | went_out] = 0
            decided = np.sum(decisions(found.c, required, self.k, found.bound, target))
            if decided > most:
                best = found
                most = decided
            elif best:
                break
        return best


def shortened(Y):
    """Return Y in float32 with 14 of its 23 binary places, which pack well.

    Entries below a millionth of the largest are 0.
    """
    Y = np.where(np.abs(Y) > 1e-6 * np.abs(Y).max(initial=0), Y, 0).astype(np.float32)
    return ((Y.view(np.uint32) + 256) & np.uint32(0xFFFFFE00)).view(np.float32)
