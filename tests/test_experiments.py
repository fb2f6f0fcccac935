"""Stored results: complete, made by the command they name, and made again here in part."""

import json

import pytest
import threadpoolctl

from fspca_reproduction import __main__ as commands
from fspca_reproduction import runner
from fspca_reproduction.runner import experiments, lacks_data, row, run, same_row, sources, stored


@pytest.mark.parametrize("name", experiments())
def test_stored_result_has_every_case_once_and_in_order(name):
    result, cases = stored(name), experiments()[name].cases
    assert result["command"] == f"python -m fspca_reproduction run {name}"
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
    partial.write_text("".join(json.dumps(x) + "\n" for x in ({"sources": sources()}, made)))
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


@pytest.mark.parametrize("first", [[{"sources": "of yesterday"}], []])
def test_rows_that_other_code_made_are_not_kept(first, tmp_path, monkeypatch, capsys):
    cases = experiments()["hit_rates"].cases[:2]
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    monkeypatch.setattr(experiments()["hit_rates"], "cases", cases)
    lines = [*first, *(row("hit_rates", case) | {"optimum": -1.0} for case in cases)]
    partial = tmp_path / ".hit_rates.partial.jsonl"
    partial.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run("hit_rates", workers=1)
    assert all(each["optimum"] > 0 for each in stored("hit_rates")["rows"])
    assert "starts afresh" in capsys.readouterr().out


def test_an_experiment_that_measures_time_has_the_machine_to_itself(tmp_path, monkeypatch):
    pool, asked = runner.pool, []
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    monkeypatch.setattr(runner, "pool", lambda workers: asked.append(workers) or pool(workers))
    monkeypatch.setattr(experiments()["ipu_cost"], "cases", experiments()["ipu_cost"].cases[:1])
    run("ipu_cost", workers=2)
    assert asked == [1]


def test_workers_compute_with_one_thread(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with runner.pool(1) as pool:
        assert set(pool.submit(threads).result()) == {1}


def threads():
    """Return how many threads each library of this process may use; numpy is loaded here."""
    return [library["num_threads"] for library in threadpoolctl.threadpool_info()]


def test_an_interrupted_command_ends_with_a_sentence(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "run", interrupted)
    monkeypatch.setattr("sys.argv", ["experiments", "run", "hit_rates"])
    with pytest.raises(SystemExit, match="kept, and the next run of hit_rates goes on"):
        commands.main()


def test_without_a_checkout_nothing_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    monkeypatch.setattr(runner, "RESULTS", tmp_path / "data" / "results")
    with pytest.raises(FileNotFoundError, match="need a checkout"):
        run("hit_rates")
    monkeypatch.setattr("sys.argv", ["experiments", "run"])
    with pytest.raises(SystemExit):
        commands.main()
    assert "need a checkout" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_altered_row_is_noticed():
    first = stored("hit_rates")["rows"][0]
    assert same_row(first, first)
    assert not same_row(first, first | {"optimum": first["optimum"] * 1.001})
    assert not same_row(first, first | {"extra": 1})
    assert not same_row(first, first | {"go": first["go"] | {"same support": None}})


def test_a_missing_result_says_how_to_make_it(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    with pytest.raises(FileNotFoundError, match="fspca_reproduction run hit_rates"):
        stored("hit_rates")


def test_shifted_go_is_exact_on_schemes_a_b_c():
    """The mark: the exhaustive optimum's support in 100 of 100 realisations of each."""
    rows = [r for r in stored("hit_rates")["rows"] if r["scheme"] in "ABC"]
    assert len(rows) == 300
    assert all(r["go, shifted"]["same support"] for r in rows)
