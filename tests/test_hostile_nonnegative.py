"""Every exact answer and every bound for nonnegative components against enumeration.

Forty instances of some malice by day; 2,000 by night.
"""

import numpy as np
import pytest

from fspca import check_solution, solve_nonnegative, spannogram
from fspca.check_certificate import check
from fspca.nonnegative import branch_and_bound_nonnegative
from fspca.nonnegative.bounds import certify_nonnegative, nonnegative_bounds
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.points import spannogram_points
from fspca.problem import Nonnegative
from fspca.proof.nonnegative_relaxation import NonnegativeRelaxation

CLOSE = 1e-9  # relative: what exact answers promise
BLOCK = 20


def hostile(seed):
    """Return a covariance VV' + RR' of at most eight features, V of low rank, R, and k.

    Random; of small integers; with rows repeated, opposite or zero; features from 1e-9 to 1; all
    of it from 1e-150 to 1e150.  With an odd seed the covariance has more than V.
    """
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 9))
    V = rng.standard_normal((d, int(rng.integers(1, min(d, 3) + 1))))
    if seed % 5 == 1:
        V = rng.integers(-2, 3, V.shape).astype(float)
    if seed % 5 == 2:
        V = V[rng.integers(0, d, d)] * rng.choice([-1.0, 0.0, 1.0, 1.0], (d, 1))
    if seed % 5 == 3:
        V = V * 10.0 ** rng.uniform(-9, 0, (d, 1))
    if seed % 5 == 4:
        V = V * 10.0 ** rng.uniform(-75, 75)
    rest = seed % 2 * rng.standard_normal((d, d)) * np.abs(V).max()
    A = V @ V.T + rest @ rest.T
    return (A + A.T) / 2, V, rest, int(rng.integers(1, d + 1))


def examine(seed):
    A, V, rest, k = hostile(seed)
    low, best = exhaustive_nonnegative(V @ V.T, 1, k).objective, exhaustive_nonnegative(A, 1, k)
    cells = spannogram(V @ V.T, 1, k, rank=V.shape[1])
    points = spannogram_points(V @ V.T, 1, k, rank=V.shape[1])
    assert cells.objective == pytest.approx(low, rel=CLOSE), seed
    assert points.objective == pytest.approx(low, rel=1e-7), seed  # rows are moved by 1e-9
    search = branch_and_bound_nonnegative(A, 1, k, n_starts=5)
    assert search.objective == pytest.approx(best.objective, rel=CLOSE), seed
    if A.min() < 0:  # else the search with signs answers, with its own kind of claim
        assert check(search.certificate | {"A": A}).holds, seed
    bounds = [*nonnegative_bounds(A, k).values(), search.upper_bound]
    bounds += [
        spannogram(A, 1, k, rank=1).upper_bound,
        certify_nonnegative(A, cells_of(A, k)).upper_bound,
        wide_bound(np.hstack([V, rest]).T, k),
    ]
    assert min(bounds) >= best.objective * (1 - 1e-11), seed
    pair = exhaustive_nonnegative(A, 2, k)
    together = solve_nonnegative(A, 2, k, max_iter=20)
    assert check_solution(A, together), seed
    assert together.objective == pytest.approx(pair.objective, rel=CLOSE), seed
    assert together.upper_bound >= pair.objective * (1 - 1e-11), seed


def wide_bound(X, k):
    """The bound of the data, as where they have thousands of features, of which few are seen."""
    scale, d = np.abs(X).max() or 1.0, X.shape[1]
    relaxation = NonnegativeRelaxation(X / scale, Nonnegative(1, k), 1 + d // 2)
    steps = relaxation.descend(np.arange(d), np.zeros(d, dtype=bool), relaxation.start)
    return min(next(steps)[0].value for _ in range(3)) * scale**2


def cells_of(A, k):
    return spannogram(A, 1, k, tol=1e-3)


@pytest.mark.parametrize("block", range(2))
def test_nothing_is_wrong_on_hostile_instances(block):
    for seed in range(BLOCK * block, BLOCK * (block + 1)):
        examine(seed)


# Found by night: a pair that no start but one with a feature put where it did not want to go leads
# to; and a support with a repeated leading eigenvalue.
@pytest.mark.parametrize("seed", [1811, 3966])
def test_what_a_night_found_is_mended(seed):
    examine(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("block", range(2, 100))
def test_nothing_is_wrong_by_night(block, record_property):
    record_property("instances", BLOCK)
    for seed in range(BLOCK * block, BLOCK * (block + 1)):
        examine(seed)
