"""Sphinx extension: what a reader takes along, and how it is cited.

Each chapter downloads as a zip of its notebook and a list for `pip install -r`, the two wheels that
all of them need as another, the project as a zip of what git keeps; the zips are packed when the
pages are finished.  Every page shows how to cite it.  Launch buttons appear when `_config.yml`
names the project's address; they start `requirements.txt` on `runtime.txt`.
"""

import ast
import functools
import json
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

import yaml

import release
import toc
from plain_notebook import plain_notebook

FOLDER, WHEELS, BOOK = "_downloads/take_away", "fspca_wheels", toc.ROOT / "book"
PICTURE = re.compile(r"!\[[^]]*\]\((\.\./[^)]+)\)")
EXTRAS = {"dask": "dask", "matplotlib": "plots", "sklearn": "learn", "pandas": "frames"}
ALWAYS = ("data", "learn", "plots")  # what `fspca_reproduction` and most chapters import
READ_ME = """{title}

The notebook {name}.ipynb, and what it needs. Python 3.11 or newer.
Unpack {wheels}.zip beside this folder, once for all chapters; then, in this folder:

    pip install -r requirements.txt jupyterlab
    jupyter lab {name}.ipynb
"""
BIBTEX = """@misc{{fspca_{name},
  author = {{{{{author}}}}},
  title = {{{title}}},
  howpublished = {{In: Sparse principal subspaces, a book of notebooks, version {version}}},
  year = {{{year}}},{url}
}}"""


def imports(notebook):
    """Return the names of the packages that a notebook imports."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


def requirements(notebook, wheels):
    """Return what `pip install -r` needs beside the wheels, line by line."""
    used = set(imports(notebook))
    extras = sorted({*ALWAYS, *(EXTRAS[name] for name in used if name in EXTRAS)})
    ours, reproduction = (f"../{WHEELS}/{wheel}" for wheel in wheels)
    knobs = "ipywidgets\n" if "ipywidgets" in used else ""
    return f"{ours}[{','.join(extras)}]\n{reproduction}\nipykernel\n{knobs}"


def pack(target, files):
    """Write a zip of paths and texts by name, the same bytes for the same contents."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in sorted(files.items()):
            data = content.read_bytes() if isinstance(content, Path) else content.encode()
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, data)


def pack_wheels(folder):
    """Write the zip of the two wheels, which all chapters share, and return their names."""
    with tempfile.TemporaryDirectory() as place:
        wheels = release.build(place, ["build_wheel"])
        pack(folder / f"{WHEELS}.zip", {f"{WHEELS}/{wheel.name}": wheel for wheel in wheels})
        return [wheel.name for wheel in wheels]


def pack_chapters(folder, wheels):
    """Write the zip of every chapter that is a notebook."""
    for notebook in toc.notebooks():
        name = notebook.stem
        text = plain_notebook(notebook.read_text(encoding="utf-8"))
        files = {notebook.name: text, "README.txt": read_me(notebook)}
        files["requirements.txt"] = requirements(notebook, wheels)
        packed = {f"{name}/{key}": each for key, each in files.items()}
        packed |= {each.relative_to(BOOK).as_posix(): each for each in pictures(notebook)}
        pack(folder / f"{name}.zip", packed)


def read_me(notebook):
    """Return what a chapter's zip says of itself."""
    first = json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"]
    title = "".join(first).splitlines()[0].lstrip("# ")
    return READ_ME.format(title=title, name=notebook.stem, wheels=WHEELS)


def pictures(notebook):
    """Return the files of the pictures in a notebook's text, which leave its folder by ../"""
    found = PICTURE.findall(notebook.read_text(encoding="utf-8"))
    return [(notebook.parent / name).resolve() for name in found]


def pack_project(folder):
    """Write the project as git keeps it, and the built book beside it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=toc.ROOT, capture_output=True, text=True)
    paths = [Path(name) for name in listed.stdout.split("\0") if (toc.ROOT / name).is_file()]
    if paths:  # a copy without git has nothing that says what belongs to it
        files = {f"fspca/{path}": toc.ROOT / path for path in paths}
        html = folder.parents[1]
        built = (path for path in html.rglob("*") if path.is_file() and folder not in path.parents)
        files |= {f"fspca/_build/html/{path.relative_to(html)}": path for path in built}
        pack(folder / "book_and_project.zip", files)


@functools.cache
def citation():
    return yaml.safe_load((toc.ROOT / "CITATION.cff").read_text())


def bibtex(app, page, title):
    """Return the entry of a page."""
    there = f"\n  url = {{{release.address()}}}," if release.address() else ""
    year = re.search(r"\d{4}", app.config.copyright)[0]
    author = citation()["authors"][0]["name"]
    about = {"author": author, "version": release.version(), "year": year, "url": there}
    return BIBTEX.format(name=page.split("/")[-1], title=re.sub("<.*?>", "", title), **about)


def add_buttons(app, page, template, context, doctree):
    """A chapter's zip is the first of its downloads; how to cite a page stands at its end."""
    if doctree is None:
        return
    title = context["title"]
    entry = bibtex(app, page, title).replace("&", "&amp;").replace("<", "&lt;")
    context["body"] += (
        f'<details class="cite"><summary>Cite this page</summary><div class="highlight"><pre>'
        f"{entry}</pre></div></details>"
    )
    if (toc.ROOT / f"{page}.ipynb").exists() and "assignments" not in page:
        (downloads,) = (b for b in context["header_buttons"] if b["label"] == "download-buttons")
        downloads["buttons"][:0] = [
            zip_button(
                context, page.split("/")[-1], "chapter", "The notebook, and a list of what it needs"
            ),
            zip_button(context, WHEELS, "wheels", "Our two packages, once for all chapters"),
        ]


def zip_button(context, name, what, tooltip):
    """Return the button that downloads a zip."""
    return {
        "type": "link", "text": f".zip, the {what}", "icon": "fas fa-download",
        "url": context["pathto"](f"{FOLDER}/{name}.zip", 1), "tooltip": tooltip,
        "label": f"download-{what}-button",
    }  # fmt: skip


def pack_all(html):
    """Write the zips into the built book."""
    folder = html / FOLDER
    for download in html.glob("_sources/book/**/*.ipynb"):
        download.write_text(plain_notebook(download.read_text("utf-8")), encoding="utf-8")
    pack_chapters(folder, pack_wheels(folder))
    pack_project(folder)


def launch_when_public(app, config):
    """Buttons that lead to the project, or to a service that finds it, are there if it has a place.

    jupyter-book hands the theme the address and the branch from _config.yml; the rest is said here.
    """
    if release.address():
        options = config.html_theme_options
        options["launch_buttons"]["binderhub_url"] = "https://mybinder.org"
        options["launch_buttons"]["colab_url"] = "https://colab.research.google.com"
        for button in ("repository", "edit_page", "issues"):
            options[f"use_{button}_button"] = True


def setup(app):
    app.connect("config-inited", launch_when_public, priority=900)
    app.connect("html-page-context", add_buttons, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
