"""What a contributor reads first: short, true, and its solver runs."""

import re

import numpy as np
import pytest
import toc

from fspca import solve
from fspca.synthetic import make_scheme

FOLDER = toc.ROOT / ".github"
TEXT = (FOLDER / "CONTRIBUTING.md").read_text()


@pytest.mark.parametrize(("page", "most"), [("CONTRIBUTING", 1000), ("SECURITY", 400)])
def test_it_is_a_page(page, most):
    assert len((FOLDER / f"{page}.md").read_text().split()) <= most


def missing(text):
    """Return the files and folders that a text names and that are not there."""
    named = re.findall(r"`((?:fspca|tests|book|data|reproduction)/[\w./-]+)`", text)
    return [path for path in named if not (toc.ROOT / path).exists()]


def test_what_it_names_is_there():
    assert missing(TEXT) == []
    assert missing("in `fspca/nowhere.py`") == ["fspca/nowhere.py"]
    targets = set(re.findall(r"^([a-z-]+):", (toc.ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"make ([a-z-]+)", "\n".join(re.findall("`.*?`", TEXT)))) <= targets


def test_its_solver_runs_and_keeps_to_the_problem():
    names = {}
    exec(re.search(r"```python\n(.*?)```", TEXT, re.DOTALL)[1], names)
    A = make_scheme("D", 12, 0)
    found = names["greedy"](A, 2, 5)
    assert found.support.size == 5
    assert found.W.shape == (12, 2)
    assert len(found.history) == 5
    assert np.all(np.diff(found.history) >= 0)
    assert found.objective <= solve(A, 2, 5).upper_bound * (1 + 1e-12)
