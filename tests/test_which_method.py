"""The page that says what to call: made from the registry, its numbers from stored rows."""

import re

import pytest
import which_method

from fspca import SOLVERS
from fspca_reproduction.tan2019 import recovered, tournament
from fspca_reproduction.verdict import EQUAL


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
    assert [int(each) for each in found] == recovered.recoveries(solver)


def test_of_other_draws_as_many_are_recovered():
    assert "as many of ten draws made afterwards" in which_method.PAGE.read_text()
    first = recovered.recoveries("solve_separate")
    assert recovered.recoveries("solve_separate", rows="tan2019_recovered_anew") == first


def test_solve_separate_wins_or_is_level_on_standardised_genes_and_its_seed_hardly_matters():
    panels = tournament.panels()
    assert list(panels) == ["colon", "duke", "leukemia_golub"]
    said = which_method.PAGE.read_text()
    for panel in panels.values():
        rivals = dict(panel["in all"])
        best = rivals.pop("solve_separate")
        assert best >= max(rivals.values())
        assert max(rivals, key=rivals.get) == "gpower"
        assert best >= rivals["gpower"] * (1 + EQUAL)
        assert 1.01 < panel["shared, 50"]["ipu"] / best < 1.015
    seeds = [panels[name]["seeds"] for name in ("colon", "duke")]
    assert [len(each) for each in seeds] == [40, 40]
    most = max(100 * (max(each) / min(each) - 1) for each in seeds)
    assert float(re.search(r"it varies by at most (\S+) %", said)[1]) - 0.1 < most
    assert most < float(re.search(r"it varies by at most (\S+) %", said)[1])
    gaps = [p["bounds"]["50"] / p["in all"]["solve_separate"] - 1 for p in panels.values()]
    told = re.search(r"the bound leaves (\d+), (\d+) and (\d+) %", said).groups()
    assert [round(100 * gap) for gap in gaps] == list(map(int, told))
