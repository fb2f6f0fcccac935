"""Sphinx extension: a name of the module in a cell leads to its place on the page of all names.

A page's names are those that its cells import and bind to nothing else.
"""

import ast
import re

from docutils import nodes

API = "book/appendix/api"
BLOCK = re.compile(r'<div class="highlight-i?python3?\b.*?</pre>', re.S)
DOT = r'<span class="o">\.</span>'
NAME = re.compile(
    rf'(?<!{DOT})<span class="n">(\w+)</span>(?:{DOT}<span class="n">(\w+)</span>)?'
    r'(?!<span class="o">=</span>)'
)


def meanings(cells):
    """Return what the names of ours mean in cells, but for those that the cells bind themselves.

    >>> meanings(["from fspca import go, ipu", "ipu = 3", "%no python"])
    {'go': 'fspca.go'}
    """
    taken, bound = {}, set()
    for cell in cells:
        try:
            tree = ast.parse(cell)
        except SyntaxError:  # output, or a cell of another language
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and re.match(r"fspca(\.|$)", node.module or ""):
                taken |= {each.asname or each.name: f"{node.module}.{each.name}"
                          for each in node.names}  # fmt: skip
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                bound.add(node.name)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.add(node.id)
    return {name: taken[name] for name in taken if name not in bound}


def linked(block, meant, places, there):
    """Return a block of highlighted code whose names that have a place are links."""

    def link(found):
        name, attribute = found.groups()
        whole, text = meant.get(name, ""), found[0]
        for word, target in ((name, whole), (attribute, f"{whole}.{attribute}")):
            if target in places:
                span = f'<span class="n">{word}</span>'
                anchor = f'<a class="api" title="{target}" href="{there}#{places[target]}">'
                text = text.replace(span, f"{anchor}{span}</a>", 1)
        return text

    return NAME.sub(link, block)


def link_cells(app, page, template, context, doctree):
    """Link the names in a page's cells."""
    if doctree is None or page == API or "body" not in context:
        return
    meant = meanings(block.astext() for block in doctree.findall(nodes.literal_block))
    known = app.env.domains["py"].objects
    places = {name: entry.node_id for name, entry in known.items() if entry.docname == API}
    there = app.builder.get_relative_uri(page, API)
    context["body"] = BLOCK.sub(
        lambda found: linked(found[0], meant, places, there), context["body"]
    )


def setup(app):
    app.connect("html-page-context", link_cells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
