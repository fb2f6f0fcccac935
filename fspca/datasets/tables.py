"""Tables from files: text in all its kinds, what pandas reads besides, npz and Matrix Market."""

import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import scipy.sparse

from fspca.covariance.validate import needed
from fspca.datasets import files
from fspca.datasets.columns import (
    not_numbers,
    picked,
    reason_against,
    summary_rows,
    sums_below,
    suspicious,
)
from fspca.datasets.delimited import (
    cells_of_lines,
    pandas_frame,
    plain_numbers,
    text_layout,
)
from fspca.datasets.layout import (
    Layout,
    Unreadable,
    counted,
    is_missing,
    laid_out,
    values_of,
)


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


@dataclass(frozen=True, eq=False)
class Table:
    """Data X (samples x features), the names of its columns, and how they were read.

    What was left out of the file is said, column by column.

    Parameters
    ----------
    X : array (n x d), or sparse
        The data; NaN where a value is missing.
    names : tuple of str
        Of the columns, None where the file has none.
    how : str
        One line: how the file was read.
    left_out : dict of str to str
        The columns that are no features, each with the reason.
    columns : tuple of int
        Where the features stand among all columns of the file, counted from 0.
    ids : tuple of str
        What the rows are called, where a column says it.
    weights : array of n
        Of the rows, where a column was named that holds them.
    header : tuple of str
        The names of all columns of the file.

    See Also
    --------
    read_table : Returns one.

    Examples
    --------
    >>> Table(np.eye(2), ("a", "b")).names
    ('a', 'b')
    """

    X: Any
    names: tuple[str, ...] | None
    how: str = ""
    left_out: dict[str, str] = field(default_factory=dict)
    columns: tuple[int, ...] = ()
    ids: tuple[str, ...] | None = None
    weights: np.ndarray | None = None
    header: tuple[str, ...] = ()


def read_table(path: str | Path, *, header: bool | None = None, keep: Any = (), drop: Any = (),
               id: Any = None, weights: Any = None, na: Any = None, separator: str | None = None,
               decimal: str | None = None, encoding: str | None = None,
               sheet: str | int = 0) -> Table:  # fmt: skip
    r"""Return the Table in a file; its ending says which kind it is.

    Text is read by pandas once its first lines have said how: encoding, separator, quotes,
    decimal comma, names, units below the names, a title above.  So are the files that pandas
    reads by other packages.  What is no measurement is left out and named: text, dates, ids,
    truth values, constants, what counts the rows.  Where the file does not say enough, a
    TableError asks, and names the option that answers.  Without pandas a CSV of plain numbers is
    read.  An npz is read without pickle, and what a file unfolds to is bounded.

    Parameters
    ----------
    path : str or Path
        A file ending in .csv, .tsv, .txt, .xlsx, .parquet, .npz, .mtx and some more; text may be
        packed by gzip, bzip2, xz or zip.
    header : bool
        Whether the first line names the columns; None leaves it to the file.
    keep, drop : list of str or int, or text with commas
        Columns that are features whatever they look like, and that are none: names, or numbers
        from 0.
    id : str or int
        The column that names the rows.
    weights : str or int
        The column that holds weights of the rows.
    na : list of str, or text with commas
        What else stands for a missing value; "" says that nothing does.
    separator, decimal, encoding : str
        Of a text; None leaves them to the file.  The separator " " stands for any blanks.
    sheet : str or int
        Of a workbook.

    Returns
    -------
    Table
        Its data and names, and how they were read.

    See Also
    --------
    fspca.Covariance.from_data : Takes the data.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "table.csv")
    ...     _ = file.write_text("height,width\n1.5,2\n3,5\n")
    ...     table = read_table(file)
    >>> table.X, table.names
    (array([[1.5, 2. ],
           [3. , 5. ]]), ('height', 'width'))
    """
    path = Path(path)
    if not path.is_file():
        raise TableError(f"{path}: there is no such file")
    reader = READERS.get(ending_of(path))
    if reader is None:
        raise TableError(f"{path}: {unread(path)}")
    asked = {"header": header, "keep": keep, "drop": drop, "id": id, "weights": weights, "na": na,
             "separator": checked_separator(separator), "decimal": decimal, "encoding": encoding,
             "sheet": sheet}  # fmt: skip
    try:
        table = reader(path, asked)
    except TableError:
        raise
    except Unreadable as told:
        raise TableError(f"{path}: {told}") from None
    except Exception as error:  # whatever the readers of a format raise on what is not in it
        told = str(error) or type(error).__name__
        raise TableError(f"{path}: not to be read as {ending_of(path)[1:]}: {told}") from None
    if table.X.ndim != 2 or 0 in table.X.shape:
        raise TableError(f"{path}: has shape {table.X.shape}; samples in rows are wanted")
    if table.names is not None and len(table.names) != table.X.shape[1]:
        raise TableError(f"{path}: names {len(table.names)} of {table.X.shape[1]} columns")
    n, d = table.X.shape
    how = f"{path.name}: {n} samples of {d} features" + (f", {table.how}" if table.how else "")
    left = [f"{name!r} ({reason})" for name, reason in table.left_out.items()]
    return replace(table, how=how + ("; left out: " + ", ".join(left) if left else ""))


