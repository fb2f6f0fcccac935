"""What the course's tests share: the sources, and a course in a folder with nbgrader on top."""

import json
import os
import re
from pathlib import Path

import assignments
import nbformat
import pytest
import wall
from harmless import grade_id
from nbgrader.api import Gradebook

os.environ.setdefault("FSPCA_COURSE_SALT", "the tests' own pinch of salt")

NAMES = assignments.names()
SOURCE = {
    name: nbformat.read(assignments.COURSE / "source" / name / f"{name}.ipynb", as_version=4)
    for name in NAMES
}


def needs_wall(name=None):
    """Skip a test where no wall can be had, or not this one: not every user may build one."""
    try:
        wall.built(name)
    except wall.NoWall as none:
        pytest.skip(str(none))


def kind(cell):
    """What nbgrader takes a cell for: given, answer, test, written, or nothing."""
    marks = cell.metadata.get("nbgrader", {})
    if marks.get("solution"):
        return "written" if marks["grade"] else "answer"
    return "test" if marks.get("grade") else "given" if marks.get("locked") else None


def points(name):
    """{answer: {test: points}}: a test examines the answer before it."""
    tests = {}
    for cell in SOURCE[name].cells:
        if kind(cell) == "answer":
            answer = tests.setdefault(cell.id, {})
        elif kind(cell) == "test":
            answer[cell.id] = cell.metadata["nbgrader"]["points"]
    return tests


def fixtures(path):
    """The parts of a file of fixtures: (the words of their headings, their code)."""
    _, *parts = re.split(r"^# %% (.+)$", path.read_text(), flags=re.MULTILINE)
    return [
        ([word.strip() for word in head.split("|")], code.strip() + "\n")
        for head, code in zip(parts[::2], parts[1::2], strict=True)
    ]


def submission(notebook, student, answers=()):
    """A copy of a notebook as a student hands it in, some answers replaced."""
    notebook = nbformat.from_dict(notebook.copy())
    for cell in notebook.cells:
        if cell.id == "student":
            cell.source = f"STUDENT = {student!r}"
        elif cell.id in answers:
            cell.source = answers[cell.id].strip()
    return nbformat.reads(nbformat.writes(notebook), as_version=4)


class Course:
    """The course in a folder of its own, with one assignment generated."""

    def __init__(self, folder, name):
        self.name, self.root = name, assignments.course_copy(folder)
        self.released = assignments.generate(self.root, [name])[name]
        self.api = assignments.nbgrader(self.root)

    def hand_in(self, student, notebook):
        place = self.root / "submitted" / student / self.name
        place.mkdir(parents=True)
        (place / f"{self.name}.ipynb").write_text(json.dumps(notebook))  # sound or not

    def grade(self, student):
        return self.api.autograde(self.name, student)

    def marks(self, student):
        """{test: points} as the gradebook has them, with what a reader gave."""
        with Gradebook(self.api.coursedir.db_url) as gradebook:
            (part,) = gradebook.find_submission(self.name, student).notebooks
            return {each.name: (each.auto_score, each.manual_score) for each in part.grades}

    def autograded(self, student):
        done = self.root / "autograded" / student / self.name / f"{self.name}.ipynb"
        return nbformat.read(done, as_version=4)


def wrong(notebook, test):
    """What a graded notebook says below a test."""
    (cell,) = (cell for cell in notebook.cells if grade_id(cell) == test)
    return cell.outputs[0].evalue if cell.outputs else ""


HERE = Path(__file__).parent
