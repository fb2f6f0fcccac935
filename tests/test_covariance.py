"""A covariance answers the same, whatever it is made from and however it is seen."""

import tracemalloc

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from numpy.testing import assert_allclose

from fspca import Covariance, go
from fspca.covariance import covariance as covariance_module
from fspca.covariance import leading
from fspca.covariance.data import Data
from fspca.covariance.sources import Dense
from fspca.synthetic import make_scheme, with_spectrum

# Sums of some hundred products of numbers near 1 in another order differ by rounding only.
ROUNDING = {"rtol": 1e-9, "atol": 1e-9}
ROWS = np.array([1, 4, 5])


def data(n=30, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.arange(1, d + 1) + 3.0
    X[rng.random((n, d)) < 0.4] = 0.0
    return X


def reference(X, center, divisor):
    Z = X - X.mean(axis=0) if center else X
    return Z.T @ Z / {"n-1": len(X) - 1, "n": len(X)}.get(divisor, divisor)


def memory_mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


KINDS = {
    "array": lambda X, folder: X,
    "memory-mapped": memory_mapped,
    "csr": lambda X, folder: scipy.sparse.csr_array(X),
    "csc matrix": lambda X, folder: scipy.sparse.csc_matrix(X),
}


def assert_same(covariance, A):
    """Every question of the contract, against the plain array."""
    d = len(A)
    V, W = np.arange(2.0 * d).reshape(d, 2) / d, np.ones((len(ROWS), 2))
    assert covariance.size == d
    assert_allclose(covariance.trace, np.trace(A), **ROUNDING)
    assert_allclose(covariance.diagonal(), np.diag(A), **ROUNDING)
    assert_allclose(covariance.submatrix(ROWS), A[np.ix_(ROWS, ROWS)], **ROUNDING)
    assert_allclose(covariance.product(V), A @ V, **ROUNDING)
    assert_allclose(covariance.product(W, ROWS), A[:, ROWS] @ W, **ROUNDING)
    values, vectors = covariance.leading(3)
    assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:3], **ROUNDING)
    assert_allclose(A @ vectors, vectors * values, rtol=1e-6, atol=1e-6)  # residual of Lanczos


@pytest.mark.parametrize("small", [0, 500])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("divisor", ["n-1", "n", 1, 2.5])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data_gives_the_covariance(
    kind, divisor, center, small, tmp_path, monkeypatch
):
    monkeypatch.setattr(covariance_module, "FORMED_SIZE", small)  # 0: never form d x d
    monkeypatch.setattr(covariance_module, "DENSE_SIZE", small)
    X = data()
    covariance = Covariance.from_data(KINDS[kind](X, tmp_path), center=center, divisor=divisor)
    A = reference(X, center, divisor)
    assert_same(covariance, A)
    Z = covariance.factor
    assert_allclose(Z.T @ (Z @ np.eye(len(A))), A, **ROUNDING)


