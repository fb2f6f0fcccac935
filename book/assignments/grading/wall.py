"""A wall around a student's process: the operating system's, not Python's.

Behind it there are Python, numpy, the project's data and a temporary folder of 16 MB: no network,
no other process, no file of the course or of its graders.  `unshare` builds it (wall.sh), else
bubblewrap; FSPCA_COURSE_WALL names one, or says `container` (see Containerfile) or `none`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from examiner import data_files

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "contestant.py"
NOBODY = "65534"
NUMPY = ("numpy", "numpy.libs")
SITE = Path(np.__file__).resolve().parents[1]
LIMITS = ["--memory", "2g", "--pids-limit", "32", "--tmpfs", "/tmp:size=16m"]


class NoWall(Exception):
    """Why nothing is graded: no wall, or no salt."""


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
        words += [options[kind], *([source[kind]] if kind in source else []), str(path)]
    held = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    return lambda root: ["bwrap", *held, "--tmpfs", "/tmp", *words, "--dev", "/dev", "--"]


def container():
    engine = next(filter(shutil.which, ("podman", "docker")), "podman")
    run = [engine, "run", "--rm", "-i", "--network", "none", "--read-only", *LIMITS]
    return lambda root: [*run, "--user", NOBODY, "fspca-contestant"]


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


def holds(wall):
    """Whether Python and numpy run behind it, do not see this file, and are alone."""
    said = f"import os, sys; sys.path.append({str(SITE)!r}); import numpy; "
    said += f"print(os.path.exists({str(HERE / 'examiner.py')!r}), os.getppid() == 1)"
    with tempfile.TemporaryDirectory() as root:
        try:
            command = [*wall(root), *PYTHON, "-c", said]
            came = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except OSError:
            return False
    return came.stdout.split() == ["False", "True"]


@cache
def built(asked):
    """The wall that holds: (its name, root -> the command in front of the program)."""
    if asked == "none":
        return asked, lambda root: []
    if asked == "container":
        return asked, container()
    for name, wall in walls().items():
        if asked in (None, name) and holds(wall):
            return name, wall
    raise NoWall(
        f"No wall can be had here ({asked or 'unshare and bubblewrap were tried'}): students' code "
        "would run with your rights.  FSPCA_COURSE_WALL=none grades all the same; the guide says "
        "what else there is."
    )


def name():
    return built(os.environ.get("FSPCA_COURSE_WALL"))[0]


def around(root):
    """The command that runs contestant.py behind the wall asked for."""
    found, wall = built(os.environ.get("FSPCA_COURSE_WALL"))
    if found == "container":
        return wall(root)
    return [*wall(root), *PYTHON, str(PROGRAM), str(SITE), *map(str, data_files())]
