"""Stored results: complete, made by the command they name, and made again here in part."""

import json
import random
import signal
import subprocess
import sys
import time
from functools import cache

import pytest
import threadpoolctl

from fspca_reproduction import __main__ as commands
from fspca_reproduction import checkout, results, runner
from fspca_reproduction.results import same_row, stored
from fspca_reproduction.runner import experiments, place, row, run, sets_of, stamps

BUDGET = 240  # seconds by the clock of those who made the rows: two minutes on two cores
MOST = 4  # rows of an experiment, of one that measures time a single one


@pytest.mark.parametrize("name", experiments())
def test_stored_result_has_every_case_once_and_in_order(name):
    result, cases = stored(name), experiments()[name].cases
    assert result["command"] == f"python -m fspca_reproduction run {name}"
    assert [{key: each[key] for key in cases[0]} for each in result["rows"]] == list(cases)


@pytest.mark.parametrize("name", experiments())
def test_every_row_says_which_commit_made_it(name):
    result = stored(name)
    assert len(stamps(result)) == len(result["rows"])
    for stamp in result["stamps"]:
        assert stamp["commit"] == checkout.BEFORE or {"clean", "date"} <= stamp.keys()
        assert stamp["versions"].keys() == {"python", "numpy", "scipy"}
    assert result["seconds"] == pytest.approx(sum(s["seconds"] for s in result["stamps"]), rel=1e-5)


def drawn(commit):
    """Return some rows of each experiment, drawn by a commit: (name, turn, row), cheap ones first.

    The second row of an experiment comes where one of twice its cost would, so that a budget meets
    more experiments.
    """
    found = []
    for name, function in experiments().items():
        count = len(function.cases)
        order = random.Random(f"{commit} {name}").sample(range(count), min(count, MOST))
        for turn, i in enumerate(order[:1] if function.alone else order):
            found.append(((turn + 1) * cost(name, i), name, turn, i))
    return [(name, turn, i) for _, name, turn, i in sorted(found)]


def cost(name, i):
    """Return the seconds that a stored row took: its share of all, or more where it says so."""
    result = read_once(name)
    return max(result["seconds"] / len(result["rows"]), total(result["rows"][i].get("seconds", 0)))


read_once = cache(stored)


def total(seconds):
    return sum(map(total, seconds.values())) if isinstance(seconds, dict) else seconds or 0


def within(budget, rows):
    """Return how many rows from the first on are made within so many seconds."""
    spent = 0.0
    for count, (name, _, i) in enumerate(rows):
        spent += cost(name, i)
        if spent > budget:
            return count
    return len(rows)


def opened(name, i):
    """The mark that names the sets which a row opens."""
    return pytest.mark.needs_data(*sets_of(name, experiments()[name].cases[i]))


ROWS = drawn(checkout.commit() or "no checkout")
BY_DAY = within(BUDGET, ROWS)
SAMPLED = [
    pytest.param(
        name,
        i,
        id=f"{name}-{turn}",
        marks=[opened(name, i), *[pytest.mark.nightly] * (at >= BY_DAY)],
    )
    for at, (name, turn, i) in enumerate(ROWS)
]


@pytest.mark.parametrize(("name", "i"), SAMPLED)
def test_the_command_still_makes_its_rows(name, i):
    assert same_row(stored(name)["rows"][i], row(name, experiments()[name].cases[i])), (
        f"row {i} of {name} is not what its command makes; to see both: python -m "
        f"fspca_reproduction check {name} --row {i}; to store all of it anew: run {name}"
    )


def test_the_sample_hangs_on_the_commit_alone():
    assert drawn("a") == drawn("a")
    assert {(name, i) for name, _, i in drawn("a")} != {(name, i) for name, _, i in drawn("b")}
    assert {name for name, _, _ in drawn("a")} == set(experiments())
    name, count = "asteris2014_digits", len(experiments()["asteris2014_digits"].cases)
    every = {i for n in range(60) for each, _, i in drawn(str(n)) if each == name}
    assert every == set(range(count))  # in time each row has its turn


