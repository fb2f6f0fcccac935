"""The relaxation with a bound on every row: the projection of rows, and the splitting."""

from itertools import combinations

import numpy as np
import pytest
from test_semidefinite import by_values, capped, clipped, some_basis, whole_basis

from fspca.check_certificate import row_terms
from fspca.proof import rows as module
from fspca.proof.relaxation import State
from fspca.proof.rows import RowParts, descend_rows, has_rows, project_rows, with_rows
from fspca.proof.semidefinite import descend, start_from
from fspca.synthetic import make_scheme


def sides(x, i, fixed, k):
    """The entries of row i that count in full, the others, and how many of those count."""
    required = np.arange(len(x)) < fixed
    required[i] = True
    return x[required], -np.sort(-np.abs(x[~required])), max(k - required.sum(), 0)


def row_norm(x, i, fixed, k):
    """The gauge of what rows of a projection may be: a k-support norm beside a Euclidean one.

    By the formula of Argyriou, Foygel and Srebro.
    """
    full, free, left = sides(x, i, fixed, k)
    if not left:
        return np.sqrt(np.sum(full**2)) if not free.any() else np.inf
    best = np.inf
    for r in range(left):
        head, tail = free[: left - r - 1], free[left - r - 1 :].sum()
        best = min(best, np.sum(head**2) + tail**2 / (r + 1))
        above = free[left - r - 2] if left - r - 2 >= 0 else np.inf
        if above > tail / (r + 1) >= free[left - r - 1 : left - r].sum():
            best = np.sum(head**2) + tail**2 / (r + 1)
            break
    return np.sqrt(np.sum(full**2) + best)


def dual_norm(y, i, fixed, k):
    """The largest <x, y> over x of norm 1."""
    full, free, left = sides(y, i, fixed, k)
    return np.sqrt(np.sum(full**2) + np.sum(free[:left] ** 2))


@pytest.mark.parametrize(
    ("fixed", "k"), [(0, 1), (0, 2), (0, 4), (2, 4), (3, 4), (2, 8), (2, 9), (4, 4)]
)
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_projected_on_their_cone(fixed, k, seed):
    """The answer lies in the cone, what is taken away in the polar one, and both are orthogonal."""
    rng = np.random.default_rng(seed)
    d = 9
    Q, t = rng.standard_normal((d, d)), rng.uniform(-0.5, 2.0, d)
    Q[1], Q[5] = 0.0, np.eye(d)[5]
    required = np.arange(d) < fixed
    X, height, phi = project_rows(Q, t, required, k, np.full(d, 0.25), 40, 40)
    few = project_rows(Q, t, required, k, phi)  # the usual sweeps come near
    assert few[0] == pytest.approx(X, abs=3e-3)
    assert few[1] == pytest.approx(height, abs=3e-3)
    for i in range(d):
        if row_norm(Q[i], i, fixed, k) <= t[i]:
            assert X[i] == pytest.approx(Q[i], abs=1e-5)
            assert height[i] == pytest.approx(t[i], abs=1e-5)
            continue
        y, s = Q[i] - X[i], height[i] - t[i]
        assert row_norm(X[i] * (np.abs(X[i]) > 1e-9), i, fixed, k) <= height[i] + 1e-6
        assert dual_norm(y, i, fixed, k) <= s + 1e-6
        assert X[i] @ y == pytest.approx(height[i] * s, abs=1e-5)


def together(basis, d):
    """The linear map of (P, z) to (P, S, Q, t, z), and its least-squares inverse; z counts half."""
    columns = []
    V, (few,) = whole_basis(basis, d), np.nonzero(seen_alone(basis, d))
    p, f = V.shape[1], len(few)
    for i, j in zip(*np.triu_indices(p), strict=True):
        P = np.zeros((p, p))
        P[i, j] = P[j, i] = 1
        columns.append(np.r_[P.ravel(), -P.ravel(), P[:f, :f].ravel(), np.zeros(f + d)])
    for i in range(d):
        e, alone = np.eye(d)[i], (few == i) * 1.0
        S = np.outer(V[i], V[i])
        rest = np.diag(-alone / 2).ravel(), alone / 2, e * 0.5**0.5
        columns.append(np.r_[0 * S.ravel(), S.ravel(), *rest])
    T = np.array(columns).T
    return np.linalg.pinv(T)


