"""Held-out rows of two hundred tables: the rule is kept, nothing new is seen, verdicts can fail."""

import itertools
import json
import re

import numpy as np
import pytest
import toc

import fspca.sklearn
from fspca.datasets.catalogue import CATALOGUE
from fspca_reproduction import results, runner
from fspca_reproduction.book import new_rows, new_rows_answers, new_rows_tables
from fspca_reproduction.runner import experiments, row

LISTED = new_rows_tables.names()
PREDICTING = ("leverage", "solve")
OWN = [name for name in LISTED if name in CATALOGUE]


def heavy(n=200, d=8, seed=0):
    """Rows of heavy tails: Student's t of two degrees of freedom."""
    return np.random.default_rng(seed).standard_t(2, (n, d))


def test_there_are_two_hundred_tables_and_three_thousand_questions():
    asked = new_rows_answers.questions()
    assert len({each.table for each in asked}) == len(set(LISTED)) >= 200
    assert len(asked) >= 3000
    assert sum(map(new_rows_tables.is_apart, LISTED)) >= 100
    assert sum(not new_rows_tables.is_apart(name) for name in LISTED) >= 100


def test_every_table_has_a_source_and_terms():
    lines = new_rows_tables.PAGE.read_text().splitlines()[4:]
    assert len(lines) == len(LISTED)
    for line in lines:
        _, name, rows, columns, apart, source, terms, _ = map(str.strip, line.split("|"))
        assert (source, terms) == new_rows_tables.source_of(name.strip("`"))
        assert source
        assert terms
        assert int(rows) >= new_rows_tables.LEAST_ROWS
        assert int(columns) >= new_rows_tables.LEAST_COLUMNS
        assert (apart == "yes") == new_rows_tables.is_apart(name.strip("`"))


def test_tables_of_one_name_are_on_one_side():
    assert new_rows_tables.is_apart("Ecdat/Crime") == new_rows_tables.is_apart("plm/crime")


def test_sets_of_the_catalogue_are_declared():
    function = experiments()["new_rows"]
    for name in OWN:
        assert runner.sets_of("new_rows", {"set": name, "split": 0}) == [name]
    assert {case["set"] for case in function.cases} == set(LISTED)


def opened(name):
    """A parameter that says which set of the catalogue it opens."""
    return pytest.param(name, marks=pytest.mark.needs_data(*{name} & set(OWN)))


