"""Cells of the sphere: valid bounds, as close as asked, and exact."""

from itertools import islice

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, check_solution, spannogram
from fspca.nonnegative.bounds import rho_bound, rho_terms
from fspca.nonnegative.cells import (
    cell_bounds,
    close_constant,
    constant_support,
    halve,
    heights,
    levels,
)
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.low_rank import keep_positive
from fspca.synthetic import make_scheme


@pytest.mark.parametrize("seed", range(60))
def test_it_solves_low_rank_to_its_tolerance(seed):
    rng = np.random.default_rng(seed)
    rank, d = seed % 4 + 1, 10
    V, k = rng.standard_normal((d, rank)), int(rng.integers(1, d + 1))
    if seed % 5 == 0:
        V = rng.integers(-2, 3, (d, rank)).astype(float)
    best = exhaustive_nonnegative(V @ V.T, 1, k).objective
    found = spannogram(V @ V.T, 1, k, rank=rank, tol=1e-4, shift=True)
    assert check_solution(V @ V.T, found)
    assert found.upper_bound >= best * (1 - 1e-10)
    assert found.gap <= 1e-4 * (1 + 1e-6)  # the bound on the low-rank part carries a margin


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("shift", [False, True])
def test_its_bound_holds_for_full_rank(seed, shift):
    A = make_scheme("F", 9, seed)
    best = exhaustive_nonnegative(A, 1, 4).objective
    found = spannogram(A, 1, 4, rank=3, shift=shift, tol=1e-3)
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
    best = exhaustive_nonnegative(V @ V.T, 1, 4).objective
    with pytest.warns(ConvergenceWarning, match="spannogram stopped at max_iter=20 "):
        found = spannogram(V @ V.T, 1, 4, rank=3, tol=1e-6, shift=True, max_iter=20)
    assert not found.converged
    assert 20 <= found.n_iter < 60  # the level at which it ends is finished
    assert found.upper_bound >= best


def test_progress_closes_the_gap():
    told = []
    V = np.random.default_rng(3).standard_normal((12, 3))
    found = spannogram(V @ V.T, 1, 4, rank=3, progress=told.append)
    steps, values, bounds = np.array(told).T
    assert np.all(np.diff(steps) == 1)
    assert np.all(np.diff(values) >= 0)
    assert np.all(np.diff(bounds) <= 0)
    assert bounds[-1] == pytest.approx(values[-1], rel=1e-11)
    assert found.history == tuple(values)


def thin(width, r, rng):
    """A cell so wide, about a random direction."""
    corners = rng.standard_normal(r) + width * rng.standard_normal((r, r))
    return corners / np.linalg.norm(corners, axis=1, keepdims=True)


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6, 1e-9, 0.0])
@pytest.mark.parametrize("rank", [2, 3, 5])
def test_thin_cells_keep_their_digits(rank, width):
    """Their corners are nearly, or all, the same: no system is singular, no bound is loose."""
    rng = np.random.default_rng(rank)
    V = rng.standard_normal((40, rank))
    for _ in range(20):
        cell = thin(width, rank, rng)
        h = heights(V, cell, 8)
        bound = cell_bounds(cell[None], h[None])[0]
        c = rng.dirichlet(np.ones(rank), 200) @ cell
        inside = heights(V, c / np.linalg.norm(c, axis=1, keepdims=True), 8).max()
        assert inside <= bound
        # the bound is first order in the width only by the slope of h, which is at most its length
        assert bound <= h.max() * (1 + 1e-13) + 5 * width**2 * np.linalg.norm(V)


def test_a_bound_that_forgets_its_margin_is_found_out():
    """The saboteur: an upper bound by the corners alone, which a convex function may exceed."""
    rng, above = np.random.default_rng(0), 0
    V = rng.standard_normal((12, 3))
    for _ in range(50):
        cell = thin(1.0, 3, rng)
        middle = cell.sum(axis=0) / np.linalg.norm(cell.sum(axis=0))
        above += heights(V, middle[None], 4)[0] > heights(V, cell, 4).max()
    assert above > 5


