"""The page that says what to call: made from the registry, its numbers from stored rows."""

import re

import pytest
import which_method

from fspca import SOLVERS
from fspca_reproduction.results import stored


def test_the_tables_are_the_registrys():
    assert which_method.PAGE.read_text() == which_method.made()


def test_every_solver_is_there_and_a_new_one_would_be_missed(monkeypatch):
    page = which_method.tables()
    assert all(f"`{solver.name}`" in page for solver in SOLVERS.values())
    changed = SOLVERS["tpower"].also("unheard of", "", "#000000 . -", {})
    monkeypatch.setitem(SOLVERS, "unheard of", changed)
    assert which_method.PAGE.read_text() != which_method.made()


@pytest.mark.parametrize(
    ("solver", "said"),
    [
        ("solve_separate", r"it recovers (\d+), (\d+), (\d+) and (\d+) at"),
        ("tpower from PCA", r"`tpower` from PCA (\d+), (\d+), (\d+) and (\d+)"),
    ],
)
def test_the_draws_recovered_are_those_stored(solver, said):
    found = re.search(said, which_method.PAGE.read_text()).groups()
    rows = stored("tan2019_recovered")["rows"]
    assert [int(each) for each in found] == [row[solver]["recovered"] for row in rows]
    assert [row["gpower"]["recovered"] for row in rows] == [2, 0, 0, 0]
