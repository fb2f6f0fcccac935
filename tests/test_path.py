"""Answers for many counts: each a local optimum, none below its neighbour, bounds that hold."""

import numpy as np
import pytest

from fspca import Covariance, check_solution, exhaustive, path, solve, swap
from fspca.synthetic import make_scheme


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("m", "k"), [(2, [2, 3, 4, 6, 9]), ([1, 2, 3, 4], 4)])
def test_values_never_fall_and_bounds_hold(seed, m, k):
    A = make_scheme("F", 12, seed)
    answers = path(A, m, k)
    values = [answer.objective for answer in answers]
    assert np.all(np.diff(values) > 0)
    for answer in answers:
        assert check_solution(A, answer)
        assert answer.solver == "path"
        best = exhaustive(A, answer.problem.m, answer.problem.k).objective
        assert answer.objective <= best * (1 + 1e-12) <= answer.upper_bound * (1 + 2e-12)
        again = swap(A, answer.problem.m, answer.problem.k, init=answer.support)
        assert again.objective == pytest.approx(answer.objective, rel=1e-9)  # no exchange helps


def test_answers_come_in_the_order_asked_and_do_not_depend_on_it():
    A = make_scheme("F", 14, 0)
    there, back = path(A, 2, [4, 7, 5]), path(A, 2, [5, 4, 7])
    assert [answer.problem.k for answer in there] == [4, 7, 5]
    assert [a.objective for a in there] == [back[i].objective for i in (1, 2, 0)]


def test_a_path_is_hardly_below_its_problems_solved_one_by_one():
    shares = []
    for seed in range(10):
        A = make_scheme("F", 30, seed)
        alone = [solve(A, 3, k, seed=0).objective for k in (4, 6, 8, 10)]
        along = [answer.objective for answer in path(A, 3, [4, 6, 8, 10], bound=None)]
        shares.append(np.divide(along, alone))
    assert np.mean(shares) > 0.995
    assert np.min(shares) > 0.95


def test_a_path_shares_its_passes(monkeypatch):
    monkeypatch.setattr("fspca.covariance.FORMED_SIZE", 0)
    monkeypatch.setattr("fspca.covariance.DENSE_SIZE", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6)) @ rng.standard_normal((6, 90)) + rng.standard_normal((50, 90))
    cost = {}
    for ks in ([4], [4, 6, 8, 10, 12]):
        A = Covariance.from_data(X.view(np.memmap))
        A.leading(3)  # which all problems need, and which is kept
        before = A.passes
        path(A, 3, ks, n_starts=3)
        cost[len(ks)] = A.passes - before
    assert cost[5] < 3 * cost[1]


def test_the_scale_of_the_covariance_does_not_matter():
    A = make_scheme("F", 12, 0)
    tiny = path(A * 2.0**-980, 2, [3, 5])
    assert [a.objective * 2.0**980 for a in tiny] == [a.objective for a in path(A, 2, [3, 5])]


@pytest.mark.parametrize(("m", "k"), [(2, 4), ([1, 2], [3, 4])])
def test_one_of_the_two_is_a_sequence(m, k):
    with pytest.raises(ValueError, match="one of the two must be a sequence"):
        path(np.eye(5), m, k)
