"""The pages of the API, made from the module: a first page that lists all names, and one a room.

    python book/tools/api_page.py    # as `make pages` does

A page names what Sphinx fills in from the docstrings.  First the names of `fspca.__all__` in their
groups, then what is imported from a submodule, then each submodule with what else it holds.
"""

import importlib
import pkgutil
import re
from pathlib import Path

import fspca

import toc

FIRST = toc.ROOT / "book" / "appendix" / "api.md"
BEGIN = "% made by book/tools/api_page.py from here on\n"
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
# The pages: title, groups of `fspca.__all__`, and submodules; a room's name stands for all in it.
PAGES = {
    "problems": ("Problems and solutions", ("What is asked, and what is answered",), ("problem",)),
    "methods": (
        "Solvers, bounds and the papers' methods",
        ("What to call first", "How good an answer is, and the best one", "The papers' own methods",
         "What is known of the solvers"),
        (),
    ),
    "shared_support": ("One support: `fspca.shared_support`", (), ("shared_support",)),
    "separate_supports": (
        "Separate supports: `fspca.separate_supports`", (), ("separate_supports",)),
    "nonnegative": ("Nonnegative loadings: `fspca.nonnegative`", (), ("nonnegative",)),
    "covariance": ("Covariances and sources: `fspca.covariance`", (), ("covariance",)),
    "data": (
        "Data: `fspca.datasets` and `fspca.synthetic`",
        ("Data, measures and instances",),
        ("datasets", "synthetic"),
    ),
    "choosing": (
        "Choosing, estimators, measures and figures", (),
        ("selection", "sklearn", "metrics", "plots"),
    ),
    "claims": (
        "Proofs: claims, checker and report", (),
        ("check_certificate", "proof.certify", "proof.checked", "proof.claim_files",
         "proof.claims", "proof.page", "proof.report"),
    ),
    "prices": (
        "Proofs: several components, by prices and by factors", (),
        ("proof.packing", "proof.priced_tree", "proof.prices", "proof.spectral_prices",
         "proof.separate", "proof.levelled"),
    ),
    "search": ("Proofs: bounds and search in `fspca.proof`", (), ("proof",)),
    "writing": ("Writing a solver", (), ("solver", "registry", "testing")),
}  # fmt: skip
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


def pages():
    """Return the text of every page by its path, the first page with what was written there."""
    written = FIRST.read_text(encoding="utf-8").split(BEGIN)[0]
    texts = {FIRST: written + BEGIN + "\n" + "\n".join(lists())}
    for name, (title, listed, _) in PAGES.items():
        parts = [f"# {title}\n"]
        parts += [part for group in listed for part in in_full(group)]
        parts += [
            part for module in submodules() if page_of(module) == name for part in described(module)
        ]
        texts[FIRST.with_suffix("") / f"{name}.md"] = "\n".join(parts)
    return texts


def lists():
    """Yield the tables of the first page: all names, which lead to where they are described."""
    for title, listed in groups().items():
        yield from (f"## {title}\n", table(listed))
    for room, title in ROOMS.items():
        yield from (f"## {title}\n", table(rivals(room), room))
    yield "## Imported from a submodule\n"
    for title, modules in DOORS.items():
        yield f"### {title}\n"
        yield from (table(listed, module) for module, listed in modules.items())


def in_full(group):
    """Yield a group of `fspca.__all__`: its title, and what is written of each name."""
    here = [n for n in groups()[group] if not isinstance(getattr(fspca, n), type(fspca))]
    yield f"## {group}\n"
    if here:
        yield rst(".. currentmodule:: fspca", "", *map(entry, here))


def page_of(module):
    """Return the page that describes a submodule: the one that names the most of its path."""
    named = {f"fspca.{each}": page for page, (*_, modules) in PAGES.items() for each in modules}
    above = [each for each in named if f"{module}.".startswith(f"{each}.")]
    return named[max(above, key=len)]


def described(module):
    """Yield a submodule: a room's solvers, then what else it holds that has no other place."""
    if module in ROOMS:
        room = importlib.import_module(module)
        yield f"## {ROOMS[module]}\n"
        yield rst(f".. currentmodule:: {module}", "", *(entry(n, room) for n in rivals(module)))
    public = {id(getattr(fspca, name)) for listed in groups().values() for name in listed}
    rival = {
        f"{room}.{name}": getattr(importlib.import_module(room), name)
        for room in ROOMS
        for name in rivals(room)
    }
    public |= set(map(id, rival.values()))
    contents = vars(importlib.import_module(module))
    known = [n for n, thing in contents.items() if id(thing) in public]
    known += GENERATED if module == "fspca.sklearn" else []
    lines = [f".. automodule:: {module}", "   :members:"]
    # A file is named by its solver: the address is the function's.
    lines += ["   :no-index:"] if module in rival else []
    lines += [f"   :exclude-members: {', '.join(sorted(known))}"] if known else []
    yield from (f"## `{module}`\n", rst(*lines))


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        toc.write(path, text)
