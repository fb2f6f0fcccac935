"""The tree of the search for a nonnegative component: how a part is bounded and divided.

A node says which entries of x are positive and which are zero; the others are free.  Its bound is
the doubly nonnegative relaxation on what may be positive, warm-started from its parent.  Costs
decide features while the relaxation is being solved; few remaining supports are looked at one by
one, and otherwise the most fractional feature is branched on.
"""

import numpy as np

from fspca.best_first import PROOF, Part, Tree
from fspca.check_certificate import decisions, none_positive
from fspca.linalg import embedded
from fspca.nonnegative.low_rank import answer, ascend_one, keep_positive
from fspca.nonnegative.relaxation import SignedGround, claim_of_columns
from fspca.running import Run

ROOT_STEPS, NODE_STEPS = 2000, 200
ROOT_PATIENCE, NODE_PATIENCE = 0.05, 0.2  # divide where 50 steps gain less of what is missing
SHARE = 0.1  # of the free features, which must be decided for the relaxation to begin again


class ComponentTree(Tree):
    """The best component; a part has its features ascending, and marks those it must have."""

    one_by_one, smaller = 2000, True

    def __init__(self, A, k, gap, run):
        super().__init__(A.size, k, gap, run)
        self.A, self.ground = A, SignedGround(A.submatrix(np.arange(A.size)), 1, k)

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
        return claim_of_columns(W, [self.k], self.k, self.value, bound, self.proof)

    def look(self, supports):
        """Offer the best; an eigenvector with two signs closes a support that explains more."""
        blocks = self.ground.full[supports[:, :, None], supports[:, None, :]]
        values, vectors = np.linalg.eigh(blocks)
        i = int(np.argmax(values[:, -1]))
        self.offer_vector(supports[i], vectors[i, :, -1])
        numbers = self.ground.numbers
        target = np.ldexp(self.target, 2 * numbers.shift)
        blocks = np.ldexp(blocks, 2 * numbers.shift)[values[:, -1] > self.target * (1 - PROOF)]
        return not len(blocks) or all(
            none_positive(blocks, [0.0] * len(blocks), 1, target, numbers)
        )

    def opened(self, part):
        """Bound a part and decide what can be decided; return (bound, part) of what is left."""
        is_root = self.nodes == 0
        budget, patience = (ROOT_STEPS, ROOT_PATIENCE) if is_root else (NODE_STEPS, NODE_PATIENCE)
        steps, last, best = 0, np.inf, None
        inherited = np.inf if is_root else -self.heap[0][0]
        source = self.ground.descend(*part[:3])
        while True:
            found, z, P, state = next(source)
            steps += 10
            if best is None or found.value < best[0].value:
                best = found, z, state
            if steps == 10 or (is_root and steps % 100 == 0):
                self.offer_vector(part.rows, np.linalg.eigh(P)[1][:, -1])
            bound, z, state = best
            late = steps >= budget or self.run.left == 0
            if steps % 50 == 0:
                late |= last - bound.value < patience * (bound.value - self.target)
                last = bound.value
            inside, outside = decisions(bound.c, part.required, self.k, bound.value, self.target)
            decided = inside.sum() + outside.sum()
            if bound.value > self.target and not late and decided < SHARE * (~part.required).sum():
                continue
            self.arrays[part.place] = bound.arrays
            closed = bound.value <= self.target
            if closed or self.listed(part.rows, part.required, bound.rest, bound.c):
                return []
            if decided:
                kept = np.flatnonzero(~outside)
                rows, required = part.rows[kept], (part.required | inside)[kept]
                place = self.place(rows, rows[required], part.place)
                part, inherited = Part(rows, required, state.restricted(kept), place), bound.value
                if required.sum() > self.k or not len(rows):
                    return []
            elif late:
                if bound.value >= inherited:  # then the arrays of the nearest node above say more
                    del self.arrays[part.place]
                return self.divided(part, z, min(bound.value, inherited))
            source, best, last = self.ground.descend(*part[:3]), None, np.inf

    def divided(self, part, z, bound):
        """Return the parts where the most fractional feature is positive, and where it is zero."""
        rows, required, state, place = part
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
