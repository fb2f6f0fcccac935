r"""The tree of the search for a support that explains most beyond what its features cost.

Given a price p_i >= 0 of each feature, it looks for every support S of at most k features with
F_m(A_SS) - p(S) above a level, or for the first that it comes upon.  Nothing else is above.  A
relaxation says that S explains at most r + c(S): beyond its prices, r + (c - p)(S), at most r +
(c - p)(R) + the largest positive entries of c - p beside the required R.
"""

from math import comb

import numpy as np

from fspca.check_certificate import signed
from fspca.proof.checked import CheckedMatrix
from fspca.proof.nonnegative_relaxation import NonnegativeRelaxation, SignedFound, scale_of
from fspca.proof.rows import descend_rows, with_rows
from fspca.proof.search import Pace, Part, Tree, Walk, handed_down
from fspca.proof.semidefinite import start_from
from fspca.proof.tree import shortened

# Chosen by the seconds of whole searches on the sets of the experiment `packing`.
ROOT = Pace(budget=600, patience=0.02, window=50)  # the root is solved only once
NODE = Pace(budget=100, patience=0.15, window=50)
FEW = 2_000  # supports that are looked at before any relaxation: they cost less than one
AT_ONCE = 1000  # supports whose eigenvalues are computed at once


def row_work(d):
    """What a step with a bound on every row of d features costs, proof and signs included.

    In the unit of `bounds.step_work`: 1e10 take 0.9 s.  Measured at 13, 64 and 500 features, it is
    off by a third at most.
    """
    return (d + 200) ** 3


class RowsAlone:
    """The relaxation with a bound on every row, and what the checker says of its bounds.

    It is about m components with k features in all, at most `row_count` of them in one component;
    `array` is A.  `prices`, None or one for each feature, may be set before a descent.
    """

    either_sign = True  # loadings may be negative

    def __init__(self, array, m, k, row_count):
        self.m = m
        self.k = k
        self.row_count = row_count
        self.prices = None
        self.inner = array
        self.checked = CheckedMatrix(array, False, "shared", m, k)
        self.checked.row_count = row_count
        self.scale = scale_of(array)
        self.start = with_rows(start_from(array / self.scale, m, k))

    def descend(self, rows, required, state):
        """Yield what is SignedFound on these rows, after every ten steps, for ever."""
        prices = None if self.prices is None else self.prices[rows] / self.scale
        walk = descend_rows(state, self.m, self.k, required, 10, self.row_count, prices)
        for found in walk:
            arrays = {
                "G": (found.G * np.sqrt(self.scale)).astype(np.float32),
                "Y": shortened(found.Y * self.scale),
            }
            proven = self.checked.bound(rows, required, arrays, prices=self.prices)
            yield SignedFound(proven, found.z, found.state.P, found.state)


def relaxation_of(array, problem, either_sign):
    """The relaxation of several components at once, loadings of either sign, or none negative."""
    d = len(array)
    if not either_sign:
        return NonnegativeRelaxation(array, problem)
    in_all = max(problem.m, min(problem.most, d))
    return RowsAlone(array, problem.m, in_all, min(int(max(problem.counts)), d))


class PricedWalk(Walk):
    """The relaxation of a part, which ends where what it leaves may be looked at."""

    def decides_enough(self):
        """Whether supports are few enough to be looked at, or many features are decided."""
        tree = self.tree
        few = min(tree.most_enumerated, tree.to_enumerate)
        return tree.number_of(self.part) <= few or super().decides_enough()


class PricedTree(Tree):
    """All supports above a level, or the first that is found."""

    most_enumerated = 20_000  # supports of a node, smaller ones too: as long as some relaxations
    smaller = True
    looks_every = 20

    def __init__(self, relaxation, rows, level, run, every):
        super().__init__(len(relaxation.inner), relaxation.k, 0.0, run)
        self.relaxation = relaxation
        self.prices = relaxation.prices
        self.level = level
        self.every = every
        self.found = {}
        none = np.zeros(len(rows), dtype=bool)
        n = len(rows)
        state = relaxation.start.restricted(rows)
        even = {"P": np.eye(n) * (relaxation.m / n), "z": np.full(n, min(self.k / n, 1.0))}
        root = Part(rows, none, state._replace(**even), self.place(rows, none, -1))
        empty = {"G": np.zeros((n, 0))}  # a root whose supports are listed at once is a node too
        self.arrays[root.place] = relaxation.checked.bound(
            rows, none, empty, prices=self.prices
        ).arrays
        self.push([(np.inf, root)])

    @property
    def target(self):
        return self.level

    @property
    def bound(self):
        """Nothing but what was found is above."""
        return max([self.level, *(-bound for bound, _, _ in self.heap[:1])])

    def search(self):
        while self.heap and -self.heap[0][0] > self.level and (self.every or not self.found):
            if self.run.seconds_left == 0:
                return
            self.process_first()
            self.run.report()

    def evaluate(self, supports):
        """Keep those above the level; none stays open."""
        if supports.shape[1] <= self.k:
            for part in np.array_split(supports, 1 + len(supports) // AT_ONCE):
                self.look_at(np.sort(part, axis=1))
        return True

    def look_at(self, supports):
        """Keep the supports that may be above the level, with the most that each may explain."""
        # That is an upper bound.  Where no loading may be negative, and the leading eigenvector
        # surely has two signs, the best component has a zero: it is one of a smaller support.
        checked = self.relaxation.checked
        numbers, m = checked.numbers, self.relaxation.m
        blocks = numbers.read(self.relaxation.inner[supports[:, :, None], supports[:, None, :]], 2)
        low, high = numbers.top_sums(blocks, m, 0.0)
        back = np.ldexp(1.0, -2 * numbers.shift)
        net = high * back - self.prices[supports].sum(axis=1)
        for i in np.flatnonzero(net > self.level - 1e-12 * np.abs(high).max() * back):
            possible = self.relaxation.either_sign or not signed(
                blocks[i], 0.0, low[i], high[i], numbers
            )
            if possible:
                self.found[tuple(supports[i].tolist())] = high[i] * back

    def settled(self, part):
        if not len(part.rows):
            return True
        few = self.number_of(part) <= FEW
        return few and self.enumerate_leaf(
            part.rows, part.required, np.inf, np.zeros(len(part.rows))
        )

    def number_of(self, part):
        """How many supports a part has."""
        fixed = np.count_nonzero(part.required)
        free = len(part.rows) - fixed
        return sum(comb(free, size) for size in range(max(0, min(self.k - fixed, free)) + 1))

    def inherited(self, part):
        return handed_down(-self.heap[0][0])

    def relax(self, part):
        return self.relaxation.descend(part.rows, part.required, part.state)

    def walk(self, part, steps=0):
        return PricedWalk(self, part, NODE if self.nodes else ROOT, steps)

    def spend(self, found):
        self.run.spend(10 * row_work(len(found.z)))

    def goes_on(self, sharper_arrays):
        return True

    def divided(self, part, z, bound):
        """Return the parts with the most fractional feature and without it."""
        if part.required.all():
            self.evaluate(part.rows[None])
            return []
        fraction = np.where(part.required, -1.0, np.minimum(z, 1 - z))
        return self.with_and_without(part, int(np.argmax(fraction)), bound)
