"""Metrics against their definitions, synthetic covariances against their promises."""

from itertools import permutations

import numpy as np
import pytest

from fspca import Covariance, metrics, synthetic
from fspca.covariance.linalg import fix_signs, largest, most_on_diagonal, random_subspace
from fspca.problem import objective


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


def drawn(seed):
    """Data, and unit loadings of few nonzeros, some of them copies or nearly so."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 9)), int(rng.integers(2, 8))
    m = int(rng.integers(1, min(4, d) + 1))
    Z, W = rng.standard_normal((n, d)) * rng.uniform(0.01, 3, d), np.zeros((d, m))
    for j in range(m):
        rows = rng.choice(d, int(rng.integers(1, d + 1)), replace=False)
        W[rows, j] = rng.standard_normal(len(rows))
    if m > 1 and seed % 3 == 0:
        W[:, -1] = W[:, 0] + (0.0, 1e-9, 1e-3)[seed % 9 // 3] * rng.standard_normal(d)
    return Z, W / np.linalg.norm(W, axis=0)


@pytest.mark.parametrize("seed", range(150))
def test_the_chain_of_measures(seed):
    Z, W = drawn(seed)
    A, m = Z.T @ Z, W.shape[1]
    zou = [metrics.adjusted_variance(A, W[:, order]) for order in permutations(range(m))]
    pca = np.linalg.eigvalsh(A)[-m:].sum()
    own, plain = metrics.explained_by_factors(A, W), objective(A, W)
    chain = [
        max(zou),
        own,
        metrics.explained_by_subspace(A, W),
        metrics.predicted_variance(A, W),
        pca,
    ]
    # of copies but for 1e-9 a root of a variance is known to 1e-8 of the largest
    assert np.diff(chain).min() >= -1e-7 * pca, chain
    assert own <= plain * (1 + 1e-12)
    if m == 1:
        assert [zou[0], own] == pytest.approx([plain] * 2)


@pytest.mark.parametrize("seed", range(60))
def test_explained_by_factors_is_the_most_of_all_rotations(seed):
    Z, W = drawn(seed)
    scores, m = Z @ W, W.shape[1]
    most = metrics.explained_by_factors(Z.T @ Z, W)
    if len(Z) < m:
        return  # there are no m orthonormal factors among so few samples
    rng, best = np.random.default_rng(seed), 0.0
    for _ in range(30):  # the alternation of the definition, from many starts
        U = random_subspace(len(Z), m, rng)
        for _ in range(200):
            left, _, right = np.linalg.svd(
                scores * np.einsum("ij,ij->j", U, scores), full_matrices=False
            )
            U = left @ right
        best = max(best, np.sum(np.einsum("ij,ij->j", U, scores) ** 2))
    assert best <= most * (1 + 1e-7)  # rounding of nearly equal columns, as above
    assert best >= most * (1 - 1e-4)  # the alternation ends slowly, and below


@pytest.mark.parametrize("seed", range(20))
def test_of_two_components_no_angle_explains_more(seed):
    Z = np.random.default_rng(seed).standard_normal((5, 2))
    values, V = np.linalg.eigh(K := Z.T @ Z)
    root, angles = (V * np.sqrt(values)) @ V.T, np.linspace(0, np.pi, 20001)
    turned = np.array([np.cos(angles), np.sin(angles)]), np.array([-np.sin(angles), np.cos(angles)])
    found = ((turned[0].T @ root[:, 0]) ** 2 + (turned[1].T @ root[:, 1]) ** 2).max()
    assert found <= most_on_diagonal(K) * (1 + 1e-12)
    assert most_on_diagonal(K) == pytest.approx(found, rel=1e-7)  # the grid's step, squared


def test_two_scores_that_correlate():
    r = 0.6
    A, W = np.array([[1.0, r], [r, 1.0]]), np.eye(2)
    assert objective(A, W) == metrics.explained_by_subspace(A, W) == 2
    assert metrics.adjusted_variance(A, W) == pytest.approx(2 - r**2)
    assert metrics.explained_by_factors(A, W) == pytest.approx(1 + np.sqrt(1 - r**2))


def test_without_unit_columns_the_chain_breaks():
    A, W = np.eye(2), np.array([[2.0], [0.0]])
    assert metrics.explained_by_factors(A, W) == 4 > metrics.explained_by_subspace(A, W)


def test_without_uncorrelated_scores_the_measures_differ():
    A = np.array([[1.0, 0.9], [0.9, 1.0]])
    spread = [metrics.adjusted_variance(A, np.eye(2)), metrics.explained_by_factors(A, np.eye(2)),
              objective(A, np.eye(2))]  # fmt: skip
    assert np.diff(spread).min() > 0.1
    V = np.linalg.eigh(A)[1]
    same = [each(A, V) for each in (metrics.adjusted_variance, metrics.explained_by_factors)]
    assert same == pytest.approx([objective(A, V)] * 2)


def test_with_all_features_factors_explain_what_pca_does_and_with_few_less():
    A = synthetic.make_scheme("F", 8, 1)
    values, V = np.linalg.eigh(A)
    assert metrics.explained_by_factors(A, V[:, -3:]) == pytest.approx(values[-3:].sum())
    cut = np.where(np.abs(V) >= np.sort(np.abs(V), axis=0)[-4], V, 0)[:, -3:]
    assert metrics.explained_by_factors(A, cut / np.linalg.norm(cut, axis=0)) < values[-3:].sum()


def two_planes(angle):
    """The example in which the span's variance has no maximum; columns that merge, by an angle."""
    e = np.array([1.0, 1, 0, 1, 1, 0, 0, 0])
    A = np.diag([1.0, 1, 5, 1, 1, 1, 1, 1]) + np.outer(e, e)
    W = np.zeros((8, 2))
    W[2, :] = np.cos(angle)
    W[[0, 1], 0] = W[[3, 4], 1] = np.sin(angle) / 2**0.5
    W[[3, 4], 1] *= -1
    return Covariance(A), W


def test_the_spans_variance_has_no_maximum_where_factors_have_one():
    """As columns merge the span nears PCA, which none reaches; uncorrelated factors lose."""
    span, own = [], []
    for angle in (0.3, 0.1, 0.01, 1e-4):
        A, W = two_planes(angle)
        span.append(metrics.explained_by_subspace(A, W))
        own.append(metrics.explained_by_factors(A, W))
    assert np.all(np.diff(span) > 0)
    assert span[-1] == pytest.approx(A.leading(2)[0].sum(), rel=1e-6)
    assert metrics.explained_by_subspace(*two_planes(0.0)) == pytest.approx(5)  # the jump
    assert own[-1] == pytest.approx(metrics.explained_by_factors(*two_planes(0.0)), rel=1e-3)


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
