"""Run an experiment case by case, and store its rows, each with the commit that made it."""

import importlib
import json
import os
import pkgutil
import platform
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from multiprocessing import active_children, connection, get_context, parent_process

import numpy as np
import scipy

import fspca_reproduction
from fspca import datasets
from fspca.datasets.catalogue import CATALOGUE
from fspca.datasets.files import write_whole
from fspca_reproduction import checkout
from fspca_reproduction.opening import lacking, opening
from fspca_reproduction.results import (
    ROOT,
    DamagedError,
    need_checkout,
    read_json,
    result_path,
    rounded,
    stored,
)

try:
    import fcntl
except ImportError:  # where there is none, two runs of one experiment are not kept apart
    fcntl = None

STATE = ROOT / ".cache" / "reproduced.json"  # what this pass of `make reproduce` has made


class AlreadyRunningError(RuntimeError):
    """Another process runs this experiment."""


def experiment(cases, alone=False, sets=()):
    """Declare a function of one case, a dict of keywords, to be an experiment over cases.

    A case opens the set that it names as its "set", and `sets`; opening another is an error.
    `alone`: it measures time, so cases run one by one.
    """

    def declare(function):
        function.cases, function.alone, function.sets = cases, alone, sets
        return function

    return declare


def experiments():
    """Return every experiment by its id: those of all folders here."""
    return experiments_in(tuple(fspca_reproduction.__path__))


@cache
def experiments_in(path):
    found = {}
    for each in pkgutil.walk_packages(path, "fspca_reproduction."):
        if each.name.count(".") > 1:
            names = vars(importlib.import_module(each.name)).items()
            found |= {name: f for name, f in names
                      if hasattr(f, "cases") and f.__module__ == each.name}  # fmt: skip
    return found


def row(name, case):
    """Compute the row of one case: its keywords and what the experiment found."""
    with opening(*sets_of(name, case)):
        return rounded(case | experiments()[name](**case))


def sets_of(name, case):
    """Return the data sets that a case opens: of the catalogue, or a file "benchmark_NAME"."""
    asked = (case.get("set", ""), *experiments()[name].sets)
    return [each for each in asked if each in CATALOGUE or each.startswith("benchmark_")]


def made():
    """Return what this pass has made, from which code: by an id or a notebook's path."""
    found = read_json(STATE) if STATE.exists() else {}
    if not isinstance(found, dict):
        raise DamagedError(f"{STATE} is not what a pass has written: remove it")
    return found


def note(key, made_from):
    """Write down that this pass made something, and from what; of code without a name, nothing."""
    if made_from is None:
        return
    STATE.parent.mkdir(exist_ok=True)
    write_whole(STATE, json.dumps(made() | {key: made_from}, indent=1, sort_keys=True) + "\n")


def stamps(result):
    """Return the stamp of every row of a stored result: the commit, the day, the versions."""
    return [result["stamps"][i] for i, count in result["made"] for _ in range(count)]


def makers(result):
    """Return (day, commit, number of rows) of each commit that made some rows, the oldest first.

    A plus stands behind a commit that was checked out with files that differed from it.
    """
    counted = Counter()
    for stamp in stamps(result):
        differs = "+" if stamp.get("clean") is False else ""
        counted[stamp.get("date", ""), stamp["commit"] + differs] += 1
    return [(day, commit, count) for (day, commit), count in sorted(counted.items())]


def making(result):
    """Say when and by which commit the rows of a result were made."""
    told = [
        f"{count} rows made {f'by {commit} on {day}' if day else commit}"
        for day, commit, count in makers(result)
    ]
    return "; ".join(told)


def is_older(name, than):
    """Say whether some row was last made by a commit that does not contain another one.

    Nor does one that made it together with files which were not committed.
    """
    if not result_path(name).exists():
        return True
    used = {i for i, _ in stored(name)["made"]}
    return not all(
        stamp.get("clean") and checkout.contains(stamp["commit"], than)
        for i, stamp in enumerate(stored(name)["stamps"])
        if i in used
    )


