"""What a start is worth to the methods that begin somewhere, many at the largest variance.

On standardised data all variances are equal, and "the largest" is the first of all features.
"""

from fspca import SOLVERS
from fspca_reproduction.runner import experiment
from fspca_reproduction.tan2019.data import STANDARD, prepared
from fspca_reproduction.tan2019.figures import summed
from fspca_reproduction.tan2019.methods import POWER, quietly

STARTS = {"variance": {"init": "variance"}, "pca": {"init": "pca"},
          "ten": {"init": "pca", "n_starts": 10}}  # fmt: skip
STARTED = ("tpower", "grqi", "inverse_power", *POWER, "gpower, block l0", "gpower, block",
           "manifold_penalty", "manpg", "sadmm")  # fmt: skip


@experiment(cases=[{"set": s, "method": x} for s in ("colon", "duke") for x in STARTED])
def tan2019_starts(set, method):
    """What three components of 17 features explain from each start; of ten the best by score."""
    A = summed(prepared(set, preparation=STANDARD["colon"]))
    return {
        name: quietly(SOLVERS[method], A, 3, 17, **options)[0].objective
        for name, options in STARTS.items()
    }
