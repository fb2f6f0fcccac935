"""On dask the same questions have the same answers, and only small blocks come back."""

import os
import signal

import dask
import dask.array as da
import numpy as np
import pytest
from dask.callbacks import Callback
from dask.distributed import Client, LocalCluster

from fspca import Covariance, go, ipu
from fspca.covariance.dask_data import Dask
from fspca.shared_support import swap

M, K, N, D = 2, 6, 240, 60
CHUNKS = {"rows": (37, D), "both": (50, 17), "one": (N, D)}


def data(dtype=float):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 5)) * [5, 4, 3, 2, 2] @ rng.standard_normal((5, D)) * 0.3
    return (X + rng.standard_normal((N, D)) * np.linspace(1, 2, D) + 5).astype(dtype)


def spread(X, chunks="both"):
    return da.from_array(X, chunks=CHUNKS[chunks])


@pytest.fixture
def alone(monkeypatch):
    """The scheduler in this process; the matrix is not formed, so that all is read from chunks."""
    monkeypatch.setattr("fspca.covariance.covariance.FORMED_SIZE", 0)
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("options", [{}, {"center": False, "divisor": 1}, {"standardize": True}])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_every_question_is_answered_as_in_memory(chunks, options, dtype):
    X = abs(data(dtype))
    there, here = (
        Covariance.from_data(spread(X, chunks), **options),
        Covariance.from_data(X, **options),
    )
    assert isinstance(there._source.base, Dask)
    rows, V = np.array([50, 3, 18, 19]), np.random.default_rng(1).standard_normal((D, 3))
    near = {"rtol": 1e-9, "atol": 1e-9 * here.diagonal().max()}
    np.testing.assert_allclose(there.diagonal(), here.diagonal(), **near)
    np.testing.assert_allclose(there.submatrix(rows), here.submatrix(rows), **near)
    np.testing.assert_allclose(there.columns(rows), here.columns(rows), **near)
    products = 1e-9 if dtype != np.float32 else 1e-4  # some hundred roundings of 6e-8
    near["atol"] = products * here.diagonal().max() * D
    np.testing.assert_allclose(there.product(V), here.product(V), **near)
    np.testing.assert_allclose(there.product(V[rows], rows), here.product(V[rows], rows), **near)


@pytest.mark.usefixtures("alone")
def test_means_far_above_the_deviation_do_not_cancel():
    X = data() + 1e6
    there = Covariance.from_data(spread(X))
    exact = np.cov((X - X[0]).T)
    np.testing.assert_allclose(there.product(np.eye(D)), exact, atol=1e-8 * exact.max())


@pytest.mark.usefixtures("alone")
def test_only_small_blocks_come_back_and_graphs_do_not_grow():
    A = Covariance.from_data(spread(data()))
    source, sizes = A._source.base, []
    before = source.received
    with Callback(start=lambda graph: sizes.append(len(graph))):
        end = swap(A, M, K, init=np.arange(K))
    assert len(end.history) > 3
    assert source.received - before <= 8 * (D * K + K) + (len(end.history) - 1) * 8 * (D + 1)
    assert end.passes == len(sizes) == len(end.history)
    assert max(sizes[1:]) == min(sizes[1:]) <= sizes[0]
    before, passes = source.received, A.passes
    A.product(np.ones((D, M)))
    assert (source.received - before, A.passes - passes) == (8 * M * (D + 1), 1)


@pytest.mark.usefixtures("alone")
def test_a_chunk_with_nan_is_named():
    X = data()
    X[120, 20] = np.nan
    with pytest.raises(ValueError, match="rows 100 to 149 and columns 17 to 33"):
        Covariance.from_data(spread(X))


@pytest.mark.usefixtures("alone")
def test_what_dask_cannot_say_is_asked_for():
    X = spread(data(), "rows")
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        Covariance.from_data(X[X[:, 0] > 5])


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        dask.config.set({"distributed.worker.daemon": False}),
        LocalCluster(dashboard_address=":0", **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_two_worker_processes_give_the_same_answers(client, monkeypatch):
    monkeypatch.setattr("fspca.covariance.covariance.FORMED_SIZE", 0)
    A, here = Covariance.from_data(spread(data())), Covariance.from_data(data())
    assert len(client.scheduler_info()["workers"]) == 2
    for solver in (ipu, go, swap):
        end, known = solver(A, M, K), solver(here, M, K)
        assert np.array_equal(end.support, known.support)
        assert end.objective == pytest.approx(known.objective, rel=1e-12)


def test_a_worker_killed_in_the_middle_changes_nothing(client, monkeypatch):
    monkeypatch.setattr("fspca.covariance.covariance.FORMED_SIZE", 0)
    A = Covariance.from_data(spread(data(), "rows"))
    known, asked = swap(Covariance.from_data(data()), M, K, init=np.arange(K)), []

    def kill(news):
        asked.append(news)
        if news.step == 2:
            worker = next(iter(client.run(os.getpid).values()))
            os.kill(worker, signal.SIGKILL)

    end = swap(A, M, K, init=np.arange(K), progress=kill)
    assert len(asked) > 3
    assert np.array_equal(end.support, known.support)
    assert end.objective == pytest.approx(known.objective, rel=1e-12)


@pytest.mark.parametrize("mean", [3, 3000])  # far above the deviation, a shift is taken off first
def test_float32_chunks_give_a_submatrix_in_float64_and_products_in_their_own(mean):
    X = (np.random.default_rng(0).standard_normal((60, 8)) + mean).astype(np.float32)
    X[0] /= 4.0  # less the shift it has more digits than float32 holds
    source = Dask(da.from_array(X, chunks=(20, 3)), True, 59, False, 2**30)
    exact = np.cov(X.astype(float), rowvar=False)
    rows = np.array([0, 3, 7])
    found = source.submatrix(rows)
    near = {"rtol": 0, "atol": 1e-12 * exact.max()}
    np.testing.assert_allclose(found, exact[np.ix_(rows, rows)], **near)
    error = np.abs(source.product(np.ones((8, 1))) - exact.sum(axis=1, keepdims=True)).max()
    assert 1e-9 < error / exact.max() < 1e-4  # roundings of 6e-8, and not of 1e-16
