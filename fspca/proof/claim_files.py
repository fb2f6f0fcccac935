"""Claims as files: what is written for a stranger to check, and a table made into its matrix.

What was done to a table stands in fields of its own, such as `table_sha256`.  A reader that meets
one which it does not know cannot repeat it, and says so.
"""

import hashlib

import numpy as np

from fspca.check_certificate import KINDS, check, sha256
from fspca.covariance import Covariance, as_covariance
from fspca.covariance.intake import opened
from fspca.covariance.missing import weights_of_samples
from fspca.datasets.files import open_archive, write_arrays

MAX_MEMORY = 2**31  # bytes that a matrix may take to be written
ROWS = 2**22  # numbers of a table in hand at once
SAME = 1e-9  # of two deviations: what two computers may differ by in a covariance of one table

WHOLE = {"levels": 2, "prices": 2, "targets": 2}  # degrees in the root of A, of what no node has
OF_COLUMNS = {"spectral": 1}  # and of what a listed column has


def scaled_claim(claim, unit):
    """Return the claim for the covariance times `unit`, a power of four, so that its root is exact.

    An array is multiplied by unit^(degree / 2): the degree is 1 of a factor of the covariance, 2 of
    what is in its own units.  One of a node or a column ends in its number, `G_0`, and of one tree
    among several begins with the tree's name, `tree1_G_0`.
    """
    degrees = {name: row[0] for name, row in KINDS[str(claim["kind"])].arrays.items()} | OF_COLUMNS
    scaled = dict(claim)
    for name, array in claim.items():
        before, _, number = name.rpartition("_")
        of = before.rpartition("_")[2] if number.isdigit() else ""
        if degree := WHOLE.get(name) or degrees.get(of):
            scaled[name] = array * unit ** (degree / 2)
    return scaled


def save_claim(path, certificate, A):
    """Write the claim with its matrix, or the factor of wide data, and how a table gave it."""
    if not str(path).endswith(".npz"):
        raise ValueError(f"path={str(path)!r} must end in .npz")
    if certificate is None:
        raise ValueError(
            "solution has no certificate to save: certify(A, solution), solve, solve_separate and "
            "solve_nonnegative give one where the checker accepts it"
        )
    A = as_covariance(A)
    reasons = []
    for matrix in matrices(A.plain):
        verdict = check(certificate | matrix)
        if verdict.holds:
            (name,) = matrix
            bound_to = {"sha256": sha256(name, matrix[name])}
            return write_arrays(path, certificate | matrix | bound_to | recipe(A))
        reasons.append(verdict.reason)
    told = reasons[0] if reasons else "its matrix does not fit the memory"
    raise ValueError(f"A is not the matrix of this certificate: {told}")


def matrices(A):
    """Yield what a claim may carry: the factor of wide data, and the matrix."""
    X, d = A.wide_factor(), A.size
    if X is not None:
        yield {"X": np.asarray(X, dtype=float)}
    if 8 * d**2 <= MAX_MEMORY:
        full = A.submatrix(np.arange(d))
        yield {"A": (full + full.T) / 2}


def recipe(A):
    """Return what was done to the table that A is of, as fields of a claim: none without a table.

    They are `table_sha256`, `table_rows_left_out`, `table_columns_left_out`, `table_center`,
    `table_divisor` (a number), `table_standardize`; `table_weights` of all rows, if there were
    some; and `table_missing`, only "mean" or "em".
    """
    if A.table is None:
        return {}
    X, done = A.table
    done, n = dict(done), X.shape[0]
    kept, weights = done.pop("kept"), done.pop("sample_weight")
    left_out = np.zeros(0, dtype=int) if kept is None else np.setdiff1d(np.arange(n), kept)
    total = n - len(left_out)
    if weights is not None:
        done["weights"] = weights_of_samples(weights, n)
        total = np.delete(done["weights"], left_out).sum()
    # A.about is None where no value was missing and no weights were given.
    if A.about is None or done["missing"] in ("refuse", "drop"):  # rows left out say what dropped
        done.pop("missing")
    done["divisor"] = {"n-1": total - 1, "n": total}.get(done["divisor"], done["divisor"])
    none = np.zeros(0, dtype=int)  # from_data leaves out no columns; the format allows it
    places = {"table_rows_left_out": left_out, "table_columns_left_out": none}
    return {"table_sha256": sha256_of_table(X), **places} | {
        f"table_{name}": np.array(value) for name, value in done.items()
    }


