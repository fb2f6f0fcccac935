"""Frames of pandas, polars and Arrow, and other data: numbers by name, and no dates."""

import datetime as dt

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from fspca import Covariance
from fspca.selection import select_k
from fspca.sklearn import SparsePrincipalSubspace, SparseSubspaceSelector

X = np.random.default_rng(0).standard_normal((20, 4))
NAMES = ("a", "b", "c", "d")
KINDS = {
    "pandas": pd.DataFrame,
    "pandas of Arrow": lambda table: pd.DataFrame(table).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "arrow": pa.table,
}
DAYS = [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(20)]
OTHERS = {
    "dates": DAYS,
    "times": [dt.datetime(2024, 1, 1, i) for i in range(20)],
    "durations": [dt.timedelta(days=i) for i in range(20)],
    "text": ["x", "y"] * 10,
}
DOORS = {
    "from_data": Covariance.from_data,
    "select_k": lambda table: select_k(table, 1, [1, 2], folds=2, subsamples=2, permutations=2),
    "transformer": lambda table: SparsePrincipalSubspace(1, 2).fit(table),
    "selector": lambda table: SparseSubspaceSelector(1, 2).fit(table),
}


def columns():
    return dict(zip(NAMES, X.T, strict=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("other", OTHERS)
def test_a_column_that_is_none_of_numbers_is_refused_by_name(kind, door, other):
    table = KINDS[kind](columns() | {"visit": OTHERS[other]})
    with pytest.raises(TypeError, match="column 'visit' of dtype .*: leave it out, X.drop"):
        DOORS[door](table)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_the_same_in_every_frame(kind):
    more = {"yes": [True, False] * 10, "count": list(range(20))}
    A = Covariance.from_data(KINDS[kind](columns() | more))
    assert A.names == (*NAMES, "yes", "count")
    plain = np.column_stack([X, np.arange(20) % 2 == 0, np.arange(20)])
    np.testing.assert_allclose(A.submatrix(range(6)), np.cov(plain.T), rtol=1e-12)
    model = SparsePrincipalSubspace(1, 3, scale=True).fit(KINDS[kind](columns()))
    assert tuple(model.feature_names_in_) == NAMES
    same = SparsePrincipalSubspace(1, 3, scale=True).fit(X)
    np.testing.assert_allclose(model.transform(KINDS[kind](columns())), same.transform(X))


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_value_is_one_in_every_frame(kind):
    table = columns() | {"e": [None, *range(19)], "f": [None, 1.5] * 10}
    A = Covariance.from_data(KINDS[kind](table), missing="em")
    assert A.size == 6
    with pytest.raises(ValueError, match="50 % in column 'f', 5 % in column 'e'"):
        Covariance.from_data(KINDS[kind](table))


def test_what_is_not_there_yet_is_asked_for():
    with pytest.raises(TypeError, match=r"hand over X\.collect\(\)"):
        Covariance.from_data(pl.LazyFrame(columns()))


@pytest.mark.parametrize("door", ["from_data", "select_k"])
def test_dask_with_sparse_chunks_is_refused_with_what_to_do(door):
    chunks = da.from_array(X, chunks=(5, 4)).map_blocks(scipy.sparse.csr_array)
    known = da.from_array(X, chunks=(5, 4))
    sparse = known.map_blocks(scipy.sparse.csr_array, meta=scipy.sparse.csr_array((0, 0)))
    for each in (chunks, sparse):
        with pytest.raises(TypeError, match=r"chunks of csr_array; make them dense"):
            DOORS[door](each)
    DOORS[door](sparse.map_blocks(lambda chunk: chunk.toarray(), dtype=float))
