"""Write book/appendix/api.md: the names of `fspca.__all__` in its groups, then every submodule.

python book/tools/api_page.py
"""

import importlib
import pkgutil
import re
from pathlib import Path

import fspca

from toc import ROOT

PAGE = ROOT / "book" / "appendix" / "api.md"
HEAD = """# The module

This page is made by `python book/tools/api_page.py` from the module.
The names of the first part are imported from `fspca` itself; a script needs no others.
What they are made of lies in the submodules, which the second part describes.
"""
DATA = {"SOLVERS": "Every solver by its name: a dictionary of `fspca.registry.Solver`."}
INTERNAL = "fspca.__main__"  # a command, not to be imported


def groups():
    """Return the public names by group: `__all__` in the source, whose comments are the titles."""
    source = Path(fspca.__file__).read_text()
    listed = re.search(r"^__all__ = \[.*?\n(.*?)^\]", source, re.M | re.S)[1]
    found = {}
    for title, name in re.findall(r'^    (?:# (.*)|"(\w+)",)$', listed, re.M):
        if title:
            names = found.setdefault(title, [])
        else:
            names.append(name)
    return found


def submodules():
    """Return the names of all submodules that can be imported here, folder by folder."""
    found = [module.name for module in pkgutil.walk_packages(fspca.__path__, "fspca.")]
    names = sorted(set(found) - {INTERNAL}, key=lambda name: (name.count("."), name))
    return [name for name in names if importlib.import_module(name).__doc__]


def rst(*lines):
    return "\n".join(["```{eval-rst}", *lines, "```", ""])


def table(names):
    return rst(
        ".. currentmodule:: fspca",
        "",
        ".. autosummary::",
        "",
        *(f"   {n}" for n in names if n not in DATA),
    )


def entry(name):
    """The directive that writes a public name in full."""
    thing = getattr(fspca, name)
    if isinstance(thing, type):
        return f".. autoclass:: {name}\n   :members:\n"
    if callable(thing):
        return f".. autofunction:: {name}\n"
    return f".. py:data:: {name}\n\n   {DATA[name]}\n"


def page():
    """Return the page's text."""
    parts = [HEAD]
    for title, names in groups().items():
        here = [name for name in names if not isinstance(getattr(fspca, name), type(fspca))]
        parts += [f"## {title}\n", table(names)]
        parts += [rst(".. currentmodule:: fspca", "", *map(entry, here))] if here else []
    parts += ["## Submodules\n"]
    public = {id(getattr(fspca, name)) for names in groups().values() for name in names}
    for module in submodules():
        contents = vars(importlib.import_module(module))
        known = [n for n, thing in contents.items() if id(thing) in public]
        lines = [f".. automodule:: {module}", "   :members:"]
        lines += [f"   :exclude-members: {', '.join(sorted(known))}"] if known else []
        parts += [f"### `{module}`\n", rst(*lines)]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
    print(PAGE)
