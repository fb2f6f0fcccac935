"""The oracle: every support, its leading eigenvalues, the best."""

from dataclasses import replace
from itertools import combinations, islice
from math import comb

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.linalg import TIE, largest
from fspca.covariance.validate import Features, checked_integer
from fspca.problem import TRIED, SharedSupport, Solution
from fspca.shared_support.refit import solution_on
from fspca.solver import Listener, Run, solves

BATCH_BYTES = 2**25


@solves(SharedSupport, guarantee="exact", promises="shift labels", needs="matrix")
def exhaustive(A: Covariance, m: int, k: int, *, required: Features = (),
               forbidden: Features = (), max_supports: int = 5_000_000,
               max_seconds: float | None = None,
               progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find the optimum by trying every support of k features.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  On a fixed
    support I the best value is the sum of the m largest eigenvalues of A[I, I], and by
    interlacing it never falls when I grows, so supports of exactly k features suffice.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    required, forbidden : sequences of features
        Those that every support must hold, and those that none may: numbers, or names.
    max_supports : int
        Refuse where there are more supports than this.
    max_seconds : float
        Stop then, with the best support so far.
    progress : True or callable
        Shows a bar, or is called with a `fspca.solver.Progress` after every batch.

    Returns
    -------
    Solution
        The optimum; its `upper_bound` is its objective.  `n_iter` counts supports, `history`
        holds the best value after each batch of them.

    See Also
    --------
    solve : Goes on where enumeration stops.

    Notes
    -----
    Exact, always.  Cost: (d choose k) eigenproblems of size k in batches of bounded memory;
    where k = m the value is the trace, and one look at the diagonal is enough.
    Explained in the chapter "Try every support, once".

    Examples
    --------
    >>> exhaustive(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=2).support
    array([1, 3])
    """
    problem = SharedSupport(m, k, required=required, forbidden=forbidden)
    free = np.setdiff1d(np.arange(A.size), required + forbidden)
    more = k - len(required)
    if k == m:
        chosen = free[largest(A.diagonal()[free], more)] if more else []
        support = np.union1d(required, chosen).astype(int)
        return _optimum(A, problem, support, "exhaustive", n_iter=1)
    count = comb(len(free), more)
    checked_integer("max_supports", max_supports)
    if count > max_supports:
        raise ValueError(
            f"k={k} of d={A.size} features gives {count:.3g} supports, more than "
            f"max_supports={max_supports}; use ipu for a good answer, "
            "go(shift=True) for one with a bound, or raise max_supports"
        )
    full, seen = A.plain.submatrix(np.arange(A.size)), 0
    with Run(None, max_seconds, progress) as run:
        batches = _batches(free, more, required, max(1, BATCH_BYTES // (8 * k * k)))
        for _ in run:
            batch = next(batches)
            blocks = full[batch[:, :, None], batch[:, None, :]]
            values = np.linalg.eigvalsh(blocks)[:, -m:].sum(axis=1)
            first = np.argmax(values >= values.max() * (1 - TIE))
            seen += len(batch)
            if run.answer is None or values[first] > run.value * (1 + TIE):
                run.record(values[first], batch[first])
            else:
                run.record(run.value, run.answer)
            if seen == count:
                run.stop(TRIED)
    run.n_iter, build = seen, solution_on if seen < count else _optimum
    return run.finish(lambda: build(A, problem, run.answer, "exhaustive", **run.facts))


def _batches(free, more, required, size):
    supports = combinations(free, more)
    while batch := list(islice(supports, size)):
        held = np.broadcast_to(np.array(required, dtype=int), (len(batch), len(required)))
        yield np.sort(np.hstack([held, np.array(batch, dtype=int).reshape(len(batch), more)]))


def _optimum(A, problem, support, solver, **facts):
    solution = solution_on(A, problem, support, solver, **facts)
    return replace(solution, upper_bound=solution.objective, stopped=TRIED)
