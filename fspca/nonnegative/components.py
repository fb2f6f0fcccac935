"""Several nonnegative components, one after another, by any method for one."""

from copy import deepcopy
from typing import NamedTuple

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.linalg import embedded, largest
from fspca.covariance.validate import checked_choice
from fspca.nonnegative.low_rank import low_rank
from fspca.problem import Nonnegative, solution_of
from fspca.solver import Run


def one_by_one(A, m, k, method, *, apart, max_iter=None, max_seconds=None, progress=None,
               init="random", part=None):  # fmt: skip
    """Return m components, each what method(rest, k, run) finds in what the others leave.

    With apart="supports" their features are set aside, so that supports are disjoint and
    components orthogonal; where fewer than k features are left for each component to come, one
    is kept for each.  With "deflation" A <- (I - xx') A (I - xx'), and with "low rank" the same is
    done to VV', with V = `low_rank(A, *part)`.  `max_iter` is that of each component.  Where the
    time runs out, or a Ctrl-C comes, the largest variances left fill up what is missing.  Of an
    array `init` the method gets each component's part, as its `init`.
    """
    ways = ("supports", "deflation") if part is None else ("supports", "deflation", "low rank")
    checked_choice("apart", apart, ways)
    A, problem = A.plain, Nonnegative(m, k, disjoint=apart == "supports")
    own = {} if isinstance(init, str) else {"init": init[:, :1]}
    if m == 1:
        return method(A, int(problem.counts[0]), Run(max_iter, max_seconds, progress), **own)
    base = A
    if apart == "low rank":
        base = Covariance.from_data(low_rank(A, *part)[0].T, center=False, divisor=1)
    found = FoundComponents(np.zeros((A.size, 0)), (), 0, "")
    ended = "done"
    run = Run(None, max_seconds, progress, latest=True)
    with run:
        for j, most in enumerate(problem.counts.tolist()):
            rest, free = left(base, found.W, apart)
            if apart == "supports":
                most = min(most, len(free) - (m - 1 - j))
            if own:
                own = {"init": init[free, j : j + 1]}
            component = method(rest, most, Run(max_iter, run.seconds_left), **own)
            found = with_component(A, problem, found, free, component)
            run.record(found.history[-1], found)
            if component.stopped == "interrupted":
                raise KeyboardInterrupt
            if not component.converged:
                ended = component.stopped
            if ended == "max_seconds":
                break
    if not run.stopped:
        run.stop(ended)
    return run.finish(lambda: filled_up(A, problem, base, apart, run))


class FoundComponents(NamedTuple):
    """Components found one after another, the objective on the way, the steps, and who found them.

    The objective is that of all so far, after each step of the last one.
    """

    W: np.ndarray
    history: tuple
    steps: int
    solver: str


def with_component(A, problem, found, free, component):
    """Return what was found with a component more, which is one of these features."""
    W = with_column(A, found.W, free, component.W[:, 0])
    before = found.history[-1] if found.history else 0.0
    on_the_way = [before + each for each in component.history[:-1]]
    history = (*found.history, *on_the_way, problem.score(A, W))
    return FoundComponents(W, history, found.steps + component.n_iter, component.solver)


def filled_up(A, problem, base, apart, run):
    """Return the answer of a run, the largest variances left in the place of what is missing."""
    W, history, steps, solver = run.answer
    while W.shape[1] < problem.m:
        rest, free = left(base, W, apart)
        W = with_column(A, W, free, alone(rest))
        history = (*history, problem.score(A, W))
    facts = {"history": history, "n_iter": steps, "stopped": run.stopped}
    return solution_of(A, problem, W, solver, **facts)


def left(A, W, apart):
    """Return what the components W leave to the next one, and which features."""
    if apart == "supports" and W.shape[1]:
        free = np.flatnonzero(~W.any(axis=1))
        return A.restricted(free), free
    for x in W.T if apart != "supports" else ():
        A = A.deflated(x)
    return A, np.arange(A.size)


def with_column(A, W, free, x):
    """Return W with x, on its features, for one column more."""
    full = np.zeros((A.size, 1))
    full[free, 0] = x
    return np.hstack([W, full])


def draws(seed):
    """Yield for each component a generator that begins with the same draws; the first is seed's."""
    first = np.random.default_rng(seed)
    start = deepcopy(first)
    yield first
    while True:
        yield deepcopy(start)


def alone(A):
    """The feature of largest variance."""
    return embedded(1.0, largest(A.diagonal(), 1), A.size)
