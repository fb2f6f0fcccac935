"""Run an experiment case by case, store its rows, show that they can be made again."""

import importlib
import json
import math
import platform
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import scipy

from fspca import datasets

RESULTS = Path(__file__).resolve().parents[2] / "data" / "results"
MODULES = (  # functions with a list of `cases`
    "foundations",
    "tian2020_table_1",
    "tian2020",
    "tian2020_figures",
)


def experiment(cases, alone=False):
    """Declare a function of one case, a dict of keywords, to be an experiment over cases.

    A case with a "set" needs that data set.  `alone`: it measures time, so cases run one by one.
    """

    def declare(function):
        function.cases, function.alone = cases, alone
        return function

    return declare


def experiments():
    """Return every experiment by its id."""
    modules = [importlib.import_module(f"fspca.experiments.{name}") for name in MODULES]
    return {
        name: function
        for module in modules
        for name, function in vars(module).items()
        if hasattr(function, "cases") and function.__module__ == module.__name__
    }


def rounded(value):
    """Return floats to 6 significant digits, which is what machines agree on."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [rounded(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return float(f"{value:.6g}") if isinstance(value, float) and math.isfinite(value) else value


def row(name, case):
    """Compute the row of one case: its keywords and what the experiment found."""
    return rounded(case | experiments()[name](**case))


def lacks_data(case):
    """Say whether a case needs a data set that is not here."""
    return "set" in case and datasets.where(case["set"]) is None


def run(name, workers=2, progress=None):
    """Compute all rows of an experiment that are not there yet, and store them.

    Rows are appended to a file of their own as they are made, so an interrupted run goes on
    where it stopped.  Rows of data sets that are not here stay as they are stored.  Returns the
    path of the result.
    """
    cases = experiments()[name].cases
    workers = 1 if experiments()[name].alone else workers
    RESULTS.mkdir(parents=True, exist_ok=True)
    partial = RESULTS / f".{name}.partial.jsonl"
    lines = partial.read_text().splitlines(keepends=True) if partial.exists() else []
    done = [json.loads(line) for line in lines if line.endswith("\n")]
    if lacking := [case for case in cases if lacks_data(case)]:
        if not (RESULTS / f"{name}.json").exists():
            raise datasets.MissingDataError(datasets.missing(lacking[0]["set"]))
        kept = [
            each for each in stored(name)["rows"] if any(c.items() <= each.items() for c in lacking)
        ]
        done += [each for each in kept if each not in done]
    partial.write_text("".join(json.dumps(each) + "\n" for each in done))
    left = [case for case in cases if not any(case.items() <= old.items() for old in done)]
    started = time.perf_counter()
    with ProcessPoolExecutor(workers) as pool, partial.open("a") as file:
        rows = pool.map(row, [name] * len(left), left)
        for new in progress(rows, total=len(left), desc=name) if progress else rows:
            file.write(json.dumps(new) + "\n")
            file.flush()
            done.append(new)
    order = {json.dumps(rounded(case)): i for i, case in enumerate(cases)}
    keys = list(cases[0])
    done.sort(key=lambda each: order[json.dumps({key: each[key] for key in keys})])
    result = {
        "id": name,
        "command": f"python -m fspca.experiments run {name}",
        "versions": {"python": platform.python_version(), "numpy": np.__version__,
                     "scipy": scipy.__version__},
        "seconds": rounded(time.perf_counter() - started),
        "rows": done,
    }  # fmt: skip
    listed = ",\n  ".join(json.dumps(each) for each in done)
    text = json.dumps(result | {"rows": "ROWS"}, indent=1).replace('"ROWS"', f"[\n  {listed}\n ]")
    path = RESULTS / f"{name}.json"
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text + "\n")
    temporary.replace(path)
    partial.unlink()
    return path


def stored(name):
    """Return the stored result of an experiment."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        raise FileNotFoundError(
            f"there is no result of {name!r} in {RESULTS}; "
            f"make it with: {Path(sys.executable).name} -m fspca.experiments run {name}"
        )
    return json.loads(path.read_text())


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
