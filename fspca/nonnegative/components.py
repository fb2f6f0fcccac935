"""Several nonnegative components, one after another, by any method for one."""

from copy import deepcopy

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
    run = Run(None, max_seconds, progress, latest=True)
    base = A
    if apart == "low rank":
        base = Covariance.from_data(low_rank(A, *part)[0].T, center=False, divisor=1)
    W, history, steps, ended = np.zeros((A.size, 0)), (), 0, []
    with run:
        for j, most in enumerate(problem.counts.tolist()):
            rest, free = left(base, W, apart)
            if apart == "supports":
                most = min(most, len(free) - (m - 1 - j))
            if own:
                own = {"init": init[free, j : j + 1]}
            found = method(rest, most, Run(max_iter, run.seconds_left), **own)
            W = with_column(A, W, free, found.W[:, 0])
            value, before = problem.score(A, W), history[-1] if history else 0.0
            history = (*history, *(before + each for each in found.history[:-1]), value)
            steps, ended = steps + found.n_iter, ended + [found.stopped] * (not found.converged)
            run.record(value, (W, history, steps, found.solver))
            if found.stopped == "interrupted":
                raise KeyboardInterrupt
            if found.stopped == "max_seconds":
                break
    if not run.stopped:
        run.stop(ended[-1] if ended else "done")

    def build():
        W, history, steps, solver = run.answer
        while W.shape[1] < m:
            rest, free = left(base, W, apart)
            W = with_column(A, W, free, alone(rest))
            history = (*history, problem.score(A, W))
        facts = {"history": history, "n_iter": steps, "stopped": run.stopped}
        return solution_of(A, problem, W, solver, **facts)

    return run.finish(build)


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
