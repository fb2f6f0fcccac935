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


def numbers(pattern):
    """The numbers that a sentence of the page says."""
    return list(map(float, re.search(pattern, which_method.PAGE.read_text()).groups()))


def test_who_is_ahead_by_what_factors_explain_and_by_adjusted_variance():
    by_factors, adjusted = (
        [100 * each for each in standings.leads(measure).values()] for measure in standings.MEASURES
    )
    ahead, level, behind = standings.counted("factors")
    leads = [each for each in by_factors if each > 100 * standings.EQUAL]
    said = numbers(r"best rival by (\S+) to (\S+) % on (\d+) of the (\d+) sets")
    assert said == [round(min(leads), 1), round(max(leads), 1), ahead, len(by_factors)]
    assert numbers(r"level, within 0.1 %, on the other (\d+)") == [level]
    assert behind == 0
    told = r"variance it is ahead on (\d+), level on (\d+) and behind by up to (\S+) % on (\d+)"
    ahead, level, behind = standings.counted("adjusted")
    assert numbers(told) == [ahead, level, round(-min(adjusted), 1), behind]


def test_the_seed_of_solve_separate_hardly_matters():
    seeds = recovered.spreads().values()
    assert [len(each) for each in seeds] == [5, 5]
    (told,) = numbers(r"over five seeds it varies by at most (\S+) %")
    assert told - 0.1 < max(100 * (max(each) / min(each) - 1) for each in seeds) < told
