"""What of a submission reaches a page is data: no script runs, nothing is loaded, no link leads on.

Each attack stands in a cell of its own: in its text, its outputs, its fields.  The notebook goes
through nbgrader as any other, and both pages that show it are opened in Chromium.
"""

import base64
import re
from pathlib import Path

import assignments
import classroom
import harmless
import nbconvert
import nbformat
import nbgrader
import pytest
from browser import PROGRAM, Browser
from classroom import NAMES, SOURCE
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from traitlets.config import PyFileConfigLoader

pytestmark = pytest.mark.filterwarnings("ignore")  # of nbgrader's own packages

NAME = "final_project"
RUN = "document.title=77"
AWAY = "http://127.0.0.1:9/away"
SVG = base64.b64encode(f"<svg xmlns='http://www.w3.org/2000/svg' onload='{RUN}'/>".encode())
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PICTURE = {"image/png": PNG}

TEXTS = [
    f"<script>{RUN}</script>",
    f'<img src=x onerror="{RUN}">',
    f'<svg onload="{RUN}"><animate onbegin="{RUN}" attributeName=x></svg>',
    f'<details open ontoggle="{RUN}"><summary>hint</summary></details>',
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe><object data='{AWAY}'></object>",
    f"<math><mtext><table><mglyph><style><img title='</style><img src onerror=\"{RUN}\">'>",
    f"<noscript><p title='</noscript><img src=x onerror=\"{RUN}\">'>",
    f"<form action='{AWAY}'><input autofocus onfocus=\"{RUN}\">",
    f"<base href='{AWAY}'><meta http-equiv=refresh content='0;url={AWAY}'>",
    f"<link rel=stylesheet href='{AWAY}'><style>@import '{AWAY}'; body {{display: none}}</style>",
    f"<p style='background: url({AWAY})' id=notebook onclick=\"{RUN}\">over all</p>",
    f"[a link](javascript:{RUN}) [another](JaVaScRiPt&colon;{RUN}) [x](&#1;javascript:{RUN})",
    f"[data](data:text/html;base64,{SVG.decode()}) [a file](evil.html) [up](/formgrader/api)",
    f"<a href='\tjava\nscript:{RUN}'>split</a> <a xlink:href='javascript:{RUN}'>old</a>",
    f'![]({AWAY}) ![](data:image/svg+xml;base64,{SVG.decode()}) ![x" onerror="{RUN}" y="](x)',
    f"$\\href{{javascript:{RUN}}}{{x}}$ $$\\style{{background: url({AWAY})}}{{y}}$$",
    f"$\\class{{save-icon}}{{x}} \\mmlToken{{mi}}[href=javascript:{RUN}]{{y}}$",
    f"&#92;(\\require{{html}}\\def\\a{{\\href{{javascript:{RUN}}}{{x}}}}\\a\\)",
    f"$\\begin{{array}}{{c}}\\cssId{{notebook}}{{x}}\\\\\\url{{javascript:{RUN}}}\\end{{array}}$",
    f'```html\n</code></pre><img src=x onerror="{RUN}">\n```',
    f'`</code><img src=x onerror="{RUN}">` <!-- --!><img src=x onerror="{RUN}"> -->',
    "<plaintext><textarea><title><xmp>",
]
OUTPUTS = [
    new_output("display_data", {"text/html": f"<script>{RUN}</script>"}),
    new_output("display_data", {"application/javascript": RUN, "text/latex": "$\\href{x}{y}$"}),
    new_output("display_data", {"image/svg+xml": f"<svg onload='{RUN}'></svg>"}),
    new_output("display_data", {"text/markdown": f"<img src=x onerror={RUN}>"}),
    new_output("display_data", PICTURE, metadata={"image/png": {"width": f"1 onload={RUN}"}}),
    new_output("display_data", PICTURE, metadata={"filenames": {"image/png": AWAY}}),
    new_output("display_data", {"image/png": f'x" onerror="{RUN}'}),
    new_output("display_data", {"image/jpeg": SVG.decode(), "text/plain": f"<b onclick={RUN}>"}),
    new_output("stream", text=f"\x1b[31m</pre><script>{RUN}</script>"),
    new_output("error", ename="x", evalue="y", traceback=[f"</pre><img src=x onerror={RUN}>"]),
]


