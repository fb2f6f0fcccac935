"""The best answer on a support that is already chosen."""

import numpy as np

from fspca.problem import solution_of


def refit(A, support, m):
    """Return the m leading eigenvectors of A[I, I] embedded in d rows, and their variance.

    By Ky Fan's theorem no W with orthonormal columns and rows within I explains more.
    """
    values, vectors = A.restricted(support).leading(m)
    W = np.zeros((A.size, m))
    W[support] = vectors
    return W, float(values.sum()) - m * A.ridge


def solution_on(A, problem, support, solver, **facts):
    """Return the Solution that is best on a support."""
    W, _ = refit(A, support, problem.m)
    return solution_of(A.plain, problem, W, solver, support=support, **facts)
