"""A wall around a student's process: the operating system's, not Python's.

Behind it there are Python, numpy, the project's data and a temporary folder of 16 MB: no network,
no other process, no file of the course or of its graders.  `unshare` builds it (wall.sh), else
bubblewrap; FSPCA_COURSE_WALL names one, or says `none`.  Each is tried before it is relied upon.
"""

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
from contestant import MACHINES, REFUSED

HERE = Path(__file__).resolve().parent
# The projects' data: beside the course in the instructor's archive, else the book's own.
PLACES = [HERE.parent / "data", HERE.parents[2] / "fspca" / "datasets" / "raw"]
PROJECT_DATA = {
    "tissue": "tissue_expression.npz",
    "spectra": "tecator_spectra.npz",
    "digits": "digit_pixels.npz",
}
PROGRAM = HERE / "contestant.py"
NOBODY = "65534"
WALLS = "unshare, and no bubblewrap"
NUMPY = ("numpy", "numpy.libs")
SITE = Path(np.__file__).resolve().parents[1]
ENVIRONMENT = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class NoWall(Exception):
    """Why nothing is graded: no wall, or no salt."""


def data_files():
    """The data that lie beside a project's notebook."""
    place = next(place for place in PLACES if place.is_dir())
    return [place / name for name in PROJECT_DATA.values()]


def let_in():
    """What is to be seen behind the wall: [(link, bind or mask, path)]."""
    system = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/alternatives", "/usr/bin/setpriv"]
    python, library = Path(sys.executable).resolve(), Path(sys.base_prefix).resolve() / "lib"
    shown = [*map(Path, system), python, library, Path("/dev/null"), PROGRAM, *data_files()]
    found = [("link" if path.is_symlink() else "bind", path) for path in shown if path.exists()]
    for place in {library, Path("/usr/lib")}:  # solvers may be installed there
        found += [("mask", path) for path in place.glob("python3*/*-packages")]
    return found + [("bind", path) for path in map(SITE.joinpath, NUMPY) if path.exists()]


def unshare(as_root):
    """The command up to the program: namespaces, and what wall.sh does in them."""
    names = ["--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child"]
    names += [] if as_root else ["--user", "--map-root-user"]
    words = [word for kind, path in let_in() for word in (kind, str(path))]
    return lambda root: [
        *("unshare", *names, "--", "sh", str(HERE / "wall.sh"), root, *words),
        *("run", NOBODY if as_root else "0"),
    ]


def bubblewrap():
    options = {"link": "--symlink", "bind": "--ro-bind", "mask": "--tmpfs"}
    words = []
    for kind, path in let_in():
        source = {"link": os.readlink(path) if kind == "link" else "", "bind": str(path)}
        words += ["--size", str(1 << 20)] if kind == "mask" else []
        words += [options[kind], *([source[kind]] if kind in source else []), str(path)]
    held = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    own = ["--size", str(16 << 20), "--tmpfs", "/tmp"]
    null = ["--dev-bind", "/dev/null", "/dev/null", "--remount-ro", "/", "--chdir", "/"]
    return lambda root: ["bwrap", *held, *own, *words, *null, "--"]


def walls():
    """Those that may be had here, the first choice first."""
    found = {}
    if sys.platform == "linux" and all(map(shutil.which, ("unshare", "setpriv", "chroot"))):
        if os.getuid() == 0:
            found["unshare as root"] = unshare(True)
        found["unshare"] = unshare(False)
    if shutil.which("bwrap"):
        found["bubblewrap"] = bubblewrap()
    return found


PYTHON = [str(Path(sys.executable).resolve()), "-I", "-S"]
TRIAL = """
import ctypes, os, socket, numpy
def does(what):
    try:
        what()
    except (OSError, MemoryError):
        return False
    return True
def fill():
    for number in range(4):
        with open(f"/tmp/{number}", "wb") as file:
            file.write(bytes(8 << 20))
held = {
    "sees the course": os.path.exists(HIDDEN),
    "sees the salt": "FSPCA_COURSE_SALT" in os.environ,
    "sees other processes": os.getppid() != 1,
    "reaches the network": does(lambda: socket.create_connection(("127.0.0.1", PORT), 1)),
    "starts a process": does(lambda: os.fork() or os._exit(0)),
    "takes two gigabytes": does(lambda: numpy.ones(1 << 28)),
    "fills the disk": does(fill),
    "writes where programs are": does(lambda: open(PROGRAM, "a")),
    "keeps keys": ctypes.CDLL(None).syscall(KEYCTL, 0, -3, 1) >= 0,
}
held = [what for what, done in held.items() if done]
"""


def command(wall, root):
    """The command that runs contestant.py behind a wall."""
    return [*wall(root), *PYTHON, str(PROGRAM), str(SITE), *map(str, data_files())]


def faults(wall):
    """What a student's code can do behind it that it should not; or that nothing runs there."""
    with tempfile.TemporaryDirectory() as root, socket.create_server(("127.0.0.1", 0)) as listener:
        words = {"HIDDEN": str(HERE / "examiner.py"), "PROGRAM": str(PROGRAM)}
        which, _ = MACHINES.get(platform.machine(), (0, 0))
        words |= {"PORT": listener.getsockname()[1], "KEYCTL": REFUSED["keyctl"][which]}
        cell = "".join(f"{name} = {word!r}\n" for name, word in words.items()) + TRIAL
        asked = "".join(json.dumps(each) + "\n" for each in ({"cell": cell}, {"names": ["held"]}))
        with suppress(OSError, ValueError, LookupError, subprocess.SubprocessError):
            run = {"env": ENVIRONMENT, "capture_output": True, "text": True, "timeout": 60}
            came = subprocess.run(command(wall, root), input=asked, **run)
            return json.loads(came.stdout.splitlines()[1])["names"]["held"]["value"]["list"]
    return ["runs nothing at all"]


@cache
def built(asked):
    """The wall that holds: (its name, root -> the command in front of the program)."""
    if asked == "none":
        return asked, lambda root: []
    tried = {}
    for name, wall in walls().items():
        if asked in (None, name):
            tried[name] = faults(wall)
            if not tried[name]:
                return name, wall
    said = "; ".join(f"behind {name} it {', '.join(what)}" for name, what in tried.items())
    raise NoWall(
        f"No wall holds students' code here ({said or f'there is no {asked or WALLS}'}).  The "
        "guide says what to do; FSPCA_COURSE_WALL=none grades all the same, with your rights."
    )


def name():
    """The name of the wall asked for, tried."""
    return built(os.environ.get("FSPCA_COURSE_WALL"))[0]


def around(root, behind):
    """The command that runs contestant.py behind a wall that was tried."""
    return command(walls().get(behind, lambda root: []), root)
