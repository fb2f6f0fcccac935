"""SADMM for one component after another."""

import numpy as np

from fspca.problem import SeparateSupports
from fspca.separate_supports.alternation import Run, alternate, answer, checked, sparse_copy
from fspca.separate_supports.sadmm import search, truncated


def deflated_sadmm(
    A, m, penalty, gamma, rho, *, growth=1.1, rho_max=None, init="pca", seed=None, tol=1e-4,
    max_iter=300,
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
    >>> deflated_sadmm(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, penalty=1.0, gamma=10.0, rho=10.0)
    deflated_sadmm: explains 9 with m=2 components on 2 of 4 features (6 steps)
    """
    A, _ = checked(A, m, _named(init), seed, tol, max_iter, growth, penalty, gamma=gamma, rho=rho,
                   rho_max=rho_max)  # fmt: skip

    def one(rest, V):
        run = alternate(rest, V, penalty, gamma, rho, growth=growth, rho_max=rho_max, tol=tol,
                        max_iter=max_iter)  # fmt: skip
        return sparse_copy(run.step), run

    return _by_deflation(A, m, None, one, init, seed, "deflated_sadmm")


def deflated_sadmm_with_k(
    A, m, k, *, gamma=None, rho=None, growth=1.1, rho_max=None, init="pca", seed=None, tol=1e-4,
    max_iter=300,
):  # fmt: skip
    """Find components of k features each by `deflated_sadmm`, each with its own penalty.

    The penalty of a component is searched, and its V truncated to k entries, as in
    `sadmm_with_k`, whose arguments these are; `init` is "pca" or "random".
    Explained in the chapter "Keep the columns orthonormal and a copy sparse".

    >>> deflated_sadmm_with_k(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=1).support
    array([1, 3])
    """
    A, _ = checked(A, m, _named(init), seed, tol, max_iter, growth, gamma=gamma, rho=rho,
                   rho_max=rho_max)  # fmt: skip
    SeparateSupports(m, k).fit(A.size)

    def one(rest, V):
        _, run, _ = search(rest, V, k, gamma, rho, growth=growth, rho_max=rho_max, tol=tol,
                           max_iter=max_iter)  # fmt: skip
        return truncated(run.step.V, k), run

    return _by_deflation(A, m, k, one, init, seed, "deflated_sadmm_with_k")


def _named(init):
    if not isinstance(init, str):
        raise TypeError(f"init={init!r} must be 'pca' or 'random': each component has its own")
    return init


def _by_deflation(A, m, k, one, init, seed, name):
    W, rest, runs, history = np.zeros((A.size, m)), A, [], []
    for j in range(m):
        rest, V = checked(rest, 1, init, seed, 0.0, 1, 1.0)
        W[:, [j]], run = one(rest, V)
        runs.append(run)
        rest = rest.deflated(W[:, j])
        history.append(SeparateSupports(m, A.size).score(A, W[:, : j + 1]))
    count = int(np.count_nonzero(W, axis=0).max())
    run = Run(runs[-1].step, sum(r.n_iter for r in runs), all(r.converged for r in runs))
    return answer(A, W, k or count, name, run, None, tuple(history))
