"""Stored results: complete, made by the command they name, and made again here in part."""

import json
import signal
import subprocess
import sys
import time

import pytest
import threadpoolctl

from fspca_reproduction import __main__ as commands
from fspca_reproduction import results, runner
from fspca_reproduction.results import same_row, stored
from fspca_reproduction.runner import code_of, experiments, place, row, run, sets_of, stamps

MINUTE = 60


@pytest.mark.parametrize("name", experiments())
def test_stored_result_has_every_case_once_and_in_order(name):
    result, cases = stored(name), experiments()[name].cases
    assert result["command"] == f"python -m fspca_reproduction run {name}"
    assert [{key: each[key] for key in cases[0]} for each in result["rows"]] == list(cases)


@pytest.mark.parametrize("name", experiments())
def test_every_row_says_which_code_made_it(name):
    result = stored(name)
    assert len(stamps(result)) == len(result["rows"])
    for stamp in result["stamps"]:
        assert stamp["code"] == "version 0.1" or len(stamp["code"]) == 16
        assert stamp["versions"].keys() == {"python", "numpy", "scipy"}
    assert result["seconds"] == pytest.approx(sum(s["seconds"] for s in result["stamps"]), rel=1e-5)


def sampled():
    """Yield four rows of each experiment, spread evenly, and whether they are made by night.

    The first and the last are made by day; where a row takes a minute, only the first is.
    There is one row of those that measure time.
    """
    for name, function in experiments().items():
        last = len(function.cases) - 1
        shares = (0.0,) if function.alone else (0.0, 0.37, 0.71, 1.0)
        long = stored(name)["seconds"] > MINUTE * len(function.cases)
        for i in sorted({round(share * last) for share in shares}):
            yield name, i, i > 0 and (long or i < last)


def opened(name, i):
    return pytest.mark.needs_data(*sets_of(name, experiments()[name].cases[i]))


SAMPLED = [
    pytest.param(name, i, marks=[opened(name, i), *[pytest.mark.nightly] * late])
    for name, i, late in sampled()
]


@pytest.mark.parametrize(("name", "i"), SAMPLED)
def test_the_command_still_makes_its_rows(name, i):
    assert same_row(stored(name)["rows"][i], row(name, experiments()[name].cases[i]))


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Results go to an empty folder."""
    monkeypatch.setattr(results, "DATA", tmp_path)
    (tmp_path / "results").mkdir()
    return tmp_path / "results"


def few(monkeypatch, name, count):
    cases = experiments()[name].cases[:count]
    monkeypatch.setattr(experiments()[name], "cases", cases)
    return cases


def begin(folder, name, rows, code=None):
    """Leave what an interrupted run leaves: a line for each row, of a second each."""
    keys = experiments()[name].cases[0]
    cases = [{key: each[key] for key in keys} for each in rows]
    lines = [
        {"place": place(case), "code": code or code_of(name, case), "versions": {"numpy": "1"},
         "seconds": 1.0, "row": each} for case, each in zip(cases, rows, strict=True)
    ]  # fmt: skip
    partial = folder / f".{name}.partial.jsonl"
    partial.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_rows_of_data_that_is_not_here_keep_their_stamp(elsewhere, monkeypatch):
    name, kept = "tian2020_figure_4", dict(stored_elsewhere("tian2020_figure_4"))
    monkeypatch.setattr(runner.datasets, "where", lambda name: None)
    with pytest.raises(runner.datasets.MissingDataError, match="lymphoma_covariance"):
        run(name)
    (elsewhere / f"{name}.json").write_text(json.dumps(kept))
    run(name)
    assert stored(name) == kept


def stored_elsewhere(name):
    return json.loads((results.ROOT / "data" / "results" / f"{name}.json").read_text())


def test_an_interrupted_run_goes_on_and_its_seconds_add_up(elsewhere, monkeypatch):
    cases = few(monkeypatch, "hit_rates", 6)
    made = row("hit_rates", cases[4]) | {"optimum": -1.0}  # marks the row that was there already
    begin(elsewhere, "hit_rates", [made])
    totals = []

    def progress(rows, total, desc):
        totals.append(total)
        return rows

    run("hit_rates", workers=2, progress=progress)
    result = stored("hit_rates")
    assert totals == [5]
    assert [each["seed"] for each in result["rows"]] == [case["seed"] for case in cases]
    assert [each["optimum"] == -1.0 for each in result["rows"]] == [False] * 4 + [True, False]
    assert [stamp["versions"] == {"numpy": "1"} for stamp in stamps(result)] == [False] * 4 + [
        True, False]  # fmt: skip
    assert result["seconds"] > 1
    assert {file.name for file in elsewhere.iterdir()} == {"hit_rates.json", ".hit_rates.lock"}


def test_rows_that_other_code_made_are_made_again(elsewhere, monkeypatch, capsys):
    cases = few(monkeypatch, "hit_rates", 2)
    rows = [row("hit_rates", case) | {"optimum": -1.0} for case in cases]
    begin(elsewhere, "hit_rates", rows, code="of yesterday")
    run("hit_rates", workers=1)
    assert all(each["optimum"] > 0 for each in stored("hit_rates")["rows"])
    assert "2 of its rows are made again" in capsys.readouterr().out


def test_what_changed_is_made_again_and_no_more(elsewhere, monkeypatch):
    few(monkeypatch, "hit_rates", 4)
    run("hit_rates", workers=1)
    result = stored("hit_rates")
    assert runner.is_current("hit_rates")
    result["rows"] = [each | {"optimum": -1.0} for each in result["rows"]]  # marks what was there
    result["stamps"].append(result["stamps"][0] | {"code": "of yesterday"})
    result["made"] = [[0, 1], [1, 1], [0, 2]]
    (elsewhere / "hit_rates.json").write_text(json.dumps(result))
    assert not runner.is_current("hit_rates")
    run("hit_rates", workers=1, changed=True)
    optima = [each["optimum"] for each in stored("hit_rates")["rows"]]
    assert [value == -1.0 for value in optima] == [True, False, True, True]
    assert runner.is_current("hit_rates")


def test_a_second_run_is_refused_until_the_first_is_dead(elsewhere, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["fspca_reproduction", "run", "hit_rates"])
    lock = elsewhere / ".hit_rates.lock"
    hold = "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
    hold += "print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", hold, lock], stdout=subprocess.PIPE) as first:
        assert first.stdout.readline() == b"held\n"
        with pytest.raises(SystemExit):
            commands.main()
        assert "another process is running hit_rates" in capsys.readouterr().err
        first.kill()
    with runner.only_run("hit_rates"):
        pass


PARENT = """
import os, time
from fspca_reproduction import runner
if __name__ == "__main__":
    pool = runner.pool(2)
    print(*{pool.submit(os.getpid).result() for _ in range(20)}, flush=True)
    for _ in range(2):
        pool.submit(time.sleep, 60)
    time.sleep(60)