def seen_alone(basis, d):
    """Which of d features a basis sees one by one."""
    return np.isin(np.arange(d), np.arange(d) if basis is None else basis.few)


def finely(Q, t, required, k, phi, *_):
    return project_rows(Q, t, required, k, phi, 25, 8)


def splitting(state, m, k, fixed, steps):
    """The ADMM with whole matrices, all parts put together by least squares."""
    basis, L, P, z, (U, V, R, r, u), rho, phi = state
    d, exactly = len(z), basis is None
    required, inverse = np.arange(d) < fixed, together(basis, d)
    B, alone = whole_basis(basis, d), seen_alone(basis, d)
    p, f = len(P), alone.sum()

    def parts(P, z):
        Q = P[:f, :f] - np.diag(z[alone] / 2)
        return B.T @ np.diag(z) @ B - P, Q, z[alone] / 2

    for step in range(1, steps + 1):
        S, Q, t = parts(P, z)
        P1 = capped(P - U + L / rho, m, exactly)
        S1 = by_values(S - V, lambda values: np.maximum(values, 0))
        left = k - np.sum(required & ~alone)
        Q1, t1, phi = finely(Q - R, t - r, required[alone], left, phi)
        z1 = np.r_[np.ones(fixed), clipped((z - u)[fixed:], k - fixed)]
        if step % 10 == 0:
            yield rho * (S1 - S + V), rho * (Q - R - Q1), z1, (P, z, U, V, R, r, u, rho)
        old = P
        Pu, Su, Qu, tu, zu = (
            1.7 * new - 0.7 * now + gap
            for new, now, gap in ((P1, P, U), (S1, S, V), (Q1, Q, R), (t1, t, r), (z1, z, u))
        )
        x = inverse @ np.r_[Pu.ravel(), Su.ravel(), Qu.ravel(), tu, zu * 0.5**0.5]
        P = np.zeros((p, p))
        P[np.triu_indices(p)], z = x[:-d], x[-d:]
        P = P + P.T - np.diag(np.diag(P))
        S, Q, t = parts(P, z)
        U, V, R, r, u = Pu - P, Su - S, Qu - Q, tu - t, zu - z
        if step % 20 == 0:
            apart = sum(np.sum((a - b) ** 2) for a, b in ((P1, P), (S1, S), (Q1, Q)))
            moved = 3 * m * np.sum((P - old) ** 2) / np.sum(U**2)
            factor = 1.5 if apart > 9 * moved else 2 / 3 if moved > 9 * apart else 1
            rho *= factor
            U, V, R, r, u = (each / factor for each in (U, V, R, r, u))


def exact_solver(Z):
    """The normal equations of the features in a basis, solved to the end."""
    return lambda r: np.linalg.solve(0.5 * (Z @ Z.T) ** 2 + 0.5 * np.eye(len(Z)), r)


