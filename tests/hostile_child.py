"""Every door of the module and of the runner, tried with every damaged file: one process.

Its memory has a limit, and what would be an execution is heard by an audit hook.  Prints one JSON:
what each door did with each file, what was heard, what was left behind, the memory at most.

    python hostile_child.py LIMIT ONLY    # bytes that a file may unfold to; one name, "" for all
"""

import contextlib
import io
import json
import os
import resource
import signal
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import hostile_files
import numpy as np

from fspca import check_certificate, datasets
from fspca.__main__ import main
from fspca.datasets import files
from fspca.datasets.catalogue import CATALOGUE
from fspca.datasets.tables import TableError, read_table
from fspca.selection import select_k
from fspca_reproduction import results, runner

SECONDS = 20  # for one door and one file
HEARD = ("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "subprocess.", "socket.",
         "pickle.find_class", "webbrowser.", "urllib.")  # fmt: skip
X = np.random.default_rng(1).standard_normal((8, 3))
heard, current = [], [""]


def listen(event, arguments):
    """Note what runs something, and what is written outside this folder."""
    said = event.startswith(HEARD)
    if event == "open" and isinstance(arguments[0], str | os.PathLike):
        path, _, flags = arguments
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
        inside = Path(path).absolute().is_relative_to(Path.cwd())
        said = bool(writes) and not inside and str(path) != os.devnull
    if said:
        heard.append(f"{current[0]}: {event} {arguments!r:.100}")


def late(*_):
    raise TimeoutError(f"not done after {SECONDS} seconds")


def called(*arguments):
    """Return the code of a command line, which may end in no other way."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()) as told,
    ):
        try:
            code = main([str(each) for each in arguments]) or 0
        except SystemExit as end:
            code = end.code or 0
    assert code in (0, 1), code
    assert (code == 0 or arguments[0] == "check") or told.getvalue().startswith("fspca: ")
    assert "\x1b" not in told.getvalue(), "a sign that steers a terminal"
    return code


def into_file(path, *arguments):
    """The same with its answer in a file, which is there if and only if all went well."""
    out = Path("answer.txt")
    out.unlink(missing_ok=True)
    code = called(arguments[0], path, *arguments[1:], "--output", out)
    wanted = code == 0 or arguments[0] == "check"  # that it does not hold is an answer
    assert out.exists() == wanted, "an answer without success, or success without one"
    said = out.read_text() if out.exists() else ""
    assert "\x1b" not in said, "a sign that steers a terminal"
    return code


def looked_at(path):
    with contextlib.redirect_stdout(io.StringIO()):
        return check_certificate.check_files([str(path)])


def table(path):
    found = read_table(path)
    assert len(found.X.shape) == 2
    assert 0 not in found.X.shape


def loaded(path):
    """As a set that was put there by hand: text as one, archives as another."""
    there, datasets.where = datasets.where, lambda name: path
    try:
        datasets.load("pitprops" if path.suffix == ".csv" else "wine")
    finally:
        datasets.where = there


def resumed(path):
    """As the rows of a choice that was interrupted; what is not one of ours stays as it is."""
    before = path.read_bytes()
    try:
        select_k(X, 1, [2, 3], folds=2, subsamples=2, permutations=2, resume=path)
    finally:
        assert path.read_bytes() == before


def fetched(path):
    """As what an address sends."""
    import pooch

    url = f"http://nowhere.example/x.{path.suffix[1:]}"
    CATALOGUE["wine"] = replace(CATALOGUE["wine"], url=url)
    pooch.retrieve = lambda *a, **b: str(path)
    os.environ["XDG_CACHE_HOME"] = str(Path.cwd())
    datasets.fetch("wine", progressbar=False)


def noted(path):
    """As each of the runner's own files: a stored result, rows begun, the notes of a pass."""
    name = "tian2020_table_1"
    results.DATA = Path.cwd()
    Path("results").mkdir(exist_ok=True)
    content = path.read_bytes()
    try:
        for file in (results.result_path(name), runner.partial_path(name), runner.STATE):
            file.write_bytes(content)
        cases = runner.experiments()[name].cases
        with contextlib.redirect_stdout(io.StringIO()):
            assert runner.begun(name, cases) == {}
        for door in (lambda: results.stored(name), runner.made):
            with contextlib.suppress(results.DamagedError):
                door()
    finally:
        for file in (*Path("results").iterdir(), runner.STATE):
            file.unlink(missing_ok=True)
        Path("results").rmdir()
        Path("cache").mkdir(exist_ok=True)


