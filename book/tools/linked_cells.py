"""Sphinx extension: a name of the module in a cell leads to its description.

A page's names are those that its cells import and bind to nothing else.  Descriptions are read as
they were written: |x| is a length.
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


def linked(block, meant, places):
    """Return a block of highlighted code whose names that have a place are links to it."""

    def link(found):
        name, attribute = found.groups()
        whole, text = meant.get(name, ""), found[0]
        for word, target in ((name, whole), (attribute, f"{whole}.{attribute}")):
            if target in places:
                span = f'<span class="n">{word}</span>'
                anchor = f'<a class="api" title="{target}" href="{places[target]}">'
                text = text.replace(span, f"{anchor}{span}</a>", 1)
        return text

    return NAME.sub(link, block)


def link_cells(app, page, template, context, doctree):
    """Link the names in a page's cells."""
    if doctree is None or page.startswith(API) or "body" not in context:
        return
    meant = meanings(block.astext() for block in doctree.findall(nodes.literal_block))
    places = {
        name: f"{app.builder.get_relative_uri(page, entry.docname)}#{entry.node_id}"
        for name, entry in app.env.domains["py"].objects.items()
        if entry.docname.startswith(API)
    }
    context["body"] = BLOCK.sub(lambda found: linked(found[0], meant, places), context["body"])


def take_bars_as_they_are(app, what, name, thing, options, lines):
    """Sphinx would take what stands between two bars for a substitution, but not in an example."""
    code = (">>>", "...")
    lines[:] = [
        line if line.lstrip().startswith(code) else line.replace("|", r"\|") for line in lines
    ]


def setup(app):
    app.connect("autodoc-process-docstring", take_bars_as_they_are)
    app.connect("html-page-context", link_cells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
