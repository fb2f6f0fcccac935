"""What the nightly run stores is what ran, and the page shows all of it."""

import ast
import json
import subprocess

import mutants
import nightly_page
import pytest
import toc

from fspca_reproduction.runner import experiments

pytest_plugins = ["pytester"]

TOY = """
    import pytest

    pytestmark = pytest.mark.nightly

    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_many(n, record_property):
        import numpy as np
        record_property("instances", np.int64(10 * n))  # as a sum of counts is
        assert n != BAD

    def test_one():
        "One thing. And more."
        import subprocess, sys, time
        time.sleep(2.0)  # costs nothing
        until = "import time\\nwhile time.process_time() < 0.5: pass"
        subprocess.run([sys.executable, "-c", until], check=True)
"""


def git(folder, *words):
    who = ["-c", "user.name=a tester", "-c", "user.email=tester@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True)


@pytest.fixture
def night(pytester, monkeypatch):
    """A function that runs a toy test by night and returns what is stored of it."""
    pytester.makeini("[pytest]\nmarkers = nightly")
    (pytester.path / "tests").mkdir()
    for file in ("conftest.py", "passes.py"):
        (pytester.path / "tests" / file).write_text((toc.ROOT / "tests" / file).read_text())
    (pytester.path / "data" / "results").mkdir(parents=True)
    for folder in ("fspca", "reproduction"):
        (pytester.path / folder).mkdir()
        (pytester.path / folder / "code.py").touch()
    git(pytester.path, "init", "--quiet")

    def run(bad, *arguments, committed=True):
        toy = pytester.makepyfile(test_toy=TOY.replace("BAD", str(bad)))
        toy = toy.rename(pytester.path / "tests" / "test_toy.py")
        if committed:
            git(pytester.path, "add", "fspca", "reproduction", "tests/test_toy.py")
            git(pytester.path, "commit", "--quiet", "--allow-empty", "--message=a toy")
        found = pytester.runpytest_subprocess("-m", "nightly", str(toy), *arguments)
        kept = json.loads((pytester.path / "data/results/nightly/test_toy.json").read_text())
        return found.parseoutcomes(), kept

    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # in it nothing is stored
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take seconds to load
    return run


def test_each_case_is_stored_and_only_what_ran_is_replaced(night):
    told, first = night(2)
    assert told == {"passed": 3, "failed": 1}
    assert {name: row["outcome"] for name, row in first["tests"].items()} == {
        "test_many[1]": "passed", "test_many[2]": "failed", "test_many[3]": "passed",
        "test_one": "passed"}  # fmt: skip
    assert first["tests"]["test_many[3]"]["instances"] == 30
    assert 0.5 <= first["tests"]["test_one"]["seconds"] < 1.5
    (run,) = first["runs"].values()
    assert {"command", "commit", "trees", "python", "numpy", "scipy"} <= run.keys()
    assert run["seconds"] == "of the processor"
    told, second = night(2, "--resume")  # what passed with this code need not run again
    assert told == {"failed": 1}
    assert second["tests"]["test_one"] == first["tests"]["test_one"]
    told, _ = night(9, "--resume", committed=False)  # this is other code, not committed
    assert told == {"passed": 4}
    told, _ = night(9, "--resume", committed=False)  # and may be anything the next time
    assert told == {"passed": 4}
    told, _ = night(9, "--resume")
    assert told == {"passed": 4}
    told, _ = night(9, "--resume")  # a commit that leaves the code and the tests alone
    assert told == {"deselected": 4} or told == {}


def test_a_row_of_the_page_adds_up_its_cases():
    runs = {"2026-01-02 03:04:05": {"commit": "abc"}, "2026-01-01 00:00:00": {}}
    row = {"outcome": "passed", "instances": 20, "seconds": 1.5, "run": "2026-01-02 03:04:05"}
    rows = {"test_a[1]": row, "test_a[2]": row | {"instances": 1000}}
    assert nightly_page.line("a", rows, runs) == (
        "| a | 2 | 1,020 | 3 | 2026-01-02, abc | passed |\n")  # fmt: skip
    rows["test_a[1]"]["told"] = "2 differ"
    assert "| passed; 1: 2 differ |" in nightly_page.line("a", rows, runs)
    rows["test_a[2]"]["outcome"] = "failed"
    assert "| 1 failed: test_a[2]; 1: 2 differ |" in nightly_page.line("a", rows, runs)
    assert "| not yet |" in nightly_page.line("a", {}, runs)


def test_the_page_says_what_a_night_costs(monkeypatch, tmp_path):
    monkeypatch.setattr(nightly_page, "FOLDER", tmp_path)
    runs = {"old": {}, "new": {"seconds": "of the processor"}}
    for name, seconds in (("test_a", 5400.0), ("test_b", 1800.0)):
        tests = {f"test_{run}": {"seconds": seconds, "run": run} for run in runs}
        tests["test_y"] = {"seconds": 900.0, "run": "new"}
        (tmp_path / f"{name}.json").write_text(json.dumps({"runs": runs, "tests": tests}))
    said = nightly_page.cost()
    assert "2.50 hours of all" in said
    assert "as much: 2.00 hours" in said


@pytest.mark.parametrize(
    "path", sorted((toc.ROOT / "tests").glob("test_*.py")), ids=lambda p: p.stem
)
def test_what_is_stored_is_still_tested(path):
    assert nightly_page.stored(path)[1].keys() <= dict(nightly_page.at_night(path)).keys()


def test_the_page_counts_mutants(tmp_path, monkeypatch):
    row = {"of": 9, "killed": ["a", "b"], "survived": {"c": "the same number", "d": ""}}
    (tmp_path / "data" / "results").mkdir(parents=True)
    (tmp_path / "data" / "results" / "mutants.json").write_text(json.dumps({"linalg": row}))
    monkeypatch.setattr(nightly_page, "ROOT", tmp_path)
    assert "| `linalg` | 9 | 4 | 2 | 1 | 1 |" in nightly_page.mutants()


def test_a_mutant_is_one_change_and_is_seen():
    source = "def f(x: int = 1):\n    if x < 2:\n        x += 3\n    return min(x, 5) - 4\n"
    told = dict(mutants.mutants(source))
    assert len(told) == 11
    words = "f: x < 2  ->  x <= 2"
    assert "x <= 2" in ast.unparse(told[words]())
    assert ast.unparse(told[words]()).count("<=") == 1


def test_the_page_is_made_from_the_store():
    assert nightly_page.PAGE.read_text(encoding="utf-8") == nightly_page.made(), "run `make pages`"


def test_the_page_has_every_file_of_the_store():
    text = nightly_page.table()
    assert all(f"## `{path.stem}`" in text for path in nightly_page.FOLDER.glob("*.json"))
    assert "test_hostile_nonnegative" in text


def test_the_page_says_when_each_experiment_was_made_whole():
    text = nightly_page.experiments_made()
    assert all(f"| `{name}` |" in text for name in experiments())
    result = {"id": "toy", "rows": [1, 2, 3], "seconds": 7.0, "made": [[0, 1], [1, 2]],
              "stamps": [{"commit": "abc", "clean": True, "date": "2026-12-02"},
                         {"commit": "before 0.3"}]}  # fmt: skip
    since = "1 rows by `abc` on 2026-12-02"
    assert nightly_page.made_whole(result) == f"| `toy` | 3 | 7 | before 0.3 | {since} |\n"
    result["made"] = [[0, 3]]
    assert nightly_page.made_whole(result) == "| `toy` | 3 | 7 | by `abc` on 2026-12-02 |  |\n"


def test_a_mutant_has_its_name_from_the_code_alone():
    source = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return (x + 2) * (x + 2)\n"
    told = [words for words, _ in mutants.mutants(source)]
    assert told[:2] == ["f: x + 1  ->  x - 1", "f: 1  ->  2"]
    assert [words for words in told if words.startswith("g: x + 2")] == [
        "g: x + 2  ->  x - 2", "g: x + 2  ->  x - 2 (2)"]  # fmt: skip
    longer = source.replace(
        "    return x + 1", '    """More.\n\n    And more.\n    """\n    return x + 1'
    )
    assert [words for words, _ in mutants.mutants(longer)] == told
    assert mutants.code(longer) == mutants.code(source) != mutants.code(source.replace("2", "3"))
    moved = "from elsewhere import h\n" + source
    assert mutants.code(moved) == mutants.code(source)


def test_a_function_that_moves_keeps_why_its_mutants_survive(tmp_path, monkeypatch):
    source = "def f(x):\n    return x + 1\n"
    (tmp_path / "fspca").mkdir()
    (tmp_path / "fspca" / "new.py").write_text(source)
    monkeypatch.setattr(mutants, "TOP", tmp_path)
    monkeypatch.setattr(mutants, "STORE", tmp_path / "mutants.json")
    monkeypatch.setitem(mutants.TESTED, "new", "new")
    kept = {"old": {"survived": {"f: 1  ->  2": "a margin", "f: gone  ->  2": "none"}}}
    tried, silent = [], ast.dump(mutants.control(source))

    def run(module, tree, *_):
        tried.append(tree)
        return ast.dump(tree) != silent, {}

    monkeypatch.setattr(mutants, "run", run)
    mutants.examine("new", kept, 9, 9.0, {})
    assert kept["new"]["survived"] == {"f: 1  ->  2": "a margin", "f: x + 1  ->  x - 1": ""}
    assert len(tried) == 3  # as it is, the control, and the one without a reason


def test_a_control_that_is_not_seen_ends_the_run(tmp_path, monkeypatch):
    """Tests that see nothing would let every mutant pass, and count as many that survive."""
    (tmp_path / "fspca").mkdir()
    (tmp_path / "fspca" / "new.py").write_text("def f(x):\n    return x + 1\n")
    monkeypatch.setattr(mutants, "TOP", tmp_path)
    monkeypatch.setattr(mutants, "STORE", tmp_path / "mutants.json")
    monkeypatch.setitem(mutants.TESTED, "new", "new")
    monkeypatch.setattr(mutants, "run", lambda *_: (True, {}))
    with pytest.raises(AssertionError, match="pass though no function gives anything"):
        mutants.examine("new", {}, 9, 9.0, {})
    assert ast.unparse(mutants.control("def f(x):\n    return x + 1")).endswith("return None")
