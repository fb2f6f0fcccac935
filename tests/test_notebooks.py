"""The notebooks keep to the rules, and each rule can fail."""

import json
import re
from itertools import pairwise, product
from pathlib import Path
from statistics import median

import folded
import nbformat
import notebook_rules as rules
import pytest
import toc
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

PATHS = toc.notebooks()
PAGES = [path for page in toc.pages() if (path := (toc.ROOT / page).with_suffix(".md")).exists()]
CHAPTERS = [path for path in PATHS if path.parent.name != "appendix"]
# What rests on experiments that no chapter can run live: one import, of stored rows.
SHOWING_ROWS = {
    "reproduce_tian2020", "reproduce_tan2019", "reproduce_asteris2014", "errata",
    "exact_search", "solve_separate", "prices", "when_it_matters",
}  # fmt: skip


def name(value):
    return value.stem if isinstance(value, Path) else getattr(value, "__name__", None)


@pytest.mark.parametrize(("path", "rule"), product(PATHS, rules.RULES), ids=name)
def test_notebook_keeps_the_rule(path, rule):
    faults = rule(nbformat.read(path, as_version=4))
    assert not faults, "\n".join([str(path.relative_to(toc.ROOT)), *faults])


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_pages_read_in_any_viewer(path):
    """As the chapters do; only a download that Sphinx must copy keeps its role."""
    text = path.read_text().replace("{download}", "")
    found = [sign.search(text) for sign in (rules.ROLE, rules.SECTION_LABEL)]
    assert not any(found), f"{path.name}: {found}"


def test_every_notebook_is_in_the_table_of_contents():
    written = {path for path in (toc.ROOT / "book").rglob("*.ipynb") if ".ipynb_" not in str(path)}
    written -= set((toc.ROOT / "book" / "assignments").rglob("*.ipynb"))  # handed out, not shown
    assert written <= set(PATHS), sorted(str(path) for path in written - set(PATHS))


@pytest.mark.parametrize(("path", "rule"), product(CHAPTERS, rules.CHAPTER_RULES), ids=name)
def test_chapter_keeps_the_rule(path, rule):
    faults = rule(nbformat.read(path, as_version=4))
    assert not faults, "\n".join([str(path.relative_to(toc.ROOT)), *faults])


def imports_of_ours(path):
    cells = rules.code_cells(nbformat.read(path, as_version=4))
    return [n for _, cell in cells for n in re.findall(r"^from fspca_repro.*", cell.source, re.M)]


@pytest.mark.parametrize("path", PATHS, ids=name)
def test_a_chapter_runs_with_what_a_reader_installs(path):
    """Our experiments' package is imported once, by the few chapters that show stored rows."""
    found = imports_of_ours(path)
    assert len(found) <= (path.stem in SHOWING_ROWS), "\n".join(found)


def unfolded(cells):
    """What a page shows of the text below answers, up to the next heading."""
    for above, cell in pairwise(cells):
        hidden = {"hide-output", "hide-cell"} & set(above["metadata"].get("tags", ()))
        if cell["cell_type"] == "markdown" and hidden:
            text = re.sub(r"<details.*?</details>", "", cell["source"], flags=re.S)
            text = folded.CAPTION.sub("", text, count=1) if folded.CAPTION.match(text) else text
            yield folded.END.split(text)[0].strip()


@pytest.mark.parametrize("path", PATHS, ids=name)
def test_no_text_below_an_answer_says_it(path):
    cells = json.loads(path.read_text())["cells"]
    for cell in cells:
        cell["source"] = "".join(cell["source"])
    folded.fold_cells(cells)
    assert not any(unfolded(cells))


def asked_and_answered(below):
    task, below = new_markdown_cell("**Predict** the sum."), new_markdown_cell(below)
    answer = new_code_cell("print(1 + 1)", metadata={"tags": ["hide-output"]})
    answer.outputs = [new_output("stream", name="stdout", text="2\n")]
    return [task, answer, below, new_code_cell("print(3)")]


def test_text_below_an_answer_is_seen_and_is_folded():
    cells = asked_and_answered("It is two.\n\n## Next\n\nThree.")
    assert list(unfolded(cells)) == ["It is two."]
    folded.fold_cells(cells)
    assert list(unfolded(cells)) == [""]
    assert "## Next" in cells[2].source.split("</details>")[1]


def test_code_that_the_text_counts_is_open():
    image = new_output("display_data", data={"image/png": "", "text/plain": "<Figure>"})
    alt = {"mystnb": {"image": {"alt": "a line"}}}
    for text, shown in (("It takes eight lines.", True), ("It takes a moment.", False)):
        cells = [new_markdown_cell(text), new_code_cell("plt.show()", outputs=[image])]
        cells[1].metadata.update(alt)
        folded.fold_cells(cells)
        assert ("hide-input" not in cells[1].metadata["tags"]) == shown


