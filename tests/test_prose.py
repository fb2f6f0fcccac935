"""The book reads as its rules say, and each of them can fail."""

import doctest
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import folded
import prose
import pytest
import toc
import words


def test_the_book_has_no_sentence_and_no_turn_to_look_at_again():
    found = list(prose.faults())
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "find"),
    [
        ("word " * 49 + ".", "49 words: word word"),
        ("Most $k$ cannot be had.", "'cannot be had': found, reached"),
        ("It hangs on the start.", "'hangs on': depends on"),
    ],
)
def test_long_sentences_and_rare_turns_are_found(text, find):
    assert [each for each in (*prose.long_sentences(text), *prose.turns(text)) if find in each]


@pytest.mark.parametrize(
    "text",
    [
        "word " * 30 + ". " + "word " * 30,
        "`cannot be had` and $cannot be had$",
        "[a link](cannot-be-had.md)",
        ":::{prf:proof} cannot be had",
    ],
)
def test_code_formulas_and_directives_are_no_prose(text):
    assert not [*prose.long_sentences(text), *prose.turns(text)]


def test_a_misspelt_word_is_found(tmp_path):
    """By codespell, as `make lint` runs it."""
    command = [Path(sys.executable).with_name("codespell"), "--toml", toc.ROOT / "pyproject.toml"]
    for text, wrong in (
        ("The covariance of a matrix.", 0),
        ("The **matri" + "cies** of the book.", 65),
    ):
        (tmp_path / "page.md").write_text(text)
        assert subprocess.run([*command, tmp_path], capture_output=True).returncode == wrong


def test_a_short_name_is_expanded_where_a_part_first_uses_it():
    assert list(prose.unexpanded(["IPU climbs.", "It does. " * 40, "iterative proxy update"]))
    assert not list(prose.unexpanded(["IPU, the *iterative proxy update*, climbs."]))
    assert not list(prose.unexpanded(["Go on from there."]))


def meanings():
    """Return the letters of the notation, each with the chapters and parts of a meaning."""
    table = (toc.ROOT / "book" / "notation.md").read_text().partition("## ")[0]
    rows = [line.split("|")[1:4] for line in table.splitlines() if line.startswith("| $")]
    return [
        (sign.strip(" $"), where.strip().replace(" ", "_").split(",_")) for sign, _, where in rows
    ]


def clashes(letters, parts):
    """Yield the letters with two meanings that share a part."""
    for (one, here), (other, there) in combinations(letters, 2):
        if one == other and {parts.get(p, p) for p in here} & {parts.get(p, p) for p in there}:
            yield one


def test_a_letter_has_one_meaning_within_a_part():
    chapters = [page.split("/") for page in toc.pages() if page.count("/") < 3]  # none of the API
    parts = {path[-1]: path[-2] for path in chapters}
    assert not list(clashes(meanings(), parts))
    assert list(clashes([("x", ["sadmm"]), ("x", ["two_stage"])], parts)) == ["x"]


@pytest.mark.parametrize("letter", ["\\gamma", "\\tau", "\\rho", "\\lambda"])
def test_a_letter_with_several_meanings_stands_where_one_is_told(letter):
    places = [place for sign, where in meanings() if sign == letter for place in where]
    used = re.compile(re.escape(letter) + r"(?![a-zA-Z_])")
    for path, texts in prose.pages():
        if (
            path.suffix == ".ipynb"
            and path.parent.name != "appendix"
            and used.search("".join(texts))
        ):
            assert any(place in str(path.relative_to(toc.ROOT)) for place in places), path.stem


@pytest.mark.parametrize("tool", [folded, words])
def test_what_makes_the_pages_does_what_its_examples_say(tool):
    found = doctest.testmod(tool)
    assert found.attempted
    assert not found.failed
