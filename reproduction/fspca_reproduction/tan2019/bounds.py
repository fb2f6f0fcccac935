"""What no loadings explain on the rows of tan2019's Table 2, and at 17 features per component."""

import numpy as np

from fspca import solve_separate
from fspca.check_certificate import check
from fspca.shared_support.certificate import upper_bound
from fspca_reproduction.runner import experiment
from fspca_reproduction.tan2019.data import STANDARD, cases_of_table_2, prepared
from fspca_reproduction.tan2019.figures import summed

METHODS = ("eigenvalue", "diagonal", "shifted")


def least_bound(A, m, k):
    """Return the least of the bounds that cost an eigenproblem of the samples."""
    return min(upper_bound(A, m, k, method=method).bound for method in METHODS)


@experiment(cases=[*cases_of_table_2(), *({"set": "duke", "part": "first 42 rows", "preparation": p}
            for p in ("as given", STANDARD["colon"]))])  # fmt: skip
def tan2019_cell_bounds(set, part, preparation):
    """Bounds on one component of 17 and 50 features, and on three with 50 and 150 in all."""
    X = prepared(set, part, preparation)
    A = summed(X)
    one = {str(k): least_bound(A, 1, k) for k in (17, 50)}
    return {
        "samples": len(X),
        "one": one,
        "three": {str(k): least_bound(A, 3, k) for k in (50, 150)},
    }


@experiment(cases=[{"set": name} for name in ("colon", "duke", "leukemia_golub")], alone=True)
def tan2019_orthonormal_gaps(set):
    """Orthonormal components of 17 features each: the answer, and what is proven of all others.

    Theorem 3 alone, with the covariance for GG', is the diagonal bound here.
    """
    A = summed(prepared(set, preparation=STANDARD["colon"]))
    found = solve_separate(A, 3, 17, orthonormal=True)
    verdict = check(dict(found.certificate) | {"X": np.asarray(A.wide_factor(), dtype=float)})
    return {"objective": found.objective, "bound": found.upper_bound, "holds": verdict.holds,
            "shared": upper_bound(A, 3, 51, method="diagonal").bound}  # fmt: skip
