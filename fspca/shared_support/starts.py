"""Where a solver starts, by one rule for all of them."""

import numpy as np

from fspca.covariance.linalg import embedded, largest, random_subspace
from fspca.covariance.validate import checked_choice, checked_real
from fspca.shared_support.fantope import fantope
from fspca.shared_support.go import go

WORDS = ("pca", "variance", "random")
SHARED_WORDS = ("go", "fantope", *WORDS)


def checked_init(init, d, m, words):
    """Return the word, or the array as floats, or say what is wrong with it."""
    if isinstance(init, str):
        return checked_choice("init", init, words)
    init = np.asarray(checked_real("init", init), dtype=float)
    if init.shape != (d, m):
        raise ValueError(f"init has shape {init.shape}; it must be {(d, m)}")
    return init


def starting_point(A, problem, init, rng):
    r"""Return a start as W, d x m, and its support (None for a W that uses all rows).

    "pca" starts from the m leading eigenvectors of A, "random" from a uniformly random subspace,
    an array from its columns as they are.  "variance" starts from features of largest variance:
    for a shared support k of them, otherwise the m of them themselves.
    For a shared support "go" and "fantope" start from these solvers' answers, and "variance" from
    k features without loadings, W being None.

    Numbers that are equal up to rounding count as equal, and then the smaller index comes first
    (`fspca.covariance.linalg.largest`): on standardised data, whose variances are 1 up to their
    last digits, "variance" starts from the first features, whatever these digits are.

    >>> from fspca import Covariance, SeparateSupports
    >>> A = Covariance(np.diag([1.0, 1.0, 1.0 + 1e-15]))
    >>> starting_point(A, SeparateSupports(1, 2), "variance", None)[1]
    array([0])
    """
    if not isinstance(init, str):
        return init, None
    if init == "random":
        return random_subspace(A.size, problem.m, rng), None
    if init == "pca":
        return A.leading(problem.m)[1], None
    if init != "variance":
        solution = {"go": go, "fantope": fantope}[init](A, problem.m, problem.k)
        if solution.stopped == "interrupted":
            raise KeyboardInterrupt
        return solution.W, solution.support
    if problem.one_support:
        return None, largest(A.diagonal(), problem.k)
    support = largest(A.diagonal(), problem.m)
    return embedded(np.eye(problem.m), support, A.size), support
