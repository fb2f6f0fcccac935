"""Solve: what to call first; the best answer found, how good it is, and, where cheap, the proof.

An answer comes at once: IPU from Go, and exchanges.  A closed-form bound says how good it is.
Where the supports are few they are listed; elsewhere `crossing` looks for a better one.  Then a
tree of parts of the problem proves it, for as long as it may: `fspca/proof/search.py` says how
such a tree grows, `fspca/proof/tree.py` what is done with a node.  One component of wide data has
bounds, starts and a first division of its own: `fspca/proof/leaders.py`.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.linalg import TIE
from fspca.covariance.validate import Features, checked_choice, checked_nonnegative
from fspca.problem import SharedSupport, Solution
from fspca.proof.bounds import least_closed_form, quick_work, relaxed
from fspca.proof.checked import MAX_MEMORY, VARIANCES, CheckedMatrix
from fspca.proof.claims import Certificate, claimed
from fspca.proof.leaders import Leaders
from fspca.proof.search import PROOF, Part
from fspca.proof.tree import SupportTree, is_enumerated
from fspca.shared_support.crossing import cross
from fspca.shared_support.iteration import ascend_together
from fspca.shared_support.refit import refit, solution_on
from fspca.shared_support.starts import SHARED_WORDS, starting_point
from fspca.shared_support.swap import admitted, first_support, swap
from fspca.solver import Listener, Run, solves

WORK = 2e10  # counted, of the search where nothing else bounds it: some two seconds


@solves(SharedSupport, guarantee="bounded", promises="rises")
def solve(A: Covariance, m: int, k: int, *, gap: float | None = None,
          required: Features = (), forbidden: Features = (),
          max_memory: float = MAX_MEMORY, init: "str | Solution | ArrayLike" = "go",
          seed: int | None = 0, max_iter: int = 100_000, max_seconds: float | None = None,
          progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find the best support, and prove it or say how far from the best it can be.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  Go's features are
    improved by IPU and by exchanges, and then by ascents between the best local optima.  The set
    of supports is split by requiring or excluding a feature; a part whose upper bound does not
    exceed the best value known cannot hold a better support, and is dropped.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    gap : float
        Go on until the optimum is proven to be at most this much higher, relatively: 0.0 until it
        is proven.  None stops after a budget of counted work, some seconds at most, so that the
        same call gives the same answer.
    required, forbidden : sequences of features
        What the support must hold, and must lack: numbers, or names where A has some.
    max_memory : int
        Bytes for arrays.  With the sizes alone it decides how the bound is had: from the matrix,
        from the data, or, where neither fits, by chance, and then the answer says with which
        probability it holds.  There is no search then.
    init : "go", "fantope", "pca", "variance", "random", Solution, array (d x m) or k features
        A start beside Go and the largest variances: an earlier answer, say.
    seed : int
        Of the random starts.
    max_iter : int
        Nodes of the search at most.
    max_seconds : float
        Takes the place of the counted work: go on until it is proven or they are over.  0 gives
        the first answer with its closed-form bound.
    progress : True or callable
        Told of the first answer, of each better answer, of each better bound and each node.  Where
        it returns False, and at a Ctrl-C, the run ends with the best so far.

    Returns
    -------
    Solution
        Its `gap` is proven unless `bound_probability` is below 1; print it.  `n_iter` counts nodes.
        With the matrix A its `certificate` is a claim for `fspca.check_certificate.check`.

    See Also
    --------
    path : The same for many k.
    exhaustive : Lists all supports.
    certify : Says how far from the best any answer is.

    Notes
    -----
    Never worse than Go, IPU from Go, the k largest variances, or `init`.
    Exact up to 1e-9, relatively, where it ends by itself with gap=0; exponential at worst.
    Explained in the chapter "Exact search: prove it by branching and bounding".

    References
    ----------
    Moghaddam, Weiss and Avidan, "Spectral bounds for sparse PCA: exact and greedy algorithms",
    NeurIPS 2005 (printed 2006).

    Berk and Bertsimas, "Certifiably optimal sparse principal component analysis", Mathematical
    Programming Computation 11, 2019.

    Examples
    --------
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> solve(A, m=1, k=2)  # doctest: +NORMALIZE_WHITESPACE
    solve: explains 4 (57.1 % of all, 100 % of PCA's) on 2 of 3 features
      with m=1 component: proven optimal (0 nodes)
    >>> from fspca.check_certificate import check
    >>> check(solve(A, m=1, k=2).certificate | {"A": A}).reason
    'holds'
    """
    if gap is not None:
        checked_nonnegative("gap", gap)
    A, problem = A.plain, SharedSupport(m, k, required=required, forbidden=forbidden)
    checked = CheckedMatrix.of(A, problem, max_memory)
    leaders = None
    if gap is not None and checked.matrix is None:
        raise ValueError(f"gap={gap} needs the matrix or the data in max_memory={max_memory} bytes")
    # the bound of a large matrix comes first: Go then has its eigenpairs
    closed_form = least_closed_form(checked) if checked.shares_pairs else None
    starts = given_starts(A, problem, init, seed)
    fixed = len(problem.required)
    few = is_enumerated(len(checked.rows) - fixed, k - fixed)
    listed = few and checked.matrix is not None
    with Run(max_iter, max_seconds, progress) as run:
        at_once(A, problem, starts, run, exchanges=not listed or max_seconds == 0)
        closed_form = closed_form or least_closed_form(checked)
        if not closes(closed_form, run.value, gap or 0.0) and run.seconds_left != 0:
            leaders = Leaders.of(checked, run.value)
        closed_form = least_of(closed_form, leaders, run)
        open_ = not closes(closed_form, run.value, gap or 0.0) and run.seconds_left != 0
        if open_ and not listed:
            cross(A, problem, seed, run, leaders.starts(run.value) if leaders else ())
            closed_form = least_of(closed_form, leaders, run)
        if open_ and checked.matrix is not None and run.seconds_left != 0:
            return search_from(checked, gap, run.answer, closed_form, run, leaders=leaders)
        run.stop("gap reached" if not open_ and run.seconds_left != 0 else run.stopped)

    def build():
        late = run.stopped or ("max_seconds" if run.seconds_left == 0 else "done")
        proven = closed_form is not None and closes(closed_form, run.value, gap or 0.0)
        stopped = "gap reached" if proven and late != "interrupted" else late
        answer = replace(run.answer, solver="solve", n_iter=0, stopped=stopped)
        return answer if closed_form is None else claimed(checked, answer, closed_form)

    return run.finish(build)


