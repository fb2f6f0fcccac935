"""A chapter as every viewer reads it: theorems, proofs and exercises as text, not as directives.

A download is made so; the chapters keep their directives, from which the book numbers theorems.
"""

import json
import re

OPEN = re.compile(r"(:{3,})\{([\w:-]+)\} *(.*)")
OPTION = re.compile(r":([\w-]+): *(.*)")
END = {"proof": " $\\square$"}


def plain(text):
    """Return a cell's text with each directive as a paragraph that names what it is.

    >>> print(plain(":::{prf:theorem} Go is exact\\n:label: thm-go\\n\\nIt is.\\n\\n:::"))
    <a id="thm-go"></a>**Theorem (Go is exact).** It is.
    >>> print(plain(":::{prf:proof}\\n\\nAs\\n\\n$$\\nx = x.\\n$$\\n\\n:::\\n\\nNext."))
    **Proof.** As
    <BLANKLINE>
    $$
    x = x.
    $$
    <BLANKLINE>
    $\\square$
    <BLANKLINE>
    Next.
    """
    text = re.sub(r"^(\$\$) *\([\w-]+\)$", r"\1", text, flags=re.M)  # a formula's label
    lines, opened, result = iter(text.splitlines()), [], []
    for line in lines:
        if opened and line.strip() == opened[-1][0]:
            close(result, opened.pop()[1])
        elif begun := OPEN.fullmatch(line.rstrip()):
            colons, kind, title = begun.groups()
            name, line = kind.rpartition(":")[2], next(lines, "")
            options = {}
            while option := OPTION.fullmatch(line.rstrip()):
                options[option[1]] = option[2]
                line = next(lines, "")
            result.append(head(name, title, options))
            opened.append((colons, name))
            if line.strip() == colons:
                close(result, opened.pop()[1])
            elif line.strip():
                add(result, line)
        else:
            add(result, line)
    return "\n".join(result)


def head(name, title, options):
    """Return the words that a directive begins with, and the place that links to it lead to."""
    if name.startswith("solution"):
        return "" if name == "solution-end" else "**Solution.** "
    about = f" ({title})" if title else ""
    label = options.get("label", "")
    place = f'<a id="{label}"></a>' if label else ""
    return f"{place}**{name.capitalize()}{about}.** "


def add(result, line):
    """Add a line; the first of a directive's body goes on in the line of its head."""
    if not (result and result[-1].endswith(".** ")):
        result.append(line)
    elif line.strip() and not re.match(r"\$\$|[-*\d|`#>]", line):
        result[-1] += line
    elif line.strip():
        result[-1] = result[-1].rstrip()
        result += ["", line]


def close(result, name):
    """End a directive: a proof with its sign, in the last line where that is a sentence."""
    result[-1] = result[-1].rstrip()
    while result[-1:] == [""]:
        result.pop()
    sign = END.get(name, "")
    if sign and re.search(r"[.!?)]$", result[-1]):
        result[-1] += sign
    elif sign:
        result += ["", sign.strip()]


def plain_notebook(text):
    """Return the JSON of a notebook with the text of its cells made plain."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = plain("".join(cell["source"])).splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
