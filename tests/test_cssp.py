"""CSSP: leverage scores, and an encoder that regression cannot better."""

import numpy as np
import pytest

from fspca import Covariance
from fspca.shared_support import cssp
from fspca.shared_support.cssp import encoder
from fspca.synthetic import make_scheme


@pytest.mark.parametrize("seed", range(20))
def test_chooses_the_largest_leverage_scores(seed):
    A = make_scheme("F", 12, seed)
    V = np.linalg.eigh(A)[1][:, -3:]
    assert set(cssp(A, 3, 5).support) == set(np.argsort(-(V**2).sum(axis=1))[:5])


@pytest.mark.parametrize("seed", range(20))
def test_encoder_is_the_best_regression_on_its_features(seed):
    """||X - C B|| over B of rank m is least for C H (C H)^+ X, by Eckart and Young within C."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((15, 10)) * rng.uniform(0.5, 3, 10)
    support, m = np.sort(rng.choice(10, 5, replace=False)), 2
    A, C = Covariance.from_data(X, center=False, divisor=1), X[:, support]
    coded = C @ encoder(A, support, m)
    residual = np.linalg.norm(X - coded @ np.linalg.pinv(coded) @ X) ** 2
    inside = np.linalg.qr(C)[0].T @ X
    best = np.linalg.norm(X) ** 2 - np.sum(np.linalg.svd(inside)[1][:m] ** 2)
    assert residual == pytest.approx(best, rel=1e-9)
    assert coded.T @ coded == pytest.approx(np.eye(m), abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_refined_loadings_are_never_worse(seed):
    A = make_scheme("E", 12, seed)
    plain, refined = cssp(A, 3, 6), cssp(A, 3, 6, refined=True)
    assert np.array_equal(plain.support, refined.support)
    assert refined.objective >= plain.objective * (1 - 1e-12)


def test_with_all_features_the_encoder_is_pca():
    A = make_scheme("D", 8, 0)
    assert cssp(A, 3, 8).objective == pytest.approx(280, rel=1e-9)
