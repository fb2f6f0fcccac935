"""What asteris2014 leaves open: how its data were prepared, and the bound behind its fractions.

The names are those of data/published/asteris2014_certified.json, where they were listed
before the runs.
"""

import math
from itertools import combinations

import numpy as np

from fspca import datasets
from fspca.covariance import Covariance
from fspca.covariance.linalg import largest
from fspca.nonnegative.epsilon_net import epsilon_net
from fspca_reproduction.results import stored

EPSILON, RANK = 0.1, 3


def prepared(X, how):
    """Return the data as one of the preparations leaves them; constant features may go."""
    X = np.asarray(X, dtype=float)
    if how == "samples standardised":
        X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    if how not in ("as it is", "unit length"):
        X = X - X.mean(axis=0)
    if how in ("centred, unit variance", "unit length"):
        norms = np.linalg.norm(X, axis=0)
        kept = norms > 1e-12 * norms.max()
        X = X[:, kept] / norms[kept] * np.sqrt(len(X))
    return X


def covariance_of(set, how="centred"):
    """Return a set's covariance under a preparation, divided by the number of samples."""
    data = prepared(datasets.load(set).X, how)
    return Covariance.from_data(data, center=False, divisor="n")


def samples(d, rank=RANK, epsilon=EPSILON):
    """Return the number of points of Algorithm 3, epsilon^-rank log d: its constant taken as 1.

    >>> samples(12_582)
    9441
    """
    return math.ceil(epsilon**-rank * math.log(d))


def algorithm_3(A, k, seed=0):
    """Return the paper's Algorithm 3 with rank 3 and epsilon 0.1."""
    return epsilon_net(A, 1, k, rank=RANK, epsilon=EPSILON, seed=seed, n_samples=samples(A.size))


def low_rank_value(A, x, rank=RANK):
    """Return x'A_d x, with A_d the best approximation of that rank."""
    values, vectors = A.leading(rank)
    return float(values @ (vectors.T @ x) ** 2)


def numbers(A, x, k):
    """Return what the bounds are made of: of a component x, and of A."""
    values = A.leading(RANK + 1)[0]
    diagonal = A.diagonal()
    rows = np.flatnonzero(x)
    return {
        "value": float(x[rows] @ A.submatrix(rows) @ x[rows]),
        "low rank": low_rank_value(A, x),
        "nonzeros": len(rows),
        "first": values[0],
        "next": values[RANK],
        "diagonal": float(diagonal[largest(diagonal, k)].sum()),
        "features": A.size,
    }


def bounds(row, k, epsilon=EPSILON):
    """Return every reading's upper bound on the optimum.

    >>> row = {"value": 8.0, "low rank": 7.2, "first": 10.0, "next": 1.0, "diagonal": 20.0,
    ...        "features": 10}
    >>> found = bounds(row, 5)
    >>> round(found["sum"], 9), round(found["exact"], 9), round(found["a priori"], 4)
    (9.0, 8.2, 12.4444)
    """
    value, low, lost = row["value"], row["low rank"], row["next"]
    share = k / row["features"]
    rho = max(share / 2, 1 / (1 + 2 / share * lost / row["first"]))
    total = low / (1 - epsilon) + lost
    return {
        "sum": total,
        "proof": (low + lost) / (1 - epsilon),
        "exact": low + lost,
        "value": value / (1 - epsilon) + lost,
        "a priori": value / ((1 - epsilon) * rho),
        "least": min(total, row["first"], row["diagonal"]),
    }


def fractions(row, k):
    """Return the certified fraction of the optimum by reading of the bound."""
    return {name: row["value"] / bound for name, bound in bounds(row, k).items()}


def printed_supports(V, k):
    """Return the candidates of Algorithm 2 as it is printed (with line 11's brackets).

    `spannogram` takes more: at an intersection with zero every subset of the curves that meet.
    """
    n, d = V.shape
    curves, found = np.vstack([V, np.zeros(d)]), set()
    for meet in combinations(range(n + 1), d):
        M = curves[list(meet[1:])] - curves[meet[0]]
        c = np.linalg.svd(M)[2][-1]
        for v in (V @ c, -V @ c):
            v = np.where(np.abs(v) < 1e-12, 0.0, v)  # rounding
            level = np.sort(v)[-k] - 1e-12
            top = set(np.flatnonzero((v >= level) & (v >= 0)).tolist())
            if len(top) <= k:
                found.add(frozenset(top))
                continue
            sure, unsure = top - set(meet), set(meet) - {n}
            for some in combinations(unsure, k - len(sure)):
                found.add(frozenset(sure | set(some)))
    return found


def all_readings(set, k):
    """Return the certified fraction at one of the paper's points by (preparation, bound)."""
    rows = [r for r in stored("asteris2014_readings")["rows"] if (r["set"], r["k"]) == (set, k)]
    return {
        (row["preparation"], bound): fraction
        for row in rows
        for bound, fraction in row["fractions"].items()
    }


def fits(points):
    """Return for each reading how many of the four fractions it comes within the tolerance of."""
    readings = all_readings("lrs", 90)
    return {name: sum(name in point.more["near"] for point in points) for name in readings}