@pytest.mark.parametrize("kind", KINDS)
def test_combinators_agree_with_arithmetic_on_arrays(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(covariance_module, "FORMED_SIZE", 0)
    X = data()
    covariance = Covariance.from_data(KINDS[kind](X, tmp_path))
    A, d = reference(X, True, "n-1"), X.shape[1]
    x = np.ones(d) / np.sqrt(d)
    project = np.eye(d) - np.outer(x, x)
    columns = np.array([7, 0, 2, 3, 5, 6])
    assert_same(covariance.shifted(2.0), A + 2 * np.eye(d))
    assert_same(covariance.deflated(x), project @ A @ project)
    assert_same(covariance.restricted(columns), A[np.ix_(columns, columns)])
    assert_same(
        covariance.shifted(2.0).deflated(x).restricted(columns),
        (project @ (A + 2 * np.eye(d)) @ project)[np.ix_(columns, columns)],
    )
    for seen, expected in (
        (covariance.deflated(x), project @ A @ project),
        (covariance.restricted(columns), A[np.ix_(columns, columns)]),
    ):
        Z = seen.factor
        assert_allclose(Z.T @ (Z @ np.eye(seen.size)), expected, **ROUNDING)


def test_data_is_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("fspca.covariance.data.BLOCK_BYTES", 8 * 8 * 7)  # 7 rows of 8 features
    monkeypatch.setattr(covariance_module, "FORMED_SIZE", 0)
    X = data(n=30)
    covariance = Covariance.from_data(memory_mapped(X, tmp_path))
    assert sum(1 for _ in covariance._source.base.blocks()) == 5
    assert_same(covariance, reference(X, True, "n-1"))
    Z = covariance.factor
    assert_allclose(Z.T @ (Z @ np.eye(8)), reference(X, True, "n-1"), **ROUNDING)


def test_float32_data_is_summed_in_float64():
    X = (data(n=300) + 1000).astype(np.float32)
    exact = reference(X.astype(float), True, "n-1")
    # float32 sums would be wrong by about 1e-7 * 1000^2 * 300 / 300 = 0.1
    assert_allclose(Covariance.from_data(X).submatrix(np.arange(8)), exact, rtol=1e-9, atol=1e-7)


def test_zeros_and_ones_are_data():
    X = data() > 3
    assert_same(Covariance.from_data(X), reference(X.astype(float), True, "n-1"))


@pytest.mark.parametrize("mean", [1e3, 1e7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_data_with_large_means_is_centred_without_cancellation(mean, dtype):
    X = (np.random.default_rng(0).standard_normal((300, 8)) + mean).astype(dtype)
    exact = reference(X.astype(float), True, "n-1")
    covariance = Covariance.from_data(scipy.sparse.csr_array(X))
    assert_allclose(covariance.submatrix(np.arange(8)), exact, rtol=1e-7, atol=1e-9)


def test_sparse_data_with_duplicate_entries_is_summed_and_left_alone():
    X = scipy.sparse.csc_array(([1.0, 2.0, 4.0], [0, 0, 1], [0, 2, 3]), shape=(3, 2))
    covariance = Covariance.from_data(X, center=False, divisor=1)
    assert covariance.diagonal().tolist() == [9.0, 16.0]
    assert len(X.data) == 3


def test_wide_data_never_forms_the_covariance():
    X = np.random.default_rng(0).standard_normal((20, 3000))
    covariance = Covariance.from_data(X)
    assert not isinstance(covariance._source, Dense)
    values, _ = covariance.leading(3)
    assert_allclose(values, np.linalg.svd(X - X.mean(0))[1][:3] ** 2 / 19, rtol=1e-9)


@pytest.mark.parametrize("d", [600, 1500])
def test_lanczos_finds_every_copy_of_a_repeated_eigenvalue(d):
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((d, d)))[0]
    spectrum = np.ones(d)
    spectrum[:6] = 100, 100, 100, 50, 50, 10
    covariance = Covariance((Q * spectrum) @ Q.T)
    assert_allclose(covariance.leading(8)[0], [100, 100, 100, 50, 50, 10, 1, 1], rtol=1e-8)


def test_many_copies_in_blocks_are_all_found():
    """A hundred equal blocks: every eigenvalue comes a hundred times, and none may be missed."""
    block = make_scheme("F", 20, 0) + 0.1 * np.eye(20)
    values, _ = Covariance(np.kron(np.eye(40), block)).leading(21)
    assert_allclose(values, np.linalg.eigvalsh(block)[-1], rtol=1e-9)


def test_iterated_eigenvectors_are_deterministic_and_do_not_depend_on_what_was_asked_before():
    A = with_spectrum(np.r_[np.full(6, 5.0), np.ones(694)], 0)
    first, second = Covariance(A), Covariance(A)
    second.leading(10)
    assert np.array_equal(first.leading(3)[1], second.leading(3)[1])
    assert np.array_equal(go(np.eye(600), 3, 5).W, go(np.eye(600), 3, 5).W)


@pytest.mark.parametrize("k", [100, 400])
def test_asking_for_more_than_the_distinct_eigenvalues(k):
    """LAPACK's subset driver returns 3 of 10 pairs here."""
    U = np.linalg.qr(np.random.default_rng(0).random((k, 3)))[0]
    values, vectors = Covariance((U * [30.0, 20, 10]) @ U.T + np.eye(k)).leading(10)
    assert_allclose(values, [31, 21, 11] + [1] * 7, rtol=1e-9)
    assert vectors.shape == (k, 10)


def test_zero_and_identity_survive_at_lanczos_size():
    assert_allclose(Covariance(np.zeros((600, 600))).leading(2)[0], 0, atol=1e-12)
    assert_allclose(Covariance(np.eye(600)).leading(3)[0], 1, rtol=1e-12)
    X = np.random.default_rng(0).standard_normal((3, 2000))
    values, vectors = Covariance.from_data(X).leading(5)  # rank 2
    assert_allclose(values[2:], 0, atol=1e-9)
    assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-9)


def test_ridge_is_seen_and_can_be_taken_off():
    A = reference(data(), True, "n")
    covariance = Covariance(A, ridge=0.5)
    assert_same(covariance, A + 0.5 * np.eye(8))
    assert_same(covariance.plain, A)
    assert covariance.restricted(ROWS).ridge == 0.5
    assert_same(covariance.shifted(1.0).plain, A + np.eye(8))


def test_input_is_copied_and_answers_are_our_own():
    A = reference(data(), True, "n")
    before, covariance = A.copy(), Covariance(A)
    A[:] = 0
    covariance.diagonal()[:] = -1
    covariance.leading(2)[0][:] = -1
    assert_same(covariance, before)


def test_factor_is_refused_where_there_is_none():
    with pytest.raises(ValueError, match="has no factor"):
        _ = Covariance(np.eye(3)).factor
    with pytest.raises(ValueError, match="has no factor"):
        _ = Covariance.from_data(data(), ridge=0.1).factor
    with pytest.raises(ValueError, match="has no factor"):
        _ = Covariance(np.eye(3)).deflated([1.0, 0.0, 0.0]).factor
    assert repr(Covariance(np.eye(3), ridge=0.1)) == "Covariance(3 features, dense, ridge=0.1)"


def test_features_that_are_not_there_are_refused():
    A = Covariance(np.eye(8))
    for rows in ([0, 8], [-1, 2]):
        with pytest.raises(ValueError, match="must be features between 0 and 7"):
            A.submatrix(rows)
    for m in (0, 9):
        with pytest.raises(ValueError, match=f"m={m} must lie between 1 and d=8"):
            A.leading(m)
    assert A.leading(1)[0].tolist() == [1.0]


def test_columns_are_given_whole_or_in_part():
    A = reference(data(), True, "n")
    assert_allclose(Covariance(A).columns([1, 2]), A[:, [1, 2]])
    assert_allclose(Covariance(A).columns([1, 2], among=[0, 3]), A[[0, 3]][:, [1, 2]])


def test_eigenvalues_are_known_where_they_are_cheap_or_were_asked_for(monkeypatch):
    X, A = data(), reference(data(), True, "n-1")
    largest = np.linalg.eigvalsh(A)[::-1]
    assert_allclose(Covariance(A).known_leading(2), largest[:2])
    monkeypatch.setattr(covariance_module, "FORMED_SIZE", 0)
    streamed = Covariance.from_data(X.view(np.memmap))
    monkeypatch.setattr(covariance_module, "DENSE_SIZE", 4)
    for dear in (streamed, Covariance.from_data(X)):
        assert dear.known_leading(2) is None
        dear.leading(2)
        assert_allclose(dear.known_leading(2), largest[:2])
        assert dear.known_leading(3) is None


def test_streamed_eigenvalues_are_not_cheap(monkeypatch):
    monkeypatch.setattr(covariance_module, "FORMED_SIZE", 0)
    assert Covariance.from_data(data().view(np.memmap)).known_leading(2) is None


def test_wide_data_are_their_factor_where_they_fit(monkeypatch):
    X = data()[:5]
    A, fits = Covariance.from_data(X), 8 * X.size
    assert A.wide_factor() is None  # few features
    monkeypatch.setattr(covariance_module, "DENSE_SIZE", 7)
    for found in (A.wide_factor(), Covariance.from_data(X, max_memory=fits).wide_factor(6)):
        assert_allclose(found.T @ found, reference(X, True, "n-1"), **ROUNDING)
        assert found.shape == X.shape
    assert A.wide_factor(5) is None
    assert Covariance.from_data(X, max_memory=fits - 1).wide_factor() is None
    assert Covariance.from_data(data()).wide_factor() is None
    assert Covariance(np.eye(8)).wide_factor() is None
    monkeypatch.setattr(covariance_module, "DENSE_SIZE", 8)
    assert A.wide_factor() is None


def test_the_unit_is_a_power_of_four_near_the_largest_variance():
    edge = 2.0**covariance_module.COMMON
    for top in (0.0, 1.0, edge, 1 / edge):
        assert Covariance(np.diag([top, 0.0])).unit == 1
    for top in (1e200, 3e-200, 4 * edge):
        unit = Covariance(np.diag([top, top * 1e-30])).unit
        assert 0.5 <= top / unit <= 2
        assert np.log2(unit) % 2 == 0


def test_multiples_are_those_of_the_ridge_too():
    A = reference(data(), True, "n")
    assert_same(Covariance(A, ridge=0.5).scaled(4.0), 4 * A + 2 * np.eye(8))


def test_a_shift_may_take_what_is_there_up_to_rounding():
    A = Covariance(np.diag([1e6, 1.0]))
    for sigma in (-1.0, -1.0 - 1e-7):
        assert A.shifted(sigma).diagonal()[1] == pytest.approx(0, abs=2e-7)
    for sigma in (-1.0 - 1e-5, np.nan):
        with pytest.raises(ValueError, match="leave no variance negative"):
            A.shifted(sigma)


def test_square_data_are_formed():
    assert repr(Covariance.from_data(data()[:8])) == "Covariance(8 features, dense)"
    assert "dense" not in repr(Covariance.from_data(data()[:7]))


def test_no_component_of_nan_is_deflated():
    with pytest.raises(ValueError, match="must be a unit vector"):
        Covariance(np.eye(3)).deflated([np.nan, 0, 0])


@pytest.mark.parametrize("given", [True, False])
def test_a_copy_that_single_vectors_miss_is_found(given, monkeypatch):
    """Single vectors are made to miss the second copy; both looks at what is left must see it."""
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((60, 60)))[0]
    spectrum = np.r_[5.0, 5.0, 4.0, np.linspace(3, 1, 57)]
    A, honest = (Q * spectrum) @ Q.T, leading.leading_of_operator

    def missing(product, d, m, tol=1e-12, width=None, together=None, *steps):
        if together is None or m == 1:
            return honest(product, d, m, tol, width, together, *steps)
        values, V = honest(product, d, m + 1, tol, 30)
        return values[[0, 2, 3]], V[:, [0, 2, 3]]  # without one copy of the largest

    monkeypatch.setattr(leading, "leading_of_operator", missing)
    values, V = leading.leading_in_memory(lambda V: A @ V, 60, 3, matrix=A if given else None)
    assert_allclose(values, spectrum[:3], rtol=1e-12)
    assert_allclose(A @ V, V * values, atol=1e-10)


