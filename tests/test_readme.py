"""The README's code runs and its picture is the one that its command draws."""

import re
from collections import Counter

import pytest
import readme_picture
import toc

from fspca.datasets.catalogue import CATALOGUE
from fspca_reproduction import runner, supply
from fspca_reproduction.results import stored

README = (toc.ROOT / "README.md").read_text()


@pytest.mark.parametrize(("name", "draw"), readme_picture.PICTURES.items())
def test_a_picture_is_what_its_command_draws(name, draw):
    assert (readme_picture.FOLDER / f"{name}.svg").read_text() == draw(), "run `make pages`"


@pytest.mark.parametrize("page", ["README.md", "book/cover.md"])
def test_the_words_for_who_sees_no_picture_have_its_numbers(page):
    (alt,) = re.findall(r"!\[(.*)\]\(\S*every_choice.svg\)", (toc.ROOT / page).read_text())
    drawn = (readme_picture.FOLDER / "every_choice.svg").read_text()
    assert sorted(re.findall(r"\d+ %", drawn)) == sorted(re.findall(r"\d+ %", alt))
    assert set(re.findall(r"\d{2,}(?= wines|:)", drawn)) <= set(re.findall(r"\d+", alt))


def test_every_python_block_runs():
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(block, names)  # each goes on from the one before, as a reader would
    assert names["solution"].support.size == 5


def test_every_make_target_named_exists():
    targets = set(re.findall(r"^([a-z-]+):", (toc.ROOT / "Makefile").read_text(), flags=re.M))
    named = set(re.findall(r"`?make ([a-z-]+)", README))
    assert named
    assert named <= targets


def test_the_hours_of_computing_are_those_that_the_rows_are_stamped_with():
    stamps = (stamp for name in runner.experiments() for stamp in stored(name)["stamps"])
    assert 11 < sum(stamp["seconds"] or 0 for stamp in stamps) / 3600 < 13
    assert "some twelve hours of computing" in README


def test_most_stored_rows_are_recomputed_in_a_clone():
    folders = {f.__module__.split(".")[1] for f in runner.experiments().values()}
    rows = supply.rows_by_supply(folders)
    assert rows["made"] + rows["carried"] > 0.8 * sum(rows.values())
    assert "More than eight in ten stored rows" in README
    sets = Counter(map(supply.supply, CATALOGUE))
    assert f"| carried here | {sets['carried']} | nothing |" in README
    assert f"| fetched | {sets['fetched']} | `python -m fspca fetch NAME` |" in README
    assert f"| without a public address that we know | {sets['own']} |" in README
