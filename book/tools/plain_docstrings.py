"""Sphinx extension: a docstring is read as it was written, for people: |x| is a length."""


def take_bars_as_they_are(app, what, name, thing, options, lines):
    """Sphinx would take what stands between two bars for a substitution, but not in an example."""
    code = (">>>", "...")
    lines[:] = [
        line if line.lstrip().startswith(code) else line.replace("|", r"\|") for line in lines
    ]


def setup(app):
    app.connect("autodoc-process-docstring", take_bars_as_they_are)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
