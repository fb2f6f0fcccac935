"""Which answers have the same structure, whatever their names, comments and numbers are.

    python grading/similarity.py go_and_its_proof

Prints pairs of students whose answers share most of their structure, the most similar first.
Short answers are alike by nature and are left out; what is left is a reason to ask, no proof.
"""

import ast
import sys
from itertools import combinations
from pathlib import Path

import nbformat

COURSE = Path(__file__).resolve().parents[1]
LENGTH = 5  # neighbours that make a piece of structure
SHORT = 60  # pieces below which answers are not compared
ALIKE = 0.8


def structure(source):
    """The pieces of a program: runs of kinds of nodes, in order, without names and constants.

    What is no program, or is nested beyond measure, has none.
    """
    try:
        return pieces(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()


def pieces(tree):
    skipped = (ast.expr_context, ast.Expr, ast.alias, ast.arguments, ast.arg)

    def walk(node):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not docstring:
            if not isinstance(node, skipped):
                yield type(node).__name__
            for child in ast.iter_child_nodes(node):
                yield from walk(child)

    kinds, seen, found = list(walk(tree)), {}, set()
    for place in range(len(kinds) - LENGTH + 1):
        piece = tuple(kinds[place : place + LENGTH])
        seen[piece] = seen.get(piece, 0) + 1
        found.add((piece, seen[piece]))
    return frozenset(found)


def shared(one, other):
    """The share of the pieces of two programs that both have."""
    return len(one & other) / max(1, len(one | other))


def answers(path):
    """The code of a student's own cells."""
    given = {"locked": True}
    return "\n\n".join(
        cell.source
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code"
        and cell.metadata.get("nbgrader", {}).items().isdisjoint(given.items())
    )


def report(sources):
    """[(share, one, other)] of those that are alike, of {student: source}."""
    known = {student: structure(source) for student, source in sources.items()}
    known = {student: pieces for student, pieces in known.items() if len(pieces) >= SHORT}
    pairs = [(shared(known[a], known[b]), a, b) for a, b in combinations(sorted(known), 2)]
    return sorted((pair for pair in pairs if pair[0] >= ALIKE), reverse=True)


def main(name):
    if not (COURSE / "source" / name).is_dir():
        raise SystemExit(f"There is no assignment {name} in {COURSE / 'source'}.")
    found = sorted(COURSE.glob(f"autograded/*/{name}/{name}.ipynb"))
    pairs = report({path.parts[-3]: answers(path) for path in found})
    for share, one, other in pairs:
        print(f"{share:.0%}  {one}  {other}")
    print(f"{len(pairs)} pairs of {len(found)} students share {ALIKE:.0%} or more of the structure")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
