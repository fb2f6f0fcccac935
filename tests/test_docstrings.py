"""The public surface is documented as numpydoc asks, and has type hints throughout.

Public is what `fspca.__all__` names, what the submodules among these define, and what
`api_page.DOORS` adds of other submodules; with all methods and properties of ours that have no
underscore.  What each needs:

- a function, a class: all that numpydoc asks for, which is a summary and more, parameters, what
  comes back, see also, and an example, which pytest runs;
- a method, a property: one sentence, and an example where that tells more than the sentence;
- one that does for its class what a base says: the base's words;
- what names a year, alone or in the key of a paper: the paper, in full, under References.
"""

import ast
import importlib
import inspect
import json
import re
from functools import cached_property

import api_page
import pytest
import toc
from numpydoc.validate import validate

import fspca


def public():
    """Yield the public classes and functions, by module and name."""
    named = {"fspca": fspca.__all__}
    for module in (fspca.datasets, fspca.metrics, fspca.synthetic):
        made = {name for name, thing in vars(module).items() if name[0] != "_"
                and getattr(thing, "__module__", "") == module.__name__}  # fmt: skip
        named[module.__name__] = sorted(made)
    named |= {room: api_page.rivals(room) for room in api_page.ROOMS}
    for doors in ({"": named}, api_page.DOORS):
        for module, names in (pair for modules in doors.values() for pair in modules.items()):
            for name in names:
                thing = getattr(importlib.import_module(module), name)
                if inspect.isclass(thing) or inspect.isfunction(thing):
                    yield f"{module}.{name}", thing


def members(owner):
    """Yield the public methods and properties of a class, by the class whose words they have."""
    theirs = re.compile(r"_|set_\w+_request$")  # scikit-learn writes what routes sample_weight
    for name in (name for name in dir(owner) if not theirs.match(name)):
        bases = [base for base in owner.__mro__ if name in vars(base)]
        thing = vars(bases[0])[name]
        if inspect.isroutine(thing) or isinstance(thing, property | cached_property):
            says = next((base for base in bases if vars(base)[name].__doc__), bases[0])
            if says.__module__.startswith("fspca"):
                yield f"{says.__module__}.{says.__name__}.{name}"


HELD = [name for name, _ in public()]
MEMBERS = sorted({each for _, owner in public() if inspect.isclass(owner)
                  for each in members(owner)})  # fmt: skip
SECTIONS = re.compile(r"^ *(Parameters|Returns|Yields|Raises|See Also|Examples|Notes)\n *-+$", re.M)


def faults(name, allowed=()):
    told = validate(name)
    found = [f"{code}: {text}" for code, text in told["errors"] if code not in allowed]
    text, _, listed = told["docstring"].partition("References\n")
    years, known = (set(re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", each)) for each in (text, listed))
    return found + [f"{year} is not under References" for year in sorted(years - known)]


@pytest.mark.parametrize("name", HELD)
def test_docstring_is_whole(name):
    assert faults(name) == []


def shortcomings(docstring):
    """What keeps the docstring of a method from being a sentence, perhaps with an example."""
    first = (docstring or "").strip().partition("\n\n")[0]
    if not first.endswith((".", ":")):
        yield "it has no sentence"
    if SECTIONS.search(docstring or ""):
        yield "it has sections, which are for functions and classes"


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_has_a_sentence(name):
    module, owner, member = name.rsplit(".", 2)
    thing = vars(getattr(importlib.import_module(module), owner))[member]
    assert list(shortcomings(thing.__doc__)) == []


def test_a_member_without_a_sentence_is_seen():
    assert list(shortcomings(None)) == ["it has no sentence"]
    assert len(list(shortcomings("Return it\n\n    Returns\n    -------\n    int"))) == 2


def test_the_surface_is_what_people_import():
    """What the README, the pages and the chapters on practice import is public."""
    texts = [p.read_text() for p in [toc.ROOT / "README.md", *toc.ROOT.glob("book/**/*.md")]]
    blocks = [block for text in texts for block in re.findall(r"```python\n(.*?)```", text, re.S)]
    for path in (toc.ROOT / "book" / "practice").glob("*.ipynb"):
        cells = json.loads(path.read_text())["cells"]
        blocks += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    taken = {f"{node.module}.{each.name}" for block in blocks for node in ast.walk(ast.parse(block))
             if isinstance(node, ast.ImportFrom) and re.match(r"fspca(\.|$)", node.module)
             for each in node.names}  # fmt: skip
    assert {"fspca.go", "fspca.sklearn.SparsePrincipalSubspace"} <= taken
    constants = {"fspca.plots.STYLES"}  # a table has no docstring
    modules = {f"fspca.{name}" for name in fspca.__all__} - set(HELD)
    assert taken - constants - modules <= set(HELD)


def test_a_docstring_that_lacks_something_is_seen():
    found = " ".join(faults("fspca.solver.check_common"))
    assert all(section in found for section in ("Parameters", "See Also", "examples"))


def test_a_paper_that_is_not_named_in_full_is_seen(monkeypatch):
    told = {"errors": [], "docstring": "As tian2020 says.\n\nReferences\n----------\nTan, 2019."}
    monkeypatch.setattr("test_docstrings.validate", lambda name: told)
    assert faults("any") == ["2020 is not under References"]


def functions():
    """Every public function, and every method of a public class, by name."""
    for name in fspca.__all__:
        thing = getattr(fspca, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and not issubclass(thing, Warning):
            inner = ((each, vars(thing)[each]) for each in vars(thing) if each[0] != "_")
            for each, method in inner:
                method = getattr(method, "fget", None) or getattr(method, "func", method)
                method = getattr(method, "__func__", method)
                if inspect.isfunction(method):
                    yield f"{name}.{each}", method
        elif inspect.ismodule(thing):
            for each, function in vars(thing).items():
                if getattr(function, "__module__", "") == thing.__name__ and each[0] != "_":
                    yield f"{name}.{each}", function


def unhinted(function):
    """The parameters without a type, and "return" where what is given back has none."""
    signature = inspect.signature(function)
    bare = [p.name for p in signature.parameters.values() if p.annotation is p.empty]
    bare += ["return"] if signature.return_annotation is signature.empty else []
    return [name for name in bare if name not in ("self", "cls")]


@pytest.mark.parametrize("name", dict(functions()))
def test_types_are_given(name):
    function = dict(functions())[name]
    assert inspect.isclass(function) or unhinted(function) == []


def test_a_missing_type_is_seen():
    def half(x: int, y):
        return x

    assert unhinted(half) == ["y", "return"]
