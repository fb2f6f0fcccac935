"""The step of `nbgrader autograde` that runs the tests: judge and contestant in two processes.

The student's cells run in `contestant.py`, behind a wall (`wall.py`).  The tests, as the gradebook
holds them, run here, on answers that came over as plain data: short, validated, and only under
the names that the tests ask for, so that nothing of Python or of the course can be shadowed.
"""

import ast
import builtins
import io
import json
import os
import re
import select
import subprocess
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

import examiner
import nbformat
import wall
from contestant import decode, encode
from nbformat.v4 import new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

SECONDS = 30  # for one cell or one call: a hundred times what the model solutions need
BUDGET = 300  # for a whole notebook
LONGEST = 4 << 20  # bytes of one answer
DEEPEST = 40  # brackets within brackets of one answer
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]')
MARKUP = re.compile(r"<(?=[a-zA-Z/!?])(?!/?(?:details|summary)>)")  # but for folded hints
SHOWN = {"text/plain", "image/png", "image/jpeg"}  # of the outputs that a student hands in


class Ended(Exception):
    """The contestant's process is gone, or was sent away: why."""


def ready():
    """What holds the students' code; without a salt or a wall nothing is graded."""
    if not examiner.salt():
        raise wall.NoWall("FSPCA_COURSE_SALT is not set: choose a sentence, and tell nobody.")
    return wall.name()


def parsed(line):
    """A message: an object, neither long nor deep, of numbers, strings, lists and objects."""
    depth = 0
    for token in TOKEN.finditer(line):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(token[0], 0)
        if depth > DEEPEST:
            raise Ended("it did not answer in plain data")
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

    def __init__(self, cells):
        self.cells, self.errors, self.process = dict(enumerate(cells)), {}, None
        self.folder, self.left = tempfile.TemporaryDirectory(), BUDGET

    def start(self):
        """Start, and run the cells; one that does not end is left out from then on."""
        while self.process is None:
            self.process = subprocess.Popen(
                wall.around(self.folder.name),
                cwd=self.folder.name,
                env=dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
                | {"PATH": os.environ["PATH"]},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # signals to one's group reach no group of ours
            )
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
            if b"\n" in came[:-1] or len(came) > LONGEST or (part and unsent):
                raise Ended("it said more than was asked")
        return bytes(came)

    def names(self, wanted):
        """Of what the tests ask for, the student's functions, to be called, and data."""
        self.start()
        names = self.ask({"names": sorted(wanted)}).get("names")
        names = names if isinstance(names, dict) else {}
        theirs = {}
        for name in wanted & set(names):
            each = names[name] if isinstance(names[name], dict) else {}
            try:
                theirs[name] = self.function(name) if "function" in each else data(each["value"])
            except (RuntimeError, KeyError):
                theirs[name] = None
        return theirs

    def function(self, name):
        def called(*arguments):
            self.start()
            said = self.ask({"call": name, "arguments": [encode(each) for each in arguments]})
            if said.get("error"):
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


def wanted(tests, namespace):
    """The names that the tests read, and that neither Python nor the course gives."""
    read = {
        node.id
        for source in tests.values()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return read - set(dir(builtins)) - set(namespace)


def examined(cells, given, tests, student):
    """Return {test: None or what is wrong}: `cells` are the student's, the rest the course's."""
    namespace = {"__name__": "judge", "STUDENT": student}
    with redirect_stdout(io.StringIO()):
        for source in given:
            exec(source, namespace)
    contestant = Contestant(cells)
    try:
        theirs = contestant.names(wanted(tests, namespace) | {"STUDENT"})
        claimed, hint = str(theirs.pop("STUDENT", None))[:80], ""
        if claimed.strip().lower() != student.strip().lower():
            hint = f" (STUDENT is {claimed!r}, but this was handed in by {student!r})"
        namespace = {**theirs, **namespace}
        with redirect_stdout(io.StringIO()):
            return {name: verdict(test, namespace, hint) for name, test in tests.items()}
    finally:
        contestant.stop()


def verdict(source, namespace, hint=""):
    try:
        exec(source, dict(namespace))
    except Exception as error:
        return f"{error}{hint}"[:1000]
    return None


class Restore(NbGraderPreprocessor):
    """What a notebook says about its own cells is taken from the gradebook, not from the student.

    A copied cell, or one of the student's own making, is a plain cell.  Outputs that a browser
    would run and markup are left out: the reader's page has the rights of a reader.
    """

    def preprocess(self, notebook, resources):
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            source = gradebook.find_notebook(names["notebook"], names["assignment"])
            known = {each.name: official(each) for each in source.source_cells}
            for each in source.grade_cells:
                known[each.name] |= {"grade": True, "points": each.max_score}
            for each in source.solution_cells:
                known[each.name] |= {"solution": True}
        for cell in reversed(notebook.cells):
            marks = known.pop(grade_id(cell), None)
            cell.metadata = {"nbgrader": marks} if marks else {}
            if cell.cell_type == "code":
                cell.outputs = [each for each in map(harmless, cell.outputs) if each]
            else:
                cell.pop("attachments", None)
                cell.source = MARKUP.sub("&lt;", cell.source)
        notebook.metadata.pop("widgets", None)
        return notebook, resources


def official(cell):
    return {
        "schema_version": 3,
        "grade_id": cell.name,
        "locked": cell.locked,
        "cell_type": cell.cell_type,
        "checksum": cell.checksum,
        "grade": False,
        "solution": False,
        "task": False,
    }


def harmless(output):
    """Text and pictures of what a student handed in; nothing else is shown again."""
    if output.output_type in ("display_data", "execute_result"):
        output.data = {kind: output.data[kind] for kind in SHOWN & set(output.data)}
        return output if output.data else None
    return output


class Examine(NbGraderPreprocessor):
    """Puts what is wrong into the output of each test: nbgrader counts a test without one."""

    def preprocess(self, notebook, resources):
        ready()
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            source = gradebook.find_notebook(names["notebook"], names["assignment"])
            locked = {each.name: each.source for each in source.source_cells if each.locked}
            graded = {each.name for each in source.grade_cells}
        place = course(names) / "source" / names["assignment"] / f"{names['notebook']}.ipynb"
        order = [grade_id(cell) for cell in nbformat.read(place, as_version=4).cells]
        locked = {name: locked[name] for name in order if name in locked}
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        tests = {name: locked[name] for name in locked if name in graded}
        given = [locked[name] for name in locked if name not in graded]
        cells = [cell.source for cell in code if grade_id(cell) not in tests]
        if handed_in_as_a_link(names):
            verdicts = dict.fromkeys(tests, "a link was handed in, and not a notebook")
        else:
            verdicts = examined(cells, given, tests, names["student"])
        for cell in code:
            if grade_id(cell) in tests:
                wrong = verdicts[grade_id(cell)]
                cell.outputs = [said(wrong)] if wrong else []
        return notebook, resources


def course(names):
    return Path(names["db_url"].removeprefix("sqlite:///")).parent


def handed_in_as_a_link(names):
    """Whether anything on the way to the notebook is a link: it may be somebody else's work."""
    folder = course(names) / "submitted" / names["student"]
    work = folder / names["assignment"]
    return any(path.is_symlink() for path in (folder, work, *work.rglob("*")))


def said(wrong):
    return new_output("error", ename="Not yet", evalue=wrong, traceback=[f"Not yet: {wrong}"])


def grade_id(cell):
    marks = cell.metadata.get("nbgrader")
    return marks.get("grade_id") if isinstance(marks, dict) else None
