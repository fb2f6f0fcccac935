"""Branch and bound: the best nonnegative component of A itself, proven.

A node says which entries are positive and which are zero; `fspca/proof/search.py` says how such a
tree grows, `fspca/proof/nonnegative_tree.py` what is particular to this one.
"""

from dataclasses import replace

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.validate import checked_nonnegative
from fspca.nonnegative.components import alone
from fspca.nonnegative.low_rank import answer
from fspca.problem import Nonnegative, Solution
from fspca.proof.nonnegative_tree import ComponentTree
from fspca.proof.search import PROOF, Part
from fspca.shared_support.solve import solve
from fspca.solver import Listener, Run, solves


@solves(Nonnegative, guarantee="exact", promises="shift labels", needs="matrix", most_components=1)
def branch_and_bound_nonnegative(A: Covariance, m: int, k: int, *, gap: float = 0.0,
        n_starts: int = 20, seed: int | None = 0, max_iter: int = 10_000,
        max_seconds: float | None = None,
        progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find the best nonnegative component and prove it, or how good the best so far is.

    The problem is max x'Ax over unit x >= 0 with at most k nonzeros.  The set of supports is
    split by whether a feature's entry is positive or zero; a part whose upper bound does not
    exceed the best value known cannot hold a better component, and is dropped.  Where very many
    features are fractional, it is split by the sign of a product with x instead.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        One component (m = 1), and nonzeros at most.
    gap : float
        Stop when the optimum is proven to be at most this much higher, relatively.
    n_starts, seed : int
        Random starts of the first answer.
    max_iter, max_seconds : int, float
        The budget in nodes and in seconds; ending there, or by Ctrl-C, leaves a valid bound.
    progress : True or callable
        Told after each node.

    Returns
    -------
    Solution
        `n_iter` counts nodes.  With the matrix A its `certificate` is a claim for
        `fspca.check_certificate.check`; an interruption leaves the bound without it.

    See Also
    --------
    solve_nonnegative : A good answer first.
    spannogram : Exact for low rank.

    Notes
    -----
    Exact up to 1e-9, relatively, when it converges.  Where A has no negative entry, |x| explains
    no less than x, and `fspca.solve` with m = 1 is asked instead.
    Cost: that of dense d x d eigenproblems, some hundred for a node.
    Explained in the chapter "Prove a nonnegative component".

    Examples
    --------
    >>> A = np.array([[2.0, -1.0, 0.5], [-1.0, 2.0, 0.8], [0.5, 0.8, 1.0]])
    >>> best = branch_and_bound_nonnegative(A, 1, 2)
    >>> from fspca.check_certificate import check
    >>> best.support, check(best.certificate | {"A": A}).reason
    (array([1, 2]), 'holds')
    """
    checked_nonnegative("gap", gap)
    if m > 1:
        raise ValueError(f"m={m} must be 1; solve_nonnegative bounds several components")
    A, rng = A.plain, np.random.default_rng(seed)
    run = Run(max_iter, max_seconds, progress)
    tree = ComponentTree(A, k, gap, run)
    if tree.relaxation.inner.min() >= 0:
        found = solve(A, 1, k, gap=gap, seed=seed, max_iter=max_iter, max_seconds=max_seconds,
                      progress=progress)  # fmt: skip
        problem, solver = Nonnegative(1, k), "branch_and_bound_nonnegative"
        return replace(found, W=np.abs(found.W), problem=problem, solver=solver)
    rows, none, most = np.arange(A.size), np.zeros(A.size, dtype=bool), A.leading(1)[0][0]
    root = Part(rows, none, tree.relaxation.start, tree.place(rows, none, -1))
    tree.push([(most * (1 + PROOF), root)])
    with run:
        tree.propose(alone(A))
        run.answer = tree.answer
        for _ in range(n_starts):
            tree.propose(A.product(rng.standard_normal((A.size, 1)))[:, 0])
        tree.search()

    def build():
        bound = tree.bound if run.bound is None else min(run.bound, tree.bound)
        found = answer(A, k, tree.answer, "branch_and_bound_nonnegative", bound,
                       **run.facts | {"history": (*tree.history, tree.value)})  # fmt: skip
        if run.stopped == "interrupted" or tree.unresolved_bound > tree.target or not tree.arrays:
            return found
        return replace(found, certificate=tree.claim(tree.bound))

    return run.finish(build)
