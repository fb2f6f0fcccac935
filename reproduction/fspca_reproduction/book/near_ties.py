"""Prove optima that differ by a millionth from many others: by what required features leave.

The relaxation of such a problem would have to be solved to ten digits.  Instead every node of the
tree is bounded in closed form: what it requires explains some, each other feature adds at most so
much to it (the theorem on required features, in the page of the certificate format).
"""

import numpy as np

from fspca.proof.claims import Certificate, claimed
from fspca.proof.search import Left, Part
from fspca.proof.tree import SupportTree
from fspca.shared_support.refit import solution_on
from fspca.solver import Run

LIST = 1000  # supports that are looked at in a node: they cost about as much as its bound
WHOLE = {"whole": 3}


class RequiredTree(SupportTree):
    """The best support, by a tree whose nodes are bounded by what they require."""

    most_enumerated = LIST

    def settled(self, part):
        return self.is_one_support(part) and super().settled(part)

    def restricted(self, state, rows):
        return None

    def process_node(self, part):
        while not self.settled(part):
            found = self.checked.bound(part.rows, part.required, WHOLE)
            if found.value <= self.target:
                return []
            left = Left(part, found.c, found.c)
            after = self.without_decided(left, found.value).part
            if after.place == part.place:
                if self.enumerate_leaf(part.rows, part.required, found.rest, found.c):
                    return []
                costs = np.where(part.required, -1.0, found.c)
                return self.with_and_without(part, int(np.argmax(costs)), found.value)
            part = after
        return []


def proven(checked, support, max_iter):
    """Return the best answer, with its bound and claim, or None where the nodes do not suffice.

    A part may be bounded worse than the one above it, so that an unfinished tree shows little.
    """
    with Run(max_iter) as run:
        tree = RequiredTree(checked, 0.0, 1.0, run)
        tree.propose(support)
        root = Part(checked.rows, checked.required, None,
                    tree.place(checked.rows, checked.required, -1))  # fmt: skip
        tree.arrays[root.place] = WHOLE
        first = checked.bound(checked.rows, checked.required, WHOLE)
        tree.push([(first.value, root)])
        tree.search()
    if tree.heap and tree.bound > tree.target:
        return None
    answer = solution_on(checked.A, checked.problem, tree.answer, "solve", n_iter=tree.nodes,
                         stopped="gap reached")  # fmt: skip
    return claimed(checked, answer, Certificate(tree.bound, tree.proof))
