"""The figures of asteris2014, on its data and, the same, on what is carried here.

Each curve compares Algorithm 3 (rank 3, epsilon 0.1) with EM, the best of 10 random starts, of
signed vectors and of positive ones: "randomly initialized" may be either.  What the bounds are
made of is stored, so that every reading of the shaded area follows from one row.
"""

from itertools import combinations, pairwise

import numpy as np

from fspca.nonnegative.em import em
from fspca.nonnegative.epsilon_net import epsilon_net
from fspca.nonnegative.halfspaces import halfspaces
from fspca_reproduction.asteris2014.nspca import PIXELS
from fspca_reproduction.asteris2014.readings import (
    EPSILON,
    RANK,
    algorithm_3,
    covariance_of,
    numbers,
    samples,
)
from fspca_reproduction.runner import experiment

STARTS = 10
GENES = (2, 5, 10, 20, 30, 50, 75, 100, 150, 200)
BANDS = (5, 10, 20, 30, 40, 50, 60, 70, 80, 90)
SAMPLES = ("centred", "samples standardised")
METHODS = ("epsilon_net", "em")
SPECTRA = ("centred", "centred, unit variance", "as it is", "unit length")


def four_curves(seed):
    """Return V (4 x 2) of Figure 1's kind and the angles at which two of its curves meet.

    A curve is a row v: v_1 sin(angle) + v_2 cos(angle).  The zero axis is the curve number 4.
    """
    V = np.random.default_rng(seed).standard_normal((4, 2))
    hat = np.vstack([V, np.zeros(2)])
    pairs = list(combinations(range(5), 2))
    angles = [np.arctan(-(hat[i] - hat[j])[1] / (hat[i] - hat[j])[0]) for i, j in pairs]
    order = np.argsort(angles)
    return V, np.array(angles)[order], [pairs[i] for i in order]


def tops(V, angles, k):
    """Return the set of the k largest nonnegative entries, of V c and of -V c, at each angle."""
    found = [V @ [np.sin(angle), np.cos(angle)] for angle in angles]
    return [
        [np.flatnonzero(u >= max(0.0, np.sort(u)[-k])).tolist() for u in (v, -v)] for v in found
    ]


@experiment(cases=[{"seed": 0, "k": k} for k in (1, 2, 3, 4)])
def asteris2014_figure_1(seed, k):
    """Draw a spannogram of four curves: where they meet, and the supports between."""
    V, angles, pairs = four_curves(seed)
    ends = np.r_[-np.pi / 2, angles, np.pi / 2]
    between = tops(V, (ends[:-1] + ends[1:]) / 2, k)
    grid = np.linspace(-np.pi / 2, np.pi / 2, 4001)[1:]
    at = np.searchsorted(angles, grid)
    elsewhere = sum(found != between[i] for found, i in zip(tops(V, grid, k), at, strict=True))
    supports = sorted({tuple(s) for both in between for s in both if s})
    best = max(
        (halfspaces(V[rows].T @ V[rows], V[rows])[1], rows)
        for size in range(1, k + 1)
        for rows in map(list, combinations(range(4), size))
    )
    return {
        "angles": angles,
        "pairs": pairs,
        "between": between,
        "points": len(np.unique(angles.round(9))),
        "candidates": len(supports),
        "elsewhere": elsewhere,
        "idle": sum(one == other for one, other in pairwise(between)),
        "optimum": best,
        "found": any(set(best[1]) <= set(s) for s in supports),
    }


def feasible_directions(R, count=4000):
    """Return unit vectors c with R c >= 0, of an even spread over the circle or the sphere."""
    if R.shape[1] == 2:
        turn = np.linspace(0, 2 * np.pi, count, endpoint=False)
        C = np.c_[np.cos(turn), np.sin(turn)]
    else:
        height = 1 - (2 * np.arange(count) + 1) / count
        turn, radius = np.pi * (1 + 5**0.5) * np.arange(count), np.sqrt(1 - height**2)
        C = np.c_[radius * np.cos(turn), radius * np.sin(turn), height]
    return C[np.all(C @ R.T >= 0, axis=1)]


