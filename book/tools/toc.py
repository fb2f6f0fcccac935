"""The pages of the book, in reading order, as _toc.yml lists them; how a derived one is written."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def pages():
    """Every page's path below the repository, without its suffix."""
    return list(_files(yaml.safe_load((ROOT / "_toc.yml").read_text())))


def notebooks():
    """The pages that are notebooks, as paths."""
    paths = [(ROOT / page).with_suffix(".ipynb") for page in pages()]
    return [path for path in paths if path.exists()]


def _files(entry):
    if isinstance(entry, list):
        for child in entry:
            yield from _files(child)
    elif isinstance(entry, dict):
        for key, child in entry.items():
            if key in ("root", "file"):
                yield child
            else:
                yield from _files(child)


def write(path, text):
    """Write a text unless the file holds it, so that nothing is built again for its date."""
    path = Path(path)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
