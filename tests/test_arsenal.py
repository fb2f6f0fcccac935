"""Attacks on the grader: none earns a point, ends the judge, or touches a file."""

import contextlib
import hashlib
import os
import re
import shutil
import socket
import time
from pathlib import Path

import assignments
import classroom
import examine
import nbformat
import numpy as np
import pytest
import wall
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

pytestmark = [
    pytest.mark.needs_wall,
    pytest.mark.filterwarnings("ignore"),  # of nbgrader's own packages
]

NAME = "foundations_and_metrics"
ANSWERS = classroom.points(NAME)
CODE = {head[0]: code for head, code in classroom.fixtures(classroom.HERE / "arsenal.txt")}


def checks_of(notebook):
    return [cell for cell in notebook.cells if classroom.kind(cell) == "test"]


def edited_tests(notebook):
    for cell in checks_of(notebook):
        cell.source = "pass"


def raised_points(notebook):
    for cell in checks_of(notebook):
        cell.metadata["nbgrader"]["points"] = 100


def checks_that_are_answers(notebook):
    for cell in checks_of(notebook):
        cell.source = "pass"
        cell.metadata["nbgrader"] |= {"solution": True, "locked": False, "grade": True}


def checks_that_are_not_graded(notebook):
    for cell in checks_of(notebook):
        cell.metadata["nbgrader"]["grade"] = False


def checks_turned_into_text(notebook):
    for cell in checks_of(notebook):
        cell.cell_type = "markdown"
        del cell["outputs"], cell["execution_count"]


def checks_taken_out(notebook):
    gone = checks_of(notebook)
    notebook.cells = [cell for cell in notebook.cells if cell not in gone]


def everything_taken_out(notebook):
    notebook.cells = [new_code_cell("my_trace = 0")]


def given_cells_rewritten(notebook):
    """The course's own cells agree with everything, twice over."""
    agree = "same = expect = lambda *arguments: None\nexaminer = None"
    (course,) = (cell for cell in notebook.cells if cell.id == "course")
    course.source = agree
    for claimed in ("course", "of-my-own", "explained-value"):
        cell = new_code_cell(agree)
        cell.metadata["nbgrader"] = course.metadata["nbgrader"] | {"grade_id": claimed}
        notebook.cells.append(cell)


def checks_twice(notebook):
    for cell in checks_of(notebook):
        again = new_code_cell("pass", metadata=cell.metadata.copy())
        notebook.cells.insert(0, again)


def outputs_that_promise_points(notebook):
    for cell in checks_of(notebook):
        cell.outputs = [new_output("execute_result", {"text/plain": "1000"}, execution_count=1)]


def checksums_of_ones_own(notebook):
    for cell in notebook.cells:
        if classroom.kind(cell):
            cell.metadata["nbgrader"]["checksum"] = "0" * 32
            cell.metadata["nbgrader"]["auto_score"] = 99


def metadata_of_an_old_form(notebook):
    for cell in notebook.cells:
        if classroom.kind(cell):
            cell.metadata["nbgrader"]["schema_version"] = 1


def metadata_of_a_form_to_come(notebook):
    for cell in notebook.cells:
        if classroom.kind(cell):
            cell.metadata["nbgrader"]["schema_version"] = 99


def metadata_of_no_form(notebook):
    for cell in notebook.cells:
        cell.metadata["nbgrader"] = ["grade", {"points": 99}]


def pages_that_run(notebook):
    """What the reader's browser would run with the reader's rights."""
    run = "<script>fetch('/formgrader/api/grade/1', {method: 'PUT'})</script>"
    cell = new_code_cell("x = 1")
    kinds = ("text/html", "application/javascript", "image/svg+xml", "text/plain")
    cell.outputs = [new_output("display_data", dict.fromkeys(kinds, run))]
    notebook.cells += [cell, new_markdown_cell(run + "<img src=x onerror=alert(1)>")]


EDITS = [
    edited_tests,
    raised_points,
    checks_that_are_answers,
    checks_that_are_not_graded,
    checks_turned_into_text,
    checks_taken_out,
    everything_taken_out,
    given_cells_rewritten,
    checks_twice,
    outputs_that_promise_points,
    checksums_of_ones_own,
    metadata_of_an_old_form,
    metadata_of_a_form_to_come,
    metadata_of_no_form,
    pages_that_run,
]


def a_link_to_the_source(place, course):
    target = place / f"{NAME}.ipynb"
    target.unlink()
    target.symlink_to(course / "source" / NAME / f"{NAME}.ipynb")


def a_folder_that_is_a_link(place, course):
    shutil.rmtree(place)
    place.symlink_to(course / "submitted" / "victim" / NAME)


