"""The step of `nbgrader autograde` that runs the tests: judge and contestant in two processes.

The student's cells run in `contestant.py`, behind a wall (`wall.py`).  The tests, as the gradebook
holds them, run in `judge.py`, on answers that came over as plain data: short, validated, and only
under the names that the tests ask for.  This process waits for the judge, ends it where it takes
too long or too much, and has the rest of the tests judged by another one.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import examiner
import harmless
import judge
import nbformat
import wall
from harmless import grade_id
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

WHOLE = 55  # seconds for all tests of a notebook; with reading and writing it, a minute
TEST = 20  # seconds, for one test; what the model answers need is a tenth of a second
LONGEST = 1 << 16  # bytes of a line of the judge
OVERRAN = "this answer takes more time or memory than there is to look at it"


def ready():
    """What holds the students' code; without a salt or a wall nothing is graded."""
    if not examiner.salt():
        raise wall.NoWall("FSPCA_COURSE_SALT is not set: choose a sentence, and tell nobody.")
    return wall.name()


class Judge:
    """A process that judges, and what it says, line by line, until a time."""

    def __init__(self, work):
        self.process = subprocess.Popen(
            [sys.executable, judge.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.contestant, self.unread = None, b""
        with suppress(BrokenPipeError), self.process.stdin:
            self.process.stdin.write(json.dumps(work).encode())

    def line(self, deadline):
        """What it says next; None if it has ended, or said nothing until the deadline."""
        pipe = self.process.stdout.fileno()
        while True:
            while b"\n" not in self.unread:
                wait = max(0, deadline - time.monotonic())
                part = os.read(pipe, LONGEST) if select.select([pipe], [], [], wait)[0] else b""
                if not part:
                    return None
                self.unread += part
            line, self.unread = self.unread.split(b"\n", 1)
            said = json.loads(line)
            if "contestant" not in said:
                return said
            self.contestant = said["contestant"]  # the one that runs, or None

    def end(self):
        """End it, and the contestant that it has not ended, with all that is in its session."""
        self.process.kill()
        if self.contestant is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.contestant, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


def examined(cells, given, tests, student):
    """Return {test: None or what is wrong}: `cells` are the student's, the rest the course's.

    A test that overruns fails, and says so; those after it are judged by a new process.
    """
    verdicts, left, until = {}, dict(tests), time.monotonic() + WHOLE
    behind = wall.name()
    limits = {"SECONDS": judge.SECONDS, "BUDGET": judge.BUDGET, "LIMITS": judge.LIMITS}
    while left and time.monotonic() < until:
        work = {"cells": cells, "given": given, "tests": left, "student": student}
        one = Judge(work | {"behind": behind, "limits": limits})
        try:
            said = one.line(until)
            if not said and time.monotonic() < until:
                raise RuntimeError("the judge ended before the first test")
            while said and left:
                said = one.line(min(until, time.monotonic() + TEST))
                name = said["test"] if said else next(iter(left))
                verdicts[name] = said["wrong"] if said else OVERRAN
                del left[name]
        finally:
            one.end()
    return verdicts | dict.fromkeys(left, f"the notebook took longer than {WHOLE} seconds")


class Bounded(NotebookExporter):
    """Reads a notebook only if it is small enough to be one."""

    def from_filename(self, filename, resources=None, **options):
        if harmless.fits(Path(filename).read_bytes()):
            return super().from_filename(filename, resources, **options)
        said = "What was handed in is too large to be read as a notebook: take pictures out."
        notebook = new_notebook(cells=[new_markdown_cell(said)])
        return self.from_notebook_node(notebook, resources, **options)


class Restore(NbGraderPreprocessor):
    """What a notebook says about its own cells is taken from the gradebook, not from the student.

    A copied cell, or one of the student's own making, is a plain cell; of the rest stays what is
    listed in `harmless.py`.  A cell of the course that was changed is put right, and named.
    """

    def preprocess(self, notebook, resources):
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            source = gradebook.find_notebook(names["notebook"], names["assignment"])
            known = {each.name: official(each) for each in source.source_cells}
            ours = {each.name: each.source for each in source.source_cells if each.locked}
            for each in source.grade_cells:
                known[each.name] |= {"grade": True, "points": each.max_score}
            for each in source.solution_cells:
                known[each.name] |= {"solution": True}
        leave_the_notebook(course(names) / "autograded" / names["student"] / names["assignment"])
        given = handed_out(names)
        notebook = harmless.rebuilt(notebook, known)
        for cell in notebook.cells:
            name = grade_id(cell)
            if name in ours and cell.cell_type == known[name]["cell_type"]:
                if given and cell.source != given.get(name):
                    self.log.warning("%s was changed by %s: put right", name, names["student"])
                cell.source = ours[name]
        return notebook, resources


def leave_the_notebook(folder):
    """Take away what was handed in beside it: the grader's server would hand out a page as its own.

    The time of handing in stays, which nbgrader reads.
    """
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".ipynb" and path.name != "timestamp.txt":
            path.unlink()


def handed_out(names):
    """{name: source} of the cells in the students' copy, where it still lies."""
    place = course(names) / "release" / names["assignment"] / f"{names['notebook']}.ipynb"
    cells = nbformat.read(place, as_version=4).cells if place.is_file() else []
    return {grade_id(cell): cell.source for cell in cells}


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
