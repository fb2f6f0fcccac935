"""No file, however damaged or hostile, does more than have a sentence said about it.

405 files, `tests/hostile_files.py`, at every door that reads one, in a process of its own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import toc

LIMIT = 2**26  # bytes that a file may unfold to, in the test


def tried(folder, only=""):
    """What the child says, and the paths of what was executed."""
    paths = [toc.ROOT, toc.ROOT / "reproduction", toc.ROOT / "tests"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, Path(__file__).with_name("hostile_child.py"), str(LIMIT), only]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout), list(folder.rglob("EXECUTED"))


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    return tried(tmp_path_factory.mktemp("hostile"))


def test_every_door_answers_with_a_sentence(told):
    assert [each for each in told[0]["found"] if each[2].startswith("FAULT")] == []


def test_nothing_is_executed_and_nothing_is_written_elsewhere(told):
    assert told[0]["heard"] == told[1] == []


def test_no_half_written_file_is_left(told):
    assert told[0]["left"] == []


def test_memory_is_bounded_by_what_a_file_may_unfold_to(told):
    assert told[0]["used"] < 4 * LIMIT


def test_an_execution_would_be_heard(tmp_path):
    told, executed = tried(tmp_path, "pickled")
    assert any("pickle.find_class" in each for each in told["heard"])
    assert any("os.system" in each for each in told["heard"])
    assert executed
