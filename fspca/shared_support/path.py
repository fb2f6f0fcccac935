"""Path: answers for many counts of features, or of components, for little more than one."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.linalg import embedded
from fspca.covariance.validate import Features, checked_choice, checked_support
from fspca.problem import SharedSupport, Solution
from fspca.proof.bounds import least_closed_form, upper_bound, with_bound
from fspca.proof.checked import CheckedMatrix
from fspca.proof.claims import claimed
from fspca.proof.tree import Along
from fspca.shared_support.iteration import ascents
from fspca.shared_support.refit import refit, solution_on
from fspca.shared_support.solve import closes, search_from
from fspca.shared_support.starts import checked_init
from fspca.shared_support.swap import GAIN, admitted, first_starts, swap
from fspca.solver import Listener, Run, each_of, solves

# Shares of the work of `solve`: of the first search, of each other in the mean, which goes on from
# the one before; the most that one of these has, and what it leaves to each that comes after it.
FIRST, NEXT, MOST, LEFT = 1.0, 0.4, 0.6, 0.25


class Several(NamedTuple):
    """m components on k features, one of the two a sequence: a problem for each entry."""

    m: int | Sequence[int]
    k: int | Sequence[int]
    required: Features = ()
    forbidden: Features = ()

    def fit(self, d):
        """Return itself; `path` asks whether each problem can be asked of d features."""
        if (np.ndim(self.m) == 0) == (np.ndim(self.k) == 0):
            raise ValueError(f"m={self.m} and k={self.k}: one of the two must be a sequence")
        return self


@solves(Several, counts=True)
def path(A: Covariance, m: int | Sequence[int], k: int | Sequence[int], *,
         required: Features = (), forbidden: Features = (),
         bound: str | None = "shifted", init: "Solution | ArrayLike | None" = None,
         n_starts: int = 5, seed: int | None = 0, max_iter: int = 1000,
         max_seconds: float | None = None, progress: Listener | None = None,
         n_jobs: int | None = None) -> list[Solution]:  # fmt: skip
    r"""Return answers for several k, or several m, each started from its neighbours.

    The problems are max trace(W'AW) over W'W = I with at most k nonzero rows.  Go, the largest
    variances and random starts of all the problems ascend by IPU side by side, then each problem
    starts again from its neighbours' answers until none gains, and exchanges end the ascent.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int, one of them a sequence
        Components and features of each problem.
    required, forbidden : sequences of features
        What each support must hold, and must lack: numbers, or names where A has some.
    bound : "shifted", "dual", "search" or None
        The method of `upper_bound`; "shifted" has the eigenpairs of A once for all problems.
        "search" goes on as `solve` does, from the others' answers: the largest k with all of
        its work, the others with two fifths in the mean, since each node begins where that of
        the last search ended; a bound for more features holds for less.
    init : Solution, array (d x m) or features
        A start of each problem, beside the others.
    n_starts, seed : int
        Random starts of each problem, beside Go's and the largest variances.
    max_iter : int
        Exchanges at most, for each problem; ending there warns.
    max_seconds : float
        For all; what has been found by then, or by a Ctrl-C, is returned as it is.
    progress : True or callable
        Told of the best after each step of all, and after each problem's exchanges.
    n_jobs : int
        How many bounds of "dual" are found at once, each on a core of its own, by joblib; -1 takes
        all cores.  The answers are the same.

    Returns
    -------
    list of Solution
        In the order asked.  What they explain never falls where k or m rises.

    See Also
    --------
    solve : One k, and its proof.

    Notes
    -----
    Starts and problems share the passes over the data: a step of all is one product.
    Explained in the chapter "Go beyond memory".

    Examples
    --------
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> [solution.support.tolist() for solution in path(A, 1, [1, 2, 3])]
    [[0], [1, 2], [0, 1, 2]]
    """
    A = A.plain
    if bound is not None:
        checked_choice("bound", bound, ("shifted", "dual", "search"))
    pairs = [(m, each) for each in k] if np.ndim(m) == 0 else [(each, k) for each in m]
    sides = {"required": required, "forbidden": forbidden}
    problems = [SharedSupport(*pair, **sides).fit(A.size) for pair in pairs]
    given = checked_start(init, A.size)
    order = sorted({(problem.m, problem.k) for problem in problems})
    rng, best, found = np.random.default_rng(seed), {}, {}
    with Run(None, max_seconds, progress) as run:
        near = {
            pair: first_starts(A, SharedSupport(*pair, **sides), n_starts, rng) for pair in order
        }
        for pair in order if given is not None else ():
            near[pair].append(start_of(given, pair))
        while ascended(A, near, best, run) and run.seconds_left != 0:
            near = {pair: [] for pair in order}  # the neighbours, in both directions
            for first, second in pairwise(order):
                near[first].append(warm(best[second], first, A.size))
                near[second].append(warm(best[first], second, A.size))
        before = None
        for pair in order if run.seconds_left != 0 else ():
            start = exchanged_from(A, SharedSupport(*pair, **sides), best[pair], before)
            left = run.seconds_left
            before = swap(A, *pair, init=start, max_iter=max_iter, max_seconds=left, **sides)
            found[pair] = before
            run.adopt(before)
            run.report()
        bounded(A, found, bound, run, n_jobs)
    cut = {"n_iter": 1, "stopped": run.stopped or "max_seconds"}
    for pair in set(order) - set(found):
        problem = SharedSupport(*pair, **sides)
        support = admitted(problem, A.diagonal(), best[pair].support)
        found[pair] = solution_on(A, problem, support, "path", **cut)
    return [replace(found[problem.m, problem.k], solver="path") for problem in problems]


def checked_start(init, d):
    """Return the array of loadings or the features that an `init` is, or say what is wrong."""
    if init is None:
        return None
    init = init.W if isinstance(init, Solution) else np.asarray(init)
    if init.ndim == 2:
        return checked_init(init, d, init.shape[1], ())
    return checked_support(init, init.size, d)


def start_of(given, pair):
    """Return the start of one problem: the loadings where they are so many, else the features."""
    if given.ndim == 2 and given.shape[1] == pair[0]:
        return given
    support = np.flatnonzero(given.any(axis=1)) if given.ndim == 2 else given
    return support if len(support) >= pair[0] else np.arange(pair[0])


def exchanged_from(A, problem, end, before):
    """Return the better of where an ascent ended and the answer for fewer, as far as they may."""
    start = admitted(problem, A.diagonal(), end.support)
    if before is None:
        return start
    fixed = problem.required or problem.forbidden  # then it may not be where the ascent ended
    value = refit(A, start, problem.m)[1] if fixed else end.value
    if value < before.objective:  # as much is explained with these
        return admitted(problem, A.diagonal(), before.support)
    return start


def bounded(A, found, bound, run, n_jobs=None):
    """Put a bound on each answer found; those for more features come first, and hold for less."""
    order = sorted(found, key=lambda pair: -pair[1]) if bound is not None else []
    if bound == "search":
        for m in sorted({m for m, _ in order}):
            searched_in_turn(A, found, [pair for pair in order if pair[0] == m], run)
        return
    # all of "shifted" share their eigenpairs, and are quick
    n_jobs = n_jobs if bound == "dual" else 1
    asked = ((A, found[pair].problem, bound, run.seconds_left) for pair in order)
    in_time = takewhile(lambda each: each[-1] != 0, asked)
    for pair, known in zip(order, each_of(bound_on, in_time, n_jobs), strict=False):
        found[pair] = with_bound(A, found[pair], known)


def bound_on(A, problem, method, max_seconds):
    """Return the bound on what answers a problem."""
    sides = {"required": problem.required, "forbidden": problem.forbidden}
    found = upper_bound(A, problem.m, problem.k, method=method, max_seconds=max_seconds, **sides)
    return replace(found, state=None)  # which is large, and nobody goes on from it


def searched_in_turn(A, found, order, run):
    """Put the bound of a search on answers with as many components, the most features first."""
    above, before, pool = np.inf, None, FIRST + NEXT * (len(order) - 1)
    for place, pair in enumerate(order):
        if run.seconds_left == 0:
            break
        rest = len(order) - place - 1
        known = before is not None and before.root_state is not None
        share = min(MOST if known else FIRST, max(pool - LEFT * rest, LEFT))
        found[pair], spent, before = searched(A, found[pair], above, before, share, run)
        pool -= spent
        above = min(above, found[pair].upper_bound)


def searched(A, answer, above, before, share, run):
    """Return what a share of `solve`'s work makes of an answer, no bound above one that is given.

    And the share that it took, and what the search of another count goes on from.
    """
    inner = Run(100_000, run.seconds_left)
    inner.record(answer.objective, answer)
    checked = CheckedMatrix.of(A, answer.problem)
    closed_form = least_closed_form(checked)
    if closes(closed_form, answer.objective, 0.0) or checked.matrix is None:
        return claimed(checked, answer, closed_form), 0.0, before
    along = Along()
    better = search_from(checked, None, answer, closed_form, inner,
                         share=share, along=along, before=before)  # fmt: skip
    if inner.stopped == "interrupted":
        raise KeyboardInterrupt
    if along.root_state is not None and along.root_state.basis is not None:
        along.root_state = None  # a basis is made for a count of features
    if above < better.upper_bound:  # without a claim of its own
        better = replace(better, upper_bound=max(above, better.objective), certificate=None)
    took = share * inner.spent / inner.work
    return replace(better, stopped=answer.stopped, n_iter=answer.n_iter), took, along


def ascended(A, starts, best, run):
    """Raise the best Ascent of each problem from its starts, and say whether any gained."""
    asked, gained = [(*pair, start) for pair, given in starts.items() for start in given], False
    for ends in ascents(A, asked):
        for (m, k, _), end in zip(asked, ends, strict=True):
            if (m, k) not in best or end.value > best[m, k].value * (1 + GAIN):
                best[m, k], gained = end, True
        run.answer, run.value = best, max(end.value for end in best.values())
        run.report()
        if run.seconds_left == 0:
            break
    return gained


def warm(end, pair, d):
    """Return a start of one problem at the end of another's ascent."""
    return end.support if len(end.support) == pair[1] else embedded(end.loadings, end.support, d)
