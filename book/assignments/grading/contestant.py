"""Run a student's cells behind the wall, and answer the judge's calls.

One line of JSON for each message, one for each answer.  Nothing here guards anything: the wall
does, and the judge believes nothing of what comes out but that it is data.

    python -I contestant.py [where numpy is] [the data files]
"""

import ast
import json
import os
import re
import resource
import shutil
import sys
import tempfile

LIMITS = {
    "AS": 2 << 30,  # bytes of memory
    "NPROC": 32,  # processes and threads
    "FSIZE": 8 << 20,  # bytes of a file
    "NOFILE": 64,
    "CORE": 0,
    "CPU": 600,  # seconds
}


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
    import numpy as np

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
    """The inverse: what was no data comes out as None, what is malformed raises ValueError."""
    import numpy as np

    if not isinstance(value, dict):
        return value
    kind, content = next(iter(value.items()))
    if kind == "array":
        dtype = {"b": bool, "i": int, "u": int, "f": float}[value["kind"]]
        return np.array(content, dtype=dtype).reshape(value["shape"])
    if kind == "dict":
        return {decode(key): decode(each) for key, each in content}
    if kind in ("list", "tuple", "set", "frozenset", "range"):
        make = {"tuple": tuple, "set": set, "frozenset": frozenset}.get(kind, list)
        return make(decode(each) for each in content)
    return None


def without_magics(source):
    """The lines that only IPython understands do nothing."""
    return re.sub(r"^( *)[%!].*$", r"\1pass", source, flags=re.MULTILINE)


def run(source, namespace):
    """Run a cell; return what went wrong, in a line, or None."""
    try:
        try:
            tree = ast.parse(source)
        except SyntaxError:
            tree = ast.parse(without_magics(source))
        exec(compile(tree, "<cell>", "exec"), namespace)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None


def shown(value):
    return {"function": True} if callable(value) else {"value": encode(value)}


def answer(message, namespace):
    if "cell" in message:
        return {"error": run(message["cell"], namespace)}
    try:
        if "names" in message:
            wanted = [name for name in message["names"] if name in namespace]
            return {"names": {name: shown(namespace[name]) for name in wanted}}
        arguments = [decode(each) for each in message["arguments"]]
        return {"value": encode(namespace[message["call"]](*arguments))}
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main(site=None, *data):
    questions, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # what a student prints is not an answer
        os.dup2(quiet, number)
    for name, most in LIMITS.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    if os.getcwd() == "/":
        os.chdir(tempfile.mkdtemp(dir="/tmp"))  # /tmp may lead to the course's own files
    for path in data:
        shutil.copy(path, ".")
    sys.path.append(site or ".")
    for name in ("matplotlib", "matplotlib.pyplot", "seaborn", "IPython", "IPython.display"):
        sys.modules[name] = Mute()
    namespace = {"__name__": "__main__"}
    for line in questions:
        answers.write(json.dumps(answer(json.loads(line), namespace)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
