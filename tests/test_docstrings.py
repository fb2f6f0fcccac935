"""Public names are documented as numpydoc asks, and have type hints throughout."""

import inspect

import pytest
from numpydoc.validate import validate

import fspca

CALLED = [name for name in fspca.__all__ if callable(getattr(fspca, name))]
# Not made by those who read them: an answer, whose fields are described in sentences; a warning.
HELD = [f"fspca.{name}" for name in CALLED if name not in ("Solution", "ConvergenceWarning")]
HELD += ["fspca.datasets.load", "fspca.datasets.fetch"]
HELD += ["fspca.testing.check_solver", "fspca.testing.check_threads"]
HELD += [
    f"{module.__name__}.{name}"
    for module in (fspca.metrics, fspca.synthetic)
    for name, thing in vars(module).items()
    if getattr(thing, "__module__", "") == module.__name__
]


def faults(name):
    return [f"{code}: {text}" for code, text in validate(name)["errors"]]


@pytest.mark.parametrize("name", HELD)
def test_docstring_is_whole(name):
    assert faults(name) == []


def test_a_docstring_that_lacks_something_is_seen():
    found = " ".join(faults("fspca.running.check_common"))
    assert all(section in found for section in ("Parameters", "See Also", "examples"))


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
