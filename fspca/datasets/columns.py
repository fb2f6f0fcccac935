"""Which columns of a table are features: what is left out is named, each with its reason."""

import re

import numpy as np

from fspca.covariance.validate import near
from fspca.datasets.layout import GROUPS, PLAIN, UNITS, Unreadable

CODES = (9, 99, 999, 9999, 99999, 999999)  # and their negatives: written for what is missing
IDS = re.compile(r"(^|[\s_.:-])(id|ids|uuid|guid|idx|index|key|barcode|zip|zipcode|postcode|plz|"
                 r"phone|telephone|rownames?|rn|unnamed)$|[a-z]I[Dd]$", re.I)  # fmt: skip
NUMBERED = re.compile(r"(^|[\s_.:-])(no|nr|num|number|nummer|code|case|row|record|subject|patient|"
                      r"sample|participant|obs)$", re.I)  # fmt: skip
DATES = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}.*|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}.*|"
                   r"\d{1,2}:\d{2}.*|\d{1,2}[- ]?[A-Za-z]{3,9}[- ,]*\d{2,4}.*|"
                   r"\d{4}-?(Q|W)?\d{1,2}|[A-Za-z]{3,9} \d{1,2}, \d{4}.*")  # fmt: skip
SUMMARIES = {"total", "totals", "grand total", "subtotal", "sum", "mean", "average", "avg", "sd",
             "std", "median", "summe", "gesamt", "insgesamt", "mittelwert", "durchschnitt",
             "somme", "moyenne", "suma", "totaal"}  # fmt: skip


def picked(given, names):
    """Return the numbers of the columns that are named, or counted from 0, in a list or a text.

    In a text they stand with commas between, and a name may have commas of its own.

    >>> picked("b, kg,0", ("a", "b, kg"))
    [1, 0]
    """
    asked = given if isinstance(given, list | tuple | np.ndarray) else [given]
    found = []
    for each in asked:
        parts = [each] if not isinstance(each, str) else each.split(",")
        start = 0
        while start < len(parts):
            ends = range(len(parts), start, -1)
            joined = [parts[start] if end == start + 1 else ",".join(parts[start:end])
                      for end in ends]  # fmt: skip
            at = next(
                (i for i, name in enumerate(joined) if is_column(name, names)), len(joined) - 1
            )
            if joined[at] != "":
                found.append(column_of(joined[at], names))
            start = ends[at]
    return found


def is_column(name, names):
    """Say whether a text is the name of a column, with blanks around it or not."""
    return isinstance(name, str) and (name in names or name.strip() in names)


def column_of(name, names):
    """Return the number of the column that has a name or a number."""
    if is_column(name, names):
        name = name if name in names else name.strip()
        if names.count(name) > 1:
            places = [j for j, each in enumerate(names) if each == name]
            raise Unreadable(f"{name!r} is the name of several columns, {places}: give a number")
        return names.index(name)
    if isinstance(name, str) and not name.strip().isdigit():
        raise Unreadable(f"{name!r} is the name of no column{near(name, names)}")
    if not 0 <= int(name) < len(names):
        raise Unreadable(f"{name} is the number of no column: they go from 0 to {len(names) - 1}")
    return int(name)


def as_numbers(column, decimal="."):
    """Return a column of text as numbers, NaN where a cell is none, and which cells are text.

    Units of money, per cents, and the signs between thousands are taken off.
    """
    text = column.astype(str).str.strip()
    values, wrong = np.full(len(text), np.nan), np.zeros(len(text), dtype=bool)
    present = column.notna().to_numpy()
    known = {}
    for i in np.flatnonzero(present):
        cell = text.iat[i]
        if cell not in known:
            known[cell] = number_in(cell, decimal)
        values[i] = np.nan if known[cell] is None else known[cell]
        wrong[i] = known[cell] is None
    return values, wrong


def number_in(cell, decimal="."):
    """Return the number that a cell holds, or None.

    >>> number_in("$1,234.50"), number_in("1.234,5", ","), number_in("12 kg")
    (1234.5, 1234.5, None)
    """
    bare = UNITS.sub("", cell).replace("\u2212", "-")
    if (found := GROUPS.fullmatch(bare)) and found[1] != decimal:
        bare = bare.replace(found[1], "")
    if decimal == ",":
        if "." in bare:
            return None
        bare = bare.replace(",", ".")
    return float(bare) if PLAIN.fullmatch(bare) and "," not in bare else None


