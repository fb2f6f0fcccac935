"""solve_separate: what to call first where each component has its own features."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.linalg import embedded, largest, random_subspace
from fspca.covariance.sources import Dense
from fspca.covariance.validate import checked_truth
from fspca.problem import TOLERANCE, SeparateSupports, Solution, solution_of
from fspca.proof.separate import with_claim
from fspca.separate_supports.alternation import LARGEST
from fspca.separate_supports.blocks import GAIN, beside, component, cut, in_turn, whittled
from fspca.separate_supports.deflation import Spent
from fspca.separate_supports.gpower import gpower
from fspca.separate_supports.inverse_power import inverse_power
from fspca.separate_supports.tpower import tpower
from fspca.shared_support.ipu import ipu
from fspca.solver import Listener, Run, solves

WIDER, WANTED = 4, 50  # times as many columns of PCA as components, and features as are asked
REPEATED, KICKS = 10, 10  # starts in a row that are known, and components drawn anew in vain
FIRST, SWEEPS, POLISHED = 2, 50, 6  # sweeps of each start, and of the best of so many patterns


@solves(SeparateSupports, counts=True, guarantee="bounded", promises="rises")
def solve_separate(A: Covariance, m: int, k: int | Sequence[int], *, orthonormal: bool = False,
                   init: str | ArrayLike = "pca", n_starts: int = 60, seed: int | None = 0,
                   max_seconds: float | None = None,
                   progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find components, each on features of its own, and say how far from the best they can be.

    The problem is max trace(Q'AQ) over d x m matrices W with unit columns of k nonzeros each, Q
    an orthonormal basis of W.  Several first answers are made: those of TPower, GPower and IPU,
    and columns of PCA, as they are and turned at random among four times as many, all cut.  In
    each, every component in turn climbs beside all others, by power steps and exchanges: within
    the union of their features, and the best of them once more among all features.  In the union
    components of the best are then drawn anew.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m : int
        Components.
    k : int or list of m ints
        Nonzeros per component.
    orthonormal : bool
        Ask that the columns of W are orthogonal.
    init : "pca", "variance", "random" or array (d x m)
        Where TPower starts, one component after another; it also starts from the variances.
    n_starts, seed : int
        How often columns of PCA are cut, at most; after the first time they are turned at random,
        until ten in a row give features that were seen.
    max_seconds, progress : float, True or callable
        As everywhere.

    Returns
    -------
    Solution
        Its `upper_bound` holds for every W of this kind.  `history` holds the score after
        each sweep of the answer's own run.

    See Also
    --------
    solve : One support for all components.
    solve_nonnegative : Loadings that are not negative.

    Notes
    -----
    Never below its own first answers; the score never falls.  No component can be improved by
    itself, by a power step or one of nine exchanges.
    The bound is that of a shared support of m k features: every such answer is one;
    `upper_bound(A, m, m k)` may find a lower one, and takes longer.  Orthonormal components have
    lower bounds: of row sums, and up to 40 features of Theorem 3 on the page of the certificate
    format.  `certificate` is the claim of the least.
    Explained in the chapter "Refine all components together".

    Examples
    --------
    >>> A = np.diag([1.0, 5.0, 2.0, 4.0])
    >>> solution = solve_separate(A, m=2, k=[2, 1])
    >>> solution.support, solution.gap < 1e-8
    (array([1, 3]), True)
    """
    checked_truth("orthonormal", orthonormal)
    how = {"orthonormal": True} if orthonormal else {"score": "subspace"}
    A, problem, rng = A.plain, SeparateSupports(m, k, **how), np.random.default_rng(seed)
    turns, answers = iter(run := Run(None, max_seconds, progress)), []

    def keep(history, W):
        run.record(history[-1], (W, tuple(history)))
        if next(turns, None) is None:
            raise Spent

    with run, suppress(Spent):
        for W in first_answers(A, problem, init, rng):
            answers.append(orthogonalised(A, W, problem.counts) if orthonormal else W)
            keep([problem.score(A, answers[-1])], answers[-1])
        improve(A, problem, answers, n_starts, orthonormal, rng, keep)

    def build():
        W, history = run.answer
        facts = run.facts | {"history": history}
        return with_claim(A, solution_of(A, problem, W, "solve_separate", **facts))

    return run.finish(build)


