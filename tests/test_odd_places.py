"""The unit tests where few run them: as another user than root without HOME, without a network."""

import os
import re
import shutil
import site
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import toc

NOBODY = "65534"
PACKAGES = site.getsitepackages()[0]
UNIT = ["--doctest-modules", "fspca", "reproduction/fspca_reproduction", "tests",
        *(f"--ignore=tests/test_{name}.py" for name in ("book", "pages", "take_away"))]  # fmt: skip


# Where Python lies in a home that is closed to others, an open one that holds it alone.
OPENED = """
closed=$1 python=$2; shift 2
mount --bind "$python" /mnt
mount -t tmpfs -o mode=755 home "$closed"
mkdir -p "$python"
mount --bind /mnt "$python"
exec "$@"
"""


def as_nobody(command):
    """Return a command that runs another as a user of no rights, or None where that cannot be."""
    if os.getuid():
        return command  # it is another user than root already
    if not (shutil.which("setpriv") and shutil.which("unshare")):
        return None
    drop = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]
    python = Path(sys.base_prefix).resolve()
    for folder in reversed(python.parents):
        if not folder.stat().st_mode & 1:  # others may not go through
            opened = ["unshare", "--mount", "sh", "-ec", OPENED, "sh", folder, python]
            return [*opened, *drop, *command]
    return [*drop, *command]


def without_network(command):
    """Return a command that runs another where only the loopback is, or None."""
    if not (shutil.which("unshare") and shutil.which("ip")):
        return None
    apart = ["unshare", "--net", *([] if os.getuid() == 0 else ["--map-root-user"])]
    inside = [*apart, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    done = subprocess.run([*inside, "true"], capture_output=True)
    return [*inside, *command] if done.returncode == 0 else None


def runs_there(place):
    """Whether this Python runs in a place, and sees what is installed here."""
    seen = f"import os, sys; os.stat(os.path.realpath(sys.executable)); os.listdir({PACKAGES!r})"
    command = place([sys.executable, "-c", seen])
    return command and subprocess.run(command, capture_output=True, cwd="/").returncode == 0


def clone(folder):
    """Clone the project to where everybody may read."""
    folder.chmod(0o755)
    subprocess.run(["git", "clone", "--quiet", toc.ROOT, folder / "fspca"], check=True)
    return folder / "fspca"


def tried(place, folder, tests, **variables):
    """Run tests in a place, in a clone that belongs to its user; return what pytest said."""
    if not runs_there(place):
        pytest.skip("no such place on this machine")
    here = clone(folder)
    if place is as_nobody and os.getuid() == 0:
        for path in (here, *here.rglob("*")):
            shutil.chown(path, int(NOBODY), int(NOBODY))
    paths = (here, here / "reproduction", PACKAGES)
    variables |= {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PATH": os.environ["PATH"]}
    kept = {name: os.environ[name] for name in ("LANG", "TZ") if name in os.environ}
    asked = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(place([*asked, *tests]), cwd=here, env=kept | variables,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)  # fmt: skip
    return done


PLACES = {"another user than root, without HOME": as_nobody, "no network": without_network}


@pytest.mark.nightly
@pytest.mark.parametrize("name", PLACES)
def test_the_unit_tests_pass_in_odd_places(name, record_property):
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to others
        home = {} if PLACES[name] is as_nobody else {"HOME": folder}
        done = tried(PLACES[name], Path(folder), UNIT, **home)
    assert done.returncode == 0, done.stdout[-5000:]
    record_property("instances", int(re.search(r"(\d+) passed", done.stdout)[1]))


TOY = """
import os, socket
def test_user():
    assert os.getuid() and "HOME" not in os.environ and "FSPCA_DATA" not in os.environ
def test_network():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    assert [name for _, name in socket.if_nameindex()] == ["lo"]
"""


@pytest.mark.parametrize("name", PLACES)
def test_a_place_is_what_its_name_says(name, monkeypatch):
    monkeypatch.setenv("FSPCA_DATA", "/nowhere")
    with tempfile.TemporaryDirectory() as folder:
        toy = Path(folder, "test_toy.py")
        toy.write_text(TOY)
        which = "user" if PLACES[name] is as_nobody else "network"
        done = tried(PLACES[name], Path(folder), [f"{toy}::test_{which}", "-p", "no:passes"])
    assert done.returncode == 0, done.stdout + done.stderr
