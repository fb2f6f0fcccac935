"""The command line: a table in, names out, a sentence for what is wrong, codes for scripts."""

import base64
import html
import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
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
    code, _, said = run(capsys, "select", wine, "-k", 4, "--required", "Colour_intensity")
    assert (code, "the name of no column; near it are 'color_intensity'" in said) == (1, True)


def test_a_unit_that_decides_is_told(wine, capsys):
    code, _, said = run(capsys, "select", wine, "-k", 4)
    assert code == 0
    assert "'proline' alone carries 99.8 %" in said


def test_a_row_that_decides_is_told(tmp_path, capsys):
    X = np.random.default_rng(0).standard_normal((40, 6))
    X[7, :2] = 25.0
    np.savetxt(tmp_path / "heavy.csv", X, delimiter=",")
    main(["select", str(tmp_path / "heavy.csv"), "-m", "1", "-k", "2", "--scale"])
    assert "row 7 alone carries" in capsys.readouterr().err
    main(["select", str(tmp_path / "heavy.csv"), "-m", "1", "-k", "2"])
    assert "row 7 alone carries" not in capsys.readouterr().err


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
    code, printed, _ = run(capsys, "select", file, "-m", 1, "-k", 1)
    assert printed.splitlines()[2].startswith("b (column 2)")


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


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """A table as clinics have it: ids, dates, words, gaps, weights, a name with a comma."""
    rng = np.random.default_rng(0)
    n, base = 80, rng.standard_normal((80, 2))
    X = base @ rng.standard_normal((2, 6)) + 0.3 * rng.standard_normal((80, 6))
    frame = pd.DataFrame(X, columns=["height", "weight, kg", "BMI", "a", "b", "c"])
    frame.loc[3:9, "BMI"] = np.nan
    frame.insert(0, "patient_id", rng.permutation(9000)[:n] + 1000)
    frame.insert(1, "visit", pd.date_range("2024-01-01", periods=n).astype(str))
    frame["smoker"] = ["yes", "no"] * (n // 2)
    frame["w"] = rng.integers(0, 3, n)
    file = tmp_path_factory.mktemp("clinic") / "clinic.csv"
    frame.to_csv(file, index=False, encoding="utf-8-sig", quoting=1)
    return file


def test_what_is_left_out_is_said_in_one_line(clinic, capsys):
    given = ["select", clinic, "-k", 3, "--drop", "w", "--missing", "em"]
    code, printed, said = run(capsys, *given)
    assert code == 0
    assert said.count("\n") == 1
    for name, reason in (("patient_id", "ids"), ("visit", "dates"), ("smoker", "truth values")):
        assert f"{name!r} ({reason}" in said
    assert "7 of 480 values missing" in said
    assert "estimated by EM under normality (1.46 % of the values are missing)" in printed
    found = json.loads(run(capsys, *given, "--json")[1])
    assert found["table"]["left_out"]["visit"] == "dates"
    kept = run(capsys, *given, "--keep", "smoker,patient_id", "--json", "--scale")
    assert set(json.loads(kept[1])["table"]["left_out"]) == {"visit", "w"}


def test_missing_values_are_refused_in_the_command_lines_words(clinic, capsys):
    code, _, said = run(capsys, "select", clinic, "-k", 3)
    assert code == 1
    assert "8.8 % in column 'BMI'" in said
    for way in ("drop", "mean", "em"):
        assert f"--missing {way} " in said
        assert run(capsys, "select", clinic, "-k", 3, "--missing", way)[0] == 0


def test_features_whose_names_have_commas_and_those_left_out(clinic, capsys):
    given = ["select", clinic, "-k", 3, "--missing", "mean", "--json"]
    _, printed, _ = run(capsys, *given, "--required", "weight, kg,BMI", "--forbidden", "visit,2")
    found = json.loads(printed)["features"]
    assert {"weight, kg", "BMI"} <= set(found)
    assert "height" not in found  # number 2 in the file
    code, _, said = run(capsys, *given, "--required", "visit")
    assert (code, "'visit' was left out (dates); --keep takes it in" in said) == (1, True)
    code, _, said = run(capsys, *given, "--keep", "visit")
    assert (code, "column 2 ('visit'): holds dates" in said) == (1, True)


@pytest.mark.parametrize("missing", ["drop", "mean", "em"])
def test_weights_and_missing_values_go_into_a_proof_and_back(clinic, capsys, tmp_path, missing):
    proof = tmp_path / "proof.npz"
    given = ["--weights", "w"]
    asked = ["select", clinic, "-k", 3, "--missing", missing, "--proof", proof, *given]
    code, printed, said = run(capsys, *asked)
    assert code == 0
    assert "with weights of samples" in printed
    assert "'w' (weights of the rows)" in said
    code, printed, _ = run(capsys, "check", proof, "--data", clinic, *given)
    assert (code, "holds" in printed) == (0, True)
    code, _, said = run(capsys, "check", proof, "--data", clinic)
    assert (code, "or was read with other options" in said) == (1, True)


def test_a_proof_takes_the_options_of_its_choice_and_refuses_others(clinic, capsys, tmp_path):
    proof, plain = tmp_path / "proof.npz", tmp_path / "plain.npz"
    given = ["--missing", "em", "--scale"]
    assert run(capsys, "select", clinic, "-k", 3, "--proof", proof, *given)[0] == 0
    assert run(capsys, "select", clinic, "-k", 3, "--proof", plain, "--missing", "drop")[0] == 0
    assert run(capsys, "check", proof, "--data", clinic, *given)[0] == 0
    assert run(capsys, "check", plain, "--data", clinic, "--missing", "drop")[0] == 0
    code, _, said = run(capsys, "check", proof, "--data", clinic, "--missing", "mean")
    assert (code, "--missing mean: the claim is of a table with --missing em" in said) == (1, True)
    code, _, said = run(capsys, "check", plain, "--data", clinic, "--scale")
    assert (code, "--scale: the claim is of a covariance that is not" in said) == (1, True)


def test_the_command_that_a_report_shows_reads_the_table_as_the_choice_did(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((30, 4)), columns=["a b", "c", "d", "w"])
    frame["w"] = rng.integers(1, 3, 30)
    frame = frame.astype(object)
    frame.loc[3, "c"], frame.loc[5, "a b"] = "-9", "k. A."
    frame.to_csv("t.csv", index=False, header=True, sep="|", decimal=",")
    code, _, told = run(capsys, "select", "t.csv", "-k", 2, "--missing", "em", "--na", "-9,k. A.",
                        "--weights", "w", "--drop", "d", "--header", "--separator", "|",
                        "--report", "panel.html")  # fmt: skip
    assert code == 0, told
    page = html.unescape((tmp_path / "panel.html").read_text())
    (link,) = re.findall(r'<a [^>]*download="claim\.npz"[^>]*>', page)
    content = link.partition("base64,")[2].partition('"')[0]
    (tmp_path / "claim.npz").write_bytes(base64.b64decode(content))
    (shown,) = re.findall(r"<code>fspca (check .*? --data .*?)</code>", page)
    code, printed, told = run(capsys, *shlex.split(shown))
    assert (code, "holds" in printed) == (0, True), told


def test_an_option_that_is_given_again_adds_to_what_it_said(capsys, tmp_path):
    """None of several is lost in silence, and a value may begin with a minus."""
    file, rng = tmp_path / "codes.csv", np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((30, 4)), columns=list("abcd"))
    frame.loc[3, "a"], frame.loc[5, "b"] = -999, np.inf
    frame.to_csv(file, index=False)
    ask = ["select", file, "-k", 2, "--missing", "mean"]
    for given in (["--na", "-999", "--na", "inf"], ["--na", "-999,inf"], ["--na=-999,inf"]):
        code, _, said = run(capsys, *ask, *given)
        assert (code, "2 of 120 values missing" in said) == (0, True)
    code, _, said = run(capsys, *ask, "--na", "inf")  # which says nothing of -999
    assert (code, "say --na inf,-999, or --keep a if it is a value" in said) == (1, True)
    code, printed, said = run(capsys, *ask, "--na", "inf", "--keep", "a")
    assert (code, "1 of 120 values missing" in said) == (0, True)
    _, _, said = run(capsys, *ask, "--drop", "a", "--drop", "b")
    assert "'a' (told to be left out), 'b' (told to be left out)" in said
    _, printed, _ = run(capsys, *ask, "--na", "-999,inf", "--required", "c", "--required", "d")
    assert [line.split()[0] for line in printed.splitlines()[-2:]] == ["c", "d"]


