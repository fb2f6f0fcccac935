"""The step of `nbgrader autograde` that runs the tests: judge and contestant in two processes.

The student's cells run in `contestant.py`.  The tests, as the gradebook holds them, run here, on
answers that came over as plain data.  So nothing that a student's code does to its own process
(replacing numpy, looking up the stack, importing a solver) reaches the judge.
"""

import io
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path

from contestant import decode, encode
from examiner import data_file
from nbformat.v4 import new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

HERE = Path(__file__).parent
SECONDS = 30  # for one cell or one call: a hundred times what the model solutions need


class Contestant:
    """A student's notebook as functions and data: calls go to another process."""

    def __init__(self, cells):
        self.cells, self.errors, self.process = dict(enumerate(cells)), {}, None
        self.folder = tempfile.TemporaryDirectory()
        shutil.copy(data_file(), self.folder.name)

    def start(self):
        """Start, and run the cells; one that does not end is left out from then on."""
        self.process = subprocess.Popen(
            [sys.executable, "-I", HERE / "contestant.py"],
            cwd=self.folder.name,
            env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PATH": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        fspca = find_spec("fspca").submodule_search_locations[0]
        judge = any("fspca" in source for source in self.cells.values())  # it takes a moment
        self.send({"fspca": fspca, "closed": [str(HERE.parent)], "judge": judge})
        for number, source in list(self.cells.items()):
            said = self.ask({"cell": source})
            if said["error"]:
                self.errors[number] = said["error"]
            if "ended" in said:
                del self.cells[number]
                return self.start()

    def send(self, message):
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, as the missing answer will show

    def ask(self, message):
        timer = threading.Timer(SECONDS, self.process.kill)
        timer.start()
        self.send(message)
        line = self.process.stdout.readline()
        timer.cancel()
        if line:
            return json.loads(line)
        self.stop()
        return {"error": f"it took longer than {SECONDS} seconds or ended Python", "ended": True}

    def names(self):
        """The student's functions, to be called, and data."""
        self.start()
        names = self.ask({"names": True}).get("names", {})
        return {
            name: self.function(name) if "function" in each else decode(each["value"])
            for name, each in names.items()
        }

    def function(self, name):
        def called(*arguments):
            if self.process is None:
                self.start()
            said = self.ask({"call": name, "arguments": [encode(each) for each in arguments]})
            if said.get("error"):
                raise RuntimeError(said["error"])
            return decode(said["value"])

        called.__name__ = name
        return called

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def examined(cells, given, tests, student):
    """Return {test: None or what is wrong}: `cells` are the student's, the rest the course's."""
    namespace = {"__name__": "judge", "STUDENT": student}
    with redirect_stdout(io.StringIO()):
        for source in given:
            exec(source, namespace)
    contestant = Contestant(cells)
    try:
        theirs = contestant.names()
        hint = ""
        if str(theirs.get("STUDENT")).strip().lower() != student.strip().lower():
            hint = f" (STUDENT is {theirs.get('STUDENT')!r}, but this was handed in by {student!r})"
        namespace = {**theirs, **namespace}
        return {name: verdict(test, namespace, hint) for name, test in tests.items()}
    finally:
        contestant.stop()


def verdict(source, namespace, hint=""):
    try:
        exec(source, dict(namespace))
    except Exception as error:
        return f"{error}{hint}"
    return None


class DropStrayMetadata(NbGraderPreprocessor):
    """A copied cell, or one of the student's own making, is a plain cell.

    nbgrader takes away its id, and then refuses the whole notebook for want of one.
    """

    def preprocess_cell(self, cell, resources, index):
        if "nbgrader" in cell.metadata and grade_id(cell) is None:
            del cell.metadata["nbgrader"]
        return cell, resources


class Examine(NbGraderPreprocessor):
    """Puts what is wrong into the output of each test: nbgrader counts a test without one."""

    def preprocess(self, notebook, resources):
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            source = gradebook.find_notebook(names["notebook"], names["assignment"])
            locked = {each.name: each.source for each in source.source_cells if each.locked}
            graded = {each.name for each in source.grade_cells}
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        tests = {name: locked[name] for name in map(grade_id, code) if name in set(locked) & graded}
        given = [locked[grade_id(cell)] for cell in code if grade_id(cell) in set(locked) - graded]
        cells = [cell.source for cell in code if grade_id(cell) not in tests]
        verdicts = examined(cells, given, tests, names["student"])
        for cell in code:
            if grade_id(cell) in verdicts:
                wrong = verdicts[grade_id(cell)]
                cell.outputs = [said(wrong)] if wrong else []
        return notebook, resources


def said(wrong):
    return new_output("error", ename="Not yet", evalue=wrong, traceback=[f"Not yet: {wrong}"])


def grade_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id")
