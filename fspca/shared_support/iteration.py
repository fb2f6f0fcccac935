"""One loop for IPU, SOAP and SRT: they differ in how the rows of AW are scaled before the choice.

| method | the rows that are scored     | the loadings                           |
|--------|------------------------------|----------------------------------------|
| IPU    | AW (W'AW)^(-1/2)             | the best on the support chosen         |
| SOAP   | an orthonormal basis of AW   | the chosen rows, orthonormalised again |
| SRT    | AW                           | the chosen rows, orthonormalised       |
"""

import numpy as np

from fspca.linalg import TIE, largest
from fspca.problem import SharedSupport, Solution
from fspca.running import Run, best_run
from fspca.shared_support.refit import refit
from fspca.starts import SHARED_WORDS, checked_init, starting_point
from fspca.validate import checked_choice

SAME = 1e-8  # the sines between two subspaces that are called the same


def applied(A, W, support):
    """Return AW and M = W'AW for a W with its rows in the support (None: in all rows)."""
    V = W if support is None else W[support]
    AW = A.product(V, support)
    return AW, V.T @ (AW if support is None else AW[support])


def truncations(A, problem, start, scale, refined):
    """Yield W, its support and its objective after each step, until nothing changes.

    `start` is a pair: W, and its support or None.  `scale(AW, M)` with M = W'AW returns the d x m
    array whose rows are scored.  A step costs one product with A.
    """
    W, support = start
    AW, M = applied(A, W, support)
    while True:
        Z = scale(AW, M)
        chosen, AW = largest(np.einsum("ij,ij->i", Z, Z), problem.k), None
        Z = Z[chosen]  # blocks of d x m go as soon as they have been used
        repeated = support is not None and np.array_equal(chosen, support)
        if refined:
            if repeated:  # and so would be the loadings
                return
            W, _ = refit(A, chosen, problem.m)
        else:
            V, before = np.linalg.qr(Z)[0], W
            if repeated and np.linalg.norm(before[chosen] - V @ (V.T @ before[chosen])) <= SAME:
                return
            W = np.zeros((A.size, problem.m))
            W[chosen] = V
        support = chosen
        AW, M = applied(A, W, support)
        yield W, support, float(np.trace(M)) - problem.m * A.ridge


def from_every_start(
    A, m, k, scale, solver, init, n_starts, seed, max_iter, max_seconds, progress, *, refined,
    keep="last",
):  # fmt: skip
    """Run the steps from every start, and return the best Solution."""
    checked_choice("keep", keep, ("last", "best"))
    problem, rng = SharedSupport(m, k), np.random.default_rng(seed)
    init = checked_init(init, A.size, m, SHARED_WORDS)

    def once(n, starts):
        start = starting_point(A, problem, init if n == 1 else "random", rng)
        if refined and n == 1 and isinstance(init, str) and init == "fantope":
            start = refit(A, start[1], m)[0], start[1]  # its loadings are not the best there
        walk = truncations(A, problem, start, scale, refined)
        run = Run(max_iter, starts.left, starts.hear, latest=keep == "last")
        return follow(A, problem, start, walk, run, solver, refined)

    return best_run(once, n_starts, max_seconds, progress)


def follow(A, problem, start, walk, run, solver, refined):
    """Return the Solution at the end of one walk."""
    with run:
        if start[1] is not None:
            run.keep(problem.score(A.plain, start[0]), start)
        for _ in run:
            W, support, value = next(walk, (None, None, -np.inf))
            if W is None:
                run.stop("the support repeats")
            elif refined and run.history and value <= run.history[-1] * (1 + TIE):
                run.stop("no gain")  # the start was a fixed point of A's own
            else:
                run.keep(value, (W, support))
    W, support = run.answer

    def build():
        return Solution(W, support, problem.score(A.plain, W), problem, solver, **run.facts)

    return run.finish(build)
