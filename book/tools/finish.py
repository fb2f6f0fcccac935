"""Finish the built book: mend what trips a screen reader, carry MathJax, pack the zips.

python book/tools/finish.py _build/html    # as `make book` does, after Sphinx
"""

import importlib.metadata
import re
import shutil
import sys
from pathlib import Path

import take_away

# Each with what is wrong, and what stands there instead.
MENDED = (
    # A name that hides the words which a button shows.
    (r'(<summary) aria-label="Toggle hidden content"', r"\1"),
    (r'(<button class="btn search-button-field[^>]*?) aria-label="Search"', r"\1"),
    # A sign that opens a part of the contents, without a name.
    (r'<summary>(<span class="toctree-toggle")', r'<summary aria-label="Pages below">\1'),
    # The name of the book beside the contents, outside of all landmarks.
    (r'<div (?=class="bd-sidebar-primary)', '<div role="complementary" aria-label="Contents" '),
    # A list whose items do not say that they are items.
    (r'<div role="list" class="citation-list">', '<div class="citation-list">'),
    (r' role="doc-biblioentry"', ""),
    # A drawing that is cut where it does not fit, and shrinks once it knows what it shows.
    (r'(<svg role="img"[^>]*? width="(\d+)" height="(\d+)")>', r'\1 viewBox="0 0 \2 \3">'),
    # The theme states the window twice.
    (r'<meta name="viewport" content="width=device-width, initial-scale=1"/>\n', ""),
    # No page starts a remote kernel, so none needs the script that would.
    (r"<script[^>]*thebe[^>]*></script>\n|<script>[^<]*thebe[^<]*</script>\n", ""),
)
# A list of labels that nothing leads to, and files that no page asks for.
DROPPED = ("prf-prf.html", "_static/vendor", "_static/locales", "_static/sphinx-thebe.js")
# From a package, so the repository holds our code only: the parts of MathJax that _config.yml
# loads, and what these ask for when they are ready.
PACKAGE = "sphinx-mathjax-offline"
MATHJAX = (
    "startup.js",
    "core.js",
    "input/tex.js",
    "output/chtml.js",
    "a11y/assistive-mml.js",
    "output/chtml/fonts/tex.js",
    "output/chtml/fonts/woff-v2",
    "input/tex/extensions",
)


def mended(text):
    """Return a page without what is wrong with it."""
    for pattern, instead in MENDED:
        text = re.sub(pattern, instead, text)
    return text


def carry_mathjax(target):
    """Copy what the pages ask for, so that the book reads offline."""
    package = importlib.metadata.distribution(PACKAGE)
    source = Path(package.locate_file(f"{PACKAGE}/static/mathjax"))
    for part in MATHJAX:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (source / part).is_dir() else shutil.copy
        copy(source / part, target / part)


def main(folder):
    """Finish the pages below a folder."""
    folder = Path(folder).resolve()
    for name in DROPPED:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    shutil.rmtree(folder / "_static" / "mathjax", ignore_errors=True)
    carry_mathjax(folder / "_static" / "mathjax")
    for path in (*folder.glob("*.html"), *folder.glob("book/**/*.html")):
        text = path.read_text(encoding="utf-8")
        path.write_text(mended(text), encoding="utf-8")
    take_away.pack_all(folder)


if __name__ == "__main__":
    main(sys.argv[1])
