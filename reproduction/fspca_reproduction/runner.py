"""Run an experiment case by case, store its rows, show that they can be made again."""

import hashlib
import importlib
import json
import math
import os
import platform
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import active_children, get_context
from pathlib import Path

import numpy as np
import scipy

import fspca
from fspca import datasets
from fspca.catalogue import CATALOGUE

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "data" / "results"
STATE = ROOT / ".cache" / "reproduced.json"  # what this pass of `make reproduce` has made
MODULES = ("book.foundations", "tian2020.table_1", "tian2020.table_2", "tian2020.figures",
           "book.certificates", "tan2019.figures", "tan2019.costs",
           "asteris2014.figures", "asteris2014.nspca", "asteris2014.theory")  # fmt: skip


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
    modules = [importlib.import_module(f"fspca_reproduction.{name}") for name in MODULES]
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
    """Say whether a case needs a data set that is not here; scikit-learn's always are."""
    return case.get("set") in CATALOGUE and datasets.where(case["set"]) is None


def sources():
    """Return a hash of the code, the module's and ours: rows made by other code are not kept."""
    folders = Path(fspca.__file__).parent, Path(__file__).parent
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def made():
    """Return what this pass has made: hashes by the experiment's id or the notebook's path."""
    return json.loads(STATE.read_text()) if STATE.exists() else {}


def note(key, made_from):
    """Write down that this pass made something, and from what."""
    STATE.parent.mkdir(exist_ok=True)
    save(STATE, json.dumps(made() | {key: made_from}, indent=1, sort_keys=True) + "\n")


def save(path, text):
    """Write beside the file and rename, so that nobody ever meets half a file."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def need_checkout():
    """Say so if this is not a checkout of the project: results would go among packages."""
    if not (ROOT / "pyproject.toml").exists():
        raise FileNotFoundError(
            "experiments need a checkout of the project, where results are stored: "
            "clone it and install it with pip install -r requirements.txt"
        )


def pool(workers):
    """Return processes that compute with one thread each, and leave Ctrl-C to this one."""
    for library in ("OMP", "OPENBLAS", "MKL"):  # read when numpy loads: hence new processes
        os.environ[f"{library}_NUM_THREADS"] = "1"
    ignoring = (signal.SIGINT, signal.SIG_IGN)
    return ProcessPoolExecutor(workers, get_context("spawn"), signal.signal, ignoring)


def run(name, workers=2, progress=None):
    """Compute all rows of an experiment that are not there yet, and store them.

    Rows are appended to a file of their own as they are made, so an interrupted run goes on
    where it stopped, if the code is still the same.  Rows of data sets that are not here stay
    as they are stored.  Returns the path of the result.
    """
    need_checkout()
    cases = experiments()[name].cases
    workers = 1 if experiments()[name].alone else workers
    RESULTS.mkdir(parents=True, exist_ok=True)
    head = {"sources": sources()}
    partial = RESULTS / f".{name}.partial.jsonl"
    lines = partial.read_text().splitlines(keepends=True) if partial.exists() else []
    first, *done = [json.loads(line) for line in lines if line.endswith("\n")] or [head]
    if first != head:
        print(f"{name}: the code has changed since the interrupted run, so it starts afresh")
        done = []
    if lacking := [case for case in cases if lacks_data(case)]:
        if not (RESULTS / f"{name}.json").exists():
            raise datasets.MissingDataError(datasets.missing(lacking[0]["set"]))
        kept = [
            each for each in stored(name)["rows"] if any(c.items() <= each.items() for c in lacking)
        ]
        done += [each for each in kept if each not in done]
    partial.write_text("".join(json.dumps(each) + "\n" for each in [head, *done]))
    left = [case for case in cases if not any(case.items() <= old.items() for old in done)]
    started = time.perf_counter()
    with pool(workers) as processes, partial.open("a") as file:
        futures = [processes.submit(row, name, case) for case in left]
        rows = (future.result() for future in futures)
        try:
            for new in progress(rows, total=len(left), desc=name) if progress else rows:
                file.write(json.dumps(new) + "\n")
                file.flush()
                done.append(new)
        except BaseException:  # whatever stops this stops the workers, and loses no row
            for worker in active_children():
                worker.terminate()
            raise
    order = {json.dumps(rounded(case)): i for i, case in enumerate(cases)}
    keys = list(cases[0])
    done.sort(key=lambda each: order[json.dumps({key: each[key] for key in keys})])
    result = {
        "id": name,
        "command": f"python -m fspca_reproduction run {name}",
        "versions": {"python": platform.python_version(), "numpy": np.__version__,
                     "scipy": scipy.__version__},
        "seconds": rounded(time.perf_counter() - started),
        "rows": done,
    }  # fmt: skip
    listed = ",\n  ".join(json.dumps(each) for each in done)
    text = json.dumps(result | {"rows": "ROWS"}, indent=1).replace('"ROWS"', f"[\n  {listed}\n ]")
    path = RESULTS / f"{name}.json"
    save(path, text + "\n")
    partial.unlink()
    return path


def stored(name):
    """Return the stored result of an experiment."""
    need_checkout()
    path = RESULTS / f"{name}.json"
    if not path.exists():
        raise FileNotFoundError(
            f"there is no result of {name!r} in {RESULTS}; "
            f"make it with: {Path(sys.executable).name} -m fspca_reproduction run {name}"
        )
    return json.loads(path.read_text())


def published(name):
    """Return what a paper prints, draws or says of a table or figure."""
    return json.loads((RESULTS.parent / "published" / f"{name}.json").read_text())


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
