"""What `-m nightly` runs is stored, test by test: data/results/nightly, which a page shows.

A test says on how many instances it was with `record_property("instances", 2000)`; else it is one.
What it found beside may be `told`, in a few words.  Its seconds are of the processor, with those of
its child processes: they say the same on a busy machine as on a quiet one.
"""

import json
import os
import platform
import sys
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path

import passes
import pytest

from fspca.datasets.files import write_whole
from fspca_reproduction import checkout

TOP = Path(__file__).parents[1]
FOLDER = TOP / "data" / "results" / "nightly"
NOW = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())


def pytest_addoption(parser, pluginmanager):
    pluginmanager.register(passes)
    parser.addoption("--resume", action="store_true", help="skip what passed with this code")


@cache
def commit():
    """The commit that is tested, with a plus where files of the code differ from it."""
    return checkout.commit(TOP) + "+" * (not checkout.is_clean("tests", root=TOP))


@cache
def trees(file):
    """What git calls the code and a file of tests, or None where they are not committed."""
    return checkout.trees(f"tests/{Path(file).name}", root=TOP)


def stored(path):
    return json.loads(path.read_text()) if path.exists() else {"runs": {}, "tests": {}}


def written(path, runs, tests):
    """Write one line for a run and one for a test."""
    runs = {name: runs[name] for name in sorted({row["run"] for row in tests.values()})}
    parts = []
    for title, rows in (("runs", runs), ("tests", tests)):
        lines = [f"    {json.dumps(name)}: {json.dumps(rows[name])}" for name in rows]
        parts.append(f'  "{title}": {{\n' + ",\n".join(lines) + "\n  }")
    path.parent.mkdir(exist_ok=True)
    write_whole(path, "{\n" + ",\n".join(parts) + "\n}\n")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--resume"):
        passed = set()
        for path in FOLDER.glob("*.json"):
            kept, here = stored(path), trees(f"{path.stem}.py")
            at = {name for name, run in kept["runs"].items() if here and run.get("trees") == here}
            passed |= {f"tests/{path.stem}.py::{name}" for name, row in kept["tests"].items()
                       if row["run"] in at and row["outcome"] == "passed"}  # fmt: skip
        items[:] = [item for item in items if item.nodeid not in passed]


def pytest_runtest_setup(item):
    """The system may refuse a wall to another user than root; root has one or fails."""
    if item.get_closest_marker("needs_wall") and os.getuid():
        import wall  # which draws in the course

        try:
            wall.name()
        except wall.NoWall:
            pytest.skip("no wall for this user: unshare and bubblewrap are refused or not here")


def processor_seconds():
    """The time of this process and of its children that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    began = processor_seconds()
    try:
        return (yield)
    finally:
        item.user_properties.append(("seconds", processor_seconds() - began))
        # numpy's numbers can be sent to no other process, and stand in no JSON
        plain = [(key, getattr(value, "tolist", lambda v=value: v)())
                 for key, value in item.user_properties]  # fmt: skip
        item.user_properties[:] = plain


def pytest_runtest_logreport(report):
    """Store each nightly test when it has ended, so that a run that is cut short loses none."""
    told = "nightly" in report.keywords and (report.when == "call" or not report.passed)
    if not told or "PYTEST_XDIST_WORKER" in os.environ:
        return
    file, _, name = report.nodeid.partition("::")
    path = FOLDER / f"{Path(file).stem}.json"
    kept = stored(path)
    kept["runs"][NOW] = {
        "command": f"pytest {' '.join(sys.argv[1:])}",
        "commit": commit(),
        "trees": trees(file),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "seconds": "of the processor",  # those of older runs are by the clock
    }
    said = dict(report.user_properties)
    kept["tests"][name] = {
        "outcome": report.outcome,
        "instances": said.get("instances", 1),
        **{key: said[key] for key in ("told",) if key in said},
        "seconds": float(f"{said.get('seconds', 0):.2g}"),
        "run": NOW,
    }
    written(path, kept["runs"], kept["tests"])
