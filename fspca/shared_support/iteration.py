"""One loop for IPU, SOAP and SRT: they differ in how the rows of AW are scaled before the choice.

| method | the rows that are scored     | the loadings                           |
|--------|------------------------------|----------------------------------------|
| IPU    | AW (W'AW)^(-1/2)             | the best on the support chosen         |
| SOAP   | an orthonormal basis of AW   | the chosen rows, orthonormalised again |
| SRT    | AW                           | the chosen rows, orthonormalised       |

Many starts ascend side by side, so that all of them share the passes over the data.
"""

from itertools import islice
from typing import NamedTuple

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.leading import rotate
from fspca.covariance.linalg import TIE, embedded, largest, random_subspace
from fspca.covariance.sources import Dense
from fspca.covariance.validate import checked_choice
from fspca.problem import SharedSupport, Solution
from fspca.shared_support.refit import best_pairs, refit
from fspca.shared_support.starts import SHARED_WORDS, checked_init, starting_point
from fspca.solver import Run

SAME = 1e-8  # the sines between two subspaces that are called the same


class Ascent(NamedTuple):
    """Where a walk is: objectives so far, what counts and the loadings of it, its end."""

    history: tuple = ()
    value: float = -np.inf
    support: np.ndarray | None = None
    loadings: np.ndarray | None = None
    n_iter: int = 0
    stopped: str | None = None


def proxy_rows(AW, M):
    """Return Z, d x m, with ZZ' the proxy P = AW (W'AW)^+ W'A, in the place of AW.

    With M = W'AW = U diag(w) U', Z = AW U w^{-1/2}.
    """
    w, U = np.linalg.eigh(M)
    kept = w > len(w) * np.finfo(float).eps * w[-1]
    rotate(AW, U[:, kept] / np.sqrt(w[kept]))
    return AW[:, : kept.sum()]


def ascents(A, asked, scale=proxy_rows, refined=True, latest=True):
    """Yield the Ascents for some (m, k, start), after the start and each step of all.

    A start is a support, for which the best W is taken, an array W, d x m, or both: (W, support).
    `scale(AW, M)` with M = W'AW returns the array whose rows are scored; it may write to AW.
    A step of all costs one product with their blocks side by side and, streamed, one submatrix on
    all their features: one pass where A on these fits.
    """
    ends = [Ascent() for _ in asked]
    walks = begun(A, asked)
    while walks:
        applied = products(A, walks)
        for i, (V, support, value) in [each for each in walks.items() if each[1][1] is not None]:
            value = np.trace(applied[i][1]) - V.shape[1] * A.ridge if value is None else value
            ends[i] = after_step(ends[i], V, support, float(value), refined, latest)
            if ends[i].stopped:
                del walks[i]
        if walks:
            yield ends
        chosen = {}
        others = {}
        for i, (V, before, _) in walks.items():
            # blocks of d x m go as soon as they have been used
            support, Q = next_support(scale, applied.pop(i), asked[i][1], refined)
            same = before is not None and np.array_equal(support, before)
            if not refined:
                same = same and np.linalg.norm(V - Q @ (Q.T @ V)) <= SAME
                others[i] = Q, support, None
            stopped = "the support repeats" if same else None
            ends[i] = ends[i]._replace(n_iter=ends[i].n_iter + 1, stopped=stopped)
            if not same:
                chosen[i] = support
        walks = refitted(A, asked, chosen) if refined else {i: others[i] for i in chosen}


def begun(A, asked):
    """Return (loadings, support, value) of each start, None for all rows and an unknown value."""
    walks = {}
    chosen = {}
    for i, (_, _, start) in enumerate(asked):
        if isinstance(start, tuple):
            walks[i] = start[0][start[1]], start[1], None
        elif np.ndim(start) == 2:
            walks[i] = start, None, None
        else:
            chosen[i] = np.sort(start)
    return walks | refitted(A, asked, chosen)


