"""The built book is whole: every page, every link, nothing that only looks finished."""

import re

import check_links
import finish
import pytest
import toc
import yaml

import fspca

HTML = toc.ROOT / "_build" / "html"


@pytest.fixture(scope="module")
def html():
    if not (HTML / "index.html").exists():
        pytest.fail("The book is not built: run `make book` first.")
    return HTML


@pytest.mark.parametrize("name", toc.pages())
def test_page_is_there_and_shows_no_traceback(html, name):
    page = html / f"{name}.html"
    assert page.exists(), f"{name} is in _toc.yml and was not built"
    text = page.read_text(encoding="utf-8")
    for trace in ("Traceback (most recent call last)", 'class="output traceback'):
        assert trace not in text, f"{name} shows a traceback"


@pytest.mark.parametrize("name", toc.pages())
def test_images_have_alternative_text(html, name):
    images = check_links.page(html / f"{name}.html").images
    wanting = [image["src"] for image in images if says_nothing(image)]
    assert not wanting, f"{name}: images without alternative text: {wanting}"


def says_nothing(image):
    alt = image.get("alt") or ""
    # Sphinx falls back on the file's path.
    return not alt.strip() or alt == image["src"] or alt.endswith((".png", ".svg", ".jpg"))


def test_no_link_leads_nowhere(html):
    broken = check_links.broken_links(html)
    assert not broken, "\n".join(broken)


def test_every_public_name_is_described(html):
    pages = (html / "book" / "appendix" / "api").glob("*.html")
    described = set().union(*(check_links.page(path).ids for path in pages))
    modules = {f"module-fspca.{name}" for name in ("datasets", "metrics", "synthetic")}
    names = {f"fspca.{name}" for name in fspca.__all__}
    assert names - described == {name.removeprefix("module-") for name in modules}
    assert modules <= described


def test_cells_lead_to_the_names_descriptions(html):
    """Every chapter that imports from the module; a name that it binds itself leads nowhere."""
    chapters = [path for path in toc.notebooks() if "fspca import" in path.read_text()]
    assert len(chapters) > 20
    for path in chapters:
        page = html / path.relative_to(toc.ROOT).with_suffix(".html")
        assert 'class="api" title="fspca.' in page.read_text(), path


def test_pages_load_nothing_from_elsewhere(html):
    remote = {
        f"{path.relative_to(html)}: {load}"
        for path in check_links.built_pages(html)
        for load in check_links.page(path).loads
        if not check_links.is_local(load) and not load.startswith("data:")
    }
    assert not remote, "\n".join(sorted(remote))


def test_the_book_gives_no_solution_away(html):
    """Neither a page nor a download holds an assignment's solution or a hidden test."""
    kinds = (".html", ".ipynb", ".md", ".txt", ".js")
    texts = {path: path.read_text() for path in html.rglob("*.*") if path.suffix in kinds}
    assert "final_project.ipynb" in {path.name for path in texts}
    assert not [path for path, text in texts.items() if "### BEGIN SOLUTION" in text]


def test_of_mathjax_the_book_carries_what_pages_ask_for(html):
    """The whole package is ten times as large."""
    folder = html / "_static" / "mathjax"
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert all((folder / part).exists() for part in finish.MATHJAX)
    assert sum(path.stat().st_size for path in files) < 3e6


def test_we_keep_at_most_six_extensions_of_sphinx():
    config = yaml.safe_load((toc.ROOT / "_config.yml").read_text())
    assert len(config["sphinx"]["local_extensions"]) <= 6


def test_at_most_38_entries_stand_unfolded_and_none_is_lost():
    """What a reader sees of the contents before he opens a part of them; each page stands once."""
    parts = yaml.safe_load((toc.ROOT / "_toc.yml").read_text())["parts"]
    assert sum(len(part["chapters"]) for part in parts) <= 38
    assert len(set(toc.pages())) == len(toc.pages()) > 60


def test_a_chapter_below_another_counts_with_it(html):
    """Its number begins with the other's, its figures go on from there; sections have none."""
    above, below = (
        (html / "book" / "practice" / f"{name}.html").read_text()
        for name in ("from_a_table", "gallery")
    )
    number = re.search(r"<title>(\d+)\. ", above)[1]
    assert re.search(rf"<title>{number}\.1\. ", below)
    figures = re.findall(rf'caption-number">Figure {number}\.(\d+)', above + below)
    assert len(figures) > 3
    assert list(map(int, figures)) == list(range(1, len(figures) + 1))
    assert not re.search(r'<h2><span class="section-number">', above + below)


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ('<a href="there.html">a page</a>', []),
        ('<a href="there.html#part">a part of it</a>', []),
        ('<a href="#own">here</a><p id="own">', []),
        ('<a href="mailto:x@example.org">mail</a>', []),
        ('<a href="gone.html">a page that is not</a>', ["page.html: gone.html"]),
        ('<a href="there.html#gone">no such part</a>', ["page.html: there.html#gone"]),
        ('<a href="#gone">nor here</a>', ["page.html: #gone"]),
        ('<img src="gone.png">', ["page.html: gone.png"]),
    ],
)
def test_link_check_sees_what_is_broken(tmp_path, body, broken):
    (tmp_path / "there.html").write_text('<h1 id="part">there</h1>')
    (tmp_path / "page.html").write_text(body)
    assert check_links.broken_links(tmp_path) == broken


@pytest.mark.parametrize(
    ("image", "silent"),
    [
        ({"src": "a.png", "alt": "a falling line"}, False),
        ({"src": "a.png"}, True),
        ({"src": "a.png", "alt": ""}, True),
        ({"src": "a.png", "alt": "../_images/a.png"}, True),
    ],
)
def test_image_check_sees_what_is_missing(image, silent):
    assert says_nothing(image) is silent