def attack():
    """A submission with every attack in it."""
    notebook = classroom.submission(SOURCE[NAME], "eve")
    notebook.cells += [new_markdown_cell(each) for each in TEXTS]
    notebook.cells += [new_code_cell(f"# <script>{RUN}</script>", outputs=OUTPUTS)]
    fields = [new_code_cell("'''</pre><img src=x>'''"), new_markdown_cell("of no kind")]
    fields[0]["execution_count"] = f"<img src=x onerror={RUN}>"
    fields[0]["id"] = f"x onclick={RUN}"
    fields[0]["metadata"] = {"tags": [f'"><script>{RUN}</script>'], "alt": f'" onerror="{RUN}'}
    fields[1]["cell_type"], fields[1]["source"] = "raw", f"<img src=x onerror={RUN}>"
    fields[1]["attachments"] = {"x.png": {"image/svg+xml": SVG.decode()}}
    notebook.cells += fields
    notebook.metadata["title"] = f"</title><script>{RUN}</script>"
    notebook.metadata["language_info"] = {"name": "html", "pygments_lexer": AWAY}
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"</script>": RUN}}
    return notebook


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The feedback and the grader's page of the attack."""
    course = classroom.Course(tmp_path_factory.mktemp("course"), NAME)
    course.hand_in("eve", attack())
    beside = course.root / "submitted" / "eve" / NAME / "evil.html"
    beside.write_text(f"<script>{RUN}</script>")
    assignments.checked(course.grade("eve"))
    assignments.checked(course.api.generate_feedback(NAME, "eve"))
    assert not list(course.root.glob("autograded/**/*.html"))
    feedback = course.root / "feedback" / "eve" / NAME / f"{NAME}.html"
    templates = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
    exporter = nbconvert.HTMLExporter(
        config=course.api.config,
        template_name="formgrade",
        extra_template_basedirs=[str(templates)],
    )
    graded = course.root / "autograded" / "eve" / NAME / f"{NAME}.ipynb"
    words = dict.fromkeys(("submission_id", "notebook_id", "student", "notebook_path"), "eve")
    resources = {"base_url": "", "index": 0, "total": 1, **words}
    page = course.root / "grader.html"
    page.write_text(exporter.from_filename(str(graded), resources=resources)[0])
    return {"feedback": feedback, "grader": page}


