"""The drawings of ideas are what their script makes, stand in a chapter, and can be read."""

import re

import figures
import idea_drawings
import pytest
import take_away
import toc
from browser import PROGRAM, Browser

NAMES = [drawing.__name__ for drawing in idea_drawings.DRAWINGS]
LINE = re.compile(r"!\[([^]]+)\]\(\.\./static/ideas/(\w+)\.svg\)")
BOXES = """[...document.querySelectorAll("svg text")].map((e) => {
    const { left, top, right, bottom } = e.getBoundingClientRect();
    return [e.textContent, left, top, right, bottom];
})"""
HEIGHT = "document.querySelector('svg').getBoundingClientRect().height"


def stored(name):
    return (idea_drawings.FOLDER / f"{name}.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("drawing", idea_drawings.DRAWINGS, ids=NAMES)
def test_a_drawing_is_what_its_script_makes(drawing):
    assert stored(drawing.__name__) == idea_drawings.drawn(drawing)


def test_each_stands_in_one_chapter_with_words_for_who_does_not_see_it():
    found = [match for path in toc.notebooks() for match in LINE.findall(path.read_text("utf-8"))]
    assert sorted(name for _, name in found) == sorted(NAMES)
    assert min(len(words) for words, _ in found) > 80
    assert {path.stem for path in idea_drawings.FOLDER.iterdir()} == set(NAMES)


def test_a_download_brings_its_drawing():
    go = next(path for path in toc.notebooks() if path.stem == "go")
    assert take_away.pictures(go) == [idea_drawings.FOLDER / "go_diagonal.svg"]


@pytest.mark.parametrize("name", NAMES)
def test_in_a_page_it_takes_the_theme_s_ink_and_ground(name):
    page = figures.in_ink(stored(name), "what it shows")
    assert "#000000" not in page
    assert "#ffffff" not in page
    assert "currentColor" in page
    assert "var(--pst-color-background)" in page


def test_the_proxy_touches_the_curve_and_lies_below_it():
    xs = range(401)
    gaps = [idea_drawings.explained(x) - idea_drawings.proxy(x) for x in xs]
    assert min(gaps) == pytest.approx(0, abs=1e-9)
    assert gaps.index(min(gaps)) == 70
    after = max(xs, key=idea_drawings.proxy)
    assert idea_drawings.explained(after) > idea_drawings.explained(70) + 30


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium here: no drawing is measured")
def test_no_word_leaves_its_drawing_or_lies_on_another(tmp_path):
    """With 3 points of tolerance, as a line of text has room above its letters."""
    with Browser() as browser:
        for name in NAMES:
            page = tmp_path / f"{name}.html"
            page.write_text(f"<style>body {{ margin: 0 }}</style>{stored(name)}")
            browser.open(page)
            boxes, height = browser.run(BOXES), browser.run(HEIGHT)
            for i, (words, *box) in enumerate(boxes):
                assert min(box) >= 0, (name, words)
                assert box[2] <= idea_drawings.WIDTH, (name, words)
                assert box[3] <= height, (name, words)
                for other, *there in boxes[:i]:
                    apart = box[0] > there[2] or there[0] > box[2]
                    apart |= box[1] + 3 > there[3] or there[1] + 3 > box[3]
                    assert apart, (name, words, other)
