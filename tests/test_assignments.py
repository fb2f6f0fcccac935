"""The course grades itself: full marks for what is right, none for what only looks so."""

import contextlib
import copy
import io
import re
import shutil
from functools import cache
from itertools import combinations

import assignments
import examine
import examiner
import nbformat
import numpy as np
import plan
import pytest
import toc
from classroom import HERE, NAMES, SOURCE, Course, fixtures, kind, points, submission, wrong
from matplotlib import pyplot
from nbclient import NotebookClient

# Of nbgrader's own packages; what is ours is checked elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore")

STUDENTS = 100  # by night, so that one in a hundred can be told; by day there are five
SECRET = re.compile(r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)### END \1", re.DOTALL)


def attempts(name):
    """{attempt: {answer: (code, points expected)}} of the fixtures that are graded."""
    found = {}
    for (attempt, answer, *worth), code in fixtures(HERE / "attempts" / f"{name}.txt"):
        full = sum(points(name)[answer].values())
        expected = full
        if attempt == "half":
            expected, of = map(int, worth[0].split(" of "))
            assert of == full, f"{name}, {answer}: {worth[0]}, and the tests give {full}"
        if attempt != "wrong":
            found.setdefault(attempt, {})[answer] = (code, expected)
    return found


def graded(name, folder):
    """Hand in, autograde: the student's copy, {student: {test: points}}, notebooks, feedback."""
    course = Course(folder, name)
    released = nbformat.reads(course.released, as_version=4)
    handed_in = {"full": submission(SOURCE[name], "full"), "blank": submission(released, "blank")}
    for attempt, answers in attempts(name).items():
        code = {answer: source for answer, (source, _) in answers.items()}
        handed_in[attempt] = submission(SOURCE[name], attempt, code)
    for student, notebook in handed_in.items():
        course.hand_in(student, notebook)
        assignments.checked(course.grade(student))
    marks = {
        student: {test: auto for test, (auto, _) in course.marks(student).items()}
        for student in handed_in
    }
    notebooks = {student: course.autograded(student) for student in handed_in}
    assignments.checked(course.api.generate_feedback(name, "half"))
    feedback = (course.root / "feedback" / "half" / name / f"{name}.html").read_text()
    return course.released, marks, notebooks, feedback


@pytest.mark.needs_wall
@pytest.mark.parametrize("name", NAMES)
def test_assignment_from_its_source_to_its_marks(name, tmp_path):
    """One run of nbgrader for each assignment, and all that is to be seen of it."""
    text, marks, notebooks, feedback = graded(name, tmp_path)
    marks_are_as_the_rubric_says(name, marks, notebooks)
    written_answers_wait_for_a_reader(name, marks)
    students_copy_is_current_and_gives_nothing_away(name, text)
    assert "Not yet" in feedback
    assert "examiner" not in feedback  # the messages of hidden tests, and not the tests


def marks_are_as_the_rubric_says(name, marks, notebooks):
    faults = []
    for student, answers in {"full": {}, "blank": {}, **attempts(name)}.items():
        for answer, tests in points(name).items():
            full = sum(tests.values())
            expected = answers[answer][1] if answer in answers else full
            expected = 0 if student == "blank" else expected
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


def students_copy_is_current_and_gives_nothing_away(name, text):
    path = assignments.COURSE / "release" / name / f"{name}.ipynb"
    assert path.read_text() == text, f"{name}: run `make assignments`"
    everything = "\n".join(cell.source for cell in nbformat.reads(text, as_version=4).cells)
    for word in ("BEGIN ", "END ", "SOLUTION", "HIDDEN", "import examiner", "fspca.problem"):
        assert word not in everything, f"{name}: {word}"
    for cell in SOURCE[name].cells:
        if kind(cell) == "written":
            assert cell.source[:40] not in everything
        for _, secret in SECRET.findall(cell.source):
            assert secret.strip() not in everything, f"{name}, {cell.id}"


@pytest.mark.nightly
def test_after_the_assignments_are_made_the_book_has_nothing_to_do(monkeypatch, tmp_path):
    folders = (assignments.COURSE, toc.ROOT / "book" / "static")
    before = {p: p.stat().st_mtime_ns for f in folders for p in f.rglob("*") if p.is_file()}
    monkeypatch.setattr(assignments, "OUTPUT", tmp_path)
    assignments.release()
    assert {p: p.stat().st_mtime_ns for p in before} == before


def test_nothing_else_lies_beside_the_students_copies():
    assert {path.stem for path in assignments.COURSE.glob("release/*/*.ipynb")} == set(NAMES)
    assert (assignments.COURSE / "environment.yml").read_text() == assignments.environment()
    pinned = assignments.COURSE / "grading" / "requirements.txt"
    assert pinned.read_text() == assignments.for_graders()


