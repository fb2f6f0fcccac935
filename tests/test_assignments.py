"""The course grades itself: full marks for what is right, none for what only looks so."""

import contextlib
import io
import re
import shutil
import zipfile
from pathlib import Path

import assignments
import examine
import examiner
import nbformat
import pytest
import toc
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

# Of nbgrader's own packages; what is ours is checked elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore")

NAMES = assignments.names()
SOURCE = {
    name: nbformat.read(assignments.COURSE / "source" / name / f"{name}.ipynb", as_version=4)
    for name in NAMES
}
CHEATS = ("constants", "source", "module")
POINTS = r"\*\*Points:\*\* (\d+)\. The checks give (\d+) .* a reader gives (\d+)"
SECRET = re.compile(r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)### END \1", re.DOTALL)


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


def attempts(name):
    """{attempt: {answer: (code, points expected)}} of the fixtures."""
    text = (Path(__file__).parent / "attempts" / f"{name}.txt").read_text()
    found = {}
    _, *parts = re.split(r"^# %% (.+)$", text, flags=re.MULTILINE)
    for head, code in zip(parts[::2], parts[1::2], strict=True):
        attempt, answer, *worth = (each.strip() for each in head.split("|"))
        full = sum(points(name)[answer].values())
        expected = {"different": full, **dict.fromkeys(CHEATS, 0)}.get(attempt)
        if attempt == "half":
            expected, of = map(int, worth[0].split(" of "))
            assert of == full, f"{name}, {answer}: {worth[0]}, and the tests give {full}"
        found.setdefault(attempt, {})[answer] = (code, expected)
    return found


def submission(notebook, student, answers=()):
    """A copy of a notebook as a student hands it in, some answers replaced."""
    notebook = nbformat.from_dict(notebook.copy())
    for cell in notebook.cells:
        if cell.id == "student":
            cell.source = f"STUDENT = {student!r}"
        elif cell.id in answers:
            cell.source = answers[cell.id][0].strip()
    return nbformat.reads(nbformat.writes(notebook), as_version=4)


def forged(notebook):
    """Nothing is solved, and the notebook dressed up: tests emptied, points raised, cells added."""
    notebook = submission(notebook, "forged")
    for cell in notebook.cells:
        if kind(cell) == "test":
            cell.source = "pass"
            cell.metadata["nbgrader"] |= {"points": 100, "locked": False}
    for claimed in ("course", "of-my-own"):  # a copy of a locked cell, and a new one
        cell = new_code_cell("same = expect = lambda *arguments: None\nexaminer = None")
        cell.metadata["nbgrader"] = notebook.cells[3].metadata["nbgrader"] | {"grade_id": claimed}
        notebook.cells.insert(4, cell)
    return notebook


def graded(name, folder):
    """Hand in, autograde: the student's copy, {student: {test: points}}, notebooks, feedback."""
    course = assignments.course_copy(folder)
    text = assignments.generate(course, [name])[name]
    released = nbformat.reads(text, as_version=4)
    handed_in = {"full": submission(SOURCE[name], "full"), "blank": submission(released, "blank")}
    handed_in["forged"] = forged(released)
    for attempt, answers in attempts(name).items():
        handed_in[attempt] = submission(SOURCE[name], attempt, answers)
    api = assignments.nbgrader(course)
    marks, notebooks = {}, {}
    for student, notebook in handed_in.items():
        place = course / "submitted" / student / name
        place.mkdir(parents=True)
        nbformat.write(notebook, place / f"{name}.ipynb")
        assignments.checked(api.autograde(name, student))
        done = course / "autograded" / student / name / f"{name}.ipynb"
        notebooks[student] = nbformat.read(done, as_version=4)
    with Gradebook(api.coursedir.db_url) as gradebook:
        for student in handed_in:
            (part,) = gradebook.find_submission(name, student).notebooks
            marks[student] = {grade.name: grade.auto_score for grade in part.grades}
    assignments.checked(api.generate_feedback(name, "half"))
    feedback = (course / "feedback" / "half" / name / f"{name}.html").read_text()
    return text, marks, notebooks, feedback