def files_with_names_of_the_course(place, course):
    for name in ("nbgrader_config.py", "examiner.py", "numpy.py", "sitecustomize.py"):
        (place / name).write_text("raise SystemExit('taken over')")
    shutil.copy(course / "gradebook.db", place)


def a_notebook_nested_deeply(place, course):
    (place / f"{NAME}.ipynb").write_text("[" * 100000)


def an_empty_notebook(place, course):
    (place / f"{NAME}.ipynb").write_text("")


FILES = [
    a_link_to_the_source,
    a_folder_that_is_a_link,
    files_with_names_of_the_course,
    a_notebook_nested_deeply,
    an_empty_notebook,
]


def fingerprint(course):
    """All files that grading a student has no business with."""
    left_out = {"autograded", "gradebook.db", "__pycache__"}
    files = [path for path in course.rglob("*") if not left_out & set(path.parts)]
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.is_file()
    }


def test_nothing_earns_a_point_ends_the_judge_or_touches_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(examine, "SECONDS", 2)
    monkeypatch.setattr(examine, "BUDGET", 6)
    course = classroom.Course(tmp_path, NAME)
    course.hand_in("victim", classroom.submission(classroom.SOURCE[NAME], "victim"))
    assignments.checked(course.grade("victim"))
    honest = course.marks("victim")
    assert sum(auto or 0 for auto, _ in honest.values()) == sum(
        sum(tests.values()) for tests in ANSWERS.values()
    )
    blank = nbformat.reads(course.released, as_version=4)
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    words = {
        "COURSE": str(course.root),
        "NAME": NAME,
        "ROOT": str(assignments.ROOT),
        "SITE": str(wall.SITE),
        "PARENT": str(os.getpid()),
        "PORT": str(listener.getsockname()[1]),
    }
    attackers = {}
    for attack, code in CODE.items():
        for word, meaning in words.items():
            code = code.replace(word, meaning)
        notebook = classroom.submission(blank, attack)
        notebook.cells.append(new_code_cell(code))
        attackers[attack] = notebook
    for edit in EDITS:
        attackers[edit.__name__] = classroom.submission(blank, edit.__name__)
        edit(attackers[edit.__name__])
    attackers |= {change.__name__: classroom.submission(blank, change.__name__) for change in FILES}
    assert len(attackers) > 70  # as the page for lecturers says
    for attack, notebook in attackers.items():
        course.hand_in(attack, notebook)
    for change in FILES:
        change(course.root / "submitted" / change.__name__ / NAME, course.root)
    before, gained = fingerprint(course.root), {}
    for attack in attackers:
        course.grade(attack)
        marks = course.marks(attack)
        if any(auto or manual for auto, manual in marks.values()):
            gained[attack] = marks
        assert fingerprint(course.root) == before, attack
        assert course.marks("victim") == honest, attack
    assert not gained
    with pytest.raises(BlockingIOError):
        listener.accept()
    listener.close()
    for cell in course.autograded("pages_that_run").cells:
        for output in cell.get("outputs", []):
            assert set(output.get("data", {})) <= examine.SHOWN
        assert cell.cell_type == "code" or not re.search("<(script|img)", cell.source)
    course.hand_in("last", classroom.submission(classroom.SOURCE[NAME], "last"))
    assignments.checked(course.grade("last"))  # the judge is well
    assert {test: auto for test, (auto, _) in course.marks("last").items()} == {
        test: auto for test, (auto, _) in honest.items()
    }


def test_an_attack_would_earn_points_without_the_wall(tmp_path, monkeypatch):
    """The arsenal is no list of things that never worked."""
    source = [cell for cell in classroom.SOURCE[NAME].cells if cell.cell_type == "code"]
    parts = {kind: {} for kind in ("test", "given", "answer", "written", None)}
    for cell in source:
        parts[classroom.kind(cell)][cell.id] = cell.source
    course = assignments.course_copy(tmp_path)
    attack = CODE["the source, executed"].replace("COURSE", str(course)).replace("NAME", NAME)
    cells = ["STUDENT = 'eve'", *parts["given"].values(), attack]
    earned = {}
    for held in ("none", wall.built(None)[0]):
        monkeypatch.setenv("FSPCA_COURSE_WALL", held)
        verdicts = examine.examined(cells, list(parts["given"].values()), parts["test"], "eve")
        earned[held] = [test for test, wrong in verdicts.items() if wrong is None]
    assert len(earned.pop("none")) > len(parts["test"]) / 2
    assert list(earned.values()) == [[]]


