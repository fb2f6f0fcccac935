"""The story that runs through the book: twenty genes, chosen on 38 people, tested on 34 others.

Golub's leukemias came in two sets: 38 people first, and 34 later, from other laboratories.
"""

import numpy as np

from fspca import datasets

FIRST = 38  # they come last in the file
FLOOR, CEILING = 100, 16_000  # of intensities, in the study that published them


def people(controls=False):
    """Return logarithms of intensities of the first and of the later people, and the genes' names.

    The chip's own controls are left out unless asked for.
    """
    given = datasets.load("leukemia_golub")
    X, names = np.log2(np.clip(given.X, FLOOR, CEILING)), np.array(given.names)
    kept = [controls or not name.startswith("AFFX") for name in names]
    return X[-FIRST:, kept], X[:-FIRST, kept], names[kept]


def diagnoses():
    """Return the diagnoses of the first and of the later people."""
    y = np.array(datasets.load("leukemia_golub").y)
    return y[-FIRST:], y[:-FIRST]


def explained(W, X):
    """Return the share of the variance of X that lies in the span of W."""
    T, Q = X - X.mean(axis=0), np.linalg.qr(W)[0]
    return np.sum((T @ Q) ** 2) / np.sum(T**2)


def diagnosed(W, first, later):
    """Return how many of the later people stand nearest to those of the same diagnosis.

    Nearest in the span of W, to the mean of the first people with either diagnosis.
    """
    Q, (known, asked) = np.linalg.qr(W)[0], diagnoses()
    kinds = np.unique(known)
    centres = np.array([(first[known == kind] @ Q).mean(axis=0) for kind in kinds])
    distance = np.linalg.norm((later @ Q)[:, None] - centres, axis=2)
    return int(np.sum(kinds[np.argmin(distance, axis=1)] == asked))
