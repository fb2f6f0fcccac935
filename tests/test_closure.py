"""Which code a row hangs on: what the function reaches, and nothing that only reads differently."""

import importlib
import sys

import pytest

from fspca_reproduction import closure

PLAIN = {
    "__init__": "",
    "registry": """
        from toy.solvers import fast, slow
        SOLVERS = {solver.name: solver for solver in (Solver("fast", fast), Solver("slow", slow))}
        class Solver: pass
    """,
    "solvers": '''
        from toy import tools
        STEPS = 3
        def fast(A):
            """Be fast."""
            return tools.scaled(A)  # at once
        def slow(A):
            if A is None:
                raise ValueError("A must be there")
            for _ in range(STEPS):
                A = fast(A)
            return A
    ''',
    "tools": """
        try:
            import tqdm
            SCALE = 2.0
        except ImportError:
            SCALE = 2.0
        def scaled(A): return SCALE * A
        def unused(A): return A
    """,
    "runs": """
        from toy.registry import SOLVERS
        from toy.solvers import slow
        from toy.results import stored
        @experiment(cases=[{"seed": 0}])
        def by_name(seed): return SOLVERS["fast"](seed)
        @experiment(cases=[{"solver": "slow"}])
        def by_row(solver): return SOLVERS[solver](1)
        @experiment(cases=[{"seed": 0}])
        def directly(seed: int) -> dict: return slow(seed)
        @experiment(cases=[{"seed": 0}])
        def of_rows(seed): return stored("directly")
    """,
    "results": "def stored(name): return name",
}
IDS = frozenset((name, "toy.runs") for name in ("by_name", "by_row", "directly", "of_rows"))
WORDS = {"by_row": frozenset({"slow"})}


@pytest.fixture
def hashes(tmp_path, monkeypatch):
    """A function that writes the toy package, with changes, and returns its experiments' codes."""
    monkeypatch.setattr(closure, "PACKAGES", ("toy",))
    monkeypatch.setattr(closure, "TABLES", {("toy.registry", "SOLVERS")})
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "toy").mkdir()
    caches = [each for each in vars(closure).values() if hasattr(each, "cache_clear")]

    def codes(**changes):
        for each in caches:
            each.cache_clear()
        sys.modules.pop("toy", None)
        for name, text in PLAIN.items():
            for old, new in changes.get(name, {}).items():
                assert old in text
                text = text.replace(old, new)
            lines = text.replace("\n        ", "\n").strip()
            (tmp_path / "toy" / f"{name}.py").write_text(lines + "\n")
        importlib.invalidate_caches()
        return {name: closure.hash_of("toy.runs", name, WORDS.get(name, frozenset()), IDS)
                for name, _ in IDS}  # fmt: skip

    yield codes
    for each in caches:
        each.cache_clear()


def changed(hashes, **changes):
    before, after = hashes(), hashes(**changes)
    return {name for name in before if before[name] != after[name]}


@pytest.mark.parametrize(
    "changes",
    [
        {"solvers": {"Be fast.": "Be very fast."}},
        {"solvers": {"# at once": "# in one go"}},
        {"solvers": {"A must be there": "A is missing"}},
        {"solvers": {"def fast(A):": "def fast(A: list) -> list:"}},
        {"runs": {'[{"seed": 0}]': '[{"seed": 0}, {"seed": 1}]'}},
        {"tools": {"def unused(A): return A": "def unused(A): return -A"}},
        {"tools": {"def unused(A): return A": ""}},
    ],
)
def test_what_only_reads_differently_changes_nothing(hashes, changes):
    assert changed(hashes, **changes) == set()


def test_a_changed_solver_changes_what_it_feeds(hashes):
    """slow calls fast; the one is named in a row, the other in the code of by_name."""
    assert changed(hashes, solvers={"range(STEPS)": "range(1 + STEPS)"}) == {
        "by_row", "directly", "of_rows"}  # fmt: skip
    every = {"by_name", "by_row", "directly", "of_rows"}
    assert changed(hashes, solvers={"scaled(A)": "scaled(-A)"}) == every


def test_a_constant_counts_and_so_does_one_in_another_module(hashes):
    assert changed(hashes, solvers={"STEPS = 3": "STEPS = 4"}) == {"by_row", "directly", "of_rows"}
    assert len(changed(hashes, tools={"SCALE = 2.0": "SCALE = 3.0"})) == 4


def test_the_registry_counts_as_the_solvers_that_are_named(hashes):
    more = {'Solver("slow", slow))': 'Solver("slow", slow), Solver("new", slow))'}
    assert changed(hashes, registry=more) == set()
    options = {'Solver("slow", slow)': 'Solver("slow", slow, {"k": 3})'}
    assert changed(hashes, registry=options) == {"by_row"}


def test_rows_of_another_experiment_are_reached_by_its_id(hashes):
    assert changed(hashes, runs={"return slow(seed)": "return slow(-seed)"}) == {
        "directly", "of_rows"}  # fmt: skip


def test_moving_a_definition_changes_nothing(hashes):
    moved = {
        "tools": {"def scaled(A): return SCALE * A": "from toy.results import scaled"},
        "results": {"def stored": "from toy.tools import SCALE\ndef scaled(A): return SCALE * A\n"
                    "def stored"},
    }  # fmt: skip
    assert changed(hashes, **moved) == set()
    assert ("toy.results", "scaled") in closure.reached("toy.runs", "directly")
