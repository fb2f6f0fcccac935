r"""Several components on features of their own, proven by prices.

Let lambda(S) be what the best component on the features S explains.  For disjoint supports S_j of
at most k_j features each, and every price p_i >= 0 of a feature,

    sum_j lambda(S_j) <= (the K largest prices) + sum_j max over |S| <= k_j of lambda(S) - p(S),

K the features in all: what the supports cost is at most the first sum.  So the prices split the
problem into searches for one component, each proven by a tree.  The best prices are the dual of a
linear programme, in which each support is a column and each feature is used at most once; columns
are added as the trees find them.  Where it is fractional, every support that a better answer may
use is listed, by its reduced price, and the best packing of these is the optimum.

Orthonormal columns may overlap: two supports that share a single feature would have a product that
is not 0, so they share none, or two at least.  Columns that overlap, and those that overlap with
these, make up a block of b columns; the blocks are disjoint, a block has 2(b - 1) features less
than the counts of its columns add up to, and explains at most what b components on its features do.
The same holds of blocks as of components, then, for each way to divide the components into blocks.
"""

from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from fspca.check_certificate import VERSION, check, decisions, partitions
from fspca.covariance.linalg import EPS
from fspca.problem import Problem
from fspca.proof.claims import gap_of
from fspca.proof.priced_tree import PricedTree, RowsAlone, relaxation_of, row_work
from fspca.proof.prices import Prices, Programme, Slot, climb_beyond_prices, climb_together
from fspca.proof.search import PROOF
from fspca.proof.spectral_prices import spectral_price

STARTS = 60  # random directions that columns are sought from, beside the features
MANY = 2000  # of these before a tree is begun: a tree that ends with a column takes far longer
LIKELY = 150  # features of largest variance that columns are sought from
ROUNDS = 20  # of programmes and climbs that better an answer before anything is proven
STEPS = 300  # of the relaxation of all components at once
WORK = 3e10  # of a proof that is not asked for: three seconds, or half of STEPS
SOLVED = 1e8  # the work of a linear programme of few columns, in the unit of a relaxation's
MOST_DIVIDED = 10  # components that overlap: there are too many ways to divide more into blocks
PRICED = 30  # columns above which none is given prices on directions: each takes a second
SPARE = 1e-11  # relative: more than rounding differs from one machine to another


class Proof(NamedTuple):
    """Prices, the tree and the level of each slot, and the columns that are above it."""

    bound: float
    p: np.ndarray
    slots: list
    trees: list
    levels: np.ndarray
    columns: list
    directions: dict  # of columns, by support: H with Z = HH', the prices on their directions


def block_size(block):
    """How many features a block of columns with these counts has at most: each shares two."""
    return sum(block) - 2 * (len(block) - 1)


