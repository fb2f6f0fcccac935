"""Make a release: files that follow from others, then wheels and archives, the same bytes always.

    python book/tools/release.py           # writes what follows, builds into dist/, prints sha256
    python book/tools/release.py --check   # changes nothing; says what is not ready
    python book/tools/release.py --pages   # writes what follows, builds nothing: `make pages`

The version stands in fspca/__init__.py and the project's address in _config.yml, each once.
`CITATION.cff`, `pyproject.toml` and `README.md` get their lines from there, `.zenodo.json` all that
it says.
"""

import argparse
import functools
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from itertools import product
from pathlib import Path

import yaml

import toc
from toc import ROOT

# All that the distributions are built from; nothing else of a checkout can get into them.
SOURCES = (
    "pyproject.toml",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "fspca",
    "data",
    "reproduction",
)
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist", ".*", "instances")
BUILD = (
    "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"
)


def version():
    return re.search(r'^__version__ = "(.+)"$', (ROOT / "fspca/__init__.py").read_text(), re.M)[1]


def address():
    """The project's address, or nothing where it has none yet."""
    return yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]


def derived():
    """Return the files that follow from the version and the address: path -> text."""
    urls = f'[project.urls]\nSource = "{address()}"\n\n' if address() else ""
    project = (ROOT / "pyproject.toml").read_text()
    project = re.sub(r"^\[project\.urls\]\n(.+\n)+\n", "", project, flags=re.M)
    citation = (ROOT / "CITATION.cff").read_text()
    citation = re.sub(r"^repository-code: .*\n", "", citation, flags=re.M)
    code = f'repository-code: "{address()}"\n' if address() else ""
    citation = re.sub(r"^version: .*\n", f"version: {version()}\n{code}", citation, flags=re.M)
    return {
        "pyproject.toml": project.replace("[project.scripts]", f"{urls}[project.scripts]"),
        "README.md": with_clone((ROOT / "README.md").read_text()),
        "CITATION.cff": citation,
        ".zenodo.json": json.dumps(zenodo(yaml.safe_load(citation)), indent=2) + "\n",
    }


def with_clone(readme):
    """Return the README with the line that clones before the first command, or without one."""
    readme = re.sub(r"^git clone .*\n", "", readme, flags=re.M)
    folder = address().rstrip("/").rpartition("/")[2].removesuffix(".git")
    line = f"git clone {address()} && cd {folder}\n" if address() else ""
    return readme.replace("\nmake book ", f"\n{line}make book ", 1)


def zenodo(citation):
    """Return what an archive asks for, from what CITATION.cff says."""
    cited = [
        f"{', '.join(each['family-names'] for each in paper['authors'])} ({paper['year']}): "
        f"{paper['title']}" for paper in citation["references"]
    ]  # fmt: skip
    return {
        "title": citation["title"],
        "description": citation["abstract"],
        "upload_type": "software",
        "version": citation["version"],
        "license": citation["license"],
        "creators": [{"name": each["name"]} for each in citation["authors"]],
        "keywords": citation["keywords"],
        "references": cited,
    }


def not_ready():
    """Yield a sentence for all that stands against a release."""
    for path, text in derived().items():
        if not (ROOT / path).exists() or (ROOT / path).read_text() != text:
            yield f"{path} does not follow from the version and the address"
    changes = (ROOT / "CHANGELOG.md").read_text()
    if re.search(r"^## (\S+)", changes, re.M)[1] != version():
        yield f"CHANGELOG.md does not begin with {version()}"
    asked = ["git", "status", "--porcelain", "--untracked-files=no"]
    if subprocess.run(asked, cwd=ROOT, capture_output=True, text=True).stdout:
        yield "not all is committed"


def build(folder, kinds=("build_sdist", "build_wheel")):
    """Build both distributions' archives and wheels into a folder; return their paths."""
    folder = Path(folder).resolve()
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        for name in SOURCES:
            copy = functools.partial(shutil.copytree, ignore=LEFT_OUT)
            (copy if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, Path(place, name))
        for path in Path(place).rglob("*"):  # whatever the mask of the one who checked it out
            path.chmod(0o755 if path.is_dir() else 0o644)
        for part, wanted in product((".", "reproduction"), kinds):
            command = [sys.executable, "-c", BUILD, wanted, str(folder)]
            environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch())}
            subprocess.run(command, cwd=Path(place, part), env=environment, umask=0o022, check=True,
                           capture_output=True)  # fmt: skip
    for archive in folder.glob("*.tar.gz"):
        repack(archive)
    return sorted(folder.iterdir())


def epoch():
    """The second that all files bear: that of the commit, or the one that the environment names."""
    asked = ["git", "log", "-1", "--format=%ct"]
    made = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return int(os.environ.get("SOURCE_DATE_EPOCH") or made or 315532800)


def repack(archive):
    """Write an archive again: sorted, of nobody, of one time."""
    plain = io.BytesIO()
    with tarfile.open(archive) as old, tarfile.open(fileobj=plain, mode="w") as new:
        for entry in sorted(old, key=lambda entry: entry.name):
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime, entry.mode = epoch(), 0o755 if entry.isdir() else 0o644
            entry.pax_headers = {}
            new.addfile(entry, old.extractfile(entry) if entry.isfile() else None)
    with archive.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, epoch()) as file:
        file.write(plain.getvalue())


def main(arguments=None):
    """Say what is not ready; without --check write what follows, and build."""
    parser = argparse.ArgumentParser(description="Make a release, or say what is not ready for it.")
    parser.add_argument("--check", action="store_true", help="change nothing, build nothing")
    parser.add_argument("--pages", action="store_true", help="write what follows, build nothing")
    parser.add_argument("--into", default=ROOT / "dist", help="the folder; default: dist")
    options = parser.parse_args(arguments)
    if not options.check:
        for path, text in derived().items():
            toc.write(ROOT / path, text)
    if options.pages:
        return False
    for reason in (faults := list(not_ready())):
        print(f"not ready: {reason}")
    for path in [] if options.check else build(options.into):
        print(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