MATHJAX = next(
    Path(nbformat.__file__).parents[1].glob("sphinx*mathjax*/static/mathjax/tex-svg-full.js")
)
SET = "MathJax = {tex: {inlineMath: [['$', '$'], ['\\\\(', '\\\\)']]}, startup: {typeset: true}}"
TOUCH = """async () => {
  const all = [...document.querySelectorAll("*")];
  for (const type of ["click", "mouseover", "focus", "toggle", "load", "error"])
    for (const each of all) if (!each.closest("nav") && !each.href?.animVal)
      each.dispatchEvent(new Event(type, {bubbles: true, cancelable: true}));
  await new Promise((done) => setTimeout(done, 300));
}"""
LED = """[...document.querySelectorAll("[href], [src], [action]")].filter((e) => !e.closest("nav"))
  .map((e) => e.getAttribute("href") ?? e.getAttribute("src") ?? e.getAttribute("action"))"""


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium here: no page is opened")
@pytest.mark.parametrize("which", ["feedback", "grader"])
def test_no_page_of_a_submission_runs_a_script_or_asks_for_an_address(which, pages):
    """Not when it is opened, nor when all of it is touched, nor when its mathematics is set."""
    with Browser() as browser:
        page = browser.page
        page.route("https://**", lambda route: route.abort())  # the page's own libraries
        page.goto(pages[which].as_uri())
        page.add_script_tag(content=SET)
        page.add_script_tag(path=str(MATHJAX))
        browser.until("!!document.querySelector('mjx-container')")
        page.evaluate(TOUCH)
        assert page.title() != "77"
        assert AWAY not in browser.asked
        led = browser.run(LED)
        assert page.url.split("#")[0] == pages[which].as_uri()
    scripts = "javascript:", "data:text", "data:image/svg", "evil", AWAY
    assert not [each for each in led if each.lower().strip().startswith(scripts)]
    text = pages[which].read_text()
    assert all(hidden not in text for hidden in ("\\href", "\\style", "\\require", "\\cssId"))
    assert 'src="data:image/png;base64,iVBOR' in text  # what is no attack is shown


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium here: no page is opened")
@pytest.mark.parametrize("cell", [new_markdown_cell(TEXTS[1]), new_code_cell(outputs=OUTPUTS[4:5])])
def test_without_the_list_an_attack_runs(cell, tmp_path):
    """These two, each alone, in the page that nbconvert makes by itself."""
    page = tmp_path / "page.html"
    page.write_text(nbconvert.HTMLExporter().from_notebook_node(new_notebook(cells=[cell]))[0])
    with Browser() as browser:
        browser.page.route("https://**", lambda route: route.abort())
        browser.page.goto(page.as_uri())
        browser.until("document.title === '77'")


@pytest.mark.parametrize("name", NAMES)
def test_what_the_course_itself_writes_is_on_the_list(name):
    """No tag and no command of the texts of an assignment is left out."""
    for cell in SOURCE[name].cells:
        if cell.cell_type == "markdown":
            shown = harmless.shown(cell.source)
            assert "\N{SET MINUS}" not in shown, shown
            assert shown.count("<details>") == cell.source.count("<details>")
            assert "too long" not in shown


@pytest.mark.parametrize("part", ["[", "*", "$", "<a ", "a.", "(", "![", "_ ", "`", "\x1b[1m"])
def test_a_page_is_made_in_linear_time(part):
    """Of twenty thousand characters that a reader of patterns would go back over."""
    source = (part * harmless.SOURCE)[: harmless.SOURCE]
    assert harmless.shown(source)
    assert harmless.code(source)


def test_what_is_too_large_is_told_from_its_bytes():
    assert harmless.fits(b"{}")
    assert not harmless.fits(b"[" * 200_000)
    assert not harmless.fits(bytes(harmless.HEAVIEST + 1))
    cells = [new_code_cell("x" * 150_000) for _ in range(4)]
    rebuilt = harmless.rebuilt(new_notebook(cells=cells), {})
    assert len(rebuilt.cells) == 3
    assert "Left out from here" in rebuilt.cells[-1].source


def test_a_terminal_shows_text_and_obeys_nothing():
    assert harmless.printed("a\x1b]0;title\x07\nb\r\u202ec") == "a ]0;title \nb  c"


@pytest.mark.parametrize(
    ("file", "student"),
    [
        (f"archive/grace__{NAME}.ipynb", "grace"),
        (f"a.b-c@d+1__{NAME}.ipynb", "a.b-c@d+1"),
        (f"archive/<img src=x>ada__{NAME}.ipynb", None),  # it would be ada's, or on a page
        (f"ada {RUN}__{NAME}.ipynb", None),
        (f"ada__{NAME}.ipynb.html", None),
    ],
)
def test_the_name_of_a_file_gives_an_id_that_may_stand_on_a_page(file, student):
    config = PyFileConfigLoader(str(assignments.COURSE / "nbgrader_config.py")).load_config()
    found = re.match(config.FileNameCollectorPlugin.named_regexp, file)
    assert (found and found["student_id"]) == student
