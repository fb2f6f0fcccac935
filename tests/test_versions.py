"""The oldest and the newest versions that pyproject.toml allows, and each kernel of OpenBLAS.

Every Python of this machine from 3.11 on has an environment for each in `.cache/versions`; one that
is not here, or for which the oldest versions have no wheel, is skipped and shown as untested.
`pytest -m nightly tests/test_versions.py`, or in parts with -k "oldest and 3.12".
"""

import json
import os
import re
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest
import toc

PATH = os.pathsep.join((str(toc.ROOT), str(toc.ROOT / "reproduction")))
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
KERNELS = ("SkylakeX", "Nehalem")  # AVX-512, and neither that nor AVX2, which Haswell's has
EXTRAS = ("data", "plots", "learn", "frames", "dask", "testing")
# The whole public surface: every example, every solver, every way in; every check of scikit-learn.
CHOSEN = ("examples", "bad_input", "solvers", "sklearn", "tables", "covariance", "linalg",
          "problem", "plots", "selection", "dask", "command_line", "metrics_and_synthetic",
          "running", "check_certificate")  # fmt: skip
ENDS = (("oldest", "3.11"), ("newest", "3.13"))  # what holds at both, holds between: there a few
FEW = ("examples", "linalg", "sklearn")


def python_of(minor):
    """Return the path of a Python: on PATH, or the newest of pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found = sorted(pyenv.glob(f"{minor}.*/bin/python"))
    for path in (shutil.which(f"python{minor}"), *reversed(found)):
        said = path and subprocess.run([path, "--version"], capture_output=True, text=True).stdout
        if said and said.startswith(f"Python {minor}."):
            return path
    return None


def requirements(which):
    """Return what to install: all extras of the module, as old as allowed or as new as there is."""
    project = tomllib.loads((toc.ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in EXTRAS for line in extras[name])]
    lines += [line for line in extras["test"] if line.startswith(("pytest>", "distributed>"))]
    return [re.sub(">=", "==", line) for line in lines] if which == "oldest" else lines


@cache
def made(which, minor):
    """Return the Python of an environment, made if it is not there, or why it cannot be."""
    python = python_of(minor)
    if python is None:
        return None, f"Python {minor} is not on this machine"
    folder = toc.ROOT / ".cache" / "versions" / f"{which}-{minor}"
    inside = folder / "bin" / "python"
    if not (folder / "whole").exists():
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
        command = [inside, "-m", "pip", "install", "--quiet", "--only-binary=:all:"]
        done = subprocess.run([*command, *requirements(which)], capture_output=True, text=True)
        if which == "oldest" and "No matching distribution" in done.stderr:
            return None, done.stderr.strip().splitlines()[-1]
        assert done.returncode == 0, done.stderr
        (folder / "whole").touch()
    return inside, ""


def environment(which, minor):
    """Return the Python of an environment; skip where it cannot be."""
    inside, why = made(which, minor)
    if inside is None:
        pytest.skip(why)
    return inside


def run(python, *arguments, **variables):
    return subprocess.run([python, *arguments], capture_output=True, text=True, cwd=toc.ROOT,
                          env=os.environ | {"PYTHONPATH": PATH} | variables)  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("which", "minor", "part"),
    [(which, minor, part) for which in ("oldest", "newest") for minor in PYTHONS
     for part in (CHOSEN if (which, minor) in ENDS else FEW)],
)  # fmt: skip
def test_the_module_passes_with(which, minor, part, record_property):
    files = ["--doctest-modules", "fspca"] if part == "examples" else [f"tests/test_{part}.py"]
    options = ["-q", "--no-header", "-p", "no:cacheprovider", *files]
    done = run(environment(which, minor), "-m", "pytest", *options)
    assert done.returncode == 0, done.stdout[-3000:]
    record_property("instances", int(re.search(r"(\d+) passed", done.stdout)[1]))


ANSWERS = """
import json, warnings
import numpy as np
from fspca import SOLVERS
from fspca.synthetic import make_scheme, make_spiked
warnings.simplefilter("ignore")
cases = [(make_scheme(name, 12, seed), 2, 4) for name in "DEF" for seed in range(3)]
X = make_spiked(30, 12, 2, 4, seed=0)[0]
cases.append((X.T @ X, 2, 4))
found = {name: [solver(A, min(m, solver.most_components or m), k) for A, m, k in cases]
         for name, solver in SOLVERS.items()}
print(json.dumps({name: [[np.flatnonzero(np.abs(each.W).max(axis=1) > 1e-8).tolist(),
                          each.objective, each.converged] for each in answers]
                  for name, answers in found.items()}))
"""


def capable(kernel):
    """Whether this processor has the instructions of a kernel."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    return {"Haswell": "avx2", "SkylakeX": "avx512vl", "Nehalem": "sse4_2"}[kernel] in flags


@cache
def answers(kernel):
    """Return what all solvers answer with a kernel, or skip where there is none."""
    if not capable(kernel):
        pytest.skip(f"this processor has not the instructions of {kernel}")
    choice = {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"}
    return json.loads(run(environment("newest", "3.11"), "-c", ANSWERS, **choice).stdout)


@pytest.mark.nightly
@pytest.mark.parametrize("kernel", KERNELS)
def test_answers_do_not_hang_on_the_kernel_of_openblas(kernel, record_property):
    """Every answer that settled has Haswell's features and, to 1e-9, its objective.

    Features are those with loadings beyond rounding, 1e-8.  Where a budget ended an iteration,
    rounding decides which answer it is at: one in a hundred may differ so, and is told.
    """
    usual, here = answers("Haswell"), answers(kernel)
    pairs = [(name, *pair) for name in usual
             for pair in zip(usual[name], here[name], strict=True)]  # fmt: skip
    record_property("instances", len(pairs))
    apart = [(name, abs(a[1] / b[1] - 1), a[2] and b[2]) for name, a, b in pairs
             if a[0] != b[0] or abs(a[1] / b[1] - 1) > 1e-9]  # fmt: skip
    assert [each for each in apart if each[2]] == []
    assert len(apart) <= len(pairs) / 100, apart
    most = max((error for _, error, _ in apart), default=0)
    names = ", ".join(sorted({name for name, _, _ in apart}))
    if apart:
        record_property("told", f"{len(apart)} cut short ({names}) differ, by {most:.1g} at most")


def test_the_oldest_are_the_least_that_are_allowed():
    oldest = requirements("oldest")
    assert "numpy==1.26" in oldest
    assert "scikit-learn==1.6" in oldest
    assert len(oldest) == len(requirements("newest"))
    assert all("==" in line for line in oldest)


def test_the_workflow_runs_every_python():
    text = (toc.ROOT / ".github" / "workflows" / "tests.yml").read_text()
    assert "python: " + json.dumps(list(PYTHONS)) in text
