"""Instances that break what is not careful, and the ways in which they can be asked."""

from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import NamedTuple

import numpy as np
import scipy.sparse

from fspca.covariance import Covariance
from fspca.linalg import random_subspace
from fspca.validate import needed

# Data X of d features, by kind; X'X is the covariance.
GENERIC = {
    "random": lambda rng, d: rng.standard_normal((d + 3, d)) * rng.uniform(0.3, 3, d),
    "spectrum": lambda rng, d: 2.0 ** -np.arange(d)[:, None] * random_subspace(d, d, rng),
}
SPECIAL = {
    "few samples": lambda rng, d: rng.standard_normal((rng.integers(1, d + 1), d)),
    "one sample": lambda rng, d: rng.standard_normal((1, d)),
    "zero": lambda rng, d: np.zeros((2, d)),
    "equal": lambda rng, d: np.eye(d),
    "repeated": lambda rng, d: np.repeat([1.0, 0.5], d)[:d, None] * random_subspace(d, d, rng),
    "condition 1e16": lambda rng, d: np.logspace(0, -8, d)[:, None] * random_subspace(d, d, rng),
    "copies": lambda rng, d: rng.standard_normal((d, d))[:, np.arange(d) // 2],
    "opposites": lambda rng, d: rng.standard_normal((d, 1)) * rng.choice([-1.0, 1.0], d),
    "constants": lambda rng, d: rng.standard_normal((d, d)) * rng.choice([0.0, 1.0], d),
    "units": lambda rng, d: rng.standard_normal((d, d)) * 10.0 ** -rng.permutation(d),
    "far apart": lambda rng, d: rng.standard_normal((d, d)) * 10.0 ** -(3.0 * rng.permutation(d)),
    "blocks": lambda rng, d: rng.standard_normal((d, d)) * (np.eye(d) + np.eye(d, k=1)),
}
WHOLE = {
    "signs": lambda rng, d: rng.integers(-1, 2, (d + 1, d)).astype(float),
    "counts": lambda rng, d: rng.integers(0, 100, (d + 3, d)).astype(float),
    "truths": lambda rng, d: rng.integers(0, 2, (d + 3, d)).astype(float),
}
KINDS = GENERIC | SPECIAL | WHOLE
SCALES = (1.0, 4.0**-498, 4.0**-250, 4.0**250, 4.0**498)  # from about 1e-300 to 1e300
COUNTS = (int, np.int8, np.uint8, np.int32, np.uint64)  # what m and k may be


class Subclass(np.ndarray):
    """An array by another name."""


def mapped(array):
    with TemporaryFile() as file:
        copy = np.memmap(file, array.dtype, "w+", shape=array.shape)
    copy[:] = array
    return copy


def nullable(X):
    return needed("pandas", "testing", "check_solver").DataFrame(X.astype(int), dtype="Int64")


def typed(*words):
    return {word: lambda array, word=word: array.astype(word) for word in words}


FORMS = {  # of a covariance
    "again": np.array,
    "in Fortran's order": np.asfortranarray,
    "of every second entry": lambda A: A.repeat(2, 0).repeat(2, 1)[::2, ::2],
    "backwards": lambda A: A[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda A: np.broadcast_to(A, A.shape),
    "memory-mapped": mapped,
    "of a subclass": lambda A: A.view(Subclass),
    "as lists": np.ndarray.tolist,
    "as a Covariance": Covariance,
    **typed(">f8", "g"),
}
SMALL = typed("f2", "f4", ">f4", "i1", ">i2", "i8")
DATA = typed("f8", "f2", "f4", "g", "i1", "u1", ">i2") | {
    "read by rows": mapped,
    "sparse by rows": scipy.sparse.csr_array,
    "sparse by columns": scipy.sparse.csc_array,
    "of nullable integers": nullable,
}


@dataclass(frozen=True)
class Case:
    """An instance: data of a kind on a scale, drawn with a seed; m and k; and a way to ask."""

    way: str
    kind: str
    scale: float
    d: int
    m: int
    k: int
    seed: int

    @property
    def X(self):
        return np.sqrt(self.scale) * KINDS[self.kind](np.random.default_rng(self.seed), self.d)

    @property
    def A(self):
        A = self.X.T @ self.X
        return A / 2 + A.T / 2


class Asked(NamedTuple):
    """A covariance as it is asked about: perhaps in another order, a multiple, shifted."""

    A: object
    order: np.ndarray | slice = slice(None)
    factor: float = 1.0
    sigma: float = 0.0

    def moved(self, m, objective):
        """Return what becomes of an objective."""
        return self.factor * objective + m * self.sigma


def from_data(case, form):
    return Asked(Covariance.from_data(form(case.X), center=False, divisor=1.0))


def relabelled(case):
    order = np.random.default_rng(case.seed).permutation(case.d)
    return Asked(case.A[np.ix_(order, order)], order=order)


def rescaled(case):
    factor = (3.0, 1e5, *SCALES[1::3])[case.seed % 4]
    return Asked(factor * case.A, factor=factor)


def shifted(case):
    sigma = 2 * case.A.trace()
    return Asked(case.A + sigma * np.eye(case.d), sigma=sigma)


def ways(solver):
    """Return the ways to ask a solver: the kinds of data for each, and what it makes of them."""
    found = {
        "data bool": (["truths"], lambda case: from_data(case, lambda X: X > 0)),
        "data": (KINDS, lambda case: from_data(case, np.array)),
        "rescaled": (GENERIC, rescaled),
    }
    for kinds, forms in ((SPECIAL, FORMS), (["signs"], SMALL)):
        for name, form in forms.items():
            found[f"covariance {name}"] = kinds, lambda case, form=form: Asked(form(case.A))
    for name, form in DATA.items():
        found[f"data {name}"] = ["counts"], lambda case, form=form: from_data(case, form)
    promised = {"labels": ("relabelled", relabelled), "shift": ("shifted", shifted)}
    kept = (each for word, each in promised.items() if solver.promise(word))
    return found | {name: (GENERIC, ask) for name, ask in kept}