@pytest.mark.parametrize("width", [3, 12])
def test_streamed_eigenpairs_take_few_blocks_and_few_passes(width):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 5)) * [6, 5, 4, 3, 2] @ rng.standard_normal((5, 700)) * 0.3
    X += rng.standard_normal((2000, 700))
    A, passes = X.T @ X / 2000, []

    def product(V):
        passes.append(V.shape[1])
        return A @ V

    values, _ = leading.leading_of_operator(product, 700, 5, width=5 * width)
    assert_allclose(values, np.linalg.eigvalsh(A)[:-6:-1], rtol=1e-12)
    assert set(passes) == {5}
    assert len(passes) <= 15


def test_the_basis_of_streamed_eigenpairs_is_four_blocks():
    d, m = 100_000, 10
    spectrum = np.r_[np.linspace(20, 10, m), 1 / np.arange(1, d - m + 1)][:, None]
    tracemalloc.start()
    leading.leading_of_operator(lambda V: spectrum * V, d, m)
    peak = tracemalloc.get_traced_memory()[1] / (8 * d * m)
    tracemalloc.stop()
    assert peak < 4.2  # the basis 3, its product 1, and some thousand rows at a time


def test_eigenpairs_of_tall_sparse_data_take_four_blocks():
    n, d, m, rng = 30_000, 40_000, 10, np.random.default_rng(0)
    places = np.repeat(np.arange(n), 5), (d * rng.random(5 * n) ** 3).astype(int)
    A = Covariance.from_data(scipy.sparse.csr_array((np.ones(5 * n), places), shape=(n, d)))
    tracemalloc.start()
    values, V = A.leading(m)
    peak = tracemalloc.get_traced_memory()[1] / (8 * d * m)
    tracemalloc.stop()
    assert np.linalg.norm(A.product(V) - V * values) <= 1e-11 * values[0]
    assert peak < 4  # the basis 2.5, the answer 1, some single vectors


