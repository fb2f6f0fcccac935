"""The tables of book/practice/which_method.md, made from the registry.

    python book/tools/which_method.py    # as `make pages` does

What stands between the two marks of the page is replaced; a test fails where it is not this.
"""

from pathlib import Path

from fspca.problem import Nonnegative, SeparateSupports, SharedSupport
from fspca.registry import SOLVERS

import toc

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


def line(solver):
    """The row of a solver."""
    link = f"[`{solver.name}`](../{solver.section})" if solver.section else f"`{solver.name}`"
    promised = ("yes" if solver.promise(word) else "no" for word in ("rises", "shift"))
    cells = (link, f"`{solver.spelling}`", solver.sure, *promised, solver.cost, solver.unless)
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
