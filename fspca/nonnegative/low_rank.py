"""What the nonnegative solvers share: a low-rank part of A, the rank-1 rule, and the answer."""

import numpy as np

from fspca.covariance import as_covariance
from fspca.linalg import EPS, largest
from fspca.problem import Nonnegative, Solution
from fspca.running import Run
from fspca.validate import checked_count


def low_rank(A, rank, shift=False):
    """Return V (d x r), sigma and tail with x'Ax <= |V'x|^2 + tail for every unit x.

    VV' is A_r where shift is False: then sigma = 0 and tail = lambda_{r+1}.  With the shift it
    is the part of A above sigma = tail = lambda_{r+1}, so that the bound is never larger.
    r is `rank`, or less where VV' has no larger one.
    """
    values, U = A.leading(min(rank + 1, A.size))
    values = np.where(values > A.size * EPS * max(values[0], 0.0), values, 0.0)
    tail = values[rank] if rank < A.size else 0.0
    sigma = tail if shift else 0.0
    strengths = values[:rank] - sigma
    kept = strengths > A.size * EPS * values[0]
    return U[:, :rank][:, kept] * np.sqrt(strengths[kept]), float(sigma), float(tail)


def keep_positive(a, k):
    """Return the unit x >= 0 with at most k nonzeros that maximises a'x: the rank-1 rule.

    >>> keep_positive(np.array([3.0, -5.0, 4.0, 1.0]), 2)
    array([0.6, 0. , 0.8, 0. ])
    """
    rows, x = largest(a, k), np.zeros(len(a))
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
    problem = Nonnegative(1, k)
    value = problem.score(A, x[:, None])
    if bound is not None:  # rounding, or a bound that holds with a probability only
        bound = float(max(bound, value))
    return Solution(
        x[:, None], np.flatnonzero(x), value, problem, solver,
        upper_bound=bound, **({"history": (value,)} | details),
    )  # fmt: skip


def ascend(A, x, k, run):
    """Let x <- the rank-1 rule's answer to A x until x'Ax no longer rises; return x."""
    for _ in run:
        value = run.history[-1] if run.history else float(x @ A.product(x[:, None])[:, 0])
        if not run.history:
            run.keep(value, x)
        moved = keep_positive(A.product(run.answer[:, None])[:, 0], k)
        reached = float(moved @ A.product(moved[:, None])[:, 0])
        if reached <= value * (1 + 1e-12):
            run.stop("no gain")
        else:
            run.keep(reached, moved)
    return run.answer


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
    A, problem = as_covariance(A).plain, getattr(solution, "problem", None)
    if not isinstance(problem, Nonnegative) or problem.m != 1:
        raise ValueError(f"problem={problem} must be Nonnegative with m=1")
    run = Run(checked_count("max_iter", max_iter))
    with run:
        ascend(A, solution.W[:, 0], problem.k, run)
    return answer(
        A, problem.k, run.answer, f"{solution.solver}, refit", solution.upper_bound,
        bound_probability=solution.bound_probability, **run.facts,
    )  # fmt: skip
