"""Components refined in turn, each beside all others: for conditions, and for the subspace's score.

In each of several first answers every component in turn climbs beside the others, by power steps
and exchanges: within the union of their features, and the best of them once more among all
features.  In the union components of the best are then drawn anew.
"""

from itertools import chain

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.linalg import embedded, largest, random_subspace
from fspca.covariance.sources import Dense
from fspca.problem import TOLERANCE
from fspca.separate_supports.alternation import LARGEST
from fspca.separate_supports.blocks import (
    DISJOINT,
    GAIN,
    ORTHONORMAL,
    SUBSPACE,
    UNCORRELATED,
    beside,
    component,
    cut,
    in_turn,
    whittled,
)
from fspca.separate_supports.factors import search
from fspca.separate_supports.gpower import gpower
from fspca.separate_supports.inverse_power import inverse_power
from fspca.separate_supports.tpower import tpower
from fspca.shared_support.ipu import ipu

WIDER, WANTED = 4, 50  # times as many columns of PCA as components, and features as are asked
REPEATED, KICKS = 10, 10  # starts in a row that are known, and components drawn anew in vain
FACTORED = 20  # starts of the search for uncorrelated factors
FIRST, SWEEPS, POLISHED = 2, 50, 6  # sweeps of each start, and of the best of so many patterns


def refine_in_turn(A, problem, init, n_starts, rng, keep, n_jobs=None):
    """Raise first answers until no component can be improved by itself; tell keep(history, W)."""
    answers, condition = [], condition_of(problem)
    for W in first_answers(A, problem, init, rng, n_jobs):
        answers.append(W if condition == SUBSPACE else conditioned(A, W, problem.counts, condition))
        keep([problem.score(A, answers[-1])], answers[-1])
    improve(A, problem, answers, n_starts, condition, rng, keep)


def first_answers(A, problem, init, rng, n_jobs):
    """Yield what other solvers find, cut; a Ctrl-C that ended one ends this one."""
    m, counts = problem.m, problem.counts
    if condition_of(problem) in (UNCORRELATED, DISJOINT):
        yield from latest_of(A, counts, rng, n_jobs)
    each, most = int(counts.max()), max(m, min(int(counts.sum()), A.size))
    runs = [(tpower, each, init), (tpower, each, "variance"), (ipu, most, "go"),
            (gpower, each, "variance"), (inverse_power, each, "variance")]  # fmt: skip
    known = A.size <= LARGEST or A.wide_factor() is not None  # else there is no factor at hand
    for solver, k, start in runs if known else runs[:3]:
        found = solver(A, m, k, init=start, seed=rng)
        yield cut(found.W, found.W, counts)
        if found.stopped == "interrupted":
            raise KeyboardInterrupt


def latest_of(A, counts, rng, n_jobs):
    """Yield what uncorrelated factors would have for lists if nothing else were asked."""
    answers = []
    first = A.leading(len(counts))[1]
    search(A, counts, first, FACTORED, rng, lambda history, W: answers.append(W), n_jobs)
    yield answers[-1]


def condition_of(problem):
    """Return the word for what is asked of the columns."""
    asked = (word for word in (ORTHONORMAL, UNCORRELATED, DISJOINT) if getattr(problem, word))
    return next(asked, SUBSPACE)


def conditioned(A, W, counts, condition):
    """Return W after a sweep that makes it obey; m features where columns stay that overlap."""
    W = in_turn(A, W, counts, condition)
    overlap = np.abs(W.T @ W - np.eye(len(counts))).max()
    if condition != UNCORRELATED and overlap > TOLERANCE:
        W = np.zeros(W.shape)
        W[largest(A.diagonal(), len(counts)), range(len(counts))] = 1.0
    return W


