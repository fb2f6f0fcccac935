"""What `pip install .` gives is whole: every example runs outside the checkout, on numpy and scipy.

A module that needs more says in one sentence what to install; so does a function.
"""

import re
import shutil
import subprocess
import sys
import zipfile

import pytest
import toc

import fspca

WITHIN = ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in", "fspca")
BUILD = "from setuptools.build_meta import {0}; {0}('.')"
CHOICE = "from fspca.selection import select_k; select_k(fspca.datasets.load('wine').X, 1, [2, 3], "

# Runs in an empty folder. Arguments: the site, and the modules to try (none: all of them).
ALONE = """
import doctest, importlib, importlib.metadata, pkgutil, sys
site, *wanted = sys.argv[1:]
absent = {*importlib.metadata.packages_distributions()} - {"numpy", "scipy", "fspca"}
sys.path.insert(0, site)

class Nothing:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nothing)
import fspca
assert fspca.__file__.startswith(site), fspca.__file__
names = ["fspca", *(found.name for found in pkgutil.walk_packages(fspca.__path__, "fspca."))]
tried = 0
runner = doctest.DebugRunner()  # no option but those that an example asks for itself
for name in wanted or names:
    try:
        module = importlib.import_module(name)
    except ImportError as reason:
        assert "pip install 'fspca[" in str(reason), (name, reason)
        continue
    for example in doctest.DocTestFinder().find(module):
        tried += runner.run(example).attempted
print(tried)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The wheel, built as `python -m build` does, and unpacked: from the archive of the sources."""
    source, site = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for name in WITHIN:
        copy = shutil.copytree if (toc.ROOT / name).is_dir() else shutil.copy
        copy(toc.ROOT / name, source / name)
    (source / "tests").mkdir()
    (source / "tests" / "test_of_the_checkout.py").write_text("import toc\n")
    unpacked = archived(source, tmp_path_factory.mktemp("unpacked"))
    assert not (unpacked / "tests").exists()
    built(unpacked, "build_wheel")
    (wheel,) = unpacked.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)
    return site


def built(folder, what):
    command = [sys.executable, "-c", BUILD.format(what)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def archived(source, place):
    """Build the archive of a distribution's sources, unpack it into a place, return its folder."""
    built(source, "build_sdist")
    (archive,) = source.glob("*.tar.gz")
    shutil.unpack_archive(archive, place)
    (unpacked,) = place.iterdir()
    return unpacked


def run(program, folder, *arguments):
    command = [sys.executable, "-P", "-W", "error", "-c", program, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_every_example_runs_outside_the_checkout(site, tmp_path):
    result = run(ALONE, tmp_path, site)
    assert result.returncode == 0, result.stdout + result.stderr
    assert int(result.stdout) > 100


def test_an_example_whose_data_are_not_in_the_wheel_is_seen(site, tmp_path):
    broken = shutil.copytree(site, tmp_path / "site")
    assert run(ALONE, tmp_path, broken, "fspca.datasets").returncode == 0
    (broken / "fspca" / "datasets" / "raw" / "pitprops.csv").unlink()
    assert run(ALONE, tmp_path, broken, "fspca.datasets").returncode == 1


def test_the_lines_of_the_readme_run(site, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (toc.ROOT / "README.md").read_text(), re.DOTALL)
    result = run(ALONE.partition("names =")[0] + "\n".join(blocks), tmp_path, site)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("import fspca.covariance.dask_data", "a dask.array needs dask: pip install 'fspca[dask]'"),
        ("import fspca.testing", "fspca.testing needs hypothesis: pip install 'fspca[testing]'"),
        ("import fspca.plots", "fspca.plots needs matplotlib: pip install 'fspca[plots]'"),
        (
            "fspca.datasets.fetch('nus_wide')",
            "fetching data needs pooch: pip install 'fspca[data]'",
        ),
        (
            CHOICE + "subsamples=4).to_frame()",
            "Choice.to_frame needs pandas: pip install 'fspca[frames]'",
        ),
    ],
)
def test_what_needs_more_says_what(site, tmp_path, line, sentence):
    result = run(ALONE.partition("names =")[0] + line, tmp_path, site)
    assert f"ImportError: {sentence}\n" in result.stderr


def test_the_wheel_holds_the_module_its_data_and_nothing_else(site):
    assert {p.name for p in site.iterdir()} == {"fspca", f"fspca-{fspca.__version__}.dist-info"}
    carried = {path.name for path in (toc.ROOT / "fspca" / "datasets" / "raw").iterdir()}
    assert {path.name for path in (site / "fspca" / "datasets" / "raw").iterdir()} == carried
    assert (site / "fspca" / "plots" / "book.mplstyle").exists()
    assert (site / "fspca" / "py.typed").exists()
