"""SRT: like SOAP, but the rows are chosen before they are orthonormalised."""

import numpy as np
import pytest

from fspca import ConvergenceWarning, ipu
from fspca.covariance.linalg import random_subspace
from fspca.shared_support import soap, srt
from fspca.shared_support.srt import product_rows
from fspca.synthetic import make_scheme

pytestmark = pytest.mark.filterwarnings("ignore::fspca.ConvergenceWarning")


def by_the_book(A, W, k, steps):
    for _ in range(steps):
        Z = A @ W
        drop = np.argsort(-np.linalg.norm(Z, axis=1))[k:]
        Z[drop] = 0
        W = np.linalg.qr(Z)[0]
        W[drop] = 0
    return W


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_the_definition_step_by_step(seed):
    A = make_scheme("F", 12, seed)
    start = random_subspace(12, 3, np.random.default_rng(seed))
    solution = srt(A, 3, 6, init=start, max_iter=7)
    W = by_the_book(A, start, 6, len(solution.history))
    assert np.linalg.norm(W @ W.T - solution.W @ solution.W.T) < 1e-6  # of well-separated rows
    assert solution.objective == pytest.approx(np.trace(W.T @ A @ W), rel=1e-9)


def test_the_objective_may_fall():
    falls = [
        np.diff(srt(make_scheme("D", seed=s), 3, 7, init="random", seed=s).history).min() < -1e-6
        for s in range(50)
    ]
    assert 5 <= sum(falls) < 50


def test_it_follows_the_first_component_where_soap_does_not():
    """The weight of a direction is its variance: two weak features lose to a strong one's tail."""
    strong, weak = np.array([6.0, 1, 1, 0, 0]), np.array([0, 0, 0, 1.0, 1])
    A = 100 * np.outer(strong, strong) + np.outer(weak, weak) + 0.1 * np.eye(5)
    W = np.linalg.eigh(A)[1][:, -2:]
    assert srt(A, 2, 3, init=W, max_iter=1).support.tolist() == [0, 1, 2]
    assert soap(A, 2, 3, init=W, max_iter=1).support.tolist() == [0, 3, 4]


@pytest.mark.parametrize("seed", range(20))
def test_for_one_component_all_three_choose_the_same_rows(seed):
    """With m = 1 the three scores differ by a factor only."""
    A, start = make_scheme("F", 12, seed), np.random.default_rng(seed).standard_normal((12, 1))
    supports = [method(A, 1, 5, init=start, refined=True).support for method in (soap, srt)] + [
        ipu(A, 1, 5, init=start).support
    ]
    assert np.array_equal(supports[0], supports[1])
    assert np.array_equal(supports[0], supports[2])


def test_a_support_without_an_eigengap_takes_long_and_says_so():
    A = make_scheme("F", 30, 38)
    with pytest.warns(ConvergenceWarning, match="srt stopped at max_iter=500 "):
        slow = srt(A, 5, 10, init="random", seed=38, max_iter=500)
    values = np.linalg.eigvalsh(A[np.ix_(slow.support, slow.support)])
    assert values[-6] / values[-5] > 0.99
    assert srt(A, 5, 10, init=slow.W, refined=True).n_iter <= 2  # the support had settled


def test_scored_rows_are_the_product_scaled():
    AW = make_scheme("F", 8, 0)[:, :2]
    Z = product_rows(AW, AW[:2])
    assert pytest.approx(1.0) == np.abs(Z).max()
    assert Z / Z[0, 0] == pytest.approx(AW / AW[0, 0])
