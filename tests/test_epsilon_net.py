"""The epsilon-net: how often it keeps its promise, and that the promise costs so many points."""

import numpy as np
import pytest

from fspca import Covariance, check_solution, epsilon_net, spannogram
from fspca.nonnegative.epsilon_net import cap, epsilon_reached, samples_needed
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.low_rank import refit_nonnegative
from fspca.synthetic import make_scheme


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("epsilon", [0.1, 0.3])
def test_one_minus_epsilon_of_the_optimum_is_reached_as_often_as_promised(rank, epsilon):
    """100 seeds, two instances: a hit fails at most once in d, so at least 1 - 1/d succeed."""
    d = 40
    for instance in range(2):
        V = np.random.default_rng(instance).standard_normal((d, rank))
        A = Covariance(V @ V.T)
        best = spannogram(A, 1, 8, rank=rank).objective
        found = [epsilon_net(A, 1, 8, rank=rank, epsilon=epsilon, seed=seed) for seed in range(100)]
        assert np.mean([s.objective >= (1 - epsilon) * best for s in found]) >= 1 - 1 / d
        assert np.mean([s.upper_bound >= best * (1 - 1e-9) for s in found]) >= 1 - 1 / d


@pytest.mark.parametrize("seed", range(10))
def test_the_bound_counts_what_is_left_of_higher_rank(seed):
    A = make_scheme("F", 8, seed)
    found = epsilon_net(A, 1, 4, rank=2, n_samples=2000, seed=seed)
    assert found.upper_bound >= exhaustive_nonnegative(A, 1, 4).objective
    assert found.bound_probability == 1 - 1 / 8
    assert epsilon_net(A, 1, 4, rank=1).bound_probability == 1


def test_the_first_seed_is_0_and_epsilon_lies_inside():
    A = make_scheme("F", 20, 0)
    assert np.array_equal(
        epsilon_net(A, 1, 5, n_samples=3).W, epsilon_net(A, 1, 5, n_samples=3, seed=0).W
    )
    for epsilon in (0.0, 1.0):
        with pytest.raises(ValueError, match=f"epsilon={epsilon} must lie between 0 and 1"):
            epsilon_net(A, 1, 5, epsilon=epsilon)


def test_fewer_points_break_the_promise():
    V = np.random.default_rng(0).standard_normal((40, 3))
    A = Covariance(V @ V.T)
    best = spannogram(A, 1, 8, rank=3).objective
    runs = [epsilon_net(A, 1, 8, rank=3, n_samples=2, seed=seed) for seed in range(100)]
    found = [run.objective for run in runs]
    assert np.mean(np.array(found) >= 0.9 * best) < 0.9


@pytest.mark.parametrize("rank", [2, 3, 4])
def test_the_cap_is_the_share_of_random_points_in_it(rank):
    c = np.random.default_rng(0).standard_normal((200_000, rank))
    share = np.mean(c[:, 0] ** 2 >= 0.8 * (c**2).sum(axis=1))
    assert cap(rank, 0.2) == pytest.approx(share, abs=0.005)  # four standard errors


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_number_of_points_and_epsilon_are_inverse(rank):
    needed = samples_needed(rank, 0.1, 500)
    assert epsilon_reached(rank, needed, 500) <= 0.1
    assert needed == 1 or epsilon_reached(rank, needed - 1, 500) > 0.1
    assert samples_needed(3, 0.1, 12_582) == 180


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_best_of_its_points(seed):
    """As the rank-1 rule says, point by point."""
    rng = np.random.default_rng(seed)
    V, k = rng.standard_normal((12, 3)), int(rng.integers(1, 13))
    found = epsilon_net(V @ V.T, 1, k, rank=3, seed=seed, n_samples=30)
    vectors = Covariance(V @ V.T).leading(3)
    V = vectors[1] * np.sqrt(vectors[0])
    C = np.random.default_rng(seed).standard_normal((30, 3))
    best = 0.0
    for c in np.vstack([C, -C]):
        a = np.maximum(V @ c, 0.0)
        a[np.argsort(-a)[k:]] = 0.0
        best = max(best, ((V.T @ a) ** 2).sum() / (a @ a))
    assert found.objective == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_a_refit_rises_and_keeps_the_bound(seed):
    A = make_scheme("F", 12, seed)
    coarse = epsilon_net(A, 1, 4, rank=2)
    fine = refit_nonnegative(A, coarse)
    assert check_solution(A, fine)
    assert np.all(np.diff(fine.history) > 0)
    assert fine.upper_bound == max(coarse.upper_bound, fine.objective)
    assert fine.objective <= exhaustive_nonnegative(A, 1, 4).objective * (1 + 1e-9)


def test_what_does_not_fit_is_refused():
    for epsilon in (0, 1, -0.1, 2):
        with pytest.raises(ValueError, match="epsilon="):
            epsilon_net(np.eye(4), 1, 2, rank=2, epsilon=epsilon)
    with pytest.raises(TypeError, match="epsilon='small' must be a number"):
        epsilon_net(np.eye(4), 1, 2, rank=2, epsilon="small")
    with pytest.raises(ValueError, match=r"rank=20 and epsilon=0.001 need .* give n_samples"):
        epsilon_net(np.diag(np.arange(1.0, 31.0)), 1, 2, rank=20, epsilon=0.001)
    with pytest.raises(ValueError, match="n_samples=0 must be at least 1"):
        epsilon_net(np.eye(4), 1, 2, rank=2, n_samples=0)
    with pytest.raises(ValueError, match="must be Nonnegative with m=1"):
        refit_nonnegative(np.eye(4), spannogram(np.eye(4), 2, 2, rank=1))
    with pytest.raises(ValueError, match="problem=None must be Nonnegative"):
        refit_nonnegative(np.eye(4), np.eye(4)[:, :1])


def test_of_rank_one_nothing_is_lost():
    """The sphere is two points, and both are tried: the bound divides by nothing."""
    v = np.random.default_rng(0).standard_normal(8)
    assert epsilon_net(np.outer(v, v), 1, 3, rank=1).gap == pytest.approx(0, abs=1e-9)


def test_what_holds_with_a_probability_says_so():
    A = make_scheme("F", 20, 0)
    found = epsilon_net(A, 1, 4, rank=2)
    assert "with probability at least 1 - 0.05 the optimum is at most" in str(found)
    assert "probability" not in str(epsilon_net(A, 1, 4, rank=1))
    assert "with probability" in str(refit_nonnegative(A, found))
