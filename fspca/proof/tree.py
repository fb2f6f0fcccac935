r"""The tree of the search for a shared support: how a part of it is bounded and divided.

The bound of a part is the relaxation on what is left, warm-started from its parent, with a bound on
every row where that alone does not close it.  Reduced costs decide features while the relaxation is
being solved, and it goes on with the rest; few remaining supports are looked at one by one, and
otherwise the most fractional feature is branched on.  What is decided is decided by the arithmetic
of the checker.
"""

from math import comb
from typing import NamedTuple

import numpy as np

from fspca.check_certificate import decisions
from fspca.proof.bounds import ROWS_SIZE, step_work
from fspca.proof.ground import placed
from fspca.proof.rows import RowState, descend_rows, restrict_rows, with_rows
from fspca.proof.search import Part, Tree
from fspca.proof.semidefinite import State, descend, restrict
from fspca.shared_support.swap import best_of

PLAIN_STEPS = 60
# steps; stop where so little of what is missing goes; times the steps where nothing is gained yet
ROOT, NODE, SMALL = (600, 0.02, 120, 4), (60, 0.15, 20, 4), (60, 0.15, 20, 1)
SHARE = 0.1  # of the free features, which must be decided for the relaxation to begin again
DEAR = 100  # features above which it costs less to go on with a node than to divide it
RISE, REWARD, TRIED, WORTH = 0.4, 1.2, 24, 0.25  # of what is missing; tens of steps; a share
ASIDE, MOVED = 1e-3, 1e-2  # so near to 0 or 1 a feature is out or in; and so far no longer
INHERITED = 1 + 1e-12  # a bound holds for the parts of its node, rounding apart
FEW, AT_FIRST = 2_000, 30_000  # supports that are looked at before any relaxation; of the root


def few(free, wanted):
    """Whether so many features of so many make so few supports that all of them are looked at."""
    return comb(free, wanted) <= AT_FIRST


class Found(NamedTuple):
    """What the relaxation of a part has found so far, in the units of the relaxation."""

    bound: float
    c: np.ndarray
    G: np.ndarray
    Y: np.ndarray | None
    z: np.ndarray
    state: State | RowState


