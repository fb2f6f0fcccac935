"""What is stored, the papers' numbers and ours: in a checkout's `data`, or with this in a wheel."""

import json
import math
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
CHECKOUT = (ROOT / "reproduction" / "pyproject.toml").exists()
DATA = ROOT / "data" if CHECKOUT else Path(__file__).parent / "data"
CHANGE = None  # what `seen_through` puts between a stored result and who asks for it


def need_checkout():
    """Say so if this is not a checkout of the project: what is made would go among packages."""
    if not (ROOT / "reproduction" / "pyproject.toml").exists():
        raise FileNotFoundError(
            "results and the ledger are made in a checkout of the project, where they are stored: "
            "clone it and install it with pip install -r requirements.txt"
        )


def result_path(name):
    return DATA / "results" / f"{name}.json"


@contextmanager
def seen_through(change):
    """Let `stored` return what change(name, result) makes of a result: to judge what is wrong."""
    global CHANGE
    CHANGE = change
    try:
        yield
    finally:
        CHANGE = None


def stored(name):
    """Return the stored result of an experiment."""
    path = result_path(name)
    if not path.exists():
        raise FileNotFoundError(
            f"there is no result of {name!r} in {path.parent}; "
            f"make it with: {Path(sys.executable).name} -m fspca_reproduction run {name}"
        )
    result = read_json(path)
    if not is_whole(result):
        raise DamagedError(f"{path} is not what a run has written: take it back, or remove it")
    return CHANGE(name, result) if CHANGE else result


class DamagedError(ValueError):
    """A file does not hold what was once written into it."""


class AbsentError(ValueError):
    """There is no such thing as was asked for."""


def read_json(path):
    """Return what a file of ours holds, or say that it was damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        told = f"{path} is damaged ({error}): take it back, or remove it"
        raise DamagedError(told) from None


def is_whole(result):
    """Say whether this is a result, each of whose rows has a stamp."""
    try:
        stamps, rows = result["stamps"], result["rows"]
        counted = sum(count for at, count in result["made"] if stamps[at]["commit"])
        return counted == len(rows) and all(isinstance(each, dict) for each in rows)
    except (LookupError, TypeError, ValueError):
        return False


def rows_of(name):
    """Return the stored rows of an experiment, with "last digits" among the rest.

    There stands what other roundings change, such as what a solver finds that has not settled.
    """
    return [flat(row) for row in stored(name)["rows"]]


def flat(each):
    """Return a nested dict whose "last digits" are merged into what holds them.

    >>> flat({"a": {"last digits": {"b": 1}, "c": 2}})
    {'a': {'c': 2, 'b': 1}}
    """
    if not isinstance(each, dict):
        return each
    kept = {key: flat(value) for key, value in each.items() if key != "last digits"}
    return kept | flat(each["last digits"]) if "last digits" in each else kept


def published(name):
    """Return what a paper prints, draws or says of a table or figure."""
    return read_json(DATA / "published" / f"{name}.json")


def published_ids():
    """Return the ids of what the papers print."""
    return sorted(path.stem for path in (DATA / "published").glob("*.json"))


def rounded(value):
    """Return floats to 6 significant digits, which is what machines agree on."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [rounded(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return float(f"{value:.6g}") if isinstance(value, float) and math.isfinite(value) else value


def same_row(one, other, rel=1e-5):
    """Say whether two rows agree, numbers up to a relative difference.

    Set aside are the keys "seconds", and "last digits": what rounding decides.
    """
    if isinstance(one, dict):
        keys = (one | other).keys() - {"seconds", "last digits"}
        return all(k in one and k in other and same_row(one[k], other[k], rel) for k in keys)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_row, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=rel, abs_tol=1e-9)
    return one == other
