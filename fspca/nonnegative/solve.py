"""Solve: what to call first for nonnegative components; a good answer, and how good it is."""

from collections.abc import Sequence
from itertools import chain, count

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.validate import checked_nonnegative
from fspca.nonnegative.components import one_by_one
from fspca.nonnegative.em import one_em
from fspca.nonnegative.joint import assigned, pointed, rematch
from fspca.nonnegative.low_rank import low_rank
from fspca.nonnegative.spannogram import best_cell
from fspca.problem import Nonnegative, Solution, solution_of
from fspca.proof.bounds import upper_bound
from fspca.proof.claims import claim_of, gap_of
from fspca.proof.nonnegative_relaxation import NonnegativeRelaxation
from fspca.proof.packing import Packing
from fspca.proof.search import PROOF
from fspca.solver import Listener, Run, solves

FORMED = 700  # features up to which the doubly nonnegative relaxation is solved
KICKS = 60  # of the best answer without a gain, after which it is let alone
NOISE, AWAY = 0.3, 3  # of a kick: on the logarithm of the weights; one in so many features expelled
RANK, NEAR = 3, 1e-3  # of the low-rank part that starts come from, and how nearly it is solved


@solves(Nonnegative, counts=True, guarantee="bounded", promises="rises", needs="matrix")
def solve_nonnegative(A: Covariance, m: int, k: int | Sequence[int], *, in_all: bool = False,
                      gap: float | None = None, n_starts: int = 12, seed: int | None = 0,
                      max_iter: int = 300, max_seconds: float | None = None,
                      progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find good nonnegative components and say how far from the best they can be.

    The problem is max trace(W'AW) over entrywise nonnegative W with unit columns on disjoint
    supports, at most k nonzeros each.  Components found one after another by the spannogram
    and by EM, and random directions of the low-rank part, are improved together: given where
    the components point, the best supports are a bipartite matching.  The best of them is
    kicked, by noise, a component aimed anew, places changed or features expelled, until that
    gains nothing any more.  A doubly nonnegative relaxation bounds what is best, and prices on
    features, with a search for one component, prove it.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m : int
        Components.
    k : int or m ints
        Nonzeros of each at most.
    in_all : bool
        Whether k counts the nonzeros of all components together.
    gap : float
        Go on until the optimum is proven to be at most this much higher, relatively: 0.0 until it
        is proven.  None stops after a budget of counted work, some seconds at most, so that the
        same call gives the same answer.
    n_starts, seed : int
        Random starts beside the two; the seed is that of the kicks, too.
    max_iter, max_seconds : int, float
        Steps of the relaxation, and a time that takes the place of the counted work; the bound is
        valid whenever they end.
    progress : True or callable
        Told after each start and each ten steps.

    Returns
    -------
    Solution
        Never below components found one after another.  With the matrix A, or wide data as
        X = `A.wide_factor()`, its `certificate`, where there is one, is a claim for
        `fspca.check_certificate.check`.

    See Also
    --------
    branch_and_bound_nonnegative : Goes on until the answer is proven.
    spannogram : Exact for low rank.

    Notes
    -----
    The relaxation is solved up to 700 features, and several components are then proven by prices
    on features, as set packings are, where that takes not too long.  Of more features it is solved
    where there are less than 350 samples: the features of largest variance, 700 less the samples,
    are seen one by one, and the rest as one.  Else the bound is that of the best shared support of
    as many features, and of the low-rank part for m = 1.
    The matching is that of Asteris, Papailiopoulos, Kyrillidis and Dimakis (2015).
    Explained in the chapter "Choose several parts together".

    References
    ----------
    Asteris, Papailiopoulos, Kyrillidis and Dimakis, "Sparse PCA via bipartite matchings", NeurIPS
    2015.

    Barnhart, Johnson, Nemhauser, Savelsbergh and Vance, "Branch-and-price: column generation for
    solving huge integer programs", Operations Research 46, 1998.

    Examples
    --------
    >>> A = np.kron(np.diag([3.0, 2.0]), np.ones((2, 2))) + np.eye(4)
    >>> best = solve_nonnegative(A, 2, 2)
    >>> best.W.T.round(3), bool(best.gap < 1e-8)
    (array([[0.707, 0.707, 0.   , 0.   ],
           [0.   , 0.   , 0.707, 0.707]]), True)
    """
    if gap is not None:
        checked_nonnegative("gap", gap)
    A, claim, bound = A.plain, None, None
    problem = Nonnegative(m, k, disjoint=True, in_all=in_all)
    with Run(None, max_seconds, progress) as starts:
        rng = np.random.default_rng(seed)
        columns = starting_columns(A, problem, n_starts, rng, starts)
        kicked = kicked_columns(A, problem, starts, rng)
        for W in chain(columns, kicked):
            run = Run(1000, starts.seconds_left)
            rematch(A, W, problem, run)
            starts.record(run.value, run)
            if starts.seconds_left == 0:
                starts.stop("max_seconds")
                break
        claim, node = tell_bound(A, problem, starts.answer.answer, max_iter, starts, gap or 0.0)
        bound = starts.bound
        starts.stop("max_seconds" if starts.seconds_left == 0 else starts.stopped)
        if m > 1 and node is not None and starts.value > 0 and not starts.stopped:
            bound, claim = proven_by_prices(A, problem, node, gap, starts) or (bound, claim)
    best = starts.answer

    def build():
        facts = best.facts | ({"stopped": starts.stopped} if starts.stopped else {})
        told = starts.bound if bound is None else bound
        told = None if told is None else max(told, problem.score(A, best.answer))
        facts |= {"upper_bound": told, "certificate": claim}
        return solution_of(A, problem, best.answer, "solve_nonnegative", **facts)

    return starts.finish(build)


def by_cells(A, k, run):
    """The Solution with one component of the low-rank part."""
    return best_cell(A, k, min(RANK, A.size), True, NEAR, 100_000, run)


def starting_columns(A, problem, n_starts, rng, starts):
    """Yield starts: one component after another, by cells and by EM, and random directions.

    One after another, the largest count comes first; a count in all is shared out evenly.
    """
    m, counts = problem.m, problem.counts
    if problem.in_all:
        counts = (problem.k + np.arange(m)) // m
    order = np.argsort(-counts, kind="stable")

    def by_em(A, k, run):
        return one_em(A, k, "random", 10, np.random.default_rng(0), 1e-6, run)

    for method in (by_cells, by_em):
        first = one_by_one(
            A,
            m,
            counts[order].tolist(),
            method,
            apart="supports",
            max_iter=1000,
            max_seconds=starts.seconds_left,
        )
        yield first.W[:, np.argsort(order)]
        if first.stopped == "interrupted":
            raise KeyboardInterrupt
    V, deviations = low_rank(A, RANK)[0], np.sqrt(np.maximum(A.diagonal(), 0.0))
    if not V.any():
        return
    for n in range(n_starts):  # in turns of the leading part, of all of A, and of each feature
        if n % 3 == 0:
            C = V @ rng.standard_normal((V.shape[1], m))
        else:
            C = rng.standard_normal((A.size, m))
            C = A.product(C) if n % 3 == 1 else deviations[:, None] * C
        yield assigned(C, problem)


def kicked_columns(A, problem, starts, rng):
    """Yield the best so far kicked in four ways in turn, until so many in turn gain nothing."""
    idle = 0
    for n in count():
        before, W = starts.value, starts.answer.answer
        C = pointed(A, W)
        if n % 4 == 0:
            C *= np.exp(NOISE * rng.standard_normal(C.shape))
        elif n % 4 == 1:
            j, size = rng.integers(problem.m), np.linalg.norm(C)
            C[:, j] = A.product(rng.standard_normal((A.size, 1)))[:, 0]
            C[:, j] *= size / np.sqrt(problem.m) / (np.linalg.norm(C[:, j]) or 1.0)
        elif n % 4 == 2:  # counts may differ
            C = C[:, rng.permutation(problem.m)]
        else:
            support = np.flatnonzero(W.any(axis=1))
            C[rng.choice(support, max(1, len(support) // AWAY), replace=False)] = 0.0
        yield assigned(C, problem)
        idle = 0 if starts.value > before * (1 + PROOF) else idle + 1
        if idle == KICKS:
            break


def proven_by_prices(A, problem, node, gap, run):
    """Return a lower bound and its claim, if prices find one; they may better the answer, too."""
    array = A.submatrix(np.arange(A.size))
    packing = Packing((array + array.T) / 2, problem, False, gap, run)
    packing.start_from(run.answer.answer, node)
    packing.go_on()
    if packing.value > run.value:
        better = Run(1000, None)
        rematch(A, packing.W, problem, better)
        run.record(better.value, better)
    bound, claim = packing.accepted(run.answer.answer)
    return (bound, claim) if bound is not None and bound < node.value else None


def tell_bound(A, problem, W, max_iter, run, gap=0.0):
    """Tell the run an upper bound; return the claim that proves it and its Bound, if there are."""
    d, m, rows = A.size, problem.m, min(problem.most, A.size)
    array = A.wide_factor(FORMED // 2) if d > FORMED else A.submatrix(np.arange(d))
    if array is None:
        found = upper_bound(A, m, max(rows, m), max_seconds=run.seconds_left)
        variances = np.sort(A.diagonal())[-rows:].sum() * (1 + 1e-12)  # more than rounding loses
        run.report(bound=found.bound if found.probability == 1 else variances)
        if m == 1:
            run.report(bound=by_cells(A, problem.most, Run(None, run.seconds_left)).upper_bound)
        return None, None
    if not array.any():
        run.report(bound=0.0)
        return None, None
    few = FORMED - len(array) if d > FORMED else None
    relaxation, found = NonnegativeRelaxation(array, problem, few), None
    relaxation.by_rows |= few is None  # of wide data one component's rows gained nothing
    none = np.zeros(d, dtype=bool)
    source = relaxation.descend(np.arange(d), none, relaxation.start)
    try:
        for _ in range(10, max_iter + 10, 10):
            now = next(source)[0]
            found = now if found is None or now.value < found.value else found
            run.report(bound=found.value)
            if found.value <= run.value * (1 + gap + PROOF) or run.seconds_left == 0:
                break
    except KeyboardInterrupt:
        if found is None:
            raise
        run.stop("interrupted")
    most = gap_of(run.value, found.value, PROOF)
    claim = claim_of(relaxation.checked, most, found.arrays, W=W, counts=problem.counts)
    return claim, None if few else found
