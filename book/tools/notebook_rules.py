"""What every notebook of the book keeps to: each rule lists the cells that break it.

A rule takes a notebook and gives one line per fault, which begins with the cell's number.
"""

import ast
import re
from itertools import chain
from statistics import median

MOST_LINES, MOST_MEDIAN_LINES = 25, 8
NOTEBOOK_METADATA = {"kernelspec", "language_info"}
KERNELSPEC = {"name", "display_name", "language"}
CELL_METADATA = {"mystnb", "nbgrader", "tags"}
SHOWING = {"print", "display", "show", "glue"}
ABSOLUTE_PATH = re.compile(
    r"(?<![\w.:/])/(home|Users|root|tmp|work|usr|opt|mnt|var)/|\b[A-Z]:\\\\?\w"
)
SHELL = re.compile(
    r"^\s*[%!]|get_ipython|\bpip3? install|\bconda install|os\.system|from subprocess"
    r"|subprocess\.(?!run\(command)",
    re.M,
)
OWN_PYTHON = re.compile(r"command = \[sys\.executable\b")  # which is there on every system
NUMBER = re.compile(r"(?<![\w.])(\d+\.\d+)")
MOST_DIGITS = 7  # machines agree on 6; one number is printed as its paper prints it
BARE_OBJECT = re.compile(r"<[\w. ]*(matplotlib|Axes|Figure)|\bat 0x[0-9a-f]+")
IMAGE_TYPES = {"image/png", "image/jpeg", "image/svg+xml"}
ROLE = re.compile(r"(?<![\w`])\{[a-z][\w:.-]*\}`")
CODE_FENCE = re.compile(r"^ *`{3,}\{[a-z][\w:.-]*\}.*", re.M)
SECTION_LABEL = re.compile(r"^\([a-zA-Z][a-zA-Z0-9-]*\)=$", re.M)  # an experiment's id has "_"
CROWDED = re.compile(
    r"^:{3,}\{(?!solution)[^\n]*\n(:[a-z-]+:[^\n]*\n)*(?![\n:])[^\n]+|^(?!:)[^\n]+\n:{3,}$", re.M
)
CAPTION = re.compile(r"\*(?!\*).+?(?<!\*)\*(?=\n\n|$)", re.S)
QUANTITY = re.compile(r"(?<![\w.^])(?<!\^\{)\d[\d,]*(?:\.\d+)?")
ACROSS = re.compile(  # what a drawing of matplotlib has on its axes from left to right
    r'<g id="matplotlib\.axis_\d*[13579]">(.*?)<g id="matplotlib\.axis_', re.S
)
DRAWN_TEXT = re.compile(r"<text[^>]*>([^<]+)</text>")
COUNTED = re.compile(r"\b(steps?|features?|components?|nonzeros|nodes|count)\b(?! \d)|^[km]$")
CLAIMS, TAKE_AWAY = "**What is claimed**", re.compile(r"^## What to take away$", re.M)
NEXT = re.compile(r"^\*\*What comes next[.:]?\*\*", re.M)
EXERCISE = re.compile(r"^:::+\{exercise\}.*\n:label: ([\w-]+)\n+(\(Open)?", re.M)
SOLUTION = re.compile(r"^:::+\{solution(?:-start)?\} ([\w-]+)", re.M)
PRIVATE_WORDS = {  # a word of ours, and the field's
    r"\bwitness(es|ed)?\b": "numerical check",
    r"\bloud(er|est)?\b": "of large variance",
    r"\blight bounds?\b": "closed-form bound",
    r"\btold apart\b|\btells? (\w+ ){1,3}apart\b": "distinguished",
    r"\bthe panel\b(?!:)": "the gene panel",
}
EMPTY_ALTERNATIVE = re.compile(r"!\[\s*\]\(")


def outputs_are_stored(notebook):
    return [
        f"cell {i}: its code shows something, and no output is stored"
        for i, cell in code_cells(notebook)
        if shows_something(cell.source) and not cell.outputs
    ]


def is_executed_in_order(notebook):
    return [
        f"cell {i}: execution count {cell.execution_count}, expected {expected}"
        for expected, (i, cell) in enumerate(code_cells(notebook), start=1)
        if cell.execution_count != expected
    ]


def metadata_is_clean(notebook):
    faults = [f"notebook: metadata {n!r}" for n in set(notebook.metadata) - NOTEBOOK_METADATA]
    faults += [
        f"notebook: metadata kernelspec.{name}"
        for name in set(notebook.metadata.get("kernelspec", {})) ^ KERNELSPEC
    ]
    if dict(notebook.metadata.get("language_info", {})) != {"name": "python"}:
        faults.append("notebook: metadata language_info must be {'name': 'python'}")
    return faults + [
        f"cell {i}: metadata {name!r}"
        for i, cell in enumerate(notebook.cells)
        for name in set(cell.metadata) - CELL_METADATA
    ]


