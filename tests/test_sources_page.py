"""The source that a page shows works as it stands, and costs the passes that the page says."""

import re
from pathlib import Path

import numpy as np
import pytest

from fspca import Covariance, go, ipu
from fspca.shared_support import swap

PAGE = Path(__file__).resolve().parents[1] / "book" / "appendix" / "sources.md"


@pytest.fixture(scope="module")
def shown():
    (lines,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    assert sum(bool(line.strip()) for line in lines.splitlines()) <= 40
    names = {}
    exec(lines, names)
    return names


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 5)) * [5, 4, 3, 2, 1] @ rng.standard_normal((5, 40))
    X += rng.standard_normal((90, 40)) + 1000
    files = [tmp_path / f"{i}.npy" for i in range(4)]
    for file, part in zip(files, np.array_split(X, 4), strict=True):
        np.save(file, part)
    return X, files


def test_its_answers_are_those_of_the_rows_put_together(shown, rows):
    X, files = rows
    theirs, ours = Covariance.from_source(shown["Files"](files)), Covariance.from_data(X)
    I, V = np.array([7, 3, 30]), np.random.default_rng(1).standard_normal((40, 2))
    near = {"rtol": 1e-9, "atol": 1e-9}  # a hundred products of numbers below a hundred
    np.testing.assert_allclose(theirs.diagonal(), ours.diagonal(), **near)
    np.testing.assert_allclose(theirs.submatrix(I), ours.submatrix(I), **near)
    np.testing.assert_allclose(theirs.columns(I), ours.columns(I), **near)
    np.testing.assert_allclose(theirs.product(V), ours.product(V), **near)
    np.testing.assert_allclose(theirs.product(V[I], I), ours.product(V[I], I), **near)
    np.testing.assert_allclose(theirs.leading(3)[0], ours.leading(3)[0], **near)


def test_solvers_run_on_it_and_a_step_is_a_pass(shown, rows):
    X, files = rows
    for solver in (ipu, go, swap):
        end = solver(Covariance.from_source(shown["Files"](files)), 2, 6)
        assert np.array_equal(end.support, solver(Covariance.from_data(X), 2, 6).support)
    end = shown["chosen_features"](files, 2, 6)
    assert end.passes <= len(end.history)
