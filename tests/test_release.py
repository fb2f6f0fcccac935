"""A release: what follows from the version and the address, the same bytes twice, and the list."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import release
import test_wheel
import toc
import yaml

import fspca

LIST = (toc.ROOT / ".github" / "RELEASING.md").read_text()


def test_what_follows_from_version_and_address_is_what_is_stored():
    for path, text in release.derived().items():
        assert (toc.ROOT / path).read_text() == text, "run `make pages`"
    assert release.version() == fspca.__version__


def test_one_address_goes_everywhere(monkeypatch, tmp_path):
    there = "https://example.org/fspca"
    monkeypatch.setattr(release, "ROOT", tmp_path)
    for name in ("pyproject.toml", "CITATION.cff", "README.md", "_config.yml"):
        shutil.copy(toc.ROOT / name, tmp_path)
    (tmp_path / "fspca").mkdir()
    (tmp_path / "fspca/__init__.py").write_text('__version__ = "9.1"\n')
    before = release.derived()
    monkeypatch.setattr(release, "address", lambda: there)
    for _ in range(2):  # what is there already is replaced
        found = release.derived()
        for path, text in found.items():
            (tmp_path / path).write_text(text)
    assert tomllib.loads(found["pyproject.toml"])["project"]["urls"] == {"Source": there}
    assert f"```bash\ngit clone {there} && cd fspca\nmake book " in found["README.md"]
    assert "git clone" not in before["README.md"]
    citation = yaml.safe_load(found["CITATION.cff"])
    assert (citation["repository-code"], str(citation["version"])) == (there, "9.1")
    monkeypatch.setattr(release, "address", lambda: "")
    assert release.derived() == before


def test_the_archive_is_described_by_the_citation():
    citation = yaml.safe_load((toc.ROOT / "CITATION.cff").read_text())
    found = json.loads((toc.ROOT / ".zenodo.json").read_text())
    assert found["title"] == citation["title"]
    assert found["version"] == citation["version"] == fspca.__version__
    assert [each["name"] for each in found["creators"]] == ["the fspca authors"]
    assert len(found["references"]) == 3


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Two builds, by people whose new files others may not read, and may."""
    folders = []
    for mask in (0o077, 0o022):
        folders.append(tmp_path_factory.mktemp("dist"))
        before = os.umask(mask)
        try:
            release.build(folders[-1])
        finally:
            os.umask(before)
    return folders


def test_the_same_bytes_twice(built):
    first, second = ({p.name: p.read_bytes() for p in folder.iterdir()} for folder in built)
    assert first == second
    number = fspca.__version__
    assert set(first) == {
        f"fspca-{number}.tar.gz",
        f"fspca-{number}-py3-none-any.whl",
        f"fspca_reproduction-{number}.tar.gz",
        f"fspca_reproduction-{number}-py3-none-any.whl",
    }


def test_a_dry_run_says_what_is_not_ready(monkeypatch, capsys):
    release.main(["--check"])
    told = capsys.readouterr().out
    assert told in ("", "not ready: not all is committed\n")
    monkeypatch.setattr(release, "version", lambda: "9.1")
    assert release.main(["--check"])
    told = capsys.readouterr().out
    assert "CHANGELOG.md does not begin with 9.1" in told
    assert "CITATION.cff does not follow" in told


def test_the_list_names_commands_that_there_are():
    targets = set(re.findall(r"^([a-z-]+):", (toc.ROOT / "Makefile").read_text(), re.M))
    named = re.findall(r"`make ([a-z-]+)", LIST)
    assert {"test", "nightly", "reproduce", "release"} <= set(named) <= targets
    assert re.findall(r"^(\d)\.", LIST, re.M) == [str(i) for i in range(1, 9)]


@pytest.mark.nightly
def test_installed_from_the_archive_into_an_empty_environment(built, tmp_path, record_property):
    """Every example, the README's lines and the command line, on numpy and scipy alone."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env/bin/python"
    (archive,) = built[0].glob("fspca-*.tar.gz")
    install = [python, "-m", "pip", "install", "--quiet", archive]
    subprocess.run(install, check=True, cwd=tmp_path, capture_output=True)
    listed = subprocess.run([python, "-m", "pip", "list", "--format=json"], capture_output=True)
    assert {each["name"] for each in json.loads(listed.stdout)} <= {
        "fspca", "numpy", "scipy", "pip", "setuptools"}  # fmt: skip
    (site,) = (tmp_path / "env/lib").glob("python3*/site-packages")
    alone = [python, "-P", "-c", test_wheel.ALONE, site]
    tried = subprocess.run(alone, cwd=tmp_path, capture_output=True, text=True)
    assert tried.returncode == 0, tried.stdout + tried.stderr
    record_property("instances", int(tried.stdout))
    strictly = (toc.ROOT / "tests" / "used_strictly.py").read_text()
    subprocess.run([python, "-P", "-c", strictly], cwd=tmp_path, check=True, capture_output=True)
    blocks = re.findall(r"```python\n(.*?)```", (toc.ROOT / "README.md").read_text(), re.DOTALL)
    subprocess.run([python, "-P", "-c", "\n".join(blocks)], cwd=tmp_path, check=True)
    (tmp_path / "table.csv").write_text("a,b,c\n1,2,4\n3,5,1\n2,2,7\n0,1,3\n")
    command = [tmp_path / "env/bin/fspca", "select", "table.csv", "-m", "1", "-k", "2", "--scale"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "on 2 of 3 features" in said


@pytest.mark.nightly
def test_the_type_checkers_accept_twenty_lines_of_use(built, tmp_path):
    """`mypy --strict` and pyright, of the installed wheel, each in its newest version."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    bin = tmp_path / "env" / "bin"
    (wheel,) = built[0].glob("fspca-*.whl")
    install = [bin / "python", "-m", "pip", "install", "--quiet", "mypy", "pyright", wheel]
    subprocess.run(install, check=True, capture_output=True)
    used = shutil.copy(toc.ROOT / "tests" / "used_strictly.py", tmp_path)
    wrong = tmp_path / "wrong.py"
    wrong.write_text(Path(used).read_text() + "\nnames: int = wine.names\n")
    for command in (["mypy", "--strict"], ["pyright", "--pythonpath", bin / "python"]):
        for file, accepted in ((used, True), (wrong, False)):
            run = subprocess.run([bin / command[0], *command[1:], file], cwd=tmp_path, text=True,
                                 capture_output=True)  # fmt: skip
            assert (run.returncode == 0) == accepted, run.stdout + run.stderr
