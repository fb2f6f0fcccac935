"""The report in a real browser: everybody can read it, on a phone, in the dark, on paper."""

import re

import pytest
from browser import PROGRAM, Browser, axe_script
from test_report import write_hostile

VIOLATIONS = """axe.run(document, { preload: false, resultTypes: ["violations"] })
  .then(({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map((n) => id + ": " + n.html.slice(0, 120))))"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return write_hostile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def browser():
    if PROGRAM is None:
        pytest.skip("no Chromium here: no page is opened")
    with Browser() as one:
        yield one


@pytest.fixture(scope="module")
def axe():
    return axe_script() or pytest.skip("no npm here to bring axe: accessibility is not checked")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("width", "media"), [(1280, "screen"), (360, "screen"), (673, "print")])
def test_a_report_is_read_by_everybody(browser, axe, hostile, width, theme, media):
    browser.open(hostile, width, theme)
    browser.page.emulate_media(media=media, color_scheme=theme)
    assert browser.complaints() == []
    assert [url for url in browser.asked if url != hostile.as_uri()] == []
    assert browser.run("document.title") == "A choice of 5 of 14 features"
    assert browser.run("document.documentElement.scrollWidth") <= width
    cut = """[...document.querySelectorAll("main *")].filter((e) => !e.closest(".wide")
        && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
        .map((e) => e.outerHTML.slice(0, 100))"""
    assert browser.run(cut) == []
    browser.run(f"{axe};0")
    assert browser.run(VIOLATIONS) == []
    paper = browser.run("getComputedStyle(document.documentElement).backgroundColor")
    dark = theme == "dark" and media == "screen"
    assert (paper == "rgb(255, 255, 255)") is not dark


def test_a_page_that_is_hard_to_read_is_seen(browser, axe, hostile, tmp_path):
    """Without its colours, its language, the name of a picture, axe complains."""
    spoiled = {
        "color-contrast": ("--soft: #595959", "--soft: #bbbbbb"),
        "html-has-lang": (' lang="en"', ""),
        "svg-img-alt": (r'aria-label="The share explained[^"]*"', ""),
        "scrollable-region-focusable": ('tabindex="0" ', ""),
    }
    for rule, (what, instead) in spoiled.items():
        file = tmp_path / f"{rule}.html"
        file.write_text(re.sub(what, instead, hostile.read_text()))
        browser.open(file, 360)
        browser.page.emulate_media(media="screen")
        browser.run(f"{axe};0")
        assert any(each.startswith(rule) for each in browser.run(VIOLATIONS)), rule


def test_on_paper_no_table_is_cut(browser, hostile):
    """What is moved sideways on a screen must lie whole on A4, 17.8 cm within its margins."""
    browser.open(hostile, 673)
    browser.page.emulate_media(media="print")
    wide = "[...document.querySelectorAll('table')].map((e) => e.getBoundingClientRect().width)"
    assert max(browser.run(wide)) <= 673
    assert browser.page.pdf(format="A4").startswith(b"%PDF")
