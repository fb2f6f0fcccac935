"""The best answer on a support that is already chosen."""

import numpy as np

from fspca.problem import Solution


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
    value = problem.score(A.plain, W)
    facts = {"history": (value,)} | facts
    return Solution(W, support, value, problem, solver, **facts)