def test_what_is_taken_away_says_which_sample_a_row_is(clinic, capsys, tmp_path):
    """Where rows are left out and none has a name, each has its number; a gap is an empty cell."""
    scores, reduced = tmp_path / "scores.csv", tmp_path / "reduced.csv"
    run(capsys, "select", clinic, "-k", 3, "--required", "BMI", "--missing", "drop", "--scores",
        scores, "--reduced", reduced)  # fmt: skip
    assert pd.read_csv(scores)["sample"].tolist() == [*range(1, 4), *range(11, 81)]
    assert ",," in reduced.read_text() or "\n," in reduced.read_text()
    assert "nan" not in reduced.read_text()
    run(capsys, "select", clinic, "-k", 3, "--missing", "mean", "--scores", scores)
    assert "sample" not in pd.read_csv(scores)


@pytest.mark.parametrize(
    ("content", "given", "said"),
    [
        ("2001,2005\n3,9\n7,2\n", [], "line 1, '2001, 2005', .*: say --header or --no-header"),
        ("a,b\n1,2\n5,x\n7,9\n", [], r"line 3, column 2 \('b'\): 'x' .*--na x .*--drop b leaves"),
        ("a;b\n1.234;2\n5.100;3\n", [], "'1.234'.*: say --decimal . or --decimal ,"),
        ("a,b\n1,2\n3,5,7\n", [], "line 3.* has 3 cells where 2 are wanted"),
        ("a,b\n1,2\n4,4\n9,1\n", ["-k", 2, "--explain", "80"], None),
        ("a,b\n1,2\n4,4\n9,1\n", ["--explain", "80"], "80 % is --explain 0.8"),
        ("a,b\n1,2\n4,4\n9,1\n", ["--explain", "nan"], "must be a share above 0 and at most 1"),
        ("a,b,c\n1,2,900\n4,4,1\n9,1,3\n", ["-k", 2], r"Standardise \(--scale\)"),
    ],
)
def test_a_refusal_says_what_was_seen_and_the_option(tmp_path, capsys, content, given, said):
    file = tmp_path / "table.csv"
    file.write_text(content)
    given = given or ["-k", 2]
    code, _, told = run(capsys, "select", file, *given)
    assert code == (2 if said is None else 0 if "Standardise" in said else 1)
    assert re.search(said or "not allowed with argument", told), told


