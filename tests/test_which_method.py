"""The page that says what to call: made from the registry, its numbers from stored rows."""

import re

import pytest
import which_method

from fspca import SOLVERS
from fspca_reproduction.tan2019 import recovered, standings


def test_the_tables_are_the_registrys():
    assert which_method.PAGE.read_text() == which_method.made(), "run `make pages`"


def test_every_solver_is_there_and_a_new_one_would_be_missed(monkeypatch):
    page = which_method.tables()
    assert all(f"`{solver.name}`" in page for solver in SOLVERS.values())
    changed = SOLVERS["tpower"].variant("unheard of", "", {})
    monkeypatch.setitem(SOLVERS, "unheard of", changed)
    assert which_method.PAGE.read_text() != which_method.made()


def test_a_solver_without_a_row_of_the_book_is_told_where_it_goes(monkeypatch):
    monkeypatch.delitem(which_method.ABOUT, "tpower")
    with pytest.raises(KeyError, match=r"tpower has no row in book/tools/methods.yml"):
        which_method.tables()


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


def numbers(pattern):
    """The numbers that a sentence of the page says."""
    return list(map(float, re.search(pattern, which_method.PAGE.read_text()).groups()))


def test_solve_separate_is_first_among_separate_supports_single_or_searched():
    assert "first among separate supports on all ten sets" in which_method.PAGE.read_text()
    most = []
    for way in ("in all", "each"):
        single, best = (
            standings.leads("solve_separate", way, searched, standings.APART).values()
            for searched in (False, True)
        )
        assert len(single) == len(best) == 10
        assert min(*single, *best) > 0
        most.append(round(100 * max(*single, *best), 1))
    assert numbers(r"by up to (\S+) %, and with 50 for each component by up to (\S+) %") == most


def test_how_far_shared_supports_and_the_bound_are_above_it():
    behind = standings.leads("solve_separate", "in all", True).values()
    more = [round(100 * (1 / (1 + each) - 1), 1) for each in (max(behind), min(behind))]
    assert numbers(r"explains (\S+) to (\S+) % more, and the certified bound") == more
    panels = [each["in all"] for each in standings.panels().values()]
    gaps = [100 * (panel["bound"] / panel["solve_separate"][1] - 1) for panel in panels]
    assert numbers(r"stands (\d+) to (\d+) % above") == [round(min(gaps)), round(max(gaps))]


def test_the_seed_of_solve_separate_hardly_matters():
    seeds = recovered.spreads().values()
    assert [len(each) for each in seeds] == [40, 40]
    (told,) = numbers(r"it varies by at most (\S+) %")
    assert told - 0.1 < max(100 * (max(each) / min(each) - 1) for each in seeds) < told
