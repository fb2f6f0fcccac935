"""How good a nonnegative component is: promised factors, and bounds that look at the data."""

from dataclasses import replace

import numpy as np

from fspca.covariance import Covariance, as_covariance
from fspca.covariance.linalg import EPS
from fspca.nonnegative.low_rank import checked_rank, checked_single
from fspca.nonnegative.spannogram import spannogram
from fspca.problem import Nonnegative, check_solution
from fspca.proof.bounds import upper_bound

MOST_FORMED = 2000  # features; above it the positive part of A, d x d numbers, is left out


def rho_terms(A, k, rank):
    """Return the two terms of rho_r: k / 2d, and 1 / (1 + 2 (d / k) lambda_{r+1} / lambda_1).

    >>> rho_terms(np.diag([4.0, 1.0]), k=2, rank=1)
    (0.5, 0.6666666666666666)
    """
    A = as_covariance(A).plain
    k, rank = Nonnegative(1, k).fit(A.size).k, checked_rank(rank, A.size)
    values = np.maximum(A.leading(min(rank + 1, A.size))[0], 0.0)
    tail = values[rank] if rank < A.size else 0.0
    ratio = tail / values[0] if values[0] else 0.0
    return k / (2 * A.size), float(1 / (1 + 2 * A.size / k * ratio))


def rho_bound(A, k, rank, epsilon=0.0):
    r"""Return the part of the optimum that a low-rank solver is sure to reach, beforehand.

    The problem is max x'Ax over unit x >= 0 with at most k nonzeros.  For a positive
    semidefinite A the best x of A_r explains at least rho_r of the optimum, rho_r the larger of
    k / 2d and 1 / (1 + 2 (d / k) lambda_{r+1} / lambda_1) (asteris2014, Theorem 1).  With the
    epsilon-net it is (1 - epsilon) rho_r, with probability 1 - 1/d (Theorem 2).

    Both terms rest on one fact: of the leading eigenvector or its opposite, the k largest
    positive entries carry at least k / 2d.  The optimum is at most that of A_r plus
    lambda_{r+1}, which gives the second term.
    Explained in the chapter "The epsilon-net: trade certainty for speed".

    >>> rho_bound(np.diag([4.0, 1.0]), k=2, rank=1, epsilon=0.1)
    0.6
    """
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon={epsilon} must lie in [0, 1)")
    return (1 - epsilon) * max(rho_terms(A, k, rank))


def positive_part(A):
    r"""Return a Covariance P and s with x'Ax <= x'Px - s for every unit x >= 0.

    For x >= 0 negative entries of A only lower x'Ax, so that A_+ = max(A, 0), entry by entry,
    bounds it.  A_+ need not be positive semidefinite; P = A_+ + s I is, and adds s to all.  s is
    more than is needed by the rounding of the eigenvalue, which may be all of a small feature.

    >>> P, s = positive_part(np.array([[2.0, -1.0], [-1.0, 2.0]]))
    >>> P.submatrix([0, 1]).round(9)
    array([[2., 0.],
           [0., 2.]])
    """
    A = as_covariance(A).plain
    plus = np.maximum(A.submatrix(np.arange(A.size)), 0.0)
    values = np.linalg.eigvalsh(plus)
    s = max(8 * A.size * EPS * values[-1] - values[0], 0.0)
    return Covariance(plus + s * np.eye(A.size)), s


def nonnegative_bounds(A, k, *, rank=None, max_iter=200):
    """Return upper bounds on the best nonnegative component with k nonzeros, by name.

    "cells" is that of `spannogram` on A to a thousandth, with the shift, of rank 3 unless told
    otherwise.  Up to 2000 features there are also that of the positive part of A, and the dual of
    `fspca.upper_bound` on it, which knows nothing of signs and needs to know nothing any more.
    None of them rests on chance.

    >>> bounds = nonnegative_bounds(np.array([[1.0, -0.5], [-0.5, 1.0]]), k=2, rank=1)
    >>> round(min(bounds.values()), 6)
    1.0
    """
    A = as_covariance(A)
    options = {"rank": rank, "shift": True, "tol": 1e-3}
    bounds = {"cells": spannogram(A, 1, k, **options).upper_bound}
    if A.size <= MOST_FORMED:
        P, s = positive_part(A)
        bounds["cells, positive part"] = spannogram(P, 1, k, **options).upper_bound - s
        dual = upper_bound(P, 1, k, method="dual", max_iter=max_iter)
        bounds["dual, positive part"] = dual.bound - s
    return bounds


def certify_nonnegative(A, solution, *, rank=None, max_iter=200):
    """Return a nonnegative component with the least of `nonnegative_bounds` as its bound.

    A lower bound that it had before is kept, unless it holds with a probability only.

    >>> from fspca.nonnegative import em
    >>> A = np.array([[1.0, -0.5], [-0.5, 1.0]])
    >>> certify_nonnegative(A, em(A, 1, 2), rank=1).gap < 1e-6
    True
    """
    problem = checked_single(solution)
    if not (verdict := check_solution(A, solution)):  # one of another A, say
        raise ValueError(f"solution does not fit A: {verdict}")
    bounds = [*nonnegative_bounds(A, problem.k, rank=rank, max_iter=max_iter).values()]
    if solution.upper_bound is not None and solution.bound_probability == 1:
        bounds.append(solution.upper_bound)
    least = float(max(min(bounds), solution.objective))
    return replace(solution, upper_bound=least, bound_probability=1.0)
