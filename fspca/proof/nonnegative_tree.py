"""The tree of the search for a nonnegative component: how a part is bounded and divided.

A node says which entries of x are positive and which are zero; the others are free.  Its bound is
the doubly nonnegative relaxation on what may be positive, warm-started from its parent.  Costs
decide features while the relaxation is being solved; few remaining supports are looked at one by
one, and otherwise the most fractional feature is branched on.  Where very many are fractional, P
mixes several x, and it is the sign of a product with x that is: that of P's second axis.

Rows that know their count halve the nodes, and as each step costs half as much again they save no
time: 9.8 s against 9.0 on 33 instances of 13 to 120 features that both prove.
"""

import numpy as np

from fspca.check_certificate import CUTS, none_positive
from fspca.covariance.linalg import embedded
from fspca.nonnegative.low_rank import answer, ascend_one, keep_positive
from fspca.problem import Nonnegative
from fspca.proof.claims import claim_of, gap_of
from fspca.proof.nonnegative_relaxation import NonnegativeRelaxation
from fspca.proof.search import INHERITED, PROOF, Pace, Part, Tree, Walk
from fspca.solver import Run

# Chosen by the seconds of whole searches on the sets of the chapter.
ROOT = Pace(budget=2000, patience=0.05, window=50)  # the root is solved only once
NODE = Pace(budget=200, patience=0.2, window=50)
CUT = Pace(budget=400, patience=0.1, window=50)  # of a part with cuts, which bring more slowly
MANY = 50  # fractional features above which x is cut: to branch on each would take too long
FRACTIONAL = 0.01  # so far from 0 and 1
MIXED = 0.01  # P's second eigenvalue above which it mixes several x


class ComponentTree(Tree):
    """The best component."""

    most_enumerated = 2000  # supports of a node, smaller ones too, each with its eigenvectors
    smaller = True

    def __init__(self, A, k, gap, run):
        super().__init__(A.size, k, max(gap - PROOF, 0.0), run)  # the target is PROOF above it
        self.A = A
        self.relaxation = NonnegativeRelaxation(A.submatrix(np.arange(A.size)), Nonnegative(1, k))
        self.checked = self.relaxation.checked
        self.directions = []
        self.cuts = {-1: ()}

    def place(self, rows, required, parent, *cut):
        """Write a node down, and the directions with which x has no negative product there."""
        place = super().place(rows, required, parent)
        self.cuts[place] = (*self.cuts[parent], *cut)
        return place

    def propose(self, x):
        """Keep a component, improved by the rank-1 rule, if it is better."""
        x = ascend_one(self.A, keep_positive(x, self.k), self.k, Run(1000))
        found = answer(self.A, self.k, x, "")
        self.record(found.objective, found.W[:, 0])

    def propose_vector(self, rows, v):
        """Propose a vector on some features, with the sign that makes more of it positive."""
        self.propose(embedded(v * np.sign(v.sum()), rows, self.size))

    def claim(self, bound):
        """The tree, as a claim that lacks only its matrix: nothing explains more than the bound."""
        facts = {"W": self.answer[:, None], "counts": [self.k]}
        if self.directions:
            facts["directions"] = np.array(self.directions)
        return claim_of(self.checked, gap_of(self.value, bound, PROOF), self.proof, **facts)

    def evaluate(self, supports):
        """Propose the best; return whether surely no component on these is above the target."""
        # A support that explains more is closed where its leading eigenvector surely has two signs.
        blocks = self.relaxation.inner[supports[:, :, None], supports[:, None, :]]
        values, vectors = np.linalg.eigh(blocks)
        i = int(np.argmax(values[:, -1]))
        self.propose_vector(supports[i], vectors[i, :, -1])
        numbers = self.checked.numbers  # of A times 2^(2 shift)
        target = np.ldexp(self.target, 2 * numbers.shift)
        blocks = np.ldexp(blocks, 2 * numbers.shift)[values[:, -1] > self.target * (1 - PROOF)]
        exact = [0.0] * len(blocks)
        return not len(blocks) or all(none_positive(blocks, exact, 1, target, numbers))

    def settled(self, part):
        return not len(part.rows)

    def inherited(self, part):
        """The bound of the part that is being processed, the largest of all; the root has none."""
        return -self.heap[0][0] * INHERITED if self.nodes else np.inf

    def relax(self, part):
        cuts = self.cuts[part.place]
        return self.relaxation.descend(part.rows, part.required, part.state, cuts)

    def walk(self, part, steps=0):
        pace = CUT if self.cuts[part.place] else NODE
        return Walk(self, part, pace if self.nodes else ROOT, steps)

    def inherited_found(self, walk):
        """The last point: the direction is that of a P that has settled."""
        return walk.found

    def goes_on(self, sharper_arrays):
        return True

    def round_on_the_way(self, walk):
        if walk.steps == 10 or (self.nodes == 0 and walk.steps % 100 == 0):
            self.propose_vector(walk.part.rows, np.linalg.eigh(walk.found.P)[1][:, -1])

    def direction(self, part, z, P):
        """Return P's second eigenvector in integers, to cut along, or None."""
        # It is worth a cut where P mixes several x, and so many features are fractional that to
        # branch on each would take too long.
        fractional = np.sum(np.minimum(z, 1 - z) > FRACTIONAL)
        if fractional <= MANY or len(self.cuts[part.place]) == CUTS:
            return None
        values, vectors = np.linalg.eigh(P)
        if values[-2] <= MIXED:
            return None
        axis = vectors[:, -2]
        axis = np.rint(2**15 * axis / np.abs(axis).max())
        return embedded(axis, part.rows, self.size).astype(int)

    def divided_otherwise(self, walk, bound):
        """Return the parts where the product of x with a direction is >= 0, and <= 0, or None."""
        if walk.enough:  # so much is decided that the relaxation begins again without that
            return None
        direction = self.direction(walk.part, walk.found.z, walk.found.P)
        if direction is None:
            return None
        rows, required, state, place = self.carried_on(walk)
        # below `size` a branch is a feature, from there on a direction by its number
        self.branch[place] = self.size + len(self.directions)
        self.directions.append(direction)
        # the guess is N, whose last row and column belong to the cut that both parts get
        state = state._replace(guess=np.pad(state.guess, (0, 1)))
        return [
            (bound, Part(rows, required, state, self.place(rows, required, place, cut)))
            for cut in (direction, -direction)
        ]

    def divided(self, part, z, bound):
        """Return the parts with the most fractional feature and without it."""
        if part.required.all():  # rounding leaves open whether its eigenvector has two signs
            self.unresolved_bound = max(self.unresolved_bound, bound)
            return []
        fraction = np.minimum(z, 1 - z)
        fraction = fraction if fraction[~part.required].any() else z
        i = int(np.argmax(np.where(part.required, -1.0, fraction)))
        return self.with_and_without(part, i, bound)
