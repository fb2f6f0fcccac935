"""The command line: a table in, names out, a sentence for what is wrong, codes for scripts."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_wine

from fspca import Covariance, solve
from fspca.__main__ import main


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    file = tmp_path_factory.mktemp("table") / "wine.csv"
    load_wine(as_frame=True).data.to_csv(file, index=False)
    return file


def run(capsys, *arguments):
    """Return (exit code, what was printed, what was said on standard error)."""
    try:
        code = main([str(each) for each in arguments]) or 0
    except SystemExit as end:
        code = end.code or 0
    return code, *capsys.readouterr()


def test_features_by_name_with_their_loadings(wine, capsys):
    code, printed, said = run(capsys, "select", wine, "-m", 2, "-k", 4, "--scale", "--json")
    assert (code, said) == (0, "fspca: wine.csv: 178 samples of 13 features, names in line 1\n")
    found = json.loads(printed)
    assert found["table"] == {"read": said[7:-1], "left_out": {}}
    A = Covariance.from_data(np.asfortranarray(load_wine().data), standardize=True)  # as it is read
    solution = solve(A, 2, 4)
    names = load_wine().feature_names
    assert found["features"] == [names[j] for j in solution.support]
    np.testing.assert_allclose(found["loadings"], solution.W[solution.support])
    assert found["explained_variance_ratio"] == solution.objective / A.trace
    code, printed, _ = run(capsys, "select", wine, "-m", 2, "-k", 4, "--scale")
    assert code == 0
    assert all(names[j] in printed for j in solution.support)


def test_the_fewest_that_explain_a_share(wine, capsys):
    _, printed, _ = run(capsys, "select", wine, "-m", 2, "--explain", 0.4, "--scale", "--json")
    assert json.loads(printed)["explained_variance_ratio"] >= 0.4
    code, _, said = run(capsys, "select", wine, "-m", 2, "--explain", 0.99, "--scale")
    assert code == 1
    assert "cannot be had: m=2 components of all features" in said


def test_features_that_must_and_must_not_be_in(wine, capsys):
    given = ["--required", "ash,malic_acid", "--forbidden", "proline,0"]
    _, printed, _ = run(capsys, "select", wine, "-k", 4, "--scale", "--json", *given)
    found = set(json.loads(printed)["features"])
    assert {"ash", "malic_acid"} <= found
    assert not found & {"proline", "alcohol"}
    code, _, said = run(capsys, "select", wine, "-k", 4, "--required", "colour")
    assert (code, "'colour' is the name of no column" in said) == (1, True)


def test_a_unit_that_decides_is_told(wine, capsys):
    code, _, said = run(capsys, "select", wine, "-k", 4)
    assert code == 0
    assert "'proline' alone carries 99.8 %" in said


def test_a_path_and_its_picture(wine, capsys, tmp_path):
    picture = tmp_path / "path.svg"
    given = ["path", wine, "-k", "2,5,13", "--scale", "--plot", picture]
    code, printed, _ = run(capsys, *given)
    assert code == 0
    assert [line.split()[0] for line in printed.splitlines()] == ["k", "2", "5", "13"]
    assert picture.read_text().lstrip().startswith("<?xml")
    rows = json.loads(run(capsys, *given, "--json")[1])
    assert [row["k"] for row in rows] == [2, 5, 13]
    assert all(row["explained_variance_ratio"] <= row["upper_bound_ratio"] for row in rows)


def test_output_is_written_whole(wine, capsys, tmp_path):
    file = tmp_path / "answer.json"
    assert run(capsys, "select", wine, "-k", 3, "--json", "--output", file)[0] == 0
    assert len(json.loads(file.read_text())["features"]) == 3
    assert [each.name for each in tmp_path.iterdir()] == ["answer.json"]


def test_output_goes_through_links_and_into_pipes(wine, capsys, tmp_path):
    """A pipe or a device, /dev/null say, is not replaced by a file."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    assert run(capsys, "datasets", "--output", pipe)[0] == 0
    assert b"pitprops" in os.read(reader, 100)
    os.close(reader)
    assert pipe.is_fifo()
    link.symlink_to("target")
    assert run(capsys, "datasets", "--output", link)[0] == 0
    assert link.is_symlink()
    assert "pitprops" in (tmp_path / "target").read_text()
    assert run(capsys, "select", wine, "-k", 3, "--plot", tmp_path / "a.odd")[0] == 1
    assert {each.name for each in tmp_path.iterdir()} == {"pipe", "link", "target"}


def test_names_cannot_steer_the_terminal_and_are_not_confused(capsys, tmp_path):
    file = tmp_path / "odd.csv"
    file.write_text("\x1b[2J,b,b\n1,2,1\n3,5,4\n2,2,9\n")
    code, printed, _ = run(capsys, "select", file, "-m", 1, "-k", 3)
    assert (code, "\x1b" in printed, r"\x1b[2J" in printed) == (0, False, True)
    code, _, said = run(capsys, "select", file, "-m", 1, "-k", 2, "--required", "b")
    assert (code, "'b' is the name of several columns" in said) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["select", "absent.csv", "-k", 2], "absent.csv: there is no such file"),
        (["select", "WINE", "-k", 99], "k=99 must lie between m=2 and d=13"),
        (["select", "WINE", "-k", 1], "k=1 must lie between m=2 and d=13"),
        (["select", "WINE", "-k", 3, "--seed", "-1"], "seed=-1"),
        (["select", "WINE", "-k", 3, "--output", "/absent/file"], "No such file"),
        (["path", "WINE", "-k", "2,x"], "-k 2,x must be whole numbers"),
        (["check", "absent.npz"], "absent.npz"),
    ],
)
def test_what_is_wrong_is_one_line_and_code_one(wine, capsys, arguments, said):
    code, printed, told = run(capsys, *[wine if each == "WINE" else each for each in arguments])
    assert code == 1
    assert said in told + printed
    assert "Traceback" not in told


def test_it_runs_as_a_module_and_a_wrong_call_is_code_two():
    for arguments, code in ((["datasets"], 0), (["select"], 2), (["nothing"], 2)):
        done = subprocess.run([sys.executable, "-m", "fspca", *arguments], capture_output=True)
        assert done.returncode == code
