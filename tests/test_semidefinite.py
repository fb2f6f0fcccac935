"""The semidefinite relaxation: each projection, and the splitting step by step."""

import numpy as np
import pytest
import scipy.linalg

from fspca.covariance.linalg import random_subspace
from fspca.proof import projections, semidefinite
from fspca.proof.projections import (
    TopPairs,
    clip_to_count,
    clip_to_sum,
    largest_cost,
    project_cones,
    sum_largest,
)
from fspca.proof.relaxation import Basis, State
from fspca.proof.rows import RowParts
from fspca.proof.semidefinite import Parts, descend, normal_solver, start_from
from fspca.synthetic import make_scheme


def clipped(v, s):
    """The projection on entries in [0, 1] with sum s, by a bisection."""
    low, high = v.min() - 2, v.max() + 2
    for _ in range(60):
        t = (low + high) / 2
        low, high = (t, high) if np.clip(v - t, 0, 1).sum() > s else (low, t)
    return np.clip(v - t, 0, 1)


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_clip_to_sum_is_the_projection(n):
    rng = np.random.default_rng(n)
    for _ in range(50):
        v, s = rng.normal(0, 2, n), rng.integers(0, n + 1)
        assert clip_to_sum(v, s) == pytest.approx(clipped(v, s), abs=1e-9)
    v = rng.integers(-2, 3, n) / 2.0  # ties, and knots that coincide
    assert clip_to_sum(v, n - 1) == pytest.approx(clipped(v, n - 1), abs=1e-9)


def test_what_is_required_is_there_and_counts():
    required = np.array([False, True, False, True])
    z = clip_to_count(np.array([0.9, -3.0, 0.2, 0.1]), 3, required)
    assert z == pytest.approx([0.85, 1, 0.15, 1])
    assert clip_to_count(np.array([0.9, -3.0, 0.2, 0.1]), 1, required).tolist() == [0, 1, 0, 1]
    assert clip_to_count(np.zeros(2), 1, np.ones(2, dtype=bool)).tolist() == [1, 1]
    costs = np.array([1.0, -2.0, 5.0, 0.5])
    assert [largest_cost(costs, k, required) for k in (1, 2, 3, 4)] == [-1.5, -1.5, 3.5, 4.5]


def test_rows_are_projected_on_the_cones_of_their_lengths():
    Q, t = np.array([[3.0, 4.0], [3.0, 4.0], [3.0, 4.0], [0.0, 0.0]]), np.array([6.0, 1, -7, 0])
    X, heights = project_cones(Q, t)
    assert pytest.approx(np.outer([1, 0.6, 0, 0], [3, 4])) == X
    assert heights == pytest.approx([6, 3, 0, 0])


def test_nothing_is_clipped_to_nothing():
    """The last two knots coincide, and rounding leaves a sum of 9e-16 there."""
    assert clip_to_sum(np.array([0.3, 0.3, -0.4, -0.4, -0.9]), 0) == pytest.approx(np.zeros(5))


def test_the_largest_are_summed():
    values = np.array([3.0, -1.0, 2.0])
    assert [sum_largest(values, k) for k in range(5)] == [0, 3, 5, 4, 4]


@pytest.mark.parametrize("d", [5, 40])
def test_normal_equation_by_conjugate_gradients(d):
    Z = np.linalg.qr(np.random.default_rng(d).standard_normal((d, 3)))[0]
    full, solver = 0.5 * (Z @ Z.T) ** 2 + 0.5 * np.eye(d), normal_solver(Z)
    assert 0.5 - 1e-12 <= np.linalg.eigvalsh(full)[0] <= np.linalg.eigvalsh(full)[-1] <= 1 + 1e-12
    for seed in range(3):
        r = np.random.default_rng(seed).standard_normal(d)
        x = np.zeros(d)
        for _ in range(3):  # three digits each time
            x += solver(r - full @ x)
        assert x == pytest.approx(np.linalg.solve(full, r), abs=1e-7)
    assert not solver(np.zeros(d)).any()


def by_values(M, change):
    values, V = np.linalg.eigh(M)
    return V * change(values) @ V.T


def capped(M, m, exactly):
    """The projection on 0 <= P <= I with trace m, or at most m."""

    def change(values):
        inside = np.clip(values, 0, 1)
        return clipped(values, m) if exactly or inside.sum() > m else inside

    return by_values(M, change)


