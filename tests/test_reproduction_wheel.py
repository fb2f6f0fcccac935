"""The reproduction's wheel carries the papers' numbers and ours: chapters run from two wheels.

It is the same from a checkout and from the archive of its sources, as `python -m build` makes it.
"""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest
import toc
from test_wheel import archived, built

import fspca

ASK = """
from fspca_reproduction import results
from fspca_reproduction.claim import judged
from fspca_reproduction.runner import experiments, row
case = experiments()["hit_rates"].cases[0]
assert results.same_row(results.stored("hit_rates")["rows"][0], row("hit_rates", case))
print(results.DATA, len(judged("tian2020_table_2")))
"""


@pytest.fixture(scope="module", params=["checkout", "archive"])
def wheel(request, tmp_path_factory):
    """Built from a copy of what it is made of, or from the archive of that."""
    source = tmp_path_factory.mktemp("source")
    left_out = shutil.ignore_patterns("build", "*.egg-info", "__pycache__", "raw", "instances")
    for name in ("reproduction", "data", "fspca"):
        shutil.copytree(toc.ROOT / name, source / name, ignore=left_out)
    (source / "data" / "results" / ".begun.partial.jsonl").write_text("{}")
    folder = source / "reproduction"
    if request.param == "archive":
        folder = archived(folder, tmp_path_factory.mktemp("unpacked"))
    built(folder, "build_wheel")
    (found,) = folder.glob("fspca_reproduction-*.whl")
    assert found.name.split("-")[1] == fspca.__version__
    return found


def test_it_carries_every_module_and_every_number(wheel):
    listed = {name for name in zipfile.ZipFile(wheel).namelist() if "dist-info" not in name}
    top = toc.ROOT / "reproduction"
    files = [*top.glob("fspca_reproduction/**/*.py"), *top.glob("fspca_reproduction/**/*.md")]
    modules = {str(path.relative_to(top)) for path in files}
    numbers = {
        f"fspca_reproduction/data/{folder}/{path.name}"
        for folder in ("published", "results")
        for path in (toc.ROOT / "data" / folder).glob("[!.]*.json")
    }
    assert listed == modules | numbers


def test_outside_a_checkout_rows_are_read_judged_and_made_again(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    shutil.copytree(toc.ROOT / "fspca", tmp_path / "site" / "fspca")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    found = subprocess.run([sys.executable, "-c", ASK], cwd=tmp_path, env=environment, text=True,
                           capture_output=True, check=True)  # fmt: skip
    place, count = found.stdout.split()
    assert place == str(tmp_path / "site" / "fspca_reproduction" / "data")
    assert int(count) == 276