def archived(path, _):
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


def market(path, _):
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


def text_table(path, asked):
    """Return the Table of a text file."""
    form, layout, skipped, said = text_layout(path, asked)
    try:
        import pandas  # noqa: F401
    except ImportError:
        X = plain_numbers(path, form, skipped)
        return Table(X, layout.names, ", ".join(said), columns=tuple(range(X.shape[1])))
    frame = pandas_frame(path, form, layout, skipped, missing_signs(asked["na"]))

    def place(row, width=None):
        """Return the line of a row, or the first whose cells are not so many."""
        return cells_of_lines(path, form, skipped, row, width)

    refuse_ragged(path, frame, layout.width, place)
    return sorted_out(
        path, frame.iloc[:, : layout.width], layout, asked, (form.decimal, place, said)
    )


def missing_signs(na):
    """Return what stands for a missing value, as a list of text."""
    given = [] if na is None else na.split(",") if isinstance(na, str) else list(map(str, na))
    return [sign.strip() for sign in given if str(sign).strip()]


def refuse_ragged(path, frame, width, place):
    """Refuse lines with more cells than the others, or with fewer."""
    more = frame.iloc[:, width].notna().to_numpy()
    fewer = frame.iloc[:, width - 1].isna().to_numpy()
    if more.any() or (width > 1 and fewer.any()):
        line, count = place(None, width)
        if line is not None:
            raise TableError(
                f"{path}, line {line}: has {count} cells where {width} are wanted; mend the line, "
                "or say separator= if it is another sign"
            )


def sorted_out(path, frame, layout, asked, read):
    """Return the Table of the features among the columns of a frame, and say what the others are.

    `read` holds the sign of decimals, what finds the line of a row, and what there is to say.
    """
    decimal, place, said = read
    names = layout.names or tuple(str(j) for j in range(layout.width))
    roles = {role: set(picked(asked[role], names)) for role in ("keep", "drop")}
    for role in ("id", "weights"):
        given = [] if asked[role] is None else picked([asked[role]], names)
        roles[role] = given[0] if given else None
    frame, rows, said = whole_rows(frame, said)
    found, left_out, weights = {}, {}, None
    for j, name in enumerate(names):
        if j in roles["drop"] or j == roles["id"]:
            left_out[j] = "told to be left out" if j in roles["drop"] else "names the rows"
            continue
        values, reason, row = not_numbers(frame.iloc[:, j], decimal)
        wanted = j in roles["keep"] or j == roles["weights"]
        if row is not None or (wanted and values is None):
            values = truths(frame.iloc[:, j]) if reason == "truth values" else None
            if values is None:
                refuse_cell(path, (j, name), place(rows[row or 0])[0], (reason, row is not None))
        if j == roles["weights"]:
            weights, left_out[j] = values, "weights of the rows"
            continue
        if values is not None and not wanted:
            reason = "leading zeros, as ids have them" if j in layout.coded else ""
            reason = reason or reason_against(name, values) or ("" if name else "has no name")
        if reason and not wanted:
            left_out[j] = reason
            continue
        if "inf" in missing_signs(asked["na"]):
            values = np.where(np.isinf(values), np.nan, values)
        known = asked["na"] if j not in roles["keep"] else ""
        refuse_strange(path, (j, name), values, known, lambda i: place(rows[i])[0])
        found[j] = values
    if not found:
        told = "; ".join(f"{names[j] or j!r}: {why}" for j, why in list(left_out.items())[:5])
        raise TableError(f"{path}: no column of numbers is left ({told}); keep= takes one that is")
    return finished_table(frame, found, (names, layout.names, left_out), (roles, weights, said))


def truths(column):
    """Return truth values as 1 and 0, a missing one as NaN."""
    known = {"true": 1.0, "t": 1.0, "yes": 1.0, "y": 1.0, "ja": 1.0}
    words = column.astype(str).str.strip().str.lower()
    values = words.map(known).fillna(0.0).to_numpy(dtype=float).copy()
    values[column.isna().to_numpy()] = np.nan
    return values


