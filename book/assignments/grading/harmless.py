"""What of a submission reaches a page: the fields, tags, addresses and commands that are listed.

Every notebook that is graded is built anew by `rebuilt`; every text of its cells that becomes part
of a page, the student's feedback or the grader's own, goes through `shown`, which the course's
configuration puts in the place of nbconvert's filter.  What is not listed is left out.
"""

import base64
import re
from html import escape

import nh3
from nbconvert.filters import Highlight2HTML, markdown2html
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

HEAVIEST = 16 << 20  # bytes of a notebook: a hundred pictures
BRACKETS = 100_000  # that open in it: thirty times those of a model answer with its outputs
CELLS = 500
CHARACTERS = 400_000  # of all its texts; a table of 500 rows and 40 columns takes 160,000
SOURCE = 200_000  # characters of a cell of code
LONGEST = 20_000  # characters of any other text: ten pages; a page of it is made within a second
WIDEST = 400  # characters of a line that is coloured: some lines take the square of their length
PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}

TAGS = """
    a b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img li ol p pre s
    span strong sub summary sup table tbody td th thead tr ul
"""
ATTRIBUTES = {"a": {"href"}, "img": {"src", "alt"}, "ol": {"start"}}
ADDRESSES = {
    ("a", "href"): re.compile(r"(?:https?://|mailto:|#)[^\s\\]*"),
    ("img", "src"): re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/=\s]*"),
    ("img", "alt"): re.compile(r"[^\\]*"),
    ("ol", "start"): re.compile(r"[0-9]{1,4}"),
}

# The commands of mathematics that are shown: those that draw a sign, or set signs in their place.
# None makes a link, a class or a style, loads anything, or defines another command.
COMMAND = re.compile(r"\\([A-Za-z]+)")
MATHEMATICS = """
    alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi
    rho varrho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma
    Upsilon Phi Psi Omega ell hbar imath jmath aleph partial nabla infty emptyset varnothing
    sum prod int iint bigcup bigcap bigoplus bigotimes bigwedge bigvee
    pm mp times div cdot ast star circ bullet oplus ominus otimes odot cup cap setminus wedge vee
    le leq ge geq ne neq ll gg lt gt approx sim simeq cong equiv propto prec preceq succ succeq
    in notin ni subset subseteq subsetneq supset supseteq perp parallel mid nmid models vdash not
    to gets mapsto leftarrow rightarrow longrightarrow leftrightarrow Leftarrow Rightarrow
    Leftrightarrow Longrightarrow implies iff uparrow downarrow hookrightarrow
    forall exists nexists neg land lor top bot angle triangle square blacksquare therefore because
    arccos arcsin arctan arg cos cosh cot deg det dim exp gcd inf ker lg lim liminf limsup ln log
    max min sin sinh sup tan tanh Pr operatorname mod bmod pmod argmax argmin
    frac dfrac tfrac binom dbinom tbinom sqrt over choose stackrel overset underset
    overline underline overbrace underbrace widehat widetilde hat tilde bar vec dot ddot prime
    left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr lvert rvert lVert rVert vert
    Vert langle rangle lfloor rfloor lceil rceil lbrace rbrace lbrack rbrack backslash
    mathbb mathbf mathcal mathfrak mathit mathrm mathsf mathtt boldsymbol bm text textbf textit
    textrm textsf texttt mbox displaystyle textstyle scriptstyle limits nolimits
    begin end hline cr tag quad qquad dots ldots cdots vdots ddots colon space quad phantom
    substack boxed
"""
TAGS, MATHEMATICS = set(TAGS.split()), set(MATHEMATICS.split())


def fits(content):
    """Whether a file is small enough to be read as a notebook, told from its bytes alone."""
    opened = content.count(b"{") + content.count(b"[")
    return len(content) <= HEAVIEST and opened <= BRACKETS


def text(value, most=LONGEST):
    """A text, or the lines of one, no longer than may be; anything else is no text."""
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    value = value if isinstance(value, str) else ""
    value = value.encode("utf-8", "replace").decode()  # half a character is none
    return value if len(value) <= most else value[:most] + "\n(cut here: too long)"