"""


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    """Whatever reads the parent's output sees its end at once: no worker holds it open."""
    (tmp_path / "parent.py").write_text(PARENT)
    command = [sys.executable, tmp_path / "parent.py"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **pipes) as parent:
        assert parent.stdout.readline().split()  # the workers' numbers: they are there
        parent.send_signal(signal.SIGKILL)
        began = time.monotonic()
        parent.stdout.read()  # to its end, when every process that could write has ended
        assert time.monotonic() - began < 10  # they would sleep for a minute


def test_time_and_last_digits_are_set_aside():
    assert same_row({"a": 1, "seconds": 2.0}, {"a": 1, "seconds": 9.0})
    assert same_row({"a": 1, "last digits": {"go": [1.0]}}, {"a": 1, "last digits": {"go": [0.0]}})


def test_an_experiment_that_measures_time_has_the_machine_to_itself(elsewhere, monkeypatch):
    pool, asked = runner.pool, []
    monkeypatch.setattr(runner, "pool", lambda workers: asked.append(workers) or pool(workers))
    few(monkeypatch, "ipu_cost", 1)
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
    monkeypatch.setattr("sys.argv", ["fspca_reproduction", "run", "hit_rates"])
    with pytest.raises(SystemExit, match="kept, and the next run of hit_rates goes on"):
        commands.main()


@pytest.mark.parametrize("command", ["run", "ledger"])
def test_without_a_checkout_nothing_is_written(command, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.setattr(results, "DATA", tmp_path / "data")
    with pytest.raises(FileNotFoundError, match="in a checkout"):
        run("hit_rates")
    monkeypatch.setattr("sys.argv", ["fspca_reproduction", command])
    with pytest.raises(SystemExit):
        commands.main()
    assert "in a checkout of the project" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_altered_row_is_noticed():
    first = stored("hit_rates")["rows"][0]
    assert same_row(first, first)
    assert not same_row(first, first | {"optimum": first["optimum"] * 1.001})
    assert not same_row(first, first | {"extra": 1})
    assert not same_row(first, first | {"go": first["go"] | {"same support": None}})


def test_a_missing_result_says_how_to_make_it(elsewhere):
    with pytest.raises(FileNotFoundError, match="fspca_reproduction run hit_rates"):
        stored("hit_rates")


def test_shifted_go_is_exact_on_schemes_a_b_c():
    """The mark: the exhaustive optimum's support in 100 of 100 realisations of each."""
    rows = [r for r in stored("hit_rates")["rows"] if r["scheme"] in "ABC"]
    assert len(rows) == 300
    assert all(r["go, shifted"]["same support"] for r in rows)