def whole_rows(frame, said):
    """Return the rows of samples: none that is empty, no totals or notes at the end."""
    empty = frame.iloc[:, 0].isna().to_numpy()
    for j in range(1, frame.shape[1]):
        if not empty.any():
            break
        empty = empty & frame.iloc[:, j].isna().to_numpy()
    rows = np.arange(len(frame))
    if empty.any() and not empty.all():
        frame, rows = frame[~empty], rows[~empty]
        said = (*said, f"{counted(empty.sum(), 'empty line')} left out")
    if words := summary_rows(frame):
        frame, rows = frame.iloc[: -len(words)], rows[: -len(words)]
        shown = ", ".join(repr(word) for word in words)
        last = "last line" if len(words) == 1 else f"last {len(words)} lines"
        said = (*said, f"{last} left out as no samples ({shown})")
    return frame, rows, said


def refuse_cell(path, column, line, told):
    """Refuse a column that is no number where it has to be one."""
    j, name = column
    reason, single = told
    at = f"{path}, line {line}, column {j + 1} ({name!r})"
    if single:
        seen = reason.removesuffix(" must be a finite number")
        raise TableError(f"{at}: {reason}; na={seen} takes it as missing, drop={name!r} leaves the "
                         "column out")  # fmt: skip
    raise TableError(f"{path}, column {j + 1} ({name!r}): holds {reason}, which cannot be kept as "
                     "numbers")  # fmt: skip


def refuse_strange(path, column, values, na, line):
    """Refuse infinite values, and codes that may stand for missing ones."""
    j, name = column
    if np.isinf([np.fmin.reduce(values), np.fmax.reduce(values)]).any():
        i = int(np.argmax(np.isinf(values)))
        at = f"{path}, line {line(i)}, column {j + 1} ({name!r})"
        raise TableError(
            f"{at}: {str(values[i])!r} must be a finite number; na='inf' takes it as missing, "
            f"drop={name!r} leaves the column out"
        )
    signs = missing_signs(na)  # what stands for a missing value says nothing of another code
    code = suspicious(values) if na is None or signs else None
    if code is not None:
        i = int(np.argmax(values == code))
        so_too = ",".join([*signs, f"{code:g}"])
        kept = f"keep={name!r}" if signs else "na=''"
        raise TableError(
            f"{path}, line {line(i)}, column {j + 1} ({name!r}): {code:g} lies far from all other "
            f"values and may stand for a missing one: say na='{so_too}', or {kept} if it is a value"
        )


def side_by_side(frame, columns):
    """Return columns as an array, column by column as pandas has it; its own where that is all."""
    one = frame.shape[1] == len(columns) and np.may_share_memory(
        columns[0], frame.iloc[:, :2].to_numpy()
    )
    if one and all(np.may_share_memory(each, frame.to_numpy()) for each in columns):
        return frame.to_numpy()
    X = np.empty((len(frame), len(columns)), order="F")
    for i, values in enumerate(columns):
        X[:, i] = values
    return X


def called_apart(names):
    """Return what columns are called so that no two are the same: with numbers, where it must be.

    >>> called_apart(("size", "", "size", "age"))
    ['size (column 0)', 'column 1', 'size (column 2)', 'age']
    """
    often = Counter(names)
    places = [f" (column {j})" if often[name] > 1 else "" for j, name in enumerate(names)]
    return [name + place if name else f"column {j}"
            for j, (name, place) in enumerate(zip(names, places, strict=True))]  # fmt: skip


def finished_table(frame, found, columns, rest):
    """Return the Table of the columns found."""
    (names, given, left_out), (roles, weights, said) = columns, rest
    X = side_by_side(frame, list(found.values()))
    ids = roles["id"]
    if ids is None and names[0] == "" and 0 in left_out:
        ids = 0
    if word := sums_below(X):
        X, frame = X[:-1], frame.iloc[:-1]
        weights = weights if weights is None else weights[:-1]
        said = (*said, f"last line left out: it holds the {word} of those above")
    labels = None if ids is None else tuple(map(str, frame.iloc[:, ids]))
    if share := np.isnan(X).sum():
        said = (*said, f"{share} of {X.size} values missing")
    every = called_apart(names)
    called = tuple(every[j] for j in found)
    named_all = given is not None or left_out
    shown = {every[j]: reason for j, reason in left_out.items()}
    return Table(
        X,
        called if named_all else None,
        how=", ".join(said),
        left_out=shown,
        columns=tuple(found),
        ids=labels,
        weights=weights,
        header=names,
    )


