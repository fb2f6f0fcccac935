"""What the chapters show: vector figures, tables with verdicts; and the pages' ink."""

import re
from base64 import b64decode

import drawings
import figures
import matplotlib
import numpy as np
import pytest
from docutils import nodes

matplotlib.use("agg")
import matplotlib.pyplot as plt

from fspca import plots
from fspca_reproduction.book import show, tables
from fspca_reproduction.claim import Claim, Judged


@pytest.fixture
def outputs(monkeypatch):
    """What would be shown, as pairs of kind and text."""
    found = []
    monkeypatch.setattr(show, "display", lambda data, raw: found.append(data))
    yield found
    plt.close("all")


def drawn(outputs, points=20):
    figure, (left, right) = plots.figure(columns=2)
    rng = np.random.default_rng(0)
    left.scatter(*rng.random((2, points)))
    left.set_xlabel(r"$\lambda_1$")
    right.semilogy([1, 2, 3], [1e-9, 1e-4, 1], color="0.3")
    right.pcolormesh(rng.random((2, 2)) - 0.5)
    right.text(1, 1, "on a cell")
    show.shown(figure)
    return outputs[-1]["image/svg+xml"]


def test_a_figure_is_the_same_bytes_twice_and_says_nothing_of_when_and_with_what(outputs):
    first, second = drawn(outputs), drawn(outputs)
    assert first == second
    assert "<text" in first
    assert not re.search(r"[Mm]atplotlib v|20\d\d-\d\d", first)


def test_a_picture_stands_beside_the_vectors(outputs):
    """The same bytes in each run, and light enough to be stored in a notebook."""
    drawn(outputs), drawn(outputs)
    first, second = (b64decode(each["image/png"]) for each in outputs)
    assert first == second
    assert first.startswith(b"\x89PNG")
    assert len(first) < 40_000


def test_the_style_sheet_is_the_look_of_our_figures():
    ours, _ = plots.figure()
    with plt.style.context("fspca.plots.book"):
        theirs, axes = plt.subplots()
    assert np.array_equal(ours.get_size_inches(), theirs.get_size_inches())
    assert not any(axes.spines[each].get_visible() for each in ("top", "right"))
    assert ours.get_facecolor() == theirs.get_facecolor() == (1, 1, 1, 1)
    assert type(ours.get_layout_engine()) is type(theirs.get_layout_engine())
    plt.close("all")


def test_no_text_of_a_figure_is_below_eight_points(outputs):
    sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", drawn(outputs))]
    assert len(sizes) > 10
    assert min(sizes) >= 8


def test_many_marks_are_pixels_and_few_are_marks(outputs):
    assert "data:image/png" not in drawn(outputs)
    assert "data:image/png" in drawn(outputs, points=show.DENSE)


def test_a_page_gives_a_figure_its_ink_and_its_ground(outputs):
    page = figures.in_ink(drawn(outputs), 'a "trend"')
    assert 'aria-label="a &quot;trend&quot;"' in page
    assert "currentColor" in page
    assert "var(--pst-color-background)" in page
    assert "#000000" not in page  # black would be lost on a dark ground
    assert "color-mix(in srgb, currentColor 70%" in page  # the grey line
    assert re.search(r"<text[^>]*fill=\"black\"[^>]*>on a cell", page)
    assert "<style" not in page  # it would hold for the whole page
    assert ":href" not in page


def test_the_ids_of_two_figures_in_a_page_differ_and_their_references_hold(outputs):
    pages = [figures.in_ink(drawn(outputs, n), "trend") for n in (20, 30)]
    ids = [set(re.findall(r' id="([^"]+)"', page)) for page in pages]
    assert all(ids)
    assert not ids[0] & ids[1]
    for page, known in zip(pages, ids, strict=True):
        used = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page))
        assert {one or other for one, other in used} == known


def cell_with(below):
    picture = nodes.container("", nodes.image(uri="a.svg", alt="trend"))
    cell = nodes.container(
        "", nodes.literal_block(), nodes.container("", picture), classes=["cell"]
    )
    tree = nodes.section("", cell, below)
    figures.with_captions(None, tree)
    return [each for each in tree if isinstance(each, nodes.figure)]


def test_an_emphasised_paragraph_below_a_picture_is_its_caption():
    (figure,) = cell_with(nodes.paragraph("", "", nodes.emphasis("", "A finding.")))
    assert figure["ids"] == ["figure-1"]
    assert [type(each) for each in figure] == [nodes.container, nodes.caption]
    assert figure[1].astext() == "A finding."


@pytest.mark.parametrize(
    "below",
    [
        nodes.paragraph("", "Plain."),
        nodes.paragraph("", "", nodes.emphasis("", "Half"), nodes.Text(" of it.")),
        nodes.bullet_list(),
    ],
)
def test_other_text_below_a_picture_stays_text(below):
    assert cell_with(below) == []


def svg(x="10.25", letter="k", name="m0123456789"):
    return f'<path id="{name}" d="M {x} 3"/><text>{letter}</text>'


def test_drawings_are_compared_by_what_is_seen():
    assert drawings.same_drawing(svg(), svg("10.27", name="mabcdef0123"))
    assert not drawings.same_drawing(svg(), svg("12.25"))
    assert not drawings.same_drawing(svg(), svg(letter="m"))
    assert not drawings.same_drawing(svg(), svg() + svg())


def cell(verdict="differs", said=0.5, ours=0.61234, **place):
    claim = Claim("id", "A/go/IR", "paper", "rule")
    return Judged(claim, said, ours, verdict, place)


def test_a_table_has_the_paper_s_layout_its_number_over_ours_and_the_verdict():
    verdicts = {"go": "differs", "ipu": "reproduced"}
    judged = [
        cell(verdicts[method], scheme=scheme, method=method, measure=measure)
        for scheme in "AB"
        for method in verdicts
        for measure in ("IR", "HF")
    ]
    table = tables.compared(judged, ("scheme", "method"), ("measure",), {"go": "Go"}, "{:.2f}")
    assert table.heads == [["", "", "IR", "HF"]]
    assert [[text for text, _ in line[:2]] for line in table.lines] == [
        ["A", "Go"], ["A", "ipu"], ["B", "Go"], ["B", "ipu"],
    ]  # fmt: skip
    page = table._repr_html_()
    assert page.count("0.50<br>0.612 ≠") == page.count('title="differs"') == 4
    assert page.count('<th scope="row">A</th>') == 1  # written once
    assert "0.50 / 0.612 =" in repr(table)


def test_a_table_escapes_what_it_is_given():
    assert "&lt;b&gt;" in tables.Table([["<b>"]], [["a & b"]])._repr_html_()