@pytest.mark.parametrize("name", NAMES)
def test_assignment_from_its_source_to_its_marks(name, tmp_path):
    """One run of nbgrader for each assignment, and all that is to be seen of it."""
    text, marks, notebooks, feedback = graded(name, tmp_path)
    marks_are_as_the_rubric_says(name, marks, notebooks)
    written_answers_wait_for_a_reader(name, marks)
    failing_checks_speak(name, notebooks["blank"])
    students_copy_is_current_and_gives_nothing_away(name, text)
    assert "Not yet" in feedback
    assert "examiner" not in feedback  # the messages of hidden tests, and not the tests


def marks_are_as_the_rubric_says(name, marks, notebooks):
    assert set(attempts(name)) == {"different", "half", *CHEATS}
    nothing = ("blank", "forged", *CHEATS)
    faults = []
    for student, answers in {"full": {}, "blank": {}, "forged": {}, **attempts(name)}.items():
        for answer, tests in points(name).items():
            if student in CHEATS and answer not in answers:
                continue  # what leans on a cheated answer may fall with it
            full = sum(tests.values())
            expected = answers[answer][1] if answer in answers else full
            expected = 0 if student in nothing else expected
            got = sum(marks[student][test] for test in tests)
            if got != expected:
                said = [wrong(notebooks[student], test) for test in tests]
                faults.append(f"{student}, {answer}: {got} of {full}, not {expected}: {said}")
    assert not faults, "\n".join(faults)


def written_answers_wait_for_a_reader(name, marks):
    written = [cell.id for cell in SOURCE[name].cells if kind(cell) == "written"]
    assert written
    for answer in written:
        assert marks["full"][answer] is None  # until somebody has read it
        assert marks["blank"][answer] == 0


def failing_checks_speak(name, blank):
    for tests in points(name).values():
        for test in tests:
            said = wrong(blank, test)
            assert len(said.split()) > 4, f"{test}: {said}"
            assert "is not defined" not in said, f"{test}: {said}"


def wrong(notebook, test):
    (cell,) = (cell for cell in notebook.cells if cell.id == test)
    return cell.outputs[0].evalue if cell.outputs else ""


def students_copy_is_current_and_gives_nothing_away(name, text):
    path = assignments.COURSE / "release" / name / f"{name}.ipynb"
    assert path.read_text() == text, f"{name}: run `make assignments`"
    everything = "\n".join(cell.source for cell in nbformat.reads(text, as_version=4).cells)
    for word in ("BEGIN ", "END ", "SOLUTION", "HIDDEN", "import examiner", "fspca.judge"):
        assert word not in everything, f"{name}: {word}"
    for cell in SOURCE[name].cells:
        if kind(cell) == "written":
            assert cell.source[:40] not in everything
        for _, secret in SECRET.findall(cell.source):
            assert secret.strip() not in everything, f"{name}, {cell.id}"


def test_nothing_else_lies_beside_the_students_copies():
    assert {path.stem for path in assignments.COURSE.glob("release/*/*.ipynb")} == set(NAMES)
    assert (assignments.COURSE / "environment.yml").read_text() == assignments.environment()


def test_a_student_who_runs_the_notebook_reads_sentences_and_no_traceback():
    path = assignments.COURSE / "release" / NAMES[-1] / f"{NAMES[-1]}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, allow_errors=True, timeout=60).execute()
    said = [each for cell in notebook.cells for each in cell.get("outputs", [])]
    errors = [each.traceback for each in said if each.output_type == "error"]
    assert len(errors) == sum(map(len, points(NAMES[-1]).values()))
    for traceback in errors:
        assert len(traceback) == 1
        assert traceback[0].startswith("Not yet: ")


@pytest.mark.parametrize("name", NAMES)
def test_model_solutions_pass_for_fifty_students(name, tmp_path, monkeypatch):
    """Each with an id and a course's salt of its own, in this process: no nbgrader is needed.

    The first one's tests share all names with the answers, as in a kernel.
    """
    shutil.copy(examiner.data_file(), tmp_path)
    monkeypatch.chdir(tmp_path)
    for number in range(50):
        monkeypatch.setattr(examiner, "SALT", f"course {number}")
        names = {}
        for cell in SOURCE[name].cells:
            if cell.cell_type == "code":
                student = cell.id == "student"
                source = f"STUDENT = 'student {number}'" if student else cell.source
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(source, dict(names) if number and kind(cell) == "test" else names)