def cells_are_short(notebook):
    lengths = {i: lines(cell) for i, cell in code_cells(notebook)}
    faults = [
        f"cell {i}: {length} lines, at most {MOST_LINES}"
        for i, length in lengths.items()
        if length > MOST_LINES
    ]
    if lengths and median(lengths.values()) > MOST_MEDIAN_LINES:
        faults.append(
            f"notebook: median cell of {median(lengths.values()):g} lines, at most "
            f"{MOST_MEDIAN_LINES}"
        )
    return faults


def images_have_alternative_text(notebook):
    faults = [
        f"cell {i}: an image, and no text in its metadata under mystnb.image.alt"
        for i, cell in code_cells(notebook)
        if any(map(is_image, cell.outputs))
        and not cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "").strip()
    ]
    return faults + [
        f"cell {i}: an image with an empty alternative text"
        for i, cell in enumerate(notebook.cells)
        if cell.cell_type == "markdown" and EMPTY_ALTERNATIVE.search(cell.source)
    ]


def vectors_have_a_picture(notebook):
    """JupyterLab shows no vectors of a notebook that it does not trust, as a download is."""
    return [
        f"cell {i}: vector graphics, and no picture beside them: run it with `make notebooks`"
        for i, cell in code_cells(notebook)
        for output in cell.outputs
        if "image/svg+xml" in (data := output.get("data", {})) and "image/png" not in data
    ]


def figures_have_a_finding(notebook):
    return [
        f"cell {i}: an image, and no paragraph of emphasis below it says what it shows"
        for i, caption in captions(notebook)
        if not caption
    ]


def numbers_in_captions_are_asserted(notebook):
    """They stand in the code above or in what it prints, or a hundredth where they are per cent."""
    return [
        f"cell {i}: {number} is in the caption, and neither in the code above nor in what it prints"
        for i, caption in captions(notebook)
        for number in QUANTITY.findall(re.sub(r"\[[^]]*\]\([^)]*\)", "", caption))
        if value(number) not in quantities(notebook.cells[: i + 1])
    ]


def counted_axes_are_whole(notebook):
    """Nobody takes one and a half steps, or chooses two and a half features."""
    return [
        f"cell {i}: the axis {label!r} shows {tick}"
        for i, cell in code_cells(notebook)
        for output in cell.outputs
        for axis in ACROSS.findall(output.get("data", {}).get("image/svg+xml", ""))
        for *ticks, label in [DRAWN_TEXT.findall(axis) or [""]]
        if COUNTED.search(label)
        for tick in ticks
        if "." in tick
    ]


def paths_are_relative(notebook):
    return [
        f"cell {i}: absolute path {found[0]!r}"
        for i, cell in enumerate(notebook.cells)
        for text in [cell.source, *chain.from_iterable(map(texts, cell.get("outputs", [])))]
        if (found := ABSOLUTE_PATH.search(text))
    ]


def nothing_warns(notebook):
    return [
        f"cell {i}: {output.get('name', 'error')} output is stored"
        for i, cell in code_cells(notebook)
        for output in cell.outputs
        if output.output_type == "error" or output.get("name") == "stderr"
    ]


def code_is_plain_python(notebook):
    return [
        f"cell {i}: a magic, a shell command or an installation"
        for i, cell in code_cells(notebook)
        if SHELL.search(cell.source)
        or ("subprocess.run" in cell.source and not OWN_PYTHON.search(cell.source))
    ]


def imports_share_a_cell(notebook):
    importing = [i for i, cell in code_cells(notebook) if has_imports(cell.source)]
    return [f"cell {i}: imports belong in cell {importing[0]}" for i in importing[1:]]


def no_object_is_shown_bare(notebook):
    return [
        f"cell {i}: {found[0]!r} is shown; end a plot with plt.show()"
        for i, cell in code_cells(notebook)
        for output in cell.outputs
        if not is_image(output)  # whose other face is text that nobody sees
        for text in texts(output)
        if (found := BARE_OBJECT.search(text))
    ]


def numbers_have_few_digits(notebook):
    return [
        f"cell {i}: shows {number}, more than {MOST_DIGITS} digits"
        for i, cell in code_cells(notebook)
        for output in cell.outputs
        for text in texts(output)
        for number in NUMBER.findall(text)
        if len(number.replace(".", "").lstrip("0")) > MOST_DIGITS
    ]


def no_cell_escapes_the_comparison(notebook):
    return [
        f"cell {i}: tag nbval-skip"
        for i, cell in code_cells(notebook)
        if "nbval-skip" in cell.metadata.get("tags", [])
    ]


def text_reads_in_any_viewer(notebook):
    """No roles, no directives in code fences, no labels where a heading's own name will do."""
    advice = {
        ROLE: "write $...$, or a link with words: [Go's theorem](#thm-go)",
        CODE_FENCE: "write ::: and, for a formula, $$",
        SECTION_LABEL: "link to the heading: [here](#Where-it-fails)",
    }
    return [
        f"cell {i}: {found[0]!r} is shown as it stands by plain viewers: {advice[sign]}"
        for i, cell in enumerate(notebook.cells)
        if cell.cell_type == "markdown"
        for sign in advice
        for found in sign.finditer(cell.source)
    ]


