"""The tree of the search for a nonnegative component: how a part is bounded and divided.

A node says which entries of x are positive and which are zero; the others are free.  Its bound is
the doubly nonnegative relaxation on what may be positive, warm-started from its parent.  Costs
decide features while the relaxation is being solved; few remaining supports are looked at one by
one, and otherwise the most fractional feature is branched on.  Where very many are fractional, P
mixes several x, and it is the sign of a product with x that is: that of P's second axis.
"""

import numpy as np

from fspca.check_certificate import CUTS, decisions, none_positive
from fspca.covariance.linalg import embedded
from fspca.nonnegative.low_rank import answer, ascend_one, keep_positive
from fspca.proof.nonnegative_relaxation import SignedGround, claim_of_columns
from fspca.proof.search import PROOF, Part, Tree
from fspca.solver import Run

# steps of a node, and: it is divided where 50 of them gain less, as a share of what is missing
ROOT, NODE, CUT = (2000, 0.05), (200, 0.2), (400, 0.1)
SHARE = 0.1  # of the free features, which must be decided for the relaxation to begin again
MANY, MIXED = 50, 0.01  # fractional features, and P's second eigenvalue, above which x is cut


class ComponentTree(Tree):
    """The best component; a part has its features ascending, and marks those it must have."""

    one_by_one, smaller = 2000, True

    def __init__(self, A, k, gap, run):
        super().__init__(A.size, k, max(gap - PROOF, 0.0), run)  # the target is PROOF above it
        self.A, self.ground = A, SignedGround(A.submatrix(np.arange(A.size)), 1, k)
        self.directions, self.cuts = [], {-1: ()}

    def place(self, rows, required, parent, *cut):
        """Write a node down, and the directions with which x has no negative product there."""
        place = super().place(rows, required, parent)
        self.cuts[place] = (*self.cuts[parent], *cut)
        return place

    def offer(self, x):
        """Keep a component, improved by the rank-1 rule, if it is better."""
        x = ascend_one(self.A, keep_positive(x, self.k), self.k, Run(1000))
        found = answer(self.A, self.k, x, "")
        self.keep(found.objective, found.W[:, 0])

    def offer_vector(self, rows, v):
        """Offer a vector on some features, with the sign that makes more of it positive."""
        self.offer(embedded(v * np.sign(v.sum()), rows, self.size))

    def claim(self, bound):
        """The tree, as a claim that lacks only its matrix: nothing explains more than the bound."""
        W = self.answer[:, None]
        proof = self.proof | ({"directions": np.array(self.directions)} if self.directions else {})
        return claim_of_columns(W, [self.k], self.k, self.value, bound, proof)

    def look(self, supports):
        """Offer the best; an eigenvector with two signs closes a support that explains more."""
        blocks = self.ground.full[supports[:, :, None], supports[:, None, :]]
        values, vectors = np.linalg.eigh(blocks)
        i = int(np.argmax(values[:, -1]))
        self.offer_vector(supports[i], vectors[i, :, -1])
        numbers = self.ground.numbers
        target = np.ldexp(self.target, 2 * numbers.shift)
        blocks = np.ldexp(blocks, 2 * numbers.shift)[values[:, -1] > self.target * (1 - PROOF)]
        exact = [0.0] * len(blocks)
        return not len(blocks) or all(none_positive(blocks, exact, 1, target, numbers))

    def opened(self, part):
        """Bound a part and decide what can be decided; return (bound, part) of what is left."""
        is_root = self.nodes == 0
        cuts = self.cuts[part.place]
        budget, patience = ROOT if is_root else CUT if cuts else NODE
        steps, last, bound = 0, np.inf, None
        inherited = np.inf if is_root else -self.heap[0][0]
        source = self.ground.descend(*part[:3], cuts)
        while True:
            found, z, P, state = next(source)
            steps += 10
            bound = found if bound is None or found.value < bound.value else bound
            if steps == 10 or (is_root and steps % 100 == 0):
                self.offer_vector(part.rows, np.linalg.eigh(P)[1][:, -1])
            late = steps >= budget or self.run.left == 0
            if steps % 50 == 0:
                late |= last - bound.value < patience * (bound.value - self.target)
                last = bound.value
            inside, outside = decisions(bound.c, part.required, self.k, bound.value, self.target)
            decided = inside.sum() + outside.sum()
            enough = decided >= SHARE * (~part.required).sum()
            if bound.value > self.target and not (late or enough):
                continue
            self.arrays[part.place] = bound.arrays
            closed = bound.value <= self.target
            if closed or self.listed(part.rows, part.required, bound.rest, bound.c):
                return []
            direction = None if enough else self.direction(part, z, P)
            if decided and direction is None:
                kept = np.flatnonzero(~outside)
                rows, required = part.rows[kept], (part.required | inside)[kept]
                place = self.place(rows, rows[required], part.place)
                part, inherited = Part(rows, required, state.restricted(kept), place), bound.value
                if required.sum() > self.k or not len(rows):
                    return []
            else:
                if bound.value >= inherited:  # then the arrays of the nearest node above say more
                    del self.arrays[part.place]
                part = part._replace(state=state)
                return self.divided(part, z, direction, min(bound.value, inherited))
            source, bound, last = self.ground.descend(*part[:3], cuts), None, np.inf

    def direction(self, part, z, P):
        """Return P's second axis, in integers, where P mixes what features hardly tell apart."""
        none = np.sum(np.minimum(z, 1 - z) > 0.01) <= MANY or len(self.cuts[part.place]) == CUTS
        if none or (found := np.linalg.eigh(P)).eigenvalues[-2] <= MIXED:
            return None
        axis = found.eigenvectors[:, -2]
        axis = np.rint(2**15 * axis / np.abs(axis).max())
        return embedded(axis, part.rows, self.size).astype(int)

    def divided(self, part, z, direction, bound):
        """Return the parts on both sides of a direction, or with a feature and without it."""
        rows, required, state, place = part
        if direction is not None:
            self.branch[place] = self.size + len(self.directions)
            self.directions.append(direction)
            state = state._replace(N=np.pad(state.N, (0, 1)))
            return [
                (bound, Part(rows, required, state, self.place(rows, rows[required], place, cut)))
                for cut in (direction, -direction)
            ]
        if required.all():  # rounding leaves open whether its eigenvector has two signs
            self.stuck = max(self.stuck, bound)
            return []
        fraction = np.minimum(z, 1 - z)
        i = int(np.argmax(np.where(required, -1.0, fraction if fraction[~required].any() else z)))
        with_i, others = required.copy(), np.delete(np.arange(len(rows)), i)
        with_i[i] = True
        self.branch[place] = int(rows[i])
        left = rows[others], required[others]
        first = Part(rows, with_i, state, self.place(rows, rows[with_i], place))
        second = self.place(left[0], left[0][left[1]], place)
        return [(bound, first), (bound, Part(*left, state.restricted(others), second))]