def workbook(path, asked):
    """Return the Table of a sheet of a workbook."""
    pd = needed("pandas", "frames", f"a table that ends in {path.suffix}")
    limited_archive(path)
    book = pd.read_excel(path, sheet_name=None, header=None, dtype=object)
    sheet = asked["sheet"]
    sheets = list(book)
    if sheet not in book and (not str(sheet).isdigit() or int(sheet) >= len(sheets)):
        raise TableError(f"{path}: has no sheet {sheet!r}; it has {', '.join(map(repr, sheets))}")
    name = sheet if sheet in book else sheets[int(sheet)]
    cells = book[name]
    if cells.empty:
        raise TableError(f"{path}: sheet {name!r} is empty")
    rows = [["" if cell != cell or cell is None else str(cell) for cell in row]
            for row in cells.head(200).itertuples(index=False)]  # fmt: skip
    layout = laid_out(rows, asked["header"])
    signs = set(missing_signs(asked["na"]))
    frame = cells.iloc[layout.start :].map(
        lambda cell: None if is_missing(str(cell)) or str(cell) in signs else cell
    )
    said = [f"sheet {name!r}" + (f" of {len(sheets)}" if len(sheets) > 1 else "")]
    read = (
        asked["decimal"] or ".",
        lambda row: (int(row) + layout.start + 1, None),
        (*said, *layout.said),
    )
    return sorted_out(path, frame.infer_objects(), layout, asked, read)


def limited_archive(path):
    """Refuse a packed file that unfolds to more than it may."""
    import zipfile

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as parts:
            size = sum(part.file_size for part in parts.infolist())
        if size > files.LARGEST:
            raise TableError(f"{path}: unfolds to {size} bytes, more than {files.LARGEST}")


def frame_reader(reader, **options):
    """Return what reads a file whose columns have names and types, by a reader of pandas."""

    def read(path, asked):
        pd = needed("pandas", "frames", f"a table that ends in {path.suffix}")
        frame = getattr(pd, reader)(path, **options)
        if signs := missing_signs(asked["na"]):
            numbers = [float(sign) for sign in signs if not np.isnan(values_of([sign])[0])]
            frame = frame.replace([*signs, *numbers], np.nan)
        layout = Layout(0, frame.shape[1], tuple(map(str, frame.columns)), ())
        return sorted_out(path, frame, layout, asked, (".", lambda row: (int(row) + 1, None), ()))

    return read


def checked_separator(separator):
    """Return a separator of one sign, or say what one is."""
    words = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "blank": " ", "space": " "}
    separator = words.get(separator, separator)
    if separator is not None and len(separator) != 1:
        raise TableError(f"separator={separator!r} must be one sign, or 'tab'")
    return separator


PACKED = (".gz", ".bz2", ".xz", ".zip")
OTHERS = {".pkl": "may run code when it is read", ".pickle": "may run code when it is read",
          ".h5": "may run code when it is read", ".rds": "is R's own: write.csv in R",
          ".rdata": "is R's own: write.csv in R", ".mat": "is MATLAB's own: writetable",
          ".npy": "names no columns: np.savez(path, X=X)"}  # fmt: skip


def ending_of(path):
    """Return what a file's name ends in, below that of its packing; that of text for none."""
    endings = [each.lower() for each in path.suffixes]
    if endings and endings[-1] in PACKED:
        endings.pop()
        return endings[-1] if endings and endings[-1] in TEXT else ".csv"
    return endings[-1] if endings else ".csv"


def unread(path):
    """Return why a file of such an ending is not read, and which are."""
    if why := OTHERS.get(ending_of(path)):
        return f"a file that ends in {ending_of(path)} is not read: it {why}"
    return (
        f"the ending must be one of {', '.join(READERS)}, or {', '.join(PACKED)} after one of text"
    )


TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat", ".data", ".asc", ".psv")
BOOKS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
READERS = {
    **dict.fromkeys(TEXT, text_table),
    ".npz": archived,
    ".mtx": market,
    **dict.fromkeys(BOOKS, workbook),
    ".parquet": frame_reader("read_parquet"),
    ".feather": frame_reader("read_feather"),
    ".orc": frame_reader("read_orc"),
    ".json": frame_reader("read_json"),
    ".jsonl": frame_reader("read_json", lines=True),
    ".dta": frame_reader("read_stata"),
    ".sav": frame_reader("read_spss"),
    ".sas7bdat": frame_reader("read_sas"),
    ".xpt": frame_reader("read_sas"),
}
