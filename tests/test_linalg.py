"""The rule for ties, and bases without rounding."""

import numpy as np
import pytest

from fspca import Covariance
from fspca.covariance.linalg import (
    ACCURACY,
    ALIKE,
    TIE,
    basis,
    largest,
    leading_of_matrix,
    random_subspace,
)


def test_ties_go_to_the_smallest_index():
    rng = np.random.default_rng(0)
    for _ in range(50):
        score = rng.integers(0, 4, 12) * 1.0
        wobble = score * (1 + ALIKE / 4 * rng.uniform(-1, 1, 12))
        for k in (1, 4, 11):
            order = np.argsort(-score, kind="stable")
            assert largest(score, k).tolist() == sorted(order[:k])
            assert np.array_equal(largest(wobble, k), largest(score, k))


@pytest.mark.parametrize("k", [10, 990])
def test_the_largest_of_many_are_those_of_a_sort(k):
    """Of many numbers a partition at the wrong place leaves the others in disorder."""
    score = np.random.default_rng(0).standard_normal(1000)
    assert largest(score, k).tolist() == sorted(np.argsort(-score)[:k])


def test_a_random_subspace_is_given_by_an_orthonormal_basis():
    W = random_subspace(5, 2, np.random.default_rng(0))
    assert pytest.approx(np.eye(2)) == W.T @ W


def test_leading_pairs_are_as_many_as_asked_for_and_descend():
    A = np.diag([1.0, 4.0, 2.0, 3.0])
    for m in (1, 2, 4):
        values, vectors = leading_of_matrix(A, m)
        assert values.tolist() == [4.0, 3.0, 2.0, 1.0][:m]
        assert np.array_equal(np.argmax(vectors, axis=0), [1, 3, 2, 0][:m])
        assert vectors == pytest.approx(np.eye(4)[:, [1, 3, 2, 0][:m]])


def test_rounding_is_less_than_what_ties_by_far_less_than_a_difference():
    assert 100 * np.finfo(float).eps < TIE < ALIKE
    assert 100 * np.finfo(float).eps < ACCURACY < ALIKE  # residuals move no score across a tie


def test_what_differs_by_more_is_no_tie():
    assert largest([1.0, 1.0 + 10 * ALIKE, 1.0], 1).tolist() == [1]
    assert largest([2.0, 1.0, 1.0 + 10 * ALIKE], 2).tolist() == [0, 2]


def test_scores_that_are_rounding_beside_the_largest_tie():
    assert largest([1.0, 1e-16, 3e-16, 2e-16], 2).tolist() == [0, 1]
    assert largest([0.0, 0.0, 0.0], 2).tolist() == [0, 1]


def test_standardised_variances_tie_however_they_were_summed():
    """The last digits of a variance depend on the order in which its samples are added."""
    X = np.random.default_rng(1).standard_normal((4000, 8)) * np.geomspace(1e-3, 1e3, 8)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for rows in (slice(None), slice(None, None, -1), np.argsort(X[:, 0])):
        variances = Covariance.from_data(X[rows]).diagonal()
        assert largest(variances, 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("noise", [0.0, 1e-13, 1e-9])
def test_a_basis_leaves_out_what_is_rounding(noise):
    W = np.eye(4)[:, [0, 1, 0]]
    W[3, 2] = noise
    assert basis(W, 1e-8).shape == (4, 2)
    assert basis(0 * W, 1e-8).shape == (4, 0)
