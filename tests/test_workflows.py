"""What runs on a service when the project has one: pinned, and with what the project has."""

import re

import pytest
import test_versions
import toc
import yaml

FOLDER = toc.ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))


def unpinned(text):
    """Return the actions that a tag or a branch names, which others may move."""
    used = re.findall(r"uses: *(\S+)", text)
    return [each for each in used if not re.search(r"@[0-9a-f]{40}$", each)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_each_action_is_one_commit(path):
    assert unpinned(path.read_text()) == []
    assert unpinned("- uses: actions/checkout@v4\n") == ["actions/checkout@v4"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_each_make_that_it_calls_is_there(path):
    targets = set(re.findall(r"^([a-z-]+):", (toc.ROOT / "Makefile").read_text(), re.M))
    called = set(re.findall(r"run: make ([a-z-]+)", path.read_text()))
    assert called <= targets
    assert called


def test_elsewhere_the_module_is_tested_as_with_other_versions():
    """On macOS and Windows: its examples, and the tests of all that is public."""
    job = yaml.safe_load((FOLDER / "tests.yml").read_text())["jobs"]["module"]
    assert job["strategy"]["matrix"]["system"] == ["macos-latest", "windows-latest"]
    ran = " ".join(step.get("run", "") for step in job["steps"])
    assert "make" not in ran
    assert "--doctest-modules fspca" in ran
    assert re.findall(r"tests/test_(\w+)\.py", ran) == list(test_versions.CHOSEN[1:])


def test_what_is_published_is_what_is_built():
    job = yaml.safe_load((FOLDER / "book.yml").read_text())["jobs"]["build"]
    paths = [step["with"]["path"] for step in job["steps"] if "path" in step.get("with", {})]
    html = re.search(r"^HTML := (\S+)", (toc.ROOT / "Makefile").read_text(), re.M)[1]
    assert paths == [html]
