"""SADMM for one component after another."""

from fspca.problem import SeparateSupports
from fspca.separate_supports.alternation import alternate, checked, sparse_copy
from fspca.separate_supports.deflation import in_projections
from fspca.separate_supports.sadmm import search, truncated


def deflated_sadmm(
    A, m, penalty, gamma, rho, *, growth=1.1, rho_max=None, init="pca", seed=None, tol=1e-4,
    max_iter=200,
):  # fmt: skip
    """Find sparse components one after another, each by `sadmm` with m = 1.

    After each component x, the sparse copy at unit length, its variance is projected out,
    A <- (I - xx') A (I - xx'), and the next is sought with the same penalty, gamma and rho.
    tan2019 calls it StSPCA-D and does not say which deflation it takes; projection leaves the
    covariance positive semidefinite where Hotelling's may not.

    Parameters
    ----------
    A, m, penalty, gamma, rho, growth, rho_max, seed, tol, max_iter
        As in `sadmm`.
    init : "pca" or "random"
        Of every component.

    Returns
    -------
    Solution
        `history` holds the score after each component.  There is no orthonormal V.

    Notes
    -----
    Deflation carries no guarantee.  Cost: that of `sadmm` for m = 1, m times, and the spectrum
    of each deflated covariance.
    Explained in the chapter "Keep the columns orthonormal and a copy sparse".

    Examples
    --------
    >>> import numpy as np
    >>> deflated_sadmm(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, penalty=1.0, gamma=10.0, rho=10.0)
    deflated_sadmm: explains 9 with m=2 components on 2 of 4 features (6 steps)
    """
    A, _ = checked(A, m, _named(init), seed, tol, max_iter, growth, penalty, gamma=gamma, rho=rho,
                   rho_max=rho_max)  # fmt: skip

    def find(rest):
        _, V = checked(rest, 1, init, seed, tol, max_iter, growth)
        step, n_iter, converged = alternate(
            rest, V, penalty, gamma, rho, growth=growth, rho_max=rho_max, tol=tol, max_iter=max_iter
        )
        return sparse_copy(step)[:, 0], n_iter, converged

    return in_projections(A, m, None, "deflated_sadmm", find, max_iter)


def deflated_sadmm_with_k(
    A, m, k, *, gamma=None, rho=None, growth=1.1, rho_max=None, init="pca", seed=None, tol=1e-4,
    max_iter=200,
):  # fmt: skip
    """Find components of k features each by `deflated_sadmm`, each with its own penalty.

    The penalty of a component is searched, and its V truncated to k entries, as in
    `sadmm_with_k`, whose arguments these are; `init` is "pca" or "random".
    Explained in the chapter "Keep the columns orthonormal and a copy sparse".

    >>> import numpy as np
    >>> deflated_sadmm_with_k(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=1).support
    array([1, 3])
    """
    A, _ = checked(A, m, _named(init), seed, tol, max_iter, growth, gamma=gamma, rho=rho,
                   rho_max=rho_max)  # fmt: skip
    SeparateSupports(m, k).fit(A.size)

    def find(rest):
        _, V = checked(rest, 1, init, seed, tol, max_iter, growth)
        _, (step, n_iter, converged), _ = search(
            rest, V, k, gamma, rho, growth=growth, rho_max=rho_max, tol=tol, max_iter=max_iter
        )
        return truncated(step.V, k)[:, 0], n_iter, converged

    return in_projections(A, m, k, "deflated_sadmm_with_k", find, max_iter)


def _named(init):
    if not isinstance(init, str):
        raise TypeError(f"init={init!r} must be 'pca' or 'random': each component has its own")
    return init
