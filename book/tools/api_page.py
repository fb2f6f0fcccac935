"""Sphinx extension: book/appendix/api.md is filled with the module's names when it is read.

First those of `fspca.__all__` in its groups, then the other solvers by the room of their problem,
then what is imported from a submodule, then every submodule with what it holds.

Docstrings are read as they were written: |x| is a length.
"""

import importlib
import pkgutil
import re
from pathlib import Path

import fspca

PAGE = "book/appendix/api"
DATA = {"SOLVERS": "Every solver by its name: a dictionary of `fspca.registry.Solver`."}
GENERATED = ["set_fit_request"]  # by scikit-learn, whose glossary its text leads to
# What is public in a submodule; a submodule of `fspca.__all__` is so as a whole.
DOORS = {
    "Tables, estimators and figures": {
        "fspca.selection": ("select_k", "select_m", "Choice", "stability", "held_out_share"),
        "fspca.sklearn": ("SparsePrincipalSubspace", "SparseSubspaceSelector"),
        "fspca.plots": ("figure", "curve", "plot_loadings", "plot_path", "plot_stability",
                        "plot_biplot", "plot_on_image", "plot_on_axis", "plot_history"),
        "fspca.proof.report": ("write_report",),
        "fspca.datasets.tables": ("read_table", "Table", "TableError"),
        "fspca.covariance.validate": ("UnitsWarning", "TailsWarning"),
    },
    "Judging and proving": {
        "fspca.problem": ("objective", "Judgement"),
        "fspca.check_certificate": ("check", "Verdict"),
    },
    "Writing a solver or a source": {
        "fspca.solver": ("solves", "Run", "Progress"),
        "fspca.registry": ("Solver",),
        "fspca.testing": ("check_solver", "check_threads"),
        "fspca.covariance.sources": ("Source",),
        "fspca.covariance.linalg": ("largest", "random_subspace"),
    },
}  # fmt: skip
ROOMS = {  # of solvers, one for each problem
    "fspca.shared_support": "Other solvers for one support shared by all components",
    "fspca.separate_supports": "Other solvers where each component has its own support",
    "fspca.nonnegative": "Other solvers for nonnegative loadings",
}
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


def rivals(room):
    """Return the solvers that a room lists and `fspca` does not."""
    return [name for name in importlib.import_module(room).__all__ if name not in fspca.__all__]


def submodules():
    """Return the names of all submodules that can be imported here, folder by folder."""
    found = [module.name for module in pkgutil.walk_packages(fspca.__path__, "fspca.")]
    names = sorted(set(found) - {INTERNAL}, key=lambda name: (name.count("."), name))
    return [name for name in names if importlib.import_module(name).__doc__]


def rst(*lines):
    return "\n".join(["```{eval-rst}", *lines, "```", ""])


def table(names, module="fspca"):
    return rst(
        f".. currentmodule:: {module}",
        "",
        ".. autosummary::",
        "",
        *(f"   {n}" for n in names if n not in DATA),
    )


def entry(name, module=fspca):
    """The directive that writes a public name in full."""
    thing = getattr(module, name)
    if isinstance(thing, type):
        return f".. autoclass:: {name}\n   :members:\n"
    if callable(thing):
        return f".. autofunction:: {name}\n"
    return f".. py:data:: {name}\n\n   {DATA[name]}\n"


def names():
    """Return the text of the page."""
    parts = []
    for title, listed in groups().items():
        here = [name for name in listed if not isinstance(getattr(fspca, name), type(fspca))]
        parts += [f"## {title}\n", table(listed)]
        parts += [rst(".. currentmodule:: fspca", "", *map(entry, here))] if here else []
    for room, title in ROOMS.items():
        module = importlib.import_module(room)
        parts += [f"## {title}\n", table(rivals(room), room)]
        parts += [rst(f".. currentmodule:: {room}", "", *(entry(n, module) for n in rivals(room)))]
    parts += ["## Imported from a submodule\n"]
    for title, modules in DOORS.items():
        parts += [f"### {title}\n"]
        parts += [table(listed, module) for module, listed in modules.items()]
    parts += ["## Submodules\n"]
    public = {id(getattr(fspca, name)) for listed in groups().values() for name in listed}
    rival = {
        f"{room}.{name}": getattr(importlib.import_module(room), name)
        for room in ROOMS
        for name in rivals(room)
    }
    public |= set(map(id, rival.values()))
    for module in submodules():
        contents = vars(importlib.import_module(module))
        known = [n for n, thing in contents.items() if id(thing) in public]
        known += GENERATED if module == "fspca.sklearn" else []
        lines = [f".. automodule:: {module}", "   :members:"]
        # A file is named by its solver: the address is the function's.
        lines += ["   :no-index:"] if module in rival else []
        lines += [f"   :exclude-members: {', '.join(sorted(known))}"] if known else []
        parts += [f"### `{module}`\n", rst(*lines)]
    return "\n".join(parts)


def fill(app, page, source):
    if page == PAGE:
        source[0] += "\n" + names()


def take_bars_as_they_are(app, what, name, thing, options, lines):
    """Sphinx would take what stands between two bars for a substitution, but not in an example."""
    code = (">>>", "...")
    lines[:] = [
        line if line.lstrip().startswith(code) else line.replace("|", r"\|") for line in lines
    ]


def setup(app):
    app.connect("source-read", fill)
    app.connect("autodoc-process-docstring", take_bars_as_they_are)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
