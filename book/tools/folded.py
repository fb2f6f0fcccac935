"""Sphinx extension: which cells a page folds, behind a line that says what they show.

What follows "Predict" is folded until it is asked for: outputs, the code where it asserts the
answer, and the text below, up to the next heading, task or cell of code, for it says what came out.
The code of a picture is folded, and a cell that does little but assert.  Code that the text above
counts, as "eight lines", stays open.  The notebooks stay as they are.
"""

import ast
import json
import re
from pathlib import Path
from textwrap import shorten

ANSWER, PICTURE = "Show what comes out", "Show the code of the picture"
READ_ON = "Read what came out"
CAPTION = re.compile(r"\*(?!\*).+?(?<!\*)\*(?=\n\n|$)\s*", re.DOTALL)
END = re.compile(r"^(?=#+ |:::|.*\*\*Predict)", re.MULTILINE)
COUNTED = re.compile(
    r"\b(three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen) (\w+ )?lines\b"
)
CODE, CHECK = "Show the code", "Show how this is checked"


def fold(app, page, source):
    """Give the cells of a notebook their tags and prompts before it is read."""
    if Path(app.env.doc2path(page)).suffix == ".ipynb":
        notebook = json.loads(source[0])
        fold_cells(notebook["cells"])
        source[0] = json.dumps(notebook)


def fold_cells(cells):
    """Fold them: answers with their text, pictures' code, checks."""
    answering = answered = counted = False
    for cell in cells:
        tags, text = cell["metadata"].setdefault("tags", []), "".join(cell["source"])
        if cell["cell_type"] == "code":
            answering |= "hide-output" in tags
            answered |= answering
            if answering and cell["outputs"]:
                tags.append("hide-output")
            if not counted or answering:
                fold_cell(cell)
        else:
            if answered:
                cell["source"] = text = with_answer_folded(text)
            if not CAPTION.fullmatch(text):
                answering = "**Predict" in text
                answered = False
        counted = cell["cell_type"] != "code" and bool(COUNTED.search(text))


def with_answer_folded(text):
    """Return the text below an answer, folded but for a caption, which its figure folds.

    >>> print(with_answer_folded("It grows.\\n\\n## Next"))
    <details class="answer"><summary>Read what came out</summary>
    <BLANKLINE>
    It grows.
    <BLANKLINE>
    </details>
    <BLANKLINE>
    ## Next
    """
    caption = found[0] if (found := CAPTION.match(text)) else ""
    end = found.start() if (found := END.search(text, len(caption))) else len(text)
    answer, rest = text[len(caption) : end].strip(), text[end:]
    if not answer:
        return text
    head = f'<details class="answer"><summary>{READ_ON}</summary>'
    return f"{caption}{head}\n\n{answer}\n\n</details>\n\n{rest}".rstrip()


def fold_cell(cell):
    tags, code = cell["metadata"]["tags"], "".join(cell["source"])
    kinds = {kind for output in cell["outputs"] for kind in output.get("data", ())}
    if "hide-output" in tags:
        prompt = ANSWER
        if asserting(code) or "hide-input" in tags:  # one fold, not two
            tags.append("hide-cell")
    elif kinds & {"image/svg+xml", "image/png"}:
        tags.append("hide-input")
        first = cell["metadata"]["mystnb"]["image"]["alt"].split(". ")[0]
        prompt = f"{PICTURE}: {shorten(first, 90, placeholder=' ...')}"
    elif not cell["outputs"] and asserting(code) >= 0.5:
        tags.append("hide-input")
        count = len(assertions(code))
        prompt = f"{CHECK}: {count} assertion{'s' * (count > 1)}"
    elif "hide-input" in tags:
        prompt = CODE
    else:
        return
    cell["metadata"].setdefault("mystnb", {})["code_prompt_show"] = prompt


def assertions(code):
    """Return those of a cell."""
    return [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Assert)]


def asserting(code):
    """Return the share of a cell's lines that assert.

    >>> asserting("x = 1\\nassert x == 1"), asserting("x = 1")
    (0.5, 0.0)
    """
    lines = sum(node.end_lineno - node.lineno + 1 for node in assertions(code))
    return lines / max(1, sum(bool(line.strip()) for line in code.splitlines()))


def setup(app):
    app.connect("source-read", fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
