"""What the module is made of: one meaning for a name, no cycles, and light to import."""

import ast
import re
import subprocess
import sys
import warnings
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
import toc
from notebook_rules import PRIVATE_WORDS

import fspca

FILES = sorted(Path(fspca.__file__).parent.rglob("*.py"))


def defined_twice(files):
    """The functions and classes that several modules define, each by a name of its own."""
    where = {}
    for path in files:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                where.setdefault(node.name, []).append(path.name)
    return {name: modules for name, modules in where.items() if len(modules) > 1}


def test_no_name_has_two_meanings(tmp_path):
    assert defined_twice(FILES) == {}
    for name in ("one.py", "other.py"):
        (tmp_path / name).write_text("def climb(x): ...")
    assert defined_twice(tmp_path.iterdir()).keys() == {"climb"}


def private_words(files):
    """Yield the words of ours in modules that the field calls otherwise, of any part of a line."""
    for path in files:
        for word in PRIVATE_WORDS:
            yield from (f"{path.name}: {found[0]}" for found in re.finditer(word, path.read_text()))


def test_a_module_has_the_fields_words(tmp_path):
    assert not list(private_words(FILES))
    (tmp_path / "spy.py").write_text('"""The light bound of the panel, told apart by a witness."""')
    assert len(list(private_words(tmp_path.iterdir()))) == 4


PROTOCOLS = {"_asdict", "_replace", "_fields", "_exit", "_repr_html_", "_repr_mimebundle_"}


def reached_privately(files):
    """The names with an underscore that a module takes from another."""
    for path in files:
        nodes = list(ast.walk(ast.parse(path.read_text())))
        own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        for node in nodes:
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ("self", "cls"):
                names = [node.attr]
            private = {name for name in names if re.match("_[^_]", name)}
            yield from (f"{path.name}: {name}" for name in private - own - PROTOCOLS)


def test_no_private_name_is_reached_from_another_module(tmp_path):
    folders = [Path(fspca.__file__).parent, toc.ROOT / "reproduction", toc.ROOT / "book" / "tools"]
    assert not list(reached_privately(p for folder in folders for p in folder.rglob("*.py")))
    (tmp_path / "spy.py").write_text(
        "from fspca.problem import _false_claims\nA._source\nself._own"
    )
    assert len(list(reached_privately(tmp_path.iterdir()))) == 2


def test_importing_it_needs_numpy_and_scipy_only():
    loaded = "import sys, fspca; print(' '.join(sys.modules))"
    modules = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True).stdout
    assert "fspca" in modules.split()
    for other in ("matplotlib", "seaborn", "sklearn", "tqdm", "pandas", "IPython"):
        assert other not in modules.split()


def test_only_our_own_use_of_what_is_deprecated_is_an_error():
    for category in (DeprecationWarning, PendingDeprecationWarning):
        warnings.warn_explicit("old", category, "cbook.py", 1, "matplotlib.cbook")
        for module in ("fspca.covariance.sources", "test_package"):
            with pytest.raises(category):
                warnings.warn_explicit("old", category, "ours.py", 1, module)


def imported(path):
    """The modules of fspca that a file imports, within functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fspca"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("fspca"))


def imports():
    """Which module of fspca imports which; a room counts as what its `__init__` imports."""
    top = Path(fspca.__file__).parent
    places = {path: ["fspca", *path.relative_to(top).with_suffix("").parts] for path in FILES}
    names = {path: ".".join(parts).removesuffix(".__init__") for path, parts in places.items()}
    known = {name: path for path, name in names.items() if name != "fspca"}
    found = {}
    for name, path in known.items():
        # What is imported is a module, or a name in one.
        asked = (each if each in known else each.rpartition(".")[0] for each in imported(path))
        found[name] = sorted(set(asked) & known.keys() - {name})
    return found


def cycle(graph):
    """A module that imports itself by way of others, or None."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return found.args[1]
    return None


def test_no_module_imports_itself_by_way_of_others():
    assert cycle(imports()) is None
    assert cycle(imports() | {"fspca.covariance.linalg": ["fspca.registry"]})


def test_the_import_loads_no_part_of_scipy_that_few_calls_need():
    parts = "scipy.io", "scipy.optimize", "scipy.special", "scipy.stats", "scipy.fft"
    code = f"import sys, fspca; print([part for part in {parts} if part in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
