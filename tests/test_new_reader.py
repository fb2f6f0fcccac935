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

from fspca import datasets, go, solve
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
    6: ["| 13 |", "| 40 to 64 |", "| 80 to 500 |", "of genes", "Proofs end where"],
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
    asked = []
    sizes = ((13, 13, calls), (20, 30, calls), (40, 64, calls), (80, 500, calls),
             (1363, 12600, genes))  # fmt: skip
    for least, most, rows in sizes:
        rows = [each for each in rows if least <= each.get("d", each.get("features")) <= most]
        assert {least, most} <= {each.get("d", each.get("features")) for each in rows}
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
        asked += [(each["m"], each["k"]) for each in rows]
    told = re.search(r"for (\d+) to (\d+) components on (\d+) to (\d+) columns", FIRST)
    (m, k) = zip(*asked, strict=True)
    assert [int(each) for each in told.groups()] == [min(m), max(m), min(k), max(k)]


def test_what_came_of_many_tables_is_what_was_stored():
    table = FIRST.partition("| new rows are scaled |")[2].partition("\n\n")[0]
    lines = [line.strip("|").split("|")[1:] for line in table.splitlines()[2:]]
    for cells, scale in zip(lines, ("each", "learnt", "raw"), strict=True):
        counts, (gain, _, _) = new_rows_answers.standing("leverage", scale)
        told = [number(cell.strip().removesuffix(" %")) for cell in cells]
        assert told == [*counts, round(100 * gain, 1)]
    counts, _ = new_rows_answers.standing("leverage", "each")
    assert round(counts[1] / sum(counts), 1) == 0.9
    assert f"quarter of the columns: {sum(counts):,} questions" in FIRST
    counts, _ = new_rows_answers.standing("leverage", "each", which=is_proven)
    told = re.search(r"(\d+) choices were proven the best: they won (\d+) and lost none", FIRST)
    assert [*map(int, told.groups()), 0] == [sum(counts), counts[0], counts[2]]


def is_proven(question):
    return question.proven == 1


def test_wines_own_questions_are_ties():
    counts, _ = new_rows_answers.standing("leverage", "each", which=lambda q: q.table == "wine")
    assert counts == [0, 4, 0]
    assert "Wine's four questions are ties" in FIRST


def test_the_sign_beforehand_is_said_with_how_often_it_is_right():
    rule = new_rows_answers.learnt_rule("each", 1)
    rates = [round(100 * each) for each, _, _ in new_rows_answers.on_those_apart(rule, "each", 1)]
    assert f"over {100 * rule.threshold:.1f} % more than `go`" in FIRST
    for page in (COVER, FIRST, (toc.ROOT / "README.md").read_text()):
        told = re.search(r"f(?:inds|ound) (\d+) % of the wins.* on (\d+) % of the rest", page)
        assert [int(each) for each in told.groups()] == rates[:2]
    apart = [each for each in new_rows_answers.questions() if each.apart and each.scale == "each"]
    both, verdicts, _ = new_rows_answers.against("leverage", apart)
    won = [round(100 * np.mean(verdicts[said] > 0)) for said in (rule.says(both), ~rule.says(both))]
    assert "above it {} % of the questions were won, below it {} %".format(*won) in FIRST
    X = datasets.load("wine").X
    here, new = (np.corrcoef(rows.T) for rows in (X[1::2], X[::2]))
    more = [solve(*q).objective / go(*q).objective - 1 for q in ((here, 1, 4), (new, 3, 10))]
    assert min(more) > rule.threshold
    assert "with {:.1f} % and {:.1f} %".format(*(100 * each for each in more)) in FIRST


def test_the_rival_in_the_captions_is_what_the_chapter_prints():
    """Of a sort by leverage, on wines at hand and on others."""
    (printed,) = {
        tuple(found)
        for cell in CHAPTER.cells
        for output in cell.get("outputs", ())
        for found in re.findall(r"by leverage +(\S+) % .*?(\S+) %", output.get("text", "")[:200])
    }
    for page in (COVER, (toc.ROOT / "README.md").read_text()):
        assert re.search(r"quick rival, explains (\S+) % and (\S+) %", page).groups() == printed
