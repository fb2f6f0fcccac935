"""NSPCA: every entry's update is the best, and the search finds a count where there is one."""

import numpy as np
import pytest

from fspca import ConvergenceWarning, check_solution
from fspca.nonnegative import nspca
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.nspca import largest_root, nspca_path, penalised, sweep
from fspca.synthetic import make_scheme


@pytest.mark.parametrize("seed", range(200))
def test_the_root_is_the_largest(seed):
    p, q = np.random.default_rng(seed).normal(scale=3, size=2)
    roots = np.roots([1.0, 0.0, -p, -q])
    real = roots[np.abs(roots.imag) < 1e-6].real
    assert largest_root(np.array([p]), np.array([q]))[0] == pytest.approx(real.max(), abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_an_update_is_the_best_of_a_grid(seed):
    """The last entry that a sweep visits is optimal with all others held."""
    rng = np.random.default_rng(seed)
    S, U = make_scheme("F", 5, seed), rng.uniform(size=(5, 2, 1))
    alpha, beta = 3 * np.linalg.eigvalsh(S)[-1], rng.uniform(0, 2)
    sweep(S, U, np.tensordot(S, U, 1), alpha, beta)
    reached, values = penalised(S, U, alpha, beta)[0], []
    for u in np.linspace(0, 2, 2001):
        U[-1, -1] = u
        values.append(penalised(S, U, alpha, beta)[0])
    assert reached >= max(values) - 1e-9 * abs(reached)
    assert reached == pytest.approx(max(values), abs=1e-3 * alpha)  # the grid is 1e-3 apart


@pytest.mark.parametrize("seed", range(20))
def test_sweeps_never_lower_the_objective(seed):
    rng = np.random.default_rng(seed)
    S, U = make_scheme("F", 8, seed), rng.uniform(size=(8, 3, 4))
    values = [penalised(S, U, 20.0, 0.5)]
    for _ in range(10):
        sweep(S, U, np.tensordot(S, U, 1), 20.0, 0.5)
        values.append(penalised(S, U, 20.0, 0.5))
    assert np.all(np.diff(values, axis=0) >= -1e-9 * np.abs(values[0]))
    assert U.min() >= 0


def test_alpha_makes_components_orthogonal_and_of_length_one():
    S, rng = make_scheme("F", 8, 0), np.random.default_rng(0)
    apart = []
    for alpha in (20.0, 20_000.0):
        U = rng.uniform(size=(8, 3, 1))
        for _ in range(300):
            sweep(S, U, np.tensordot(S, U, 1), alpha, 0.0)
        apart.append(np.abs(U[:, :, 0].T @ U[:, :, 0] - np.eye(3)).max())
    assert apart[1] < 0.01 < apart[0]


@pytest.mark.parametrize("seed", range(10))
def test_beta_makes_components_sparse(seed):
    A = make_scheme("F", 12, seed)
    top = np.linalg.eigvalsh(A)[-1]
    counts = [len(nspca(A, 1, penalty=b * top, alpha=10 * top).support) for b in (0.0, 0.3, 5.0)]
    assert counts[0] >= counts[1] >= counts[2] == 1


@pytest.mark.parametrize("seed", range(10))
def test_its_answer_is_judged_as_any_other(seed):
    A = make_scheme("F", 9, seed)
    found = nspca(A, 2, penalty=1.0, alpha=10 * np.linalg.eigvalsh(A)[-1])
    assert check_solution(A, found)
    one = nspca(A, 1, 4)
    assert check_solution(A, one)
    assert one.objective <= exhaustive_nonnegative(A, 1, 4).objective * (1 + 1e-9)


def test_the_search_meets_most_counts():
    met = [len(nspca(make_scheme("F", 12, s), 1, 3).support) == 3 for s in range(10)]
    assert sum(met) >= 7


def test_budget_exhausted_warns_and_says_so():
    with pytest.warns(ConvergenceWarning, match="nspca stopped"):
        assert not nspca(make_scheme("F", 12, 0), 2, penalty=1.0, alpha=500.0, max_iter=1).converged


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="alpha=0 must be positive"):
        nspca(np.eye(3), 1, penalty=0, alpha=0)
    with pytest.raises(ValueError, match="penalty=-1 must be"):
        nspca(np.eye(3), 1, penalty=-1, alpha=1)
    with pytest.raises(ValueError, match="m=4 must lie between 1 and d=3"):
        nspca(np.eye(3), 4, penalty=0, alpha=1)
    for alpha in (0, -1, np.nan):
        with pytest.raises(ValueError, match=f"alpha={alpha} must be"):
            nspca_path(np.eye(3), [0.1], alpha=alpha, seed=0)
    with pytest.raises(ValueError, match="tol=-1 must be"):
        nspca_path(np.eye(3), [0.1], tol=-1, seed=0)


def test_a_path_is_its_penalties_each_alone():
    A = make_scheme("F", 10, 0)
    top = np.linalg.eigvalsh(A)[-1]
    path = nspca_path(A, [0.0, 0.2 * top], n_starts=2, seed=0)
    assert len(path) == 4
    assert all(check_solution(A, each) for each in path)
    for j, beta in enumerate([0.0, 0.2 * top]):
        alone = nspca_path(A, [beta], n_starts=2, seed=0)
        for one, other in zip(path[2 * j :], alone, strict=False):
            assert one.objective == pytest.approx(other.objective, rel=1e-4)  # stops earlier
