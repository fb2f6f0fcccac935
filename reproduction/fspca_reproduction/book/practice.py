"""Does choosing find a planted count, and who explains most of rows that were held out.

Both were written down before the first run.
"""

import numpy as np
from scipy.stats import t as student
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.decomposition import MiniBatchSparsePCA, SparsePCA

from fspca import datasets
from fspca.covariance.linalg import largest
from fspca.selection import held_out_share, prepared, select_k
from fspca.shared_support.path import path
from fspca.shared_support.refit import refit
from fspca_reproduction.runner import experiment

PLANTED = {"n": 100, "d": 40, "k": 8}
COUNTS = tuple(range(2, 15))
STRENGTHS = (4, 16, 64, 256)
DRAWS = 25  # in a case


def planted_data(strength, draw):
    """Return n samples of white noise and one direction of variance `strength` on k features."""
    n, d, k = PLANTED.values()
    rng = np.random.default_rng([draw, strength])
    X = rng.standard_normal((n, d))
    X[:, :k] += np.sqrt(strength / k) * rng.standard_normal((n, 1))
    return X


@experiment(
    cases=[
        {"strength": strength, "first": first}
        for strength in STRENGTHS
        for first in range(0, 100, DRAWS)
    ]
)
def planted_count(strength, first):
    """Say which count `select_k` chooses where eight features carry the only direction.

    A draw counts as found where the count chosen is exactly eight.
    """
    chosen = []
    for draw in range(first, first + DRAWS):
        X = planted_data(strength, draw)
        options = {"subsamples": 2, "permutations": 2, "bound": "shifted", "seed": draw}
        choice = select_k(X, 1, COUNTS, **options)
        chosen.append(choice.chosen)
    return {"chosen": chosen}


LOADERS = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits,
           "diabetes": load_diabetes}  # fmt: skip
SHIPPED = ("numerical_numbers", "digit_pixels", "leukemia_golub", "tissue_expression",
           "tecator_spectra")  # fmt: skip
ASKED = ((2, 5), (3, 10), (5, 20))
SPLITS = 10  # halves, by seed
PENALTIES = 12  # of each sparse PCA, halved from the one that leaves nothing


def data_of(name):
    """Return the samples of a set by its name."""
    return LOADERS[name]().data if name in LOADERS else datasets.load(name).X


def by_penalty(kind, Z, m, k):
    """Return k rows of largest loadings of the sparse PCA whose count is nearest to k from above.

    The rows are ranked by their length; where all penalties leave fewer, the last ones tried rank.
    """
    strongest = float(np.linalg.norm(Z, axis=0).max())
    lengths = np.zeros(Z.shape[1])
    for power in range(PENALTIES):
        options = {"alpha": strongest / 2**power, "random_state": 0, "max_iter": 200}
        model = kind(m, **options).fit(Z)
        lengths = np.linalg.norm(model.components_, axis=0)
        if np.count_nonzero(lengths) >= k:
            break
    return largest(lengths, k)


def supports(Z, A, m, k):
    """Yield (method, features): each method's choice of k features from standardised rows Z."""
    yield "ours", path(A, m, [k], bound=None, n_starts=1)[0].support
    # of standardised columns all are one: `held_out_quick` sorts those that share a unit
    yield "largest variances", largest(A.diagonal(), k)
    yield "PCA's loadings", largest(np.linalg.norm(A.leading(m)[1], axis=1), k)
    yield "SparsePCA", by_penalty(SparsePCA, Z, m, k)
    yield "MiniBatchSparsePCA", by_penalty(MiniBatchSparsePCA, Z, m, k)
    if best_subset is not None and (chosen := best_subset(Z, m, k)) is not None:
        yield "abess", chosen


try:
    from abess import SparsePCA as BestSubset
except ImportError:
    best_subset = None
else:

    def best_subset(Z, m, k):
        """Return the features of abess' components of k / m features each, or None: it failed."""
        sizes = np.zeros((max(1, -(-k // m)), m))  # a one in row s asks for s + 1 features
        sizes[-1] = 1
        W = np.asarray(BestSubset(support_size=sizes).fit(Z, number=m).coef_).reshape(-1, m)
        if not np.all(np.isfinite(W)):  # seen on data with more features than samples
            return None
        lengths = np.linalg.norm(W, axis=1)
        return largest(lengths + 1e-9 * Z.var(axis=0) / (Z.var(axis=0).max() or 1.0), k)


@experiment(
    cases=[
        {"set": name, "m": m, "k": k, "split": split}
        for name in (*LOADERS, *SHIPPED)
        for m, k in ASKED
        for split in range(SPLITS)
    ]
)
def held_out_rivals(set, m, k, split):
    """Compare what each method's features explain of the half of the rows that it did not see.

    Columns are standardised by the half that is fitted; all supports are refitted by us, so that
    features alone are compared.
    """
    X = np.asarray(data_of(set), dtype=float)
    k = min(k, X.shape[1] - 1)
    rows = np.random.default_rng(split).permutation(len(X))
    fitted, held_out = X[rows[: len(X) // 2]], X[rows[len(X) // 2 :]]
    A, mean, scale = prepared(fitted, True, True)
    Z = (fitted - mean) / scale
    shares = {}
    for method, support in supports(Z, A, m, k):
        W, _ = refit(A, np.sort(support), m)
        shares[method] = held_out_share(W, held_out, mean, scale)
    return shares


ONE_UNIT = ("digits", *SHIPPED)  # sets whose columns share a unit and need not be standardised


@experiment(
    cases=[
        {"set": name, "m": m, "k": k, "split": split, "standardize": standardize}
        for standardize in (True, False)
        for name in ((*LOADERS, *SHIPPED) if standardize else ONE_UNIT)
        for m, k in ASKED
        for split in range(SPLITS)
    ]
)
def held_out_quick(set, m, k, split, standardize):
    """Compare, on the halves of `held_out_rivals`, ways that look for nothing but take the best.

    FastCan takes one after the other the feature that adds most to the squared canonical
    correlation with the leading components.  Columns that share a unit are also left in it, where
    sorting variances is a choice.
    """
    from fastcan import FastCan

    X = np.asarray(data_of(set), dtype=float)
    k = min(k, X.shape[1] - 1)
    rows = np.random.default_rng(split).permutation(len(X))
    fitted, held_out = X[rows[: len(X) // 2]], X[rows[len(X) // 2 :]]
    A, mean, scale = prepared(fitted, True, standardize)
    Z, V = (fitted - mean) / scale, A.leading(m)[1]
    chosen = {
        "ours": path(A, m, [k], bound=None, n_starts=1)[0].support,
        "FastCan": FastCan(k, verbose=0).fit(Z, Z @ V).indices_,
        "PCA's loadings": largest(np.linalg.norm(V, axis=1), k),
    }
    if not standardize:
        chosen["largest variances"] = largest(A.diagonal(), k)
    return {
        method: held_out_share(refit(A, np.sort(support), m)[0], held_out, mean, scale)
        for method, support in chosen.items()
    }


def paired(ours, theirs, level=0.95):
    """Return the mean of ours - theirs over the splits and its interval, corrected for overlap.

    Halves overlap, so that the variance of the mean is raised from 1 / r to 1 / r + 1 (Nadeau and
    Bengio 2003, with as many rows held out as fitted).  Splits are the last axis.
    """
    gains = np.subtract(ours, theirs)
    count, mean = gains.shape[-1], gains.mean(axis=-1)
    spread = student.ppf((1 + level) / 2, count - 1) * gains.std(axis=-1, ddof=1)
    reach = spread * np.sqrt(1 / count + 1)
    return mean, mean - reach, mean + reach
