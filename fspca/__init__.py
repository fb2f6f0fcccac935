"""fspca: choose k features and the best m-dimensional subspace on them, at once.

Here is what one calls first, and the papers' own methods.  Their rivals are imported from the
room of their problem: `fspca.shared_support`, `fspca.separate_supports`, `fspca.nonnegative`.
"""

from fspca import datasets, metrics, synthetic
from fspca.covariance import Covariance
from fspca.nonnegative import epsilon_net, solve_nonnegative, spannogram
from fspca.problem import (
    ConvergenceWarning,
    Nonnegative,
    SeparateSupports,
    SharedSupport,
    Solution,
    check_solution,
)
from fspca.proof.bounds import upper_bound
from fspca.proof.certify import certify
from fspca.registry import SOLVERS
from fspca.separate_supports import sadmm, solve_separate
from fspca.shared_support import exhaustive, go, ipu, path, solve, two_stage

__version__ = "0.3.0.dev0"

__all__ = [  # noqa: RUF022 (grouped by what is asked; the page of all names is made from it)
    # What is asked, and what is answered
    "SharedSupport",
    "SeparateSupports",
    "Nonnegative",
    "Solution",
    "check_solution",
    "Covariance",
    # What to call first
    "solve",
    "solve_separate",
    "solve_nonnegative",
    "path",
    # How good an answer is, and the best one
    "upper_bound",
    "certify",
    "exhaustive",
    # The papers' own methods
    "go",
    "ipu",
    "sadmm",
    "two_stage",
    "spannogram",
    "epsilon_net",
    # What is known of the solvers
    "SOLVERS",
    "ConvergenceWarning",
    # Data, measures and instances
    "datasets",
    "metrics",
    "synthetic",
]
