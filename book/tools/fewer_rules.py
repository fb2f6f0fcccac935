"""The style sheets that the pages share, without the rules for what no page has.

A theme brings rules for every button and column that some site may want.  A rule stays when each
class and id that it asks for stands in a page or in a script, which may set it later.
"""

import re
from pathlib import Path

NAME = re.compile(r"[.#](-?[_a-zA-Z][\w-]*)")
COMMENT = re.compile(r"/\*(?!!).*?\*/", re.S)  # all but a licence
INNER = re.compile(r"\([^()]*\)")
# A string or an address may hold a brace; what is left ends a statement, or begins or ends a block.
TOKEN = re.compile(r"""/\*.*?\*/|"[^"]*"|'[^']*'|url\([^"')]*\)|[;{}]""", re.S)


def names_used(folder):
    """Return the classes and ids of all pages, and the words of all scripts."""
    used = set()
    for page in folder.rglob("*.html"):
        for value in re.findall(r"\b(?:class|id)=\"([^\"]*)\"", page.read_text("utf-8")):
            used.update(value.split())
    for script in folder.glob("_static/**/*.js"):
        if "mathjax" not in script.parts:  # it brings its own rules
            used.update(re.findall(r"[\w-]+", script.read_text("utf-8")))
    return used


def statements(css):
    """Yield (what stands before its block, the block or None) of each statement."""
    depth = start = opened = 0
    for token in TOKEN.finditer(css):
        sign, end = token[0], token.end()
        depth += (sign == "{") - (sign == "}")
        if sign == "{" and depth == 1:
            opened = end
        elif sign == "}" and depth == 0:
            yield css[start : opened - 1].strip(), css[opened : end - 1]
            start = end
        elif depth == 0 and (sign == ";" or sign.startswith("/*")):
            yield css[start:end].strip(), None
            start = end


def asked_for(selector):
    """Return the classes and ids without which a selector finds nothing."""
    while INNER.search(selector):  # one of several, or what must not be
        selector = INNER.sub("", selector)
    return set(NAME.findall(re.sub(r"\[[^]]*\]", "", selector)))


def fewer(css, used):
    """Return a style sheet without the rules that find nothing where these names are used.

    >>> fewer("/*! BSD */ .a, .b > i { top: 0 } @media print { .c { top: 1px } } i:not(.c) {}", "a")
    '/*! BSD */.a{top: 0}i:not(.c){}'
    """
    kept = []
    for before, block in statements(COMMENT.sub("", css)):
        if block is None:
            kept.append(before)
        elif before.startswith(("@media", "@supports")):
            if inside := fewer(block, used):
                kept.append(f"{before}{{{inside}}}")
        elif before.startswith("@"):
            kept.append(f"{before}{{{block}}}")
        else:
            each = re.split(r",\s*(?![^()]*\))", before)
            if found := [one for one in each if asked_for(one).issubset(used)]:
                kept.append(f"{','.join(found)}{{{' '.join(block.split())}}}")
    return "".join(kept)


def prune(app, error):
    if error or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    used = names_used(folder)
    for sheet in folder.glob("_static/**/*.css"):
        sheet.write_text(fewer(sheet.read_text("utf-8"), used), "utf-8")


def setup(app):
    app.connect("build-finished", prune, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
