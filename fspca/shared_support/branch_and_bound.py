r"""Branch and bound: the best support, proven.

A node requires some features and excludes others.  Its bound is the relaxation on what is left,
warm-started from its parent, with a bound on every row where that alone does not close it.
Reduced costs decide features while the relaxation is being solved, and it goes on with the rest;
few remaining supports are looked at one by one, and otherwise the most fractional feature is
branched on.  The open node with the largest bound is taken first, and that bound is valid for the
whole tree, so an interruption loses nothing.  What is decided is decided by the arithmetic of the
checker, and the tree is the certificate.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from heapq import heappop, heappush
from itertools import chain, combinations, count
from math import comb
from typing import NamedTuple

import numpy as np

from fspca.check_certificate import LISTED, decisions
from fspca.covariance import Covariance
from fspca.problem import SharedSupport, Solution
from fspca.progress import Listener
from fspca.running import Run, solves
from fspca.shared_support.certificate import ROWS_SIZE, least_light_bound, relaxed
from fspca.shared_support.ground import MAX_MEMORY, Certificate, Ground, placed
from fspca.shared_support.refit import solution_on
from fspca.shared_support.rows import RowState, descend_rows, restrict_rows, with_rows
from fspca.shared_support.semidefinite import State, descend, restrict
from fspca.shared_support.swap import best_start, climb
from fspca.validate import checked_nonnegative

PROOF = 1e-9  # relative: bounds this close to the value prove it
PLAIN_STEPS, ROOT_STEPS, NODE_STEPS = 60, 600, 60
ROOT_PATIENCE, NODE_PATIENCE = 0.05, 0.15  # stop where so many steps gain less of what is missing
ROOT_WINDOW, NODE_WINDOW = 80, 20
SHARE = 0.1  # of the free features, which must be decided for the relaxation to begin again
ONE_BY_ONE = 20_000  # supports of a node that are looked at one by one


class Part(NamedTuple):
    """A part of the search: the first `fixed` of the rows are required; its place in the tree."""

    rows: np.ndarray
    fixed: int
    state: State | RowState
    place: int


class Found(NamedTuple):
    """What the relaxation of a part has found so far, in the units of the relaxation."""

    bound: float
    c: np.ndarray
    G: np.ndarray
    Y: np.ndarray | None
    z: np.ndarray
    state: State | RowState


class Tree:
    """The best answer, and the nodes as the checker will read them."""

    def __init__(self, ground, gap, scale, run):
        self.A, self.problem, self.ground = ground.A, ground.problem, ground
        self.gap, self.scale, self.run = gap, scale, run
        self.value, self.support, self.nodes, self.left = -np.inf, None, 0, LISTED
        self.states, self.parent, self.branch, self.arrays = [], [], [], {}

    def offer(self, support):
        """Keep a support if it is better, by the value that the checker grants it."""
        value = self.ground.value(support)
        if value > self.value:
            self.value, self.support = value, np.sort(support)

    @property
    def target(self):
        """A bound up to here closes a node."""
        return self.value * (1 + self.gap) + PROOF * self.value

    def place(self, rows, fixed, parent):
        """Write a node down and return its number."""
        state = np.zeros(self.A.size, dtype=np.int8)
        state[rows], state[rows[:fixed]] = 1, 2
        self.states.append(state)
        self.parent.append(parent)
        self.branch.append(-1)
        return len(self.states) - 1

    def prove(self, part, found):
        """Return (rest, c, bound) that are proven, and keep the arrays that do it.

        They are rounded first: to what is kept, and to columns that matter.
        """
        size = np.sum(found.G**2, axis=0)
        G = found.G[:, size > 1e-9 * size.max(initial=0)] * np.sqrt(self.scale)
        Y = None if found.Y is None else shortened(found.Y * self.scale)
        proven, arrays = self.ground.prove(part.rows, part.fixed, G.astype(np.float32), Y)
        self.keep(part, arrays)
        return proven

    def keep(self, part, arrays):
        """Keep the arrays of a part as the checker reads them."""
        order = np.argsort(part.rows)
        self.arrays[part.place] = {x: placed(x, v, order) for x, v in arrays.items()}

    def certificate(self, bound):
        """The tree as far as it is grown: nothing explains more than the bound."""
        arrays = {f"{x}_{t}": v for t, kept in self.arrays.items() for x, v in kept.items()}
        tree = {"nodes": np.array(self.states), "parent": np.array(self.parent)}
        return Certificate(bound, tree | {"branch": np.array(self.branch)} | arrays)


def shortened(Y):
    """Return Y in float32 with 14 of its 23 binary places, which pack well."""
    Y = np.where(np.abs(Y) > 1e-6 * np.abs(Y).max(initial=0), Y, 0).astype(np.float32)
    return ((Y.view(np.uint32) + 256) & np.uint32(0xFFFFFE00)).view(np.float32)


@lru_cache(maxsize=32)
def choices(n, r):
    """Return all choices of r out of n, one a row."""
    flat = chain.from_iterable(combinations(range(n), r))
    return np.fromiter(flat, dtype=np.intp, count=r * comb(n, r)).reshape(comb(n, r), r)


def listed(tree, rows, fixed, proven=None):
    """Look at the supports of a part one by one; False if they are too many.

    A support explains at most rest + c(I), of the (rest, c) that are proven for the part.
    """
    needed = min(tree.problem.k - fixed, len(rows) - fixed)
    number = comb(len(rows) - fixed, max(needed, 0))
    if number > min(ONE_BY_ONE, tree.left):
        return False
    tree.left -= number
    supports = np.hstack([
        np.broadcast_to(np.arange(fixed), (number, fixed)),
        fixed + choices(len(rows) - fixed, max(needed, 0)),
    ])  # fmt: skip
    if proven is not None:
        rest, c, _ = proven
        supports = supports[rest + c[supports].sum(axis=1) > tree.target]
    if len(supports):
        full, m = tree.ground.block(rows), tree.problem.m
        blocks = full[supports[:, :, None], supports[:, None, :]]
        values = np.linalg.eigvalsh(blocks)[:, -m:].sum(axis=1)
        tree.offer(rows[supports[np.argmax(values)]])
    return True


def iterates(state, m, k, fixed):
    """The relaxation that a state is of."""
    return (descend_rows if isinstance(state, RowState) else descend)(state, m, k, fixed)


def narrowed(state, rows):
    """The state on some of the features; few of them leave the basis."""
    if isinstance(state, RowState):
        return restrict_rows(state, rows)
    return restrict(state, rows, dense=len(rows) <= ROWS_SIZE)


def open_part(tree, part, is_root):
    """Bound a part, decide what can be decided; return (bound, parts that are left of it)."""
    m, k = tree.problem.m, tree.problem.k
    rows, fixed, state, place = part
    budget, patience, window = NODE_STEPS, NODE_PATIENCE, NODE_WINDOW
    if is_root:
        budget, patience, window = ROOT_STEPS, ROOT_PATIENCE, ROOT_WINDOW
    best, last, steps, since = None, np.inf, 0, 0
    if len(rows) <= k or fixed >= k:
        tree.offer(rows[:k])
        return []
    source = iterates(state, m, k, fixed)
    while True:
        found = Found(*next(source))
        steps, since = steps + 10, since + 10
        best = found if best is None or found.bound < best.bound else best
        part, at = Part(rows, fixed, None, place), best.bound * tree.scale
        closes, late = at <= tree.target, False
        if not closes and since % 20 == 0:
            missing = at - tree.target
            late = steps >= budget or tree.run.left == 0
            if since % window == 0:
                late, last = late or last - at < patience * missing, at
            if is_root and steps % 100 == 0:
                round_up(tree, rows, fixed, best.z)
        plain = not isinstance(found.state, RowState) and found.state.basis is None
        if plain and not closes and (since >= PLAIN_STEPS or late):
            source, since, late = iterates(with_rows(found.state), m, k, fixed), 0, False
            if len(rows) <= ROWS_SIZE:
                continue
        if not (closes or late or since % 20 == 0):
            continue
        required = np.arange(len(rows)) < fixed
        guess = np.any(decisions(best.c, required, k, best.bound, tree.target / tree.scale), axis=0)
        enough = guess.sum() >= max(3, SHARE * (len(rows) - fixed))
        if not (closes or late or enough):
            continue
        rest, c, bound = proven = tree.prove(part, best)
        if bound <= tree.target:
            return []
        inside, outside = decisions(c, required, k, bound, tree.target)
        if late and comb(len(rows) - fixed, k - fixed) > ONE_BY_ONE:
            round_up(tree, rows, fixed, best.z)
        if inside.any() or outside.any():
            kept = np.concatenate([
                np.arange(fixed), np.flatnonzero(inside),
                np.flatnonzero(~inside & ~outside & ~required),
            ])  # fmt: skip
            rows, fixed, c = rows[kept], fixed + int(inside.sum()), c[kept]
            place = tree.place(rows, fixed, place)
            state, z = narrowed(best.state, kept), best.z[kept]
            if listed(tree, rows, fixed, (rest, c, bound)):
                return []
            if not late:
                source, best, since, last = iterates(state, m, k, fixed), None, 0, np.inf
                continue
        elif listed(tree, rows, fixed, proven):
            return []
        elif not late:
            continue
        else:
            state, z = best.state, best.z
        return divided(tree, rows, fixed, state, z, bound, place)


def round_up(tree, rows, fixed, z):
    """Climb from the features that the relaxation wants most."""
    k = tree.problem.k
    wanted = np.concatenate([np.arange(fixed), fixed + np.argsort(-z[fixed:], kind="stable")])
    found = climb(tree.A, tree.problem.m, k, np.sort(rows[wanted[:k]]), **sides(tree.problem))
    tree.offer(found.support)
    if found.stopped == "interrupted":
        raise KeyboardInterrupt


def divided(tree, rows, fixed, state, z, bound, place):
    """Return the two parts that hold, and lack, the most fractional feature."""
    i = fixed + np.argmax(np.minimum(z[fixed:], 1 - z[fixed:]))
    tree.branch[place] = rows[i]
    others = np.delete(np.arange(len(rows)), i)
    parts = []
    for order, held in ((np.insert(others, fixed, i), fixed + 1), (others, fixed)):
        below = tree.place(rows[order], held, place)
        parts.append((bound, Part(rows[order], held, narrowed(state, order), below)))
    return parts


@solves(SharedSupport)
def branch_and_bound(A: Covariance, m: int, k: int, *, gap: float = 0.0,
                     required: Sequence[int] = (), forbidden: Sequence[int] = (),
                     max_memory: float = MAX_MEMORY, n_starts: int = 1, seed: int | None = 0,
                     max_iter: int = 100_000, max_seconds: float | None = None,
                     progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find the best support and prove it, or return the best so far with its valid gap.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  The set of
    supports is split by requiring or excluding a feature; a part whose upper bound does not
    exceed the best value known cannot hold a better support, and is dropped.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    gap : float
        Stop when the optimum is proven to be at most this much higher, relatively.
    required, forbidden : sequences of features
        What the support must hold, and must lack.
    max_memory : int
        Bytes for arrays; where the matrix does not fit, and the data do not, there is no search.
    n_starts, seed : int
        Random starts of the first answer beside Go and the largest variances.
    max_iter, max_seconds : int, float
        The budget in nodes and in seconds; ending there, or by Ctrl-C, leaves a valid bound.
    progress : True or callable
        Told after each node.

    Returns
    -------
    Solution
        `n_iter` counts nodes.  Where the search ends by itself, `certificate` is its tree: with
        the matrix A it is a claim for `fspca.check_certificate.check`.

    See Also
    --------
    exhaustive : For few supports.
    upper_bound : The bound of its nodes.
    solve : A good answer first.

    Notes
    -----
    Exact up to 1e-9, relatively, when it converges.  Cost: exponential at worst; see the
    chapter "Exact search: prove it by branching and bounding" for what it does on real data.

    Examples
    --------
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> best = branch_and_bound(A, m=1, k=2)
    >>> best.support
    array([1, 2])
    >>> from fspca.check_certificate import check
    >>> check(best.certificate | {"A": A}).reason
    'holds'
    """
    checked_nonnegative("gap", gap)
    A, problem = A.plain, SharedSupport(m, k, required=required, forbidden=forbidden)
    ground = Ground(A, problem, max_memory)
    if ground.matrix is None:
        raise ValueError(f"max_memory={max_memory} holds neither the matrix nor the data")
    with Run(max_iter, max_seconds, progress) as run:
        first = run.take(best_start(A, m, k, n_starts, seed, **sides(problem)))
        return grown(ground, gap, first, least_light_bound(ground), run)
    return replace(run.answer, solver="branch_and_bound", stopped="interrupted")


