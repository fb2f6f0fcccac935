"""Ctrl-C, a kill and a full disk, whenever: what goes on from there ends in the same bytes.

All but the stamps: which seconds a row took.  And no process is left.  By night three times each.
"""

import functools
import http.server
import io
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import toc

SUBJECTS = ("runner", "notebooks", "fetch", "path", "choice", "trees")
COMMANDS = ("runner", "notebooks", "fetch", "path")
WAYS = ("Ctrl-C", "kill", "full disk")
NIGHT = [(SUBJECTS[seed % 6], WAYS[seed // 6 % 3], seed) for seed in range(36)]  # 2 of each
CI = [("path", "kill", 0), ("choice", "Ctrl-C", 1), ("choice", "full disk", 2)]


@pytest.fixture(scope="module")
def address():
    """An address that sends a set in small pieces."""
    text = io.BytesIO()
    np.savetxt(text, np.arange(6000.0).reshape(300, 20))
    content = text.getvalue()

    class Slow(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            try:
                for start in range(0, len(content), 8192):
                    self.wfile.write(content[start : start + 8192])
                    time.sleep(0.02)
            except OSError:  # who asked has been interrupted
                pass

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def start(subject, folder, address, mark, limit=None):
    """Start a subject in a session of its own; its processes and theirs bear a mark."""
    folders = (".", "reproduction", "tests", "book/tools")
    paths = os.pathsep.join(str(toc.ROOT / each) for each in folders)
    environment = os.environ | {"PYTHONPATH": paths, "INTERRUPTED": mark, "MPLBACKEND": "agg"}
    command = [sys.executable, str(Path(__file__).with_name("interrupted_child.py")), subject,
               str(folder), *([address] if subject == "fetch" else [])]  # fmt: skip
    cap = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
    return subprocess.Popen(command, env=environment, start_new_session=True, text=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            preexec_fn=cap if limit is not None else None)  # fmt: skip


def left(mark):
    """Return the processes that bear a mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"INTERRUPTED={mark}\0".encode() in path.read_bytes():
                found.append((path.parent / "cmdline").read_text().replace("\0", " "))
        except OSError:  # it has ended
            continue
    return [command for command in found if command]


def contents(folder):
    """Return what a folder holds: bytes by path, without stamps, locks and our own table's."""
    return {
        str(path.relative_to(folder)): without_seconds(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


def without_seconds(path):
    if path.suffix != ".json":
        return path.read_bytes()

    def drop(pairs):
        return {key: value for key, value in pairs if key not in ("seconds", "stamps", "made")}

    return json.loads(path.read_text(), object_pairs_hook=drop)


@functools.cache
def undisturbed(subject, folder, address):
    """Return what a subject leaves if nobody disturbs it, and its seconds."""
    (folder / subject).mkdir()
    began = time.monotonic()
    process = start(subject, folder / subject, address, f"{subject}-whole")
    told = process.communicate()[1]
    assert process.returncode == 0, told
    return contents(folder / subject), time.monotonic() - began


def disturb(subject, way, seed, folder, address, whole, seconds):
    """Interrupt a subject somewhere; return what it said."""
    rng, mark = np.random.default_rng(seed), f"{subject}-{way}-{seed}".replace(" ", "-")
    sizes = [len(each) for each in whole.values() if isinstance(each, bytes)] or [20_000]
    limit = int(rng.integers(1, max(sizes))) if way == "full disk" else None
    process = start(subject, folder, address, mark, limit)
    if way != "full disk":
        time.sleep(seconds * rng.uniform(0.05, 1))
        if way == "kill":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGINT)
    told = process.communicate()[1]
    until = time.monotonic() + 20
    while left(mark) and time.monotonic() < until:
        time.sleep(0.2)
    assert left(mark) == []
    return told


def check(subject, way, seed, tmp_path, whole, address):
    expected, seconds = undisturbed(subject, whole, address)
    told = disturb(subject, way, seed, tmp_path, address, expected, seconds)
    if way == "full disk" and subject in COMMANDS:  # they end in a sentence
        assert "Traceback" not in told, told
    again = start(subject, tmp_path, address, "again")
    said = again.communicate()[1]
    assert again.returncode == 0, said
    assert contents(tmp_path) == expected


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return tmp_path_factory.mktemp("whole")


@pytest.mark.parametrize(("subject", "way", "seed"), CI)
def test_goes_on(subject, way, seed, tmp_path, whole, address):
    check(subject, way, seed, tmp_path, whole, address)


@pytest.mark.nightly
@pytest.mark.parametrize(("subject", "way", "seed"), NIGHT)
def test_goes_on_wherever_it_is_interrupted(subject, way, seed, tmp_path, whole, address):
    check(subject, way, seed, tmp_path, whole, address)


def test_a_process_that_is_left_is_seen():
    waits = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(waits, env=os.environ | {"INTERRUPTED": "left"}) as process:
        try:
            assert len(left("left")) == 1
        finally:
            process.kill()
    assert left("left") == []
