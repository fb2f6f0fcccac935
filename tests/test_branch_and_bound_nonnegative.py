"""Branch and bound over nonnegative supports: the optimum, and a proof that the checker accepts."""

import numpy as np
import pytest

from fspca import Covariance, check_solution, datasets, solve
from fspca.check_certificate import check
from fspca.nonnegative.branch_and_bound import branch_and_bound_nonnegative
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.problem import Nonnegative
from fspca.proof.nonnegative_relaxation import NonnegativeRelaxation
from fspca.synthetic import make_scheme


def instance(seed):
    """A covariance of at most ten features: random, of integers, or badly scaled; and k."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 11))
    B = rng.standard_normal((int(rng.integers(1, d + 2)), d))
    if seed % 4 == 1:
        B = rng.integers(-2, 3, B.shape).astype(float)
    if seed % 4 == 2:
        B = B * 10 ** rng.uniform(-4, 0, d)
    return B.T @ B, int(rng.integers(1, d + 1))


@pytest.mark.parametrize("seed", range(60))
def test_it_finds_the_optimum_and_proves_it(seed):
    A, k = instance(seed)
    best = exhaustive_nonnegative(A, 1, k).objective
    found = branch_and_bound_nonnegative(A, 1, k)
    assert check_solution(A, found)
    assert found.objective == pytest.approx(best, rel=1e-9)
    assert found.upper_bound >= best * (1 - 1e-12)
    assert found.gap <= 1e-8
    if A.min() < 0:  # else it is a claim of the other kind
        assert check(found.certificate | {"A": (A + A.T) / 2}).holds


@pytest.mark.parametrize("seed", range(10))
def test_without_negative_entries_signs_are_free(seed):
    """Perron: |x| explains no less than x, so the search with signs is asked."""
    A = np.abs(make_scheme("F", 9, seed))
    A = A @ A
    found, signs = branch_and_bound_nonnegative(A, 1, 4), solve(A, 1, 4, gap=0.0)
    assert check_solution(A, found)
    assert found.objective == pytest.approx(signs.objective, rel=1e-9)
    assert found.objective == pytest.approx(exhaustive_nonnegative(A, 1, 4).objective, rel=1e-9)


def digits():
    return datasets.load("digit_pixels").covariance().submatrix(np.arange(0, 240, 7))


def test_real_pixels_are_proven():
    A = digits()
    found = branch_and_bound_nonnegative(A, 1, 10)
    assert found.stopped == "gap reached"
    assert found.gap <= 1e-8
    assert check(found.certificate | {"A": A}).holds


@pytest.mark.filterwarnings("ignore::fspca.ConvergenceWarning")
@pytest.mark.parametrize("options", [{"max_iter": 1}, {"gap": 0.05}])
def test_a_search_that_ends_early_claims_what_it_knows(options):
    A = digits()
    best = branch_and_bound_nonnegative(A, 1, 12)
    found = branch_and_bound_nonnegative(A, 1, 12, **options)
    assert found.objective <= best.objective * (1 + 1e-9) <= found.upper_bound * (1 + 2e-9)
    verdict = check(found.certificate | {"A": A})
    assert verdict.holds
    assert verdict.bound <= found.upper_bound * (1 + 1e-6)


def test_no_time_leaves_an_answer_and_a_bound():
    found = branch_and_bound_nonnegative(digits(), 1, 12, max_seconds=0)
    assert found.stopped == "max_seconds"
    assert found.certificate is None
    assert found.upper_bound >= branch_and_bound_nonnegative(digits(), 1, 12).objective


def test_an_interruption_keeps_the_best_and_its_bound():
    def stop(news):
        raise KeyboardInterrupt

    A = digits()
    found = branch_and_bound_nonnegative(A, 1, 12, progress=stop)
    assert found.stopped == "interrupted"
    assert check_solution(A, found)
    assert found.upper_bound >= branch_and_bound_nonnegative(A, 1, 12).objective


def test_the_relaxation_needs_its_nonnegative_copy():
    """On two camps against each other the bound with signs is twice the optimum."""
    v = np.array([1.0, 1.0, -1.0, -1.0])
    relaxation = NonnegativeRelaxation(np.outer(v, v), Nonnegative(1, 4))
    everything = np.arange(4), np.zeros(4, dtype=bool)
    source = relaxation.descend(*everything, relaxation.start)
    bound = min((next(source)[0] for _ in range(30)), key=lambda each: each.value)
    assert bound.value == pytest.approx(2, rel=1e-6)
    without = relaxation.checked.bound(*everything, bound.arrays | {"N": np.zeros((4, 4))})
    assert without.value > 3.9


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="m=2 must be 1; solve_nonnegative bounds several"):
        branch_and_bound_nonnegative(np.eye(3), 2, 1)
    with pytest.raises(ValueError, match="gap=-1 must be"):
        branch_and_bound_nonnegative(np.eye(3), 1, 1, gap=-1)
    assert branch_and_bound_nonnegative(Covariance(np.zeros((3, 3))), 1, 2).objective == 0