def given_starts(A, problem, init, seed):
    """Return the supports to begin with: what was given, and Go's and the largest variances."""
    starts = [first_support(A, problem, word) for word in ("go", "variance")]
    if isinstance(init, Solution):
        init = init.support if len(init.support) == problem.k else init.W
    if isinstance(init, str):
        checked_choice("init", init, SHARED_WORDS)
        if init in ("go", "variance"):
            return starts
        W, support = starting_point(A, problem, init, np.random.default_rng(seed))
        init = W if support is None else support
    return [first_support(A, problem, init), *starts]


def at_once(A, problem, starts, run, exchanges):
    """Give the run the first answer: where IPU ends best, or a better start, and exchanges.

    Where all supports are listed soon, exchanges find nothing that the list does not.
    """
    ends = ascend_together(A, [(problem.m, problem.k, start) for start in starts])
    supports = {tuple(admitted(problem, A.diagonal(), end.support).tolist()) for end in ends}
    supports |= {tuple(start.tolist()) for start in starts[:-2]}  # what was given may be better
    values = {each: refit(A, np.array(each), problem.m)[1] for each in sorted(supports)}
    most = max(values.values()) * (1 - TIE)
    best = next(support for support, value in values.items() if value >= most)
    if exchanges:
        sides = {"required": problem.required, "forbidden": problem.forbidden}
        first = swap(
            A, problem.m, problem.k, init=list(best), max_seconds=run.seconds_left, **sides
        )
    else:
        first = solution_on(A, problem, np.array(best), "solve", n_iter=0, stopped="done")
    run.adopt(first)
    run.report()


def least_of(closed_form, leaders, run):
    """Return the lesser of the bound and that of leaders, and report it."""
    known = [closed_form] if leaders is None else [closed_form, leaders.certificate(run.value)]
    best = min(known, key=lambda each: each.bound)
    run.report(bound=best.bound)
    return best


def closes(closed_form, value, gap):
    """Whether a bound proves a value up to a gap."""
    return closed_form.bound <= value * (1 + gap) + PROOF * value


def search_from(checked, gap, first, closed_form, run, *, share=1.0, along=None, before=None,
                leaders=None):  # fmt: skip
    """Search from a first answer and bound; return the best with its bound and claim.

    Without a gap or a time that is given, it is done with such a share of the work of `solve`.
    `along`, where it is given, takes what helps the search for another count of features of the
    same matrix, and `before` is that of such a search.  `leaders` are those of wide data above a
    value that is no better than the first one.
    """
    problem = checked.problem
    known = before is not None and before.root_state is not None
    scale, state = (before.scale, before.root_state) if known else relaxed(checked)
    if gap is None and run.ends is None:
        run.work = share * max(WORK, quick_work(checked, state))
    tree = SupportTree(checked, gap or 0.0, scale, run)
    tree.leaders = leaders
    tree.before = before or tree.before
    if along is not None:
        tree.along, along.scale = along, scale
    tree.propose(first.support)
    rows, required = checked.rows, checked.required
    state = tree.restricted(state, np.arange(len(rows)))
    root = Part(rows, required, state, tree.place(rows, required, -1))
    # a root with one support is not bounded again
    tree.arrays[root.place] = {"whole": VARIANCES} if leaders else closed_form.arrays
    tree.push([(closed_form.bound, root)])
    try:
        tree.search()
    except KeyboardInterrupt:
        run.stop("interrupted")

    def build():
        stopped = "gap reached" if tree.bound <= tree.target else run.stopped
        solution = solution_on(checked.A, problem, tree.answer, "solve",
                               n_iter=tree.nodes, stopped=stopped)  # fmt: skip
        solution = replace(solution, history=(*tree.history, solution.objective))
        searched = tree.nodes and tree.bound < closed_form.bound
        found = Certificate(tree.bound, tree.proof) if searched else closed_form
        return claimed(checked, solution, found)

    return run.finish(build)