def handed_out(name):
    path = assignments.COURSE / "release" / name / f"{name}.ipynb"
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("written", ["your id here", "", "  Your id here "])
def test_an_id_that_is_not_filled_in_stops_the_first_cell(name, written):
    """Else the student's own numbers are nobody's, and every check of them fails in the end."""
    student, course = (
        cell.source for cell in handed_out(name).cells if cell.id in ("student", "course")
    )
    assert student == 'STUDENT = "your id here"'
    names = {"STUDENT": written}
    with pytest.raises(Exception, match="put your id between the quotes"):
        exec(course, names)
    assert "my_rng" not in names  # nothing goes on without it


PICTURED = {
    "a_table_of_ones_own": ("curve", "my_curve, my_k = [0.5, 1.0, 2.0], 4"),
    "certificates_and_exact_search": ("certificate", "half"),
    "final_project": ("answers", "half"),
    "foundations_and_metrics": ("four", "half"),
    "go_and_its_proof": ("go-shifted", "half"),
    "ipu": ("climb", "half"),
    "nonnegative_and_spannogram": ("wedge", "half"),
    "stiefel_and_sadmm": ("retract", "half"),
    "thresholds_deflation_nets": ("net", "net = lambda eps: np.eye(2)"),
}


def drawn(name, answers=None):
    """The picture of an assignment as an array of colours, and the words in it."""
    names = {"__name__": "__main__"}
    for cell in submission(SOURCE[name], "ada", answers or {}).cells:
        if cell.cell_type == "code" and kind(cell) != "test":
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
                exec(cell.source, names)
        if cell.id == "picture":
            break
    figure = pyplot.gcf()
    figure.canvas.draw()
    words = [each.get_text() for each in figure.axes[0].texts]
    assert words or (figure.axes[0].get_xlabel() and figure.axes[0].get_ylabel())
    colours = np.array(figure.canvas.buffer_rgba())
    pyplot.close("all")
    return colours, words


@pytest.mark.parametrize("name", NAMES)
def test_each_assignment_draws_what_its_code_does(name, tmp_path, monkeypatch):
    """The picture is another where the code is wrong, and says so where nothing is written."""
    course_of("ada", tmp_path, monkeypatch)
    monkeypatch.setattr(pyplot, "show", lambda: None)
    right, words = drawn(name)
    assert not words
    assert np.array_equal(right, drawn(name)[0])
    answer, wrong_code = PICTURED[name]
    if wrong_code == "half":
        wrong_code = attempts(name)["half"][answer][0]
    wrong_one, words = drawn(name, {answer: wrong_code})
    assert not words
    assert np.mean(np.any(wrong_one != right, axis=-1)) > 0.001  # of the points of the picture
    _, (said,) = drawn(name, dict.fromkeys(points(name), "..."))
    assert said.startswith("Not yet: ")


def test_a_visible_check_names_the_likely_cause(tmp_path, monkeypatch):
    """Whatever a typical wrong answer makes a visible check say, the cause is in it."""
    course_of("ada", tmp_path, monkeypatch)
    named = []
    for name in NAMES:
        before = before_each_answer(name, "ada", lambda cell, names: None)
        tests = {cell.id: cell.source.split("### BEGIN HIDDEN")[0] for cell in SOURCE[name].cells}
        for answer, (code, _) in attempts(name)["half"].items():
            names = dict(before[answer])
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
                exec(code, names)
            for test in points(name)[answer]:
                well, said = outcome(tests[test], names)
                named += [] if well else [(name, test, said)]
    assert len(named) >= 18
    assert not [each for each in named if "Likely: " not in each[-1]]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_but_checks_fails_where_nothing_is_answered(name, tmp_path, monkeypatch):
    course_of("ada", tmp_path, monkeypatch)
    names = {"__name__": "__main__"}
    for cell in submission(handed_out(name), "ada").cells:
        if cell.cell_type == "code":
            wrong = None
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(cell.source, names)
            except Exception as error:
                wrong = error
            said = type(wrong).__name__
            assert said in ("NoneType", "NotYet"), f"{cell.id}: {wrong!r}"
            assert wrong is None or len(str(wrong).split()) > 4, f"{cell.id}: {wrong!r}"


def test_a_student_who_runs_the_notebook_reads_sentences_and_no_traceback():
    notebook = submission(handed_out(NAMES[-1]), "ada")
    NotebookClient(notebook, allow_errors=True, timeout=60).execute()
    said = [each for cell in notebook.cells for each in cell.get("outputs", [])]
    errors = [each.traceback for each in said if each.output_type == "error"]
    assert len(errors) == sum(map(len, points(NAMES[-1]).values()))
    for traceback in errors:
        assert len(traceback) == 1
        assert traceback[0].startswith("Not yet: ")


