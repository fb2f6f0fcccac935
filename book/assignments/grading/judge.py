"""Run the tests of one notebook, on answers that come over from behind the wall as plain data.

`examine.py` starts this program, and ends it where it overruns.  It reads one object of JSON
(`main` says what is in it) and writes a line of JSON for each thing done: the process of a
contestant that it has started, that the cells have run, what is wrong in each test.
"""

import ast
import builtins
import io
import json
import os
import re
import resource
import select
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout, suppress

import wall
from contestant import decode, encode

SECONDS = 10  # for one cell or one call: twenty times what the model solutions need for all
BUDGET = 40  # for a whole notebook
LONGEST = 1 << 20  # bytes of one answer
DEEPEST = 40  # brackets within brackets of one answer
NUMBERS = 20_000  # in one answer; the largest of the model answers has 1,200
CHARACTERS = 200_000  # of one text: a table of 500 rows and 40 columns takes 160,000
LIMITS = {"AS": 3 << 29, "CPU": 60}  # bytes, scipy's libraries among them; seconds

# Whatever a quote begins is one token, ended or not, and nothing in it is looked at again.
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{},]', re.DOTALL)


class Ended(Exception):
    """The contestant's process is gone, or was sent away: why."""


def measured(line):
    """Refuse an answer that is too deep or holds too much, in one walk over its tokens."""
    depth = most = parts = 0
    for token in TOKEN.finditer(line):
        sign = token[0]
        depth += (sign in b"[{") - (sign in b"]}")
        most, parts = max(most, depth), parts + (sign in b"[{,")
        if most > DEEPEST or len(sign) > CHARACTERS or parts > NUMBERS:
            raise Ended("it answered with more than can be looked at")


def parsed(line):
    """A message: an object, neither long nor deep, of numbers, strings, lists and objects."""
    measured(line)
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("error"), str | None):
        raise Ended("it did not answer in plain data")
    return message


def data(value):
    try:
        return decode(value)
    except Exception:
        raise RuntimeError("it did not answer in plain data") from None


class Contestant:
    """A student's notebook as functions and data: calls go to another process."""

    def __init__(self, cells, behind=None, tell=lambda **what: None):
        self.cells, self.errors, self.process = dict(enumerate(cells)), {}, None
        self.folder, self.left, self.tell = (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True),
            BUDGET,
            tell,
        )
        self.behind = behind or wall.name()
        self.overrun = {}  # the calls that ended the process once are not made again

    def start(self):
        """Start, and run the cells; one that does not end is left out from then on."""
        while self.process is None:
            self.process = subprocess.Popen(
                wall.around(self.folder.name, self.behind),
                cwd=self.folder.name,
                env=wall.ENVIRONMENT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # signals to one's group reach no group of ours
            )
            self.tell(contestant=self.process.pid)
            for pipe in (self.process.stdin, self.process.stdout):
                os.set_blocking(pipe.fileno(), False)
            for number, source in list(self.cells.items()):
                said = self.ask({"cell": source})
                if said.get("error"):
                    self.errors[number] = said["error"]
                if self.process is None:
                    del self.cells[number]
                    break

    def ask(self, message):
        """The answer to a message; who does not give one in time and form has ended."""
        began = time.monotonic()
        try:
            return parsed(self.exchange(message, began + min(SECONDS, self.left)))
        except Ended as why:
            self.stop()
            return {"error": str(why)}
        finally:
            self.left -= time.monotonic() - began

    def exchange(self, message, deadline):
        """Send a line, receive one: neither waits beyond the deadline, nor for more than it may."""
        if self.left <= 0:
            raise Ended(f"the notebook took longer than {BUDGET} seconds")
        ask, answer = self.process.stdin.fileno(), self.process.stdout.fileno()
        unsent, came = memoryview(json.dumps(message).encode() + b"\n"), bytearray()
        while not came.endswith(b"\n"):
            wait = max(0, deadline - time.monotonic())
            sending = [ask] if unsent else []
            readable, writable, _ = select.select([answer], sending, [], wait)
            if not readable and not writable:
                raise Ended(f"it took longer than {SECONDS} seconds")
            try:
                unsent = unsent[os.write(ask, unsent) :] if writable else unsent
            except BrokenPipeError:
                raise Ended("it ended Python") from None
            part = os.read(answer, 1 << 16) if readable else None
            if part == b"":
                raise Ended("it ended Python")
            came += part or b""
            if b"\n" in (part or b"")[:-1] or len(came) > LONGEST or (part and unsent):
                raise Ended("it said more than was asked")
        return bytes(came)

    def names(self, wanted):
        """Of what the tests ask for, the student's functions, to be called, and data."""
        self.start()
        theirs = {}
        for name in sorted(wanted):
            names = self.ask({"names": [name]}).get("names")
            each = names.get(name) if isinstance(names, dict) else None
            if self.process is None:
                self.start()
            if isinstance(each, dict):
                try:
                    theirs[name] = (
                        self.function(name) if "function" in each else data(each["value"])
                    )
                except (RuntimeError, KeyError):
                    theirs[name] = None
        return theirs

    def function(self, name):
        def called(*arguments):
            if name in self.overrun:
                raise RuntimeError(self.overrun[name])
            self.start()
            said = self.ask({"call": name, "arguments": [encode(each) for each in arguments]})
            if said.get("error"):
                if self.process is None:
                    self.overrun[name] = said["error"]
                raise RuntimeError(said["error"][:300])
            return data(said.get("value"))

        called.__name__ = name
        return called

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None
            self.tell(contestant=None)


def wanted(tests, namespace):
    """The names that the tests read, and that neither Python nor the course gives."""
    read = {
        node.id
        for source in tests.values()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return read - set(dir(builtins)) - set(namespace)


def examined(cells, given, tests, student, behind=None, tell=lambda **what: None):
    """Tell {test: None or what is wrong}: `cells` are the student's, the rest the course's."""
    namespace = {"__name__": "judge", "STUDENT": student}
    with redirect_stdout(io.StringIO()):
        for source in given:
            exec(source, namespace)
    contestant = Contestant(cells, behind, tell)
    try:
        theirs = contestant.names(wanted(tests, namespace) | {"STUDENT"})
        claimed, hint = str(theirs.pop("STUDENT", None))[:80], ""
        if claimed.strip().lower() != student.strip().lower():
            hint = f" (STUDENT is {claimed!r}, but this was handed in by {student!r})"
        namespace = {**theirs, **namespace}
        tell(ready=True)
        for name, test in tests.items():
            with redirect_stdout(io.StringIO()):
                wrong = verdict(test, namespace, hint)
            tell(test=name, wrong=wrong)
    finally:
        contestant.stop()


def verdict(source, namespace, hint=""):
    try:
        exec(source, dict(namespace))
    except MemoryError:
        return f"what came takes more memory than there is to look at it{hint}"
    except Exception as error:
        return f"{error}{hint}"[:1000]
    return None


def main():
    """Read {cells, given, tests, student, behind, limits}; tell each verdict once it is known."""
    work, lines = json.load(sys.stdin), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    globals().update(work.pop("limits"))
    for name, most in LIMITS.items():
        with suppress(ValueError, OSError):  # macOS has no limit of memory to set
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))

    def tell(**what):
        lines.write(json.dumps(what) + "\n")
        lines.flush()

    examined(**work, tell=tell)


if __name__ == "__main__":
    main()