def test_a_budget_of_seconds_is_kept():
    for budget in (0, 10, BUDGET):
        made = ROWS[: within(budget, ROWS)]
        assert sum(cost(name, i) for name, _, i in made) <= budget
    assert 0 < BY_DAY < len(ROWS)
    assert within(float("inf"), ROWS) == len(ROWS)


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


def begin(folder, name, rows, trees):
    """Leave what an interrupted run leaves: a line for each row, of a second each."""
    keys = experiments()[name].cases[0]
    stamp = {"commit": "abc", "clean": True, "date": "2026-01-01", "versions": {"numpy": "1"}}
    lines = [
        {"place": place({key: each[key] for key in keys}), "trees": trees, "stamp": stamp,
         "seconds": 1.0, "row": each} for each in rows
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
    monkeypatch.setattr(checkout, "trees", lambda: "of today")
    begin(elsewhere, "hit_rates", [made], "of today")
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


@pytest.mark.parametrize("today", ["of today", None])
def test_rows_that_other_code_made_are_made_again(elsewhere, monkeypatch, capsys, today):
    """Code that is not committed is other code too."""
    monkeypatch.setattr(checkout, "trees", lambda: today)
    cases = few(monkeypatch, "hit_rates", 2)
    rows = [row("hit_rates", case) | {"optimum": -1.0} for case in cases]
    begin(elsewhere, "hit_rates", rows, "of yesterday" if today else "not committed")
    run("hit_rates", workers=1)
    assert all(each["optimum"] > 0 for each in stored("hit_rates")["rows"])
    assert "2 of its rows are made again" in capsys.readouterr().out


def test_a_row_says_the_commit_the_day_and_the_versions(elsewhere, monkeypatch):
    few(monkeypatch, "hit_rates", 2)
    run("hit_rates", workers=1)
    (stamp,) = stored("hit_rates")["stamps"]
    assert stamp["commit"] == (checkout.commit() or "no checkout")
    assert stamp["clean"] == checkout.is_clean()
    assert stamp["date"][:2] == "20"
    assert runner.is_older("hit_rates", "no such commit")


def test_a_result_says_when_it_was_made_whole():
    old, new = {"commit": checkout.BEFORE}, {"commit": "abc", "clean": False, "date": "2026-12-01"}
    result = {"stamps": [new, old], "made": [[0, 2], [1, 3], [0, 1]]}
    assert runner.makers(result) == [("", checkout.BEFORE, 3), ("2026-12-01", "abc+", 3)]
    assert runner.making(result) == "3 rows made before 0.3; 3 rows made by abc+ on 2026-12-01"


def test_one_row_is_made_again_and_compared(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["fspca_reproduction", "check", "hit_rates", "--row", "3"])
    commands.main()
    assert "1 of 600 rows made again, all the same" in capsys.readouterr().out
    other = stored("hit_rates")
    other["rows"][3] |= {"optimum": -1.0}
    monkeypatch.setattr(commands, "stored", lambda name: other)
    with pytest.raises(SystemExit, match="row 3 is stored as"):
        commands.main()
    monkeypatch.setattr("sys.argv", ["fspca_reproduction", "check", "hit_rates", "--row", "600"])
    with pytest.raises(SystemExit):
        commands.main()
    assert "--row 600 must be one of the 600 rows" in capsys.readouterr().err


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
    few(monkeypatch, "proven_schemes", 1)
    run("proven_schemes", workers=2)
    assert asked == [1]


def test_workers_compute_with_one_thread(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with runner.pool(1) as pool:
        assert set(pool.submit(threads).result()) == {1}


def threads():
    """Return how many threads each library of this process may use; numpy is loaded here."""
    return [library["num_threads"] for library in threadpoolctl.threadpool_info()]


@pytest.mark.parametrize(
    ("trees", "said"),
    [
        ("as committed", "kept, and the next run of hit_rates goes on"),
        (None, "begins anew, since files of the code are not committed"),
    ],
)
def test_an_interrupted_command_ends_with_a_sentence(monkeypatch, trees, said):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "run", interrupted)
    monkeypatch.setattr("sys.argv", ["fspca_reproduction", "run", "hit_rates"])
    monkeypatch.setattr(checkout, "trees", lambda: trees)
    with pytest.raises(SystemExit, match=said):
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
