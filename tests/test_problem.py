"""The judge finds every fault that an answer can have."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from fspca import Nonnegative, SeparateSupports, SharedSupport, check_solution, go
from fspca.judge import objective
from fspca.registry import oracle
from fspca.synthetic import make_scheme

A = make_scheme("F", 6, 0)
GOOD = go(A, 2, 3)
E2 = np.eye(6)[:, :2]
HALF = np.full((6, 1), 6**-0.5)


def changed(**what):
    return replace(GOOD, **{name: np.array(v) if name == "W" else v for name, v in what.items()})


@pytest.mark.parametrize(
    ("solution", "fault"),
    [
        (changed(W=2 * GOOD.W), "unit length"),
        (changed(W=GOOD.W[:, [0, 0]]), "not orthonormal"),
        (changed(W=GOOD.W[:, :1]), "shape"),
        (changed(W=np.full((6, 2), np.nan)), "not finite"),
        (changed(W=np.linalg.qr(np.ones((6, 2)) + E2)[0]), "outside the support"),
        (changed(support=np.arange(6)), "more than k=3"),
        (changed(objective=GOOD.objective * 1.001), "as claimed"),
        (changed(upper_bound=GOOD.objective * 0.999), "exceeds its bound"),
    ],
)
def test_each_fault_is_found(solution, fault):
    verdict = check_solution(A, solution)
    assert not verdict
    assert fault in str(verdict)


def test_a_good_answer_passes():
    verdict = check_solution(A, GOOD)
    assert verdict
    assert verdict.objective == pytest.approx(GOOD.objective)
    assert np.array_equal(verdict.support, GOOD.support)
    assert check_solution(A, GOOD.W, SharedSupport(2, 3))


def test_what_k_means_differs():
    W = np.zeros((6, 2))
    W[[0, 1], 0] = W[[2, 3], 1] = 0.5**0.5
    assert not check_solution(A, W, SharedSupport(2, 3))
    assert check_solution(A, W, SharedSupport(2, 4))
    assert check_solution(A, W, SeparateSupports(2, 2))
    assert check_solution(A, W, Nonnegative(2, 2))
    assert not check_solution(A, W, SeparateSupports(2, 1))
    assert "negative" in str(check_solution(A, -W, Nonnegative(2, 2)))


def test_separate_supports_do_not_count_variance_twice():
    twice = np.hstack([HALF, HALF])
    assert SeparateSupports(2, 6).score(A, twice) == pytest.approx(objective(A, HALF))
    assert objective(A, twice) == pytest.approx(2 * objective(A, HALF))
    x = np.abs(HALF[:, :1])
    doubled = np.hstack([x, x])
    assert Nonnegative(2, 6).score(A, doubled) == pytest.approx(objective(A, x))


def test_oracles():
    best = oracle(A, SharedSupport(1, 3)).objective
    assert oracle(A, SeparateSupports(1, 3)).objective == best
    assert oracle(A, SeparateSupports(2, 3)) is None
    assert oracle(A, Nonnegative(1, 3)).objective <= best
    assert oracle(A, Nonnegative(2, 3)) is None


def test_a_solution_is_frozen_and_prints_in_one_line():
    with pytest.raises(FrozenInstanceError):
        GOOD.objective = 0.0
    with pytest.raises(ValueError, match="read-only"):
        GOOD.W[0, 0] = 1.0
    assert "\n" not in str(GOOD)
    assert f"explains {GOOD.objective:.6g} (" in str(GOOD)
    assert "with m=2 components on 3 of 6 features" in str(GOOD)
    assert GOOD.gap is None
    assert "contradicted by the upper bound" in str(changed(upper_bound=0.9 * GOOD.objective))
    W = np.array(GOOD.W)
    changed(W=W)
    W[0, 0] = 1.0  # the caller's array is not frozen
    assert changed(upper_bound=1.1 * GOOD.objective).gap == pytest.approx(0.1)


def test_an_orthonormal_copy_is_judged_and_frozen():
    good = changed(orthonormal=np.eye(6)[:, :2])
    assert check_solution(A, good)
    assert not good.orthonormal.flags.writeable
    for bad in (np.eye(6)[:, :2] * (1 + 1e-7), np.eye(6)[:, [0, 0]], np.eye(5)[:, :2]):
        assert "`orthonormal` are not orthonormal" in str(
            check_solution(A, changed(orthonormal=bad))
        )
