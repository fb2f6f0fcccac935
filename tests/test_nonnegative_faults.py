"""Hard cases of nonnegative components: near ties, no rank left, numbers near nothing."""

import importlib
import itertools

import numpy as np
import pytest

from fspca import Covariance, certify, check_solution, sadmm, solve_nonnegative, spannogram
from fspca.nonnegative import em
from fspca.nonnegative.joint import assigned, matched
from fspca.nonnegative.low_rank import low_rank
from fspca.problem import Nonnegative
from fspca.proof.search import Part, Tree
from fspca.solver import Run


def near_ties(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 9))
    rank = int(min(rng.integers(1, 4), d))
    V = rng.standard_normal((d, rank))[rng.integers(0, d, d)]
    V *= 1 + 10.0 ** rng.integers(-13, -8) * rng.standard_normal((d, 1))
    return V @ V.T, int(rng.integers(1, d + 1)), rank


@pytest.mark.parametrize("seed", range(50))
def test_near_ties_end(seed):
    A, k, rank = near_ties(seed)
    found = spannogram(A, 1, k, rank=rank, max_iter=20_000)
    assert found.stopped == "gap reached"


def test_two_rows_that_nearly_tie():
    v = np.array([1.0, 1 + 1e-11])
    assert spannogram(np.outer(v, v), 1, 1, rank=1).support.tolist() == [1]


def test_what_is_dropped_as_rounding_is_in_the_bound():
    d = 300
    values = np.r_[1.0, np.full(d - 1, 0.5 * d * 2.0**-52)]
    A = Covariance(np.diag(values))
    for shift in (False, True):
        V, tail = low_rank(A, 3, shift)
        assert V.shape[1] == 1
        assert np.all(np.sum(V**2, axis=1) + tail >= values)


def test_a_value_that_reaches_the_largest_eigenvalue_is_the_best():
    found = spannogram(np.eye(4), 1, 3, rank=4)
    assert found.stopped == "gap reached"
    assert found.n_iter <= 64


class Stuck(Tree):
    """A tree whose one part can be neither closed nor divided."""

    def process_node(self, part):
        self.unresolved_bound = 2.0
        return []

    def evaluate(self, supports):
        return True

    relax = walk = inherited = prove = divided = None


def test_a_part_that_stays_open_is_no_proof():
    with Run(9) as run:
        tree = Stuck(3, 1, 0.0, run)
        tree.record(1.0, None)
        run.answer = tree.answer
        rows = np.arange(3)
        none = np.zeros(3, dtype=bool)
        tree.push([(3.0, Part(rows, none, None, tree.place(rows, none, -1)))])
        tree.search()
    assert tree.bound == 2.0
    assert run.stopped == "parts left open"


@pytest.mark.parametrize(("small", "m", "k"), [(1e-170, 2, 2), (1e-160, 3, 2)])
def test_numbers_whose_squares_are_nothing(small, m, k):
    A = np.eye(3) + small * (1 - np.eye(3))
    A[0, 0] = 2
    found = solve_nonnegative(A, m, k)
    assert check_solution(A, found)
    assert found.objective == pytest.approx(m + 1)


def test_columns_of_tiny_weights_have_unit_length():
    C = np.array([[1.0, 0.0], [0.0, 1e-170]])
    W = assigned(C, Nonnegative(2, 1, disjoint=True))
    np.testing.assert_allclose(np.linalg.norm(W, axis=0), 1.0)


def test_kicks_find_what_starts_miss(monkeypatch):
    """Over some draws, with one start: what is explained in all is more with them."""
    module = importlib.import_module("fspca.nonnegative.solve")
    totals = []
    for kicks in (40, 1):
        monkeypatch.setattr(module, "KICKS", kicks)
        total = 0.0
        for seed in range(6):
            X = np.random.default_rng(seed).standard_normal((40, 70))
            total += solve_nonnegative(X.T @ X, 3, 6, n_starts=1, gap=9.0).objective
        totals.append(total)
    assert totals[0] > totals[1] * (1 + 1e-6)


def test_a_time_that_ends_it_is_said():
    X = np.random.default_rng(0).standard_normal((40, 70))
    assert solve_nonnegative(X.T @ X, 3, 6, max_seconds=0).stopped == "max_seconds"


def test_one_certify_for_all_problems():
    X = np.random.default_rng(0).standard_normal((30, 12))
    A = X.T @ X
    for answer in (em(A, 1, 4), em(A, 2, 4), sadmm(A, 2, 4)):
        found = certify(A, answer)
        assert found.upper_bound >= solve_nonnegative(A, answer.problem.m, 4).objective
        assert certify(A, found).upper_bound <= found.upper_bound
    assert certify(A, em(A, 1, 4)).certificate is not None
    with pytest.raises(ValueError, match="does not fit A"):
        certify(2 * A, em(A, 1, 4))


def test_a_matching_gives_each_component_a_feature_and_none_one_that_is_worth_nothing():
    flat = matched(np.zeros((4, 2)), Nonnegative(2, 2))
    assert [len(support) for support in flat] == [1, 1]
    one_has_all = matched(np.array([[30.0, 0.0], [20.0, 0.0], [10.0, 0.0]]), Nonnegative(2, 3))
    assert sorted(len(support) for support in one_has_all) == [1, 2]
    assert one_has_all[0].tolist() == [0, 1]  # the least is what it costs
    few = matched(np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0], [0.0, 0.0]]), Nonnegative(2, 2))
    assert [support.tolist() for support in few] == [[0], [1]]


@pytest.mark.parametrize("seed", range(5))
def test_a_matching_is_worth_the_most_of_all(seed):
    """Against every way to give five features to two components, or to none."""
    weights = np.random.default_rng(seed).random((5, 2)) ** 3
    best = -1.0
    for owners in itertools.product((0, 1, 2), repeat=5):
        sizes = [owners.count(j) for j in (0, 1)]
        if 1 <= sizes[0] <= 2 and 1 <= sizes[1] <= 3:
            best = max(best, sum(weights[i, j] for i, j in enumerate(owners) if j < 2))
    found = matched(weights, Nonnegative(2, [2, 3]))
    value = sum(weights[support, j].sum() for j, support in enumerate(found))
    assert value == pytest.approx(best)
