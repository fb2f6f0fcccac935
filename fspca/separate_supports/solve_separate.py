"""solve_separate: what to call first where each component has its own features."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.validate import checked_nonnegative
from fspca.problem import SeparateSupports, Solution, solution_of
from fspca.proof.packing import Packing
from fspca.proof.search import PROOF
from fspca.proof.separate import with_claim
from fspca.separate_supports.deflation import Spent, completed
from fspca.separate_supports.factors import search
from fspca.separate_supports.sweeps import refine_in_turn
from fspca.shared_support.starts import WORDS, checked_init, starting_point
from fspca.solver import Listener, Run, solves

FORMED = 700  # features up to which prices are sought: a step takes a tenth of a second there


@solves(SeparateSupports, counts=True, guarantee="bounded", promises="rises")
def solve_separate(A: Covariance, m: int, k: int | Sequence[int], *, score: str = "factors",
                   uncorrelated: bool = False, orthonormal: bool = False, disjoint: bool = False,
                   gap: float | None = None,
                   init: str | ArrayLike = "pca", n_starts: int = 60, seed: int | None = 0,
                   max_seconds: float | None = None, progress: Listener | None = None,
                   n_jobs: int | None = None) -> Solution:  # fmt: skip
    r"""Find components, each on features of its own, and say how far from the best they can be.

    The problem is to find unit columns w_1, ..., w_m of k nonzeros each for which m uncorrelated
    factors explain most: max sum (u_j'Zw_j)^2 over W and orthonormal u_1, ..., u_m, where
    A = Z'Z.  A second list that repeats the first one's factor adds nothing.  From many starts
    the factors for the lists and the lists for the factors are found by turns; then components
    are sought anew beside what the others leave, and features exchanged.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m : int
        Components.
    k : int or list of m ints
        Nonzeros per component.
    score : "factors" or "subspace"
        Maximise what uncorrelated factors explain, or trace(Q'AQ) with Q a basis of W, which
        rewards copies of one factor and need not have a maximum.
    uncorrelated : bool
        Ask that the scores are uncorrelated, W'AW diagonal; k must be at least m.
    orthonormal : bool
        Ask that the columns of W are orthogonal.
    disjoint : bool
        Ask that no feature is in two columns.
    gap : float
        Of orthogonal columns: go on until the optimum is proven to be at most this much higher,
        relatively, 0.0 until it is proven.  None stops after a budget of counted work, some
        seconds at most, so that the same call gives the same answer.
    init : "pca", "variance", "random" or array (d x m)
        The first start beside those of the solver's own.
    n_starts, seed : int
        How often columns of PCA are taken, turned at random after the first time.  Of disjoint
        lists they are turned only where the first answer is not proven.
    max_seconds, progress : float, True or callable
        As everywhere.
    n_jobs : int
        Starts that climb at once, by joblib, each on a core of its own; -1 is all cores.  The
        answer is the same to the last bit.  With `orthonormal` or the subspace's score starts
        go one after another, as each skips what those before it found.

    Returns
    -------
    Solution
        Its `upper_bound` holds for every W of this kind.  `history` holds the score after
        each turn or sweep of the answer's own run.  Its `score_correlation` is the largest
        modulus of a correlation of two scores.

    See Also
    --------
    solve : One support for all components.
    solve_nonnegative : Loadings that are not negative.
    fspca.metrics.explained_by_factors : The score.

    Notes
    -----
    The score never falls.  By default it needs products with A alone, and a few hundred columns
    of it.  With a condition or the subspace's score each component in turn climbs beside all
    others.
    The bound is that of a shared support of m k features: no score exceeds it;
    `upper_bound(A, m, m k)` may find a lower one, and takes longer.  What factors explain is, up
    to 100 features, also bounded by one component of a matrix whose largest eigenvalues are
    levelled; `certify` does so for more, and closer.  Orthogonal components of up to 700 features
    are proven by prices on features, where that takes not too long: a disjoint answer from one
    start as well as from sixty, while random starts are worth up to 1.2 % where orthonormal
    columns are not proven.  Else they have lower bounds of row sums, and up to 40 features of
    the theorem on columns (page "The certificate format").  `certificate` is the claim of the
    least.
    Explained in the chapters "What should several components maximise?" and "Refine all
    components together".

    References
    ----------
    Chavent and Chavent, "Optimal projected variance group-sparse block PCA", arXiv 1705.00461.

    Barnhart, Johnson, Nemhauser, Savelsbergh and Vance, "Branch-and-price: column generation for
    solving huge integer programs", Operations Research 46, 1998.

    Examples
    --------
    >>> A = np.diag([1.0, 5.0, 2.0, 4.0])
    >>> solution = solve_separate(A, m=2, k=[2, 1])
    >>> solution.support, solution.gap < 1e-8
    (array([1, 3]), True)
    """
    asked = {"uncorrelated": uncorrelated, "orthonormal": orthonormal, "disjoint": disjoint}
    problem = SeparateSupports(m, k, score=score, **asked).fit(A.size)
    if gap is not None:
        checked_nonnegative("gap", gap)
        if not problem.orthogonal:
            raise ValueError(f"gap={gap} needs disjoint=True or orthonormal=True")
    init = checked_init(init, A.size, m, WORDS)
    A, rng, packing = A.plain, np.random.default_rng(seed), None
    turns = iter(run := Run(None, max_seconds, progress))

    def keep(history, W):
        run.record(history[-1], (W, tuple(history)))
        if next(turns, None) is None:
            raise Spent

    by_factors = score == "factors" and not any(asked.values())
    by_prices = problem.orthogonal and m > 1 and A.size <= FORMED
    with run, suppress(Spent):
        if by_factors:
            start = starting_point(A, SeparateSupports(m, 1), init, rng)[0]
            search(A, problem.counts, start, n_starts, rng, keep, n_jobs)
        at_first = {1} if by_prices and disjoint else set()
        for starts in () if by_factors else sorted({n_starts, *at_first}):
            before = run.value
            refine_in_turn(A, shared_out(problem, A.size), init, starts, rng, keep, n_jobs)
            if by_prices and run.value > max(before, 0.0) * (1 + PROOF):
                packing = packed_by_prices(A, problem, gap, run)
            if packing is not None and packing.proven:
                break  # no random start can find what is better

    def build():
        W, history = run.answer
        facts = run.facts | {"history": history}
        solution = solution_of(A, problem, completed(A, W), "solve_separate", **facts)
        if packing is None:
            return with_claim(A, solution)
        return with_prices(A, solution, packing)

    return run.finish(build)


def shared_out(problem, d):
    """The problem with counts, where disjoint supports need them, that d features suffice for."""
    counts = np.array(problem.counts)
    while problem.disjoint and counts.sum() > d:
        counts[np.argmax(counts)] -= 1
    if np.array_equal(counts, problem.counts):
        return problem
    return SeparateSupports(problem.m, counts.tolist(), disjoint=True)


def packed_by_prices(A, problem, gap, run):
    """Return the Packing that begins with the run's answer; tell the run a better one."""
    W, history = run.answer
    array = A.submatrix(np.arange(A.size))
    packing = Packing((array + array.T) / 2, problem, True, gap, run)
    packing.start_from(W)
    packing.go_on()
    if packing.value > run.value * (1 + PROOF):
        run.record(packing.value, (packing.W, (*history, packing.value)))
    return packing


def with_prices(A, solution, packing):
    """Return the solution with the least of the bounds, those by prices among them."""
    bound, claim = packing.accepted(solution.W)
    if packing.proven and claim is not None:
        return replace(solution, upper_bound=max(bound, solution.objective), certificate=claim)
    other = with_claim(A, solution)
    if bound is None or other.upper_bound <= bound:
        return other
    return replace(solution, upper_bound=max(bound, solution.objective), certificate=claim)
