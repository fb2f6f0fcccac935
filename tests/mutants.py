"""Do the tests of a module see when it is changed?  One small change after another.

    python tests/mutants.py [--most 40] [--seconds 8] [module ...]

Each module of `TESTED` is changed in one place, as `changes` says, and its tests are run: a mutant
that they let pass survives.  With --most, so many mutants of each are drawn, always the same.
With --seconds, tests are left out that would take the rest beyond so many, the slowest first.
Before, a control is run that the tests must see: no function gives what it found.
What is found is stored after each in data/results/mutants.json, where a reason is to be written
beside a survivor that does what it did before.  Of the same code only those survivors are run again
that have no reason yet.
"""

import argparse
import ast
import hashlib
import json
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from functools import partial
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from itertools import accumulate, islice
from math import inf
from pathlib import Path

TOP = Path(__file__).parents[1]
STORE = TOP / "data" / "results" / "mutants.json"
TESTED = {
    "covariance/linalg": "linalg",
    "metrics": "metrics_and_synthetic",
    "covariance/covariance": "covariance bad_input",
    "covariance/sources": "sources covariance",
    "problem": "problem",
    "check_certificate": "check_certificate check_nonnegative separate_certificate removals",
    "proof/search": "solve branch_and_bound_nonnegative",
    "shared_support/go": "go",
    "shared_support/ipu": "ipu",
    "shared_support/iteration": "ipu soap srt",
    "shared_support/swap": "swap",
    "proof/bounds": "certificate go",
    "proof/checked": "certificate removals",
    "proof/claims": "certificate separate_certificate",
    "proof/levelled": "levelled",
    "proof/projections": "semidefinite fantope",
    "proof/relaxation": "semidefinite rows",
    "proof/rows": "rows",
    "proof/semidefinite": "semidefinite",
    "proof/tree": "solve",
    "proof/nonnegative_tree": "branch_and_bound_nonnegative check_nonnegative",
    "nonnegative/halfspaces": "halfspaces",
    "nonnegative/spannogram": "spannogram cells",
    "nonnegative/bounds": "nonnegative_bounds cells",
    "nonnegative/cells": "cells",
    "nonnegative/epsilon_net": "epsilon_net",
    "separate_supports/alternation": "sadmm",
    "separate_supports/patterns": "gpower",
    "nonnegative/components": "nonnegative_components em nspca",
    "nonnegative/joint": "nonnegative_faults solve_nonnegative",
    "covariance/intake": "covariance bad_input",
    "datasets/tables": "tables hostile_files",
    "selection": "selection",
    "sklearn": "sklearn",
    "proof/report": "report",
}
OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
PAIRS = ["min max", "minimum maximum", "argmin argmax", "any all", "floor ceil", "zeros ones"]
NAMES = {one: other for pair in PAIRS for one, other in (pair.split(), pair.split()[::-1])}
DROPPED = (ast.AugAssign, ast.Raise, ast.Continue, ast.Break)


def changes(node):
    """Yield for each way to change a node the field, and what it becomes."""
    match node:
        case ast.Compare(ops=[first, *rest]) if type(first) in OTHER:
            yield "ops", [OTHER[type(first)](), *rest]
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in OTHER:
            yield "op", OTHER[type(op)]()
        case ast.UnaryOp(op=ast.USub()):
            yield "op", ast.UAdd()
        case ast.If() | ast.While() | ast.IfExp():
            yield "test", ast.UnaryOp(ast.Not(), node.test)
        case ast.Constant(value=bool(value)):
            yield "value", not value
        case ast.Constant(value=int(value) | float(value)):
            yield "value", value + 1
        case ast.Name(id=name) if name in NAMES:
            yield "id", NAMES[name]
        case ast.Attribute(attr=name) if name in NAMES:
            yield "attr", NAMES[name]
    body = node.body if isinstance(getattr(node, "body", None), list) else []
    for i, each in enumerate(body):
        call = isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)
        if call or isinstance(each, DROPPED):
            yield "body", [*node.body[:i], ast.Pass(), *node.body[i + 1 :]]


def nodes(node):
    """Yield what may be changed: no annotation, and no word that is only said."""
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from nodes(child)


def mutants(source):
    """Yield each mutant in words, where and what it was and is, with what makes its tree.

    The words do not depend on the lines above: in a function the second of its kind says so.
    """
    tree, seen = ast.parse(source), Counter()
    name = owners(tree)
    for n, node in enumerate(nodes(tree)):
        for i, (field, value) in enumerate(changes(node)):
            was, old = ast.unparse(node), getattr(node, field)
            setattr(node, field, value)
            now = ast.unparse(node)
            setattr(node, field, old)
            if "\n" in was:  # of a statement the line that differs
                both = zip(was.splitlines(), now.splitlines(), strict=False)
                was, now = next((one, other) for one, other in both if one != other)
            told = f"{name[node]}: {was.strip()}  ->  {now.strip()}"
            seen[told] += 1
            told += f" ({seen[told]})" if seen[told] > 1 else ""
            yield told, partial(changed, source, n, i)


def owners(tree):
    """Return for each node the name of the innermost function or class that it is in."""
    found = {tree: ""}
    for node in ast.walk(tree):  # from the outside to the inside
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found |= dict.fromkeys(ast.walk(node), node.name)
        else:
            found.setdefault(node, "")
    return found