def after_step(end, V, support, value, refined, latest):
    """Return an ascent after a step: with the new answer, or ended where a refined one gains none.

    With `latest` the answer is that of the last step, else the best.
    """
    history = (*end.history, value)
    if refined and value <= end.value * (1 + TIE):
        return end._replace(stopped="no gain")  # a fixed point of A's own
    if latest or value > end.value:
        return Ascent(history, value, support, V, end.n_iter)
    return end._replace(history=history)


def next_support(scale, applied, k, refined):
    """Return the k rows of largest score, and a basis of the scored rows unless it is refined."""
    Z = scale(*applied)
    support = largest(np.einsum("ij,ij->i", Z, Z), k)
    return support, None if refined else np.linalg.qr(Z[support])[0]


def refitted(A, asked, chosen):
    """Return the best loadings on each support chosen, the support, what it explains."""
    ridge, places = A.ridge, chosen
    if A.streamed and len(chosen) > 1:
        union = np.unique(np.concatenate(list(chosen.values())))
        A = Covariance.from_source(Dense(A.submatrix(union)))
        places = {i: np.searchsorted(union, support) for i, support in chosen.items()}
    pairs = {i: best_pairs(A, rows, asked[i][0]) for i, rows in places.items()}
    return {i: (V, chosen[i], float(w.sum()) - len(w) * ridge) for i, (w, V) in pairs.items()}


def products(A, walks):
    """Return AW and W'AW of each walk, the blocks of all side by side."""
    supports = [support for _, support, _ in walks.values()]
    spread = any(support is None for support in supports)
    rows = np.arange(A.size) if spread else np.unique(np.concatenate(supports))
    blocks = [
        V if support is None else embedded(V, np.searchsorted(rows, support), len(rows))
        for V, support, _ in walks.values()
    ]
    edges = np.cumsum([V.shape[1] for V in blocks])[:-1]
    AVs = np.split(A.product(np.hstack(blocks), None if spread else rows), edges, axis=1)
    of_rows = slice(None) if spread else rows
    return {i: (AV, V.T @ AV[of_rows]) for i, V, AV in zip(walks, blocks, AVs, strict=True)}


def ascend_together(A, asked, max_iter=100):
    """Return the Ascent of IPU for each (m, k, start), a support or an array d x m, at its end.

    >>> A = Covariance([[3.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 2.5]])
    >>> [end.support for end in ascend_together(A, [(1, 2, [0, 2]), (1, 2, [1, 2])])]
    [array([0, 1]), array([0, 1])]
    """
    return list(islice(ascents(A, asked), max_iter))[-1]


def from_every_start(
    A, m, k, scale, solver, *, init, n_starts, seed, max_iter, max_seconds, progress, refined,
    keep="last",
):  # fmt: skip
    """Take the steps from all starts side by side, and return the best Solution."""
    checked_choice("keep", keep, ("last", "best"))
    problem, rng = SharedSupport(m, k), np.random.default_rng(seed)
    init = checked_init(init, A.size, m, SHARED_WORDS)
    with Run(max_iter, max_seconds, progress, latest=True) as run:
        W, support = starting_point(A, problem, init, rng)
        if support is not None and not refined:
            W = refit(A, support, m)[0] if W is None else W, support
        starts = [support if support is not None and refined else W]
        starts += [random_subspace(A.size, m, rng) for _ in range(n_starts - 1)]
        asked = [(m, k, start) for start in starts]
        walk = ascents(A, asked, scale, refined, latest=keep == "last")
        ends = next(walk)
        if support is not None:
            run.record(ends[0].value, ends)
        for _ in run:
            if next(walk, None) is None:
                run.stop("done")
            else:
                run.record(max(end.value for end in ends), ends)

    def build():
        best = max(ends, key=lambda end: end.value)
        W = embedded(best.loadings, best.support, A.size)
        cut = run.stopped in ("max_seconds", "interrupted")
        why = run.stopped if cut else best.stopped or run.stopped
        ended = best.history, best.n_iter, why
        return Solution(W, best.support, problem.score(A.plain, W), problem, solver, *ended)

    return run.finish(build)