def first_answers(A, problem, init, rng):
    """Yield what other solvers find, cut; a Ctrl-C that ended one ends this one."""
    m, counts = problem.m, problem.counts
    each, most = int(counts.max()), max(m, min(int(counts.sum()), A.size))
    runs = [(tpower, each, init), (tpower, each, "variance"), (ipu, most, "go"),
            (gpower, each, "variance"), (inverse_power, each, "variance")]  # fmt: skip
    known = A.size <= LARGEST or A.wide_factor() is not None  # else there is no factor at hand
    for solver, k, start in runs if known else runs[:3]:
        found = solver(A, m, k, init=start, seed=rng)
        yield cut(found.W, found.W, counts)
        if found.stopped == "interrupted":
            raise KeyboardInterrupt


def orthogonalised(A, W, counts):
    """Return W after a sweep that makes its columns orthogonal; m features where none does."""
    W = in_turn(A, W, counts, True)
    if not np.allclose(W.T @ W, np.eye(len(counts)), rtol=0, atol=TOLERANCE):
        W = np.zeros(W.shape)
        W[largest(A.diagonal(), len(counts)), range(len(counts))] = 1.0
    return W


def improve(A, problem, answers, n_starts, orthonormal, rng, keep):
    """Raise all answers by sweeps in the union of their features, and the best among all features.

    Then components of the best are drawn anew in the union.
    """
    best, most, seen = answers[0], [-np.inf], set()

    def climb(W, history=(), among=(slice(None), A), up_to=SWEEPS, orthonormal=orthonormal):
        """Return the scores, and W after so many sweeps among some features."""
        nonlocal best, most
        found, V = sweeps(among[1], W[among[0]], problem, orthonormal, up_to)
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
    for W in chain(answers, turned(A, problem, *among, n_starts, orthonormal, rng)):
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
        given = beside(part, W[rows], j, orthonormal)
        found = component(given, problem.counts[j], rng.standard_normal(len(rows)))
        if found.gain < 0 or np.array_equal(rows[found.rows], np.flatnonzero(W[:, j])):
            continue  # nothing there is orthogonal to the others, or nothing else
        W[:, j] = embedded(found.x, rows[found.rows], A.size)
        W = climb(W, most, among, orthonormal=True)[1] if kick % 2 else W
        climb(W, most, among)
        last = kick if most[-1] > value else last
    if patterns(best) not in seen:
        polish(most, best)


def turned(A, problem, rows, part, n_starts, orthonormal, rng):
    """Yield what is left of PCA's columns, as they are and turned at random among more of them."""
    V = A.leading(min(WIDER * problem.m, A.size))[1]
    for n in range(n_starts):
        R = random_subspace(V.shape[1], problem.m, rng) if n else np.eye(V.shape[1], problem.m)
        U, W = V[rows] @ R, np.zeros((A.size, problem.m))
        scores = [whittled(part, u, k) for u, k in zip(U.T, problem.counts, strict=True)]
        U = cut(U, np.column_stack(scores), problem.counts)
        W[rows] = orthogonalised(part, U, problem.counts) if orthonormal else U
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


def sweeps(A, W, problem, orthonormal, up_to=SWEEPS):
    """Return the scores and the last W of sweeps that end where the score rises no more."""
    history = [problem.score(A, W)]
    for _ in range(up_to):
        better = in_turn(A, W, problem.counts, orthonormal)
        value = problem.score(A, better)
        if value <= history[-1] * (1 + GAIN):
            break
        W, history = better, [*history, value]
    return history, W