@pytest.mark.parametrize("seed", range(30))
def test_a_constant_support_is_that_of_every_point(seed):
    rng = np.random.default_rng(seed)
    V, found = rng.integers(-3, 4, (12, 3)).astype(float), 0
    for _ in range(40):
        cell = thin(0.05, 3, rng)
        rows = constant_support(V, cell, 4, 1e-14)
        if rows is None:
            continue
        found += 1
        c = rng.dirichlet(np.ones(3), 100) @ cell
        kept = np.linalg.norm(np.maximum(c @ V[rows].T, 0.0), axis=1)
        assert kept == pytest.approx(heights(V, c, 4), rel=1e-12)
    assert found > 5


def test_of_rows_that_tie_one_is_constant():
    V = np.array([[1.0, 0.2], [1.0, 0.2], [0.1, 0.1]])
    assert constant_support(V, np.eye(2), 1, 1e-14).tolist() == [0]


@pytest.mark.parametrize("seed", range(10))
def test_a_cell_of_one_support_is_closed_by_an_eigenproblem(seed):
    """About the best point, from a value and a bound a little off."""
    V = np.random.default_rng(seed).standard_normal((12, 3))
    best = exhaustive_nonnegative(V @ V.T, 1, 4)
    c, rng = V.T @ best.W[:, 0], np.random.default_rng(0)
    cell = c / np.linalg.norm(c) + 1e-4 * rng.standard_normal((3, 3))
    cell /= np.linalg.norm(cell, axis=1, keepdims=True)
    low, bounds = best.objective * (1 - 1e-5), np.array([best.objective * (1 + 1e-5), 1e9])
    x, value = close_constant(V, np.array([cell, cell]), bounds, 4, np.zeros(12), low)
    assert value == pytest.approx(best.objective, rel=1e-12)
    assert x == pytest.approx(best.W[:, 0], abs=1e-7)
    assert value * (1 + 1e-14) <= bounds[0] <= value * (1 + 1e-13)
    assert bounds[1] == 1e9  # too far off to be asked


@pytest.mark.parametrize("seed", range(10))
def test_after_each_level_the_optimum_lies_between_value_and_bound(seed):
    V = np.random.default_rng(seed).standard_normal((12, 3))
    best = exhaustive_nonnegative(V @ V.T, 1, 4).objective * (1 + 1e-12)
    for x, value, bound, _, done in islice(levels(V, 4, 1e-2), 20):
        assert value == pytest.approx(np.sum((V.T @ x) ** 2))
        assert value <= best <= bound * (1 + 2e-12)
        if done:
            break
    assert bound <= value * 1.01 * (1 + 1e-12)


def test_a_cell_that_leads_below_zero_has_no_height():
    V = -np.ones((4, 2))
    assert 0 <= cell_bounds(np.eye(2)[None], heights(V, np.eye(2), 2)[None])[0] < 1e-70


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_theorems_factor_is_kept(seed, rank):
    A = make_scheme("F", 9, seed)
    best = exhaustive_nonnegative(A, 1, 4).objective
    assert spannogram(A, 1, 4, rank=rank).objective >= rho_bound(A, 4, rank) * best
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
        spannogram(np.eye(3), 1, 1, rank=1, tol=-1)
    with pytest.raises(ValueError, match="max_iter=0 must be at least 1"):
        spannogram(np.eye(3), 1, 1, rank=1, max_iter=0)
    with pytest.raises(ValueError, match="rank=4"):
        spannogram(Covariance(np.eye(3)), 1, 1, rank=4)
    with pytest.raises(ValueError, match="rank=9 must be at most 8"):
        spannogram(np.diag(np.arange(1.0, 11.0)), 1, 1, rank=9)
