"""The book reads as its rules say, and each of them can fail."""

import prose
import pytest


def test_the_book_has_no_sentence_and_no_turn_to_look_at_again():
    """New words are for a person to read: `make lint` lists them."""
    found = [fault for fault in prose.faults() if "no list knows" not in fault]
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


def test_a_misspelt_word_is_known_to_no_list():
    listed = prose.known()
    assert prose.unknown_words("The **covarience** of $x$ and IPU's answer.", listed) == [
        "covarience"
    ]


def test_a_short_name_is_expanded_where_a_part_first_uses_it():
    assert list(prose.unexpanded(["IPU climbs.", "It does. " * 40, "iterative proxy update"]))
    assert not list(prose.unexpanded(["IPU, the *iterative proxy update*, climbs."]))
    assert not list(prose.unexpanded(["Go on from there."]))