def sha256_of_table(X):
    """Return the sha256 of a table, read some rows at a time, as the format takes that of X.

    A missing value counts as NumPy's NaN, whatever bits it has.
    """
    X = opened(X)[0]
    found = hashlib.sha256(f"X {X.shape[0]} {X.shape[1]}\n".encode())
    step = max(1, ROWS // X.shape[1])
    rows = X.tocsr() if hasattr(X, "tocsr") else X
    for start in range(0, X.shape[0], step):
        part = rows[start : start + step]
        part = part.toarray() if hasattr(part, "toarray") else np.asarray(part)
        part = np.ascontiguousarray(part, "<f8")
        absent = np.isnan(part)
        part = np.where(absent, np.nan, part) if absent.any() else part
        found.update(part.tobytes())
    return found.hexdigest()


def check_with_table(path, X, exact=False, missing=None, standardize=None):
    """Return the verdict on a claim file of a table, made into a matrix as the file says.

    X is the table before anything was done to it.  `missing` and `standardize` are what a caller
    believes of the making, in the words of `Covariance.from_data`: where they are not None and the
    file says otherwise, this is an error.
    """
    with open_archive(path) as file:
        claim = {name: file[name] for name in file.files}
    refuse_disagreement(claim, missing, standardize)
    if not any(name.startswith("table_") for name in claim):
        return check(claim, X=X, exact=exact)
    A = repeated(claim, X)
    verdict = check(claim, exact=exact)
    if verdict.reason.startswith("needs data"):  # it carries a sum alone
        given = [check(claim, **matrix, exact=exact) for matrix in matrices(A)]
        return max(given, key=lambda each: each.holds)
    if verdict.holds and not is_of(claim, A):
        raise ValueError("the matrix that the claim carries is not that of the table")
    return verdict


def refuse_disagreement(claim, missing, standardize):
    """Refuse a way with missing values, or a scaling, that is not None nor that of the claim."""
    is_standardised = bool(claim.get("table_standardize", False))
    if standardize is not None and bool(standardize) != is_standardised:
        made = "standardised" if is_standardised else "not standardised"
        raise ValueError(f"standardize={standardize}: the claim is of a covariance that is {made}")
    dropped = np.size(claim.get("table_rows_left_out", ()))
    way = str(claim.get("table_missing", "drop" if dropped else "refuse"))
    # By "refuse" the table lacks no value, so that every way gives the same covariance.
    if missing not in (None, way) and way != "refuse":
        raise ValueError(f"missing={missing!r}: the claim is of a table with missing={way!r}")


def repeated(claim, X):
    """Return the covariance of a table, by what the claim says was done to it."""
    done = {name.removeprefix("table_"): x for name, x in claim.items() if name[:6] == "table_"}
    said = str(done.pop("sha256", ""))
    if sha256_of_table(X) != said:
        raise ValueError(
            "the table is not the one that the claim speaks of, or was read with other options: "
            "its sha256 differs"
        )
    rows, columns = done.pop("rows_left_out", []), done.pop("columns_left_out", [])
    unknown = set(done) - {"center", "divisor", "standardize", "weights", "missing"}
    if unknown:
        raise ValueError(f"the claim's table was given {', '.join(sorted(unknown))}, which this "
                         "version cannot repeat")  # fmt: skip
    kept = opened(X)[0]
    kept = kept.tocsr() if hasattr(kept, "tocsr") else kept
    rows = kept_of(kept.shape[0], rows, "rows")
    kept = kept[rows][:, kept_of(kept.shape[1], columns, "columns")]
    weights = done.get("weights")
    if weights is not None and np.shape(weights) != np.shape(opened(X)[0])[:1]:
        raise ValueError("the claim's weights are not as many as the table's rows")
    center, standardize = (bool(done.get(name, 0)) for name in ("center", "standardize"))
    return Covariance.from_data(kept, center=center, standardize=standardize,
                                divisor=float(done.get("divisor", 1)),
                                missing=str(done.get("missing", "refuse")),
                                sample_weight=None if weights is None else weights[rows]
                                )  # fmt: skip


def kept_of(count, left_out, what):
    """Return the numbers that are not left out."""
    given = np.asarray(left_out)
    numbers = given.astype(int)
    if not np.array_equal(given, numbers) or np.any((numbers < 0) | (numbers >= count)):
        raise ValueError(f"the claim leaves out {what} that the table does not have")
    return np.setdiff1d(np.arange(count), numbers)


def is_of(claim, A):
    """Say whether the matrix of a claim is that of the table, but for rounding."""
    if "A" in claim:
        found, carried = A.submatrix(np.arange(A.size)), np.asarray(claim["A"], dtype=float)
    else:
        factor, X = A.wide_factor(), np.asarray(claim["X"], dtype=float)
        if factor is None or factor.shape != X.shape:
            return False
        found, carried = factor, X
    if found.shape != carried.shape:
        return False
    deviations = np.sqrt(np.maximum(A.diagonal(), 0))
    of_rows = deviations[:, None] if "A" in claim else 1.0
    return bool(np.all(np.abs(found - carried) <= SAME * of_rows * deviations))