@pytest.mark.parametrize("name", map(opened, LISTED[:: len(LISTED) // 12]))
def test_a_table_is_what_the_list_says(name):
    n, d = new_rows_tables.cleaned(new_rows_tables.read(name)).shape
    assert f"| `{name}` | {n} | {d} |" in new_rows_tables.PAGE.read_text()


@pytest.mark.nightly
@pytest.mark.needs_data(*new_rows_tables.of_catalogue())
def test_the_rule_draws_the_list():
    assert new_rows_tables.written(new_rows_tables.drawn()) == new_rows_tables.PAGE.read_text()


def test_cleaning_leaves_out_what_measures_nothing():
    X = np.random.default_rng(0).standard_normal((100, 5))
    gaps = np.where(np.arange(100) % 3, X[:, 2], np.nan)
    out = (np.arange(100), X[:, 0] > 0, 3 - 2 * X[:, 1], gaps)
    worse = np.column_stack([X, *out])
    np.testing.assert_array_equal(new_rows_tables.cleaned(worse), X)
    gaps = X.copy()
    gaps[7, 1] = np.inf
    np.testing.assert_array_equal(new_rows_tables.cleaned(gaps), np.delete(X, 7, axis=0))


def test_halves_share_no_row_and_differ_by_split():
    a, b = new_rows_tables.halves("wine", 0)
    again, _ = new_rows_tables.halves("wine", 0)
    other, _ = new_rows_tables.halves("wine", 1)
    np.testing.assert_array_equal(a, again)
    assert not np.array_equal(a, other)
    whole = new_rows_tables.rows_of_table("wine")
    np.testing.assert_array_equal(np.sort(np.vstack([a, b]), axis=0), np.sort(whole, axis=0))


def test_no_choice_sees_the_new_rows():
    """Whatever they are, what is chosen, and explained of the rows fitted, stays the same."""
    a = heavy()
    found = [new_rows.fitted_half(a, heavy(seed=seed))["measured"] for seed in (1, 2)]
    for scale in new_rows.SCALES:
        for method, each in found[0][scale].items():
            for one, other in zip(each, found[1][scale][method], strict=True):
                np.testing.assert_array_equal(one[0], other[0])
                assert one[2] == other[2]
                assert one[1] != other[1]


def test_values_are_moved_by_the_limits_of_the_fitted_half():
    a = np.column_stack([np.linspace(-1, 1, 101), np.zeros(101)])
    new = np.array([[50.0, 50.0], [0.1, 0.1]])
    (moved,) = new_rows.clipped(a, new)
    limit = 3 * 1.0 / 1.349  # the quartiles are -1/2 and 1/2
    np.testing.assert_allclose(moved, [[limit, 50], [0.1, 0.1]])  # of the second nothing is known


def test_greedy_begins_with_the_best_pair_and_tells_ties():
    C = np.corrcoef(heavy(60, 9).T)
    pairs = list(itertools.combinations(range(9), 2))
    best = max(pairs, key=lambda pair: np.linalg.eigvalsh(C[np.ix_(pair, pair)])[-1])
    support, ties = new_rows.greedy_from_pair(C, 1, 2)
    assert tuple(support) == best
    assert ties == 0
    assert new_rows.greedy_from_pair(np.eye(5), 1, 4) == ([0, 1, 2, 3], 3)


def test_what_is_predicted_of_the_others_is_a_share():
    """A copy predicts all of what it copies, noise nothing; both are checked by a regression."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 4))
    X[:, 2:] = X[:, :2] + 1e-3 * X[:, 2:]
    C = X.T @ X / len(X)
    assert new_rows.predicted(np.array([0, 1]), C, C) > 0.999
    assert abs(new_rows.predicted(np.array([0, 2]), C, C)) < 0.01  # chance has 1 / 5000


def test_chance_gives_no_features_in_common():
    rng = np.random.default_rng(0)
    drawn = [(rng.permutation(12)[:4], rng.permutation(12)[:4]) for _ in range(2000)]
    shares = [new_rows.common(I, J, 12) for I, J in drawn]
    assert abs(np.mean(shares)) < 0.02  # some four of its standard errors
    assert new_rows.common(drawn[0][0], drawn[0][0], 12) == 1


@pytest.mark.parametrize("scale", new_rows.SCALES)
def test_the_placebo_fails(scale):
    """Signs drawn by chance leave fewer wins, and losses, than the interval allows."""
    some = [each for each in new_rows_answers.questions() if each.scale == scale]
    wins, losses = new_rows_answers.placebo("leverage", some)
    assert max(wins, losses) <= 0.025


def test_a_verdict_needs_the_interval_and_the_margin():
    theirs = np.full((3, 6), 0.4)
    gains = np.array([[0.003] * 6, [0.04, 0.05] * 3, [0.2, -0.1] * 3])
    gains[0] += 1e-3 * np.tile([1, -1], 3)
    verdicts, relative = new_rows_answers.judged_gains(theirs + gains, theirs)
    assert verdicts.tolist() == [0, 1, 0]
    np.testing.assert_allclose(relative, gains.mean(axis=1) / 0.4)


def test_proven_choices_are_the_best_of_the_rows_fitted():
    """Nobody explains more of them; a ten-thousandth is what is stored."""
    for each in new_rows_answers.questions():
        if each.proven == 1:
            others = [value for name, value in each.sample.items() if "clipped" not in name]
            assert each.sample["solve"] >= max(others) - 1.01e-4, each


def test_a_rule_is_learnt_on_one_half_alone(monkeypatch):
    """What the tables kept apart say does not change it."""
    asked = new_rows_answers.questions()
    learnt = new_rows_answers.learnt_rule("each", 1)
    new_rows_answers.learnt_rule.cache_clear()
    seen = tuple(each for each in asked if not each.apart)
    monkeypatch.setattr(new_rows_answers, "questions", lambda: seen)
    assert new_rows_answers.learnt_rule("each", 1) == learnt
    new_rows_answers.learnt_rule.cache_clear()


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    """The rows made are kept; what is left alone is computed."""
    cases = [{"set": "wine", "split": split} for split in (0, 1)]
    monkeypatch.setattr(results, "DATA", tmp_path)
    (tmp_path / "results").mkdir()
    monkeypatch.setattr(experiments()["new_rows"], "cases", cases)
    monkeypatch.setattr(runner.checkout, "trees", lambda: "of today")
    made = {"set": "wine", "split": 0, "marked": True}
    line = {"place": runner.place(cases[0]), "trees": "of today", "seconds": 1.0, "row": made,
            "stamp": runner.stamp_of_today()}  # fmt: skip
    runner.partial_path("new_rows").write_text(json.dumps(line) + "\n")
    runner.run("new_rows", workers=1)
    first, second = results.stored("new_rows")["rows"]
    assert first == made
    assert second["split"] == 1


def test_a_row_hangs_on_its_case_alone():
    one, again = (row("new_rows", {"set": "wine", "split": 1}) for _ in range(2))
    assert results.same_row(one, again)


@pytest.mark.parametrize("page", ["README.md", "book/cover.md", "book/practice/which_method.md"])
def test_what_came_out_is_said_with_its_numbers(page):
    text = (toc.ROOT / page).read_text()
    for sentence in new_rows_answers.sentences():
        assert sentence in text


def said(pattern, text):
    """The numbers of a sentence."""
    return [float(each.replace(",", "")) for each in re.search(pattern, text, re.S).groups()]


def test_the_estimator_says_what_came_out():
    (wins, ties, loses), (gain, _, _) = new_rows_answers.standing("leverage", "each")
    pattern = r"new rows of (\d+) real.*explains (\S+) % more.*wins (\d+) of (\S+) questions"
    told = said(pattern, fspca.sklearn.SparsePrincipalSubspace.__doc__)
    assert told == [len(LISTED), round(100 * gain, 1), wins, wins + ties + loses]


def test_the_rule_of_thumb_is_said_with_its_hit_rates():
    text = (toc.ROOT / "book/practice/which_method.md").read_text()
    rule = new_rows_answers.learnt_rule("each", 1)
    assert (rule.feature, rule.above) == ("gain in sample", True)
    (where, *_), (elsewhere, *_), _ = new_rows_answers.on_those_apart(rule, "each", 1)
    pattern = r"over (\S+) % more than `go`.*finds (\d+) %.*right on (\d+) % of the rest"
    assert said(pattern, text) == [round(100 * rule.threshold, 1), *(
        round(100 * each) for each in (where, elsewhere))]  # fmt: skip
    share, won, *_ = new_rows_answers.within_bound()
    pattern = r"closed-form bound, in (\d+) % .*wins (\d+) of them"
    assert said(pattern, text) == [round(100 * share), won]
    median = [np.median(new_rows_answers.of_learnt("others", name)) for name in PREDICTING]
    assert said(r"in the median (\d+) % and (\d+) %", text) == [
        round(100 * each) for each in median
    ]


def test_what_sorting_by_variance_loses_is_said():
    text = (toc.ROOT / "book/practice/state_of_the_field.md").read_text()
    _, (gain, _, _) = new_rows_answers.standing("variance", "raw")
    assert said(r"by variance explains (\S+) % less", text) == [round(100 * gain, 1)]
