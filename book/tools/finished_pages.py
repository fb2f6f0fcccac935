"""Sphinx extension: mends what the theme leaves in a page that a screen reader trips over."""

import re
import shutil
from pathlib import Path

# Each with what is wrong, and what stands there instead.
MENDED = (
    # A name that hides the words which a button shows.
    (r'(<summary) aria-label="Toggle hidden content"', r"\1"),
    (r'(<button class="btn search-button-field[^>]*?) aria-label="Search"', r"\1"),
    # A list whose items do not say that they are items.
    (r'<div role="list" class="citation-list">', '<div class="citation-list">'),
    (r' role="doc-biblioentry"', ""),
    # A drawing that is cut where it does not fit, and shrinks once it knows what it shows.
    (r'(<svg role="img"[^>]*? width="(\d+)" height="(\d+)")>', r'\1 viewBox="0 0 \2 \3">'),
    # The theme states the window twice.
    (r'<meta name="viewport" content="width=device-width, initial-scale=1"/>\n', ""),
)
# A list of labels that nothing leads to, and files that no page asks for.
DROPPED = ("prf-prf.html", "_static/vendor", "_static/locales")


def mended(text):
    for pattern, instead in MENDED:
        text = re.sub(pattern, instead, text)
    return text


def finish(app, error):
    if error or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    for name in DROPPED:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for path in (*folder.glob("*.html"), *folder.glob("book/**/*.html")):
        text = path.read_text(encoding="utf-8")
        path.write_text(mended(text), encoding="utf-8")


def setup(app):
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
