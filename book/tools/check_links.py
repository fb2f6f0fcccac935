"""Find links of the built book that lead nowhere.

python book/tools/check_links.py _build/html
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page offers (ids), where it leads (links), what it loads by itself (loads)."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads, self.images = set(), [], [], []
        self.feed(Path(path).read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.update(attributes[name] for name in ("id", "name") if attributes.get(name))
        if tag == "img":
            self.images.append(attributes)
        if tag == "svg" and attributes.get("role") == "img":  # drawn in the page
            self.images.append({"src": "svg", "alt": attributes.get("aria-label")})
        if tag in ("script", "img", "source", "iframe") and attributes.get("src"):
            self.loads.append(attributes["src"])
        elif tag == "link" and attributes.get("href"):
            self.loads.append(attributes["href"])
        elif tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])


page = cache(Page)


def built_pages(html):
    """The pages, without the templates that a theme leaves among its static files."""
    return [path for path in sorted(html.rglob("*.html")) if "_static" not in path.parts]


def is_local(link):
    parts = urlsplit(link)
    return not parts.scheme and not parts.netloc


def broken_links(html):
    """One line for each local link, fragment or file under the folder that does not exist."""
    html = Path(html).resolve()
    return [
        f"{path.relative_to(html)}: {link}"
        for path in built_pages(html)
        for link in sorted(set(page(path).links + page(path).loads))
        if is_local(link) and not leads_somewhere(path, link)
    ]


def leads_somewhere(path, link):
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return False
    fragment = unquote(parts.fragment)
    return not fragment or target.suffix != ".html" or fragment in page(target).ids


if __name__ == "__main__":
    broken = broken_links(sys.argv[1])
    print("\n".join(broken))
    sys.exit(f"{len(broken)} links lead nowhere" if broken else 0)
