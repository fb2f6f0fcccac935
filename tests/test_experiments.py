"""Stored results: complete, made by the command they name, and made again here in part."""

import json

import pytest

from fspca.experiments import runner
from fspca.experiments.runner import experiments, lacks_data, row, run, same_row, stored


@pytest.mark.parametrize("name", experiments())
def test_stored_result_has_every_case_once_and_in_order(name):
    result, cases = stored(name), experiments()[name].cases
    assert result["command"] == f"python -m fspca.experiments run {name}"
    assert [{key: each[key] for key in cases[0]} for each in result["rows"]] == list(cases)


def sampled():
    """Four rows of each experiment, spread evenly; one of those that measure time."""
    for name, function in experiments().items():
        last = len(function.cases) - 1
        shares = (0.0,) if function.alone else (0.0, 0.37, 0.71, 1.0)
        yield from ((name, i) for i in sorted({round(share * last) for share in shares}))


@pytest.mark.parametrize(("name", "i"), list(sampled()))
def test_the_command_still_makes_its_rows(name, i):
    case = experiments()[name].cases[i]
    if lacks_data(case):
        pytest.skip(f"{case['set']} is not here: row {i} of {name} was not made again")
    assert same_row(stored(name)["rows"][i], row(name, case))


def test_rows_of_data_that_is_not_here_are_kept(tmp_path, monkeypatch):
    name, kept = "tian2020_figure_4", stored("tian2020_figure_4")
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    monkeypatch.setattr(runner.datasets, "where", lambda name: None)
    with pytest.raises(runner.datasets.MissingDataError, match="lymphoma_covariance"):
        run(name)
    (tmp_path / f"{name}.json").write_text(json.dumps(kept))
    run(name)
    assert stored(name)["rows"] == kept["rows"]


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    cases = experiments()["hit_rates"].cases[:6]
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    monkeypatch.setattr(experiments()["hit_rates"], "cases", cases)
    made = row("hit_rates", cases[4]) | {"optimum": -1.0}  # marks the row that was there already
    partial = tmp_path / ".hit_rates.partial.jsonl"
    partial.write_text(json.dumps(made) + "\n")
    totals = []

    def progress(rows, total, desc):
        totals.append(total)
        return rows

    run("hit_rates", workers=2, progress=progress)
    rows = stored("hit_rates")["rows"]
    assert totals == [5]
    assert [each["seed"] for each in rows] == [case["seed"] for case in cases]
    assert [each["optimum"] == -1.0 for each in rows] == [False] * 4 + [True, False]
    assert [file.name for file in tmp_path.iterdir()] == ["hit_rates.json"]


def test_time_and_last_digits_are_set_aside():
    assert same_row({"a": 1, "seconds": 2.0}, {"a": 1, "seconds": 9.0})
    assert same_row({"a": 1, "last digits": {"go": [1.0]}}, {"a": 1, "last digits": {"go": [0.0]}})


def test_an_altered_row_is_noticed():
    first = stored("hit_rates")["rows"][0]
    assert same_row(first, first)
    assert not same_row(first, first | {"optimum": first["optimum"] * 1.001})
    assert not same_row(first, first | {"extra": 1})
    assert not same_row(first, first | {"go": first["go"] | {"same support": None}})


def test_a_missing_result_says_how_to_make_it(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    with pytest.raises(FileNotFoundError, match="experiments run hit_rates"):
        stored("hit_rates")


def test_shifted_go_is_exact_on_schemes_a_b_c():
    """The mark: the exhaustive optimum's support in 100 of 100 realisations of each."""
    rows = [r for r in stored("hit_rates")["rows"] if r["scheme"] in "ABC"]
    assert len(rows) == 300
    assert all(r["go, shifted"]["same support"] for r in rows)
