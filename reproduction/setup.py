"""The wheel carries the papers' numbers and ours, which lie in the project's `data`.

Its version is the module's.
"""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

TOP = Path(__file__).resolve().parents[1]
DATA = TOP / "data"
VERSION = re.search(r'^__version__ = "(.+)"$', (TOP / "fspca/__init__.py").read_text(), re.M)[1]


class WithData(build_py):
    def run(self):
        super().run()
        if not self.editable_mode:  # there `data` itself is read
            for folder in ("published", "results"):
                to = Path(self.build_lib) / "fspca_reproduction" / "data" / folder
                hidden = shutil.ignore_patterns(".*", "nightly")  # begun; tested
                shutil.rmtree(to, ignore_errors=True)  # what an earlier build has left
                shutil.copytree(DATA / folder, to, ignore=hidden)


setup(version=VERSION, cmdclass={"build_py": WithData})
