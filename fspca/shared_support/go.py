"""Go: the k largest variances of a low-rank part of the covariance."""

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.linalg import largest
from fspca.covariance.validate import checked_truth
from fspca.problem import SharedSupport, Solution
from fspca.proof.bounds import upper_bound, with_bound
from fspca.shared_support.refit import solution_on
from fspca.solver import solves


@solves(SharedSupport, guarantee="bounded", promises="labels")
def go(A: Covariance, m: int, k: int, *, shift: bool = False) -> Solution:
    r"""Choose the k features with the largest variance in the leading part of A, then refit.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  If rank A <= m,
    every principal submatrix has rank at most m, so the sum of its m leading eigenvalues is
    its trace, and the best support is the one with the k largest diagonal entries.  Go applies
    that rule to a matrix B of rank at most m in place of A, and returns the m leading
    eigenvectors of A itself on the support found.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    shift : bool
        False takes B = A_m, the best rank-m approximation of A.  True takes B = the part of A
        above sigma = lambda_{m+1}, that is sum_i (lambda_i - sigma) u_i u_i' over i <= m.

    Returns
    -------
    Solution
        With `shift`, its `upper_bound` is sum of the k largest diag(B) + m sigma, which holds
        for every positive semidefinite A, and where k = m the sum of the k largest variances,
        which are optimal there; `certificate` is the claim of it that the checker accepted.

    See Also
    --------
    ipu : Climbs from here.
    upper_bound : Bounds what any answer explains.

    Notes
    -----
    Exact if rank A <= m (tian2020, Theorem 4.2) or k = m.  With `shift`, exact also if
    A = sigma I plus a matrix of rank at most m (Remark 4.4).  Otherwise within the factor of
    Theorem 5.1.
    Cost: m leading eigenpairs of A, O(dm) for the scores, one k x k eigenproblem.
    Explained in the chapter "Go: find the optimum when the rank is low".

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Examples
    --------
    >>> A = np.diag([1.0, 5.0, 2.0, 4.0])
    >>> go(A, m=1, k=2).support
    array([0, 1])
    >>> go(A, m=2, k=2, shift=True)  # doctest: +NORMALIZE_WHITESPACE
    go: explains 9 (75 % of all, 100 % of PCA's) on 2 of 4 features
      with m=2 components: proven optimal (1 step)
    """
    checked_truth("shift", shift)
    if k == m:  # then each A[I, I] has rank at most m, whatever the rank of A
        variances = A.diagonal()
    else:
        values, V = A.leading(m + 1 if shift else m)
        sigma = values[m] if shift else 0.0
        variances = np.einsum("ij,ij,j->i", V[:, :m], V[:, :m], np.maximum(values[:m] - sigma, 0))
    support = largest(variances, k)
    solution = solution_on(A, SharedSupport(m, k), support, "go", n_iter=1)
    if not shift:
        return solution
    found = upper_bound(A.plain, m, k, method="diagonal" if k == m else "shifted")
    return with_bound(A, solution, found)
