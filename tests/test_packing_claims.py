"""Claims of packed supports: what they bound is true by enumeration, and no margin is for show."""

from unittest.mock import patch

import numpy as np
import pytest
from packing_claims import SPARE, best_packing, component, disjoint_claim, of_blocks
from test_second_checker import arrays_of, second_holds

from fspca import check_certificate
from fspca.check_certificate import check, partitions

COUNT = 40  # covariances; ten times as many by night


def drawn(seed):
    """(A, counts, features in all) of up to three components on few features.

    Half of them have small integers and equal counts, whose programmes are often fractional.
    """
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 4))
    d = int(rng.integers(m + 1, 7))
    if seed % 4 < 2:
        m, d = 2 + seed % 3 // 2, int(rng.integers(4, 8))
        B = rng.integers(-2, 3, (int(rng.integers(2, d + 1)), d)).astype(float)
        return B.T @ B, [2] * m, min(d, 2 * m)
    B = rng.standard_normal((d, d))
    A = B.T @ B
    counts = rng.integers(1, 4, m).tolist()
    k = min(d, sum(counts))
    if rng.random() < 0.5 and m < k:
        k -= 1
        counts = [k - m + 1] * m
    return (A + A.T) / 2, counts, min(k, sum(counts))


def agree(seeds):
    """Every claim by enumeration holds for three judges, and none that claims less does."""
    fractional = 0
    for seed in seeds:
        A, counts, k = drawn(seed)
        claim, least = disjoint_claim(A, counts, k, nonnegative=bool(seed % 2))
        fractional += least > 1 + 1e-9
        verdict = check(claim)
        assert verdict.holds, (seed, verdict)
        assert verdict.bound >= best_packing(A, counts, k, bool(seed % 2))[0] * (1 - 1e-14)
        assert check(claim, exact=True).holds, seed
        if seed % 8 == 0:
            assert second_holds(arrays_of(claim)), seed
    return fractional


def test_the_best_packing_is_proven_by_enumeration():
    fractional = [116, 177]  # so that columns and families are tried
    assert agree([*range(COUNT), *fractional]) == 2


@pytest.mark.nightly
def test_the_best_packing_is_proven_by_enumeration_by_night(record_property):
    record_property("instances", 10 * COUNT)
    assert agree(range(COUNT, 11 * COUNT)) > 4


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_worse_answer_is_not_claimed_to_be_the_best(seed):
    """The same prices, trees and columns with another answer: its gap is what it is."""
    A, counts, k = drawn(seed)
    nonnegative = bool(seed % 2)
    claim, _ = disjoint_claim(A, counts, k, nonnegative)
    W = np.eye(len(A))[:, np.argsort(np.diag(A))[: len(counts)]]
    value = np.trace(W.T @ A @ W)
    best = best_packing(A, counts, k, nonnegative)[0]
    short = max(best / value - 1 - SPARE, 0)
    if best > value * (1 + 3 * SPARE):
        for exact in (False, True):
            assert not check({**claim, "W": W, "gap": short}, exact=exact).holds


@pytest.mark.parametrize("seed", range(10))
def test_no_orthonormal_answer_is_above_a_claim_of_blocks(seed):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((6, 6))
    A = (B.T @ B + (B.T @ B).T) / 2
    picked = best_packing(A, [3, 2], 5, False)[1]
    W = np.zeros((6, 2))
    for j, S in enumerate(picked):
        W[list(S), j] = component(A, S, False)[1]
    verdict = check(of_blocks(A, [3, 2], W))
    assert verdict.holds, verdict
    for _ in range(200):  # two columns that share two features
        w, u, order = np.zeros(6), np.zeros(6), rng.permutation(6)
        w[order[:3]] = rng.standard_normal(3)
        u[order[1:3]] = w[order[2]], -w[order[1]]
        assert w @ A @ w / (w @ w) + u @ A @ u / (u @ u) <= verdict.bound * (1 + 1e-12)


def test_ways_to_divide_are_all_and_each_once():
    assert partitions((3, 3)) == {((3,), (3,)), ((3, 3),)}
    assert partitions((2, 2, 2)) == {((2,), (2,), (2,)), ((2, 2), (2,))}  # three on two do not fit
    assert partitions((3, 1)) == {((3,), (1,))}  # a column of one feature shares none
    assert len(partitions((5,) * 6)) == 11  # of the number 6
    assert len(partitions((9, 8, 7, 6))) == 15  # of four different things


def test_a_margin_that_is_taken_away_lets_a_false_claim_through():
    """Small prices are lost beside a large one when they are added; so is what they stand for.

    Four of five features explain 3 and three times 2^-53, and the answer only two times as much.
    """
    small = 2.0**-53
    claim = {
        "version": 1, "kind": "packing", "m": 4, "k": 4, "gap": 0.0,
        "A": np.diag([1.5, *[0.5 + small] * 3, 0.5]), "counts": np.ones(4, dtype=int),
        "W": np.eye(5)[:, [0, 1, 2, 4]], "prices": np.array([[1.0, small, small, small, 0]]),
        "trees": np.array([[0, 1, 1]]), "targets": np.array([0.5]),
        "tree0_G_0": np.zeros((5, 0)), "tree0_s_0": np.array(2.0),
    }  # fmt: skip
    assert not check(claim).holds
    assert not check(claim, exact=True).holds
    assert not second_holds(arrays_of(claim))
    assert check({**claim, "gap": 1e-13, "targets": np.array([0.5 + 1e-14])}).holds
    with patch.multiple(check_certificate, gamma=lambda n: 0.0, UNIT=0.0, TINY=0.0):
        assert check(claim).holds
