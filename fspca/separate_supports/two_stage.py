"""Two-stage SADMM: choose features by all components, weighted by what these explain."""

import warnings
from functools import partial

import numpy as np

from fspca.covariance import as_covariance
from fspca.linalg import largest
from fspca.problem import ConvergenceWarning, SharedSupport, Solution
from fspca.separate_supports.alternation import alternate, checked, settling_rho
from fspca.shared_support.refit import refit as best_on
from fspca.validate import checked_truth


def feature_scores(A, V):
    """Return s_j = sum_i sigma_i |v_ij| with sigma_i = ||X v_i||, the root of v_i'A v_i.

    >>> from fspca import Covariance
    >>> feature_scores(Covariance(np.diag([4.0, 1.0])), np.eye(2))
    array([2., 1.])
    """
    sigma = np.sqrt(np.maximum(np.einsum("ij,ij->j", V, A.product(V)), 0))
    return np.abs(V) @ sigma


def two_stage(
    A, m, k, *, penalty=None, gamma=None, rho=None, first=None, refit=False, growth=1.1,
    rho_max=None, init="pca", seed=None, tol=1e-4, max_iter=200,
):  # fmt: skip
    r"""Choose k features by a first SADMM on all, and run a second on those.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  The first stage
    scores feature j by sum_i sigma_i abs(v_ij), so that a component which explains little counts
    little, however large its loadings; k features have the largest scores.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m, k : int
        Components and features in all, 1 <= m <= k <= d.
    penalty : float or None
        Of both stages; None: a tenth of the largest eigenvalue over sqrt(k).
    gamma, rho, growth, rho_max, init, seed, tol, max_iter
        As in `sadmm_with_k`.
    first : array, d x m, or None
        The orthonormal V of a first stage already run, to be shared by many k.
    refit : bool
        Take the best loadings on the features chosen in place of the second stage, whose
        penalty costs variance where no feature can be lost any more.

    Returns
    -------
    Solution
        W is the second stage's orthonormal V; `n_iter` counts the steps of both.

    Notes
    -----
    The scores use V, as the paper says; the sparse copy has the same where the steps settled,
    and no scores where the penalty emptied it.  No guarantee is known.
    This is Algorithm 4 of tan2019 (StSPCA-2S).  Cost: that of `sadmm`.
    Explained in the chapter "Weigh the components before choosing".

    Examples
    --------
    >>> two_stage(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=2).support
    array([1, 3])
    """
    A = as_covariance(A)
    if first is not None and np.shape(first) != (A.size, m):
        raise ValueError(f"first has shape {np.shape(first)}; it must be the d x m V of sadmm")
    checked_truth("refit", refit)
    A, V = checked(A, m, init if first is None else first, seed, tol, max_iter, growth,
                   0.0 if penalty is None else penalty,
                   gamma=gamma, rho=rho, rho_max=rho_max)  # fmt: skip
    problem = SharedSupport(m, k)
    problem.fit(A.size)
    if penalty is None:
        penalty = 0.1 * A.leading(1)[0][0] / np.sqrt(k)
    weight = settling_rho(A, m, penalty)
    stage = partial(alternate, penalty=penalty, gamma=gamma or weight, rho=rho or weight,
                    growth=growth, rho_max=rho_max, tol=tol, max_iter=max_iter)  # fmt: skip
    n_iter, converged = 0, True
    if first is None:
        step, n_iter, converged = stage(A, V)
        V = step.V
    support = largest(feature_scores(A, V), k)
    if refit:
        W, _ = best_on(A, support, m)
    else:
        W = np.zeros((A.size, m))
        part = A.restricted(support)
        second = stage(part, part.leading(m)[1])
        W[support] = second.step.V
        n_iter, converged = n_iter + second.n_iter, converged and second.converged
    if not converged:
        warnings.warn(
            f"two_stage stopped at step {n_iter} before V and its copy settled",
            ConvergenceWarning,
            stacklevel=2,
        )
    value = problem.score(A, W)
    stopped = "settled" if converged else "max_iter"
    return Solution(W, support, value, problem, "two_stage", (value,), n_iter, stopped)
