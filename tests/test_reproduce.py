"""`make reproduce` makes everything once a pass, and goes on where it was interrupted."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
import run_notebooks
import toc
from nbformat.v4 import new_output

from fspca_reproduction import __main__ as commands
from fspca_reproduction import checkout, runner

EXPERIMENTS = list(runner.experiments())
NOTEBOOKS = [run_notebooks.key(path) for path in toc.notebooks()]


@pytest.fixture
def made(tmp_path, monkeypatch):
    """What was made, in order: experiments and notebooks are named here instead of run."""
    names = []
    monkeypatch.setattr(checkout, "trees", lambda *paths: "of today")
    monkeypatch.setattr(runner, "STATE", tmp_path / "cache" / "reproduced.json")
    monkeypatch.setattr(commands, "run", lambda name, *options: names.append(name))
    monkeypatch.setattr(run_notebooks, "run", lambda path: names.append(run_notebooks.key(path)))
    monkeypatch.setattr(run_notebooks, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(run_notebooks, "attend", lambda: None)
    return names


def reproduce(monkeypatch, *options):
    monkeypatch.setattr("sys.argv", ["fspca_reproduction", "run", *options])
    commands.main()
    monkeypatch.setattr("sys.argv", ["run_notebooks.py", *options])
    run_notebooks.main()


def test_a_pass_resumes_among_the_notebooks(made, monkeypatch):
    run = run_notebooks.run
    failing = toc.notebooks()[1]
    monkeypatch.setattr(run_notebooks, "run", lambda path: "no" if path == failing else run(path))
    with pytest.raises(SystemExit, match="1 of"):
        reproduce(monkeypatch, "--resume")
    monkeypatch.setattr(run_notebooks, "run", run)
    assert sorted(made) == sorted({*EXPERIMENTS, *NOTEBOOKS} - {run_notebooks.key(failing)})
    made.clear()
    reproduce(monkeypatch, "--resume")
    assert made == [run_notebooks.key(failing)]


def test_other_code_makes_everything_again(made, monkeypatch):
    reproduce(monkeypatch, "--resume")
    made.clear()
    monkeypatch.setattr(checkout, "trees", lambda *paths: "of tomorrow")
    reproduce(monkeypatch, "--resume")
    assert sorted(made) == sorted([*EXPERIMENTS, *NOTEBOOKS])


def test_code_that_is_not_committed_is_never_the_same(made, monkeypatch):
    monkeypatch.setattr(checkout, "trees", lambda *paths: None)
    for _ in range(2):
        made.clear()
        reproduce(monkeypatch, "--resume")
        assert sorted(made) == sorted([*EXPERIMENTS, *NOTEBOOKS])


def test_only_experiments_older_than_a_commit_are_made_again(made, monkeypatch, capsys):
    name, *newer = EXPERIMENTS
    head = checkout.resolved("HEAD")
    stamps = {each: {"commit": head, "clean": True} for each in newer}
    stamps[name] = {"commit": checkout.BEFORE}
    monkeypatch.setattr(runner, "stored", lambda name: {"stamps": [stamps[name]], "made": [[0, 1]]})
    monkeypatch.setattr("sys.argv", ["fspca_reproduction", "run", "--older-than", "HEAD"])
    commands.main()
    assert made == [name]
    stamps[newer[0]]["clean"] = False  # made with files that no commit has
    commands.main()
    assert made == [name, name, newer[0]]
    monkeypatch.setattr("sys.argv", ["fspca_reproduction", "run", "--older-than", "nowhere"])
    with pytest.raises(SystemExit):
        commands.main()
    assert "'nowhere' must be a commit" in capsys.readouterr().err


def test_a_run_that_is_no_pass_leaves_no_mark(made, monkeypatch):
    reproduce(monkeypatch)
    assert not runner.STATE.exists()
    made.clear()
    reproduce(monkeypatch, "--resume")
    assert sorted(made) == sorted([*EXPERIMENTS, *NOTEBOOKS])


def test_rows_whose_data_are_not_here_are_named(made, monkeypatch, capsys):
    monkeypatch.setattr(runner.datasets, "where", lambda name: None)
    monkeypatch.setattr("sys.argv", ["fspca_reproduction", "run", "--resume", "tian2020_figure_4"])
    commands.main()
    said = capsys.readouterr().out
    assert "1 rows of lymphoma_covariance stay as they are stored" in said
    assert "`python -m fspca fetch lymphoma_covariance` fetches it" in said
    monkeypatch.setattr("sys.argv", ["fspca_reproduction", "run", "asteris2014_figure_5"])
    commands.main()
    assert "your own leukemia_armstrong_72x12582.npz goes into" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "options"), [([], []), (["OLDER_THAN=HEAD~3"], ["--older-than", "HEAD~3"])]
)
def test_a_pass_ends_when_all_of_it_is_made(asked, options):
    command = ["make", "-n", "--no-print-directory", "reproduce", *asked]
    lines = subprocess.run(command, capture_output=True, text=True, cwd=toc.ROOT).stdout
    programs = [line.rpartition(".venv/bin/python ")[2] for line in lines.splitlines()[-4:]]
    assert [line.removeprefix("rm ").split() for line in programs] == [
        ["-m", "fspca_reproduction", "run", "--resume", *options],
        ["-m", "fspca_reproduction", "ledger"],
        ["book/tools/run_notebooks.py", "--resume"],
        ["-f", str(runner.STATE.relative_to(toc.ROOT))],
    ]


def test_how_long_a_result_took_does_not_matter_to_notebooks(tmp_path, monkeypatch):
    def fingerprint(**result):
        run_notebooks.data_digest.cache_clear()
        (tmp_path / "data" / "hit_rates.json").write_text(json.dumps(result))
        return run_notebooks.data_digest()

    for folder in ("data", "fspca/datasets/raw"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(run_notebooks, "ROOT", tmp_path)
    first = fingerprint(seconds=1, rows=[{"k": 3, "seconds": {"go": 1}}])
    assert fingerprint(seconds=2, rows=[{"k": 3, "seconds": {"go": 5}}]) == first
    (tmp_path / "data" / ".hit_rates.partial.jsonl").write_text("{}")
    assert fingerprint(seconds=2, rows=[{"k": 3, "seconds": {"go": 5}}]) == first
    assert fingerprint(seconds=1, rows=[{"k": 4, "seconds": {"go": 1}}]) != first
    run_notebooks.data_digest.cache_clear()


def test_pieces_of_a_stream_are_joined():
    def piece(text, name="stdout"):
        return new_output("stream", name=name, text=text)

    shown = new_output("display_data", data={"text/plain": "1"})
    outputs = [piece("a"), piece("b"), piece("c", "stderr"), shown, piece("d"), piece("e")]
    assert run_notebooks.joined(outputs) == [piece("ab"), piece("c", "stderr"), shown, piece("de")]


@pytest.mark.parametrize("name", ["go", "book/shared_support/go.ipynb"])
def test_a_chapter_goes_by_its_name_or_its_path(name):
    assert run_notebooks.chapter(name) == toc.ROOT / "book" / "shared_support" / "go.ipynb"


@pytest.mark.parametrize("name", ["gone", "book/gone.ipynb", "book", "Makefile"])
def test_an_unknown_chapter_is_answered_with_those_there_are(name):
    with pytest.raises(SystemExit, match=f"no notebook '{name}'; the chapters are .*go, ipu"):
        run_notebooks.chapter(name)
