r"""Branch and bound: the best nonnegative component of A itself, proven.

A node says which entries of x are positive and which are zero; the others are free.  Its bound is
the doubly nonnegative relaxation on what may be positive, warm-started from its parent.  Costs
decide features while the relaxation is being solved; few remaining supports are looked at one by
one, and otherwise the most fractional feature is branched on.  The open node with the largest
bound is taken first, and that bound is valid for the whole tree, so an interruption loses nothing.
"""

from dataclasses import replace
from heapq import heappop, heappush
from itertools import count

import numpy as np

from fspca.check_certificate import decisions
from fspca.covariance import Covariance
from fspca.nonnegative.components import alone
from fspca.nonnegative.low_rank import answer
from fspca.nonnegative.relaxation import start_from
from fspca.nonnegative.tree import PROOF, Part, Tree, listed
from fspca.problem import Nonnegative, Solution
from fspca.progress import Listener
from fspca.running import Run, solves
from fspca.shared_support.branch_and_bound import branch_and_bound
from fspca.validate import checked_nonnegative

ROOT_STEPS, NODE_STEPS = 2000, 200
ROOT_PATIENCE, NODE_PATIENCE = 0.05, 0.2  # divide where 50 steps gain less of what is missing
SHARE = 0.1  # of the free features, which must be decided for the relaxation to begin again


def open_part(tree, part, is_root):
    """Bound a part and decide what can be decided; return (bound, parts that are left of it)."""
    budget, patience = (ROOT_STEPS, ROOT_PATIENCE) if is_root else (NODE_STEPS, NODE_PATIENCE)
    steps, last, best = 0, np.inf, None
    source = tree.ground.descend(*part[:3])
    while True:
        found, z, P, state = next(source)
        steps += 10
        if best is None or found.value < best[0].value:
            best = found, z, state
        if steps == 10 or (is_root and steps % 100 == 0):
            lead, x = np.linalg.eigh(P)[1][:, -1], np.zeros(tree.A.size)
            x[part.rows] = lead * np.sign(lead.sum())
            tree.offer(x)
        bound, z, state = best
        late = steps >= budget or tree.run.left == 0
        if steps % 50 == 0:
            late |= last - bound.value < patience * (bound.value - tree.target)
            last = bound.value
        inside, outside = decisions(bound.c, part.required, tree.k, bound.value, tree.target)
        decided = inside.sum() + outside.sum()
        if bound.value > tree.target and not late and decided < SHARE * (~part.required).sum():
            continue
        tree.arrays[part.place] = bound.arrays
        if bound.value <= tree.target or listed(tree, part, bound):
            return []
        if decided:
            kept = np.flatnonzero(~outside)
            rows, required = part.rows[kept], (part.required | inside)[kept]
            place = tree.place(rows, required, part.place)
            part, z = Part(rows, required, state.restricted(kept), place), z[kept]
            if required.sum() > tree.k or not len(rows):
                return []
        elif late:
            return divided(tree, part, z, bound.value)
        source, best, last = tree.ground.descend(*part[:3]), None, np.inf


def divided(tree, part, z, bound):
    """Return the parts where the most fractional feature is positive, and where it is zero."""
    rows, required, state, place = part
    if required.all():  # rounding leaves open whether its eigenvector has two signs
        tree.stuck = max(tree.stuck, bound)
        return []
    fraction = np.minimum(z, 1 - z)
    i = int(np.argmax(np.where(required, -1.0, fraction if fraction[~required].any() else z)))
    with_i, others = required.copy(), np.delete(np.arange(len(rows)), i)
    with_i[i] = True
    places = tree.place(rows, with_i, place), tree.place(rows[others], required[others], place)
    tree.branch[place] = int(rows[i])
    zero = Part(rows[others], required[others], state.restricted(others), places[1])
    return [(bound, Part(rows, with_i, state, places[0])), (bound, zero)]


