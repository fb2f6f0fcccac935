"""The spannogram: exact for low rank, by an oracle that knows nothing of it."""

import tracemalloc

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, check_solution, spannogram
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.low_rank import low_rank
from fspca.nonnegative.points import best_on_masks, candidates, intersections, spannogram_points
from fspca.synthetic import make_scheme


def instance(seed):
    """A random covariance of rank 1, 2 or 3 with at most 12 features, and k."""
    rng = np.random.default_rng(seed)
    rank, d = seed % 3 + 1, int(rng.integers(4, 13))
    V = rng.standard_normal((d, rank))
    if seed % 5 == 0:  # repeated rows, zero rows, curves that meet in one point
        V = rng.integers(-2, 3, (d, rank)).astype(float)
    return V @ V.T, int(rng.integers(1, d + 1)), rank


@pytest.mark.parametrize("seed", range(200))
def test_it_finds_the_optimum_of_low_rank(seed):
    A, k, rank = instance(seed)
    best = exhaustive_nonnegative(A, 1, k).objective
    found, points = spannogram(A, 1, k, rank=rank), spannogram_points(A, 1, k, rank=rank)
    assert check_solution(A, found)
    assert check_solution(A, points)
    assert found.objective == pytest.approx(best, rel=1e-12)
    assert found.gap == pytest.approx(0, abs=1e-11)
    # rows are moved by 1e-9 while supports are collected
    assert points.objective == pytest.approx(best, rel=1e-8)
    assert points.gap == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("seed", range(60))