def improve(A, problem, answers, n_starts, condition, rng, keep):
    """Raise all answers by sweeps in the union of their features, and the best among all features.

    Then components of the best are drawn anew in the union.
    """
    best, most, seen = answers[0], [-np.inf], set()

    def climb(W, history=(), among=(slice(None), A), up_to=SWEEPS, condition=condition):
        """Return the scores, and W after so many sweeps among some features."""
        nonlocal best, most
        found, V = sweeps(among[1], W[among[0]], problem, condition, up_to)
        history, W = [*history, *found], np.zeros(W.shape)
        W[among[0]] = V
        if history[-1] > most[-1] * (1 + GAIN):
            best, most = W, history
        keep(most, best)
        return history, W

    def polish(history, W):
        end = climb(W, history[:-1])[1]
        seen.update((patterns(W), patterns(end)))
        return end

    among, raised, known = union(A, answers, problem), [], 0
    for W in chain(answers, turned(A, problem, *among, n_starts, condition, rng)):
        known = known + 1 if patterns(W) in seen else 0
        if known == REPEATED:
            break
        if not known:
            seen.add(patterns(W))
            raised.append(climb(W, among=among, up_to=FIRST))
    seen.clear()
    for history, W in sorted(raised, key=lambda each: -each[0][-1]):
        if len(seen) < POLISHED and patterns(W) not in seen:
            answers = [*answers, polish(history, W)]
    rows, part = among = union(A, answers, problem, among)
    kick = last = 0
    while kick < last + KICKS:
        W, j, kick, value = best.copy(), rng.integers(problem.m), kick + 1, most[-1]
        given = beside(part, W[rows], j, condition)
        direction = rng.standard_normal(len(rows))[given.features]
        found = component(given, problem.counts[j], direction)
        chosen = rows[given.features[found.rows]]
        if found.gain < 0 or np.array_equal(chosen, np.flatnonzero(W[:, j])):
            continue  # nothing there is orthogonal to the others, or nothing else
        W[:, j] = embedded(found.x, chosen, A.size)
        W = climb(W, most, among, condition=stricter(condition))[1] if kick % 2 else W
        climb(W, most, among)
        last = kick if most[-1] > value else last
    if patterns(best) not in seen:
        polish(most, best)


def stricter(condition):
    """Return what columns may be held to first, from where a score climbs on."""
    return ORTHONORMAL if condition == SUBSPACE else condition


def turned(A, problem, rows, part, n_starts, condition, rng):
    """Yield what is left of PCA's columns, as they are and turned at random among more of them."""
    V = A.leading(min(WIDER * problem.m, A.size))[1]
    for n in range(n_starts):
        R = random_subspace(V.shape[1], problem.m, rng) if n else np.eye(V.shape[1], problem.m)
        U, W = V[rows] @ R, np.zeros((A.size, problem.m))
        scores = [whittled(part, u, k) for u, k in zip(U.T, problem.counts, strict=True)]
        U = cut(U, np.column_stack(scores), problem.counts)
        obeying = condition == SUBSPACE
        W[rows] = U if obeying else conditioned(part, U, problem.counts, condition)
        yield W


def union(A, answers, problem, old=None):
    """Return the features of all answers, with those that PCA wants most, and A on them."""
    used = np.flatnonzero(np.any(answers, axis=(0, 2)))
    if old is not None and np.isin(used, old[0]).all():
        return old
    values, V = A.leading(min(WIDER * problem.m, A.size))
    most = min(WANTED * problem.counts.sum(), LARGEST, A.size)
    rows = np.union1d(used, largest(V**2 @ values**2, most))
    part = A.restricted(rows)
    if len(rows) <= LARGEST:
        part = Covariance.from_source(Dense(part.submatrix(np.arange(len(rows)))))
    return rows, part


def patterns(W):
    """Return the features of each component, whatever the order of the components."""
    return tuple(sorted(np.flatnonzero(w).tobytes() for w in W.T))


def sweeps(A, W, problem, condition, up_to=SWEEPS):
    """Return the scores and the last W of sweeps that end where the score rises no more."""
    history = [problem.score(A, W)]
    for _ in range(up_to):
        better = in_turn(A, W, problem.counts, condition)
        value = problem.score(A, better)
        if value <= history[-1] * (1 + GAIN):
            break
        W, history = better, [*history, value]
    return history, W