@solves(Nonnegative)
def branch_and_bound_nonnegative(A: Covariance, m: int, k: int, *, gap: float = 0.0,
        n_starts: int = 20, seed: int | None = 0, max_iter: int = 10_000,
        max_seconds: float | None = None,
        progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find the best nonnegative component and prove it, or how good the best so far is.

    The problem is max x'Ax over unit x >= 0 with at most k nonzeros.  The set of supports is
    split by whether a feature's entry is positive or zero; a part whose upper bound does not
    exceed the best value known cannot hold a better component, and is dropped.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        One component (m = 1), and nonzeros at most.
    gap : float
        Stop when the optimum is proven to be at most this much higher, relatively.
    n_starts, seed : int
        Random starts of the first answer.
    max_iter, max_seconds : int, float
        The budget in nodes and in seconds; ending there, or by Ctrl-C, leaves a valid bound.
    progress : True or callable
        Told after each node.

    Returns
    -------
    Solution
        `n_iter` counts nodes.  With the matrix A its `certificate` is a claim for
        `fspca.check_certificate.check`; an interruption leaves the bound without it.

    See Also
    --------
    solve_nonnegative : A good answer first.
    spannogram : Exact for low rank.

    Notes
    -----
    Exact up to 1e-9, relatively, when it converges.  Where A has no negative entry, |x| explains
    no less than x, and `fspca.branch_and_bound` with m = 1 is asked instead.
    Cost: that of dense d x d eigenproblems, some hundred for a node.
    Explained in the chapter "Prove a nonnegative component".

    Examples
    --------
    >>> A = np.array([[2.0, -1.0, 0.5], [-1.0, 2.0, 0.8], [0.5, 0.8, 1.0]])
    >>> best = branch_and_bound_nonnegative(A, 1, 2)
    >>> from fspca.check_certificate import check
    >>> best.support, check(best.certificate | {"A": A}).reason
    (array([1, 2]), 'holds')
    """
    checked_nonnegative("gap", gap)
    if m > 1:
        raise ValueError(f"m={m} must be 1; solve_nonnegative bounds several components")
    A, rng = A.plain, np.random.default_rng(seed)
    run = Run(max_iter, max_seconds, progress)
    tree = Tree(A, k, gap, run)
    if tree.ground.full.min() >= 0:
        found = branch_and_bound(A, 1, k, gap=gap, seed=seed, max_iter=max_iter,
                                 max_seconds=max_seconds, progress=progress)  # fmt: skip
        problem, solver = Nonnegative(1, k), "branch_and_bound_nonnegative"
        return replace(found, W=np.abs(found.W), problem=problem, solver=solver)
    everything = np.arange(A.size), np.zeros(A.size, dtype=bool)
    root = Part(*everything, start_from(A.size, 1, k), tree.place(*everything, -1))
    heap, ticket, most = [(-np.inf, 0, root)], count(1), A.leading(1)[0][0] * (1 + PROOF)
    with run:
        tree.offer(alone(A))
        run.answer = tree.x
        for _ in range(n_starts):
            tree.offer(A.product(rng.standard_normal((A.size, 1)))[:, 0])
        for step in run:
            parts = open_part(tree, heap[0][2], step == 1)
            heappop(heap)  # not before: an interruption loses nothing
            for bound, part in parts:
                heappush(heap, (-bound, next(ticket), part))
            most = max(tree.stuck, tree.target, *(-each[0] for each in heap[:1]))
            run.keep(tree.value, tree.x, bound=most)
            if not heap or -heap[0][0] <= tree.target:
                run.stop("gap reached")
    bound = most if run.bound is None else min(run.bound, most)
    found = answer(A, k, tree.x, "branch_and_bound_nonnegative", bound, **run.facts)
    if run.stopped == "interrupted" or tree.stuck > tree.target or not tree.arrays:
        return found
    return replace(found, certificate=tree.claim(most))
