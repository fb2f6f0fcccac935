"""Ordinary tables are read rightly, or refused with the option that would take them."""

import numpy as np
import pytest
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
