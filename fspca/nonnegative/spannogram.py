"""Spannogram: the best nonnegative component of a low-rank covariance, exactly, by cells."""

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.validate import checked_truth
from fspca.nonnegative.cells import MOST_RANK, levels
from fspca.nonnegative.components import alone, one_by_one
from fspca.nonnegative.low_rank import answer, checked_rank, low_rank, settle
from fspca.problem import Nonnegative, Solution
from fspca.solver import Listener, solves


@solves(Nonnegative, guarantee="bounded", promises="labels")
def spannogram(A: Covariance, m: int, k: int, *, rank: int | None = None, shift: bool = False,
               apart: str = "supports", tol: float = 0.0, max_iter: int = 1_000_000,
               max_seconds: float | None = None,
               progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find the best nonnegative component of a low-rank covariance, exactly, and bound A's.

    The problem is max x'Ax over unit x >= 0 with at most k nonzeros.  For A = VV' of rank r the
    optimum is the square of the largest h(c), the length of the k largest positive entries of Vc,
    on the sphere of r dimensions.  h is convex and positively homogeneous, which bounds it on a
    cell of the sphere by its corners; and where all corners have the same k largest positive
    entries, one eigenproblem settles the cell.  Other cells that may hold more than the best
    value known are cut in two.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components, found one after another, and nonzeros of each at most.
    rank : int
        The rank r of the part of A that is solved; 3 unless told otherwise, at most 8.
    shift : bool
        False takes the best approximation of that rank, True the part of A above
        lambda_{r+1}, which makes the bound tighter.
    apart : "supports", "deflation" or "low rank"
        How the next component is kept from the last: its features are set aside, as in
        asteris2014's Figure 3, or A <- (I - xx') A (I - xx'), or V <- (I - xx') V for the
        low-rank part VV', as asteris2014's text has it.
    tol : float
        Of the low-rank optimum, relatively; 0 solves exactly, up to rounding.
    max_iter, max_seconds : int, float
        Cells looked at in all; ending there warns, and leaves a valid bound.
    progress : True or callable
        Told of each level of cells.

    Returns
    -------
    Solution
        For m = 1 its `upper_bound` is the optimum of the low-rank part plus lambda_{r+1}:
        deterministic, for every positive semidefinite A.  `n_iter` counts the cells.

    See Also
    --------
    epsilon_net : Near it, for higher rank.
    branch_and_bound_nonnegative : Exact on A itself.

    Notes
    -----
    Exact if rank A <= rank, and with `shift` also if A = sigma I plus a positive semidefinite
    matrix of that rank; rows may repeat, be zero, or lie in any other special position.
    Otherwise within the factor of `rho_bound` (asteris2014, Theorem 1).
    Cost: one pass over V for each corner of a cell.  Some hundred cells are enough for rank 2,
    some thousands for rank 3, ten times as many for each rank more.
    Explained in the chapter "The spannogram: walk it, or prune it cell by cell".

    References
    ----------
    Asteris, Papailiopoulos and Dimakis, "Nonnegative sparse PCA with provable guarantees", ICML
    2014.

    Examples
    --------
    >>> V = np.array([[3.0, 0.0], [1.0, 1.0], [-3.0, 1.0]])
    >>> found = spannogram(V @ V.T, 1, 2, rank=2)
    >>> found.support, bool(found.gap < 1e-8)
    (array([0, 1]), True)
    """
    rank = checked_rank(rank, A.size)
    checked_truth("shift", shift)

    def method(A, k, run):
        return best_cell(A, k, min(rank, A.size), shift, tol, max_iter, run)

    return one_by_one(
        A, m, k, method, apart=apart, max_seconds=max_seconds, progress=progress, part=(rank, shift)
    )


def best_cell(A, k, rank, shift, tol, max_iter, run):
    """Return the Solution with one component."""
    V, tail = low_rank(A, rank, shift)
    if not V.shape[1]:  # nothing is left above the shift: every unit vector explains the same
        return answer(A, k, alone(A), "spannogram", bound=tail)
    if V.shape[1] > MOST_RANK:
        raise ValueError(f"rank={rank} must be at most {MOST_RANK}, for the sake of the cells")
    scale, problem = np.linalg.norm(V), Nonnegative(1, k)
    V, cells, run.latest = V / scale, 0, True
    with run:
        for _, (x, _, bound, seen, done) in zip(run, levels(V, k, tol), strict=False):
            run.record(problem.score(A, x[:, None]), x, bound=bound * scale**2 + tail)
            cells = seen
            if done:
                run.stop("gap reached")
            elif seen >= max_iter:
                run.stop("max_iter")

    def build():
        facts = run.facts | {"n_iter": cells}
        return answer(A, k, settle(V, run.answer), "spannogram", run.bound, **facts)

    return run.finish(build)
