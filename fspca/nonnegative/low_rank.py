"""What the nonnegative solvers share: a low-rank part of A, the rank-1 rule, and the answer."""

from dataclasses import replace

import numpy as np

from fspca.covariance import as_covariance
from fspca.covariance.linalg import EPS, largest
from fspca.covariance.validate import checked_count
from fspca.problem import Nonnegative, solution_of
from fspca.solver import Run


def low_rank(A, rank, shift=False):
    """Return V (d x r) and tail with x'Ax <= |V'x|^2 + tail for every unit x.

    tail is lambda_{r+1}.  VV' is A_r where shift is False; with the shift it is the part of A above
    tail, so that the bound is never larger.
    r is `rank`, or less where VV' has no larger one; what is dropped as rounding is in the tail.

    >>> V, tail = low_rank(as_covariance(np.diag([1.0, 1e-17])), 2)
    >>> V.shape, tail
    ((2, 1), 1e-17)
    """
    values, U = A.leading(min(rank + 1, A.size))
    values = np.maximum(values, 0.0)
    tail = values[rank] if rank < A.size else 0.0
    strengths = values[:rank] - (tail if shift else 0.0)
    kept = strengths > A.size * EPS * values[0]
    dropped = strengths[~kept].max(initial=0.0)
    tail = tail + dropped if shift else max(tail, dropped)
    return U[:, :rank][:, kept] * np.sqrt(strengths[kept]), float(tail)


def keep_positive(a, k):
    """Return the unit x >= 0 with at most k nonzeros that maximises a'x: the rank-1 rule.

    What nearly ties is not equal here: a value a little lower would leave a cell open for ever.

    >>> keep_positive(np.array([3.0, -5.0, 4.0, 1.0]), 2)
    array([0.6, 0. , 0.8, 0. ])
    """
    rows, x = np.argsort(-a, kind="stable")[:k], np.zeros(len(a))
    x[rows] = np.maximum(a[rows], 0.0)
    if not x.any():  # then the least negative entry alone is best
        x[largest(a, 1)] = 1.0
    x /= x.max()
    return x / np.linalg.norm(x)


def climb_low_rank(V, c, k, steps=100):
    """Return x and |V'x|^2 after c <- V'x, x <- keep_positive(Vc) in turn; the value rises."""
    value = -np.inf
    for _ in range(steps):
        x = keep_positive(V @ c, k)
        c, before = V.T @ x, value
        value = c @ c
        if value <= before * (1 + 4 * EPS) or value == 0:
            break
    return x, value


def settle(V, x):
    """Return x, or the leading eigenvector of VV' on its support where that is nonnegative.

    A climb ends where the value no longer rises, with x right to half as many digits.
    """
    rows, y = np.flatnonzero(x > 1e-9 * x.max()), np.zeros(len(x))
    a = V[rows] @ np.linalg.eigh(V[rows].T @ V[rows])[1][:, -1]
    y[rows] = a * np.sign(a[np.argmax(np.abs(a))])
    return y / np.linalg.norm(y) if y.any() and y.min() >= 0 else x


def checked_rank(rank, d):
    """Return the rank as an int; None asks for three, or d where that is less."""
    if rank is None:
        return min(3, d)
    if checked_count("rank", rank) > d:
        raise ValueError(f"rank={rank} must lie between 1 and d={d}")
    return int(rank)


def answer(A, k, x, solver, bound=None, **details):
    """Return the Solution with the one component x; a bound is never below its value.

    Entries that are rounding beside the largest are zero: their square adds nothing.
    """
    x = np.where(x > 1e-9 * x.max(), x, 0.0)
    x /= np.linalg.norm(x)
    found = solution_of(A, Nonnegative(1, k), x[:, None], solver, **details)
    if bound is None:
        return found
    # rounding, or a bound that holds with a probability only
    return replace(found, upper_bound=float(max(bound, found.objective)))


def ascend(A, W, step, run):
    """Let W <- step(W) until trace W'AW no longer rises; return W."""
    for _ in run:
        if not run.history:
            run.record(np.vdot(W, A.product(W)), W)
        W = step(run.answer)
        value = float(np.vdot(W, A.product(W)))
        if value <= run.value * (1 + 1e-12):
            run.stop("no gain")
        else:
            run.record(value, W)
    return run.answer


def ascend_one(A, x, k, run):
    """The same of one component, whose step is the rank-1 rule's answer to A x."""
    return ascend(A, x[:, None], lambda x: keep_positive(A.product(x)[:, 0], k)[:, None], run)[:, 0]


def checked_single(solution):
    """Return the problem of a solution, which must be of one nonnegative component."""
    problem = getattr(solution, "problem", None)
    if getattr(problem, "kind", None) != Nonnegative.kind or problem.m != 1:
        raise ValueError(f"problem={problem} must be Nonnegative with m=1")
    return problem


def refit_nonnegative(A, solution, max_iter=1000):
    """Return a nonnegative component improved on A itself, its bound kept.

    A solver of a low-rank part never sees the rest of A.  From its answer, x <- the rank-1
    rule's answer to A x cannot lower x'Ax: it maximises the tangent of a convex function.

    >>> from fspca import epsilon_net
    >>> A = np.diag([2.0, 1.0, 1.0]) + 0.5
    >>> coarse = epsilon_net(A, 1, 2, rank=1, n_samples=1)
    >>> refit_nonnegative(A, coarse).objective >= coarse.objective
    True
    """
    A, problem = as_covariance(A).plain, checked_single(solution)
    run = Run(checked_count("max_iter", max_iter))
    with run:
        ascend_one(A, solution.W[:, 0], problem.k, run)
    facts = run.facts | {"bound_probability": solution.bound_probability}
    name = f"{solution.solver}, refit"
    return answer(A, problem.k, run.answer[:, 0], name, solution.upper_bound, **facts)