def before_each_answer(name, student, run):
    """Run the model solutions; give {answer: the names before it} and run each test."""
    names, before = {"__name__": "__main__"}, {}
    for cell in SOURCE[name].cells:
        if cell.cell_type != "code":
            continue
        if kind(cell) == "answer":
            before[cell.id] = dict(names)
        source = f"STUDENT = {student!r}" if cell.id == "student" else cell.source
        with contextlib.redirect_stdout(io.StringIO()):
            if kind(cell) == "test":
                run(cell, names)
            else:
                exec(source, names)
    return before


def outcome(source, names):
    """(whether it passes, what it prints or what is wrong) of a test."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(source, dict(names))
    except Exception as error:
        return False, str(error)
    return True, said.getvalue()


def wrong_answers(name):
    """[(answer, what it is, the tests that must see it, code)] of the fixtures."""
    found = [
        (answer, what, seen.split(), code)
        for (attempt, answer, *rest), code in fixtures(HERE / "attempts" / f"{name}.txt")
        if attempt == "wrong"
        for what, seen in [rest]
    ]
    (question,) = (cell.source for cell in SOURCE[name].cells if cell.id == "question")
    for turn in (1, 2, 3):  # all letters but the right one
        code = f"{question}\nmy_letter = 'abcd'['abcd'.index(my_letter) - {turn}]"
        found.append(("question", f"a letter that is {turn} off", ["question-right"], code))
    return found


def judge_wrong_answers(name, students):
    """Fractions of the students for whom a wrong answer gets through, and what is not told."""
    passed, untold, tests = {}, [], {cell.id: cell.source for cell in SOURCE[name].cells}

    def passes(cell, names):
        exec(cell.source, dict(names))

    for student in students:
        before = before_each_answer(name, student, passes)
        codes = []
        for answer, (code, _) in attempts(name)["half"].items():
            codes.append(code)  # one may lean on another
            names = dict(before[answer])
            for each in codes:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
                    exec(each, names)
            all_pass = all(outcome(tests[test], names)[0] for test in points(name)[answer])
            through = passed.setdefault((answer, "half", "all"), 0)
            passed[answer, "half", "all"] = through + all_pass
        for answer, what, seen, code in wrong_answers(name):
            names = dict(before[answer])
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
                exec(code, names)
            for test in seen:
                through = passed.setdefault((answer, what, test), 0)
                passed[answer, what, test] = through + outcome(tests[test], names)[0]
                well, said = outcome(tests[test].split("### BEGIN HIDDEN")[0], names)
                if well and "only" not in said:
                    untold.append((student, answer, what, test))
    return {case: count / len(students) for case, count in passed.items()}, untold


def remembered(search):
    """A search made once for each matrix, or for each state of the random numbers."""
    known = {}

    def found(first, *arguments):
        rng = getattr(first, "bit_generator", None)
        key = repr((rng.state if rng else first.tobytes(), arguments))
        if key not in known:
            known[key] = search(first, *arguments), rng and rng.state
        value, state = known[key]
        if rng:
            rng.state = state
        return copy.deepcopy(value)

    return found


SEARCHED = "misleading long_climb slope trap slow_climb redundant exchanged"


def course_of(student, folder, monkeypatch):
    monkeypatch.setenv("FSPCA_COURSE_SALT", f"the salt for {student}")
    for name in SEARCHED.split():
        monkeypatch.setattr(examiner, name, remembered(getattr(examiner, name)))
    for path in examiner.data_files():
        shutil.copy(path, folder)
    monkeypatch.chdir(folder)


@pytest.mark.parametrize("name", NAMES)
def test_wrong_answers_fail_and_what_is_not_checked_is_told(name, tmp_path, monkeypatch):
    """The model solutions pass for five students, and each listed wrong answer for none."""
    course_of("five", tmp_path, monkeypatch)
    passed, untold = judge_wrong_answers(name, [f"student {number}" for number in range(5)])
    assert {answer for answer, *_ in passed} >= set(points(name)) - {"predict"}
    assert not {case: share for case, share in passed.items() if share}
    assert not untold


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_wrong_answers_fail_for_many_students(name, tmp_path, monkeypatch, record_property):
    """Each listed short cut and wrong answer fails for at least 99 % of a hundred students."""
    record_property("instances", STUDENTS)
    course_of("all", tmp_path, monkeypatch)
    passed, untold = judge_wrong_answers(name, [f"{number:03d}" for number in range(STUDENTS)])
    assert not {case: share for case, share in passed.items() if share > 0.01}
    assert not untold


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


def helper(student):
    """The names that the helper cell gives to a student's notebook."""
    names = {"STUDENT": student}
    exec((assignments.COURSE / "grading" / "course.py").read_text(), names)
    return names


