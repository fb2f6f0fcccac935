"""What `make bench` stored, against what is asked of it; and that less would be noticed."""

import os
import subprocess
import sys

import pytest
import toc

from fspca_reproduction.book import bench as timing
from fspca_reproduction.book.bench import LARGE, SETS, SIZES, slope
from fspca_reproduction.results import rows_of

MARKS = {  # CPU seconds over theirs: dense float64, dense float32, News20
    "ipu from variances over TruncatedSVD": (0.5, 0.5, 0.5),
    "go over svds": (1.2, 1.2, 1.2),
    "ipu from go over TruncatedSVD": (1.0, 1.0, 1.5),
}


def ahead_of_solve(rows):
    """Return (set, contender) wherever a contender's features explain more than solve's."""
    solved = {each["set"]: each["explained"] for each in rows if each["contender"] == "solve"}
    least = {name: value * (1 + 1e-9) for name, value in solved.items()}  # six digits are stored
    return [
        (each["set"], each["contender"])
        for each in rows
        if each.get("explained", 0.0) > least[each["set"]]
    ]


def test_no_contender_explains_more_than_solve_on_any_set():
    rows = rows_of("bench")
    assert {each["set"] for each in rows} == set(SETS)
    assert all("explained" in each or each["cannot"] for each in rows)
    assert ahead_of_solve(rows) == []


def test_a_contender_that_explains_more_is_named():
    rows = rows_of("bench")
    solved = next(r for r in rows if (r["set"], r["contender"]) == ("news20", "solve"))
    i = next(i for i, r in enumerate(rows) if (r["set"], r["contender"]) == ("news20", "PCA"))
    rows[i] = rows[i] | {"explained": solved["explained"] * (1 + 1e-5)}
    assert ahead_of_solve(rows) == [("news20", "PCA")]


@pytest.mark.parametrize("name", MARKS)
def test_cpu_over_the_libraries(name):
    ratios = {each["set"]: each["ratios"][name] for each in rows_of("bench_ratios")}
    for data, most in zip(LARGE, MARKS[name], strict=True):
        assert ratios[data] <= most


def test_svds_was_asked_for_no_more_than_our_accuracy():
    """The loosest tolerance that brings its residuals to twice ours; none does for float32."""
    for each in rows_of("bench_ratios"):
        assert each["residual of svds"] <= 2 * each["residual"] or each["tol of svds"] == 0


def test_slopes_of_a_step():
    slopes = {by: slope(rows_of("bench_slopes"), by) for by in SIZES}
    assert slopes["n"] == pytest.approx(1, abs=0.2)
    assert slopes["d"] == pytest.approx(1, abs=0.2)
    assert slopes["k"] <= 3
    assert slopes["m"] <= 2


def test_four_gigabytes_are_answered_within_one_and_a_half():
    found = {r["solver"]: r for r in rows_of("bench_limits") if r["data"] == "a file"}
    assert found.keys() == {"ipu", "go", "swap", "solve"}
    assert not any("cannot" in each for each in found.values())
    assert found["solve"]["explained"] >= max(each["explained"] for each in found.values())


def test_peaks_over_sparse_data():
    peaks = {r["solver"]: r["peak over data"] for r in rows_of("bench_limits") if r["n"] == 100_000}
    assert peaks["from_data"] <= 1.2
    assert peaks["ipu"] <= 1.2
    assert peaks["go"] <= 1.6


def test_a_ratio_is_ours_over_theirs():
    ours, theirs = {"seconds": 1.0, "explained": 0.6}, {"seconds": 4.0, "explained": 0.5}
    line = timing.ratio_line("digits", "PCA", ours, theirs)
    assert line == "| digits | 1,797 x 64 | 10, 20 | PCA | 4 | ipu | 1 | 0.25 | 1.2000 |"
    cannot = timing.ratio_line("digits", "PCA", ours, {"cannot": "no memory"})
    assert cannot == "| digits | 1,797 x 64 | 10, 20 | PCA | no memory | ipu | 1 | - | - |"


def test_the_table_says_every_peer_and_its_rows_are_measured_as_they_are_read():
    lines = timing.ratios(("breast_cancer, standardised",), ("PCA", "svds, then Go's rule"))
    head = next(lines)
    rows = list(lines)[1:]
    assert {line.count("|") for line in rows} == {head.count("|")}
    for line in rows:
        cells = line.split(" | ")
        assert float(cells[4]) > 0
        assert float(cells[-2]) == pytest.approx(float(cells[6]) / float(cells[4]), rel=0.1)
        assert float(cells[-1].rstrip(" |")) > 1 - 1e-9


@pytest.mark.nightly
def test_a_table_is_read_nearly_as_cheaply_as_pandas_reads_it():
    over = timing.reading()
    assert over["seconds"] <= 1.2
    assert over["bytes"] <= 1.3


@pytest.mark.nightly
def test_make_bench_takes_some_minutes_and_writes_nothing():
    asked = ["git", "status", "--porcelain"]
    before = subprocess.run(asked, cwd=toc.ROOT, capture_output=True, text=True).stdout
    command = [sys.executable, "-m", "fspca_reproduction", "bench"]
    start = os.times()
    done = subprocess.run(command, cwd=toc.ROOT, capture_output=True, text=True)
    # of the processor, whatever else runs: it takes two minutes, and five on a slow machine
    assert sum(os.times()[2:4]) < sum(start[2:4]) + 300
    assert done.stdout.count("\n| ") > len(timing.QUICK) * 5
    after = subprocess.run(asked, cwd=toc.ROOT, capture_output=True, text=True).stdout
    assert after == before
