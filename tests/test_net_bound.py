"""The net bound: valid for every cell, and as close as asked."""

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, check_solution
from fspca.nonnegative.bounds import rho_bound, rho_terms
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.low_rank import keep_positive
from fspca.nonnegative.net_bound import cell_bounds, halve, heights, net_bound
from fspca.nonnegative.spannogram import spannogram
from fspca.synthetic import make_scheme


@pytest.mark.parametrize("seed", range(60))
def test_it_solves_low_rank_to_its_tolerance(seed):
    rng = np.random.default_rng(seed)
    rank, d = seed % 4 + 1, 10
    V, k = rng.standard_normal((d, rank)), int(rng.integers(1, d + 1))
    if seed % 5 == 0:
        V = rng.integers(-2, 3, (d, rank)).astype(float)
    best = exhaustive_nonnegative(V @ V.T, k).objective
    found = net_bound(V @ V.T, k, rank, tol=1e-4)
    assert check_solution(V @ V.T, found)
    assert found.upper_bound >= best * (1 - 1e-10)
    assert found.gap <= 1e-4 * (1 + 1e-6)  # the bound on the low-rank part carries a margin


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("shift", [False, True])
def test_its_bound_holds_for_full_rank(seed, shift):
    A = make_scheme("F", 9, seed)
    best = exhaustive_nonnegative(A, 4).objective
    found = net_bound(A, 4, 3, shift=shift)
    assert found.objective <= best * (1 + 1e-9) <= found.upper_bound * (1 + 2e-9)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("rank", [2, 3, 4])
def test_a_cells_bound_holds_on_its_cone(seed, rank):
    rng = np.random.default_rng(seed)
    V, k = rng.standard_normal((10, rank)), int(rng.integers(1, 11))
    corners = rng.standard_normal((rank, rank))
    corners /= np.linalg.norm(corners, axis=1, keepdims=True)
    c = rng.uniform(size=(5000, rank)) @ corners
    c /= np.linalg.norm(c, axis=1, keepdims=True)
    bound = cell_bounds(corners[None], heights(V, corners, k)[None])[0]
    assert heights(V, c, k).max() <= bound * (1 + 1e-9)


def test_heights_are_those_of_the_rank_one_rule():
    rng = np.random.default_rng(0)
    V, C = rng.standard_normal((10, 3)), rng.standard_normal((50, 3))
    for c, h in zip(C, heights(V, C, 4), strict=True):
        assert h == pytest.approx(max(V @ c @ keep_positive(V @ c, 4), 0.0))


def test_halves_cover_their_cell():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((10, 3))
    cells = np.eye(3)[None]
    for _ in range(6):
        cells, h, _, _ = halve(cells, heights(V, cells.reshape(-1, 3), 4).reshape(-1, 3), V, 4)
        assert h == pytest.approx(heights(V, cells.reshape(-1, 3), 4).reshape(-1, 3))
    c = np.abs(rng.standard_normal((500, 3)))
    shares = np.linalg.solve(cells.transpose(0, 2, 1)[:, None], c[None, :, :, None])[..., 0]
    assert np.all((shares >= -1e-9).all(axis=2).any(axis=0))


def test_a_budget_that_ends_leaves_a_valid_bound():
    V = np.random.default_rng(3).standard_normal((12, 3))
    best = exhaustive_nonnegative(V @ V.T, 4).objective
    with pytest.warns(ConvergenceWarning, match="net_bound stopped at max_cells=20 "):
        found = net_bound(V @ V.T, 4, 3, tol=1e-6, max_cells=20)
    assert not found.converged
    assert found.n_iter <= 20
    assert found.upper_bound >= best


def test_progress_closes_the_gap():
    told = []
    V = np.random.default_rng(3).standard_normal((12, 3))
    found = net_bound(V @ V.T, 4, 3, tol=1e-6, progress=lambda *each: told.append(each))
    cells, values, bounds = np.array(told).T
    assert np.all(np.diff(cells) > 0)
    assert np.all(np.diff(values) >= 0)
    assert bounds[-1] <= values[-1] * (1 + 1e-6)
    assert found.n_iter == cells[-1]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_theorems_factor_is_kept(seed, rank):
    A = make_scheme("F", 9, seed)
    best = exhaustive_nonnegative(A, 4).objective
    assert spannogram(A, 4, rank).objective >= rho_bound(A, 4, rank) * best
    assert rho_bound(A, 4, rank, 0.1) == pytest.approx(0.9 * max(rho_terms(A, 4, rank)))


def test_the_factor_at_its_ends():
    assert rho_terms(np.eye(4), 2, 1) == (0.25, 0.2)
    assert rho_bound(np.diag([3.0, 0.0, 0.0]), 1, 1) == 1.0
    assert rho_bound(np.zeros((3, 3)), 1, 1) == 1.0
    assert rho_bound(np.eye(3), 2, 3) == 1.0
    with pytest.raises(ValueError, match="epsilon=1 must lie"):
        rho_bound(np.eye(3), 2, 2, 1)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="tol=-1 must be"):
        net_bound(np.eye(3), 1, 1, tol=-1)
    with pytest.raises(ValueError, match="max_cells=0 must be at least 1"):
        net_bound(np.eye(3), 1, 1, max_cells=0)
    with pytest.raises(ValueError, match="rank=4"):
        net_bound(Covariance(np.eye(3)), 1, 4)
    with pytest.raises(ValueError, match="rank=9 must be at most 8"):
        net_bound(np.diag(np.arange(1.0, 11.0)), 1, 9)