@pytest.mark.needs_wall
def test_somebody_elses_notebook_is_told_so():
    given = ["def expect(condition):\n    if not condition:\n        raise ValueError('no')"]
    tests = {"mine": "expect(number == len(STUDENT))"}
    answers = ["STUDENT = 'ada'", "number = 3"]
    assert examine.examined(answers, given, tests, "ada") == {"mine": None}
    said = examine.examined(answers, given, tests, "grace")["mine"]
    assert said == "no (STUDENT is 'ada', but this was handed in by 'grace')"


@pytest.mark.parametrize("name", NAMES)
def test_what_an_assignment_says_of_itself_is_so(name):
    """Its chapters exist, its points add up, its hours follow the rule; it has the parts of all."""
    cells, whole = SOURCE[name].cells, ("a_table_of_ones_own", "final_project")
    text = "\n".join(cell.source for cell in cells)
    builds_on = re.search(r"\*\*It builds on\*\*.*", text)[0]
    named = re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", builds_on)
    assert named or name == "final_project"
    assert set(named) <= titles(), set(named) - titles()
    given, tasks = {"auto": 0, "written": 0}, []
    for cell in cells:
        head = re.search(r"^## .*?(\d+) points?\)$", cell.source, re.MULTILINE)
        if cell.cell_type == "markdown" and head:
            tasks.append([int(head[1]), 0])
        if marks := cell.metadata.get("nbgrader", {}).get("points"):
            given["written" if kind(cell) == "written" else "auto"] += marks
            tasks[-1][1] += marks
    assert plan.points(name) == (sum(given.values()), *given.values())
    assert all(said == given for said, given in tasks), tasks
    assert float(re.search(r"\*\*How long:\*\* ([\d.]+) hours", text)[1]) == plan.work(name)
    assert text.count("<details><summary>Hint 1</summary>") >= (1 if name == "final_project" else 3)
    assert "my_prediction" in text
    assert "Which is true?" in text
    assert "## A first problem" in text or name in whole  # each is one problem on data
    assert cells[-1].source.startswith("## Beyond the marks")
    assert not cells[-1].metadata
    assert len(re.findall(r"^\d\. ", cells[-1].source, re.MULTILINE)) == 2


@cache
def titles():
    chapters = (assignments.ROOT / "book").glob("*/*")
    readable = [path for path in chapters if path.suffix in (".ipynb", ".md")]
    return {plan.title(path) for path in readable if path.parent != assignments.COURSE}


def test_the_tables_of_the_pages_are_made_from_the_plan():
    for path in assignments.COURSE.glob("for_*.md"):
        assert path.read_text() == plan.filled(path.read_text()), "run `make assignments`"
    assert len(plan.PLAN["weeks"]) == 12
    assert {name for _, name, _ in plan.handed_in()} == set(NAMES)
    outlines = (assignments.COURSE / "lectures.md").read_text()
    weeks = re.findall(r"^## Week (\d+)\.", outlines, re.MULTILINE)
    assert list(map(int, weeks)) == list(range(1, 13))
    for part in ("**Begin with**", "**The line**", "**Draw:**", "**Ask**", "**Let it fail**"):
        assert outlines.count(part) == 12


def test_short_cuts_do_not_choose_the_measurements_of_the_pit_props():
    """For no list of what is left out: the largest loadings, a climb of one step."""
    given, names = helper("anybody"), set()
    left_out = given["LEFT_OUT"].split()
    assert len(left_out) > 100
    for triple in left_out:
        given["LEFT_OUT"] = triple
        mine, A = given["pit_props"]("anybody")
        names |= set(mine)
        w, V = np.linalg.eigh(A)
        for m, k in ((2, 4), (1, 3)):
            most = examiner.best(A, m, k)[1] * (1 - 1e-6)
            rules = [V[:, -m:] ** 2 @ w[-m:], np.sum(V[:, -m:] ** 2, axis=1), V[:, -1] ** 2]
            assert all(examiner.value(A, examiner.top(rule, k), m) < most for rule in rules)
        ends = {tuple(examiner.ipu_step(A, 2, list(I))) for I in combinations(range(10), 4)}
        assert any(tuple(examiner.ipu_step(A, 2, list(I))) != I for I in ends), triple
    assert names == set(given["PROPS"].split())


@pytest.mark.parametrize("name", ["a_table_of_ones_own", "foundations_and_metrics"])
def test_code_that_a_notebook_shows_runs(name):
    """The lines in the text of the assignments that use the module's doors for tables."""
    blocks = [
        each
        for cell in SOURCE[name].cells
        for each in re.findall(r"```python\n(.*?)```", cell.source, re.S)
    ]
    assert any("SparsePrincipalSubspace" in block for block in blocks)
    mine, A = helper("anybody")["pit_props"]("anybody")
    for block in blocks:
        table = np.random.default_rng(0).standard_normal((40, 8))
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(block, {"np": np, "table": table, "my_names": mine, "my_props": A})
        assert printed.getvalue()


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
