"""What opens a data set says so beforehand; another set that is opened is an error at once.

Sets that come with the module or with scikit-learn need no saying: they are always there.  All else
lies in the folder FSPCA_DATA or in the cache.  What opens a set without having said so would fail
where these are empty, and nobody who has the data would notice.
"""

import os
import sys
from contextlib import contextmanager
from functools import cache

from fspca import datasets
from fspca.datasets.catalogue import CATALOGUE

NAMES = {entry.file: name for name, entry in CATALOGUE.items()}
said = []  # one set of names for each `opening` that is entered


class UndeclaredError(RuntimeError):
    """A data set is opened that was not declared."""


def path_of(name):
    """Return the path of a set's file, or None: of the catalogue, or else NAME.npz."""
    if name in CATALOGUE:
        return datasets.where(name)
    paths = [place / f"{name}.npz" for place in datasets.places()]
    return next((path for path in paths if path.is_file()), None)


def lacking(names):
    """Return those of the sets that are not here."""
    return [name for name in names if path_of(name) is None]


@contextmanager
def opening(*names):
    """Refuse, within, to open any set in FSPCA_DATA or in the cache but these."""
    guard()
    said.append(frozenset(names))
    try:
        yield
    finally:
        said.pop()


@cache
def guard():
    """Watch what this process opens from now on.

    The folders are today's: a test that puts sets of its own elsewhere may open them.
    """
    folders = {os.path.realpath(place) for place in datasets.places()[1:]}

    def check(event, arguments):
        if event != "open" or not said or not isinstance(arguments[0], str):
            return
        folder, file = os.path.split(arguments[0])
        if os.path.realpath(folder) not in folders:
            return
        name = NAMES.get(file, os.path.splitext(file)[0])
        if not all(name in names for names in said):
            raise UndeclaredError(
                f"{name} is opened, and only {sorted(frozenset.intersection(*said))} declared: "
                f"declare it, by @experiment(cases, sets=...) or @pytest.mark.needs_data(...)"
            )

    sys.addaudithook(check)
