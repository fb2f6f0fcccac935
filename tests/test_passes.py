"""A stranger's pass and one with the data: no test is covered by neither, nor opens in secret."""

import ast
import json
import re
import subprocess

import numpy as np
import pytest
import toc

from fspca import datasets
from fspca.datasets.catalogue import CATALOGUE
from fspca_reproduction import opening
from fspca_reproduction.opening import UndeclaredError, path_of
from fspca_reproduction.runner import experiments, row

pytest_plugins = ["pytester"]

TOY = """
    import numpy as np
    import pytest
    from fspca_reproduction.opening import path_of

    needs = pytest.mark.needs_data

    def test_of_nothing():
        pass

    @pytest.mark.parametrize("name", [pytest.param(n, marks=needs(n)) for n in ("one", "two")])
    def test_of(name):
        assert np.load(path_of(name))["x"] == 1

    @needs("one")
    def test_of_another():
        if path_of("two"):
            np.load(path_of("two"))

    def test_of_what_no_machine_has():
        pytest.skip("no such machine")
"""


@pytest.fixture
def toy(pytester, monkeypatch):
    """A function that runs a toy's tests with a folder of data; it returns outcomes and lines."""
    (pytester.path / "tests").mkdir()
    for file in ("conftest.py", "passes.py"):
        (pytester.path / "tests" / file).write_text((toc.ROOT / "tests" / file).read_text())
    pytester.makeini("[pytest]\nmarkers =\n    nightly\n    needs_data")
    pytester.makepyfile(test_toy=TOY).rename(pytester.path / "tests" / "test_toy.py")
    for data, names in (("none", ()), ("half", ("one",)), ("all", ("one", "two"))):
        pytester.mkdir(data)
        for name in names:
            np.savez(pytester.path / data / f"{name}.npz", x=1)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take seconds to load
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)

    def run(data, *options):
        monkeypatch.setenv("FSPCA_DATA", str(pytester.path / data))
        found = pytester.runpytest_subprocess("tests", *options)
        return found.parseoutcomes(), found.stdout.str()

    return run


def test_what_the_first_pass_skips_the_second_runs_and_counts(toy):
    assert toy("none")[0] == {"passed": 1, "skipped": 4}
    outcomes, said = toy("all", "--lacked")
    assert outcomes == {"passed": 2, "failed": 1}  # it opens a set that it does not declare
    assert "UndeclaredError: two is opened" in said
    assert "3 skipped there for want of data, 3 of them run here" in said
    assert "test_of_what_no_machine_has: Skipped: no such machine" in said
    assert "tests that neither pass covers: 1" in said


def test_what_is_lacking_still_is_told_and_remembered(toy):
    toy("none")
    outcomes, said = toy("half", "--lacked")
    assert outcomes == {"passed": 2, "skipped": 1}
    assert "3 skipped there for want of data, 2 of them run here" in said
    assert "not here: two" in said
    assert "tests that neither pass covers: 2" in said
    assert "1 skipped there for want of data, 1 of them run here" in toy("all", "--lacked")[1]
    assert "0 skipped there for want of data" in toy("all", "--lacked")[1]


# What a test may need beside data, file by file: another test is never skipped.
TOOLS = {
    "test_dependencies.py": {"not the environment of make"},
    "test_drawn.py": {"no Chromium here: no figure is measured"},
    "test_feedback.py": {"no Chromium here: no page is opened"},
    "test_idea_drawings.py": {"no Chromium here: no drawing is measured"},
    "test_live.py": {"no Chromium here: the figures are not run"},
    "test_notebooks.py": {"no notebook yet"},
    "test_odd_places.py": {"no such place on this machine"},
    "test_pages.py": {
        "no Chromium here: no page is opened",
        "no npm here to bring axe: accessibility is not checked",
    },
    "test_report_page.py": {
        "no Chromium here: no page is opened",
        "no npm here to bring axe: accessibility is not checked",
    },
    "test_versions.py": {None},  # by night: why there is no environment, no kernel
}