@pytest.mark.skipif(not PATHS, reason="no notebook yet")
def test_half_of_all_cells_have_at_most_five_lines():
    notebooks = [nbformat.read(path, as_version=4) for path in PATHS]
    lengths = [rules.lines(cell) for nb in notebooks for _, cell in rules.code_cells(nb)]
    assert median(lengths) <= 5


def sound_notebook():
    """A small notebook that breaks no rule: import, print, plot."""
    image = new_output("display_data", data={"image/png": "", "text/plain": "<Figure size 4x4>"})
    alt = {"mystnb": {"image": {"alt": "a falling line"}}}
    cells = [
        new_markdown_cell(
            "# Show a line\n![a dot](dot.png)\n\n"
            ":::{exercise}\n:label: ex-x\n\n(Open.)\nRead $x$.\n\n:::"
        ),
        new_code_cell("import numpy as np", execution_count=1),
        new_code_cell(
            "print(np.pi)",
            execution_count=2,
            outputs=[new_output("stream", name="stdout", text="3.14159\n")],
        ),
        new_code_cell(
            "plt.show()\nassert y < 0.25", execution_count=3, outputs=[image], metadata=alt
        ),
        new_markdown_cell("*It falls below 25 %.*"),
        new_markdown_cell("## What to take away\n\nIt falls.\n\n**What comes next.** A curve."),
    ]
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return new_notebook(
        cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}}
    )


def strip_outputs(notebook):
    notebook.cells[2].outputs = []


def strip_figure(notebook):
    notebook.cells[3].outputs = []


def strip_last_value(notebook):
    notebook.cells[1].source += "\nnp.pi"


def skip_a_count(notebook):
    notebook.cells[3].execution_count = 5


def never_run(notebook):
    notebook.cells[1].execution_count = None


def keep_timing(notebook):
    notebook.cells[1].metadata["execution"] = {"iopub.status.busy": "2026-01-01"}


def keep_version(notebook):
    notebook.metadata["language_info"]["version"] = "3.11.7"


def keep_extra(notebook):
    notebook.metadata["toc"] = {}


def keep_widgets(notebook):
    notebook.metadata["widgets"] = {}


def write_a_long_cell(notebook):
    notebook.cells[1].source += "\nx = 1" * 25


def write_long_cells(notebook):
    for _, cell in rules.code_cells(notebook):
        cell.source += "\nx = 1" * 8


def drop_alternative_text(notebook):
    notebook.cells[3].metadata = {}


def empty_alternative_text(notebook):
    notebook.cells[0].source = "![](dot.png)"


def drop_picture(notebook):
    data = notebook.cells[3].outputs[0].data
    data["image/svg+xml"] = data.pop("image/png")


def drop_caption(notebook):
    notebook.cells[4].source = "It falls below 25 %."


def change_caption(notebook):
    notebook.cells[4].source = "*It falls below 24 %.*"


def take_half_a_step(notebook):
    """As matplotlib draws an axis from left to right, and the one from below."""
    texts = "".join(f"<text x='1'>{words}</text>" for words in ("1.0", "1.5", "2.0", "step"))
    axes = f'<g id="matplotlib.axis_1">{texts}</g><g id="matplotlib.axis_2"></g>'
    notebook.cells[3].outputs[0].data["image/svg+xml"] = f"<svg>{axes}</svg>"


def name_a_home_folder(notebook):
    notebook.cells[1].source += "\nopen('/home/me/data.csv')"


def show_a_temporary_folder(notebook):
    notebook.cells[2].outputs[0].text = "saved in /tmp/run/figure.png"


def warn(notebook):
    notebook.cells[1].outputs = [new_output("stream", name="stderr", text="UserWarning: no")]


def raise_an_error(notebook):
    notebook.cells[1].outputs = [new_output("error", ename="ValueError", evalue="", traceback=[])]


def use_a_magic(notebook):
    notebook.cells[1].source = "%matplotlib inline"


def install(notebook):
    notebook.cells[1].source += "\n!pip install numpy"


def run_another_program(notebook):
    notebook.cells[1].source += "\ncommand = ['ls']\nsubprocess.run(command)"


def import_twice(notebook):
    notebook.cells[2].source += "\nfrom math import pi"


def show_an_axes(notebook):
    text = {"text/plain": "<Axes: xlabel='k'>"}
    notebook.cells[2].outputs = [new_output("execute_result", data=text, execution_count=2)]


def show_an_address(notebook):
    notebook.cells[2].outputs[0].text = "<function f at 0x7f00>"


def print_all_digits(notebook):
    notebook.cells[2].outputs[0].text = "3.141592653589793\n"


def skip_the_comparison(notebook):
    notebook.cells[2].metadata["tags"] = ["nbval-skip"]


