"""The oracle, against an enumeration that shares no code with it."""

from importlib import import_module
from itertools import combinations

import numpy as np
import pytest

from fspca import exhaustive
from fspca.synthetic import make_scheme

module = import_module("fspca.shared_support.exhaustive")  # the room names the function so


def brute_force(A, m, k):
    def value(support):
        return np.sort(np.linalg.eigvals(A[np.ix_(support, support)]).real)[-m:].sum()

    return max(map(value, combinations(range(len(A)), k)))


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("k", [3, 4, 7])
@pytest.mark.parametrize("name", "CEF")
def test_agrees_with_brute_force(name, m, k):
    A = make_scheme(name, 7, 2)
    assert exhaustive(A, m, k).objective == pytest.approx(brute_force(A, m, k), rel=1e-10)


def test_small_batches_give_the_same_answer(monkeypatch):
    A = make_scheme("F", 12, 0)
    whole = exhaustive(A, 2, 5)
    monkeypatch.setattr(module, "BATCH_BYTES", 8 * 25 * 10)
    calls = []
    parts = exhaustive(A, 2, 5, progress=calls.append)
    assert len(calls) == 80  # 792 supports, 10 at a time
    assert np.array_equal(parts.support, whole.support)
    assert parts.n_iter == 792
    assert whole.gap == 0


def test_memory_of_a_batch_is_bounded():
    sizes = [
        next(module._batches(np.arange(20), k, (), module.BATCH_BYTES // (8 * k * k))).shape
        for k in (5, 10)
    ]
    assert all(8 * n * k * k <= module.BATCH_BYTES for n, k in sizes)


def test_the_first_of_equal_supports_is_kept():
    assert exhaustive(np.eye(6), 1, 3).support.tolist() == [0, 1, 2]
    A = np.kron(np.eye(2), make_scheme("F", 4, 1))  # two equal blocks
    assert exhaustive(A, 1, 4).support.tolist() == [0, 1, 2, 3]


def test_refuses_with_advice():
    with pytest.raises(ValueError, match="max_supports=10; use ipu"):
        exhaustive(np.eye(6), 1, 3, max_supports=10)
