"""Attacks on the grader: none earns a point, ends the judge, touches a file, or costs much."""

import contextlib
import hashlib
import os
import shutil
import threading
import time
from pathlib import Path

import assignments
import classroom
import examine
import judge
import nbformat
import numpy as np
import pytest
import wall
from classroom import SOURCE, kind, submission
from nbformat.v4 import new_code_cell

pytestmark = [
    pytest.mark.needs_wall,
    pytest.mark.filterwarnings("ignore"),  # of nbgrader's own packages
]

NAME = "foundations_and_metrics"
ANSWERS = classroom.points(NAME)
CODE = {head[0]: code for head, code in classroom.fixtures(classroom.HERE / "arsenal.txt")}


def checks_of(notebook):
    return [cell for cell in notebook.cells if kind(cell) == "test"]


def checks_of_more_points_and_another_kind(notebook):
    claimed = {"points": 100, "auto_score": 99, "checksum": "0" * 32, "schema_version": 99}
    for cell in checks_of(notebook):
        cell.source = "pass"
        cell.metadata["nbgrader"] |= claimed | {"solution": True, "locked": False}


def checks_turned_into_text(notebook):
    for cell in checks_of(notebook):
        cell.cell_type = "markdown"
        del cell["outputs"], cell["execution_count"]


def checks_taken_out(notebook):
    gone = checks_of(notebook)
    notebook.cells = [cell for cell in notebook.cells if cell not in gone]


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


def metadata_of_no_form(notebook):
    for cell in notebook.cells:
        cell.metadata["nbgrader"] = ["grade", {"points": 99}]


EDITS = [
    checks_of_more_points_and_another_kind,
    checks_turned_into_text,
    checks_taken_out,
    given_cells_rewritten,
    checks_twice,
    metadata_of_no_form,
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


def a_notebook_nested_deeply(place, course):
    (place / f"{NAME}.ipynb").write_text("[" * 1_000_000)


FILES = [
    a_link_to_the_source,
    a_folder_that_is_a_link,
    files_with_names_of_the_course,
    a_notebook_nested_deeply,
]


def fingerprint(course):
    """All files that grading a student has no business with."""
    left_out = {"autograded", "gradebook.db", "__pycache__"}
    files = [path for path in course.rglob("*") if not left_out & set(path.parts)]
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.is_file()
    }


def test_nothing_earns_a_point_ends_the_judge_or_touches_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "SECONDS", 2)
    monkeypatch.setattr(judge, "BUDGET", 6)
    course = classroom.Course(tmp_path, NAME)
    course.hand_in("victim", submission(SOURCE[NAME], "victim"))
    assignments.checked(course.grade("victim"))
    honest = course.marks("victim")
    assert sum(auto or 0 for auto, _ in honest.values()) == sum(
        sum(tests.values()) for tests in ANSWERS.values()
    )
    blank = nbformat.reads(course.released, as_version=4)
    attackers = {}
    for attack, code in CODE.items():
        code = code.replace("COURSE", str(course.root)).replace("NAME", NAME)
        notebook = submission(blank, attack)
        notebook.cells.append(new_code_cell(code))
        attackers[attack] = notebook
    for edit in EDITS:
        attackers[edit.__name__] = submission(blank, edit.__name__)
        edit(attackers[edit.__name__])
    attackers |= {change.__name__: submission(blank, change.__name__) for change in FILES}
    assert len(attackers) > 20  # as the page for lecturers says
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
    course.hand_in("last", submission(SOURCE[NAME], "last"))
    assignments.checked(course.grade("last"))  # the judge is well
    assert {test: auto for test, (auto, _) in course.marks("last").items()} == {
        test: auto for test, (auto, _) in honest.items()
    }


def verdicts(name, answers=None, more=""):
    """What is wrong in each test of a notebook with these answers, the others right."""
    notebook = submission(SOURCE[name], "ada", answers or {})
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    given = [cell.source for cell in code if kind(cell) == "given"]
    tests = {cell.id: cell.source for cell in code if kind(cell) == "test"}
    cells = [cell.source for cell in code if kind(cell) != "test"]
    return examine.examined([*cells, more], given, tests, "ada")


def test_an_attack_would_earn_points_without_the_wall(tmp_path, monkeypatch):
    """The arsenal is no list of things that never worked."""
    course = assignments.course_copy(tmp_path)
    attack = CODE["the source, executed"].replace("COURSE", str(course)).replace("NAME", NAME)
    nothing = dict.fromkeys(ANSWERS, "...")
    earned = {}
    for held in ("none", wall.name()):
        monkeypatch.setenv("FSPCA_COURSE_WALL", held)
        found = verdicts(NAME, nothing, attack)
        earned[held] = [test for test, wrong in found.items() if wrong is None]
    assert len(earned.pop("none")) > len(found) / 2
    assert list(earned.values()) == [[]]


