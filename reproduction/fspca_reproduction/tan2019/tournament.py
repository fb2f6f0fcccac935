"""Every method for separate supports on one protocol: what factors explain, and what lists share.

The rule, written before the runs.  Data: of tan2019 Colon, Duke, Leukemia, Prostate and Dlbcl,
samples and then features standardised, GCM in logarithms and News20 as given, as in its Figures 5
and 7; of tian2020 the three sets of its Figure 2, as there; X'X not divided.  Three components of
50 features each.

A method runs once, as it is by default; TPower and GRQI also from PCA.  Programs of others run at
the first of their settings in `outside`.  An answer is cut to the counts, the largest loadings of
each component, and has unit columns.  It is measured as it is, and refitted on its own features by
turns of factors and loadings; of the two the better counts, for each measure by itself.  The
measures are what uncorrelated factors explain, and the adjusted variance of Zou, Hastie and
Tibshirani in the best order; beside them stand trace(Q'AQ) and the largest correlation of two
scores, both of the refitted answer.

`solve_separate` enters by default, and for the subspace, to show what that is worth.  (Its
conditions were entrants too, and were taken out before the third set ran: with fifty features a
run of them took minutes.)  A method is ahead where it is by more than EQUAL, 0.1 %; values closer
are level.  All methods of the registry enter.  Left out by size alone, as SIZES says, is what
takes minutes for one run.  Once all ten sets had run, a rival that was the best of the rivals on
no set by neither measure lost its rows, and its name stands in NEVER_FIRST; rivals that are equal
to the six digits stored are both the best.  Who wants such a row again takes the name out.  The
options of `solve_separate` were chosen with Colon, Leukemia and Lymphoma in sight, with 17
features each.
"""

from itertools import permutations

import numpy as np

from fspca import SOLVERS, metrics
from fspca.covariance.factors import factor_of
from fspca.datasets.catalogue import CATALOGUE
from fspca.problem import SeparateSupports
from fspca.separate_supports.factors import fit_within
from fspca_reproduction.runner import experiment
from fspca_reproduction.tan2019.data import STANDARD, prepared
from fspca_reproduction.tan2019.figures import summed
from fspca_reproduction.tan2019.methods import OURS, OWN, cut, quietly
from fspca_reproduction.tan2019.outside import OUTSIDE, SEARCHED
from fspca_reproduction.tian2020.figures import of_set

M, K, TURNS = 3, 50, 200  # components, features of each, and turns of a refit
OF_TIAN = ("lymphoma_covariance", "nus_wide", "numerical_numbers")
SETS = (
    "lymphoma_covariance",
    "nus_wide",
    "numerical_numbers",
    "colon",
    "duke",
    "leukemia_golub",
    "dlbcl",
    "prostate",
    "gcm",
    "news20",
)
CHOICES = {"subspace": {"score": "subspace"}}
NEVER_FIRST = (
    "tpower",
    "tpower from PCA",
    "gpower",
    "grqi from PCA",
    "sadmm",
    "sadmm, deflated",
    "manpg",
    "SparsePCA",
    "AManPG",
    "abess",
)
SEPARATE = [name for name, each in SOLVERS.items()
            if each.problem is SeparateSupports and name not in NEVER_FIRST] + [*OWN]  # fmt: skip
SIZES = {  # the most features with which a method enters; the sets have 216 to 12,600, and 62,061
    "SparsePCA": 2000,
    **dict.fromkeys(("AManPG", "abess", "sadmm", "sadmm, deflated", "manpg"), 20_000),
}
PCA, FROM_PCA = "PCA", ("tpower", "grqi")


def data_of(name):
    """Return a set's covariance, and data with that."""
    if name in OF_TIAN:
        A = of_set(name)
        return A, factor_of(A) @ np.eye(A.size)
    X = prepared(name, preparation=STANDARD.get(name, STANDARD["colon"]))
    return summed(X), X


def options_of(how):
    """Return the options that a word means: a choice of `solve_separate`, or a start."""
    return CHOICES.get(how, {"init": how} if how else {})


def loadings_of(A, X, method, how):
    """Return the loadings of one run."""
    if method in OUTSIDE:
        return OUTSIDE[method](X, *(SEARCHED[method] or [(K,) * M])[0])
    return (SOLVERS | OWN)[method](A, M, K, **options_of(how)).W


def label(method, how):
    """Return the name of an entrant."""
    if how is None:
        return method
    return f"{method}, {how}" if how in CHOICES else f"{method} from PCA"


def entrants(set):
    """Return (method, how) of all who enter on a set, and of PCA without a limit."""
    size = CATALOGUE[set].shape[1]
    names = [name for name in (*SEPARATE, *OUTSIDE)
             if name not in NEVER_FIRST and size <= SIZES.get(name, size)]  # fmt: skip
    chosen = [("solve_separate", how) for how in CHOICES]
    started = [(name, "pca") for name in FROM_PCA if label(name, "pca") not in NEVER_FIRST]
    return [(PCA, None), *((name, None) for name in names), *chosen, *started]


def adjusted(A, W):
    """Return the adjusted variance in the best order of the components."""
    orders = map(list, permutations(range(W.shape[1])))
    return max(metrics.adjusted_variance(A, W[:, order]) for order in orders)


def measured(A, W):
    """Return what loadings are worth, as they are or refitted."""
    W = cut(W, K)
    refitted, _ = fit_within(A.product, W, TURNS)
    found = {}
    for name, measure in {"factors": metrics.explained_by_factors, "adjusted": adjusted}.items():
        found[name] = max(measure(A, W), measure(A, refitted))
    correlation = SeparateSupports(M, K).facts(A, refitted)["score_correlation"]
    return found | {"subspace": metrics.explained_by_subspace(A, refitted),
                    "correlation": correlation}  # fmt: skip


@experiment(cases=[{"set": s, "method": x, "how": i} for s in SETS for x, i in entrants(s)])
def tan2019_tournament(set, method, how):
    """What the answer of one run is worth; null where it has no loadings of these counts."""
    A, X = data_of(set)
    if method == PCA:
        return {"factors": float(A.leading(M)[0].sum())}
    W = quietly(loadings_of, A, X, method, how)[0]
    found = measured(A, W) if np.all(np.isfinite(W)) else {"factors": None, "adjusted": None}
    return {"last digits": found} if method in OURS else found
