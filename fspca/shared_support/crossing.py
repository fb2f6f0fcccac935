"""Crossing: many ascents side by side, exchanges from the best, then ascents between the optima.

What two good supports share is likely to be right, and so is what either of them has.  The best
loadings on the union of two local optima are as good as both, and IPU falls from there to k
features that none of the two had; from their intersection it fills up anew.
"""

from itertools import combinations

import numpy as np

from fspca.covariance.linalg import embedded, random_subspace
from fspca.shared_support.iteration import ascents
from fspca.shared_support.refit import best_pairs
from fspca.shared_support.swap import GAIN, admitted, first_support, swap

STARTS, FEWER = 100, 5  # random ones; where each costs passes over streamed data
CLIMBED, ELITE, AGAIN = 5, 6, 4  # ends to exchange from; optima to cross; new ends of a round
TOGETHER = 2**28  # bytes of the blocks of all starts side by side


def cross(A, problem, seed, run, near=()):
    """Give a run the best local optimum that ascents and crossings find, from its own answer on.

    `near` are supports to begin with beside random starts.

    Only what was not seen before is climbed.  It ends where a round gains nothing, or the run's
    time is over.
    """
    seen, found = set(), {}
    optima(A, problem, [run.answer.support], seen, found, run)
    rng, m = np.random.default_rng(seed), problem.m
    most = FEWER if A.streamed else STARTS
    fits = int(TOGETHER // (24 * A.size * m))  # the starts, their products, the rows scored
    starts = [first_support(A, problem, "variance"), *near]
    starts += [random_subspace(A.size, m, rng) for _ in range(min(most, max(FEWER, fits)))]
    optima(A, problem, ends_of(A, problem, starts, seen, run)[:CLIMBED], seen, found, run)
    before = 0.0
    while run.seconds_left != 0 and run.value > before * (1 + GAIN):
        before, best = run.value, sorted(found, key=lambda key: -found[key])[:ELITE]
        ends = ends_of(A, problem, list(between(A, best, m)), seen, run)
        optima(A, problem, ends[:AGAIN], seen, found, run)


def between(A, supports, m):
    """Yield starts between each two supports: the best loadings on the union, the intersection."""
    for one, other in combinations(supports, 2):
        union, both = np.union1d(one, other), np.intersect1d(one, other)
        yield embedded(best_pairs(A, union, m)[1], union, A.size)
        if len(both) >= m:
            yield both


def ends_of(A, problem, starts, seen, run):
    """Return the supports, not seen before, where ascents from some starts end; the best first."""
    latest, found = [], {}
    for latest in ascents(A, [(problem.m, problem.k, start) for start in starts]):  # noqa: B007
        if run.seconds_left == 0:
            break
    for end in latest:
        if end.support is not None and len(end.support) == problem.k:
            support = tuple(admitted(problem, A.diagonal(), end.support).tolist())
            if support not in seen:
                found[support] = max(found.get(support, -np.inf), end.value)
    return sorted(found, key=lambda support: (-found[support], support))


def optima(A, problem, supports, seen, found, run):
    """Note what exchanges make of each support, and give the run what is better."""
    sides = {"required": problem.required, "forbidden": problem.forbidden}
    for support in supports:
        if run.seconds_left == 0:
            break
        before = run.value
        top = swap(
            A, problem.m, problem.k, init=list(support), max_seconds=run.seconds_left, **sides
        )
        end = tuple(top.support.tolist())
        seen.update((tuple(support), end))
        found[end] = top.objective
        run.adopt(top)
        if run.value > before:
            run.report()
