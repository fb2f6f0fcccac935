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


@pytest.mark.parametrize("name", experiments())
@pytest.mark.parametrize("part", [0.0, 0.37, 0.71, 1.0])
def test_the_command_still_makes_its_rows(name, part):
    cases = experiments()[name].cases
    i = round(part * (len(cases) - 1))
    if lacks_data(cases[i]):
        pytest.skip(f"{cases[i]['set']} is not here: row {i} of {name} was not made again")
    if experiments()[name].alone and part > 0:
        pytest.skip(f"{name} measures time: its first row was made again, the others were not")
    assert same_row(stored(name)["rows"][i], row(name, cases[i]))


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