@pytest.mark.parametrize("dtype", ["float16", "float32", "longdouble"])
def test_whatever_the_type_of_a_covariance_the_check_computes_in_float64(dtype, monkeypatch):
    seen, cholesky = [], scipy.linalg.cholesky

    def noted(R, **options):
        seen.append(R.dtype)
        return cholesky(R, **options)

    monkeypatch.setattr("scipy.linalg.cholesky", noted)
    Covariance(np.eye(2, dtype=dtype))
    assert seen == [np.float64]


def test_where_a_span_is_invariant_blocks_find_all_copies_at_once(monkeypatch):
    """Seven eigenvalues above 593 copies of the last need no factorisation."""
    A = Covariance(make_scheme("D", 600))
    monkeypatch.setattr(np.linalg, "cholesky", lambda *_: pytest.fail("a factorisation"))
    values = A.leading(10)[0]
    assert values == pytest.approx(np.linalg.eigvalsh(A.submatrix(np.arange(600)))[:-11:-1])


def test_of_a_tall_table_nothing_is_copied_twice():
    """Of a table that is one block there is one copy, which is centred in place."""
    X = np.random.default_rng(0).standard_normal((20_000, 40))
    source = Data(X, True, 1.0, False, np.inf)
    rows = np.arange(40)
    tracemalloc.start()
    source.submatrix(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * X.nbytes
    np.testing.assert_array_equal(source.submatrix(rows), source.restricted(rows).submatrix(rows))


def test_one_sample_is_enough_only_where_nothing_is_estimated_from_it():
    one, two = np.ones((1, 3)), np.eye(2, 3)
    assert Covariance.from_data(one, center=False, divisor="n").trace == 3.0
    assert Covariance.from_data(one, center=False, divisor=2).trace == 1.5
    for given in ({"divisor": "n"}, {"center": False}, {"divisor": 2}, {}):
        with pytest.raises(ValueError, match="X has n=1 samples; .* need at least 2"):
            Covariance.from_data(one, **given)
        assert Covariance.from_data(two, **given).size == 3


def test_data_without_variance_are_no_fault_and_numbers_whose_squares_vanish_are():
    for value in (0.0, 0.5, 3.0, 1e-120):  # the square of the last is a number, if a small one
        assert Covariance.from_data(np.full((4, 2), value)).trace == 0.0
    assert Covariance.from_data(np.full((4, 2), 0.25), center=False).trace > 0
    small = np.eye(4, 2)
    assert Covariance.from_data(1e-149 * small).trace > 0
    least = np.full((2, 2), 2.0**-511)  # its square is the smallest normal number
    assert Covariance.from_data(least, center=False, divisor="n").trace == 2 * 2.0**-1022
    with pytest.raises(ValueError, match="whose squares are below"):
        Covariance.from_data(least / 2, center=False, divisor="n")
    for scale in (1e-160, -1e-170):
        with pytest.raises(ValueError, match="entries of at most 1e-1.0, whose squares are below"):
            Covariance.from_data(scale * small)
