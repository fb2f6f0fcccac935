"""Several nonnegative components, one after another, by any method for one."""

import numpy as np

from fspca.linalg import largest
from fspca.nonnegative.low_rank import answer
from fspca.problem import Nonnegative, Solution
from fspca.running import Run
from fspca.validate import checked_choice


def one_by_one(A, m, k, apart, method, max_iter, max_seconds, progress):
    """Return m components, each what method(rest, k, run) finds in what the others leave.

    With apart="supports" their features are set aside, so that supports are disjoint and
    components orthogonal; where fewer than k features are left for each component to come, one
    is kept for each.  With "deflation" A <- (I - xx') A (I - xx').  `max_iter` is that of each
    component.  Where the time runs out, the largest variances left fill up what is missing.
    """
    checked_choice("apart", apart, ("supports", "deflation"))
    A, problem = A.plain, Nonnegative(m, k, disjoint=apart == "supports")
    if m == 1:
        return method(A, int(problem.counts[0]), Run(max_iter, max_seconds, progress))
    W, rest, free, columns = np.zeros((A.size, m)), A, np.arange(A.size), []
    with Run(m, max_seconds, progress) as run:
        history, steps, stopped = [], 0, "done"
        for j in range(m):
            most = int(problem.counts[j])
            if apart == "supports":
                most = min(most, len(free) - (m - 1 - j))
            if stopped in ("max_seconds", "interrupted"):
                found = answer(rest, most, alone(rest), "")
            else:
                found = method(rest, most, Run(max_iter, run.left))
                stopped = found.stopped if not found.converged else stopped
            W[free, j] = found.W[:, 0]
            before = history[-1] if history else 0.0
            value = problem.score(A, W[:, : j + 1])
            history += [before + each for each in found.history[:-1]] + [value]
            steps += found.n_iter
            run.tell(value)
            if apart == "deflation":
                rest = rest.deflated(found.W[:, 0])
            elif j + 1 < m:
                free = np.delete(free, found.support)
                rest = A.restricted(free)
            columns.append(found)
    support = np.flatnonzero(W.any(axis=1))
    return Solution(W, support, value, problem, columns[0].solver, tuple(history), steps, stopped)


def alone(A):
    """The feature of largest variance."""
    x = np.zeros(A.size)
    x[largest(A.diagonal(), 1)] = 1.0
    return x
