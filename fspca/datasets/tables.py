"""Tables from files: CSV, TSV, npz, Matrix Market, and parquet where pandas reads it."""

import csv
import math
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy
import scipy.sparse

from fspca.datasets import files


class TableError(ValueError):
    """What is wrong with a file, and where.

    One sentence, which names the file, and the line and column where it has some.

    See Also
    --------
    read_table : Raises it, and nothing else.

    Examples
    --------
    >>> try:
    ...     read_table("nowhere.csv")
    ... except TableError as error:
    ...     print(error)
    nowhere.csv: there is no such file
    """


class Table(NamedTuple):
    """Data X (samples x features) and the names of its columns, None where the file has none.

    It unpacks into the two.

    Parameters
    ----------
    X : array (n x d), or sparse
        The data.
    names : tuple of str
        Of the columns.

    See Also
    --------
    read_table : Returns one.

    Examples
    --------
    >>> X, names = Table(np.eye(2), ("a", "b"))
    >>> names
    ('a', 'b')
    """

    X: np.ndarray
    names: tuple[str, ...] | None


def read_table(path: str | Path) -> Table:
    r"""Return the Table in a file; its ending says which kind it is.

    In CSV and TSV the first line holds the names of the columns unless all of it are numbers.
    An npz is read without pickle, and what a file unfolds to is bounded.

    Parameters
    ----------
    path : str or Path
        A file ending in .csv, .tsv, .npz, .mtx or .parquet.

    Returns
    -------
    Table
        Its data and names.

    See Also
    --------
    fspca.Covariance.from_data : Takes the data.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "table.csv")
    ...     _ = file.write_text("height,width\n1,2\n3,4\n")
    ...     read_table(file)
    Table(X=array([[1., 2.],
           [3., 4.]]), names=('height', 'width'))
    """
    path = Path(path)
    if not path.is_file():
        raise TableError(f"{path}: there is no such file")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise TableError(f"{path}: the ending must be one of {', '.join(READERS)}")
    try:
        table = reader(path)
    except TableError:
        raise
    except Exception as error:  # whatever the readers of a format raise on what is not in it
        told = str(error) or type(error).__name__
        raise TableError(f"{path}: not to be read as {path.suffix[1:]}: {told}") from None
    if table.X.ndim != 2 or 0 in table.X.shape:
        raise TableError(f"{path}: has shape {table.X.shape}; samples in rows are wanted")
    if table.names is not None and len(table.names) != table.X.shape[1]:
        raise TableError(f"{path}: names {len(table.names)} of {table.X.shape[1]} columns")
    return table


def delimited(path):
    """Return the Table of a text file; what is no number is named with its line and column."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        between = "\t" if path.suffix.lower() == ".tsv" else ","
        rows = csv.reader(file, delimiter=between, strict=True)
        lines = [(rows.line_num, row) for row in rows if row]
    if not lines:
        raise TableError(f"{path}: the file is empty")
    names = None
    if any(number(cell) is None for cell in lines[0][1]):
        names = tuple(cell.strip() for cell in lines.pop(0)[1])
    if not lines:
        raise TableError(f"{path}: no line follows the names of the columns")
    width = len(lines[0][1]) if names is None else len(names)
    X = np.empty((len(lines), width))
    for i, (line, row) in enumerate(lines):
        if len(row) != width:
            raise TableError(f"{path}, line {line}: has {len(row)} cells where {width} are wanted")
        for j, cell in enumerate(row):
            value = number(cell)
            if value is None or not math.isfinite(value):
                column = j + 1 if names is None else f"{j + 1} ({names[j]!r})"
                at = f"{path}, line {line}, column {column}"
                raise TableError(f"{at}: {cell[:40]!r} must be a finite number")
            X[i, j] = value
    return Table(X, names)


def number(cell):
    """Return a cell as a float, or None where it is no number."""
    try:
        return None if "_" in cell else float(cell)  # 1_0 is a label, not ten
    except ValueError:
        return None


def archived(path):
    """Return the Table in an npz: sparse data of scipy, or its array X, else its only one."""
    with files.open_archive(path) as file:
        kept = sorted(file.files)
        if {"data", "format", "shape"} <= set(kept):
            return sparse_table(path, scipy.sparse.load_npz(path))
        name = "X" if "X" in kept else kept[0] if len(kept) == 1 else None
        if name is None:
            raise TableError(f"{path}: holds {', '.join(kept) or 'nothing'}; an array X is wanted")
        names = tuple(map(str, file["names"])) if "names" in kept else None
        return Table(np.asarray(file[name]), names)


def sparse_table(path, X):
    """Return the Table of a sparse matrix whose indices lie within it."""
    limit(path, *X.shape, X.nnz)
    if hasattr(X, "check_format"):  # compiled loops follow the indices wherever they lead
        X.check_format(full_check=True)
    return Table(scipy.sparse.csr_array(X), None)


def limit(path, rows, columns, entries):
    """Refuse a shape that no file of this size fills."""
    if 8 * max(rows, columns, entries) > files.LARGEST:
        raise TableError(f"{path}: says {rows} x {columns} with {entries} entries, too many")


def market(path):
    """Return the Table of a Matrix Market file."""
    rows, columns, entries, kind, field, symmetry = scipy.io.mminfo(path)
    limit(path, rows, columns, rows * columns if kind == "array" else entries)
    if symmetry != "general" and rows != columns:  # mmread would write beyond its arrays
        raise TableError(f"{path}: {rows} x {columns} cannot be {symmetry}")
    if field not in ("real", "integer", "unsigned-integer", "pattern", "double"):
        raise TableError(f"{path}: holds {field} numbers; they must be real")
    with warnings.catch_warnings():  # of what mmread will return one day
        warnings.simplefilter("ignore", DeprecationWarning)
        X = scipy.io.mmread(path)
    return Table(X, None) if kind == "array" else sparse_table(path, X)


def parquet(path):
    """Return the Table of a parquet file, read by pandas."""
    try:
        import pandas as pd

        frame = pd.read_parquet(path)
    except ImportError as missing:
        ways = "parquet needs pandas and pyarrow: pip install 'fspca[frames]' pyarrow"
        raise TableError(f"{path}: {ways} ({missing})") from None
    for name, column in frame.items():
        if column.dtype.kind not in "iufb" or column.isna().any():
            raise TableError(f"{path}, column {name!r}: must hold finite numbers, all of them")
    return Table(frame.to_numpy(dtype=float), tuple(map(str, frame.columns)))


READERS = {".csv": delimited, ".tsv": delimited, ".npz": archived, ".mtx": market,
           ".parquet": parquet}  # fmt: skip


def named(columns):
    """Return names of columns as a tuple of text, None for None."""
    return None if columns is None else tuple(map(str, columns))