STAGES = {"stages-support", "stages-refit"}
HOARD = """import os, numpy as np
caught = []
for take in (os.fork, lambda: os.memfd_create("x"), lambda: np.ones(1 << 28)):
    try:
        take()
    except (OSError, MemoryError) as error:
        caught.append(type(error).__name__)
hoard = np.ones(1 << 26)
def two_stage(A, V, k):
    return caught
"""
COSTLY = {  # what an answer does, and the tests that it may cost
    "60,000 points": (
        "net",
        "def net(eps):\n    return np.ones((60_000, 2))",
        {"net-covers", "net-value"},
    ),
    "a long text": ("stages", "def two_stage(A, V, k):\n    return 'x' * 300_000", STAGES),
    "many numbers": ("stages", "def two_stage(A, V, k):\n    return np.ones((300, 100))", STAGES),
    "no end": ("stages", "def two_stage(A, V, k):\n    while True: pass", STAGES),
    "all memory": ("stages", "def two_stage(A, V, k):\n    return [0] * (1 << 28)", STAGES),
    "children, files in memory, a hoard": ("stages", HOARD, STAGES),
}


@pytest.mark.parametrize("what", COSTLY)
def test_what_overruns_costs_its_own_task_and_little_else(what, monkeypatch):
    monkeypatch.setattr(judge, "SECONDS", 5)
    answer, code, lost = COSTLY[what]
    with cost() as spent:
        found = verdicts("thresholds_deflation_nets", {answer: code})
    assert {test for test, wrong in found.items() if wrong} == lost
    assert all(len(found[test].split()) > 4 for test in lost)
    assert spent["bytes"] < 2e9, spent
    assert spent["seconds"] < 60, spent


def test_a_table_that_is_too_wide_is_refused_before_it_is_used():
    """Once a table of 90 columns cost four seconds a test; a task that needs none goes on."""
    code = "my_text = packed(np.random.default_rng(0).standard_normal((60, 90)))"
    found = verdicts("a_table_of_ones_own", {"table": code})
    right = {test for test, wrong in found.items() if not wrong}
    assert right == {"predict-said", "question-right"}
    assert "at most 500 rows and 40 columns" in found["table-sound"]
    assert "at most 500 rows and 40 columns" in found["curve-good"]


def test_a_test_that_overruns_is_one_failure_and_says_so(monkeypatch):
    """Whatever makes the judge itself slow, large, or end."""
    monkeypatch.setattr(examine, "TEST", 4)
    tests = {
        "slow": "while True: pass",
        "large": "import numpy\nnumpy.ones(1 << 30)",
        "ended": "import os\nos._exit(1)",
        "fine": "if number != 3: raise ValueError('no')",
        "wrong": "raise ValueError('what is wrong')",
    }
    with cost() as spent:
        found = examine.examined(["STUDENT = 'ada'", "number = 3"], [], tests, "ada")
    assert found.pop("fine") is None
    assert found.pop("wrong") == "what is wrong"
    assert found.pop("large") == "what came takes more memory than there is to look at it"
    assert set(found.values()) == {examine.OVERRAN}
    assert spent["bytes"] < 2e9


@pytest.mark.nightly
def test_a_notebook_in_which_nothing_ends_costs_a_minute():
    with cost() as spent:
        found = verdicts(NAME, dict.fromkeys(ANSWERS, "while True: pass"))
    assert all(found.values())
    assert spent["seconds"] < 60


def test_an_answer_is_measured_in_linear_time():
    """Quotes that open and do not end were gone over again from each of them."""
    began = time.process_time()
    for line in (b'"' + b'\\"' * 500_000 + b"\n", b'"\\' * 500_000 + b"\n", b'"' * 999_999 + b"\n"):
        with contextlib.suppress(judge.Ended):
            judge.parsed(line)
    assert time.process_time() - began < 2
    for line in (b"[" * 50 + b"\n", b'{"value": [' + b"1," * 30_000 + b"1]}\n", b"[1]\n"):
        with pytest.raises(judge.Ended):
            judge.parsed(line)


