"""What no loadings explain on the rows of tan2019's Table 2, and at 17 features per component."""

import numpy as np

from fspca import solve_separate
from fspca.check_certificate import check
from fspca.problem import SharedSupport
from fspca.proof.bounds import least_closed_form, upper_bound
from fspca.proof.checked import CheckedMatrix
from fspca.shared_support.ipu import ipu
from fspca_reproduction.results import rows_of
from fspca_reproduction.runner import experiment
from fspca_reproduction.tan2019.data import PANELS, STANDARD, cases_of_table_2, prepared
from fspca_reproduction.tan2019.figures import at_counts, best_cut, summed
from fspca_reproduction.tan2019.methods import AT_SETTING, MODEST, measured, quietly


def least_bound(A, m, k):
    """Return the least of the bounds that cost an eigenproblem; a probable one of large data."""
    return least_closed_form(CheckedMatrix.of(A, SharedSupport(m, k))).bound


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


@experiment(cases=[{"set": name, "m": m} for name in PANELS for m in (1, 3, 5)])
def tan2019_panel_bounds(set, m):
    """Bounds on one component and on m together, for every count of Figures 5 and 7."""
    A, asked = summed(prepared(set, preparation=STANDARD[set])), PANELS[set][1]
    counts = sorted({c for k in asked for c in (k, -(-k // m), -(-k // m) * m, m * k)})
    return {
        "one": {str(k): least_bound(A, 1, min(k, A.size)) for k in counts},
        "joint": {str(k): least_bound(A, m, max(m, min(k, A.size))) for k in counts},
    }


CHOSEN = [
    {"set": name, "part": part, "preparation": preparation}
    for name, part, preparation in (
        ("leukemia_golub", "38 training samples", "logarithms, samples"),
        ("leukemia_golub", "all", STANDARD["leukemia_golub"]),
        ("prostate", "all", "logarithms, samples"),
        ("dlbcl", "largest variances", "floor and ceiling"),
        ("colon", "all", "logarithms, samples, then features"),
        ("colon", "all", STANDARD["colon"]),
        ("duke", "all", STANDARD["colon"]),
        ("duke", "first 42 rows", STANDARD["colon"]),
    )
]


@experiment(cases=CHOSEN, alone=True)
def tan2019_further_readings(set, part, preparation):
    """The two-stage method with as many features as the others have in all, 150, and IPU.

    Of Duke's first 42 rows also all that Table 2 has.
    """
    X = prepared(set, part, preparation)
    A = summed(X)
    runs = [quietly(AT_SETTING["two_stage"], A, 3, 150, *setting) for setting in MODEST]
    point = best_cut(A, runs, MODEST, 150, sum(seconds for _, seconds in runs))
    shared = {"two_stage": point["last digits"], "ipu": measured(A, ipu(A, 3, 150).W)}
    row = {"samples": len(X), "shared": shared}
    return row | (at_counts(A, 3, [50])["50"] if part == "first 42 rows" else {})


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


def orthonormal_gaps():
    """Return its stored rows."""
    return rows_of("tan2019_orthonormal_gaps")