def not_numbers(column, decimal):
    """Return a column's numbers, or None and what it is; where most are numbers, who is not.

    The third is the row of the first cell that is none, where the column is one of numbers.
    """
    kind = getattr(column.dtype, "kind", "O")
    if kind == "b" or str(column.dtype) == "boolean":
        return None, "truth values", None
    if kind in "Mm" or "date" in str(column.dtype):
        return None, "dates" if kind != "m" else "durations", None
    if kind in "iuf":
        own = isinstance(column.dtype, np.dtype)  # NumPy's, which needs no copy
        return column.to_numpy(float) if own else column.to_numpy(float, na_value=np.nan), "", None
    present = column.dropna()
    if len(present) == 0:
        return np.full(len(column), np.nan), "", None
    if all(type(each) in (bool, np.bool_) for each in present):
        return None, "truth values", None
    words = set(present.astype(str).str.strip().str.lower().head(1000))
    if words <= {"true", "false", "t", "f", "yes", "no", "y", "n", "ja", "nein"}:
        return None, "truth values", None
    if sum(bool(re.fullmatch(r"[+-]?0\d+", word)) for word in words) and not any(
        "." in word or "," in word for word in words
    ):
        return None, "numbers with leading zeros, as ids have them", None
    shown = [str(each) for each in present.head(200)]
    if sum(bool(DATES.fullmatch(each.strip())) for each in shown) > len(shown) / 2:
        return None, "dates", None
    values, wrong = as_numbers(column, decimal)
    if not wrong.any():
        return values, "", None
    row = int(np.argmax(wrong))
    if 2 * wrong.sum() <= len(present):
        return None, f"{str(column.iat[row])[:40]!r} must be a finite number", row
    return None, f"text, {len(present.unique())} different", None


def reason_against(name, values):
    """Return why numbers are no feature, or "".

    >>> reason_against("height", np.arange(5.0)), reason_against("height", np.array([1.0, 3, 2]))
    ('counts the rows', '')
    """
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)  # but for NaN
    if np.isnan(low):
        return "empty"
    if low < high and (low != np.round(low) or high != np.round(high)):
        return ""
    seen = values[~np.isnan(values)]
    if low == high and len(values) > 1:
        return "constant" if len(seen) == len(values) else "constant where it is not missing"
    if not np.array_equal(seen, np.round(seen)):
        return ""
    steps = np.diff(values)
    if len(values) > 2 and np.all(steps == 1):
        return "counts the rows"
    if IDS.search(name):
        return "ids, by its name"
    single = len(np.unique(seen)) == len(values)
    if single and len(values) > 9 and high - low == len(values) - 1:
        return "counts the rows, in another order"
    if single and NUMBERED.search(name):
        return "ids, by its name"
    return by_digits(seen, low, high, single)


def by_digits(seen, low, high, single):
    """Return why whole numbers of many digits are no feature, or ""."""
    if 19000101 <= low <= high <= 21001231:
        days, months = seen % 100, seen // 100 % 100
        if np.all((days >= 1) & (days <= 31) & (months >= 1) & (months <= 12)):
            return "dates, written as numbers"
    if single and low >= 1e8 and len(str(int(low))) == len(str(int(high))):
        return "whole numbers of nine digits or more, all different, as ids and times are"
    return ""


def suspicious(values):
    """Return a number that may stand for what is missing: a code far from all others, or None.

    >>> suspicious(np.array([-999.0, 3.0, 5.0, -999.0])), suspicious(np.array([1.0, 99.0]))
    (-999.0, None)
    """
    for code in (np.fmin.reduce(values), np.fmax.reduce(values)):  # but for NaN
        if abs(code) not in CODES:
            continue
        seen = values[~np.isnan(values)]
        others = seen[seen != code]
        if not len(others):
            continue
        far = np.abs(others - code).min() >= np.ptp(others)
        if far and len(others) > 1 and (len(seen) - len(others) > 1 or abs(code) > 998):
            return float(code)
    return None


def summary_rows(frame):
    """Return a word of each of the last rows that are of no sample: totals, means, notes."""
    words = []
    while len(words) < min(5, len(frame) - 1):
        at = len(frame) - 1 - len(words)
        filled = [(j, cell) for j, cell in enumerate(frame.iloc[at]) if cell == cell and cell]
        texts = [(j, cell) for j, cell in filled if isinstance(cell, str)]
        totals = [(j, cell) for j, cell in texts if cell.strip(" :").lower() in SUMMARIES]
        note = len(filled) == len(texts) == 1 and frame.shape[1] > 2 and at == len(frame) - 1
        said = totals or (texts if note and frame.iloc[0].notna().sum() > 1 else [])
        if not said or any((frame.iloc[:at, j] == cell).any() for j, cell in said):
            break  # a word that others have too is one of the samples
        words.append(said[0][1][:40])
    return words


def sums_below(X):
    """Say whether the last row holds the sums, or the means, of those above it.

    >>> sums_below(np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0], [1.0, 1.0], [9.0, 12.0]]))
    'sums'
    """
    n, d = X.shape
    if d < 2 or n < 5:
        return ""
    for word, share in (("sums", 1), ("means", n - 1)):
        agreed = (np.isclose(x[-1], np.nansum(x[:-1]) / share, rtol=1e-6, atol=0) for x in X.T)
        if all(agreed) and np.ptp(X[:-1]) > 0:
            return word
    return ""
