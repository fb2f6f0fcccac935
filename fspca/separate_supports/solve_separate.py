"""solve_separate: what to call first where each component has its own features."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.linalg import largest, random_subspace
from fspca.problem import TOLERANCE, SeparateSupports, Solution
from fspca.progress import Listener
from fspca.running import Run, solves
from fspca.separate_supports.alternation import LARGEST
from fspca.separate_supports.blocks import (
    GAIN,
    beside,
    component,
    cut,
    greedy,
    in_turn,
    whittled,
)
from fspca.separate_supports.bound import with_claim
from fspca.separate_supports.gpower import gpower
from fspca.separate_supports.tpower import tpower
from fspca.shared_support.ipu import ipu
from fspca.starts import WORDS, checked_init, starting_point
from fspca.validate import checked_truth

KICKS, SWEEPS = 20, 50  # components drawn anew in the union of all patterns; sweeps of one climb


@solves(SeparateSupports, counts=True)
def solve_separate(A: Covariance, m: int, k: int | Sequence[int], *, orthonormal: bool = False,
                   init: str | ArrayLike = "pca", n_starts: int = 3, seed: int | None = 0,
                   max_seconds: float | None = None,
                   progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find components, each on features of its own, and say how far from the best they can be.

    The problem is max trace(Q'AQ) over d x m matrices W with unit columns of k nonzeros each, Q
    an orthonormal basis of W.  Several first answers are made: components one by one, the
    columns of PCA, as they are and turned at random, and those of a shared support, all cut at
    once, and GPower's.  In each, every component in turn climbs beside all others, by power steps
    and exchanges; in the union of their features, components of the best are drawn anew.

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
        Where the components that are found one by one start.
    n_starts, seed : int
        How often the columns of PCA are cut; they are turned at random after the first time.
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
    A, problem, rng = A.plain, SeparateSupports(m, k), np.random.default_rng(seed)
    init = checked_init(init, A.size, m, WORDS)
    run = Run(None, max_seconds, progress)
    with run:
        turns, answers = iter(run), []
        for W in first_answers(A, problem, init, n_starts, rng, orthonormal):
            answers.append(orthogonalised(A, W, problem.counts) if orthonormal else W)
            run.keep(problem.score(A, answers[-1]), (answers[-1], ()))
            if next(turns, None) is None:
                break
        else:
            improve(A, problem, answers, rng, orthonormal, run, turns)

    def build():
        W, history = run.answer
        value = problem.score(A, W)
        facts = run.facts | {"history": (*history, value)}
        found = Solution(
            W, np.flatnonzero(W.any(axis=1)), value, problem, "solve_separate", **facts
        )
        return with_claim(A, found, orthonormal)

    return run.finish(build)


def first_answers(A, problem, init, n_starts, rng, orthonormal):
    """Yield loadings with the counts asked for, found in different ways."""
    m, counts = problem.m, problem.counts

    def directions(word, rest, j):
        each = word if isinstance(word, str) else word[:, [j]]
        return [starting_point(rest, SeparateSupports(1, 1), each, rng)[0][:, 0]]

    yield greedy(A, counts, partial(directions, init), orthonormal)
    V = A.leading(m)[1]
    for turn in [np.eye(m)] + [random_subspace(m, m, rng) for _ in range(n_starts - 1)]:
        U = V @ turn
        yield cut(U, np.column_stack(list(map(partial(whittled, A), U.T, counts))), counts)
    yield from taken(ipu(A, m, max(m, min(int(counts.sum()), A.size))), counts)
    for word in ("variance", "random"):
        other = tpower(A, m, int(counts.max()), init=word, n_starts=n_starts, seed=rng)
        yield from taken(other, counts)
    if A.size <= LARGEST or A.wide_factor() is not None:  # else GPower has no factor at hand
        yield from taken(gpower(A, m, int(counts.max())), counts)


def orthogonalised(A, W, counts):
    """Return W after a sweep that makes its columns orthogonal; m features where none does."""
    W = in_turn(A, W, counts, True)
    if not np.allclose(W.T @ W, np.eye(len(counts)), rtol=0, atol=TOLERANCE):
        W = np.zeros(W.shape)
        W[largest(A.diagonal(), len(counts)), range(len(counts))] = 1.0
    return W


def taken(solution, counts):
    """Yield what another solver found, cut; a Ctrl-C that ended it ends this one."""
    yield cut(solution.W, solution.W, counts)
    if solution.stopped == "interrupted":
        raise KeyboardInterrupt


def improve(A, problem, answers, rng, orthonormal, run, turns):
    """Raise the answers by sweeps, and the best once more within the union of their features."""
    best, most = None, [-np.inf]

    def keep(history, W, before=()):
        nonlocal best, most
        if history[-1] > most[-1] * (1 + GAIN) or best is None:
            best, most = W, [*before, *history]
        run.keep(most[-1], (best, tuple(most)))
        return next(turns, None) is not None

    for i, W in enumerate(answers):
        history, answers[i] = sweeps(A, W, problem, orthonormal)
        if not keep(history, answers[i]):
            return
    rows = np.union1d(np.flatnonzero(np.any(answers, axis=(0, 2))),
                      largest(A.diagonal(), problem.counts.max()))  # fmt: skip
    part = A.restricted(rows)
    part = Covariance(part.submatrix(np.arange(len(rows)))) if len(rows) <= LARGEST else part
    for kick in range(KICKS):
        W, j = best[rows], rng.integers(problem.m)
        given = beside(part, W, j, orthonormal)
        start = given.rest.product(rng.standard_normal((len(rows), 1)))[:, 0]
        found = component(given, problem.counts[j], [start])
        if found.gain < 0:  # nothing there is orthogonal to the others
            continue
        W[:, j] = 0
        W[found.rows, j] = found.x
        _, W = sweeps(part, W, problem, True) if kick % 2 else (None, W)
        history, W = sweeps(part, W, problem, orthonormal)
        full = np.zeros((A.size, problem.m))
        full[rows] = W
        if not keep(history[-1:], full, most):
            return
    history, W = sweeps(A, best, problem, orthonormal)
    keep(history[1:] or most[-1:], W, most)


def sweeps(A, W, problem, orthonormal):
    """Return the scores and the last W of sweeps that end where the score rises no more."""
    history = [problem.score(A, W)]
    for _ in range(SWEEPS):
        better = in_turn(A, W, problem.counts, orthonormal)
        value = problem.score(A, better)
        if value <= history[-1] * (1 + GAIN):
            break
        W, history = better, [*history, value]
    return history, W
