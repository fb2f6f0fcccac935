"""Solve: what to call first; a good answer, and how good it is."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.linalg import random_subspace
from fspca.covariance.validate import checked_choice
from fspca.problem import SharedSupport, Solution
from fspca.proof.bounds import affordable, dual_bound, least_closed_form, relaxed
from fspca.proof.checked import MAX_MEMORY, CheckedMatrix
from fspca.proof.claims import claimed
from fspca.proof.search import PROOF
from fspca.shared_support.branch_and_bound import search_from
from fspca.shared_support.swap import best_of, best_start
from fspca.solver import Listener, Run, solves

STARTS = {"fast": 5, "thorough": 30}


@solves(SharedSupport)
def solve(A: Covariance, m: int, k: int, *, effort: str = "fast", required: Sequence[int] = (),
          forbidden: Sequence[int] = (), max_memory: float = MAX_MEMORY, seed: int | None = 0,
          max_iter: int = 500, max_seconds: float | None = None,
          progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find a good support and say how far from the best it can be.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  Go, the k
    largest variances and random starts are improved by IPU and by exchanges; an upper bound
    from the semidefinite relaxation certifies the best of them, and the features that the
    relaxation wants most are one start more.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    effort : "fast" or "thorough"
        "thorough" takes more starts and then branches and bounds.
    required, forbidden : sequences of features
        What the support must hold, and must lack.
    max_memory : int
        Bytes for arrays.  With the sizes alone it decides how the bound is had: from the matrix,
        from the data, or, where neither fits, by chance, and then the answer says with which
        probability it holds.  The thorough search is then refused.
    seed : int
        Of the random starts.
    max_iter, max_seconds : int, float
        The thorough search's budget of nodes, and seconds for all; a Ctrl-C keeps the best too.
    progress : True or callable
        Told of each improvement and each node.

    Returns
    -------
    Solution
        Its `gap` is proven unless `bound_probability` is below 1; print it.

    See Also
    --------
    path : The same for many k.
    branch_and_bound : Goes on until the answer is proven.
    certify : Says how far from the best any answer is.

    Notes
    -----
    Never worse than Go, IPU from Go, or the k largest variances.
    Explained in the chapter "Exact search: prove it by branching and bounding".

    Examples
    --------
    >>> A = [[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]]
    >>> solution = solve(A, m=1, k=2)
    >>> solution.support, bool(solution.gap < 1e-8)
    (array([1, 2]), True)
    """
    thorough = checked_choice("effort", effort, tuple(STARTS)) == "thorough"
    A, problem = A.plain, SharedSupport(m, k, required=required, forbidden=forbidden)
    checked = CheckedMatrix.of(A, problem, max_memory)
    if thorough and checked.matrix is None:
        raise ValueError(f"effort='thorough' needs the matrix or the data in {max_memory=} bytes")
    with Run(max_iter, max_seconds, progress) as run:
        run.take(best_start(A, problem, 0, seed, lambda: run.left))
        run.tell()
        if run.left != 0:
            rng = np.random.default_rng(seed)
            starts = [random_subspace(A.size, m, rng) for _ in range(STARTS[effort])]
            run.take(best_of(A, problem, starts, lambda: run.left))
        closed_form = least_closed_form(checked)
        run.answer = claimed(checked, run.answer, closed_form)
        run.tell(bound=closed_form.bound)
        if thorough:
            found = search_from(checked, 0.0, run.answer, closed_form, run)
            return replace(found, solver="solve")
        if run.answer.gap > PROOF and checked.matrix is not None and run.left != 0:
            tightened(checked, closed_form, run)
    stopped = run.stopped or ("max_seconds" if run.left == 0 else "done")
    return replace(run.answer, solver="solve", stopped=stopped)


def tightened(checked, closed_form, run):
    """Solve the relaxation, round it, and keep the better answer with the better bound."""
    scale, state = relaxed(checked)
    steps = affordable(state)
    if steps < 10:
        return
    target = run.value * (1 + PROOF)
    found = dual_bound(checked, True, steps, run.ends, target, (scale, state), run.hear)
    wanted = found.z.copy()
    wanted[list(checked.problem.required)] = 2
    rounded = np.sort(np.argsort(-wanted, kind="stable")[: checked.k])
    best = min(closed_form, found, key=lambda each: each.bound)
    run.answer = claimed(checked, run.answer, best)
    if found.interrupted:
        raise KeyboardInterrupt
    better = best_of(checked.A, checked.problem, [rounded])
    if better.objective > run.value:
        run.value, run.answer = better.objective, claimed(checked, better, best)
    if better.stopped == "interrupted":
        raise KeyboardInterrupt
