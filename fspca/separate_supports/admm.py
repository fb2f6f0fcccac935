"""ADMM: the alternation before it is stabilised; its shrinkage fades as rho grows."""

import numpy as np

from fspca.separate_supports.alternation import alternate, answer, checked, sparse_copy


def admm(
    A, m, penalty, *, rho, growth=1.1, rho_max=None, init="pca", seed=None, tol=1e-4, max_iter=200
):
    r"""Find orthonormal components and their sparse copy by the alternating direction method.

    The problem is that of `sadmm`, min -1/2 tr(V'AV) + penalty ||V||_1 over V'V = I.  One rho
    both holds V near its copy Y and sets how much Y is shrunk, penalty/rho: as rho grows,
    Y is shrunk by less and less.

    Parameters
    ----------
    A, m, penalty, growth, rho_max, init, seed, tol, max_iter
        As in `sadmm`, which this is where its gamma is rho and growth is 1.
    rho : float
        Positive, that of the first step.

    Returns
    -------
    Solution
        `W` is Y with unit columns, `orthonormal` is V, as in `sadmm`.

    Notes
    -----
    This is Algorithm 1 of tan2019, which states no guarantee for it.  Cost of a step: as `sadmm`.
    Explained in the chapter "Keep the columns orthonormal and a copy sparse".

    Examples
    --------
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.1], [0.0, 0.1, 1.0]])
    >>> admm(A, m=1, penalty=0.2, rho=3.0).support
    array([0, 1])
    """
    A, V = checked(A, m, init, seed, tol, max_iter, growth, penalty, rho=rho, rho_max=rho_max)
    run = alternate(A, V, penalty, None, rho, growth=growth, rho_max=rho_max, tol=tol,
                    max_iter=max_iter)  # fmt: skip
    W = sparse_copy(run.step)
    return answer(A, W, np.count_nonzero(W, axis=0).max(), "admm", run, run.step.V)