@experiment(cases=[{"dimension": d, "seed": seed} for d in (2, 3) for seed in range(100)])
def asteris2014_figure_2(dimension, seed):
    """Maximise c'Qc over the unit vectors with R c >= 0: where the maximum is attained."""
    rng = np.random.default_rng(seed)
    inside = rng.standard_normal(dimension)
    R = rng.standard_normal((5, dimension))
    R = R * np.sign(R @ inside)[:, None]  # inside is feasible
    factor = rng.standard_normal((dimension, dimension))
    Q = factor.T @ factor
    c, value = halfspaces(Q, R)
    leading = np.linalg.eigh(Q)[1][:, -1]
    grid = feasible_directions(R)
    return {
        "Q": Q,
        "R": R,
        "maximiser": c,
        "value": value,
        "leading feasible": bool(max((R @ leading).min(), (-R @ leading).min()) >= 0),
        "slack": float((R @ c).min() if (R @ c).min() > 1e-12 else 0.0),
        "ahead of the grid": bool(np.max(np.sum((grid @ Q) * grid, axis=1), initial=0) <= value),
    }


def parts(set, k, method):
    """Return the six components, each on features that none before it uses."""
    A = covariance_of(set)
    if method == "em":
        solution = em(A, 6, k, n_starts=STARTS)
    else:
        solution = epsilon_net(A, 6, k, rank=RANK, epsilon=EPSILON, n_samples=samples(A.size))
    listed = [np.flatnonzero(w) for w in solution.W.T]
    values = np.sum(solution.W * A.product(solution.W), axis=0)
    return {
        "features": listed,
        "weights": [w[rows] for w, rows in zip(solution.W.T, listed, strict=True)],
        "variances": values / A.leading(1)[0][0],
    }


@experiment(cases=[{"set": "cbcl_faces", "k": 40, "method": method} for method in METHODS])
def asteris2014_figure_3(set, k, method):
    """Six nonnegative components of the faces on disjoint pixels, by Algorithm 3 and by EM."""
    return parts(set, k, method)


def connected(features, width=19):
    """Return how many of a pixel's neighbours are in its component, over a random choice's."""
    rng = np.random.default_rng(0)
    random = [
        neighbours(rng.choice(width * width, len(rows), replace=False), width)
        for rows in features
        for _ in range(200)
    ]
    return float(np.mean([neighbours(rows, width) for rows in features]) / np.mean(random))


def neighbours(rows, width):
    """Return the mean number of the four neighbours of a pixel that are chosen too."""
    image = np.zeros((width + 2, width + 2))  # with an empty margin
    image[1:-1, 1:-1].flat[np.asarray(rows)] = 1
    around = image[:-2, 1:-1] + image[2:, 1:-1] + image[1:-1, :-2] + image[1:-1, 2:]
    return float(around.flat[np.asarray(rows)].mean())


def point(set, k, preparation):
    """Return a point of the curves: what Algorithm 3 and its rivals explain, and the bounds."""
    A = covariance_of(set, preparation)
    row = numbers(A, algorithm_3(A, k).W[:, 0], k)
    row["em"] = em(A, 1, k, n_starts=STARTS).objective
    row["em, positive"] = em(A, 1, k, init="positive", n_starts=STARTS).objective
    return row


def curve(set, ks, preparations=("centred",)):
    return [{"set": set, "preparation": p, "k": k} for p in preparations for k in ks]


@experiment(cases=curve("cbcl_faces", PIXELS, SAMPLES))
def asteris2014_figure_4(set, k, preparation):
    """Variance of one nonnegative component of the faces against k, and the bound."""
    return point(set, k, preparation)


@experiment(cases=curve("digit_pixels", PIXELS, SAMPLES))
def asteris2014_digits(set, k, preparation):
    """Figure 4's kind on handwritten digits, which are carried here."""
    return point(set, k, preparation)


@experiment(cases=curve("leukemia_armstrong", GENES, SAMPLES))
def asteris2014_figure_5(set, k, preparation):
    """Variance of one nonnegative component of Leukemia against k, and the bound."""
    return point(set, k, preparation)


@experiment(cases=curve("lrs", BANDS, SPECTRA))
def asteris2014_figure_6(set, k, preparation):
    """Variance of one nonnegative component of the spectra against k, four preparations."""
    return point(set, k, preparation)
