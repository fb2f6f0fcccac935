"""The course around the assignments: the lecturer's commands, and answers that are alike."""

import re
import subprocess
import sys

import assignments
import classroom
import nbformat
import pytest
import rehearse
import similarity
from classroom import NAMES, SOURCE, fixtures, kind

pytestmark = pytest.mark.filterwarnings("ignore")  # of nbgrader's own packages


def test_a_lecturers_command_that_cannot_be_done_ends_in_a_sentence(tmp_path):
    name, said = rehearse.NAME, []
    course = classroom.Course(tmp_path, name)
    for words in (
        ["read.py", "nosuch"],
        ["read.py", name, "nobody"],
        ["read.py", name, "grace", "nosuch", "0"],
        ["read.py", name, "grace", "firm", "many"],
        ["read.py", name, "grace", "firm"],
        ["similarity.py", "nosuch"],
    ):
        run = [sys.executable, course.root / "grading" / words[0], *words[1:]]
        came = subprocess.run(run, capture_output=True, text=True, timeout=60)
        assert came.returncode == 1
        said.append(came.stderr.splitlines())
    assert all(len(lines) == 1 for lines in said), said


def test_the_guides_commands_are_those_of_macos_too():
    """Its sed takes another -i, its shell's tools no long options."""
    guide = (assignments.COURSE / "instructors_guide.md").read_text()
    blocks = "".join(rehearse.commands(guide))
    assert not re.search(r"sed -i|readlink -f|cp --|mv --|xargs -d|grep -P", blocks)


@pytest.mark.nightly
def test_the_guides_commands_work_with_packages_that_pip_fetches(tmp_path, monkeypatch):
    monkeypatch.setattr(assignments, "OUTPUT", tmp_path / "made")
    assignments.archive()
    course, printed = rehearse.rehearse(tmp_path, full=True)
    blocks = rehearse.commands((course / "instructors_guide.md").read_text())
    assert len(printed) == len(blocks) >= 10
    graded, read, alike = (
        next(text for text, block in zip(printed, blocks, strict=True) if word in block)
        for word in ("nbgrader autograde", "read.py", "similarity.py")
    )
    assert "Students' code runs behind" in graded
    assert "changed" not in graded  # an honest student changes no cell of the course
    assert "unique-proof" in read
    assert "ada  grace" in alike  # the model solutions, twice
    checks = sum(sum(tests.values()) for tests in classroom.points(rehearse.NAME).values())
    table = (course / "marks.csv").read_text().replace("\r", "")
    marks = re.findall(r",(ada|bob|grace),.*,([\d.]+),[\d.]+\s*$", table, re.MULTILINE)
    assert dict(marks) == {"ada": f"{checks + 9}.0", "bob": "0.0", "grace": f"{checks}.0"}
    sent_back = {path.name for path in (course / "outbox").iterdir()}
    assert sent_back == {f"{who}__{rehearse.NAME}.html" for who in ("ada", "bob", "grace")}
    release = course / "release" / rehearse.NAME / f"{rehearse.NAME}.ipynb"
    assert "It has to be fast" in release.read_text()  # the second round
    refused = subprocess.run(
        ["bash", "-c", f". environment/bin/activate; nbgrader autograde {rehearse.NAME} --force"],
        cwd=course,
        env=rehearse.environment(full=True),
        capture_output=True,
        text=True,
    )
    assert refused.returncode
    assert "FSPCA_COURSE_SALT is not set" in refused.stderr


def model_answers(name):
    return {cell.id: solution(cell.source) for cell in SOURCE[name].cells if kind(cell) == "answer"}


def solution(source):
    """The code of a model solution; what stood in a function stands in one again."""
    parts = re.findall(r"### BEGIN SOLUTION\n(.*?) *### END", source, re.DOTALL)
    return "\n".join(f"def answer():\n{part}" if part[0] == " " else part for part in parts)


def folded_solutions():
    """{exercise: the code of its solution} of all chapters."""
    found = {}
    for path in sorted((assignments.ROOT / "book").glob("*/*.ipynb")):
        exercise = None
        for cell in nbformat.read(path, as_version=4).cells:
            if exercise and cell.cell_type == "code":
                found[exercise] = found.get(exercise, "") + cell.source + "\n"
            for event, label in re.findall(r"solution-(start|end)\}+ ?([\w-]*)", cell.source):
                exercise = label if event == "start" else None
    return found


def held(answer, folded):
    """{exercise: the share of a model answer's structure that its solution holds}"""
    wanted = similarity.structure(answer)
    shares = {each: wanted & similarity.structure(code) for each, code in folded.items()}
    least = max(len(wanted), 25)  # a line or two is in any code
    return {each: len(pieces) / least for each, pieces in shares.items()}


@pytest.mark.parametrize("name", NAMES)
def test_no_folded_solution_of_a_chapter_answers_a_task(name):
    """No solution holds most of the structure of a model answer.

    The one that did by another structure, ex-metrics-tight, is among the wrong answers of
    `tests/attempts/foundations_and_metrics.txt`.
    """
    folded = folded_solutions()
    assert len(folded) > 20
    for answer, code in model_answers(name).items():
        assert max(held(code, folded).values()) < 0.6, f"{name}, {answer}: {held(code, folded)}"


def test_a_solution_that_answers_a_task_would_be_seen():
    answer = model_answers("foundations_and_metrics")["nev"]
    leak = "V = 1\n" + answer.replace("my_", "the_").replace("Q", "basis") + "assert V\n"
    assert held(answer, {"leak": leak})["leak"] > 0.9


RENAMED = {"chosen": "picked", "required": "inside", "support": "rows", "scores": "weights"}


def test_answers_of_the_same_structure_are_found_whatever_their_names():
    name = "certificates_and_exact_search"
    code = "\n".join(model_answers(name).values())
    copied = "# my own work\n" + code
    for old, new in RENAMED.items():
        copied = copied.replace(old, new)
    parts = fixtures(classroom.HERE / "attempts" / f"{name}.txt")
    different = "\n".join(part for head, part in parts if head[0] == "different")
    assert copied.count("picked") > 3
    (pair,) = similarity.report({"ada": code, "eve": copied, "grace": different, "bob": "x = 1"})
    assert pair[0] > 0.95
    assert pair[1:] == ("ada", "eve")