def write_a_role(notebook):
    notebook.cells[0].source += "\n{math}`x`"


def write_a_code_fence(notebook):
    notebook.cells[0].source += "\n```{math}\nx\n```"


def label_a_section(notebook):
    notebook.cells[0].source = "(claim)=\n" + notebook.cells[0].source


def crowd_a_theorem(notebook):
    notebook.cells[0].source += "\n\n:::{prf:theorem} T\n:label: t\nTrue.\n\n:::"


def crowd_its_end(notebook):
    notebook.cells[0].source += "\n\n:::{prf:theorem} T\n:label: t\n\nTrue.\n:::"


def claim_at_the_head(notebook):
    notebook.cells[0].source += "\n\n**What is claimed**: it falls."


def take_nothing_away(notebook):
    notebook.cells[5].source = "**What comes next.** A curve."


def end_abruptly(notebook):
    notebook.cells[5].source = "## What to take away\n\nIt falls."


def leave_an_exercise(notebook):
    notebook.cells[0].source = notebook.cells[0].source.replace("(Open.)", "(Compute.)")


def ask_and_show_the_answer(notebook):
    notebook.cells[0].source += "\n\nNow **predict** what comes out."


def speak_of_a_witness(notebook):
    notebook.cells[0].source += "\n\nThe witness is a line."


BROKEN = {
    strip_outputs: rules.outputs_are_stored,
    strip_figure: rules.outputs_are_stored,
    strip_last_value: rules.outputs_are_stored,
    skip_a_count: rules.is_executed_in_order,
    never_run: rules.is_executed_in_order,
    keep_timing: rules.metadata_is_clean,
    keep_version: rules.metadata_is_clean,
    keep_extra: rules.metadata_is_clean,
    keep_widgets: rules.metadata_is_clean,
    write_a_long_cell: rules.cells_are_short,
    write_long_cells: rules.cells_are_short,
    drop_alternative_text: rules.images_have_alternative_text,
    empty_alternative_text: rules.images_have_alternative_text,
    drop_picture: rules.vectors_have_a_picture,
    drop_caption: rules.figures_have_a_finding,
    change_caption: rules.numbers_in_captions_are_asserted,
    take_half_a_step: rules.counted_axes_are_whole,
    name_a_home_folder: rules.paths_are_relative,
    show_a_temporary_folder: rules.paths_are_relative,
    warn: rules.nothing_warns,
    raise_an_error: rules.nothing_warns,
    use_a_magic: rules.code_is_plain_python,
    install: rules.code_is_plain_python,
    run_another_program: rules.code_is_plain_python,
    import_twice: rules.imports_share_a_cell,
    show_an_axes: rules.no_object_is_shown_bare,
    show_an_address: rules.no_object_is_shown_bare,
    print_all_digits: rules.numbers_have_few_digits,
    skip_the_comparison: rules.no_cell_escapes_the_comparison,
    write_a_role: rules.text_reads_in_any_viewer,
    write_a_code_fence: rules.text_reads_in_any_viewer,
    label_a_section: rules.text_reads_in_any_viewer,
    crowd_a_theorem: rules.directives_stand_apart,
    crowd_its_end: rules.directives_stand_apart,
    claim_at_the_head: rules.claims_come_last,
    take_nothing_away: rules.claims_come_last,
    end_abruptly: rules.claims_come_last,
    leave_an_exercise: rules.exercises_are_solved,
    ask_and_show_the_answer: rules.answers_are_folded,
    speak_of_a_witness: rules.words_are_the_fields,
}


@pytest.mark.parametrize("rule", rules.RULES + rules.CHAPTER_RULES, ids=name)
def test_sound_notebook_breaks_no_rule(rule):
    assert rule(sound_notebook()) == []


@pytest.mark.parametrize(("damage", "rule"), BROKEN.items(), ids=name)
def test_rule_sees_the_damage(damage, rule):
    notebook = sound_notebook()
    damage(notebook)
    faults = rule(notebook)
    assert len(faults) >= 1
    assert all(fault.startswith(("cell ", "notebook: ")) for fault in faults)


def test_every_rule_is_seen_to_fail():
    assert set(BROKEN.values()) == {*rules.RULES, *rules.CHAPTER_RULES}


def test_make_lab_opens_the_first_chapter_with_the_others_beside_it():
    """JupyterLab shows the folder that it is told of, or else the chapter's own."""
    recipe = (toc.ROOT / "Makefile").read_text().split("\nlab:")[1].split("\n")[1]
    folder, first = re.search(r"--ServerApp.root_dir=(\S+) (\S+)", recipe).groups()
    assert toc.ROOT / first == PATHS[0]
    assert all(path.is_relative_to(toc.ROOT / folder) for path in PATHS)