def sides(problem):
    """The options that say what the support must hold and must lack, where it must."""
    names = ("required", "forbidden") if problem.required or problem.forbidden else ()
    return {name: getattr(problem, name) for name in names}


def grown(ground, gap, first, light, run):
    """Search from a first answer and bound; return the best answer with its bound and claim."""
    problem, value = ground.problem, ground.value(first.support)
    light_is_enough = light.bound <= value * (1 + gap) + PROOF * value
    if light_is_enough:
        done = replace(first, solver="branch_and_bound", n_iter=0, stopped="gap reached")
        return ground.claimed(done, light)
    scale, state = relaxed(ground)
    tree, rows, fixed = Tree(ground, gap, scale, run), ground.rows, ground.fixed
    tree.offer(first.support)
    state = narrowed(state, np.arange(len(rows)))
    root = Part(rows, fixed, state, tree.place(rows, fixed, -1))
    tree.keep(root, light.arrays)  # a root with one support is not bounded again
    ticket, heap = count(), [(-light.bound, 0, root)]
    next(ticket)
    try:
        for _ in run:
            parts = open_part(tree, heap[0][2], tree.nodes == 0)
            heappop(heap)  # not before: an interruption loses nothing
            tree.nodes += 1
            for bound, part in parts:
                heappush(heap, (-bound, next(ticket), part))
            bound = max(-heap[0][0] if heap else 0.0, tree.target)
            run.tell(tree.value, bound)
            if not heap or -heap[0][0] <= tree.target:
                run.stop("gap reached")
    except KeyboardInterrupt:
        run.stop("interrupted")
    bound = max(tree.target, -heap[0][0] if heap else 0.0)
    stopped = "gap reached" if bound <= tree.target else run.stopped
    facts = {"n_iter": tree.nodes, "stopped": stopped}
    solution = solution_on(ground.A, problem, tree.support, "branch_and_bound", **facts)
    found = tree.certificate(bound) if tree.nodes else light
    return ground.claimed(solution, found)
