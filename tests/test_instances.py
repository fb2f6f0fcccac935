"""The instances' optima are what their files say, by a check that knows nothing of our solvers."""

import numpy as np
import pytest

from fspca import datasets, exhaustive
from fspca.catalogue import CATALOGUE
from fspca.shared_support.tree_check import check
from fspca_reproduction.book.instances import FOLDER, LARGEST, matrix_of

PATHS = sorted(FOLDER.glob("*.npz"))
DIGITS = 1e-9  # of values that are computed again


def opened(path):
    with np.load(path, allow_pickle=False) as file:
        instance = {key: file[key][()] for key in file.files}
    source = str(instance["source"])
    if source in CATALOGUE and datasets.where(source) is None:
        pytest.skip(f"{source} is not here: {path.stem} was not checked")
    A = matrix_of(source)
    return instance, A.plain.submatrix(np.arange(A.size))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_value_and_certificate_hold(path):
    instance, A = opened(path)
    m, k, support, value = (instance[name] for name in ("m", "k", "support", "value"))
    assert len(support) == k
    found = np.linalg.eigvalsh(A[np.ix_(support, support)])[-m:].sum()
    assert found == pytest.approx(value, rel=DIGITS)
    assert value <= instance["bound"] * (1 + DIGITS)
    assert instance["how"].startswith("proven") == bool(instance["bound"] == value)
    assert instance["G"].nbytes <= LARGEST
    if instance["G"].size:
        claimed = instance["bound_of_G"] / value - 1 + DIGITS
        assert check(A, m, k, support, instance["G"].astype(float), claimed)[0]


@pytest.mark.parametrize("k", range(1, 13))
def test_pitprops_agrees_with_enumeration(k):
    for m in range(1, min(k, 6) + 1):
        instance, A = opened(FOLDER / f"pitprops_{m}_{k}.npz")
        assert instance["value"] == pytest.approx(exhaustive(A, m, k).objective, rel=DIGITS)


def test_pitprops_agrees_with_the_published_optima():
    """Berk and Bertsimas 2019: for one component 3.406 on five features, 4.173 on ten."""
    for k, published in ((5, 3.406), (10, 4.173)):
        value = opened(FOLDER / f"pitprops_1_{k}.npz")[0]["value"]
        assert round(float(value), 3) == published


def test_there_are_instances_of_every_kind():
    kinds = {path.stem.split("_")[0] for path in PATHS}
    assert kinds == {"scheme", "pitprops", "breast", "digits", "numerical", "tissue", "lymphoma",
                     "nus"}  # fmt: skip
    assert len(PATHS) > 70
