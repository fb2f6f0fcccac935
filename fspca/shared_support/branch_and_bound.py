"""Branch and bound: the best support, proven.

A node requires some features and excludes others; `fspca/proof/search.py` says how such a tree
grows and a node is processed, `fspca/proof/tree.py` what is particular to this one.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.validate import checked_nonnegative
from fspca.problem import SharedSupport, Solution
from fspca.proof.bounds import least_closed_form, relaxed
from fspca.proof.checked import MAX_MEMORY, CheckedMatrix
from fspca.proof.claims import Certificate, claimed
from fspca.proof.search import PROOF, Part
from fspca.proof.tree import SupportTree
from fspca.shared_support.refit import solution_on
from fspca.shared_support.swap import best_start
from fspca.solver import Listener, Run, solves


@solves(SharedSupport)
def branch_and_bound(A: Covariance, m: int, k: int, *, gap: float = 0.0,
                     required: Sequence[int] = (), forbidden: Sequence[int] = (),
                     max_memory: float = MAX_MEMORY, n_starts: int = 1, seed: int | None = 0,
                     max_iter: int = 100_000, max_seconds: float | None = None,
                     progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find the best support and prove it, or return the best so far with its valid gap.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  The set of
    supports is split by requiring or excluding a feature; a part whose upper bound does not
    exceed the best value known cannot hold a better support, and is dropped.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    gap : float
        Stop when the optimum is proven to be at most this much higher, relatively.
    required, forbidden : sequences of features
        What the support must hold, and must lack.
    max_memory : int
        Bytes for arrays; where the matrix does not fit, and the data do not, there is no search.
    n_starts, seed : int
        Random starts of the first answer beside Go and the largest variances.
    max_iter, max_seconds : int, float
        The budget in nodes and in seconds; ending there, or by Ctrl-C, leaves a valid bound.
    progress : True or callable
        Told after each node.

    Returns
    -------
    Solution
        `n_iter` counts nodes.  Where the search ends by itself, `certificate` is its tree: with
        the matrix A it is a claim for `fspca.check_certificate.check`.

    See Also
    --------
    exhaustive : For few supports.
    upper_bound : The bound of its nodes.
    solve : A good answer first.

    Notes
    -----
    Exact up to 1e-9, relatively, when it converges.  Cost: exponential at worst; see the
    chapter "Exact search: prove it by branching and bounding" for what it does on real data.

    References
    ----------
    Moghaddam, Weiss and Avidan, "Spectral bounds for sparse PCA: exact and greedy algorithms",
    NeurIPS 2005 (printed 2006).

    Berk and Bertsimas, "Certifiably optimal sparse principal component analysis", Mathematical
    Programming Computation 11, 2019.

    Examples
    --------
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> best = branch_and_bound(A, m=1, k=2)
    >>> best.support
    array([1, 2])
    >>> from fspca.check_certificate import check
    >>> check(best.certificate | {"A": A}).reason
    'holds'
    """
    checked_nonnegative("gap", gap)
    A, problem = A.plain, SharedSupport(m, k, required=required, forbidden=forbidden)
    checked = CheckedMatrix.of(A, problem, max_memory)
    if checked.matrix is None:
        raise ValueError(f"max_memory={max_memory} holds neither the matrix nor the data")
    with Run(max_iter, max_seconds, progress) as run:
        first = run.take(best_start(A, problem, n_starts, seed))
        return search_from(checked, gap, first, least_closed_form(checked), run)
    return replace(run.answer, solver="branch_and_bound", stopped="interrupted")


def search_from(checked, gap, first, closed_form, run):
    """Search from a first answer and bound; return the best answer with its bound and claim."""
    value = checked.value(first.support)
    if closed_form.bound <= value * (1 + gap) + PROOF * value:
        done = replace(first, solver="branch_and_bound", n_iter=0, stopped="gap reached")
        return claimed(checked, done, closed_form)
    scale, state = relaxed(checked)
    tree = SupportTree(checked, gap, scale, run)
    tree.propose(first.support)
    rows, required = checked.rows, checked.required
    state = tree.restricted(state, np.arange(len(rows)))
    root = Part(rows, required, state, tree.place(rows, required, -1))
    tree.arrays[root.place] = closed_form.arrays  # a root with one support is not bounded again
    tree.push([(closed_form.bound, root)])
    try:
        tree.search()
    except KeyboardInterrupt:
        run.stop("interrupted")

    def build():
        stopped = "gap reached" if tree.bound <= tree.target else run.stopped
        facts = {"n_iter": tree.nodes, "stopped": stopped}
        solution = solution_on(checked.A, checked.problem, tree.answer, "branch_and_bound", **facts)
        solution = replace(solution, history=(*tree.history, solution.objective))
        searched = tree.nodes and tree.bound < closed_form.bound
        found = Certificate(tree.bound, tree.proof) if searched else closed_form
        return claimed(checked, solution, found)

    return run.finish(build)
