"""Sphinx extension: words and letters show what they mean, and the search finds them first.

The first time that a page uses a word of the glossary, the word becomes a link to it.  What words
and letters mean goes into `words.js`, from the glossary and the table of the notation; where each
name has its place goes into `places.js`, which the search reads: chapters by the names in their
titles, solvers by the registry, headings, the glossary, letters by name and by sign, each with a
line of text; `texts.js` has what the pages say.  How a page begins is its description.
"""

import json
import re
from html import escape
from pathlib import Path
from textwrap import shorten

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


def first_line(node, width=155):
    """Return how a page or a section begins: its first sentences, cut where a line ends."""
    words = (" ".join(each.astext().split()) for each in node.findall(nodes.paragraph))
    text = re.sub(r"^(The question|Problem|Idea)\. ", "", next((w for w in words if w[40:]), ""))
    return shorten(text, width, placeholder=" ...")


def read_texts(app, env):
    """Keep what each page says, and how it and its sections begin."""
    env.texts, env.begin = {}, {}
    for page in env.found_docs:
        tree = env.get_doctree(page)
        words = (each.astext() for each in tree.findall(nodes.paragraph))
        env.texts[page.removeprefix("book/")] = " ".join(" ".join(words).split())
        env.begin[page] = first_line(tree) or env.titles[page].astext()
        for part in tree.findall(nodes.section):
            line = first_line(part) or env.begin[page]
            env.begin |= {f"{page}#{name}": line for name in part["ids"]}


def own_names(title):
    """Return the names that a chapter's title gives to what it is about.

    >>> own_names("SOAP, SRT and CSSP: change one line of IPU")
    ['soap', 'srt', 'cssp']
    """
    lead = title.split(":")[0].lower()
    names = re.split(r", | and ", lead)
    return [re.sub(r"^the ", "", name) for name in names]


def places(app):
    """Return [names, what it is, title, address, a line of text] of all that has a name."""
    env, address = app.env, app.builder.get_target_uri
    begin = env.begin
    for page, title in env.titles.items():
        yield own_names(title.astext()), "chapter", title.astext(), address(page), begin[page]
    for name, said in ABOUT.items():
        if "section" in said and "," not in name:
            page, _, heading = said["section"].partition("#")
            home = "book/" + page.removesuffix(".ipynb")
            title = heading.replace("-", " ") or env.titles[home].astext()
            target = address(home) + f"#{heading}" * bool(heading)
            line = begin.get(f"{home}#{nodes.make_id(heading)}", begin[home])
            yield [name.lower(), name.replace("_", " ").lower()], "solver", title, target, line
    for word, known in env.words.items():
        place = f"{address(GLOSSARY)}#{known['id']}"
        yield [word.lower()], "glossary", word, place, known["means"]
    for letter in env.letters:
        sign = letter["sign"]
        names = {sign, sign.split("_")[0], letter["tex"].strip("\\")}
        names |= {name for name, greek in GREEK.items() if greek == sign.split("_")[0]}
        title = f"{sign}: {letter['means']}" + f" ({', '.join(letter['in'])})" * bool(letter["in"])
        yield sorted(names), "letter", title, address(NOTATION), begin[NOTATION]
    for page, toc in env.tocs.items():
        for link in list(toc.findall(nodes.reference))[1:]:
            heading = link.astext()
            target = address(page) + link["anchorname"]
            line = begin.get(page + link["anchorname"], begin[page])
            yield [heading.lower()], "section", heading, target, line


def write(app, error):
    if error or app.builder.format != "html":
        return
    words = {known["id"]: known["means"] for known in app.env.words.values()}
    letters = [[each["sign"], each["in"], each["means"]] for each in app.env.letters]
    data = {"words.js": {"words": words, "letters": letters}, "places.js": [*places(app)]}
    data["texts.js"] = app.env.texts
    for name, content in data.items():
        text = f"window.{name.split('.')[0].upper()} = {json.dumps(content, ensure_ascii=False)};\n"
        Path(app.outdir, "_static", name).write_text(text, encoding="utf-8")


def describe(app, page, template, context, doctree):
    """A page says in its head what it is about; the page of the search alone reads where all is."""
    if page == "search":
        for name in ("texts.js", "places.js", "search.js"):
            app.add_js_file(name, loading_method="defer")
    about, book = app.env.begin.get(page, ""), app.env.begin[app.config.root_doc]
    about = about if about[40:] else shorten(f"{about}. {book}".lstrip(". "), 155)
    tag = f'<meta name="description" content="{escape(about)}" />'
    context["metatags"] = context.get("metatags", "") + tag


def setup(app):
    app.connect("env-updated", read_words)
    app.connect("doctree-resolved", link_words)
    app.connect("env-updated", read_texts)
    app.connect("html-page-context", describe)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
