"""Tables from files: what is read, and a sentence for what is not."""

import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from fspca.datasets import files
from fspca.datasets.tables import TableError, read_table


@pytest.mark.parametrize(("ending", "comma"), [("csv", ","), ("tsv", "\t")])
def test_text_with_and_without_names(tmp_path, ending, comma):
    file = tmp_path / f"data.{ending}"
    file.write_text(f"a{comma}b\n1{comma}2\n3{comma}4.5\n", encoding="utf-8-sig")
    table = read_table(file)
    assert table.names == ("a", "b")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4.5]])
    file.write_text(f"1{comma}2\n3{comma}4.5\n")
    assert read_table(file, header=False).names is None


def test_arrays_and_sparse_data(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.savez(tmp_path / "a.npz", X=X, names=["a", "b"])
    assert read_table(tmp_path / "a.npz").names == ("a", "b")
    scipy.sparse.save_npz(tmp_path / "s.npz", scipy.sparse.csr_array(X))
    scipy.io.mmwrite(tmp_path / "m.mtx", scipy.sparse.coo_array(X))
    scipy.io.mmwrite(tmp_path / "d.mtx", X)
    for name in ("s.npz", "m.mtx", "d.mtx"):
        read = read_table(tmp_path / name).X
        np.testing.assert_array_equal(read.toarray() if scipy.sparse.issparse(read) else read, X)


def pickled():
    buffer = io.BytesIO()
    np.savez(buffer, X=np.array([[print]], dtype=object))
    return buffer.getvalue()


def bomb():
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=np.zeros((2**10, 2**10)))
    assert len(buffer.getvalue()) < 2**14
    return buffer.getvalue()


HEAD = "%%MatrixMarket matrix coordinate real general\n"
WRONG = {
    "no such file": ("absent.csv", None, "there is no such file"),
    "ending": ("a.docx", b"PK", "the ending must be one of .csv"),
    "empty": ("a.csv", b"", "the file is empty"),
    "names alone": ("a.csv", b"a,b\n", "no line follows the names"),
    "a label, no number": ("a.csv", b"a,b\n1,2\n3,1_0\n", "'1_0' must be a finite number"),
    "ragged": ("a.csv", b"a,b\n1,2\n3\n", "line 3: has 1 cells where 2 are wanted"),
    "text": ("a.csv", b"a,b\n1,2\n3,x\n", r"line 3, column 2 \('b'\): 'x' must be a finite number"),
    "infinite": ("a.tsv", b"a\tb\n1\t2\n1e999\t3\n", r"line 3, column 1 \('a'\): 'inf' must be"),
    "bytes": ("a.csv", b"a,b\n\x81\x8d,2\n", "not to be read as csv"),
    "quote": ("a.csv", b'a,b\n"x,2\n', 'a quote, ", is opened and not closed'),
    "a field too long": ("a.csv", b"a\n" + b"1" * 200_000, "not to be read as csv"),
    "truncated": ("a.npz", pickled()[:40], "not to be read as npz"),
    "pickled": ("a.npz", pickled(), "not to be read as npz"),
    "bomb": ("a.npz", bomb, "unfolds to"),
    "two arrays": ("a.npz", {"a": [[1.0]], "b": [[1.0]]}, "an array X is wanted"),
    "one dimension": ("a.npz", {"X": [1.0, 2.0]}, r"has shape \(2,\)"),
    "other names": ("a.npz", {"X": [[1.0, 2.0]], "names": ["a"]}, "names 1 of 2 columns"),
    "index too far": (
        "a.npz",
        {"data": [1.0], "indices": [9], "indptr": [0, 1], "shape": [1, 2], "format": "csr"},
        "not to be read as npz",
    ),
    "no square": (
        "a.mtx",
        HEAD.replace("general", "symmetric").encode() + b"3 2 1\n3 1 1\n",
        "3 x 2 cannot be symmetric",
    ),
    "no market": ("a.mtx", b"hello", "not to be read as mtx"),
    "complex": ("a.mtx", HEAD.replace("real", "complex").encode() + b"1 1 1\n1 1 1 1\n", "complex"),
    "too large": ("a.mtx", HEAD.encode() + b"1 9999999999 1\n1 1 1\n", "too many"),
    "outside": ("a.mtx", HEAD.encode() + b"2 2 1\n3 3 1\n", "not to be read as mtx"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_file_that_is_wrong_gets_a_sentence(tmp_path, monkeypatch, case):
    monkeypatch.setattr(files, "LARGEST", 2**20)
    name, content, said = WRONG[case]
    content = content() if callable(content) else content
    if isinstance(content, dict):
        np.savez(tmp_path / name, **{key: np.array(value) for key, value in content.items()})
    elif content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=said) as told:
        read_table(tmp_path / name)
    assert str(tmp_path / name) in str(told.value)
