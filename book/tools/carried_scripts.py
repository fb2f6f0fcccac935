"""Sphinx extension: the book carries MathJax, in the parts that it needs, and reads offline.

It is taken from a package when the book is built, so the repository holds our code only.
"""

import importlib.metadata
import shutil
import tempfile
from pathlib import Path

MATHJAX = importlib.metadata.distribution("sphinx-mathjax-offline")
# The combined scripts hold a menu that weighs as much as all the rest.
LOADED = ("core", "input/tex", "output/chtml", "a11y/assistive-mml")
# Asked for by those when they are ready, and not before.
ASKED = ("output/chtml/fonts/tex.js", "output/chtml/fonts/woff-v2", "input/tex/extensions")
# Named by what it holds, so that another version or another choice is copied anew.
CARRIED = Path(__file__).parents[2] / ".cache" / f"carried-{MATHJAX.version}-{len(LOADED)}"


def copy_mathjax(target):
    source = Path(MATHJAX.locate_file("sphinx-mathjax-offline/static/mathjax"))
    for part in ("startup.js", *(f"{part}.js" for part in LOADED), *ASKED):
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (source / part).is_dir() else shutil.copy
        copy(source / part, target / part)


def carry(app, config):
    """Copy once and whole: a half-made folder is never left behind."""
    if not CARRIED.exists():
        CARRIED.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CARRIED.parent) as folder:
            copy_mathjax(Path(folder, "new", "mathjax"))
            Path(folder, "new").rename(CARRIED)
    config.mathjax_path = "mathjax/startup.js"
    config.mathjax3_config = {"loader": {"load": list(LOADED)}}
    config.html_static_path.append(str(CARRIED))


def drop_launcher(app, page, template, context, doctree):
    """No page starts a remote kernel, so none needs the script that would."""
    scripts = context["script_files"]
    context["script_files"] = [s for s in scripts if "thebe" not in str(s).lower()]


def setup(app):
    app.connect("config-inited", carry, priority=100)
    app.connect("html-page-context", drop_launcher, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
