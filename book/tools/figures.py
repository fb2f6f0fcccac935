"""Figures of the pages: in the page's own ink, numbered by chapter, with their finding below.

A cell's picture and the emphasised paragraph that follows it become a figure with its caption.
A picture of vectors is written into the page: black becomes the ink of its text, white its ground,
a grey what lies between, and the colours of methods are lighter on a dark ground (book.css).
What no eye sees is left out: a hundredth of a point, and a style said of each mark of a curve.
"""

import hashlib
import re
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from fspca.plots import PALETTE
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
GREY = re.compile(r"#([0-9a-f]{2})\1\1\b")
COLOUR, FULL = re.compile("|".join(PALETTE), re.I), r"color-mix(in srgb, \g<0> var(--full), white)"
PLACES, DIGITS = {"x", "y", "d"}, re.compile(r"-?\d+\.\d{2,}")
GROUPS = {f"{SVG}{name}" for name in ("svg", "g", "defs", "clipPath")}
OWN = re.compile(r"(^|; *)opacity")  # a group is made transparent as one
# What cells and `idea_drawings.py` draw, by its folder, and the cover's picture.
OURS = {"jupyter_execute", "ideas", "every_choice.svg"}
REFERENCE = re.compile(r"(?<=url\(#)[^)]+|(?<=^#)\w+$")


def setup(app):
    app.connect("doctree-read", with_captions)
    app.connect("env-get-updated", hide_sections, priority=400)  # at 500 numbers are given
    app.connect("env-get-updated", show_sections, priority=600)
    app.add_post_transform(DrawnInThePage)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def hide_sections(_, env):
    """Sections have no number; a chapter below another has one, as 21.1, and 21 counts figures."""
    below = [part for toc in env.tocs.values() for page in toc[:1] for part in page[1:]]
    env.sections = [(listed, listed[:]) for listed in below]
    for listed, entries in env.sections:
        listed[:] = [each for each in entries if isinstance(each, addnodes.toctree)]
    return []  # no page is to be read again


def show_sections(_, env):
    """List them again, each known to have no number: else it would have its page's."""
    for listed, entries in env.sections:
        listed[:] = entries
    del env.sections
    for page, numbers in env.toc_secnumbers.items():
        for title in env.tocs[page].findall(nodes.reference):
            numbers.setdefault(title["anchorname"], None)
    return []


def with_captions(_, tree):
    """Make a figure of each cell's picture that an emphasised paragraph follows."""
    cells = [node for node in tree.findall(nodes.container) if "cell" in node["classes"]]
    for number, (cell, below) in enumerate(filter(is_captioned, map(with_next, cells)), start=1):
        picture = next(part for part in cell[-1] if any(part.findall(nodes.image)))
        place = cell[-1].index(picture)
        cell[-1].remove(picture)
        caption = nodes.caption("", "", *below[0].children)
        drawn = nodes.figure("", picture, caption, ids=[f"figure-{number}"], classes=["drawn"])
        if cell.get("hide_mode") in ("all", "output", "input+output"):  # the finding is hidden, too
            cell[-1].insert(place, drawn)
            below.parent.remove(below)
        else:
            below.replace_self(drawn)


def with_next(node):
    return node, node.next_node(descend=False, siblings=True)


def is_captioned(pair):
    cell, below = pair
    emphasised = isinstance(below, nodes.paragraph) and isinstance(below[0], nodes.emphasis)
    return emphasised and len(below) == 1 and any(cell.findall(nodes.image))


class DrawnInThePage(SphinxPostTransform):
    """Put the vector graphics of cells, and the drawings of ideas, into the page itself."""

    default_priority = 300  # when it is chosen which of an output's kinds is shown
    formats = ("html",)

    def run(self, **_):
        for image in list(self.document.findall(nodes.image)):
            path = Path(image["uri"])
            if path.suffix == ".svg" and OURS.intersection(path.parts):
                drawn = in_ink((Path(self.env.srcdir) / path).read_text("utf-8"), image["alt"])
                image.replace_self(nodes.raw("", drawn, format="html"))


def in_ink(text, alt):
    """Return an SVG for use within a page whose colours it takes, with an alternative text."""
    root = ElementTree.fromstring(text)
    for rules in root.findall(f"{SVG}defs"):
        if rules.find(f"{SVG}style") is not None:
            root.remove(rules)  # they would hold for the whole page
    width, _ = root.attrib.pop("width"), root.attrib.pop("height")
    root.attrib |= {"role": "img", "aria-label": alt, "class": "ink", "style": f"width: {width}"}
    kept = set(on_cells(root))
    for node in root.iter():
        if node in kept and node.tag == f"{SVG}text":
            node.attrib.setdefault("fill", "black")
        elif node not in kept and "style" in node.attrib:
            style = GREY.sub(of_ink, node.attrib["style"])
            node.attrib["style"] = COLOUR.sub(FULL, style)
    lighten(root)
    with_own_ids(root, "f" + hashlib.sha256(text.encode()).hexdigest()[:8])
    ElementTree.register_namespace("", SVG[1:-1])
    return ElementTree.tostring(root, encoding="unicode")


def on_cells(root):
    """Yield a heat map's cells, and the text on them or on an image: these keep their colours."""
    for axes in root.iter(f"{SVG}g"):
        names = [child.get("id", "") for child in axes]
        if any(name.startswith(("QuadMesh", "image")) for name in names):
            for child, name in zip(axes, names, strict=True):
                if name.startswith(("text", "QuadMesh")):
                    yield from child.iter()


def of_ink(grey):
    """Return what a grey is between the page's ink and its ground."""
    share, ground = round(100 - int(grey[1], 16) / 2.55), "var(--pst-color-background)"
    between = f"color-mix(in srgb, currentColor {share}%, {ground})"
    return {100: "currentColor", 0: ground}.get(share, between)


def lighten(root):
    """Round places to hundredths of a point, and say once what all parts of a group share."""
    for node in root.iter():
        for name in PLACES & node.attrib.keys():
            rounded = DIGITS.sub(lambda found: f"{float(found[0]):.2f}", node.attrib[name])
            node.set(name, " ".join(rounded.split()))
        if node.tag in GROUPS:
            node.text = None
            for part in node:
                part.tail = None
        styles = {part.get("style", "") for part in node if part.tag != f"{SVG}defs"}
        if node.tag == f"{SVG}g" and "style" not in node.attrib and len(styles) == 1:
            style = styles.pop()
            if style and not OWN.search(style):
                node.set("style", style)
                for part in node:
                    part.attrib.pop("style", None)


def with_own_ids(root, mark):
    """Drop the ids that nothing refers to; the others must differ from another picture's."""
    used = set()
    for node in root.iter():
        for name, value in node.attrib.items():
            used |= set(REFERENCE.findall(value))
            node.attrib[name] = REFERENCE.sub(rf"{mark}\g<0>", value)
    for node in root.iter():
        if link := node.attrib.pop(LINK, None):
            node.set("href", link)  # a page knows no namespaces
        if (name := node.attrib.pop("id", None)) in used:
            node.set("id", mark + name)