class SupportTree(Tree):
    """The best support; a part has its required features first, and knows how many they are."""

    def __init__(self, ground, gap, scale, run):
        super().__init__(ground.A.size, ground.problem.k, gap, run)
        self.A, self.problem, self.ground, self.scale = ground.A, ground.problem, ground, scale

    def offer(self, support):
        """Keep a support if it is better, by the value that the checker grants it."""
        self.keep(self.ground.value(support), np.sort(support))

    def prove(self, part, found, known):
        """Return (rest, c, bound) that are proven; keep the arrays that do it if they do better.

        They are rounded first: to what is kept, and to columns that matter.
        """
        size = np.sum(found.G**2, axis=0)
        G = found.G[:, size > 1e-9 * size.max(initial=0)] * np.sqrt(self.scale)
        Y = None if found.Y is None else shortened(found.Y * self.scale)
        proven, arrays = self.ground.prove(part.rows, part.required, G.astype(np.float32), Y)
        if proven[2] < known:
            self.note(part, arrays)
        return proven

    def note(self, part, arrays):
        """Keep the arrays of a part as the checker reads them."""
        order = np.argsort(part.rows)
        self.arrays[part.place] = {x: placed(x, v, order) for x, v in arrays.items()}

    def look(self, supports):
        """Offer the support that explains most; another explains no more."""
        union = np.unique(supports)
        at = np.searchsorted(union, supports)
        blocks = self.ground.block(union)[at[:, :, None], at[:, None, :]]
        self.run.spend(4 * len(supports) * (self.k + 20) ** 3)  # as measured beside a step
        values = np.linalg.eigvalsh(blocks)[:, -self.problem.m :].sum(axis=1)
        self.offer(supports[np.argmax(values)])
        return True

    def round_up(self, rows, fixed, z):
        """Climb from the features that the relaxation wants most."""
        wanted = np.concatenate([np.arange(fixed), fixed + np.argsort(-z[fixed:], kind="stable")])
        found = best_of(self.A, self.problem, [np.sort(rows[wanted[: self.k]])])
        self.offer(found.support)
        if found.stopped == "interrupted":
            raise KeyboardInterrupt

    def opened(self, part):
        """Bound a part, decide what can be decided; return (bound, parts that are left of it)."""
        m, k, is_root = self.problem.m, self.k, self.nodes == 0
        rows, fixed, state, place = part
        budget, patience, window, factor = SMALL if len(rows) <= DEAR else ROOT if is_root else NODE
        best, last, steps, since = None, np.inf, 0, 0
        known = np.inf if self.ground.wide(rows) else -self.heap[0][0] * INHERITED
        if len(rows) <= k or fixed >= k:
            self.offer(rows[:k])
            return []
        most = AT_FIRST if is_root else FEW
        listed = comb(len(rows) - fixed, k - fixed) <= most
        if listed and self.listed(rows, np.arange(len(rows)) < fixed, np.inf, np.zeros(len(rows))):
            return []
        source = iterates(state, m, k, fixed)
        while True:
            found = Found(*next(source))
            self.run.spend(10 * step_work(found.state))
            steps, since = steps + 10, since + 10
            best = found if best is None or found.bound < best.bound else best
            at = best.bound * self.scale
            closes, late = at <= self.target, False
            if not closes and since % 20 == 0:
                late = steps >= budget * (factor if at >= known else 1) or self.run.left == 0
                if since % window == 0:
                    slow = at < known and last - at < patience * (at - self.target)
                    late, last = late or slow, at
                if is_root and steps % 100 == 0:
                    self.round_up(rows, fixed, best.z)
            plain = not isinstance(found.state, RowState) and found.state.basis is None
            plain = plain and not closes and not self.ground.wide(rows)
            if plain and (since >= PLAIN_STEPS or late):
                source, since, late = iterates(with_rows(found.state), m, k, fixed), 0, False
                if len(rows) <= ROWS_SIZE:
                    continue
            if not (closes or late or since % 20 == 0):
                continue
            required = np.arange(len(rows)) < fixed
            guess = decisions(best.c, required, k, best.bound, self.target / self.scale)
            enough = np.sum(guess) >= max(3, SHARE * (len(rows) - fixed))
            if not (closes or late or enough):
                continue
            known = np.inf if enough and not late else known  # to decide much is worth more
            rest, c, bound = self.prove(Part(rows, fixed, None, place), best, known)
            if bound <= self.target:
                return []
            state, z, sharp, decided = best.state, best.z, None, False
            if bound < known:
                known, node, held = bound * INHERITED, place, self.arrays[place]
                if late and len(rows) > DEAR and not enough and best.Y is not None:
                    sharp = self.sharpened(best, fixed)
                if sharp:
                    rest, c, bound = self.prove(Part(rows, fixed, None, place), sharp, np.inf)
                    if bound <= self.target:
                        return []
                    sharper, self.arrays[place] = self.arrays[place], held
                inside, outside = decisions(c, required, k, bound, self.target)
                if late and comb(len(rows) - fixed, k - fixed) > self.one_by_one:
                    self.round_up(rows, fixed, z)
                if decided := inside.any() or outside.any():
                    open_ = ~(inside | outside | required)
                    kept = np.r_[:fixed, np.flatnonzero(inside), np.flatnonzero(open_)]
                    at = np.searchsorted(np.sort(rows), np.sort(rows[kept]))
                    rows, fixed, c, z = rows[kept], fixed + int(inside.sum()), c[kept], z[kept]
                    place, state = self.place(rows, rows[:fixed], place), narrowed(state, kept)
                    if sharp:  # it bounds a little worse: what is left has the arrays of before
                        self.arrays[place] = {x: placed(x, v, at) for x, v in held.items()}
                        self.arrays[node] = sharper
                if self.listed(rows, np.arange(len(rows)) < fixed, rest, c):
                    return []
            if late and not (sharp and decided):
                return self.divided(Part(rows, fixed, state, place), z, known)
            if decided:
                source, best, since, last = iterates(state, m, k, fixed), None, 0, np.inf
                steps = 0 if sharp else steps

    def sharpened(self, found, fixed):
        """Return what decides many features, by a reward for those left out, a fine for the rest.

        Where the bound is least, nearly all that are left out cost as much as the k-th feature,
        and nothing decides them.  Whom a reward does not bring in costs less by as much; who
        comes in is let alone.
        """
        target, required = self.target / self.scale, np.arange(len(found.z)) < fixed
        side = (found.z < ASIDE) * 1.0 - (found.z > 1 - ASIDE) * ~required
        missing, best, most = found.bound - target, None, WORTH * np.sum(~required)
        source = iterates(found.state, self.problem.m, self.k, fixed)
        next(source)
        for tried in range(TRIED):
            if self.run.left == 0 or np.count_nonzero(side) <= most:
                break
            found = Found(*source.send(side * missing * min(RISE * (1 + tried // 2), REWARD)))
            self.run.spend(10 * step_work(found.state))
            side[(side > 0) & (found.z > MOVED) | (side < 0) & (found.z < 1 - MOVED)] = 0
            count = np.sum(decisions(found.c, required, self.k, found.bound, target))
            if count > most:
                best, most = found, count
            elif best:
                break
        return best

    def divided(self, part, z, bound):
        """Return the two parts that hold, and lack, the most fractional feature."""
        rows, fixed, state, place = part
        i = fixed + np.argmax(np.minimum(z[fixed:], 1 - z[fixed:]))
        self.branch[place] = rows[i]
        others = np.delete(np.arange(len(rows)), i)
        parts = []
        for order, held in ((np.insert(others, fixed, i), fixed + 1), (others, fixed)):
            below = self.place(rows[order], rows[order][:held], place)
            parts.append((bound, Part(rows[order], held, narrowed(state, order), below)))
        return parts


def shortened(Y):
    """Return Y in float32 with 14 of its 23 binary places, which pack well."""
    Y = np.where(np.abs(Y) > 1e-6 * np.abs(Y).max(initial=0), Y, 0).astype(np.float32)
    return ((Y.view(np.uint32) + 256) & np.uint32(0xFFFFFE00)).view(np.float32)


def iterates(state, m, k, fixed):
    """The relaxation that a state is of."""
    return (descend_rows if isinstance(state, RowState) else descend)(state, m, k, fixed)


def narrowed(state, rows):
    """The state on some of the features; few of them leave the basis."""
    if isinstance(state, RowState):
        return restrict_rows(state, rows)
    return restrict(state, rows, dense=len(rows) <= ROWS_SIZE)
