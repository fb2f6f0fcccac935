"""The tables of book/practice/which_method.md, made from the registry and from methods.yml.

    python book/tools/which_method.py    # as `make pages` does

What stands between the two marks of the page is replaced; a test fails where it is not this.
"""

from pathlib import Path

import yaml
from fspca.problem import Nonnegative, SeparateSupports, SharedSupport
from fspca.registry import SOLVERS

import toc

ABOUT = yaml.safe_load((Path(__file__).parent / "methods.yml").read_text())
PAGE = Path(__file__).parents[1] / "practice" / "which_method.md"
BEGIN, END = "% made by book/tools/which_method.py: begin\n", "% end\n"
TITLES = {
    SharedSupport: "One support for all components",
    SeparateSupports: "Each component its own support",
    Nonnegative: "Nonnegative loadings",
}
HEAD = (
    "| solver | called | finds the optimum | never falls | sees $A + \\sigma I$ as $A$ | cost "
    "| not when |\n|---|---|---|---|---|---|---|\n"
)


def about(solver):
    """What methods.yml says of a solver: of a variant, what differs from the solver itself."""
    itself = solver.function.__name__
    if itself not in ABOUT:
        raise KeyError(f"{itself} has no row in book/tools/methods.yml, which says its cost")
    return {"sure": "", "cost": "", "unless": "", **ABOUT[itself], **ABOUT.get(solver.name, {})}


def line(solver):
    """The row of a solver."""
    said = about(solver)
    link = f"[`{solver.name}`](../{said['section']})" if "section" in said else f"`{solver.name}`"
    promised = ("yes" if solver.promise(word) else "no" for word in ("rises", "shift"))
    cells = (link, f"`{solver.spelling}`", said["sure"], *promised, said["cost"], said["unless"])
    return "| " + " | ".join(cells) + " |\n"


def tables():
    """All solvers, a folded table for each problem."""
    text = ""
    for problem, title in TITLES.items():
        rows = "".join(line(s) for s in SOLVERS.values() if s.problem is problem)
        text += f"\n:::{{admonition}} {title}\n:class: dropdown\n\n{HEAD}{rows}:::\n"
    return text + "\n"


def made():
    """The page as it should be."""
    before, rest = PAGE.read_text().split(BEGIN)
    return before + BEGIN + tables() + END + rest.split(END, 1)[1]


if __name__ == "__main__":
    toc.write(PAGE, made())