@pytest.mark.parametrize(("fixed", "rho"), [(0, 0.5), (2, 20.0)])
@pytest.mark.parametrize("few", [7, 5])
def test_the_splitting_step_by_step(monkeypatch, fixed, rho, few):
    """Of all rows, and of those of five features beside a basis of what the others have."""
    monkeypatch.setattr(module, "project_rows", finely)
    monkeypatch.setattr(module, "normal_solver", exact_solver)
    m, k, d = 2, 4, 7 if few == 7 else 11
    basis = None if few == d else some_basis(d, few, 2, np.random.default_rng(few))
    A = make_scheme("F", 7, 0) / 8
    required = np.arange(d) < fixed
    start = next(descend(start_from(A, m, k, basis), m, k, required))[-1]
    start = with_rows(start)._replace(penalty=rho)
    plain = list(splitting(start, m, k, fixed, 50))
    B, alone = whole_basis(basis, d), seen_alone(basis, d)
    for (bound, c, G, Y, z1, state), (C, rows, z, where) in zip(
        descend_rows(start, m, k, required), plain, strict=False
    ):
        assert pytest.approx(B @ C @ B.T, abs=1e-4) == G @ G.T
        assert pytest.approx(rows, abs=1e-4) == Y
        assert z1 == pytest.approx(z, abs=1e-4)
        now = [state.P, state.z, *state.multipliers, state.penalty]
        for one, other in zip(now, where, strict=True):
            assert one == pytest.approx(other, abs=1e-4)
        on_all = np.zeros((d, d))
        on_all[np.ix_(alone, alone)] = Y
        costs = np.diag(G @ G.T) + (np.diag(on_all) + row_terms(on_all, k, required, np.sqrt)) / 2
        assert c == pytest.approx(costs, abs=1e-4)
        rest = B @ A @ B.T - G @ G.T - (on_all + on_all.T) / 2
        top = np.linalg.eigvalsh(rest)[-m:].sum()
        kept = c[:fixed].sum() + np.sort(c[fixed:])[fixed - k :].sum()
        assert bound == pytest.approx(top + kept, abs=1e-4)
    last = plain[-1][-1][-1]  # it was adapted, up or down
    assert (last > rho) if rho < 1 else (last < rho)


def test_a_reward_is_earned_by_who_is_chosen():
    """Sent a reward, c + reward has a bound for every support, and the least of them."""
    m, k, d = 2, 4, 9
    A, reward = make_scheme("F", d, 0) / 8, np.linspace(0.6, -0.2, d)
    start = with_rows(next(descend(start_from(A, m, k), m, k))[-1])
    least = {}
    for sent in (None, reward):
        source = descend_rows(start, m, k)
        next(source)
        for _ in range(40):
            found = source.send(sent)
        bound, c = found[:2]
        rest = bound - np.sort(c)[-k:].sum()
        least[sent is None] = rest + np.sort(c + reward)[-k:].sum()
    best = max(
        np.linalg.eigvalsh(A[np.ix_(I, I)])[-m:].sum() + reward[list(I)].sum()
        for I in combinations(range(d), k)
    )
    assert best <= least[False] < min(1.02 * best, least[True])


def test_a_state_of_some_of_the_features_is_that_of_their_problem():
    rng, rows = np.random.default_rng(0), np.array([4, 0, 2])
    squares, vectors = rng.standard_normal((5, 5, 5)), rng.standard_normal((4, 5))
    multipliers = RowParts(*squares[2:], *vectors[:2])
    state = State(None, *squares[:2], vectors[2], multipliers, 0.7, vectors[3])
    part = state.restricted(rows)
    assert has_rows(part)
    assert part.penalty == 0.7
    pairs = zip((*part[1:4], *part[4], part[6]), (*state[1:4], *state[4], state[6]), strict=True)
    for one, whole in pairs:
        kept = whole[np.ix_(rows, rows)] if whole.ndim == 2 else whole[rows]
        assert np.array_equal(one, kept)


@pytest.mark.parametrize("k", [4, 6])
def test_the_order_of_features_does_not_matter(k):
    """Required features may stand anywhere: rows and columns that are permuted come out so."""
    rng, d = np.random.default_rng(k), 8
    Q, t, phi = rng.standard_normal((d, d)), rng.uniform(0, 2, d), np.full(d, 0.25)
    required, order = np.arange(d) % 3 == 0, rng.permutation(d)
    X, heights, level = project_rows(Q, t, required, k, phi)
    again = project_rows(Q[np.ix_(order, order)], t[order], required[order], k, phi)
    assert again[0] == pytest.approx(X[np.ix_(order, order)], abs=1e-9)
    assert again[1] == pytest.approx(heights[order], abs=1e-9)
    assert again[2] == pytest.approx(level[order], abs=1e-9)
