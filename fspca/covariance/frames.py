"""Frames of pandas, polars and Arrow: their numbers, the names of their columns, and no dates."""

import numpy as np

KINDS = "biuf"  # truth values, integers, floats


def is_frame(X):
    """Say whether X is a frame of pandas or polars, or a table of Arrow."""
    return hasattr(X, "columns") and (hasattr(X, "to_numpy") or hasattr(X, "column_names"))


def numbers_of_frame(X):
    """Return the numbers of a frame, missing ones as NaN, and its names; what is none, and None.

    A column of text or dates is refused by name: which columns are features is not guessed here.
    """
    if not is_frame(X):
        return X, None
    if hasattr(X, "collect_schema") and not hasattr(X, "to_numpy"):
        raise TypeError("X is a lazy frame of polars; hand over X.collect()")
    if hasattr(X, "column_names"):
        columns = [X.column(j) for j in range(X.num_columns)]
        return of_columns(X.column_names, columns, X.schema.types)
    names = tuple(map(str, X.columns))
    dtypes = list(X.dtypes)
    if hasattr(X, "get_columns"):
        return of_columns(names, X.get_columns(), dtypes)
    for name, dtype in zip(names, dtypes, strict=True):
        refuse_column(name, dtype, getattr(dtype, "kind", "O") in KINDS)
    if dtypes and all(hasattr(dtype, "fill_value") for dtype in dtypes):
        return X.sparse.to_coo(), names
    values = X.to_numpy()
    return (X.to_numpy(dtype=float, na_value=np.nan) if values.dtype == object else values), names


def of_columns(names, columns, dtypes):
    """Return columns of polars or Arrow as an array."""
    values = []
    for name, column, dtype in zip(names, columns, dtypes, strict=True):
        said = str(dtype).lower()
        refuse_column(name, dtype, said.startswith(("int", "uint", "float", "double", "bool",
                                                    "halffloat", "decimal", "null")))  # fmt: skip
        cells = column.to_numpy()
        if cells.dtype == object:
            cells = np.array([np.nan if each is None else each for each in cells], dtype=float)
        values.append(cells)
    kind = np.result_type(*values) if values else float
    array = np.empty((len(values[0]) if values else 0, len(values)), dtype=kind, order="F")
    for j, cells in enumerate(values):
        array[:, j] = cells
    return array, tuple(map(str, names))


def refuse_column(name, dtype, holds):
    """Refuse a column that is none of numbers."""
    if not holds:
        raise TypeError(
            f"X has column {name!r} of dtype {dtype}; it must hold real numbers: leave it out, or "
            "make numbers of it"
        )
