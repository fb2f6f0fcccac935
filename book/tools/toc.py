"""The pages of the book, in reading order, as _toc.yml lists them."""

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
