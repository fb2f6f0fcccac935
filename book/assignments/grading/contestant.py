"""Run a student's cells behind the wall, and answer the judge's calls.

One line of JSON for each message, one for each answer.  Before the first cell the process gives up
what it will not need (`confine`); the rest is the wall's, and the judge believes nothing of what
comes out but that it is data.

    python -I contestant.py [where numpy is] [the data files]
"""

import ast
import ctypes
import json
import os
import platform
import re
import resource
import shutil
import struct
import sys
import tempfile

LIMITS = {
    "AS": 1 << 30,  # bytes of memory; no second process can be had (see REFUSED)
    "NPROC": 32,  # threads
    "FSIZE": 8 << 20,  # bytes of a file
    "NOFILE": 64,
    "CORE": 0,
    "CPU": 60,  # seconds: as long as the judge waits for a whole notebook
}

# Calls of the system by their numbers, (x86_64, aarch64): those by which a process has children,
# keeps memory that no limit counts, or leaves something behind that the next student could find.
REFUSED = {
    "fork": (57, None),
    "vfork": (58, None),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "unshare": (272, 97),
    "io_uring_setup": (425, 425),
    "userfaultfd": (323, 282),
    "bpf": (321, 280),
}
CLONE, CLONE3 = (56, 220), 435
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
EPERM, ENOSYS, KILL, REFUSE, ALLOW = 1, 38, 0x80000000, 0x00050000, 0x7FFF0000
OLD_NUMBERS = 0x40000000  # x86_64 has a second set of numbers, from here on
CLONE_THREAD = 0x00010000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16  # where they stand in what a filter is shown
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2


def refusals():
    """The kernel's filter of system calls: lines (code, skip if so, skip if not, value)."""
    which, machine = MACHINES[platform.machine()]
    lines = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, machine), (RETURN, 0, 0, KILL)]
    lines += [(LOAD, 0, 0, NUMBER), (AT_LEAST, 0, 1, OLD_NUMBERS), (RETURN, 0, 0, REFUSE | EPERM)]
    for numbers in REFUSED.values():
        if numbers[which] is not None:
            lines += [(EQUAL, 0, 1, numbers[which]), (RETURN, 0, 0, REFUSE | EPERM)]
    # Of the new way to clone the flags cannot be seen; the C library then takes the old one.
    lines += [(EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, REFUSE | ENOSYS)]
    lines += [(EQUAL, 0, 3, CLONE[which]), (LOAD, 0, 0, FIRST_ARGUMENT)]
    lines += [(ANY_BIT, 1, 0, CLONE_THREAD), (RETURN, 0, 0, REFUSE | EPERM)]  # no thread: a child
    return [*lines, (RETURN, 0, 0, ALLOW)]


def confine():
    """Give up memory, files and calls beyond what an assignment needs, for good."""
    for name, most in LIMITS.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    if sys.platform != "linux":
        return  # there is no wall either (wall.py)
    lines = b"".join(struct.pack("HBBI", *line) for line in refusals())
    program = ctypes.create_string_buffer(lines)
    there = struct.pack("HxxxxxxP", len(lines) // 8, ctypes.addressof(program))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    words = [ctypes.c_ulong(0)] * 3
    refused = prctl(NO_NEW_PRIVILEGES, ctypes.c_ulong(1), *words)
    if refused or prctl(SECCOMP, ctypes.c_ulong(FILTER), ctypes.c_char_p(there), *words[1:]):
        raise OSError(ctypes.get_errno(), "system calls cannot be refused here")


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
    confine()
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
