"""Frames of pandas, polars and Arrow: their numbers, the names of their columns, and no dates."""

import numpy as np

KINDS = "biuf"  # truth values, integers, floats
NUMBERS = ("int", "uint", "float", "double", "bool", "halffloat", "decimal", "null")


def is_frame(X):
    """Say whether X is a frame of pandas or polars, or a table of Arrow."""
    if hasattr(type(X), "collect_schema") and not hasattr(X, "to_numpy"):
        raise TypeError("X is a lazy frame of polars; hand over X.collect()")
    return hasattr(X, "columns") and (hasattr(X, "to_numpy") or hasattr(X, "column_names"))


def refuse_columns(X):
    """Refuse a frame with a column of text or dates: which are features is not guessed here."""
    arrow = hasattr(X, "column_names")
    names, dtypes = (X.column_names, X.schema.types) if arrow else (X.columns, X.dtypes)
    for name, dtype in zip(names, dtypes, strict=True):
        holds = getattr(dtype, "kind", "O") in KINDS
        if arrow or hasattr(X, "get_columns"):
            holds = str(dtype).lower().startswith(NUMBERS)
        if not holds:
            polars = hasattr(X, "get_columns")
            way = f"drop_columns({name!r})" if arrow else f"drop({name!r})"
            way = way if arrow or polars else f"drop(columns={name!r})"
            raise TypeError(
                f"X has column {name!r} of dtype {dtype}; it must hold real numbers: leave it "
                f"out, X.{way}, or make numbers of it"
            )


def numbers_of_frame(X):
    """Return the numbers of a frame, missing ones as NaN, and its names; what is none, and None."""
    if not is_frame(X):
        return X, None
    refuse_columns(X)
    if hasattr(X, "column_names"):
        return of_columns(X.column_names, [X.column(j) for j in range(X.num_columns)])
    names, dtypes = tuple(map(str, X.columns)), list(X.dtypes)
    if hasattr(X, "get_columns"):
        return of_columns(names, X.get_columns())
    if dtypes and all(hasattr(dtype, "fill_value") for dtype in dtypes):
        return X.sparse.to_coo(), names
    values = X.to_numpy()
    return (X.to_numpy(dtype=float, na_value=np.nan) if values.dtype == object else values), names


def of_columns(names, columns):
    """Return columns of polars or Arrow as an array."""
    values = []
    for column in columns:
        cells = column.to_numpy()
        if cells.dtype == object:
            cells = np.array([np.nan if each is None else each for each in cells], dtype=float)
        values.append(cells)
    kind = np.result_type(*values) if values else float
    array = np.empty((len(values[0]) if values else 0, len(values)), dtype=kind, order="F")
    for j, cells in enumerate(values):
        array[:, j] = cells
    return array, tuple(map(str, names))