def wobbling(n, count):
    """Matrices that change a little from one to the next, one in twenty eigenvalues large."""
    rng = np.random.default_rng(n)
    V = random_subspace(n, n, rng)
    M = V * np.where(np.arange(n) < n // 20, 1.0, -0.1) @ V.T
    for _ in range(count):
        change = 0.03 / np.sqrt(n) * rng.standard_normal((n, n))
        yield M + change + change.T


@pytest.mark.parametrize("n", [6, 100])
@pytest.mark.parametrize("exactly", [True, False])
def test_matrices_are_projected_with_the_pairs_that_matter(n, exactly):
    pairs, positive = TopPairs(), TopPairs()
    for M in wobbling(n, 6):
        for m in (2, n):
            X = pairs.between(M, m, exactly)
            assert pytest.approx(capped(M, m, exactly), abs=1e-9) == X @ X.T
        G = positive.positive_part(M)
        assert pytest.approx(by_values(M, lambda v: np.maximum(v, 0)), abs=1e-9) == G @ G.T


def test_few_pairs_are_computed_where_few_matter(monkeypatch):
    asked, some, all_pairs = [], scipy.linalg.eigh, np.linalg.eigh

    def noting(M, **how):
        asked.append(how.get("subset_by_index"))
        return some(M, **how) if how else all_pairs(M)

    monkeypatch.setattr(scipy.linalg, "eigh", noting)
    monkeypatch.setattr(projections, "eigh", noting)
    pairs = TopPairs()
    for M in wobbling(100, 3):
        pairs.positive_part(M)
    assert pairs.count == 5
    assert asked == [None, (91, 99), (91, 99)]


def whole_basis(basis, d):
    """The matrix V of a basis: unit vectors of the few, and beside them the span of the others."""
    if basis is None:
        return np.eye(d)
    V = np.zeros((d, len(basis.few) + basis.span.shape[1]))
    V[basis.few, np.arange(len(basis.few))] = 1
    V[basis.others, len(basis.few) :] = basis.span
    return V


def some_basis(d, few, rank, rng):
    """A few of d features by themselves, and a random span of so many columns of the others."""
    few = np.sort(rng.permutation(d)[:few])
    others = np.setdiff1d(np.arange(d), few)
    return Basis(few, others, random_subspace(len(others), rank, rng))


def splitting(state, m, k, fixed, steps):
    """The ADMM as its authors would write it, every matrix whole; what it yields and where."""
    basis, L, P, z, (U, _, _), rho, _ = state
    exactly, Z = basis is None, whole_basis(basis, len(z))

    def lift(z):
        return Z.T @ np.diag(z) @ Z

    normal = 0.5 * (Z @ Z.T) ** 2 + 0.5 * np.eye(len(z))
    S, u = lift(z) - P, -2 * np.diag(Z @ U @ Z.T)
    for step in range(1, steps + 1):
        P1 = capped(P - U + L / rho, m, exactly)
        S1 = by_values(S - U, lambda values: np.maximum(values, 0))
        z1 = np.r_[np.ones(fixed), clipped((z - u)[fixed:], k - fixed)]
        if step % 10 == 0:
            yield rho * (S1 - S + U), z1, P, z, (U, U, u), rho
        old = P
        Pu, Su, zu = 1.7 * P1 - 0.7 * P + U, 1.7 * S1 - 0.7 * S + U, 1.7 * z1 - 0.7 * z + u
        z = np.linalg.solve(normal, 0.5 * np.diag(Z @ (Pu + Su) @ Z.T) + 0.5 * zu)
        P = (Pu - Su + lift(z)) / 2
        S = lift(z) - P
        U, u = Pu - P, zu - z
        if step % 20 == 0 and step <= 400:
            primal = np.hypot(np.linalg.norm(P1 - P), np.linalg.norm(S1 - S)) / np.sqrt(m)
            dual = np.sqrt(2) * np.linalg.norm(P - old) / np.linalg.norm(U)
            factor = 1.5 if primal > 3 * dual else 2 / 3 if dual > 3 * primal else 1
            rho, U, u = rho * factor, U / factor, u / factor


@pytest.mark.parametrize("fixed", [0, 2])
@pytest.mark.parametrize(("rank", "few"), [(3, 0), (5, 2), (8, 8)])
def test_the_splitting_step_by_step(rank, few, fixed, monkeypatch):
    """With normal equations that are solved to the end, since three digits of a change show."""

    def exact(Z):
        return lambda r: np.linalg.solve(0.5 * (Z @ Z.T) ** 2 + 0.5 * np.eye(len(Z)), r)

    monkeypatch.setattr(semidefinite, "normal_solver", exact)
    rng, m, k = np.random.default_rng(rank), 2, 4
    basis = None if rank == 8 else some_basis(8, few, rank - few, rng)
    inner = make_scheme("F", rank, 1) / 8
    start = start_from(inner, m, k, basis)
    Z = whole_basis(basis, 8)
    assert start.P.trace() == pytest.approx(m)
    assert start.z == pytest.approx(np.full(8, k / 8))
    plain = list(splitting(start, m, k, fixed, 120))
    required = np.arange(8) < fixed
    for (bound, c, G, Y, z1, state), (C, z, *where) in zip(
        descend(start, m, k, required), plain, strict=False
    ):
        assert pytest.approx(G @ G.T, abs=1e-9) == Z @ C @ Z.T
        assert c == pytest.approx(np.sum(G**2, axis=1), abs=1e-9)
        assert Y is None
        assert z1 == pytest.approx(z, abs=1e-9)
        for one, other in zip(
            [*state[2:4], *state.multipliers, state.penalty],
            [*where[:2], *where[2], where[3]],
            strict=True,
        ):
            assert one == pytest.approx(other, abs=1e-9)
        kept = c[:fixed].sum() + np.sort(c[fixed:])[fixed - k :].sum()
        top = np.linalg.eigvalsh(Z @ inner @ Z.T - G @ G.T)[-m:].sum()
        assert bound == pytest.approx(kept + top, abs=1e-9)
    assert {round(each[-1] / 0.5, 6) for each in plain} != {1.0}  # rho was adapted


def test_a_state_of_some_of_the_features_is_that_of_their_problem():
    rng, rows = np.random.default_rng(0), np.array([5, 0, 3])
    A = make_scheme("F", 7, 0)
    U, z, u = rng.standard_normal((7, 7)), rng.random(7), rng.random(7)
    whole = State(None, A, A / 2, z, Parts(U + U.T, U @ U.T, u), 0.7)
    part = whole.restricted(rows)
    assert part.basis is part.guess is None
    for one, other in zip(squares(part), squares(whole), strict=True):
        assert np.array_equal(one, other[np.ix_(rows, rows)])
    assert np.array_equal(part.z, z[rows])
    assert np.array_equal(part.multipliers.chosen, u[rows])
    assert part.penalty == 0.7


@pytest.mark.parametrize("few", [0, 2, 3])
def test_a_state_in_a_basis_is_that_of_its_features(few):
    """On some of them, with more of them seen one by one, or with all: the matrices stay."""
    rng, d = np.random.default_rng(few), 9
    basis = some_basis(d, few, 2, rng)
    V, squared = whole_basis(basis, d), np.zeros((few, few)) + few
    order = V.shape[1]
    inner, P, U, S = (X + X.T for X in rng.standard_normal((4, order, order)))
    z, u, heights, phi = rng.random(d), rng.random(d), rng.random(few), rng.random(few)
    multipliers = RowParts(U, S, squared + np.outer(heights, phi), heights, u)
    state = State(basis, inner, P, z, multipliers, 0.7, phi)
    rows = np.sort(rng.permutation(d)[:7])
    more = np.append(np.flatnonzero(np.isin(rows, basis.few)), np.flatnonzero(rows == rows[3]))
    for part in (state.restricted(rows), state.seen(rows, more), state.restricted(rows, True)):
        B = whole_basis(part.basis, 7)
        assert pytest.approx(np.eye(B.shape[1])) == B.T @ B
        for one, other in zip(squares(part), squares(state), strict=True):
            assert B @ one @ B.T == pytest.approx((V @ other @ V.T)[np.ix_(rows, rows)])
        assert np.array_equal(part.multipliers.chosen, u[rows])
        alone = np.arange(7) if part.basis is None else part.basis.few
        for i, feature in enumerate(rows[alone]):
            old = np.flatnonzero(basis.few == feature)
            assert part.guess[i] == (phi[old[0]] if len(old) else 0.25)
            assert part.multipliers.heights[i] == (heights[old[0]] if len(old) else 0.0)
            for j, beside in enumerate(rows[alone]):
                both = np.isin([feature, beside], basis.few)
                place = np.searchsorted(basis.few, [feature, beside])
                kept = state.multipliers.rows[tuple(place)] if both.all() else 0.0
                assert part.multipliers.rows[i, j] == kept
    assert state.restricted(rows, True).basis is None
    assert state.restricted(rows[:2]).basis is None


def squares(state):
    return state.inner, state.P, *state.multipliers[:2]


def test_what_follows_the_features_in_a_guess_stays():
    guess, rows = np.arange(25.0).reshape(5, 5), np.array([2, 0])
    none = np.zeros((3, 3))
    start = State(None, none, none, np.zeros(3), Parts(none, none, np.zeros(3)), 0.5, guess)
    kept = [2, 0, 3, 4]
    assert np.array_equal(start.restricted(rows).guess, guess[np.ix_(kept, kept)])