def reasons(source):
    """Yield the reason of every skip in a file, None where it is computed."""
    for node in ast.walk(ast.parse(source)):
        name = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
        if name in ("skip", "skipif", "importorskip", "skipIf", "SkipTest"):
            said = [each.value for each in node.keywords if each.arg == "reason"]
            said = (said or node.args or [None])[-1]
            yield said.value if isinstance(said, ast.Constant) else None


@pytest.mark.parametrize(
    "path", sorted((toc.ROOT / "tests").glob("test_*.py")), ids=lambda p: p.name
)
def test_no_test_is_skipped_but_for_a_tool_or_declared_data(path):
    assert set(reasons(path.read_text())) <= TOOLS.get(path.name, set())


def test_a_skip_by_hand_is_seen():
    assert list(reasons("pytest.skip('not here')")) == ["not here"]
    assert list(reasons("pytest.mark.skipif(x, reason='why')")) == ["why"]
    assert list(reasons("pytest.importorskip('h5py')")) == ["h5py"]
    assert list(reasons("pytest.skip(f'{x}')")) == [None]


def test_make_leaves_no_file_of_tests_out():
    text = (toc.ROOT / "Makefile").read_text()
    recipe = {name: re.search(rf"^test-{name}:.*\n((?:\t.*\n)+)", text, re.M)[1]
              for name in ("unit", "book")}  # fmt: skip
    left_out = set(re.findall(r"--ignore (\S+)", recipe["unit"]))
    assert left_out == set(re.findall(r"tests/\S+\.py", recipe["book"]))
    assert "--doctest-modules $(TESTS) " in recipe["unit"]
    assert "\nTESTS ?= fspca reproduction/fspca_reproduction tests\n" in text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of data with one set of the catalogue and one that is in none."""
    np.savez(tmp_path / CATALOGUE["colon"].file, X=np.eye(2))
    np.savez(tmp_path / "benchmark_new.npz", X=np.eye(2))
    monkeypatch.setenv("FSPCA_DATA", str(tmp_path))
    monkeypatch.setattr(opening, "said", [])
    opening.guard.cache_clear()  # the folders of today are others
    yield tmp_path
    opening.guard.cache_clear()


def test_what_is_declared_is_opened_and_nothing_else(folder):
    paths = [path_of("colon"), path_of("benchmark_new")]
    with opening.opening("colon"):
        np.load(paths[0]).close()
        with pytest.raises(UndeclaredError, match=r"benchmark_new is opened.*\['colon'\]"):
            np.load(paths[1])
        with opening.opening(), pytest.raises(UndeclaredError, match="colon is opened"):
            np.load(paths[0])
    with opening.opening("benchmark_new"):
        np.load(paths[1]).close()
        with pytest.raises(ValueError, match="colon is opened, and only"):
            datasets.load("colon")
        assert datasets.load("wine").X.shape == (178, 13)  # it comes with the module


def test_an_experiment_that_opens_more_than_it_says_is_an_error(folder, monkeypatch):
    name = "tian2020_joint_fit"
    np.savez(folder / CATALOGUE["lymphoma_covariance"].file, A=np.eye(500))
    monkeypatch.setattr(experiments()[name], "sets", ())
    with pytest.raises(ValueError, match="lymphoma_covariance is opened, and only"):
        row(name, experiments()[name].cases[0])


def test_chapters_are_run_without_the_papers_data():
    """What a chapter opens comes with the module: it is tested as a stranger has it."""
    for target in ("test-notebooks", "notebooks"):
        command = ["make", "-n", "-B", "--no-print-directory", target]
        lines = subprocess.run(command, capture_output=True, text=True, cwd=toc.ROOT).stdout
        runs = [line for line in lines.splitlines() if "--nbval" in line or "run_notebooks" in line]
        assert runs, json.dumps(lines)
        assert all("FSPCA_DATA= XDG_CACHE_HOME=" in line for line in runs)
