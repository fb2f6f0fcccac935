r"""Leaders: what the largest correlations of each feature say of one component of wide data.

A support that explains more than v has a leader, the feature that lies nearest to its component.
The others lie near the leader, so that few features can lead a support above v, and each has few
neighbours.  `fspca.check_certificate.leaders` computes both; here stands what is made of it: a
bound in closed form, starts, and the parts that the root of a search is divided into.
"""

from typing import NamedTuple

import numpy as np

from fspca.check_certificate import LED, leaders
from fspca.proof.checked import VARIANCES
from fspca.proof.claims import Certificate

STARTS = 20  # supports around leaders from which ascents begin, the best of
LIKELIEST = 100  # leaders of largest bound
HALVINGS = 10  # of the interval of the bound, to a thousandth of what it began with
WORK = 60  # counted, of a correlation: 1e10 take a second, and a pass over 12,600 features one


class Led(NamedTuple):
    """A feature that may lead a support, the bound of such supports, the features they may have."""

    leader: int
    bound: float
    rows: np.ndarray


class Leaders:
    """The features that may lead a support above a value, found by one pass over the data.

    Above a larger value there are no others.
    """

    def __init__(self, checked, value):
        self.checked = checked
        found = [(i, most) for i, most, _ in self._each(value)]
        self.among = np.array([i for i, _ in found], dtype=np.intp)
        self.most = np.array([most for _, most in found])

    @classmethod
    def of(cls, checked, value):
        """The Leaders of a problem, or None where the theorem says nothing, or data are narrow."""
        asked = checked.m == 1 < checked.k and not checked.required.any() and value > 0
        fits = asked and checked.matrix is not None and checked.wide(checked.rows)
        return cls(checked, value) if fits else None

    def _each(self, value, among=None):
        """Yield (i, bound, bounds with each feature) of each leader above a value, i its place."""
        checked = self.checked
        back = np.ldexp(1.0, -2 * checked.numbers.shift)
        asked = (checked.matrix, checked.rows, checked.k, value / back, checked.numbers, among)
        with np.errstate(all="ignore"):
            for i, most, reach in leaders(*asked):
                yield i, most * back, reach * back

    def bound(self, value):
        """Return a bound of all supports: a value above which no feature can lead one."""
        # The bounds of leaders fall where the value rises, so that halving an interval finds it; it
        # ends where it would cost more than the pass that found the leaders.
        if not len(self.among):
            return value
        low, high = value, max(value, self.most.max())
        among, left = self.among, self.checked.rows.size
        for _ in range(HALVINGS):
            left -= len(among)
            if left < 0:
                break
            middle = (low + high) / 2
            above = [i for i, _, _ in self._each(middle, among)]
            if above:
                low, among = middle, np.array(above)
            else:
                high = middle
        return high

    def certificate(self, value):
        """Return a Certificate of `bound(value)`: a tree whose root is divided among no leaders."""
        # Below such a root a claim has a node for each feature that may lead a support above what
        # is claimed.  Above the bound there is none, so that the root has no children.  A node
        # without arrays inherits those above it, and a root must have some.
        state = np.zeros((1, self.checked.array.shape[1]), dtype=np.int8)
        state[0, self.checked.rows] = 1
        alone = {"nodes": state, "parent": np.array([-1]), "branch": np.array([LED])}
        return Certificate(self.bound(value), alone | {"whole_0": VARIANCES})

    def starts(self, value):
        """Return the best of the supports of the likeliest leaders and their nearest features."""
        rows, k = self.checked.rows, self.checked.k
        likely = self.among[np.argsort(-self.most, kind="stable")[:LIKELIEST]]
        supports = set()
        for i, _, reach in self._each(value, np.sort(likely)):
            reach[i] = np.inf
            supports.add(tuple(np.sort(rows[np.argpartition(-reach, k - 1)[:k]]).tolist()))
        values = {each: self.checked.value(np.array(each)) for each in sorted(supports)}
        return [np.array(each) for each in sorted(values, key=lambda each: -values[each])[:STARTS]]

    def above(self, target):
        """Return a Led for each feature that may lead a support above a target."""
        rows = self.checked.rows
        found = []
        for i, most, reach in self._each(target, self.among):
            near = reach > target
            near[i] = True
            found.append(Led(int(rows[i]), most, rows[near]))
        return found
