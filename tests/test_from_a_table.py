"""The eight lines of the chapter go from a CSV to names, share, gap, picture and new rows."""

import re
from contextlib import redirect_stdout
from io import StringIO

import nbformat
import pandas as pd
import pytest
import toc
from matplotlib import pyplot as plt
from sklearn import datasets
from sklearn.model_selection import train_test_split

from fspca.plots import plot_loadings
from fspca.sklearn import SparsePrincipalSubspace

CHAPTER = nbformat.read(toc.ROOT / "book" / "practice" / "from_a_table.ipynb", as_version=4)
OURS = {"plot_loadings": plot_loadings, "SparsePrincipalSubspace": SparsePrincipalSubspace}


def eight_lines():
    """The cell below the heading, with its table read from a file; a picture shows by itself.

    What the book asserts of its picture is not the reader's.
    """
    at = next(i for i, cell in enumerate(CHAPTER.cells) if "## Eight lines" in cell.source)
    lines = CHAPTER.cells[at + 1].source.splitlines()
    lines = [line for line in lines if line != "plt.show()" and not line.startswith("assert ")]
    return "\n".join(["wine = pd.read_csv(path)", *lines])


def test_they_are_eight_lines_and_two_names_to_look_up():
    assert len(eight_lines().splitlines()) == 8
    imported = next(cell.source for cell in CHAPTER.cells if cell.cell_type == "code")
    known = set(re.findall(r"\w+", "\n".join(re.findall(r"from fspca.* import (.*)", imported))))
    assert known & set(re.findall(r"\w+", eight_lines())) == set(OURS)


@pytest.mark.parametrize("name", ["wine", "diabetes", "digits"])
def test_they_run_on_each_set(name, tmp_path):
    frame = getattr(datasets, f"load_{name}")(as_frame=True).data
    frame.to_csv(tmp_path / "table.csv", index=False)
    given = {"pd": pd, "path": tmp_path / "table.csv", "train_test_split": train_test_split}
    with redirect_stdout(StringIO()) as told:
        exec(eight_lines(), given | OURS)
    names, solution, *rows = told.getvalue().splitlines()
    chosen = re.findall(r"'([^']+)'", names)
    assert len(chosen) == 4
    assert set(chosen) <= set(frame.columns)
    drawn = [label.get_text() for label in plt.gcf().axes[0].get_yticklabels()]
    plt.close("all")
    assert set(drawn) == set(chosen)
    said = " ".join([solution, *rows])
    assert re.search(r"explains [\d.]+ \([\d.]+ % of all", said)
    assert re.search(r"the optimum is at most|proven optimal", said)
    assert rows[-3].split() == ["sparseprincipalsubspace0", "sparseprincipalsubspace1"]
    assert len(rows[-1].split()) == 3  # a new row: its number, and two coordinates