def stamp_of_today():
    """Return what a row says of its making: the commit, whether it was clean, day and versions."""
    return {
        "commit": checkout.commit() or "no checkout",
        "clean": checkout.is_clean(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
    }


@contextmanager
def only_run(name):
    """Hold the lock of an experiment; a process that ends, however it ends, holds it no longer."""
    with (result_path(name).parent / f".{name}.lock").open("w") as file:
        try:
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunningError(f"another process is running {name}") from None
        yield


def attend():
    """Leave Ctrl-C to the process that started this one, and end when it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()


def end_with_parent():
    connection.wait([parent_process().sentinel])
    os._exit(1)


def pool(workers):
    """Return processes that compute with one thread each."""
    for library in ("OMP", "OPENBLAS", "MKL"):  # read when numpy loads: hence new processes
        os.environ[f"{library}_NUM_THREADS"] = "1"
    return ProcessPoolExecutor(workers, get_context("spawn"), attend)


def run(name, workers=2, progress=None):
    """Compute the rows of an experiment, store them, and return the path of the result.

    Rows are appended to a file of their own as they are made, so that an interrupted run goes on
    where it stopped, if the code is that of the same clean commit.  Rows of data sets that are not
    here stay as they are stored, with their stamp.
    """
    need_checkout()
    function = experiments()[name]
    result_path(name).parent.mkdir(parents=True, exist_ok=True)
    with only_run(name):
        done = kept(name, function.cases) | begun(name, function.cases)
        left = [case for case in function.cases if place(case) not in done]
        compute(name, left, done, 1 if function.alone else workers, progress)
        write(name, [done[place(case)] for case in function.cases])
    return result_path(name)


def place(case):
    return json.dumps(rounded(case))


def partial_path(name):
    return result_path(name).with_name(f".{name}.partial.jsonl")


def kept(name, cases):
    """Return the stored rows that are not to be computed, with their stamps, by place."""
    stuck = {place(case): missing for case in cases if (missing := lacking(sets_of(name, case)))}
    if not result_path(name).exists():
        for missing in stuck.values():
            raise datasets.MissingDataError(datasets.missing(missing[0]))
        return {}
    result, keys = stored(name), cases[0].keys()
    old = {
        place({key: each[key] for key in keys}): {"row": each, "stamp": stamp}
        for each, stamp in zip(result["rows"], stamps(result), strict=True)
    }
    return {each: old[each] for each in stuck}


def begun(name, cases):
    """Return the rows of an interrupted run that the same code of a clean commit made, by place."""
    if not partial_path(name).exists():
        return {}
    lines = partial_path(name).read_bytes().splitlines(keepends=True)
    found = [each for each in map(row_in, lines) if each]
    places, trees = set(map(place, cases)), found and checkout.trees()
    same = [each for each in found if trees and each["trees"] == trees and each["place"] in places]
    if len(same) < len(found):
        print(f"{name}: the code is not that of the interrupted run, or not committed; "
              f"{len(found) - len(same)} of its rows are made again")  # fmt: skip
    write_whole(partial_path(name), "".join(json.dumps(each) + "\n" for each in same))
    return {each["place"]: each for each in same}


def row_in(line):
    """Return the row in a line of a partial file, or None where it was cut or damaged."""
    try:
        found = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None
    wanted = {"place": str, "trees": str, "stamp": dict, "seconds": float, "row": dict}
    whole = isinstance(found, dict) and found.keys() == wanted.keys()
    return found if whole and all(isinstance(found[key], wanted[key]) for key in wanted) else None


def compute(name, left, done, workers, progress):
    """Compute the rows that are left; add them to those done and to the partial file."""
    stamp, trees = stamp_of_today(), checkout.trees() or "not committed"
    before = time.perf_counter()
    with pool(workers) as processes, partial_path(name).open("a") as file:
        futures = [processes.submit(row, name, case) for case in left]
        rows = (future.result() for future in futures)
        rows = progress(rows, total=len(left), desc=name) if progress else rows
        try:
            for case, new in zip(left, rows, strict=True):
                now = time.perf_counter()
                each = {"place": place(case), "trees": trees, "stamp": stamp,
                        "seconds": now - before, "row": new}  # fmt: skip
                before = now
                file.write(json.dumps(each) + "\n")
                file.flush()
                done[each["place"]] = each
        except BaseException:  # whatever stops this stops the workers, and loses no row
            for worker in active_children():
                worker.terminate()
            raise


def write(name, done):
    """Store rows: first which commit made which, in how many seconds over all interruptions."""
    found, order = [], []
    for each in done:
        stamp = each["stamp"]
        same = [i for i, old in enumerate(found)
                if old | {"seconds": 0} == stamp | {"seconds": 0}]  # fmt: skip
        i = same[0] if same else len(found)
        if not same:
            found.append(stamp | {"seconds": stamp.get("seconds", 0.0)})
        found[i]["seconds"] += each.get("seconds", 0.0)
        if order and order[-1][0] == i:
            order[-1][1] += 1
        else:
            order.append([i, 1])
    result = {
        "id": name,
        "command": f"python -m fspca_reproduction run {name}",
        "stamps": rounded(found),
        "made": order,
        "seconds": rounded(sum(stamp["seconds"] for stamp in found)),
        "rows": [each["row"] for each in done],
    }
    write_whole(result_path(name), as_text(result))
    partial_path(name).unlink(missing_ok=True)


def as_text(result):
    """Return a result as JSON with a line for each row and each stamp."""
    lines = []
    for key, value in result.items():
        listed = key in ("stamps", "rows")
        inner = ",\n  ".join(map(json.dumps, value)) if listed else ""
        lines.append(f' "{key}": ' + (f"[\n  {inner}\n ]" if listed else json.dumps(value)))
    return "{\n" + ",\n".join(lines) + "\n}\n"