@pytest.mark.parametrize("name", wall.walls())
def test_behind_each_wall_there_is_python_and_numpy_and_nothing_else(name, monkeypatch):
    monkeypatch.setenv("FSPCA_COURSE_WALL", name)
    seen = """
import os, numpy as np
here, name, me = sorted(os.listdir(".")), os.path.basename(os.getcwd()), os.getppid()
def of(path):
    return sorted(os.listdir(path))
def write(path):
    open(path, "w").write("x")
    return True
"""
    contestant = examine.Contestant([seen])
    try:
        theirs = contestant.names({"here", "name", "me", "of", "write"})
        assert contestant.errors == {}
        let_in = {str(path) for _, path in wall.let_in()}
        for folder in {parent for path in map(Path, let_in) for parent in path.parents}:
            within = any(str(each) in let_in for each in (folder, *folder.parents))
            leads = {path.parts[len(folder.parts)] for path in map(Path, let_in)
                     if folder in path.parents}  # fmt: skip
            own = {"/": {"dev", "tmp"}, "/dev": theirs["of"]("/dev"), "/tmp": {theirs["name"]}}
            found = set(theirs["of"](str(folder)))
            assert within or found <= leads | set(own.get(str(folder), ())), folder
        assert theirs["me"] == 1
        assert theirs["here"] == sorted(path.name for path in examine.examiner.data_files())
        assert theirs["of"](str(wall.SITE)) == ["numpy", "numpy.libs"]
        assert theirs["of"](str(wall.HERE)) == ["contestant.py"]
        assert theirs["write"]("mine")
        with pytest.raises(RuntimeError, match="Read-only|Permission"):
            theirs["write"](str(wall.PROGRAM))
    finally:
        contestant.stop()
    assert not list(Path(contestant.folder.name).iterdir())


def descendants(process):
    """The numbers of all processes that descend from one."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may end while it is looked at
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = {process}
    while more := {each for each, parent in parents.items() if parent in found} - found:
        found |= more
    return found


@pytest.mark.parametrize("name", wall.walls())
def test_nothing_survives_the_judge(name, monkeypatch):
    """Not a process that has a session of its own, and not its children."""
    monkeypatch.setenv("FSPCA_COURSE_WALL", name)
    stay = "import os, signal, time\nif os.fork() == 0:\n    os.setsid()\n    os.fork()\n"
    contestant = examine.Contestant([stay + "    time.sleep(600)", "x = os.getpid()"])
    assert contestant.names({"x"})
    left = descendants(contestant.process.pid)
    assert len(left) >= 4
    contestant.stop()
    for _ in range(100):
        if not any(Path(f"/proc/{each}").exists() for each in left):
            return
        time.sleep(0.05)
    pytest.fail(f"still there: {[each for each in left if Path(f'/proc/{each}').exists()]}")


def test_there_is_a_wall_here():
    """Without one the grader says so and stops; so does this test."""
    assert wall.built(None)[0] in wall.walls()


def test_without_a_wall_or_a_salt_nothing_is_graded(monkeypatch):
    monkeypatch.setattr(wall, "walls", dict)
    with pytest.raises(wall.NoWall, match="FSPCA_COURSE_WALL=none grades all the same"):
        wall.built.__wrapped__(None)
    assert wall.built.__wrapped__("none")[0] == "none"
    monkeypatch.setenv("FSPCA_COURSE_SALT", "")
    with pytest.raises(wall.NoWall, match="FSPCA_COURSE_SALT is not set"):
        examine.ready()


def test_a_call_that_hangs_or_ends_python_is_one_failure(monkeypatch):
    monkeypatch.setattr(examine, "SECONDS", 2)
    cells = [
        "def hang():\n    while True: pass",
        "def end():\n    import os; os._exit(0)",
        "def fine():\n    return 1",
        "while True: pass",
    ]
    contestant = examine.Contestant(cells)
    try:
        theirs = contestant.names({"hang", "end", "fine"})
        for name, said in (("hang", "longer than 2 seconds"), ("end", "ended Python")):
            with pytest.raises(RuntimeError, match=said):
                theirs[name]()
            assert theirs["fine"]() == 1
        assert set(contestant.errors) == {3}
    finally:
        contestant.stop()


def test_data_come_over_as_they_are():
    cells = [
        "import numpy as np\nimport matplotlib.pyplot as plt\ndrawn, (a, b) = plt.subplots(1, 2)",
        "%matplotlib inline\na.plot([1, 2])\nprint('noise on the wire')\nX = np.eye(2)",
        "kept = {'t': (1, 2.5), 's': {3}, 'n': None, 'b': True}",
        "def twice(x):\n    return 2 * x",
    ]
    contestant = examine.Contestant(cells)
    try:
        theirs = contestant.names({"X", "kept", "twice"})
        assert contestant.errors == {}
        assert np.array_equal(theirs["X"], np.eye(2))
        assert theirs["kept"] == {"t": (1, 2.5), "s": {3}, "n": None, "b": True}
        assert np.array_equal(theirs["twice"](np.arange(3)), [0, 2, 4])
    finally:
        contestant.stop()
