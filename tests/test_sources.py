"""Data are read where they are, no more often than said, and by blocks from anything with rows."""

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from fspca import Covariance, ipu, solve
from fspca.covariance import covariance as covariance_module
from fspca.covariance.sources import Source

M, K = 2, 5


def planted(n=60, d=40, seed=0, dtype=float):
    """Six features that move together in two ways, among noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 3:6] += 4 * rng.standard_normal((n, 1))
    X[:, 20:23] += 3 * rng.standard_normal((n, 1))
    return X.astype(dtype)


class Rows:
    """Gives slices of rows and nothing else, and counts the rows that it gave."""

    def __init__(self, X):
        self.X, self.shape, self.dtype, self.given = X, X.shape, X.dtype, 0

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        self.given += len(self.X[rows])
        return self.X[rows]


@pytest.fixture
def not_formed(monkeypatch):
    monkeypatch.setattr(covariance_module, "FORMED_SIZE", 0)
    monkeypatch.setattr("fspca.covariance.data.BLOCK_BYTES", 8 * 40 * 7)  # 7 rows of 40 features


@pytest.mark.usefixtures("not_formed")
def test_the_count_of_passes_is_the_count_of_rows_given():
    X = Rows(planted())
    A = Covariance.from_data(X)
    assert (A.passes, X.given) == (1, 60)
    A.product(np.eye(40)[:, :3])
    A.columns(np.arange(4))
    assert (A.passes, X.given) == (3, 180)


@pytest.mark.usefixtures("not_formed")
def test_columns_are_not_read_twice_and_their_product_is_free():
    X = planted()
    A, exact = Covariance.from_data(Rows(X)), np.cov(X.T)
    for rows, new in (([1, 4, 7], 1), ([1, 4, 7], 0), ([7, 9, 1], 1), ([9, 7], 0)):
        before = A.passes
        np.testing.assert_allclose(A.columns(np.array(rows)), exact[:, rows], atol=1e-12)
        np.testing.assert_allclose(
            A.submatrix(np.array(rows)), exact[np.ix_(rows, rows)], atol=1e-12
        )
        V = np.ones((len(rows), 1))
        np.testing.assert_allclose(A.product(V, np.array(rows)), exact[:, rows] @ V, atol=1e-12)
        assert A.passes - before == new
    with pytest.raises(ValueError, match="read-only"):
        A.columns(np.array([9, 7]))[0] = 0
    assert Covariance(exact).passes == 0


@pytest.mark.usefixtures("not_formed")
def test_where_memory_is_short_nothing_is_kept():
    A = Covariance.from_data(Rows(planted()), max_memory=100)
    A.columns([0, 1])
    A.columns([0, 1])
    assert A.passes == 3


@pytest.mark.usefixtures("not_formed")
def test_ipu_reads_streamed_data_once_a_step_and_once_at_the_start():
    rng = np.random.default_rng(3)
    X, poor = rng.standard_normal((60, 9)) @ rng.standard_normal((9, 40)), np.eye(40)[:, :M]
    known = ipu(np.cov(X.T), M, K, init=poor)
    streamed = Covariance.from_data(Rows(X))
    before = streamed.passes
    found = ipu(streamed, M, K, init=poor)
    assert len(found.history) >= 3
    assert found.passes == streamed.passes - before <= len(found.history) + 1
    assert np.array_equal(found.support, known.support)
    assert found.objective == pytest.approx(known.objective, rel=1e-12)


@pytest.mark.usefixtures("not_formed")
@pytest.mark.parametrize("kind", ["array", "csr", "csc"])
def test_data_are_neither_copied_nor_changed(kind):
    X = planted() if kind == "array" else scipy.sparse.random_array((60, 40), rng=0, format=kind)
    before = X.copy()
    A = Covariance.from_data(X)
    held, given = A._source.base.X, X
    if kind != "array":
        held, given = held.data, X.data
    assert np.shares_memory(held, given)
    A.product(np.eye(40))
    A.columns([2, 3])
    assert abs(X - before).max() == 0


@pytest.mark.usefixtures("not_formed")
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("ratio", [1e2, 1e6])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_centring_by_algebra_does_not_cancel(dtype, ratio, streamed):
    X = (planted() + ratio).astype(dtype)  # float32 holds four bits of a deviation at 1e6
    exact = np.cov(X.astype(np.longdouble).astype(float).T - float(X[0, 0]))
    A = Covariance.from_data(Rows(X) if streamed else X)
    reported = 1e-9 * exact.max()  # in float64: 1e-16 times the ratio, and its margin
    np.testing.assert_allclose(A.diagonal(), np.diag(exact), atol=reported)
    rows = np.arange(0, 40, 3)
    np.testing.assert_allclose(A.submatrix(rows), exact[np.ix_(rows, rows)], atol=reported)
    np.testing.assert_allclose(A.columns(rows), exact[:, rows], atol=reported)
    V = np.random.default_rng(0).standard_normal((40, 3))
    products = reported if dtype == np.float64 else 1e-5 * exact.max()  # 60 roundings of 6e-8
    np.testing.assert_allclose(A.product(V), exact @ V, atol=40 * products)


@pytest.mark.usefixtures("not_formed")
def test_float32_is_multiplied_in_float32_and_reported_in_float64():
    X = planted(dtype=np.float32)
    A, exact = Covariance.from_data(X), np.cov(X.astype(float).T)
    V = np.eye(40)
    assert {block.dtype for block in A._source.base.blocks()} == {np.dtype("f4")}
    assert A.product(V).dtype == np.float64
    assert 1e-9 < abs(A.product(V) - exact).max() < 1e-4
    for report in (A.submatrix(np.arange(40)), A.columns(np.arange(40)), A.precise.product(V)):
        np.testing.assert_allclose(report, exact, atol=1e-12)


def test_many_float32_samples_do_not_lose_the_sum():
    """Two million equal summands: one float32 sum over them would stop growing at 2^24."""
    X = np.ones((2_000_000, 30), dtype=np.float32) * np.float32(3.3)
    X[::2] = -X[::2]
    A = Covariance.from_data(X)
    np.testing.assert_allclose(A.product(np.ones((30, 1))), 30 * 3.3**2, rtol=1e-5)


@pytest.mark.parametrize("small", [0, 500])
@pytest.mark.parametrize("divisor", ["n-1", 1])
def test_standardised_data_have_the_correlations(small, divisor, monkeypatch):
    monkeypatch.setattr(covariance_module, "FORMED_SIZE", small)
    X = planted() * np.arange(1, 41) + 7
    X[:, 8] = 5.0
    for each in (X, Rows(X), scipy.sparse.csr_array(X)):
        A = Covariance.from_data(each, standardize=True, divisor=divisor)
        exact = np.zeros((40, 40))
        others = np.delete(np.arange(40), 8)
        exact[np.ix_(others, others)] = np.corrcoef(X[:, others].T)
        np.testing.assert_allclose(A.submatrix(np.arange(40)), exact, atol=1e-12)
        np.testing.assert_allclose(A.product(np.eye(40)), exact, atol=1e-12)
        if not small:  # the data say 1; formed, it is rounded
            assert A.diagonal().tolist() == np.diag(exact).round(12).tolist()


@pytest.mark.usefixtures("not_formed")
@pytest.mark.parametrize("chunks", [None, (5, 40), (60, 3)])
def test_hdf5_is_streamed(chunks, tmp_path):
    X = planted()
    with h5py.File(tmp_path / "X.h5", "w") as file:
        stored = file.create_dataset("X", data=X, chunks=chunks)
        A = Covariance.from_data(stored)
        assert repr(A) == "Covariance(40 features, streamed)"
        np.testing.assert_allclose(A.columns([3, 1]), np.cov(X.T)[:, [3, 1]], atol=1e-12)
        np.testing.assert_allclose(
            A.leading(3)[0], np.linalg.eigvalsh(np.cov(X.T))[:-4:-1], rtol=1e-9
        )
        assert np.array_equal(ipu(A, M, K).support, ipu(np.cov(X.T), M, K).support)


class Zarr(Rows):
    """What a zarr array answers: a shape, a dtype, chunks and slices of rows, as NumPy arrays."""

    chunks, ndim = (5, 40), 2

    def __array__(self, *_, **__):
        raise AssertionError("an array on a disk is not to be loaded whole")


@pytest.mark.usefixtures("not_formed")
def test_zarr_is_streamed():
    X = planted()
    A = Covariance.from_data(Zarr(X))
    assert repr(A) == "Covariance(40 features, streamed)"
    np.testing.assert_allclose(A.columns([3, 1]), np.cov(X.T)[:, [3, 1]], atol=1e-12)
    end = ipu(A, M, K)
    assert np.array_equal(end.support, ipu(np.cov(X.T), M, K).support)
    assert A.passes == 3  # nothing was kept whole: two for the columns, one for the eigenvectors


@pytest.mark.parametrize("dtype", ["u1", "i8", "f2", "f4", "f8", "g", "?", ">f8"])
def test_every_real_type_is_taken(dtype):
    X = (planted() > 0.5).astype(dtype)
    for each in (X, Rows(X)):
        A = Covariance.from_data(each)
        exact = np.cov(X.astype(float).T)
        np.testing.assert_allclose(A.submatrix(np.arange(40)), exact, atol=1e-12)


def test_a_frame_gives_its_numbers_and_names():
    frame = pd.DataFrame(planted(d=3), columns=["height", "age", "weight"])
    frame["age"] = pd.array(range(60), dtype="Int64")
    A = Covariance.from_data(frame)
    assert A.names == ("height", "age", "weight")
    assert A.restricted([2, 0]).names == ("weight", "height")
    np.testing.assert_allclose(A.diagonal(), frame.to_numpy(float).var(axis=0, ddof=1))
    with pytest.raises(ValueError, match="in column 'age'"):
        Covariance.from_data(frame.assign(age=pd.array([None, *range(59)], dtype="Int64")))
    with pytest.raises(TypeError, match="column 'age' of dtype"):
        Covariance.from_data(frame.assign(age="old"))


def test_a_sparse_frame_stays_sparse():
    frame = pd.DataFrame.sparse.from_spmatrix(scipy.sparse.random(60, 9, 0.2, random_state=0))
    A = Covariance.from_data(frame)
    np.testing.assert_allclose(A.diagonal(), frame.to_numpy().var(axis=0, ddof=1))


class AnnData:
    X = obsm = None


class Tensor:
    shape, dtype = (3, 2), "torch.float32"

    def __getitem__(self, rows):
        raise AssertionError


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (AnnData(), r"from_data\(adata.X\)"),
        (Tensor(), "dtype torch.float32, which NumPy does not know"),
        (iter(planted()), "must be an array, a DataFrame, or something with a shape"),
        (np.zeros((3, 2), "m8[s]"), "must hold real numbers"),
        (np.zeros((3, 2), complex), "must hold real numbers"),
        (np.ma.ones((3, 2)), "is masked"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(X, message):
    with pytest.raises(TypeError, match=message):
        Covariance.from_data(X)


class Smallest(Source):
    """The least that a source must answer."""

    def __init__(self, A):
        self.A, self.size = A, len(A)

    def diagonal(self):
        return np.diag(self.A).copy()

    def product(self, V, rows=None):
        return (self.A if rows is None else self.A[:, rows]) @ V


def test_a_size_a_diagonal_and_a_product_make_a_source():
    exact = np.cov(planted().T)
    found = ipu(Covariance.from_source(Smallest(exact)), M, K)
    assert np.array_equal(found.support, ipu(exact, M, K).support)


@pytest.mark.usefixtures("not_formed")
def test_the_gram_matrix_of_the_samples():
    X = planted(n=20, dtype=np.float32)
    for each in (X, scipy.sparse.csr_array(X)):
        A = Covariance.from_data(each, standardize=True)
        Z = (A.factor @ np.eye(40)).T
        np.testing.assert_allclose(A.gram(), Z.T @ Z, atol=1e-12)
        x = np.random.default_rng(0).standard_normal(40)
        R = A.deflated(x / np.linalg.norm(x))
        np.testing.assert_allclose(R.gram(), R.factor @ (R.factor.T @ np.eye(20)), atol=1e-12)
        part = A.restricted(np.arange(0, 40, 2))  # has none of what A remembers
        np.testing.assert_allclose(part.gram(), Z.T[:, ::2] @ Z[::2], atol=1e-12)
    assert Covariance(np.eye(3)).gram() is None


@pytest.mark.usefixtures("not_formed")
@pytest.mark.parametrize("kind", [np.asarray, Rows, scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_no_features_have_an_empty_submatrix(kind):
    A, nothing = Covariance.from_data(kind(planted())), np.empty(0, dtype=int)
    assert A.submatrix(nothing).shape == (0, 0)
    assert A.columns(nothing).shape == (40, 0)


def test_one_feature_of_wide_sparse_data():
    X = scipy.sparse.random_array((20, 600), density=0.1, rng=0)
    assert solve(Covariance.from_data(X), 1, 1).support == np.argmax(X.toarray().var(axis=0))