class Packing:
    """The best answer that was found, the prices, and what is proven.

    Loadings are of either sign, or not negative; supports are disjoint, or, of orthonormal
    columns, may overlap.  Without a gap or a time that is given, so much work is all that is done.

    `pool` is {(components, support): what so many explain on it at most}, a column each, and `rows`
    lists the features that a better answer may have.  `first_prices` has a number for each feature,
    near which prices are chosen.  `node` is the Bound of one node for all components, `proofs` has
    a Proof for each way to divide them into blocks, and `bound` is the least bound so far.
    """

    def __init__(self, array, problem, either_sign, gap, run):
        self.to_the_end = gap is not None or run.ends is not None
        if not self.to_the_end:
            run.work = run.spent + max(WORK, STEPS / 2 * row_work(len(array)))
        self.A = array
        self.d = len(array)
        self.problem = problem
        self.overlaps = getattr(problem, "orthonormal", False)
        self.asked_either_sign = either_sign
        self.either_sign = either_sign or array.min() >= 0  # then |x| explains no less than x
        self.gap = gap or 0.0
        self.run = run
        self.counts = np.minimum(problem.counts, self.d)
        self.in_all = max(problem.m, min(problem.most, self.d))
        self.counted = self.in_all if getattr(problem, "in_all", False) else None
        self.rows = np.arange(self.d)
        self.first_prices = np.zeros(self.d)
        self.relaxations = {}
        self.pool = {}
        self.value = -np.inf
        self.W = None
        self.node = None
        self.proofs = None
        self.bound = np.inf
        self.nodes = 0

    @property
    def target(self):
        """A bound up to here proves the answer."""
        return self.value * (1 + self.gap + PROOF)

    @property
    def proven(self):
        return self.bound <= self.target * (1 + 2 * SPARE)  # a packing's value has one of these

    @property
    def blocks_of_one(self):
        """The components as blocks of one, the largest count first."""
        return tuple((count,) for count in sorted(self.counts.tolist(), reverse=True))

    def start_from(self, W, node=None):
        """Begin with an answer, and the Bound of one node for all components where there is one."""
        self.W = W
        self.value = Problem.score(self.problem, self.A, W)
        if node is not None:
            self.take_node(node)

    def go_on(self):
        """Go on until the answer is proven, or the budget is spent, or a Ctrl-C comes."""
        try:
            if self.node is None:
                Way(self, self.blocks_of_one).improve()
                self.all_at_once()
            if not self.proven:
                self.leave_out()
                self.prove()
        except KeyboardInterrupt:
            if self.node is None:
                raise
            self.run.stop("interrupted")
        if self.run.ends is not None and self.run.seconds_left == 0 and not self.proven:
            self.run.stop("max_seconds")

    def accepted(self, W):
        """Return the least bound that the checker accepts, and its claim."""
        for claim in self.claims(W):
            verdict = check(claim | {"A": self.A})
            if verdict.holds:
                return verdict.bound, claim
        return None, None

    def all_at_once(self):
        """Bound all components by one relaxation."""
        if self.overlaps:
            relaxation = RowsAlone(self.A, self.problem.m, self.in_all, self.in_all)
        else:
            relaxation = relaxation_of(self.A, self.problem, self.either_sign)
        rows, none = np.arange(self.d), np.zeros(self.d, dtype=bool)
        walk = relaxation.descend(rows, none, relaxation.start)
        for proven, _, _, state in islice(walk, STEPS // 10):
            self.take_node(proven)
            self.run.spend(10 * row_work(len(state.z)))
            if self.proven or self.run.seconds_left == 0:
                break

    def take_node(self, proven):
        """Keep the Bound of one node for all components, if it is better."""
        if self.node is None or proven.value < self.node.value:
            self.node = proven
            self.bound = min(self.bound, proven.value)
            self.run.report(bound=self.bound)

    def leave_out(self):
        """Leave out the features that no better answer has, and set the first prices."""
        # Both are made of the costs c of the node of all.  A first price is the excess of a cost
        # over the (K + 1)-th largest, the first that has no place among the K features in all.
        c, none = self.node.c, np.zeros(self.d, dtype=bool)
        _, outside = decisions(c, none, self.in_all, self.node.value, self.target)
        outside[self.W.any(axis=1)] = False
        self.rows = np.flatnonzero(~outside)
        without_place = -np.sort(-c)[self.in_all] if self.in_all < self.d else 0.0
        self.first_prices = np.maximum(c - without_place, 0.0)

    def narrowed(self):
        """Leave out features again, after a better answer; return whether there were some."""
        before = len(self.rows)
        self.leave_out()
        return len(self.rows) < before

    def prove(self):
        """Prove one way after the other to divide the components into blocks, components first."""
        if self.overlaps and self.problem.m > MOST_DIVIDED:
            return
        counts = tuple(count for (count,) in self.blocks_of_one)
        more = partitions(counts) - {self.blocks_of_one} if self.overlaps else ()
        ways = [self.blocks_of_one, *sorted(more)]
        proofs = []
        for way in ways:
            proof = Way(self, way).prove()
            if proof is None:
                return
            proofs.append(proof)
            if proof.bound >= self.bound:
                return
        self.bound = max(proof.bound for proof in proofs)
        self.proofs = proofs
        self.run.report(self.value, self.bound)

    def take(self, supports):
        """Keep disjoint supports if they are better."""
        W = self.loadings(supports)
        value = Problem.score(self.problem, self.A, W)
        if value > self.value:
            self.value = value
            self.W = W
            self.run.report(self.value)

    def values(self, supports, b):
        """The sum of the b largest eigenvalues of each A_SS, or -inf."""
        # -inf is where no loading may be negative and the leading eigenvector has two signs
        w, V = np.linalg.eigh(self.A[supports[:, :, None], supports[:, None, :]])
        v = V[:, :, -1]
        positive = np.abs(v.sum(axis=1)) >= np.abs(v).sum(axis=1) - 16 * EPS
        return np.where(positive | self.either_sign, w[:, -b:].sum(axis=1), -np.inf)

    def add(self, columns):
        """Put columns into the pool; return those that are new, with their values."""
        new = [column for column in columns if column not in self.pool]
        new = [(x, self.values(np.array([x[1]]), x[0])[0]) for x in new]
        new = [(column, value) for column, value in new if value > -np.inf]
        self.pool.update(new)
        return new

    def completed(self, supports):
        """Supports of all components: who got none takes one of a larger support."""
        # what is split explains no less together, as A is semidefinite
        supports = sorted(supports, key=len)
        while len(supports) < self.problem.m and len(supports[-1]) > 1:
            *most, last = supports.pop()
            supports = sorted([*supports, tuple(most), (last,)], key=len)
        free = np.setdiff1d(np.arange(self.d), [i for S in supports for i in S])
        return supports + [(int(i),) for i in free[: self.problem.m - len(supports)]]

    def loadings(self, supports):
        """The best columns on these supports, in the order of the counts."""
        W = np.zeros((self.d, self.problem.m))
        order = np.argsort(-np.array(self.problem.counts), kind="stable")
        for j, S in zip(order, sorted(supports, key=len, reverse=True), strict=True):
            v = np.linalg.eigh(self.A[np.ix_(S, S)])[1][:, -1]
            v = v * np.sign(v.sum() or 1.0)
            W[list(S), j] = v if self.asked_either_sign else np.abs(v)
        return W

    def grow(self, p, slot, level, share=1, every=False):
        """Return the PricedTree of a slot, searched for supports worth more than the level."""
        # It finds all of them, or, unless `every`, the first.  So many slots (`share`) share the
        # supports that may be looked at one by one.
        relaxation = self.relaxations.get(slot[:2])
        if relaxation is None:
            if slot.block > 1:
                relaxation = RowsAlone(self.A, slot.block, slot.size, slot.size)
            else:
                problem = type(self.problem)(1, slot.size)
                relaxation = relaxation_of(self.A, problem, self.either_sign)
            self.relaxations[slot[:2]] = relaxation
        relaxation.prices = p
        tree = PricedTree(relaxation, self.rows, level, self.run, every)
        tree.to_enumerate //= share
        tree.search()
        self.nodes += tree.nodes
        return tree

    def claims(self, W):
        """Yield claims that lack only their matrix, of the least bound first."""
        # The first is by prices, where all ways were proven, the second by the one node of all.
        # `packed` of the checker reads their fields.
        facts = {
            "version": VERSION,
            "kind": "packing",
            "m": self.problem.m,
            "k": self.in_all,
            "counts": self.counts,
            "W": W,
        }
        if not self.asked_either_sign:
            facts["nonnegative"] = 1
        if self.overlaps:
            facts["orthonormal"] = 1
        value = Problem.score(self.problem, self.A, W)
        unit = np.diagonal(self.A).max()
        # `written` raises each of m levels by SPARE / 4 of the unit, and so the bound by at most
        # SPARE / 4 * m unit / value of the value.  Four times that is spared, and SPARE itself.
        spare = SPARE * (1 + self.problem.m * unit / value)
        first = {f"first_{name}_0": array for name, array in self.node.arrays.items()}
        if self.proofs is not None:
            whole = len(self.rows) == self.d
            kept = {} if whole else first | {"kept": self.rows}
            yield facts | kept | self.written() | {"gap": gap_of(value, self.bound, spare)}
        yield facts | first | {"gap": gap_of(value, self.node.value, spare)}

    def written(self) -> dict[str, Any]:
        """The prices, trees and columns of all proofs, as a claim has them, levels raised a bit."""
        unit = np.diagonal(self.A).max()
        listed = sorted({S for proof in self.proofs for _, S in proof.columns})
        columns = np.zeros((len(listed), self.d), dtype=np.int8)
        for row, S in zip(columns, listed, strict=True):
            row[list(S)] = 1
        trees = [
            ((i, slot.block, slot.size), level, tree)
            for i, proof in enumerate(self.proofs)
            for slot, level, tree in zip(proof.slots, proof.levels, proof.trees, strict=True)
        ]
        found = {
            "prices": np.array([proof.p for proof in self.proofs]),
            "trees": np.array([names for names, _, _ in trees]),
            "targets": np.array([level for _, level, _ in trees]) + SPARE / 4 * unit,
        }
        for i, (_, _, tree) in enumerate(trees):
            found |= {f"tree{i}_{name}": array for name, array in tree.proof.items()}
        for proof in self.proofs:
            for S, H in proof.directions.items():
                found[f"spectral_{next(i for i, x in enumerate(listed) if x == S)}"] = H
        return found | ({"columns": columns} if listed else {})


class Way:
    """One way to divide the components into blocks, and the proof for it.

    `blocks` has for each block the counts of its components, and `slots` how many blocks there are
    of each kind, (components, features).  `disjoint` says whether no block has two components.
    """

    def __init__(self, packing, blocks):
        self.packing = packing
        self.run = packing.run
        kinds = sorted({(len(b), block_size(b)) for b in blocks})
        names = [(len(b), block_size(b)) for b in blocks]
        self.slots = [Slot(*kind, names.count(kind)) for kind in kinds]
        self.numbers = np.array([slot.number for slot in self.slots])
        self.blocks = blocks
        self.disjoint = all(len(b) == 1 for b in blocks)
        self.in_all = packing.in_all
        if not self.disjoint:
            self.in_all = min(sum(map(block_size, blocks)), packing.in_all)

    def prove(self):
        """Return the Proof of least bound that was found, or None where there is none."""
        # Prices are made of the columns known, and columns above their levels are sought, by climbs
        # and then by trees, until there are none; then the programme's bound is proven.
        # `best` is the Proof of least bound so far, None until trees were searched.  It is returned
        # where time is over, HiGHS fails, or it meets the target once no column is above; and else,
        # where all columns that a better answer may use can be listed, the proof by these.
        packing, run = self.packing, self.run
        if self.disjoint:
            rows = packing.rows
            packing.add([(1, (int(i),)) for i in rows])
            packing.add([(1, tuple(np.flatnonzero(w).tolist())) for w in packing.W.T if w.any()])
        packing.add(self.climbs(packing.first_prices) + self.climbs(0 * packing.first_prices))
        best = None
        while run.seconds_left != 0:
            programme = self.programme(packing.pool)
            prices = self.next_prices(programme)
            if prices is None:
                return best
            if self.climbed_above(prices):
                continue
            before = packing.value
            self.pack(programme)
            if packing.value > before * (1 + PROOF) and packing.narrowed():
                best = None  # its trees have features that no tree of a claim has now
                continue
            proof, more = self.search(prices)
            if best is None or proof.bound < best.bound:
                best = proof
            if not more:
                return best if best.bound <= packing.target else self.by_listing(proof, best)
        return best

    def next_prices(self, programme):
        """Return the Prices of a programme, with levels by the pool, or None where HiGHS fails."""
        packing = self.packing
        found = programme.prices(packing.first_prices[packing.rows])
        self.run.spend(SOLVED * (1 + len(programme.values) / 100))
        if found is None:
            return None
        p = np.zeros(packing.d)
        p[packing.rows] = found
        return Prices(p, self.levels(p))

    def climbed_above(self, prices):
        """Add the columns that climbs end in to the pool; return whether one is above a level."""
        for number in self.tries:  # more starts only where fewer found none
            new = self.packing.add(self.climbs(prices.p, number))
            if any(self.is_above(column, value, prices) for column, value in new):
                return True
        return False

    def improve(self):
        """Better the answer by a few programmes, before anything is proven."""
        packing = self.packing
        packing.add([(1, tuple(np.flatnonzero(w).tolist())) for w in packing.W.T if w.any()])
        packing.add(self.climbs(np.zeros(packing.d)))
        for _ in range(ROUNDS):
            programme = self.programme(packing.pool)
            p = programme.prices(packing.first_prices[packing.rows])  # all features, so early
            self.pack(programme)
            if p is None or not any(packing.add(self.climbs(p, n)) for n in (STARTS, MANY)):
                break

    def programme(self, pool):
        """The linear programme of a pool's columns in the slots of this way."""
        return Programme.of(pool, self.slots, self.packing.rows, self.packing.counted)

    @property
    def tries(self):
        """How many random directions are climbed from, in turn until a column is found."""
        # MANY spare trees that end with a column: none that the budget of a proof that is not
        # asked for would reach.  For blocks they take longer than a tree.
        return (STARTS, MANY) if self.disjoint and self.packing.to_the_end else (STARTS,)

    def climbs(self, p, number=STARTS):
        """Columns for each slot that climbs end in."""
        packing = self.packing
        rows = packing.rows
        unit = np.diagonal(packing.A).max()
        A, p = packing.A[np.ix_(rows, rows)] / unit, p[rows] / unit
        random = np.random.default_rng(0).standard_normal((len(rows), number))
        likely = np.argsort(-np.diagonal(A), kind="stable")[:LIKELY]
        starts = np.hstack([np.eye(len(rows))[:, np.sort(likely)], random])
        found = set()
        for slot in self.slots:
            if slot.block == 1:
                found |= climb_beyond_prices(A, p, slot, starts, packing.either_sign)
            else:
                found |= climb_together(A, p, slot, starts)
        self.run.spend(SOLVED + 10 * len(self.slots) * starts.shape[1] * len(rows) ** 2)
        return [(b, tuple(rows[list(S)].tolist())) for b, S in sorted(found)]

    def levels(self, p):
        """For each slot, how much a column of the pool is worth beyond its prices at most."""
        net = [(x, value - p[list(x[1])].sum()) for x, value in self.packing.pool.items()]
        best = [max([0.0, *(worth for x, worth in net if s.fits(x))]) for s in self.slots]
        return np.array(best)

    @property
    def little(self):
        """How far a column must be above its level to be worth adding."""
        return PROOF / 2 * self.packing.value / self.packing.problem.m  # half of what a proof may

    def is_above(self, column, value, prices):
        """Whether a column is above the level of a slot that it fits."""
        net = value - prices.p[list(column[1])].sum() - self.little
        fitting = zip(self.slots, prices.levels, strict=True)
        return any(slot.fits(column) and net > level for slot, level in fitting)

    def bound_at(self, p, levels):
        """The bound that prices and levels give."""
        charge = np.sort(p[self.packing.rows])[-self.in_all :].sum()
        return (charge + self.numbers @ levels) * (1 + 64 * EPS)

    def search(self, prices):
        """Look for columns above the levels; return a Proof, and whether there were some."""
        # what the bound may still rise by to the target is shared out among the slots
        packing = self.packing
        spare = (packing.target - self.bound_at(*prices)) / self.numbers.sum()
        wanted = prices.levels + max(spare * (1 - 1e-3), self.little)
        share = len(self.slots)
        trees = [
            packing.grow(prices.p, slot, level, share)
            for slot, level in zip(self.slots, wanted, strict=True)
        ]
        levels = np.array([self.level_of(tree) for tree in trees])
        bound = self.bound_at(prices.p, levels)
        found = self.found(trees)
        proof = Proof(bound, prices.p, self.slots, trees, levels, [], {})
        return proof, bool(packing.add(found))

    def found(self, trees):
        """The columns that the trees found."""
        pairs = zip(self.slots, trees, strict=True)
        return [(slot.block, S) for slot, tree in pairs for S in tree.found]

    def level_of(self, tree):
        """Nothing is worth more than this beyond its prices, by a tree that may be unfinished."""
        net = [value - tree.prices[list(S)].sum() for S, value in tree.found.items()]
        return max([tree.bound, *net])

    def pack(self, programme):
        """Take the best packing; return (its value, whether no other is better)."""
        taken, value, best = programme.packing(self.run.seconds_left if self.run.ends else None)
        self.run.spend(SOLVED * (1 + len(programme.values) / 100))
        if taken and self.disjoint:
            self.packing.take(self.packing.completed([S for _, S in taken]))
        return value, best

    def by_listing(self, proof, fallback):
        """Return the Proof by all columns that a better answer may use, or the fallback."""
        # The fallback is returned where time is over, a tree is unfinished, or HiGHS does not know
        # the best packing.
        # A column of an answer above the target is less below its level than the bound is above the
        # target.  Trees list all these, and the best packing of them bounds every better answer.
        packing = self.packing
        if self.run.seconds_left == 0:
            return fallback
        lower = proof.levels - (proof.bound - packing.target)
        share = len(self.slots)
        trees = [
            packing.grow(proof.p, slot, low, share, every=True)
            for slot, low in zip(self.slots, lower, strict=True)
        ]
        if any(tree.bound > tree.level for tree in trees):  # parts are left open
            return fallback
        found = self.found(trees)
        packing.add(found)
        value, best = 0.0, True
        pool = {column: packing.pool[column] for column in found if column in packing.pool}
        pool, directions = self.price_directions(pool, proof.p, lower)
        if pool:
            value, best = self.pack(self.programme(pool))
        if not best:
            return fallback
        bound = max(packing.target, value * (1 + SPARE))
        return Proof(bound, proof.p, self.slots, trees, lower, found, directions)

    def price_directions(self, pool, p, levels):
        """Return the pool with blocks worth less by prices on directions, and these prices."""
        # On the support S of a block of b orthonormal columns with counts k_1, ..., k_b, these
        # explain at most trace HH' + sum_j max over T in S, |T| <= k_j, of lambda_1((A - HH')_TT),
        # for every H (`spectral_prices`).  The prices are {S: H}.  A column that is worth no more
        # than `wanted`, its slot's level and its prices, is in no better answer.
        values, found = dict(pool), {}
        if len(pool) > PRICED:
            return values, found
        A = self.packing.A
        for (b, S), value in pool.items():
            alike = {block for block in self.blocks if len(block) == b}
            if b == 1 or len(alike) > 1:  # of blocks with different counts, S may be of each
                continue
            (counts,) = alike
            wanted = max(
                level + p[list(S)].sum()
                for slot, level in zip(self.slots, levels, strict=True)
                if slot.fits((b, S))
            )
            unit = np.diagonal(A).max()
            bound, H = spectral_price(A[np.ix_(S, S)] / unit, counts, wanted / unit, self.run)
            if bound * unit < value:
                values[b, S] = bound * unit
                found[S] = H * np.sqrt(unit)
        return values, found
