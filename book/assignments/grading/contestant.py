"""Run a student's cells in a process of their own, and answer the judge's calls.

The judge starts this file with `python -I`, sends one line of JSON per message and gets one back.
Of fspca only the judge can be imported here, and neither its solvers nor the course's own
files can be opened.  The guard is an audit hook: Python has no way to take one out again.
It keeps honest people honest; against an attacker use a container (see the instructor's guide).
"""

import ast
import importlib
import json
import os
import sys
import types
from pathlib import Path

import numpy as np

FORBIDDEN = ("subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "socket.")


class Mute:
    """Stands in for a plotting package: whatever is asked of it gives itself."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *arguments, **options):
        return self

    def __getitem__(self, key):
        return self

    def __iter__(self):
        return iter([self, self])


def encode(value):
    """Plain data as JSON can hold them; anything else by the name of its type."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"array": np.asarray(value).tolist(), "shape": value.shape, "kind": value.dtype.kind}
    if isinstance(value, list | tuple | set | frozenset | range):
        return {type(value).__name__: [encode(each) for each in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(each)] for key, each in value.items()]}
    return {"other": type(value).__name__}


def decode(value):
    """The inverse: what was no data comes out as None."""
    if not isinstance(value, dict):
        return value
    kind, content = next(iter(value.items()))
    if kind == "array":
        dtype = {"b": bool, "i": int, "u": int}.get(value["kind"], float)
        return np.array(content, dtype=dtype).reshape(value["shape"])
    if kind == "dict":
        return {decode(key): decode(each) for key, each in content}
    if kind in ("list", "tuple", "set", "frozenset", "range"):
        make = {"tuple": tuple, "set": set, "frozenset": frozenset}.get(kind, list)
        return make(decode(each) for each in content)
    return None


def guard(fspca, closed, judge):
    """Refuse for good: other modules of fspca, files of the course, other programs, writing."""
    package = types.ModuleType("fspca")
    package.__path__ = [fspca]
    sys.modules["fspca"], sys.dont_write_bytecode = package, True
    if judge:
        importlib.import_module("fspca.judge")  # and what it needs, which is no solver
    for name in ("matplotlib", "matplotlib.pyplot", "seaborn", "IPython", "IPython.display"):
        sys.modules[name] = Mute()
    # /proc tells of other processes, and so of the judge's.
    closed = tuple(os.path.realpath(folder) + os.sep for folder in (fspca, "/proc", *closed))

    def hook(event, arguments):
        if event == "import" and arguments[0].split(".")[0] in ("fspca", "examiner", "nbgrader"):
            raise ImportError(f"{arguments[0]} cannot be imported where answers are graded")
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            path, mode = os.path.realpath(os.fsdecode(arguments[0])), arguments[1] or ""
            if path.startswith(closed) or path.endswith((".ipynb", "gradebook.db")):
                raise PermissionError(f"{Path(path).name} is closed where answers are graded")
            if set(mode) & set("wax+") or arguments[2] & (os.O_WRONLY | os.O_RDWR):
                raise PermissionError("nothing can be written where answers are graded")
        if event.startswith(FORBIDDEN):
            raise PermissionError(f"{event} is not allowed where answers are graded")

    sys.addaudithook(hook)


def run(source, namespace):
    """Run a cell; return what went wrong, in a line, or None."""
    try:
        exec(compile(ast.parse(source), "<cell>", "exec"), namespace)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None


def public(namespace):
    """The student's names: functions as True, data as data."""
    return {
        name: {"function": True} if callable(value) else {"value": encode(value)}
        for name, value in namespace.items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType | Mute)
    }


def answer(message, namespace):
    if "cell" in message:
        return {"error": run(message["cell"], namespace)}
    if "names" in message:
        return {"names": public(namespace)}
    try:
        arguments = [decode(each) for each in message["arguments"]]
        return {"value": encode(namespace[message["call"]](*arguments))}
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    questions, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # what a student prints is not an answer
        os.dup2(quiet, number)
    start = json.loads(questions.readline())
    guard(**start)
    namespace = {"__name__": "__main__"}
    for line in questions:
        answers.write(json.dumps(answer(json.loads(line), namespace)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
