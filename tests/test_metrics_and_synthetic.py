"""Metrics against their definitions, synthetic covariances against their promises."""

import numpy as np
import pytest

from fspca import metrics, synthetic
from fspca.covariance.linalg import fix_signs, largest, random_subspace


def test_subspace_distance_agrees_with_projectors():
    rng = np.random.default_rng(0)
    U, V = random_subspace(7, 3, rng), random_subspace(7, 3, rng)
    difference = U @ U.T - V @ V.T
    assert metrics.subspace_distance(U, V) == pytest.approx(np.linalg.norm(difference) / 2**0.5)
    spectral = metrics.subspace_distance(U, V, norm="spectral")
    assert spectral == pytest.approx(np.linalg.norm(difference, 2))
    assert metrics.subspace_distance(U, U @ random_subspace(3, 3, rng)) == pytest.approx(
        0, abs=1e-7
    )


def test_normalised_explained_variance_of_pca_is_one():
    A = synthetic.make_scheme("D", seed=1)
    W = np.linalg.eigh(A)[1][:, -3:]
    assert metrics.normalised_explained_variance(A, W) == pytest.approx(1)
    twice = np.repeat(W[:, :1], 2, axis=1)  # overlap does not count twice
    assert metrics.normalised_explained_variance(A, twice) < 1
    assert metrics.normalised_explained_variance(1e-9 * A, twice) < 1


def test_ratio_error_and_frequency():
    assert metrics.intersection_ratio([3, 1], [1, 2, 3, 4]) == 0.5
    assert metrics.relative_error(75.0, 100.0) == metrics.relative_error(0.375, 0.5) == 0.25
    assert metrics.relative_error(0.0, 0.0) == 0
    with pytest.raises(ValueError, match="optimum=0.0 must be positive"):
        metrics.relative_error(1.0, 0.0)
    assert metrics.hit_frequency([1e-3, 1.1e-3]) == 0.5


@pytest.mark.parametrize("basis", ["uniform", "haar"])
@pytest.mark.parametrize("name", "ABCD")
def test_schemes_have_their_spectrum(name, basis):
    A = synthetic.make_scheme(name, d=15, seed=3, basis=basis)
    assert np.linalg.eigvalsh(A)[::-1] == pytest.approx(
        synthetic.scheme_spectrum(name, 15), abs=1e-9
    )
    assert np.array_equal(A, synthetic.make_scheme(name, d=15, seed=3, basis=basis))
    assert not np.allclose(A, synthetic.make_scheme(name, d=15, seed=4, basis=basis))


def test_uniform_basis_leans_towards_the_ones_vector_and_haar_does_not():
    ones = np.full(20, 20**-0.5)

    def lean(basis):
        tops = (
            np.linalg.eigh(synthetic.make_scheme("B", seed=s, basis=basis))[1][:, -1]
            for s in range(30)
        )
        return np.mean([abs(v @ ones) for v in tops])

    assert lean("uniform") > 0.95
    assert lean("haar") < 0.4


def test_spectra_of_the_corollaries():
    assert synthetic.exponential_spectrum(3, 0.5) == pytest.approx(np.exp([-0.5, -1.0, -1.5]))
    assert synthetic.zipf_spectrum(3, 2) == pytest.approx([1, 1 / 4, 1 / 9])


def test_spiked_samples_have_the_covariance_promised():
    X, U = synthetic.make_spiked(n=200_000, d=6, m=2, k=3, strength=4.0, seed=1)
    # entries of a sample covariance of 200,000 draws: standard error at most 5 / sqrt(n) = 0.011
    assert np.cov(X.T) == pytest.approx(np.eye(6) + 4 * U @ U.T, abs=0.06)
    assert not U[3:].any()


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="name='G' must be one of 'A'"):
        synthetic.make_scheme("G")
    with pytest.raises(ValueError, match="name='AB' must be one of"):
        synthetic.make_scheme("AB")
    with pytest.raises(ValueError, match="basis='qr' must be one of"):
        synthetic.make_scheme("A", basis="qr")


def test_ties_and_signs_are_settled_once():
    assert largest([1, 2, 2, 2], 2).tolist() == [1, 2]
    V = fix_signs(np.array([[1.0, -3.0], [-2.0, 1.0]]))
    assert V.tolist() == [[-1.0, 3.0], [2.0, -1.0]]


def test_sparse_pair_has_the_covariance_of_its_model():
    """Also with any orthonormal completion: only the two sparse directions matter."""
    d, rng = 25, np.random.default_rng(0)
    _, V = synthetic.make_sparse_pair(1, d)
    basis = np.linalg.qr(np.c_[V, rng.random((d, d - 2))])[0]
    spectrum = np.r_[400.0, 300, np.ones(d - 2)]
    model = np.eye(d) + V @ np.diag([399.0, 299.0]) @ V.T
    assert np.allclose((basis * spectrum) @ basis.T, model)
    X, _ = synthetic.make_sparse_pair(40_000, d, noise=3.0, seed=1)
    factors = np.r_[np.ones(20), np.full(d - 20, 3.0)]
    expected = model * np.outer(factors, factors)
    error = np.abs(X.T @ X / len(X) - expected) / np.sqrt(
        np.outer(np.diag(expected), np.diag(expected)) + expected**2
    )
    assert error.max() < 5 / np.sqrt(len(X))  # five standard errors, for each of 325 entries


def test_sparse_pair_needs_room():
    with pytest.raises(ValueError, match="d=19 must be at least 20"):
        synthetic.make_sparse_pair(5, 19)


def test_a_line_is_not_a_plane():
    plane, line = np.eye(3)[:, :2], np.eye(3)[:, [0, 0]]
    assert metrics.subspace_distance(line, plane) == pytest.approx(0.5**0.5)
    assert metrics.subspace_distance(line, plane, norm="spectral") == 1
    assert metrics.subspace_distance(line, line) == pytest.approx(0, abs=1e-12)
    assert metrics.subspace_distance(0 * line, line) == pytest.approx(0.5**0.5)
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((2, 6, 3))
    V[:, 2] = V[:, :2] @ rng.standard_normal(2)  # rank 2
    P, Q = (M @ np.linalg.pinv(M) for M in (U, V))
    assert metrics.subspace_distance(U, V) == pytest.approx(np.linalg.norm(P - Q) / 2**0.5)
    assert metrics.subspace_distance(U, V, "spectral") == pytest.approx(np.linalg.norm(P - Q, 2))


def test_norms_are_two():
    with pytest.raises(ValueError, match="norm='nuclear' must be one of 'frobenius'"):
        metrics.subspace_distance(np.eye(2), np.eye(2), norm="nuclear")


def test_a_plane_has_no_distance_from_a_line_of_another_shape():
    with pytest.raises(ValueError, match=r"U has shape \(2, 2\), V \(2, 1\); they must"):
        metrics.subspace_distance(np.eye(2), np.eye(2)[:, :1])


def test_of_nothing_all_is_explained():
    assert metrics.normalised_explained_variance(np.zeros((3, 3)), np.eye(3)[:, :1]) == 1