DOORS = {  # by ending: what is tried, and what it may raise
    ".csv": ((table, TableError), (loaded, ValueError), (resumed, ValueError)),
    ".npz": ((table, TableError), (loaded, ValueError), (looked_at, ())),
    ".mtx": ((table, TableError),),
    ".mat": ((fetched, ValueError),),
    ".bz2": ((fetched, ValueError),),
    ".txt": ((fetched, ValueError),),
    ".json": ((noted, ()),),
}
COMMANDS = (("select", "-m", 1, "-k", 1), ("path", "-m", 1, "-k", 1, "--scale"), ("check",))


def written(folder):
    """Put all files into a folder."""
    rng = np.random.default_rng(0)
    for file, name, content in hostile_files.all_files():
        (folder / file).write_bytes(content)
        yield folder / file, name
    for number, (ending, name, content) in enumerate(hostile_files.downloads(rng)):
        (folder / f"{number:03}.{ending}").write_bytes(content)
        yield folder / f"{number:03}.{ending}", name
    for number, (name, content) in enumerate(hostile_files.notes()):
        (folder / f"{number:03}.json").write_bytes(content)
        yield folder / f"{number:03}.json", name


def odd(folder):
    """What is no file, or has an odd name."""
    (folder / "folder.csv").mkdir()
    (folder / "folder.npz").mkdir()
    for ending in ("csv", "npz", "mtx"):
        os.mkfifo(folder / f"pipe.{ending}")
        for name, target in (
            ("zero", "/dev/zero"),
            ("gone", "nowhere"),
            ("self", f"self.{ending}"),
        ):
            (folder / f"{name}.{ending}").symlink_to(target)
    good = b"a,b\n1,2\n3,5\n2,2\n"
    for name in ("no ending", "a.csv.gz", "a.pkl", "a.xlsx", "\x1b[2J.csv", "-k.csv", "ü\n.csv",
                 os.fsdecode(b"\xff.csv"), "n" * 250 + ".csv", "%s{}.csv"):  # fmt: skip
        (folder / name).write_bytes(good)
    return sorted(folder.iterdir())


def tried(path, door, may):
    """Return what a door did with a file."""
    signal.alarm(SECONDS)
    try:
        return f"{door(path)}"
    except may as error:
        return type(error).__name__ if str(error) else "FAULT no sentence"
    except BaseException as error:
        return f"FAULT {type(error).__name__}: {error}"
    finally:
        signal.alarm(0)


def all_tried(folder, only):
    (folder / "odd").mkdir()
    places = [(path, "", DOORS[path.suffix]) for path in odd(folder / "odd")
              if path.suffix in (".csv", ".npz", ".mtx")]  # fmt: skip
    regular = (loaded, resumed)  # these are handed none but files
    places = [
        (path, "", tuple(d for d in doors if d[0] not in regular)) for path, _, doors in places
    ]
    places += [(path, "", ((table, TableError),)) for path in sorted((folder / "odd").iterdir())
               if path.suffix not in DOORS]  # fmt: skip
    (folder / "plain").mkdir()
    places += [(p, name, DOORS[p.suffix]) for p, name in written(folder / "plain")]
    found = []
    for path, name, doors in places:
        if only and name != only:
            continue
        commands = COMMANDS if path.suffix in (".csv", ".npz", ".mtx", "") else ()
        doors = (*doors, *((lambda p, c=c: into_file(p, *c), ()) for c in commands))
        for door, may in doors:
            current[0] = f"{path.name} ({name})"
            found.append([current[0], getattr(door, "__name__", ""), tried(path, door, may)])
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    runner.STATE = Path("cache", "reproduced.json").absolute()
    Path("cache").mkdir()
    from fspca import plots  # noqa: F401  (what is imported late would be heard)

    called("datasets")
    limit, only = int(sys.argv[1]), sys.argv[2]
    if only == "pickled":  # the saboteur
        load = np.load
        np.load = lambda path, **_: load(path, allow_pickle=True)
    files.LARGEST = check_certificate.LARGEST = limit
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
    signal.signal(signal.SIGALRM, late)
    sys.addaudithook(listen)
    found = all_tried(Path.cwd(), only)
    used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) * 1024
    left = [str(p) for p in Path.cwd().rglob(".*") if p.suffix == ".part"]
    print(json.dumps({"found": found, "heard": heard, "left": left, "used": used}))