@pytest.mark.parametrize("name", NAMES)
def test_notebook_is_set_up_for_nbgrader(name):
    cells = {cell.id: cell for cell in SOURCE[name].cells}
    helper = (assignments.COURSE / "grading" / "course.py").read_text().strip()
    assert cells["course"].source == helper, f"{name}: the helper cell is not grading/course.py"
    for cell in cells.values():
        marks = cell.metadata.get("nbgrader", {})
        if marks:
            assert marks["grade_id"] == cell.id
        if kind(cell) == "answer":
            assert "### BEGIN SOLUTION" in cell.source
        if kind(cell) == "test":
            hidden = "### BEGIN HIDDEN TESTS" in cell.source
            assert hidden or "my_" in cell.source, f"{cell.id}: constants would do"
            assert not re.search(r"^ *assert\b", cell.source, re.MULTILINE), cell.id
        assert not cell.get("outputs")


@pytest.mark.parametrize("name", NAMES)
def test_points_add_up(name):
    text, given = "", {"auto": 0, "reader": 0}
    for cell in SOURCE[name].cells:
        marks = cell.metadata.get("nbgrader", {})
        given["reader" if kind(cell) == "written" else "auto"] += marks.get("points", 0)
        text += cell.source + "\n" if cell.cell_type == "markdown" else ""
    first = re.search(POINTS, text)
    assert tuple(map(int, first.groups())) == (sum(given.values()), *given.values())


@pytest.mark.parametrize("name", NAMES)
def test_each_task_of_the_heading_has_its_points(name):
    """A heading's points are those of the tests and the written answers up to the next one."""
    promised = {}
    for cell in SOURCE[name].cells:
        head = re.search(r"^## (.*?)(\d+) points?\)$", cell.source, re.MULTILINE)
        if cell.cell_type == "markdown" and head:
            task = head[1]
            promised[task] = [int(head[2]), 0]
        if points_of := cell.metadata.get("nbgrader", {}).get("points"):
            promised[task][1] += points_of
    assert promised
    assert all(said == given for said, given in promised.values()), promised


def test_the_archive_is_a_course_that_nbgrader_can_run(tmp_path, monkeypatch):
    monkeypatch.setattr(assignments, "OUTPUT", tmp_path)
    assignments.archive()
    with zipfile.ZipFile(tmp_path / "instructor_archive.zip") as zipped:
        files = {name for name in zipped.namelist() if not name.endswith("/")}
    wanted = ["nbgrader_config.py", "instructors_guide.md", f"data/{examiner.PROJECT_DATA}"]
    wanted += [f"grading/{name}.py" for name in ("contestant", "course", "examine", "examiner")]
    wanted += [f"{kind}/{name}/{name}.ipynb" for kind in ("source", "release") for name in NAMES]
    assert {f"course/{name}" for name in wanted} <= files
    assert not [name for name in files if "submitted" in name or name.endswith((".db", ".pyc"))]


def test_there_are_six_assignments_and_a_project():
    assert len(NAMES) == 7
    for name in NAMES:
        tasks = sum(cell.source.startswith("## Task") for cell in SOURCE[name].cells)
        assert name == "final_project" or 5 <= tasks <= 8, name


TRICKS = {
    "import fspca.shared_support.go": "cannot be imported",
    "from fspca import exhaustive": "cannot be imported",
    "import examiner": "examiner",
    "open(__import__('sys').argv[0]).read()": "is closed",
    "open(f'/proc/{__import__(\"os\").getppid()}/environ').read()": "is closed",
    "open('found.txt', 'w')": "nothing can be written",
    "__import__('os').open('found.txt', 1 | 64)": "nothing can be written",
    "__import__('subprocess').run(['ls'])": "not allowed",
    "__import__('os').system('ls')": "not allowed",
    "import sys; sys.modules.pop('fspca'); import fspca": "cannot be imported",
    "while True: pass": "longer than",
    "raise SystemExit": "SystemExit",
}


