"""SADMM: alternate between orthonormal columns and a sparse copy, shrunk by a fixed amount."""

from numpy.typing import ArrayLike

from fspca.covariance import Covariance
from fspca.covariance.validate import checked_nonnegative, checked_truth
from fspca.problem import SeparateSupports, Solution
from fspca.separate_supports.alternation import alternate, checked_weights, settling_rho
from fspca.separate_supports.deflation import from_starts, in_projections
from fspca.separate_supports.sparse_copy import copy_with, start_at
from fspca.solver import Listener, solves


@solves(SeparateSupports, guarantee="heuristic", promises="shift labels")
def sadmm(A: Covariance, m: int, k: int | None = None, *, penalty: float | None = None,
          gamma: float | None = None, rho: float | None = None, growth: float = 1.1,
          rho_max: float | None = None, plain: bool = False, deflated: bool = False,
          init: str | ArrayLike = "pca", n_starts: int = 1, seed: int | None = 0, tol: float = 1e-4,
          max_iter: int = 1000, max_seconds: float | None = None,
          progress: Listener | None = None) -> Solution:  # fmt: skip
    r"""Find orthonormal components and their sparse copy.

    The problem is min -1/2 tr(V'AV) + penalty ||V||_1 over V'V = I; tan2019 takes A = X'X, so
    that penalty, gamma and rho are numbers on that scale (`divisor=1`).  V stays orthonormal
    and Y sparse, and a multiplier Omega draws them together: rho, which may grow, holds V near
    Y, while Y is V + Omega/gamma shrunk by penalty/gamma, the same amount at every step.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m : int
        Components.
    k : int
        Features of each component.  The penalty is bisected, on a logarithmic scale below the
        largest eigenvalue, until Y has m k nonzeros in all, in 12 short trials at most.  Columns
        share them unevenly, so W keeps the k largest entries of each column of V.
    penalty : float
        In place of k.
    gamma, rho : float
        Positive; rho is that of the first step.  By default ||A||_F + penalty sqrt(dm).
    growth, rho_max : float
        Each step takes min(growth rho, rho_max), 1 <= growth < 2 (1: rho stays).  None: up to the
        default.
    plain : bool
        True takes the rho of each step for gamma: the alternation before it is stabilised,
        Algorithm 1 of tan2019, whose shrinkage fades as rho grows.
    deflated : bool
        True finds one component after another with m = 1, each in what the earlier sparse
        copies leave (projection), with its own search: StSPCA-D of tan2019.  Then there is no
        orthonormal V.
    init : "pca", "variance", "random" or array (d x m)
        Of V; an array is made orthonormal.
    n_starts, seed : int
        As in `tpower`.
    tol, max_iter : float, int
        Stops where ||V - Y|| and the changes of V and of Y are all at most tol sqrt(m); after
        max_iter steps of one alternation it warns.
    max_seconds, progress : float, True or callable
        As everywhere.

    Returns
    -------
    Solution
        At a penalty `W` is Y with unit columns (one that the penalty emptied keeps the largest
        entry of V's) and its problem's k the largest count; `orthonormal` is V.  `history` holds
        the score after each step or, where k is given, after each penalty tried.

    See Also
    --------
    manpg : Columns that are orthonormal and sparse at once.

    Notes
    -----
    tan2019's Theorem 2: for rho >= ||A||_F the changes tend to 0, cluster points are stationary.
    It fails where the penalty or gamma is large beside rho (the chapter has instances), and
    the stopping rule alone may be met far from stationary points.
    This is Algorithm 2 of tan2019.  Cost of a step: O(dm min(n, d)), three products with the
    singular vectors of X, or where these are too many one product with A per inner step.
    Explained in the chapter "SADMM: keep the columns orthonormal and a copy sparse".

    References
    ----------
    Tan, Hu, Yan, Cao, Gong and Wu, "Learning sparse PCA with stabilized ADMM method on Stiefel
    manifold", IEEE TKDE 33(3), 2021 (online 2019).

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.1], [0.0, 0.1, 1.0]])
    >>> sadmm(A, m=1, penalty=0.2).support, sadmm(A, m=1, k=2).support
    (array([0, 1]), array([0, 1]))
    """
    checked_truth("plain", plain)
    checked_truth("deflated", deflated)
    checked_weights(growth, gamma=gamma, rho=rho, rho_max=rho_max)
    ending = {"growth": growth, "rho_max": rho_max, "tol": tol}
    if penalty is not None:
        penalty = checked_nonnegative("penalty", penalty)

    def run(A, V, penalty, note=None, most=max_iter):
        weight = settling_rho(A, V.shape[1], penalty)
        own = None if plain else gamma or weight
        return alternate(A, V, penalty, own, rho or weight, note=note,
                         max_iter=min(most, max_iter), **ending)  # fmt: skip

    A = A.plain  # a ridge adds the same to every V with V'V = I
    options = {"init": init, "n_starts": n_starts, "seed": seed, "max_seconds": max_seconds,
               "progress": progress}  # fmt: skip
    if deflated:

        def component(rest, start, note):
            W, ended, _ = copy_with(rest, start[:, None], k, penalty, run, lambda X, V: note(X))
            return W[:, 0], None, ended

        return in_projections(A, m, k, "sadmm", component, **options)

    def all_at_once(components, init, rng):
        components.begin()
        V = start_at(A, m, init, rng)
        components.add(*copy_with(A, V, k, penalty, run, components.note))

    return from_starts(A, m, k, "sadmm", all_at_once, **options)
