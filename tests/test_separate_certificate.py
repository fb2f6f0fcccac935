"""Certificates of separate supports: what holds is believed, and no forger is."""

import re

import numpy as np
import pytest

from fspca import Covariance, solve_separate, upper_bound
from fspca.check_certificate import check
from fspca.synthetic import make_scheme


def claim_of(seed, k=(4, 3), slack=1e-9):
    """A claim and what it claims to be the bound: an answer with a factor for the union."""
    A, union = make_scheme("F", 14, seed), min(sum(k), 14)
    answer = solve_separate(A, len(k), list(k))
    bound = upper_bound(A, len(k), union, method="dual")
    gap = bound.bound / answer.objective - 1 + slack
    return {
        "version": 1, "kind": "separate", "m": len(k), "k": union, "counts": np.array(k),
        "A": (A + A.T) / 2, "W": np.array(answer.W), "gap": max(gap, slack), "G_0": bound.factor,
    }, answer  # fmt: skip


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_an_honest_claim_holds(seed, exact):
    claim, answer = claim_of(seed)
    verdict = check(claim, exact=exact)
    assert verdict.holds, verdict.reason
    assert verdict.value == pytest.approx(answer.objective, rel=1e-9)  # lowered by rounding
    assert verdict.value <= answer.objective * (1 + 1e-12)
    assert verdict.bound >= answer.objective


def test_columns_that_overlap_or_repeat_count_once():
    claim, answer = claim_of(0, (4, 4))
    claim["W"][:, 1] = claim["W"][:, 0]
    found = check(claim)
    assert not found.holds
    assert found.value < 0.9 * answer.objective


FORGERIES = {
    "a smaller gap": (lambda c: c.update(gap=c["gap"] * 0.5 - 1e-6), "above the claim|at least 0"),
    "a count too many": (lambda c: c["W"].__setitem__(np.s_[:, 1], 1.0), "more than its count"),
    "k of one component": (lambda c: c.update(k=4), "k must hold all counts"),
    "counts as truth values": (lambda c: c.update(counts=np.array([True, True])), "integers"),
    "one count": (lambda c: c.update(counts=np.array([7])), "counts must be m integers"),
    "no counts": (lambda c: c.pop("counts"), "no certificate"),
    "W of another shape": (lambda c: c.update(W=c["W"][:-1]), "W has shape"),
    "W with NaN": (lambda c: c["W"].__setitem__((0, 0), np.nan), "not finite"),
    "W zero": (lambda c: c.update(W=0 * c["W"]), "W is zero"),
    "a required feature": (lambda c: c.update(required=np.array([0])), "nothing required"),
    "a smaller matrix": (lambda c: c.update(A=c["A"] * 0.5), "above the claim"),
    "no factor": (lambda c: c.update(G_0=0 * c["G_0"]), "above the claim"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.parametrize("seed", range(3))
def test_a_forgery_is_refused(forgery, seed):
    claim, _ = claim_of(seed)
    forge, reason = FORGERIES[forgery]
    forge(claim)
    with np.errstate(all="ignore"):
        verdict = check(claim)
    assert not verdict.holds

    assert re.search(reason, verdict.reason), verdict.reason


@pytest.mark.parametrize("seed", range(30))
def test_the_value_is_never_above_the_exact_one(seed):
    """On loadings of awkward scales, nearly dependent columns among them; in few binary places,
    since exact arithmetic cuts longer ones off."""
    rng = np.random.default_rng(seed)
    claim, _ = claim_of(seed % 3)
    W = np.round(rng.standard_normal((14, 2)) * 2**10)
    W[4:, 0] = W[:11, 1] = 0
    if seed % 2:
        W[:, 1] = W[:, 0] + rng.integers(-1, 2, 14) * (W[:, 0] != 0)
        claim["counts"] = np.array([4, 4])
        claim["k"] = 8
    claim["W"] = W * 2.0 ** rng.integers(-9, 20, 2)
    claim["gap"] = 1e6
    floating, exact = check(claim), check(claim, exact=True)
    assert floating.holds
    assert exact.holds
    assert floating.value <= exact.value * (1 + 1e-15)
    assert floating.value >= exact.value * (1 - 1e-6) - 1e-9 * Covariance(claim["A"]).trace
