"""The cover and the first chapter have what a new reader's ten questions are answered from."""

import contextlib
import io
import re
import shlex
import subprocess
import sys

import nbformat
import notebook_rules
import numpy as np
import pytest
import toc

from fspca import datasets
from fspca_reproduction.book import new_rows_answers
from fspca_reproduction.results import stored

HERE = toc.ROOT / "tests" / "new_reader.md"
COVER = (toc.ROOT / "book" / "cover.md").read_text()
CHAPTER = nbformat.read(toc.ROOT / "book" / "first_twenty_minutes.ipynb", as_version=4)
FIRST = notebook_rules.prose_of(CHAPTER)
# Of each question by its number: what must stand on the two pages for it to be answered there.
ANSWERED_BY = {
    1: ["Choose $k$ columns of a table", "takes the same three things"],
    2: ["have a table", "study the subject", "teach it", "write solvers"],
    3: ["pip install fspca", "Python 3.11 or newer", "numpy and scipy"],
    4: ["PCA needs every column", "for both components", "how far any other four"],
    5: ["explain more *of these rows*", "explain more of these 89 wines", "at hand"],
    6: ["| up to 19 |", "| 40 to 69 |", "of genes", "Proofs end where"],
    7: ["nine questions of ten it did not matter", "A sign beforehand"],
    8: ["fspca check proof.npz", "imports numpy", "nothing of ours"],
    9: ["fspca select table.csv", "Covariance.from_data(X, standardize=True)"],
    10: ["predicting a label", "Variance knows nothing of a label", "The columns left out"],
}


def test_each_question_has_what_it_is_answered_from():
    asked = [int(number) for number in re.findall(r"^\| (\d+) \|", HERE.read_text(), re.M)]
    assert asked == sorted(ANSWERED_BY) == list(range(1, 11))
    both = " ".join((COVER + FIRST).replace("*", "").split())
    missing = [(number, words) for number, each in ANSWERED_BY.items() for words in each
               if " ".join(words.replace("*", "").split()) not in both]  # fmt: skip
    assert not missing


def blocks(kind, text):
    return re.findall(rf"```{kind}\n(.*?)```", text, re.S)


@pytest.mark.parametrize("page", ["README.md", "book/cover.md"])
def test_the_first_lines_print_what_stands_below_them(page):
    text = (toc.ROOT / page).read_text()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(blocks("python", text)[0], {})
    assert printed.getvalue() == blocks("text", text)[0]
    assert "proven optimal" in printed.getvalue()


def test_the_lines_for_a_table_of_ones_own_run(tmp_path):
    wine = datasets.load("wine")
    np.savetxt(tmp_path / "table.csv", wine.X, delimiter=",", header=",".join(wine.names),
               comments="", fmt="%.17g")  # fmt: skip
    (lines,) = blocks("bash", FIRST)
    for line in lines.splitlines():
        command = [sys.executable, "-m", *shlex.split(line)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "holds" in done.stdout
    assert (tmp_path / "choice.html").exists()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(blocks("python", FIRST)[0], {"X": wine.X})
    assert "proven optimal" in printed.getvalue()


def number(text):
    return float(text.replace(",", ""))


def test_the_times_are_those_that_were_stored():
    """Calls with defaults: of small and middling tables, and of thousands of genes."""
    calls = stored("first_call")["rows"]
    genes = [each | each["last digits"] for each in stored("genes_by_default")["rows"]]
    for least, most, rows in ((0, 19, calls), (40, 69, calls), (1363, 12600, genes)):
        rows = [each for each in rows if least <= each.get("d", each.get("features")) <= most]
        (line,) = re.findall(rf"^\|[^|]*{most:,}\b.*", FIRST, re.M)
        seconds, proven, behind = (cell.strip() for cell in line.strip("|").split("|")[1:])
        longest = max(each["seconds"] for each in rows)
        assert number(seconds) in (round(longest), round(longest, 1))
        gaps = [each["gap"] for each in rows if each["gap"] > 1e-8]
        assert list(map(int, re.findall(r"\d+", proven)))[:2] == [len(rows) - len(gaps), len(rows)]
        told = [number(each) for each in re.findall(r"[\d.]+(?= %)", behind)]
        known = [max(gaps), np.median(gaps)] if gaps else []
        assert told == [round(100 * value, 1 if value < 0.1 else 0) for value in known][: len(told)]
        assert bool(told) == bool(gaps)


def test_what_came_of_many_tables_is_what_was_stored():
    counts, (gain, _, _) = new_rows_answers.standing("leverage", "each")
    told = re.search(r"\*\*won (\d+), tied (\d+) and lost none\*\*; .* (\S+) % more", FIRST)
    assert [*map(int, told.groups()[:2]), 0, float(told[3])] == [*counts, round(100 * gain, 1)]
    assert round(counts[1] / sum(counts), 1) == 0.9
    (wins, _, losses), _ = new_rows_answers.standing("leverage", "learnt")
    assert f"won {wins} and lost {losses}, and in the table's own units the gain is 0.1 %" in FIRST
    rule = new_rows_answers.learnt_rule("each", 1)
    assert f"over {100 * rule.threshold:.1f} % more than `go`" in FIRST