def directives_stand_apart(notebook):
    """A blank line after a directive's options and before its end: its body is a paragraph."""
    return [
        f"cell {i}: no blank line within {found[0].splitlines()[0]!r}"
        for i, cell in enumerate(notebook.cells)
        if cell.cell_type == "markdown"
        for found in CROWDED.finditer(cell.source)
    ]


def claims_come_last(notebook):
    """What a chapter has shown stands at its end, to take away, and then what comes next."""
    text = prose_of(notebook)
    first = text.split("\n\n")[0]
    faults = [f"notebook: {CLAIMS} at the head; say it at the end"] if CLAIMS in text else []
    end = found.start() if (found := TAKE_AWAY.search(text)) else 0
    if not end and "{exercise}" in text:
        faults.append(f"notebook: no heading 'What to take away' in {first!r}")
    if not NEXT.search(text, end):
        faults.append("notebook: its end does not say **What comes next**")
    return faults


def answers_are_folded(notebook):
    """What follows a task to predict: by itself where it begins with Predict, else by a tag."""
    faults, asked = [], None
    for i, cell in enumerate([*notebook.cells, {"cell_type": "markdown", "source": ""}]):
        if cell["cell_type"] == "code":
            asked = None if "hide-output" in cell["metadata"].get("tags", ()) else asked
        else:
            if asked is not None:
                faults.append(f"cell {asked}: no cell below has the tag hide-output")
            asked = i if "**predict" in cell["source"] else None
    return faults


def exercises_are_solved(notebook):
    """All but those that say (Open.)."""
    text = prose_of(notebook)
    solved = set(SOLUTION.findall(text))
    return [
        f"notebook: exercise {label} has no solution"
        for label, is_open in EXERCISE.findall(text)
        if not is_open and label not in solved
    ]


def words_are_the_fields(notebook):
    return [
        f"cell {i}: {found[0]!r}: {better}"
        for i, cell in enumerate(notebook.cells)
        if cell.cell_type == "markdown"
        for word, better in PRIVATE_WORDS.items()
        for found in re.finditer(word, re.sub(r"\]\([^)]*\)", "]", cell.source), re.I)
    ]


RULES = [
    outputs_are_stored,
    is_executed_in_order,
    metadata_is_clean,
    cells_are_short,
    images_have_alternative_text,
    vectors_have_a_picture,
    figures_have_a_finding,
    numbers_in_captions_are_asserted,
    counted_axes_are_whole,
    paths_are_relative,
    nothing_warns,
    code_is_plain_python,
    imports_share_a_cell,
    no_object_is_shown_bare,
    numbers_have_few_digits,
    no_cell_escapes_the_comparison,
    text_reads_in_any_viewer,
    directives_stand_apart,
    exercises_are_solved,
    answers_are_folded,
]
CHAPTER_RULES = [claims_come_last, words_are_the_fields]  # of what teaches; not of the appendix


def prose_of(notebook):
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def code_cells(notebook):
    """Pairs (place in the notebook, cell) of the code cells that hold any code."""
    cells = enumerate(notebook.cells)
    return [(i, cell) for i, cell in cells if cell.cell_type == "code" and cell.source.strip()]


def captions(notebook):
    """Pairs (place of a cell with an image, the emphasised paragraph below it or "")."""
    for i, cell in code_cells(notebook):
        if any(map(is_image, cell.outputs)):
            below = notebook.cells[i + 1].source if i + 1 < len(notebook.cells) else ""
            yield i, found[0] if (found := CAPTION.match(below)) else ""


def quantities(cells):
    code = " ".join(
        " ".join([cell.source, *(output.get("text", "") for output in cell.outputs)])
        for cell in cells
        if cell.cell_type == "code"
    )
    found = {value(number) for number in QUANTITY.findall(code.replace("_", ""))}
    return found | {round(100 * number, 9) for number in found}


def value(number):
    return float(number.replace(",", "").rstrip("."))


def lines(cell):
    return sum(1 for line in cell.source.splitlines() if line.strip())


def parsed(source):
    try:
        return ast.parse(source)
    except SyntaxError:  # a magic, which has its own rule
        return ast.parse("")


def called_name(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def has_imports(source):
    return any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(parsed(source)))


def shows_something(source):
    """Whether a cell surely gives output: it prints or plots, or ends in a plain value."""
    body = parsed(source).body
    calls = [n.value for n in body if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    if any(called_name(call) in SHOWING for call in calls):
        return True
    last = body[-1] if body else None
    # What a call gives is not known from its text: it may be None.
    return isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call | ast.Constant)


def is_image(output):
    return not IMAGE_TYPES.isdisjoint(output.get("data", {}))


def texts(output):
    """All text that a stored output shows."""
    data = output.get("data", {})
    return [output.get("text", ""), *(data[kind] for kind in data if kind.startswith("text/"))]