def picture(kind, value):
    """The same picture, if it is one: its first bytes say so, and it is encoded anew."""
    try:
        content = base64.b64decode("".join(value), validate=False)
    except (ValueError, TypeError):
        return None
    return base64.b64encode(content).decode() if content.startswith(PICTURES[kind]) else None


def output(given):
    """Text and pictures of what a student handed in, without metadata; nothing else, or None."""
    kind = given.get("output_type")
    if kind == "stream":
        return new_output("stream", name="stdout", text=text(given.get("text")))
    if kind == "error":
        lines = given.get("traceback")
        lines = [text(each) for each in lines[:100]] if isinstance(lines, list) else []
        name, value = text(given.get("ename")), text(given.get("evalue"))
        return new_output("error", ename=name, evalue=value, traceback=lines)
    data = given.get("data")
    data = data if isinstance(data, dict) else {}
    kept = {kind: picture(kind, data[kind]) for kind in set(PICTURES) & set(data)}
    kept = {kind: value for kind, value in kept.items() if value}
    if "text/plain" in data:
        kept["text/plain"] = text(data["text/plain"])
    return new_output("display_data", kept) if kept else None


def cell(given, marks):
    """A cell of the same text, with the course's own marks for all its metadata."""
    metadata = {"nbgrader": marks} if marks else {}
    if given.get("cell_type") != "code":
        return new_markdown_cell(text(given.get("source")), metadata=metadata)
    source = text(given.get("source"), SOURCE)
    outputs = given.get("outputs")
    outputs = outputs[:100] if isinstance(outputs, list) else []
    outputs = [output(each) for each in outputs if isinstance(each, dict)]
    return new_code_cell(source, metadata=metadata, outputs=[each for each in outputs if each])


def rebuilt(notebook, known):
    """The notebook as a new one; `known` gives the marks of the cells, each to the last of a name.

    A cell that is a copy, or of the student's own making, has none.
    """
    given = [each for each in notebook.get("cells", [])[:CELLS] if isinstance(each, dict)]
    last, cells, room = {grade_id(each): each for each in given}, [], CHARACTERS
    for each in given:
        name = grade_id(each)
        made = cell(each, known.get(name) if last[name] is each else None)
        room -= len(str(made.source)) + sum(map(characters, made.get("outputs", [])))
        if room < 0:
            said = f"(Left out from here: the notebook has more than {CHARACTERS} characters.)"
            cells.append(new_markdown_cell(said))
            break
        cells.append(made)
    return new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})


def characters(output):
    """The length of an output's texts; pictures are none."""
    texts = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", [])]
    return sum(map(len, [*texts, output.get("data", {}).get("text/plain", "")]))


def grade_id(cell):
    """The name that a cell gives itself, of whatever form the rest of it is."""
    marks = cell.get("metadata")
    marks = marks.get("nbgrader") if isinstance(marks, dict) else None
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    return name if isinstance(name, str) else None


def address(tag, name, value):
    """The value of an attribute, if it is of the form that is listed for it."""
    form = ADDRESSES.get((tag, name))
    return value if form is None or form.fullmatch(value) else None


def command(found):
    return found[0] if found[1] in MATHEMATICS else "\N{SET MINUS}" + found[1]


def shown(source):
    """A text in markdown as HTML, for a page that others open."""
    html = markdown2html(text(source))
    html = nh3.clean(html, tags=TAGS, attributes=ATTRIBUTES, attribute_filter=address)
    return COMMAND.sub(command, html)


COLOURED = Highlight2HTML(pygments_lexer="ipython3")


def code(source, language=None, metadata=None):
    """A program as HTML, coloured where that takes no time to speak of."""
    if len(source) <= LONGEST and all(len(line) <= WIDEST for line in source.splitlines()):
        return COLOURED(source)
    return f'<div class="highlight"><pre>{escape(source)}</pre></div>'


def printed(source):
    """A text for a terminal, in which no character but a line's end moves anything."""
    return "".join(each if each.isprintable() or each == "\n" else " " for each in text(source))
