"""The tables of book/appendix/what_is_tested.md, made from data/results and the marked tests.

    python book/tools/nightly_page.py    # as `make pages` does

The first table says of each experiment when all of it was last made, and by which commit.
The next have a row for each test that `make nightly` runs, with what data/results/nightly says of
its last run: the day and the commit; a test that has none says so.
"""

import ast
import json

from fspca_reproduction.results import stored as result_of
from fspca_reproduction.runner import experiments, makers

import toc
from toc import ROOT

PAGE = ROOT / "book" / "appendix" / "what_is_tested.md"
BEGIN = "% made by book/tools/nightly_page.py from here on\n"
FOLDER = ROOT / "data" / "results" / "nightly"
HEAD = "| what is tested | cases | instances | seconds | last run | result |\n" + 6 * "|---" + "|\n"

EXPERIMENTS = """
## When each experiment was last made whole

| experiment | rows | seconds | all of it last made | made anew since |
|---|---|---|---|---|
"""
MUTANTS = """
## One change at a time

Each module is changed in one place, and its own tests are run: they see the change, or it survives.
A survivor may have a reason: it does what the module did before.

| module | places | tried | seen | survived, with a reason | without |
|---|---|---|---|---|---|
"""


def at_night(path):
    """Yield the functions of a test file that are marked, or some of whose cases are."""
    words = ["pytest.mark.nightly"]
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and words[0] in ast.unparse(node):
            words.append(ast.unparse(node.targets[0]))  # a list of cases
        marks = " ".join(map(ast.unparse, getattr(node, "decorator_list", ())))
        if any(word in marks for word in words):
            yield node.name, said(node)


def said(function):
    """What a test shows: the first sentence of its docstring, or its name."""
    text = ast.get_docstring(function) or function.name.removeprefix("test_").replace("_", " ")
    return text.splitlines()[0].rstrip(".")


def stored(path):
    """Return what the store says of a test file: the runs, and the rows of each function."""
    path = FOLDER / f"{path.stem}.json"
    kept = json.loads(path.read_text()) if path.exists() else {"runs": {}, "tests": {}}
    rows = {}
    for name, row in kept["tests"].items():
        rows.setdefault(name.partition("[")[0], {})[name] = row
    return kept["runs"], rows


def line(text, rows, runs):
    """Return the row of the table for one function."""
    if not rows:
        return f"| {text} | | | | not yet | |\n"
    total = {key: sum(row[key] for row in rows.values()) for key in ("instances", "seconds")}
    failed = [name for name, row in rows.items() if row["outcome"] == "failed"]
    skipped = sum(row["outcome"] == "skipped" for row in rows.values())
    result = f"{len(failed)} failed: {', '.join(failed[:3])}" if failed else "passed"
    result += f", {skipped} skipped" if skipped else ""
    result += "".join(f"; {name.partition('[')[2].strip(']')}: {row['told']}"
                      for name, row in rows.items() if "told" in row)  # fmt: skip
    last = max(row["run"] for row in rows.values())
    when = ", ".join(filter(None, (last[:10], runs[last].get("commit"))))
    counts = f"{len(rows)} | {total['instances']:,} | {total['seconds']:,.0f}"
    return f"| {text} | {counts} | {when} | {result} |\n"


def cost():
    """Return what all that is stored took, in words."""
    hours = {"processor": 0.0, "clock": 0.0}
    for path in sorted(FOLDER.glob("*.json")):
        kept = json.loads(path.read_text())
        for row in kept["tests"].values():
            by = "processor" if "seconds" in kept["runs"][row["run"]] else "clock"
            hours[by] += row["seconds"] / 3600
    return (
        "\nSeconds are of the processor, with those of child processes:"
        f" {hours['processor']:.2f} hours of all that follows.\n"
        "Where a test last ran before noon of 20 November 2026 they are by the clock of a busy"
        f" machine, and say several times as much: {hours['clock']:.2f} hours.\n"
    )


def table():
    """Return the table, a part for each test file."""
    text = ""
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        runs, rows = stored(path)
        marked = list(at_night(path))
        lines = [line(said, rows.get(name), runs) for name, said in marked]
        if lines:
            text += f"\n## `{path.stem}`\n\n{HEAD}" + "".join(lines)
    return text


def made_whole(result):
    """Return the row of the table for one experiment, from what its stored file says."""
    told = [(f"by `{commit}` on {day}" if day else commit, n) for day, commit, n in makers(result)]
    (whole, _), *later = told
    since = "; ".join(f"{n} rows {when}" for when, n in later)
    head = f"| `{result['id']}` | {len(result['rows']):,} | {result['seconds']:,.0f}"
    return f"{head} | {whole} | {since} |\n"


def experiments_made():
    """Return the table of all experiments."""
    return EXPERIMENTS + "".join(made_whole(result_of(name)) for name in sorted(experiments()))


def mutants():
    """Return the table of what the tests saw when a module was changed in one place."""
    path = ROOT / "data" / "results" / "mutants.json"
    text = MUTANTS
    for module, row in json.loads(path.read_text()).items() if path.exists() else ():
        seen, survived = len(row["killed"]), row["survived"]
        known = sum(map(bool, survived.values()))
        counts = (row["of"], seen + len(survived), seen, known, len(survived) - known)
        text += f"| `{module}` | {' | '.join(map(str, counts))} |\n"
    return text


def made():
    """Return the page as it should be."""
    written = PAGE.read_text(encoding="utf-8").split(BEGIN)[0]
    return written + BEGIN + experiments_made() + cost() + table() + mutants()


if __name__ == "__main__":
    toc.write(PAGE, made())
