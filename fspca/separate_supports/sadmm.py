"""SADMM: alternate between orthonormal columns and a sparse copy, shrunk by a fixed amount."""

import numpy as np

from fspca.linalg import largest
from fspca.problem import SeparateSupports
from fspca.separate_supports.alternation import (
    alternate,
    answer,
    checked,
    largest_eigenvalue,
    settling_rho,
    sparse_copy,
)
from fspca.separate_supports.penalty_search import penalty_search

OCTAVES, TRIALS = 20, 12  # of the search: penalties below the largest eigenvalue, to 0.4 %


def sadmm(
    A, m, penalty, gamma, rho, *, growth=1.1, rho_max=None, init="pca", seed=None, tol=1e-4,
    max_iter=200,
):  # fmt: skip
    r"""Find orthonormal components and their sparse copy, at a given penalty.

    The problem is min -1/2 tr(V'AV) + penalty ||V||_1 over V'V = I; tan2019 takes A = X'X, so
    that penalty, gamma and rho are numbers on that scale (`divisor=1`).  V stays orthonormal
    and Y sparse, and a multiplier Omega draws them together: rho, which may grow, holds V near
    Y, while Y is V + Omega/gamma shrunk by penalty/gamma, the same amount at every step.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m : int
        Components.
    penalty, gamma, rho : float
        gamma and rho are positive; rho is that of the first step.
    growth, rho_max : float
        rho <- min(growth rho, rho_max), 1 <= growth < 2 (1: rho stays).  None: up to
        ||A||_F + penalty sqrt(dm).
    init : "pca", "random" or array (d x m), orthonormal columns
    seed : int
        Of the random start.
    tol, max_iter : float, int
        Stops where ||V - Y|| and the changes of V and of Y are all at most tol sqrt(m);
        ending at max_iter warns.

    Returns
    -------
    Solution
        `W` is Y with unit columns (a column that the penalty emptied keeps the largest entry of
        V's), `orthonormal` is V; k is the largest count of a column of W.

    Notes
    -----
    tan2019's Theorem 2: for rho >= ||A||_F the changes tend to 0, cluster points are stationary.
    It fails where the penalty or gamma is large beside rho (the chapter has instances), and
    the stopping rule alone may be met far from stationary points.
    This is Algorithm 2 of tan2019.  Cost of a step: O(dm min(n, d)), three products with the
    singular vectors of X, or where these are too many one product with A per inner step.
    Explained in the chapter "Keep the columns orthonormal and a copy sparse".

    Examples
    --------
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.1], [0.0, 0.1, 1.0]])
    >>> sadmm(A, m=1, penalty=0.2, gamma=3.0, rho=3.0)
    sadmm: explains 3 with m=1 components on 2 of 3 features (7 steps)
    """
    A, V = checked(A, m, init, seed, tol, max_iter, growth, penalty, ("gamma", "rho"),
                   gamma=gamma, rho=rho, rho_max=rho_max)  # fmt: skip
    run = alternate(A, V, penalty, gamma, rho, growth=growth, rho_max=rho_max, tol=tol,
                    max_iter=max_iter)  # fmt: skip
    W = sparse_copy(run.step)
    return answer(A, W, np.count_nonzero(W, axis=0).max(), "sadmm", run, run.step.V)


def search(A, V, k, gamma, rho, **options):
    """Return the run of a penalty of which Y has k nonzeros a column on average, or just more."""
    high = largest_eigenvalue(A)

    def run(octave, _):
        weight = settling_rho(A, V.shape[1], penalty := high * 2.0**octave)
        found = alternate(A, V, penalty, gamma or weight, rho or weight, **options)
        return np.count_nonzero(found.step.Y) / V.shape[1], found

    return penalty_search(run, k, -OCTAVES, 0.0, TRIALS)


def truncated(V, k):
    """Return the k entries of largest modulus of each column, at unit length."""
    W = np.zeros_like(V)
    for j, v in enumerate(V.T):
        rows = largest(np.abs(v), k)
        W[rows, j] = v[rows] / np.linalg.norm(v[rows])
    return W


def sadmm_with_k(
    A, m, k, *, gamma=None, rho=None, growth=1.1, rho_max=None, init="pca", seed=None, tol=1e-4,
    max_iter=200,
):  # fmt: skip
    """Find components of k features each by `sadmm`, searching the penalty.

    The penalty is bisected, on a logarithmic scale below the largest eigenvalue, until Y has
    m k nonzeros in all; after 12 trials the last one with more is kept.  Every trial begins at
    `init`.  Columns share them unevenly, so W
    keeps the k largest entries of each column of that penalty's V, at unit length.  gamma and
    rho are by default both ||A||_F + penalty sqrt(dm), where all runs tried settled in the end; the
    other arguments are those of `sadmm`; n_iter is that of the trial kept.  No guarantee is known.
    Explained in the chapter "Keep the columns orthonormal and a copy sparse".

    >>> sadmm_with_k(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=1).support
    array([1, 3])
    """
    A, V = checked(A, m, init, seed, tol, max_iter, growth, gamma=gamma, rho=rho, rho_max=rho_max)
    SeparateSupports(m, k).fit(A.size)
    options = {"growth": growth, "rho_max": rho_max, "tol": tol, "max_iter": max_iter}
    _, run, _ = search(A, V, k, gamma, rho, **options)
    return answer(A, truncated(run.step.V, k), k, "sadmm_with_k", run, run.step.V)