@contextlib.contextmanager
def cost():
    """Seconds, and the most bytes that this process's children held together."""
    spent, done, began = {"bytes": 0}, threading.Event(), time.monotonic()

    def watch():
        while not done.wait(0.02):
            spent["bytes"] = max(spent["bytes"], held_below(os.getpid()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield spent
    finally:
        done.set()
        watcher.join()
        spent["seconds"] = time.monotonic() - began


def held_below(process):
    """The bytes that all processes hold that descend from one."""
    parents, pages = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may end while it is looked at
            number, fields = int(stat.parent.name), stat.read_text().rpartition(")")[2].split()
            parents[number], pages[number] = int(fields[1]), int(fields[21])
    found = {process}
    while more := {each for each, parent in parents.items() if parent in found} - found:
        found |= more
    return sum(pages[each] for each in found - {process}) * os.sysconf("SC_PAGESIZE")


@pytest.mark.parametrize("name", wall.walls())
def test_behind_each_wall_there_is_python_and_numpy_and_nothing_else(name):
    classroom.needs_wall(name)
    seen = """
import os, numpy as np
here, name = sorted(os.listdir(".")), os.path.basename(os.getcwd())
def of(path):
    return sorted(os.listdir(path))
"""
    contestant = judge.Contestant([seen], name)
    try:
        theirs = contestant.names({"here", "name", "of"})
        assert contestant.errors == {}
        let_in = {str(path) for _, path in wall.let_in()}
        for folder in {parent for path in map(Path, let_in) for parent in path.parents}:
            within = any(str(each) in let_in for each in (folder, *folder.parents))
            leads = {path.parts[len(folder.parts)] for path in map(Path, let_in)
                     if folder in path.parents}  # fmt: skip
            own = {"/": {"dev", "tmp"}, "/dev": theirs["of"]("/dev"), "/tmp": {theirs["name"]}}
            found = set(theirs["of"](str(folder)))
            assert within or found <= leads | set(own.get(str(folder), ())), folder
        assert theirs["here"] == sorted(path.name for path in examine.examiner.data_files())
        assert theirs["of"](str(wall.SITE)) == ["numpy", "numpy.libs"]
        assert theirs["of"](str(wall.HERE)) == ["contestant.py"]
    finally:
        contestant.stop()
    assert not list(Path(contestant.folder.name).iterdir())


@pytest.mark.parametrize("name", wall.walls())
def test_a_wall_that_lacks_a_side_is_found_out(name, tmp_path, monkeypatch):
    """Each is tried before it is relied upon: with the network let in, or nothing given up."""
    classroom.needs_wall(name)
    whole = wall.walls()[name]
    assert wall.faults(whole) == []
    open_net = {"--net": "--uts", "--unshare-all": "--unshare-pid"}
    holes = wall.faults(lambda root: [open_net.get(word, word) for word in whole(root)])
    assert "reaches the network" in holes
    program = tmp_path / "contestant.py"
    program.write_text(wall.PROGRAM.read_text().replace("    confine()\n", ""))
    program.chmod(0o644)
    tmp_path.chmod(0o755)
    monkeypatch.setattr(wall, "PROGRAM", program)
    holes = set(wall.faults(wall.walls()[name]))
    assert {"starts a process", "takes two gigabytes", "keeps keys"} <= holes
    monkeypatch.setattr(wall, "walls", lambda: {name: lambda root: ["false"]})
    with pytest.raises(wall.NoWall, match=f"behind {name} it runs nothing at all"):
        wall.built.__wrapped__(None)


def test_without_a_wall_or_a_salt_nothing_is_graded(monkeypatch):
    monkeypatch.setattr(wall, "walls", dict)
    for asked in (None, "container"):
        with pytest.raises(wall.NoWall, match="FSPCA_COURSE_WALL=none grades all the same"):
            wall.built.__wrapped__(asked)
    assert wall.built.__wrapped__("none")[0] == "none"
    monkeypatch.setenv("FSPCA_COURSE_SALT", "")
    with pytest.raises(wall.NoWall, match="FSPCA_COURSE_SALT is not set"):
        examine.ready()


def test_a_call_that_hangs_or_ends_python_is_one_failure(monkeypatch):
    monkeypatch.setattr(judge, "SECONDS", 2)
    cells = [
        "def hang():\n    while True: pass",
        "def end():\n    import os; os._exit(0)",
        "def fine():\n    return 1",
        "while True: pass",
    ]
    contestant = judge.Contestant(cells)
    try:
        theirs = contestant.names({"hang", "end", "fine"})
        for name, said in (("hang", "longer than 2 seconds"), ("end", "ended Python")):
            for _ in range(2):  # the second time it is not asked again
                with pytest.raises(RuntimeError, match=said):
                    theirs[name]()
            assert theirs["fine"]() == 1
        assert set(contestant.errors) == {3}
        assert contestant.left > judge.BUDGET - 10
    finally:
        contestant.stop()


def test_data_come_over_as_they_are():
    cells = [
        "import numpy as np\nimport matplotlib.pyplot as plt\ndrawn, (a, b) = plt.subplots(1, 2)",
        "%matplotlib inline\na.plot([1, 2])\nprint('noise on the wire')\nX = np.eye(2)",
        "kept = {'t': (1, 2.5), 's': {3}, 'n': None, 'b': True}",
        "def twice(x):\n    return 2 * x",
    ]
    contestant = judge.Contestant(cells)
    try:
        theirs = contestant.names({"X", "kept", "twice"})
        assert contestant.errors == {}
        assert np.array_equal(theirs["X"], np.eye(2))
        assert theirs["kept"] == {"t": (1, 2.5), "s": {3}, "n": None, "b": True}
        assert np.array_equal(theirs["twice"](np.arange(3)), [0, 2, 4])
    finally:
        contestant.stop()


def test_nothing_outlives_a_judge_that_is_ended(monkeypatch):
    """Not the student's process either, in the middle of something."""
    monkeypatch.setattr(examine, "TEST", 3)
    groups, end = [], examine.Judge.end

    def watched(one):
        groups.append(one.contestant)
        end(one)

    monkeypatch.setattr(examine.Judge, "end", watched)
    tests = {"asks": "stay()", "fine": "pass"}
    found = examine.examined(["def stay():\n    while True: pass"], [], tests, "ada")
    assert found == {"asks": examine.OVERRAN, "fine": None}
    running = next(each for each in groups if each)
    for _ in range(100):
        try:
            os.killpg(running, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the student's process is still there")
