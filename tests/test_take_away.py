"""What is downloaded runs: a chapter's zip outside the checkout, with the wheels that it brings."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import release
import take_away
import toc

FOLDER = toc.ROOT / "_build" / "html" / take_away.FOLDER
RUN = """
import nbclient, nbformat, fspca, sys
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=900, kernel_name="python3").execute()
print(fspca.__file__)
"""
CHAPTERS = [path.stem for path in toc.notebooks()]
SAMPLE = ("first_twenty_minutes", "go")  # by day


def of_this_commit():
    """Return a third of the chapters, another one with another commit: for a night."""
    asked = ["git", "rev-parse", "HEAD"]
    found = subprocess.run(asked, cwd=toc.ROOT, capture_output=True, text=True).stdout.strip()
    return [name for name in CHAPTERS[int(found or "0", 16) % 3 :: 3] if name not in SAMPLE]


RUN_HERE = [*SAMPLE, *(pytest.param(n, marks=pytest.mark.nightly) for n in of_this_commit())]


def test_every_chapter_has_its_zip():
    assert len(set(CHAPTERS)) == len(CHAPTERS) > 30
    for notebook in toc.notebooks():
        name = notebook.stem
        pictures = {
            path.relative_to(take_away.BOOK).as_posix() for path in take_away.pictures(notebook)
        }
        with zipfile.ZipFile(FOLDER / f"{name}.zip") as packed:
            inside = {path.removeprefix(f"{name}/") for path in packed.namelist()}
        assert inside == pictures | {f"{name}.ipynb", "README.txt", "requirements.txt"}


@pytest.mark.parametrize("path", toc.notebooks(), ids=lambda path: path.stem)
def test_a_download_reads_as_text_and_says_what_the_chapter_says(path):
    """No directive is left, in a zip or beside a page; no word and no formula is lost."""
    asked, name = path.read_text(encoding="utf-8"), f"{path.stem}/{path.name}"
    with zipfile.ZipFile(FOLDER / f"{path.stem}.zip") as packed:
        given = packed.read(name).decode()
    beside = toc.ROOT / "_build" / "html" / "_sources" / path.relative_to(toc.ROOT)
    assert beside.read_text(encoding="utf-8") == given
    for before, after in zip(*(json.loads(text)["cells"] for text in (asked, given)), strict=True):
        before, after = "".join(before["source"]), "".join(after["source"])
        assert not re.search(r"^:::|^:label:|\{prf:", after, re.M)
        marks = r"^:{3,}.*\n?(:[\w-]+:.*\n)*|(?<=^\$\$) *\([\w-]+\)$"
        kept = re.sub(marks, "", before, flags=re.M)
        assert set(kept.split()) <= set(after.replace("**", " ").split()) | set(after.split())


def test_the_two_wheels_are_there_once():
    number, wheels = release.version(), take_away.WHEELS
    with zipfile.ZipFile(FOLDER / f"{wheels}.zip") as packed:
        assert set(packed.namelist()) == {
            f"{wheels}/fspca-{number}-py3-none-any.whl",
            f"{wheels}/fspca_reproduction-{number}-py3-none-any.whl",
        }


def test_the_project_s_zip_is_the_project_and_the_book():
    with zipfile.ZipFile(FOLDER / "book_and_project.zip") as packed:
        inside = set(packed.namelist())
    assert {"fspca/README.md", "fspca/Makefile", "fspca/_build/html/index.html"} <= inside


def unpacked(name, place):
    """Unpack a chapter, and beside it the wheels that all chapters share."""
    for each in (name, take_away.WHEELS):
        with zipfile.ZipFile(FOLDER / f"{each}.zip") as packed:
            packed.extractall(place)


@pytest.mark.parametrize("name", RUN_HERE)
def test_a_download_runs(name, tmp_path):
    """Outside the checkout, on the wheels that go with it, without the papers' data."""
    unpacked(name, tmp_path)
    here, site = tmp_path / name, tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site]
    subprocess.run([*install, *tmp_path.glob("*/*.whl")], check=True, capture_output=True)
    kept = {key: value for key, value in os.environ.items() if key != "FSPCA_DATA"}
    own = {"PYTHONPATH": str(site), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-W", "ignore", "-c", RUN, f"{name}.ipynb"]
    done = subprocess.run(command, cwd=here, env=kept | own, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip().startswith(str(site))


@pytest.mark.nightly
def test_its_one_line_installs_it_into_an_empty_environment(tmp_path):
    unpacked("go", tmp_path)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "-r", "requirements.txt", "nbclient"]
    subprocess.run(install, cwd=tmp_path / "go", check=True, capture_output=True)
    own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [python, "-W", "ignore", "-c", RUN, "go.ipynb"]
    done = subprocess.run(
        command, cwd=tmp_path / "go", env=own | {"PATH": f"{python.parent}:{own['PATH']}"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert str(tmp_path / "env") in done.stdout


@pytest.mark.parametrize("there", ["", "https://github.com/someone/fspca"])
def test_launch_buttons_appear_with_an_address(monkeypatch, there):
    monkeypatch.setattr(release, "address", lambda: there)
    config = SimpleNamespace(html_theme_options={"launch_buttons": {}}, copyright="2026")
    take_away.launch_when_public(None, config)
    options = config.html_theme_options
    launched = {"binderhub_url", "colab_url"} if there else set()
    shown = {f"use_{button}_button" for button in ("repository", "edit_page", "issues")}
    assert options.pop("launch_buttons").keys() == launched
    assert options == dict.fromkeys(shown if there else (), True)
    entry = take_away.bibtex(SimpleNamespace(config=config), "book/shared_support/go", "Go: find")
    assert ("url = {" in entry) == bool(there)
    assert "title = {Go: find}" in entry
    assert entry.count("{") == entry.count("}")


@pytest.mark.nightly
def test_a_book_with_an_address_leads_to_it_and_one_without_does_not(tmp_path):
    """Of the page that is built here, and of one from a copy whose setting alone is another."""
    there, page = "https://github.com/someone/fspca", "book/shared_support/go.html"
    copy = tmp_path / "fspca"
    subprocess.run(["git", "clone", "--quiet", toc.ROOT, copy], check=True)
    config = copy / "_config.yml"
    config.write_text(config.read_text().replace('url: ""', f'url: "{there}"'))
    program = str(Path(sys.executable).with_name("jupyter-book"))
    built = [program, "build", ".", "--all", "-W", "-n"]
    subprocess.run([*built, "--keep-going"], cwd=copy, check=True, capture_output=True)
    shown = {
        f"{there}/edit/main/book/shared_support/go.ipynb",
        f"{there}/issues/new",
        "https://mybinder.org/v2/gh/someone/fspca/main?urlpath=lab/tree/book/shared_support/go.ipynb",
        "https://colab.research.google.com/github/someone/fspca/blob/main/book/shared_support/go.ipynb",
    }
    with_one = (copy / "_build" / "html" / page).read_text()
    without = (toc.ROOT / "_build" / "html" / page).read_text()
    assert not [link for link in shown if link not in with_one]
    assert not re.findall(r"mybinder|colab\.research|/edit/main|/issues/new", without)
