"""Sphinx extension: words and letters show what they mean, and the search finds them first.

The first time that a page uses a word of the glossary, the word becomes a link to it.  What words
and letters mean goes into `words.js`, from the glossary and the table of the notation; where each
name has its place goes into `places.js`, which the search reads: chapters by the names in their
titles, solvers by the registry, headings, the glossary, letters by name and by sign.
"""

import json
import re
from pathlib import Path

from docutils import nodes

from which_method import ABOUT

GLOSSARY, NOTATION = "book/appendix/glossary", "book/notation"
NAMES = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau"
GREEK = dict(zip(f"{NAMES} phi omega ell".split(), "αβγδεζηθικλμνξπρστφωℓ", strict=True))
GREEK |= {"varepsilon": "ε", "Omega": "Ω"}
LEFT_ALONE = nodes.reference | nodes.literal | nodes.title | nodes.math | nodes.raw | nodes.term


def said(node):
    """Return a node's words, with its formulas as MathJax reads them."""
    if isinstance(node, nodes.math):
        return f"\\({node.astext()}\\)"
    if isinstance(node, nodes.Text):
        return node.astext()
    return "".join(map(said, node.children))


def read_words(app, env):
    """Keep the glossary's terms and the notation's letters."""
    glossary, notation = env.get_doctree(GLOSSARY), env.get_doctree(NOTATION)
    env.words = {}
    for item in glossary.findall(nodes.definition_list_item):
        meaning = " ".join(said(item[-1]).split())
        for term in item.findall(nodes.term):
            env.words[term[0].astext()] = {"id": term["ids"][0], "means": meaning}
    env.letters = []
    for row in next(iter(notation.findall(nodes.tbody))).findall(nodes.row):
        sign, meaning, where = (said(cell) for cell in row[:3])
        for tex in re.findall(r"\\\((.*?)\\\)", sign):
            place = [each.replace(" ", "_") for each in where.split(", ") if each]
            env.letters.append({"sign": spelled(tex), "tex": tex, "means": meaning, "in": place})


def spelled(tex):
    """Return a formula as it is typed without TeX: \\lambda_i is λ_i.

    >>> spelled(r"A_{II}"), spelled(r"\\rho_r"), spelled(r"P_V(G)")
    ('A_II', 'ρ_r', 'P_V')
    """
    plain = re.sub(r"\\([a-zA-Z]+)", lambda found: GREEK.get(found[1], found[1]), tex)
    return re.sub(r"[{}\\ ]|\(.*\)|\^.*", "", plain)


def link_words(app, doctree, page):
    """The first time that a page uses a word of the glossary, it leads there."""
    left_out = (GLOSSARY, NOTATION, "book/appendix/api")
    if not page.startswith("book/") or page.startswith(left_out):
        return
    left = sorted(app.env.words, key=len, reverse=True)
    there = app.builder.get_relative_uri(page, GLOSSARY)
    for text in list(doctree.findall(nodes.Text)):
        parents = list(ancestors(text))
        if not isinstance(text.parent, nodes.paragraph) or any(
            isinstance(parent, LEFT_ALONE) for parent in parents
        ):
            continue
        found = re.search(rf"\b({'|'.join(map(as_written, left))})(s|es)?\b", text.astext(), re.I)
        if left and found:
            word = next(each for each in left if each.lower() == found[1].lower())
            left.remove(word)
            before, after = text.astext()[: found.start()], text.astext()[found.end() :]
            link = nodes.reference("", found[0], internal=True, classes=["term"])
            link["refuri"] = f"{there}#{app.env.words[word]['id']}"
            text.parent.replace(text, [nodes.Text(before), link, nodes.Text(after)])


def as_written(word):
    """Return the pattern of a word, whose capital counts: Go is a method, and go is none."""
    return re.escape(word) if word.islower() else f"(?-i:{re.escape(word)})"


def ancestors(node):
    while node := node.parent:
        yield node


def own_names(title):
    """Return the names that a chapter's title gives to what it is about.

    >>> own_names("SOAP, SRT and CSSP: change one line of IPU")
    ['soap', 'srt', 'cssp']
    """
    lead = title.split(":")[0].lower()
    names = re.split(r", | and ", lead)
    return [re.sub(r"^the ", "", name) for name in names]


def places(app):
    """Return [names, what it is, title, address], the nearest to a name's own home first."""
    env, address = app.env, app.builder.get_target_uri
    for page, title in env.titles.items():
        yield own_names(title.astext()), "chapter", title.astext(), address(page)
    for name, said in ABOUT.items():
        if "section" in said and "," not in name:
            page, _, heading = said["section"].partition("#")
            home = "book/" + page.removesuffix(".ipynb")
            title = heading.replace("-", " ") or env.titles[home].astext()
            target = address(home) + f"#{heading}" * bool(heading)
            yield [name.lower(), name.replace("_", " ").lower()], "solver", title, target
    for word, known in env.words.items():
        yield [word.lower()], "glossary", word, f"{address(GLOSSARY)}#{known['id']}"
    for letter in env.letters:
        sign = letter["sign"]
        names = {sign, sign.split("_")[0], letter["tex"].strip("\\")}
        names |= {name for name, greek in GREEK.items() if greek == sign.split("_")[0]}
        title = f"{sign}: {letter['means']}" + f" ({', '.join(letter['in'])})" * bool(letter["in"])
        yield sorted(names), "letter", title, address(NOTATION)
    for page, toc in env.tocs.items():
        for link in list(toc.findall(nodes.reference))[1:]:
            heading = link.astext()
            yield [heading.lower()], "section", heading, address(page) + link["anchorname"]


def write(app, error):
    if error or app.builder.format != "html":
        return
    words = {known["id"]: known["means"] for known in app.env.words.values()}
    letters = [[each["sign"], each["in"], each["means"]] for each in app.env.letters]
    data = {"words.js": {"words": words, "letters": letters}, "places.js": [*places(app)]}
    for name, content in data.items():
        text = f"window.{name.split('.')[0].upper()} = {json.dumps(content, ensure_ascii=False)};\n"
        Path(app.outdir, "_static", name).write_text(text, encoding="utf-8")


def search_first(app, page, template, context, doctree):
    """Only the page of the search reads where things are."""
    if page == "search":
        for name in ("places.js", "search.js"):
            app.add_js_file(name, loading_method="defer")


def setup(app):
    app.connect("env-updated", read_words)
    app.connect("doctree-resolved", link_words)
    app.connect("html-page-context", search_first)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