def test_the_candidates_hold_the_optimal_support(seed):
    """Collected without the climb that the solver starts from."""
    rng = np.random.default_rng(seed)
    rank, d = seed % 3 + 1, 8
    V, k = rng.standard_normal((d, rank)), int(rng.integers(1, 9))
    support = exhaustive_nonnegative(V @ V.T, 1, k).support
    masks = [
        mask
        for members, c in intersections(V)
        for sign in (1, -1)
        for mask in candidates(V, members, sign * c, k)
    ]
    supports = {tuple(np.flatnonzero(row)) for mask in masks for row in mask}
    assert tuple(support) in supports
    assert all(len(s) <= k for s in supports)
    best = max(best_on_masks(V, mask, 0.0)[0] for mask in masks)
    assert best == pytest.approx(exhaustive_nonnegative(V @ V.T, 1, k).objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_with_the_shift_it_is_exact_for_noise_plus_low_rank(seed):
    A, k, rank = instance(seed)
    A = A + 2.5 * np.eye(len(A))
    found = spannogram(A, 1, k, rank=rank, shift=True)
    assert found.objective == pytest.approx(exhaustive_nonnegative(A, 1, k).objective, rel=1e-8)
    assert found.gap == pytest.approx(0, abs=1e-8)


def test_without_the_shift_it_need_not_be():
    """The reason for the shift: A + sigma I has the answers of A, A_r of it has not."""
    missed = 0
    for seed in range(60):
        A, k, rank = instance(seed)
        A = A + 2.5 * np.eye(len(A))
        missed += spannogram(A, 1, k, rank=rank).gap > 1e-3
    assert missed > 30


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_its_bound_holds_and_the_shift_tightens_it(seed, rank):
    A = make_scheme("F", 9, seed)
    best = exhaustive_nonnegative(A, 1, 4).objective
    plain, shifted = spannogram(A, 1, 4, rank=rank), spannogram(A, 1, 4, rank=rank, shift=True)
    assert best <= shifted.upper_bound * (1 + 1e-9)
    assert shifted.upper_bound <= plain.upper_bound * (1 + 1e-8)


def test_low_rank_is_what_it_says():
    A = make_scheme("F", 9, 0)
    for shift in (False, True):
        V, tail = low_rank(Covariance(A), 2, shift)
        values = np.linalg.eigvalsh(A)[::-1]
        assert tail == pytest.approx(values[2])
        strengths = values[:2] - (tail if shift else 0.0)
        assert np.linalg.svd(V)[1] ** 2 == pytest.approx(strengths)
        rest = A - V @ V.T
        assert np.linalg.eigvalsh(rest)[-1] == pytest.approx(tail)


def test_rank_four_is_served_too():
    V = np.random.default_rng(0).standard_normal((9, 4))
    best = exhaustive_nonnegative(V @ V.T, 1, 4).objective
    assert spannogram(V @ V.T, 1, 4, rank=4).objective == pytest.approx(best, rel=1e-8)


def test_candidates_are_streamed():
    V = np.random.default_rng(0).standard_normal((500, 2))
    A = Covariance(V @ V.T)
    A.leading(3)
    tracemalloc.start()
    found = spannogram_points(A, 1, 50, rank=2)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.n_iter == 125_250
    assert found.gap == pytest.approx(0, abs=1e-8)
    assert most < 250e6  # all 125 250 x 500 numbers at once would be 500 MB
    assert spannogram(A, 1, 50, rank=2).objective == pytest.approx(found.objective, rel=1e-10)


@pytest.mark.parametrize("solver", [spannogram, spannogram_points])
def test_progress_is_told(solver):
    told = []
    V = np.random.default_rng(0).standard_normal((20, 2))
    found = solver(V @ V.T, 1, 5, rank=2, progress=told.append)
    assert [news.step for news in told] == list(range(1, len(told) + 1))
    assert told[-1].objective == pytest.approx(found.objective)


def test_an_interruption_leaves_a_valid_bound():
    def stop(news):
        if news.step == 3:
            raise KeyboardInterrupt

    V = np.random.default_rng(0).standard_normal((200, 3))
    best = spannogram(V @ V.T, 1, 20, rank=3)
    found = spannogram(V @ V.T, 1, 20, rank=3, progress=stop)
    assert found.stopped == "interrupted"
    assert found.objective <= best.objective <= found.upper_bound
    assert found.gap > 1e-6


@pytest.mark.parametrize("rank", [2, 3])
def test_far_from_enumeration_it_is_still_proven(rank):
    V = np.random.default_rng(rank).standard_normal((3000, rank))
    A = Covariance.from_data(V.T, center=False, divisor=1)
    found = spannogram(A, 1, 300, rank=rank)
    assert found.gap == pytest.approx(0, abs=1e-11)
    assert found.n_iter < 5000


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="rank=5 must lie between 1 and d=4"):
        spannogram(np.eye(4), 1, 2, rank=5)
    with pytest.raises(TypeError, match="rank=2.0 must be an integer"):
        spannogram(np.eye(4), 1, 2, rank=2.0)
    with pytest.raises(TypeError, match="shift=1 must be"):
        spannogram(np.eye(4), 1, 2, rank=2, shift=1)
    with pytest.raises(ValueError, match="k=5 must lie"):
        spannogram(np.eye(4), 1, 5, rank=2)
    with pytest.raises(ValueError, match="d=40, m=1 and k=9 give"):
        exhaustive_nonnegative(np.eye(40), 1, 9)


@pytest.mark.parametrize("seed", range(10))
def test_of_a_full_covariance_it_gives_the_best_of_the_low_rank_part(seed):
    """Also where a point met before explains more of A."""
    A = Covariance(make_scheme("F", 9, seed))
    V = low_rank(A, 2)[0]
    x = spannogram(A, 1, 4, rank=2).W
    best = exhaustive_nonnegative(V @ V.T, 1, 4).objective
    assert np.sum((V.T @ x) ** 2) == pytest.approx(best, rel=1e-9)


def test_the_budget_is_of_cells():
    A = make_scheme("F", 12, 0)
    with pytest.warns(ConvergenceWarning, match="max_iter=4"):
        assert spannogram(A, 1, 4, rank=2, max_iter=4).n_iter == 4
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        assert spannogram(A, 1, 4, rank=8, max_iter=1).n_iter == 2**8


def test_components_are_taken_from_the_low_rank_part_too():
    A = make_scheme("F", 9, 0)
    found = spannogram(A, 2, 3, rank=2, apart="low rank")
    assert check_solution(A, found)
    assert found.objective > spannogram(A, 1, 3, rank=2).objective
