"""What is imported is declared, what is declared is pinned, and each pin is used or says why."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import nbformat
import pytest
import toc

OURS = {"fspca", "fspca_reproduction"}
PINS = dict(re.findall(r"^([\w-]+)==(\S+)", (toc.ROOT / "requirements.txt").read_text(), re.M))
# Where code lies, and the extras in which what it imports may be declared.
MODULE = ("data", "plots", "learn", "frames", "dask", "testing")
EXTRAS = {
    "fspca": MODULE,
    "reproduction": (*MODULE, "book"),
    "book": (*MODULE, "book", "course"),
    "tests": (*MODULE, "book", "course", "test"),
}


def project(folder="."):
    return tomllib.loads((toc.ROOT / folder / "pyproject.toml").read_text())["project"]


def names(requirements):
    found = {re.match(r"[\w-]+", line)[0].lower() for line in requirements}
    return found - {"fspca"}


def imported(source):
    """The top-level names that a program imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Call) and ast.unparse(node).startswith("needed("):
            package = getattr(node.args[0], "value", None)  # a chapter may need a number
            yield from [package.partition(".")[0]] if isinstance(package, str) else []


def programs(folder):
    """The Python files of a folder, and the code of its chapters."""
    for path in (toc.ROOT / folder).rglob("*.py"):
        yield path, path.read_text()
    for path in toc.notebooks() if folder == "book" else ():
        cells = nbformat.read(path, as_version=4).cells
        yield path, "\n".join(cell.source for cell in cells if cell.cell_type == "code")


def undeclared(files, declared):
    """The imports of other people's packages that no requirement names."""
    local = {path.stem for folder in EXTRAS for path in (toc.ROOT / folder).rglob("*.py")}
    known = packages_distributions()
    return {
        f"{Path(path).name}: {name}"
        for path, source in files
        for name in set(imported(source)) - OURS - local - set(sys.stdlib_module_names)
        if not {each.lower() for each in known.get(name, [name])} & declared
    }


@pytest.mark.parametrize("folder", EXTRAS)
def test_what_is_imported_is_declared(folder):
    module = project()
    lists = [module["dependencies"]]
    lists += [module["optional-dependencies"].get(extra, []) for extra in EXTRAS[folder]]
    if folder == "reproduction":
        lists += project("reproduction")["optional-dependencies"].values()
    declared = set().union(*map(names, lists)) | {"setuptools"}
    assert not undeclared(list(programs(folder)), declared)


def test_what_is_declared_is_pinned_and_what_is_pinned_is_declared():
    module = project()
    lists = [module["dependencies"], *module["optional-dependencies"].values()]
    declared = set().union(*map(names, lists))
    assert {name.lower() for name in PINS} == declared


def test_each_pin_says_what_for():
    lines = (toc.ROOT / "requirements.txt").read_text().splitlines()
    pins = [line for line in lines if "==" in line]
    assert len(pins) == len(PINS)
    assert not [line for line in pins if not re.search(r" # \w.{4}", line)]


def test_an_import_that_nothing_declares_is_seen():
    source = "import numpy\nfrom scipy import linalg\nimport os\n\ndef f():\n    import yaml\n"
    source += "    needed('h5py', 'data', 'it')\n"
    files = [(Path("x.py"), source)]
    assert undeclared(files, {"numpy", "scipy", "pyyaml", "h5py"}) == set()
    assert undeclared(files, {"numpy", "scipy"}) == {"x.py: h5py", "x.py: yaml"}
