"""In no stored figure does one label hide another."""

import nbformat
import pytest
import toc
from browser import PROGRAM, Browser

BOXES = """[...document.querySelectorAll("svg text")].map((e) => {
    const { left, top, right, bottom } = e.getBoundingClientRect();
    return [e.textContent.replace(/\\s+/g, ""), left, top, right, bottom];
})"""
WIDE, HIGH = 2, 7  # pixels by which boxes may overlap: above letters a line has room


@pytest.fixture(scope="module")
def browser():
    with Browser() as one:
        yield one


def drawings(path):
    """Yield the cell's number and the vectors of every figure that a chapter stores."""
    for i, cell in enumerate(nbformat.read(path, as_version=4).cells):
        for output in cell.get("outputs", []):
            if svg := output.get("data", {}).get("image/svg+xml"):
                yield i, svg[svg.index("<svg") :]


def hidden(boxes):
    """Yield pairs of labels that lie on each other."""
    for i, (words, *box) in enumerate(boxes):
        for other, *there in boxes[:i]:
            wide = min(box[2], there[2]) - max(box[0], there[0])
            high = min(box[3], there[3]) - max(box[1], there[1])
            if words and other and wide > WIDE and high > HIGH:
                yield words, other


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium here: no figure is measured")
@pytest.mark.parametrize("path", toc.notebooks(), ids=lambda path: path.stem)
def test_no_label_hides_another(browser, path):
    found = {}
    for i, svg in drawings(path):
        browser.page.set_content(svg)
        found[i] = list(hidden(browser.run(BOXES)))
    seen = {i: pairs for i, pairs in found.items() if pairs}
    assert not seen, seen


def test_the_chapters_store_figures():
    assert sum(1 for path in toc.notebooks() for _ in drawings(path)) > 50


def test_labels_on_each_other_are_seen():
    apart, across = ["one", 0, 0, 30, 14], ["two", 25, 5, 60, 19]
    assert list(hidden([apart, ["two", 40, 0, 70, 14]])) == []
    assert list(hidden([apart, across])) == [("two", "one")]
