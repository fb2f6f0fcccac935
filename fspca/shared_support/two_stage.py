"""Two-stage SADMM: choose features by all components, weighted by what these explain."""

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.linalg import embedded, largest
from fspca.covariance.validate import checked_nonnegative, checked_truth
from fspca.problem import SharedSupport, Solution, solution_of
from fspca.separate_supports.alternation import alternate, checked_weights, settling_rho
from fspca.separate_supports.deflation import Spent
from fspca.separate_supports.sparse_copy import start_at
from fspca.shared_support.refit import refit as best_on
from fspca.shared_support.starts import WORDS, checked_init
from fspca.solver import Listener, Run, best_run, solves


def feature_scores(A, V):
    """Return s_j = sum_i sigma_i |v_ij| with sigma_i = ||X v_i||, the root of v_i'A v_i.

    >>> from fspca import Covariance
    >>> feature_scores(Covariance(np.diag([4.0, 1.0])), np.eye(2))
    array([2., 1.])
    """
    sigma = np.sqrt(np.maximum(np.einsum("ij,ij->j", V, A.product(V)), 0))
    return np.abs(V) @ sigma


@solves(SharedSupport, guarantee="heuristic", promises="labels")
def two_stage(A: Covariance, m: int, k: int, *, penalty: float | None = None,
              gamma: float | None = None, rho: float | None = None, first: ArrayLike | None = None,
              refit: bool = False, growth: float = 1.1, rho_max: float | None = None,
              init: str | ArrayLike = "pca", n_starts: int = 1, seed: int | None = 0,
              tol: float = 1e-4, max_iter: int = 200, max_seconds: float | None = None,
              progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Choose k features by a first SADMM on all, and run a second on those.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  The first stage
    scores feature j by sum_i sigma_i abs(v_ij), so that a component which explains little counts
    little, however large its loadings; k features have the largest scores.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features in all, 1 <= m <= k <= d.
    penalty : float or None
        Of both stages; None: a tenth of the largest eigenvalue over sqrt(k).
    gamma, rho : float
        As in `sadmm`.
    first : array, d x m, or None
        The orthonormal V of a first stage already run, to be shared by many k.
    refit : bool
        Take the best loadings on the features chosen in place of the second stage, whose
        penalty costs variance where no feature can be lost any more.
    growth, rho_max, init : float, str or array
        As in `sadmm`.
    n_starts, seed : int
        First stages in all; those after the first start from random subspaces.
    tol, max_iter, max_seconds, progress : float, int, True or callable
        As in `sadmm`; max_iter is that of each stage.

    Returns
    -------
    Solution
        W is the second stage's orthonormal V.  `n_iter` counts the steps of both; `history`
        holds after each what the best loadings on the features of the largest scores explain,
        in the second stage what its V explains.

    See Also
    --------
    sadmm : Both of its stages.
    go : Squares where it takes moduli.

    Notes
    -----
    The scores use V, as the paper says; the sparse copy has the same where the steps settled,
    and no scores where the penalty emptied it.  No guarantee is known.
    This is Algorithm 4 of tan2019 (StSPCA-2S).  Cost: that of `sadmm`.
    Explained in the chapter "The two-stage method: weigh the components before choosing".

    References
    ----------
    Tan, Hu, Yan, Cao, Gong and Wu, "Learning sparse PCA with stabilized ADMM method on Stiefel
    manifold", IEEE TKDE 33(3), 2021 (online 2019).

    Examples
    --------
    >>> two_stage(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=2).support
    array([1, 3])
    """
    checked_truth("refit", refit)
    checked_weights(growth, gamma=gamma, rho=rho, rho_max=rho_max)
    if penalty is None:
        penalty = 0.1 * A.leading(1)[0][0] / np.sqrt(k)
    penalty, A, rng = checked_nonnegative("penalty", penalty), A.plain, np.random.default_rng(seed)
    weight = settling_rho(A, m, penalty)
    stage = partial(alternate, penalty=penalty, gamma=gamma or weight, rho=rho or weight,
                    growth=growth, rho_max=rho_max, tol=tol, max_iter=max_iter)  # fmt: skip
    init = checked_init(init if first is None else first, A.size, m, WORDS)

    def once(n, starts):
        run = Run(None, starts.seconds_left, starts.relay, latest=True)
        V = start_at(A, m, init if n == 1 else "random", rng)
        needs_first = first is None or n > 1
        return _stages(A, SharedSupport(m, k), stage, V, run, needs_first=needs_first, refit=refit)

    return best_run(once, n_starts, max_seconds, progress)


def _stages(A, problem, stage, V, run, *, needs_first, refit):
    """Return the Solution of both stages from V, or of the second where V is the first's."""
    m, k = problem.m, problem.k
    ended, turns = ["settled"], iter(run)

    def note(W, support):
        if next(turns, None) is None:
            raise Spent
        run.record(np.vdot(W[support], A.submatrix(support) @ W[support]), (W, support))

    def refitted(V):
        support = largest(feature_scores(A, V), k)
        return best_on(A, support, m)[0], support

    def within(V, support):
        return embedded(V, support, A.size), support

    with run:
        try:
            if needs_first:
                step, why = stage(A, V, note=lambda V, Y: note(*refitted(V)))
                V, ended = step.V, [why]
            W, support = refitted(V)
            if not refit:
                part = A.restricted(support)
                start = part.leading(m)[1]
                step, why = stage(part, start, note=lambda V, Y: note(*within(V, support)))
                W, ended = within(step.V, support)[0], [*ended, why]
            run.answer = W, support
            run.stop("max_iter" if "max_iter" in ended else "settled")
        except Spent:
            pass

    def build():
        W, support = run.answer
        return solution_of(A, problem, W, "two_stage", support=support, **run.facts)

    return run.finish(build)
