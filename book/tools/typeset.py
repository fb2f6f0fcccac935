"""Print the built book: all its pages as one, set by a browser, with references to be followed.

python book/tools/typeset.py _build/html _build/book.pdf
"""

import posixpath
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from browser import Browser
from toc import pages

ARTICLE = re.compile(r'<article class="bd-article">(.*?)</article>', re.DOTALL)
SCRIPT = re.compile(r"<script[^>]*>.*?</script>", re.DOTALL)
HEAD = re.compile(r"<head>.*?</head>", re.DOTALL)
NUMBER = '<span class="pageNumber"></span>'
FOOT = f'<div style="width:100%;text-align:center;font-size:8px">{NUMBER}</div>'
PAPER = """<style>
  body { font-size: 10.5pt }
  .bd-article { break-before: page }
  .headerlink, .copybtn, .cite, .doors, .ledger-filter, #meaning { display: none }
  pre { white-space: pre-wrap }
  figure, .math, tr { break-inside: avoid }
</style>"""
# What a reader folds is open on paper.
UNFOLD = """(() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const fold of document.querySelectorAll(".toggle-hidden"))
    fold.classList.remove("toggle-hidden");
})()"""


def place(page, fragment=""):
    """Return the name that a page, or a place in it, has on the one page of all."""
    return re.sub(r"\W+", "-", page) + (f"--{fragment}" if fragment else "")


def moved(page, link):
    """Return where a link of a page leads on the one page, and a file beside all pages."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return link
    there = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path)))
    target = page if not parts.path else there.removesuffix(".html")
    return f"#{place(target, parts.fragment)}" if target in pages() else there


def article(html, page):
    """Return a page's own part, its names and links those of the one page."""
    (body,) = ARTICLE.findall((html / f"{page}.html").read_text(encoding="utf-8"))
    body = SCRIPT.sub("", body)
    body = re.sub(r'\bid="([^"]+)"', lambda m: f'id="{place(page, m[1])}"', body)
    body = re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{place(page, m[1])})", body)
    attribute = re.compile(r'\b((?:xlink:)?href|src)="([^"]*)"')
    body = attribute.sub(lambda m: f'{m[1]}="{moved(page, m[2])}"', body)
    return f'<article class="bd-article" id="{place(page)}">{body}</article>'


def one_page(html):
    """Write all pages as one, beside the book's files; return its path."""
    first = html / f"{pages()[0]}.html"
    (head,) = HEAD.findall(first.read_text(encoding="utf-8"))
    depth = "../" * pages()[0].count("/")
    head = head.replace(f'="{depth}', '="').replace("</head>", f"{PAPER}</head>")
    body = "\n".join(article(html, page) for page in pages())
    path = html / "printed.html"
    path.write_text(f'<!DOCTYPE html><html lang="en" data-theme="light">{head}'
                    f'<body data-default-mode="light">{body}</body></html>', "utf-8")  # fmt: skip
    return path


def print_book(html, target):
    """Print the built book to a file."""
    path = one_page(Path(html).resolve())
    with Browser(patience=1200) as browser:
        browser.open(path)
        browser.run(UNFOLD)
        browser.page.pdf(
            path=target, format="A4", print_background=True, outline=True, tagged=True,
            display_header_footer=True, header_template="<span></span>", footer_template=FOOT,
            margin=dict.fromkeys(("top", "bottom", "left", "right"), "0.7in"),
        )  # fmt: skip
    path.unlink()


if __name__ == "__main__":
    print_book(*sys.argv[1:])
