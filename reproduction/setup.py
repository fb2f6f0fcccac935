"""The distribution carries the papers' numbers and ours, which lie in the project's `data`.

An archive of it stands alone: there they lie within the package already, and PKG-INFO tells the
version, which is the module's.
"""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
CARRIED = Path("fspca_reproduction", "data")
IS_ARCHIVE = (HERE / "PKG-INFO").exists()
DATA = HERE / CARRIED if IS_ARCHIVE else HERE.parent / "data"


def version():
    """Return the version, from where it stands in an archive or in the checkout."""
    if IS_ARCHIVE:
        return re.search(r"^Version: (.+)$", (HERE / "PKG-INFO").read_text(), re.M)[1]
    source = (HERE.parent / "fspca" / "__init__.py").read_text()
    return re.search(r'^__version__ = "(.+)"$', source, re.M)[1]


def carry(base):
    """Copy the numbers into the package that lies in a folder."""
    for name in ("published", "results"):
        to = Path(base) / CARRIED / name
        hidden = shutil.ignore_patterns(".*", "nightly")  # begun; tested
        shutil.rmtree(to, ignore_errors=True)  # what an earlier build has left
        shutil.copytree(DATA / name, to, ignore=hidden)


class BuildWithData(build_py):
    def run(self):
        super().run()
        if not self.editable_mode:  # there `data` itself is read
            carry(self.build_lib)


class ArchiveWithData(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        carry(base_dir)


setup(version=version(), cmdclass={"build_py": BuildWithData, "sdist": ArchiveWithData})
