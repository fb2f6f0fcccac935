"""The best answer on a support that is already chosen."""

from fspca.covariance.covariance import DENSE_SIZE
from fspca.covariance.linalg import embedded, leading_of_matrix
from fspca.problem import solution_of


def best_pairs(A, support, m):
    """Return the m leading eigenvalues and eigenvectors of A[I, I].

    By Ky Fan's theorem no W with orthonormal columns and rows within I explains more.
    """
    if len(support) <= DENSE_SIZE:
        return leading_of_matrix(A.submatrix(support), m)
    return A.restricted(support).leading(m)


def refit(A, support, m):
    """Return the best loadings on a support as columns of d rows, and their variance."""
    values, V = best_pairs(A, support, m)
    return embedded(V, support, A.size), float(values.sum()) - m * A.ridge


def solution_on(A, problem, support, solver, **facts):
    """Return the Solution that is best on a support."""
    W, _ = refit(A, support, problem.m)
    return solution_of(A.plain, problem, W, solver, support=support, **facts)
