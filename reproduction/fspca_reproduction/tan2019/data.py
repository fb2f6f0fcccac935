"""The sets of tan2019 in every preparation that we hold possible; it states none.

LIBSVM's copies of Colon, Duke and Leukemia are standardised sample by sample, then feature by
feature.  Intensities have a floor and a ceiling in the studies that published them.
"""

import numpy as np
import scipy.sparse

from fspca import datasets

FLOORS = {"leukemia_golub": 100, "dlbcl": 20, "prostate": 10, "colon": 1, "gcm": 10}
CEILING = 16_000
FILTERED = {"prostate": 2135, "dlbcl": 2647}  # features that the paper kept, by a rule not stated
PARTS = {
    "leukemia_golub": ("all", "38 training samples"),
    "prostate": ("all", "largest variances"),
    "dlbcl": ("all", "largest variances"),
    "colon": ("all",),
    "duke": ("all",),
}


def standardised(X, axis):
    """Return X with mean 0 and standard deviation 1 along an axis; constants become 0."""
    X = X - X.mean(axis=axis, keepdims=True)
    deviation = X.std(axis=axis, ddof=1, keepdims=True)
    return X / np.where(deviation > 0, deviation, 1.0)


def logged(X, floor):
    return np.log(np.clip(X, floor, CEILING))


PREPARATIONS = {
    "as given": lambda X, floor: X,
    "as given, not centred": lambda X, floor: X,
    "floor and ceiling": lambda X, floor: np.clip(X, floor, CEILING),
    "logarithms": logged,
    "logarithms to base 2": lambda X, floor: logged(X, floor) / np.log(2),
    "features standardised": lambda X, floor: standardised(X, 0),
    "samples, then features standardised": lambda X, floor: standardised(standardised(X, 1), 0),
    "samples standardised": lambda X, floor: standardised(X, 1),
    "logarithms, samples, then features": lambda X, floor: standardised(
        standardised(logged(X, floor), 1), 0
    ),
    "logarithms, samples": lambda X, floor: standardised(logged(X, floor), 1),
}
WORDS = {  # what names in the rows mean
    "as given": "data as the file gives them, centred",
    "as given, not centred": "data as the file gives them, not centred",
    "floor and ceiling": "intensities cut at a floor and a ceiling",
    "logarithms": "logarithms of the intensities",
    "logarithms to base 2": "logarithms to base 2 of the intensities",
    "features standardised": "each feature standardised",
    "samples, then features standardised": "each sample, then each feature standardised",
    "samples standardised": "each sample standardised",
    "logarithms, samples, then features": "logarithms, each sample, then each feature standardised",
    "logarithms, samples": "logarithms, each sample standardised",
    "all": "50 features in all, 17 for each component",
    "each": "50 features for each component",
    "m k shared": "150 features in all, shared where the method shares them",
    "plain": "plain sum of variances",
    "adjusted": "sum of variances adjusted for overlap",
    "zou": "Zou's adjusted variance",
    "1": "X'X not divided",
    "n - 1": "X'X divided by n - 1",
    "all samples": "all samples and features",
    "38 training samples": "the 38 training samples",
    "largest variances": "the features of largest variance",
    "first 42 rows": "the first 42 rows",
}
STANDARD = {  # of the sets where the preparation is not the question
    "leukemia_golub": "samples, then features standardised",
    "colon": "samples, then features standardised",
    "gcm": "logarithms",
    "news20": "as given, not centred",
}
PANELS = {  # the figures on a set, and the counts of features there
    "gcm": ("tan2019_figure_5", range(50, 501, 50)),
    "news20": ("tan2019_figure_7", (50, 100, 200, 350, 500)),
}
LOGS = [name for name in PREPARATIONS if "logarithms" in name or "floor" in name]


LEFT_OUT = {  # what cannot be, or says nothing new
    "duke": LOGS,  # it comes standardised
    "colon": ["floor and ceiling"],  # nothing below the floor, four values above the ceiling
    "dlbcl": [name for name in PREPARATIONS if "given" not in name and "floor" not in name],
}


def cases_of_table_2():
    """Return the sets, parts and preparations.

    For Dlbcl 4e10 is printed, and all standardised variances together are 7129 x 76 = 5e5: only
    preparations that leave intensities as large as they are come into question.
    """
    return [
        {"set": name, "part": part, "preparation": preparation}
        for name, parts in PARTS.items()
        for part in parts
        for preparation in PREPARATIONS
        if preparation not in LEFT_OUT.get(name, [])
    ]


def prepared(name, part="all", preparation="as given"):
    """Return the data of a set, centred feature by feature unless the preparation says not."""
    X = datasets.load(name).X
    if scipy.sparse.issparse(X):
        return X
    X = X[-38:] if part == "38 training samples" else X  # they come last in the file
    X = X[:42] if part == "first 42 rows" else X
    X = PREPARATIONS[preparation](X.astype(float), FLOORS.get(name))
    if part == "largest variances":
        chosen = np.argsort(-X.var(axis=0), kind="stable")[: FILTERED[name]]
        X = X[:, np.sort(chosen)]
    return X if preparation.endswith("not centred") else X - X.mean(axis=0)


def told(name):
    """Return what a name in the rows means, in words."""
    return WORDS.get(name, name)
