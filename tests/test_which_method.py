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


def test_solve_separate_wins_or_is_level_on_standardised_genes_and_its_seed_hardly_matters():
    rows = stored("tan2019_tournament")["rows"]
    assert [row["set"] for row in rows] == ["colon", "duke", "leukemia_golub"]
    for row in rows:
        rivals = dict(row["values"])
        best = rivals.pop("solve_separate")
        assert best >= max(rivals.values())
        assert row["most of 40"] < 1.0021 * row["least of 40"]
        assert 1.01 < row["shared"] / best < 1.015
    best = [row["values"]["solve_separate"] for row in rows]
    assert [round(100 * (r["bound"] / b - 1)) for r, b in zip(rows, best, strict=True)] == [
        11,
        17,
        15,
    ]
    ahead = [b / row["values"]["gpower"] - 1 for row, b in zip(rows, best, strict=True)]
    assert ahead[0] < 0.001 < min(ahead[1:])
