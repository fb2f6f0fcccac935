"""Epsilon-net: random points of a low-rank part, each turned into a nonnegative component."""

import numpy as np
import scipy  # which loads its parts when they are needed

from fspca.covariance import Covariance
from fspca.covariance.validate import checked_count, checked_nonnegative, checked_truth
from fspca.nonnegative.components import alone, draws, one_by_one
from fspca.nonnegative.low_rank import answer, checked_rank, keep_positive, low_rank
from fspca.problem import Nonnegative, Solution
from fspca.solver import solves

BLOCK = 2_000_000  # numbers held at a time
MOST_POINTS = 10_000_000


def cap(rank, epsilon):
    """Return the part of the sphere whose squared cosine with a line is at least 1 - epsilon.

    >>> float(cap(3, 0.19))  # there a coordinate of a random point is uniform: 1 - 0.9
    0.1
    """
    return (
        float(round(scipy.special.betaincc(0.5, (rank - 1) / 2, 1 - epsilon), 15))
        if rank > 1
        else 1.0
    )


def samples_needed(rank, epsilon, d):
    """Return how many random points hit such a cap with probability at least 1 - 1/d.

    >>> samples_needed(3, 0.1, 12_582)
    180
    """
    if (hit := cap(rank, epsilon)) >= 1:
        return 1
    points = np.log(d) / max(-np.log1p(-hit), np.finfo(float).tiny)
    if points > MOST_POINTS:
        raise ValueError(
            f"rank={rank} and epsilon={epsilon} need {points:.2g} points, more than "
            f"{MOST_POINTS}; take a larger epsilon, or give n_samples"
        )
    return max(1, int(np.ceil(points)))


def epsilon_reached(rank, n_samples, d):
    """Return the epsilon for which so many points are enough: `samples_needed` turned round."""
    if rank == 1:
        return 0.0
    return float(1 - scipy.special.betainccinv(0.5, (rank - 1) / 2, 1 - d ** (-1 / n_samples)))


def best_drawn(V, C, k):
    """Return the c of C and -C with the best |V'x|^2, x the rank-1 rule's answer to Vc."""
    value, point, both = -np.inf, None, np.vstack([C, -C])
    step = max(1, BLOCK // (len(V) + k * V.shape[1]))
    for block in np.array_split(both, -(-len(both) // step)):
        entries = block @ V.T
        rows = np.argpartition(-entries, k - 1, axis=1)[:, :k]
        a = np.maximum(np.take_along_axis(entries, rows, axis=1), 0.0)
        length = (a**2).sum(axis=1)
        values = (np.einsum("bi,bir->br", a, V[rows]) ** 2).sum(axis=1)
        values /= np.where(length > 0, length, 1.0)
        if values.max() > value:
            value, point = values.max(), block[values.argmax()]
    return point


@solves(Nonnegative, guarantee="bounded", promises="rises")
def epsilon_net(A: Covariance, m: int, k: int, *, rank: int | None = None, epsilon: float = 0.1,
                n_samples: int | None = None, shift: bool = False, apart: str = "supports",
                seed: int | None = 0) -> Solution:  # fmt: skip
    r"""Find a nonnegative component with k nonzeros, near the best of a low-rank covariance.

    The problem is max x'Ax over unit x >= 0 with at most k nonzeros.  For A = VV' of rank r,
    points c are drawn uniformly on the sphere of r dimensions, the k largest positive entries
    of Vc and of -Vc are kept, and the x of largest x'VV'x is returned.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components, found one after another, and nonzeros of each at most.
    rank : int
        The rank r of the part of A that is looked at; 3 unless told otherwise.
    epsilon : float
        Of the low-rank optimum a fraction 1 - epsilon is reached with probability 1 - 1/d.
    n_samples : int
        How many points to draw in place of the number that epsilon needs; the epsilon that
        they are good for is then used in the bound.
    shift : bool
        Look at the part of A above lambda_{r+1} rather than at A_r.
    apart : "supports", "deflation" or "low rank"
        Set the features of a component aside for the next, or project the component out of A, or
        of its low-rank part.
    seed : int
        Of the points.

    Returns
    -------
    Solution
        For m = 1 its `upper_bound` is x'VV'x / (1 - epsilon) + lambda_{r+1}, and holds with
        probability at least 1 - 1/d over the points.  `n_iter` counts the points.

    See Also
    --------
    spannogram : Exact for low rank.

    Notes
    -----
    x'VV'x >= (1 - epsilon) times the best as soon as one c, or its opposite, has a squared
    cosine of at least 1 - epsilon with V'x of the best x.  One point does with probability p,
    the area of two caps, so log d / -log(1 - p) points are enough.  p is of the order
    epsilon^((r-1)/2): fewer points than the O(epsilon^-r log d) of asteris2014 (Theorem 2,
    Algorithm 3), which takes them from a whole net.
    Cost: O(d) a point, and the r + 1 leading eigenvectors of A.
    Explained in the chapter "The epsilon-net: trade certainty for speed".

    References
    ----------
    Asteris, Papailiopoulos and Dimakis, "Nonnegative sparse PCA with provable guarantees", ICML
    2014.

    Examples
    --------
    >>> V = np.array([[3.0, 0.0], [1.0, 1.0], [-3.0, 1.0]])
    >>> epsilon_net(V @ V.T, 1, 2, rank=2, n_samples=1000).support
    array([0, 1])
    """
    rank, rngs = checked_rank(rank, A.size), draws(seed)
    checked_truth("shift", shift)
    if not 0 < checked_nonnegative("epsilon", epsilon) < 1:
        raise ValueError(f"epsilon={epsilon} must lie between 0 and 1")
    if n_samples is not None:
        checked_count("n_samples", n_samples)

    def method(A, k, run):
        return of_points(A, k, rank, epsilon, n_samples, shift, next(rngs))

    return one_by_one(A, m, k, method, apart=apart, part=(rank, shift))


def of_points(A, k, rank, epsilon, n_samples, shift, rng):
    """Return the Solution with one component."""
    V, tail = low_rank(A, rank, shift)
    if not (r := V.shape[1]):  # nothing is left above the shift: all x explain the same
        return answer(A, k, alone(A), "epsilon_net", bound=tail)
    if n_samples is None:
        n_samples = samples_needed(r, epsilon, A.size)
        epsilon = epsilon if r > 1 else 0.0  # of rank one the two points are all there are
    else:
        epsilon = epsilon_reached(r, n_samples, A.size)
    C, scale = rng.standard_normal((n_samples, r)), np.linalg.norm(V)
    c = best_drawn(V / scale, C / np.linalg.norm(C, axis=1, keepdims=True), k)
    x = keep_positive(V @ c / scale, k)
    bound = ((V.T @ x) ** 2).sum() / (1 - epsilon) + tail
    sure = 1.0 if r == 1 else 1 - 1 / A.size
    return answer(A, k, x, "epsilon_net", bound, bound_probability=sure, n_iter=n_samples)
