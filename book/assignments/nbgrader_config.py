"""The course, for nbgrader: run it in this folder."""

import sys
from pathlib import Path

HERE = Path(__file__).parent.resolve()
sys.path.insert(0, str(HERE / "grading"))

c = get_config()  # noqa: F821 (nbgrader defines it)
if sys.argv[1:2] == ["autograde"]:
    import examine

    try:
        print("Students' code runs behind:", examine.ready(), flush=True)
    except examine.wall.NoWall as none:
        sys.exit(str(none))

c.CourseDirectory.root = str(HERE)
c.CourseDirectory.course_id = "sparse_principal_subspaces"
c.Exchange.root = str(HERE / "exchange")
# What a learning platform lets one download: <student's id>__<name>.ipynb, zipped or not.
# The id becomes a folder and stands on the grader's pages: letters, digits and . @ + - only.
c.FileNameCollectorPlugin.named_regexp = (
    r"(?:.*/)?(?P<student_id>[\w.@+-]+?)__(?P<file_id>[a-z_]+)\.ipynb$"
)
c.ClearSolutions.code_stub = {"python": "...  # your code here"}
c.ClearSolutions.text_stub = "*Your answer here.*"
nbgraders = "nbgrader.preprocessors."
# A figure that a student handed in is kept: nothing runs that could draw it again.  What else is
# kept stands in grading/harmless.py; so do the filters through which it reaches a page.
c.Autograde.exporter_class = "examine.Bounded"
c.HTMLExporter.filters = {"markdown2html": "harmless.shown", "highlight_code": "harmless.code"}
c.Autograde.sanitize_preprocessors = [
    "examine.Restore",
    nbgraders + "OverwriteKernelspec",
    nbgraders + "OverwriteCells",
    nbgraders + "CheckCellMetadata",
]
# Instead of running the notebook, judge and contestant are kept apart (grading/examine.py).
c.Autograde.autograde_preprocessors = [
    "examine.Examine",
    nbgraders + "LimitOutput",
    nbgraders + "SaveAutoGrades",
    nbgraders + "AssignLatePenalties",
    nbgraders + "CheckCellMetadata",
]
# What students get back shows the messages of the hidden tests, and not the tests.
c.GenerateFeedback.preprocessors = [
    nbgraders + "GetGrades",
    nbgraders + "ClearHiddenTests",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]
