"""The oracle: every support, its leading eigenvalues, the best."""

from dataclasses import replace
from itertools import combinations, islice
from math import comb

import numpy as np

from fspca.covariance import as_covariance
from fspca.linalg import TIE, largest
from fspca.problem import SharedSupport
from fspca.shared_support.refit import solution_on
from fspca.validate import checked_integer

BATCH_BYTES = 2**25


def exhaustive(A, m, k, max_supports=5_000_000, progress=None):
    r"""Find the optimum by trying every support of k features.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  On a fixed
    support I the best value is the sum of the m largest eigenvalues of A[I, I], and by
    interlacing it never falls when I grows, so supports of exactly k features suffice.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m, k : int
        Components and features, 1 <= m <= k <= d.
    max_supports : int
        Refuse where there are more supports than this.
    progress : callable
        Called as progress(batches, total=number of batches) and iterated: tqdm fits.

    Returns
    -------
    Solution
        The optimum; its `upper_bound` is its objective.

    Notes
    -----
    Exact, always.  Cost: (d choose k) eigenproblems of size k in batches of bounded memory;
    where k = m the value is the trace, and one look at the diagonal is enough.
    Explained in the chapter "Try every support, once".

    Examples
    --------
    >>> exhaustive(np.diag([1.0, 5.0, 2.0, 4.0]), m=2, k=2).support
    array([1, 3])
    """
    A, problem = as_covariance(A), SharedSupport(m, k)
    problem.fit(A.size)
    if k == m:
        return _proven(A, problem, largest(A.diagonal(), k), 1)
    count = comb(A.size, k)
    checked_integer("max_supports", max_supports)
    if count > max_supports:
        raise ValueError(
            f"k={k} of d={A.size} features gives {count:.3g} supports, more than "
            f"max_supports={max_supports}; use ipu for a good answer, "
            "go(shift=True) for one with a bound, or raise max_supports"
        )
    full = A.plain.submatrix(np.arange(A.size))
    best, support = -np.inf, None
    batches = _batches(A.size, k, size := max(1, BATCH_BYTES // (8 * k * k)))
    for batch in progress(batches, total=-(-count // size)) if progress else batches:
        values = np.linalg.eigvalsh(full[batch[:, :, None], batch[:, None, :]])[:, -m:].sum(axis=1)
        first = np.argmax(values >= values.max() * (1 - TIE))
        if support is None or values[first] > best * (1 + TIE):
            best, support = values[first], batch[first]
    return _proven(A, problem, support, count)


def _batches(d, k, size):
    supports = combinations(range(d), k)
    while batch := list(islice(supports, size)):
        yield np.array(batch)


def _proven(A, problem, support, count):
    solution = solution_on(A, problem, support, "exhaustive", n_iter=count)
    return replace(solution, upper_bound=solution.objective)
