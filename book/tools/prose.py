"""The English of the chapters and pages: what to look at again, one line for each find.

    python book/tools/prose.py    # long sentences, turns, short names that are not expanded

`make lint` runs it; spelling is looked at by codespell.
"""

import re
import sys

import nbformat

import toc

MOST_WORDS = 48  # of a sentence; a formula is one word
TURNS = {  # a rare turn, and what is said instead
    r"\b(to|cannot|can|could) be had\b": "found, reached",
    r"\bare \w+ had\b": "found",
    r"\bhangs? on\b": "depends on",
    r"\bof the say\b": "of the weight",
    r"\bis dear(er)?\b": "is expensive",
    r"\bnot to be had\b": "unavailable",
    r"\bfor ever\b": "forever",
    r"\boftener\b": "more often",
    r"\bcome(s)? by\b": "find, have",
    r"\bnone of the two\b": "neither",
    r"\bshall\b": "is to, will",
    r"\bthe both\b": "both",
    r"\bclearly\b": "say why",
}
EXPANDED = {"Go": "global optimum", "IPU": "iterative proxy update"}
NOT_PROSE = re.compile(
    r"```.*?```|\$\$.*?\$\$|\$[^$]+\$|`[^`]*`|\]\([^)]*\)|<[^>]+>|https?://\S+"
    r"|^ *:+[^\n]*|^\|[^\n]*|^\([\w-]+\)=$|\(eq-[\w-]+\)|^%[^\n]*",
    re.M | re.S,
)
WORD = re.compile(r"[A-Za-zÀ-ž]+(?:['-][A-Za-zÀ-ž]+)*")
END = re.compile(r"(?<=[.?!:])\**\s+|\n{2,}|^(?:#+|[-*]|\d+\.) ", re.M)


def pages():
    """Yield every page of the book with the pieces of its text."""
    for name in toc.pages():
        path = toc.ROOT / f"{name}.ipynb"
        if path.exists():
            cells = nbformat.read(path, as_version=4).cells
            yield path, [c.source for c in cells if c.cell_type == "markdown"]
        elif name != "book/appendix/ledger":  # made from the papers' words
            yield path.with_suffix(".md"), [path.with_suffix(".md").read_text()]


def plain(text):
    """Return a text without formulas, code, links' targets and directives."""
    return NOT_PROSE.sub(lambda found: " X " if found[0][0] in "$`" else " ", text)


def long_sentences(text):
    for sentence in END.split(plain(text)):
        if len(words := WORD.findall(sentence)) > MOST_WORDS:
            yield f"{len(words)} words: {' '.join(sentence.split())[:80]} ..."


def turns(text):
    for turn, better in TURNS.items():
        for found in re.finditer(turn, plain(text), re.I):
            yield f"{found[0]!r}: {better}"


def unexpanded(texts):
    """Yield the short names that a part of the book uses before it says what they stand for."""
    whole = "\n\n".join(texts).replace("*", "")
    for name, meaning in EXPANDED.items():
        used = re.search(rf"\b{name}\b(?! (on|from|beyond|to)\b)", whole)
        if used and meaning not in whole[: used.end() + 200]:
            yield f"{name} is not expanded ({meaning}) where this part first uses it"


def parts(found):
    """Return the texts of each part: of the pages that share a folder."""
    folders = {}
    for path, texts in found:
        folders.setdefault(path.parent, []).extend(texts)
    return {folder: texts for folder, texts in folders.items() if folder.name in PARTS}


PARTS = ("foundations", "shared_support", "separate_supports", "nonnegative", "practice")


def faults():
    """Yield every find, with its page."""
    found = list(pages())
    for path, texts in found:
        where = path.relative_to(toc.ROOT)
        for text in texts:
            for fault in (*long_sentences(text), *turns(text)):
                yield f"{where}: {fault}"
    for folder, texts in parts(found).items():
        for fault in unexpanded(texts):
            yield f"{folder.relative_to(toc.ROOT)}: {fault}"


if __name__ == "__main__":
    finds = list(faults())
    print(*finds, sep="\n")
    sys.exit(bool(finds))
