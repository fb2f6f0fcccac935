"""Crossing: many ascents side by side, exchanges from the best, then ascents between the optima.

What two good supports share is likely to be right, and so is what either of them has.  The best
loadings on the union of two local optima are as good as both, and IPU falls from there to k
features that none of the two had; from their intersection it fills up anew.
"""

from itertools import combinations

import numpy as np

from fspca.covariance.linalg import embedded, largest, random_subspace
from fspca.shared_support.iteration import ascents
from fspca.shared_support.refit import best_pairs
from fspca.shared_support.swap import GAIN, admitted, first_support, swap

STARTS, FEWER = 100, 5  # random ones; where each costs passes over streamed data
CLIMBED, ELITE, AGAIN = 5, 6, 4  # ends to exchange from; optima to cross; new ends of a round
CENTRAL, CANDIDATES = 40, 2000  # features of wide data that sets are drawn from; of which these
ASCENT = 30  # steps of such an ascent, which ends after five as a rule
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
    most = min(most, max(FEWER, fits))
    starts = [first_support(A, problem, "variance"), *near]
    starts += [random_subspace(A.size, m, rng) for _ in range(most)]
    starts += from_central_sets(A, problem, rng)
    optima(A, problem, ends_of(A, problem, starts, seen, run)[:CLIMBED], seen, found, run)
    before = 0.0
    while run.seconds_left != 0 and run.value > before * (1 + GAIN):
        before, best = run.value, sorted(found, key=lambda key: -found[key])[:ELITE]
        ends = ends_of(A, problem, list(between(A, best, m)), seen, run)
        optima(A, problem, ends[:AGAIN], seen, found, run)


def from_central_sets(A, problem, rng):
    """Return the best supports where ascents from sets of m central features end, of wide data.

    There features are far more than samples, and a random subspace is near to none of them.  The
    subspace is one of the samples, which makes a step a product of X with m vectors alone.
    """
    m, k = problem.m, problem.k
    X = A.wide_factor() if m > 1 and not A.streamed else None
    if X is None:
        return []
    ends = {}
    for central in central_features(X, m, k):
        for _ in range(STARTS):
            chosen = rng.choice(central, m, replace=False)
            support, value = ascend_samples(X, np.linalg.qr(X[:, chosen])[0], m, k)
            ends[tuple(support.tolist())] = value
    best = sorted(ends, key=lambda end: (-ends[end], end))[:CLIMBED]
    return [np.array(support) for support in best]


def central_features(X, m, k):
    """Return features that many others go along with: k/2m of them, or k/m, a list for each count.

    A feature x is scored by the sum of so many of the largest squared lengths that others have
    along it, for unit columns the squared correlations.
    """
    lengths = np.linalg.norm(X, axis=0)
    unit = X / np.where(lengths > 0, lengths, 1.0)
    candidates = largest(np.sum(unit * (X @ X.T @ unit), axis=0), min(CANDIDATES, len(lengths)))
    scores = []
    for part in np.array_split(candidates, 1 + len(candidates) // 500):  # a block at a time
        along = (unit[:, part].T @ X) ** 2
        falling = -np.sort(-np.partition(along, -k, axis=1)[:, -k:], axis=1)
        scores.append(falling.cumsum(axis=1))
    scores = np.vstack(scores)
    counts = {max(1, -(-k // (2 * m))), -(-k // m)}
    return [candidates[largest(scores[:, q - 1], min(CENTRAL, len(candidates)))]
            for q in sorted(counts)]  # fmt: skip


def ascend_samples(X, U, m, k):
    """Return (support, value): IPU for a subspace of the samples, the k columns nearest to it."""
    support, before = largest(np.sum((U.T @ X) ** 2, axis=0), k), None
    for _ in range(ASCENT):
        U, values, _ = np.linalg.svd(X[:, support], full_matrices=False)
        before, support = support, largest(np.sum((U[:, :m].T @ X) ** 2, axis=0), k)
        if np.array_equal(before, support):
            break
    return before, np.sum(values[:m] ** 2)


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