def control(source):
    """Return the tree of the same code where no function gives what it found.

    The tests of a module that let this pass do not run it, or not what was changed.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Return):
            node.value = ast.Constant(None)
    return ast.fix_missing_locations(tree)


def code(source):
    """Return a sum of the code without its docstrings, and without where its imports come from."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            body = node.body[ast.get_docstring(node) is not None :]
            node.body = [x for x in body if not isinstance(x, ast.Import | ast.ImportFrom)]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:16]


def changed(source, n, i):
    tree = ast.parse(source)
    node = next(islice(nodes(tree), n, None))
    setattr(node, *next(islice(changes(node), i, None)))
    return ast.fix_missing_locations(tree)


class Order:
    """Run first the tests that saw most changes, then the quick ones; say what each takes.

    A test that takes far longer than it did, as in a loop without end, ends the process.
    """

    def __init__(self, known, told, seconds):
        self.known, self.told, self.seconds = known, told, seconds

    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: self.known.get(item.nodeid, (0, 0.0)))
        taken = accumulate(self.known.get(item.nodeid, (0, 0.0))[1] for item in items)
        items[:] = [item for item, all in zip(items, taken, strict=True) if all <= self.seconds]

    def pytest_runtest_logstart(self, nodeid):
        self.start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, 3 + 10 * self.known.get(nodeid, (0, 60.0))[1])
        os.write(self.told, f"{nodeid}\n".encode())

    def pytest_runtest_logfinish(self):
        os.write(self.told, f"{time.process_time() - self.start:.4f}\n".encode())


def run(module, tree, tests, known=None, limit=inf):
    """Return whether the tests pass with this code for the module, and each test's CPU seconds."""
    heard, told = os.pipe()
    if not (child := os.fork()):
        resource.setrlimit(resource.RLIMIT_CPU, (600, 600))
        resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)

        class Changed(SourceFileLoader):
            def get_code(self, name):
                return compile(tree, self.path, "exec")

        class Finder:
            def find_spec(self, name, *_):
                if name == f"fspca.{module.replace('/', '.')}":
                    path = TOP / "fspca" / f"{module}.py"
                    return spec_from_file_location(name, path, loader=Changed(name, str(path)))

        sys.meta_path.insert(0, Finder())
        failed = True
        try:
            signal.setitimer(signal.ITIMER_PROF, 60)
            import_module(f"fspca.{module.replace('/', '.')}")  # before pytest rewrites it
            files = [f"tests/test_{name}.py" for name in tests.split()]
            files += ["--doctest-modules", f"fspca/{module}.py"]
            asked = ["-x", "-q", "-p", "no:cacheprovider", *files]
            failed = import_module("pytest").main(asked, plugins=[Order(known or {}, told, limit)])
        finally:
            os._exit(bool(failed))
    os.close(told)
    with open(heard) as stream:
        lines = stream.read().split("\n")[:-1]
    passed = os.waitpid(child, 0)[1] == 0
    return passed, dict(zip(lines[::2], [*map(float, lines[1::2]), 0.0], strict=False))


def reasons(store):
    """Return why mutants of all modules survive: a function that moves to a new one keeps them."""
    rows = (row["survived"] for row in store.values())
    return {told: why for row in rows for told, why in row.items() if why}


def examine(module, store, most, limit, times):
    """Try the mutants of a module, but for those that are known to be seen, or known why not."""
    source = (TOP / "fspca" / f"{module}.py").read_text()
    every = list(mutants(source))
    row = store.get(module, {})
    if row.get("code") != code(source):  # what was seen in other code may not be seen in this
        known = row.get("survived") or reasons(store)
        survived = {told: known[told] for told, _ in every if known.get(told)}
        row = {"code": code(source), "of": len(every), "killed": [], "survived": survived}
    store[module] = row
    tests, whole = TESTED[module], ast.parse(source)
    known = times.get(tests)
    passed, took = run(module, whole, tests, known, limit if known else inf)
    assert passed, f"the tests of {module} fail without a change"
    known = times.setdefault(tests, {name: (0, each) for name, each in took.items()})
    passed, _ = run(module, control(source), tests, known, limit)
    assert not passed, f"the tests of {module} pass though no function gives anything"
    for told, make in random.Random(0).sample(every, min(most, len(every))):
        if told in row["killed"] or row["survived"].get(told):
            continue
        passed, ran = run(module, make(), tests, known, limit)
        if passed:
            row["survived"][told] = ""
            print(f"{module}: {told}", flush=True)
        else:
            row["killed"].append(told)
            row["survived"].pop(told, None)
            if last := list(ran)[-1:]:  # the test that saw it goes first from now on
                seen, each = known.get(last[0], (0, 60.0))
                known[last[0]] = seen - 1, each
        STORE.write_text(json.dumps(store, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=10**6)
    parser.add_argument("--seconds", type=float, default=inf)
    parser.add_argument("modules", nargs="*", default=list(TESTED))
    asked = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they take seconds to load
    for name in ("pytest", "scipy.linalg", "scipy.sparse", "scipy.optimize"):  # once, for all
        import_module(name)
    kept = json.loads(STORE.read_text()) if STORE.exists() else {}
    times = {}
    for each in asked.modules:
        examine(each, kept, asked.most, asked.seconds, times)