@pytest.mark.parametrize("trick", TRICKS)
def test_the_contestant_is_guarded(trick, monkeypatch):
    monkeypatch.setattr(examine, "SECONDS", 5)
    contestant = examine.Contestant([trick, "def twice(x):\n    return 2 * x"])
    try:
        theirs = contestant.names()
        assert TRICKS[trick] in contestant.errors[0]
        assert theirs["twice"](21) == 42  # one cell that fails is no reason to fail the others
    finally:
        contestant.stop()


def test_the_judge_may_be_imported_and_plots_do_nothing():
    cells = [
        "import numpy as np\nfrom fspca.judge import objective",
        "value = objective(np.eye(3), np.eye(3))",
        "import matplotlib.pyplot as plt\ndrawn, (a, b) = plt.subplots(1, 2)",
        "a.plot([1, 2])\ndone = 1",
        "print('noise on the wire')",
    ]
    contestant = examine.Contestant(cells)
    try:
        theirs = contestant.names()
        assert contestant.errors == {}
        assert (theirs["value"], theirs["done"]) == (3.0, 1)
    finally:
        contestant.stop()


def test_a_call_that_hangs_or_ends_python_is_one_failure(monkeypatch):
    monkeypatch.setattr(examine, "SECONDS", 5)
    cells = [
        "def hang():\n    while True: pass",
        "def end():\n    import os; os._exit(0)",
        "def fine():\n    return 1",
    ]
    contestant = examine.Contestant(cells)
    try:
        theirs = contestant.names()
        for name in ("hang", "end"):
            with pytest.raises(RuntimeError, match="longer than 5 seconds or ended Python"):
                theirs[name]()
            assert theirs["fine"]() == 1
    finally:
        contestant.stop()


def test_somebody_elses_notebook_is_told_so():
    given = ["def expect(condition):\n    if not condition:\n        raise ValueError('no')"]
    tests = {"mine": "expect(number == len(STUDENT))"}
    answers = ["STUDENT = 'ada'", "number = 3"]
    assert examine.examined(answers, given, tests, "ada") == {"mine": None}
    said = examine.examined(answers, given, tests, "grace")["mine"]
    assert said == "no (STUDENT is 'ada', but this was handed in by 'grace')"


def test_a_cell_that_a_student_calls_given_does_not_run_in_the_judge():
    """Only what the gradebook holds as locked runs there; see Examine."""
    given = ["value = 1"]
    answers = ["STUDENT = 'ada'", "value = 2"]
    tests = {"kept": "assert value == 1"}
    assert examine.examined(answers, given, tests, "ada") == {"kept": None}


HOURS = {"five": 5, "six": 6, "seven": 7, "eight": 8, "fifteen": 15}


@pytest.mark.parametrize("name", NAMES)
def test_the_pages_give_the_hours_and_points_of_the_notebook(name):
    text = "\n".join(cell.source for cell in SOURCE[name].cells)
    hours = HOURS[re.search(r"\*\*How long:\*\* (\w+) hours", text)[1]]
    total, checks, reader = re.search(POINTS, text).groups()
    students, lecturers = (
        (assignments.COURSE / f"for_{who}.md").read_text() for who in ("students", "lecturers")
    )
    (row,) = (line for line in students.splitlines() if f"/{name}.ipynb>" in line)
    assert row.endswith(f"| {hours} | {total} |")
    rows = [line for line in lecturers.splitlines() if f"`{name}`" in line]
    assert rows[0].endswith(f"| {hours} |")
    assert rows[1].endswith(f"| {checks} + {reader} |")


def test_the_guide_lists_the_wrong_answers_that_are_graded():
    """Each half-right attempt of the fixtures, with its marks."""
    guide = (assignments.COURSE / "instructors_guide.md").read_text()
    for name in NAMES:
        section = guide.split(f"### `{name}`")[1].split("\n###")[0]
        graded_here = {
            (answer, worth, sum(points(name)[answer].values()))
            for answer, (_, worth) in attempts(name)["half"].items()
        }
        rows = re.findall(r"^\| `([\w-]+)` \| (\d+) of (\d+) ", section, re.MULTILINE)
        assert {(answer, int(a), int(b)) for answer, a, b in rows} == graded_here, name


def test_the_book_renders_no_source():
    pages = {page for page in toc.pages() if page.startswith("book/assignments")}
    assert pages
    assert not any("source" in page or "guide" in page for page in pages)