def test_a_share_may_be_written_in_per_cent(wine, capsys):
    asked = ["select", wine, "--scale", "--json", "--explain"]
    found = [json.loads(run(capsys, *asked, share)[1])["features"] for share in ("40%", "0.4")]
    assert found[0] == found[1]


def test_a_set_that_is_here_is_no_download(capsys):
    code, printed, said = run(capsys, "fetch", "wine")
    assert (code, said) == (0, "")
    assert "Dataset(wine: 178 samples x 13 features" in printed


def test_without_pandas_plain_numbers_are_read_and_else_it_is_asked_for(tmp_path):
    file, program = tmp_path / "table.csv", "import sys; sys.modules['pandas'] = None\n"
    program += "from fspca.__main__ import main; main(sys.argv[1:])"
    asked = [sys.executable, "-c", program, "select", str(file), "-m", "1", "-k", "1"]
    file.write_text("a,b\n1,2\n3,5\n")
    done = subprocess.run(asked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2].startswith("b ")
    for content in ("a,b\n1,2\n3,\n", "a,b\nx,2\ny,3\n", "a;b\n1,5;2\n3,5;7\n"):
        file.write_text(content)
        done = subprocess.run(asked, capture_output=True, text=True)
        assert done.returncode == 1
        assert "pip install 'fspca[frames]'" in done.stderr
