"""Several nonnegative components: apart by supports, or by deflation."""

import numpy as np
import pytest

from fspca import Covariance, Nonnegative, check_solution, epsilon_net, spannogram
from fspca.nonnegative import em, nspca
from fspca.nonnegative.components import one_by_one
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.points import spannogram_points
from fspca.problem import solution_of
from fspca.synthetic import make_scheme

METHODS = [spannogram, spannogram_points, epsilon_net, em, nspca]


@pytest.mark.parametrize("method", METHODS)
def test_supports_are_disjoint_and_components_orthogonal(method):
    A = make_scheme("F", 12, 0)
    found = method(A, 3, 4)
    assert check_solution(A, found)
    assert found.problem == Nonnegative(3, 4, disjoint=True)
    assert np.all(np.count_nonzero(found.W, axis=1) <= 1)
    assert np.allclose(found.W.T @ found.W, np.eye(3))
    assert found.history[-1] == pytest.approx(found.objective)


def test_shared_features_are_no_disjoint_supports():
    W = np.array([[0.6, 0.0], [0.8, 0.6], [0.0, 0.8]])
    verdict = check_solution(np.eye(3), W, Nonnegative(2, 2, disjoint=True))
    assert "columns of W share the features [1]" in str(verdict)
    assert check_solution(np.eye(3), W, Nonnegative(2, 2))


@pytest.mark.parametrize("method", METHODS)
def test_one_component_is_the_methods_own(method):
    A = make_scheme("F", 12, 1)
    found = method(A, 1, 4)
    assert found.solver == method.__name__
    assert len(found.support) <= 4


def test_the_second_is_the_first_of_what_is_left():
    A = make_scheme("F", 12, 2)
    both = spannogram(A, 2, 4, rank=2)
    left = np.setdiff1d(np.arange(12), np.flatnonzero(both.W[:, 0]))
    alone = spannogram(A[np.ix_(left, left)], 1, 4, rank=2)
    assert np.array_equal(left[alone.support], np.flatnonzero(both.W[:, 1]))


def test_deflation_projects_out():
    A = make_scheme("F", 12, 3)
    both = em(A, 2, 4, apart="deflation")
    x = both.W[:, 0]
    P = np.eye(12) - np.outer(x, x)
    assert np.array_equal(em(P @ A @ P, 1, 4).support, np.flatnonzero(both.W[:, 1]))


@pytest.mark.parametrize("seed", range(5))
def test_deflation_of_the_low_rank_part_never_sees_the_rest(seed):
    A, rank = make_scheme("F", 12, seed), 3
    values, U = np.linalg.eigh(A)
    V = U[:, -rank:] * np.sqrt(values[-rank:])
    both = spannogram(A, 2, 4, rank=rank, apart="low rank")
    x = both.W[:, 0]
    assert np.array_equal(x > 0, spannogram(A, 1, 4, rank=rank).W[:, 0] > 0)
    V -= np.outer(x, x @ V)
    second = spannogram(V @ V.T, 1, 4, rank=rank)
    assert np.allclose(second.W[:, 0], both.W[:, 1], atol=1e-6)
    assert both.objective == pytest.approx(both.problem.score(A, both.W), rel=1e-12)
    net = epsilon_net(A, 2, 4, rank=rank, apart="low rank", n_samples=5000)
    assert net.objective == pytest.approx(both.objective, rel=0.05)


def test_a_method_without_a_low_rank_part_deflates_none():
    with pytest.raises(ValueError, match=r"apart='low rank' must be one of"):
        em(np.eye(4), 2, 2, apart="low rank")


def test_features_that_run_short_are_shared_out():
    A = make_scheme("F", 6, 0)
    found = em(Covariance(A), 6, 4)
    assert np.count_nonzero(found.W, axis=0).tolist() == [1] * 6
    assert found.objective == pytest.approx(np.trace(A))


@pytest.mark.parametrize("d", [5, 7])
@pytest.mark.parametrize("seed", range(10))
def test_the_oracle_for_two_tries_every_pair(d, seed):
    A, k = make_scheme("F", d, seed), 1 + seed % 4
    found, best = exhaustive_nonnegative(A, 2, k), 0.0
    for mask in range(1, 2 ** (d - 1)):  # one side of every division of the features
        side = (mask >> np.arange(d)) % 2 == 1
        parts = [exhaustive_nonnegative(A[np.ix_(s, s)], 1, min(k, s.sum())) for s in (side, ~side)]
        best = max(best, sum(part.objective for part in parts))
    assert check_solution(A, found)
    assert found.objective == pytest.approx(best, rel=1e-12)


def test_time_that_runs_out_leaves_what_is_feasible():
    A = make_scheme("F", 12, 0)
    found = em(A, 3, 4, max_seconds=0)
    assert found.stopped == "max_seconds"
    assert check_solution(A, found)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="apart='signs' must be one of"):
        em(np.eye(3), 1, 1, apart="signs")
    with pytest.raises(ValueError, match="m=4 must lie"):
        em(np.eye(3), 4, 1)
    with pytest.raises(TypeError, match="rank='b' must be an integer"):
        epsilon_net(np.eye(3), 2, 1, rank="b")


def test_the_history_goes_on_from_what_the_components_before_explain():
    """A method that says where it was: 1, then 2, then its end."""
    A = Covariance(np.diag([9.0, 7.0, 5.0, 3.0]))

    def told(rest, most, run):
        problem = Nonnegative(1, most)
        W = np.eye(rest.size)[:, [np.argmax(rest.diagonal())]]
        end = problem.score(rest, W)
        return solution_of(rest, problem, W, "told", history=(1.0, 2.0, end), n_iter=2)

    for apart in ("supports", "deflation"):
        found = one_by_one(A, 2, 1, told, apart=apart)
        assert found.history == (1.0, 2.0, 9.0, 9.0 + 1.0, 9.0 + 2.0, 9.0 + 7.0)
        assert found.n_iter == 4
