"""Several components on features of their own, proven by prices: every instance, and its claim."""

import time
import warnings

import numpy as np

from fspca.check_certificate import check
from fspca.nonnegative.solve import solve_nonnegative
from fspca.problem import ConvergenceWarning
from fspca.proof.search import PROOF
from fspca.separate_supports.solve_separate import solve_separate
from fspca_reproduction.asteris2014.parts import data_of
from fspca_reproduction.book.instances import BENCHMARKS, matrix_of
from fspca_reproduction.runner import experiment

EVERY = ("nonnegative", "disjoint")
PROVEN = [
    *[("pitprops", kind, m, k) for m in (2, 3) for k in range(2, 7) for kind in EVERY],
    *[("pitprops", "orthonormal", 2, k) for k in (2, 3, 4, 5)],
    *[("pitprops", "orthonormal", 3, k) for k in (2, 3, 4)],
    *[("benchmark_ionosphere", kind, 3, 5) for kind in (*EVERY, "orthonormal")],
    *[("benchmark_ionosphere", kind, 5, 5) for kind in EVERY],
    *[("digits", "nonnegative", m, 4) for m in (2, 3, 6, 10)],
    ("digits", "nonnegative", 6, 3),
    *[("digits", "nonnegative", m, k) for k in (6, 10) for m in (2, 3, 6)],
    *[("digits", kind, m, 4) for m in (2, 3) for kind in ("disjoint", "orthonormal")],
    *[("digits", kind, 2, 6) for kind in ("disjoint", "orthonormal")],
    *[("texts", kind, 6, 3) for kind in EVERY],
    *[(name, "disjoint", 3, 5) for name in ("tissue_expression", "lymphoma_covariance")],
]  # fmt: skip
# The sets and counts of the programs of Cory-Wright and Pauphilet, "Sparse PCA with multiple
# components", whose components are orthonormal: with the work that a call does by itself.  Lists
# that share no feature, which many a user wants, are bounded beside them.
SETS = ("pitprops", "wine", "benchmark_ionosphere", "benchmark_geography", "benchmark_communities")
BOTH = ("disjoint", "orthonormal")
WITHIN_WORK = [
    *[(name, kind, m, k) for name in SETS for m in (2, 3) for k in (5, 10) for kind in BOTH],
    *[("benchmark_ionosphere", kind, m, 20) for m in (2, 3) for kind in BOTH],
]
SPLITS = ("1 3", "2 2", "1 5", "2 4", "3 3", "1 7", "2 6", "3 5", "4 4", "1 9", "2 8", "3 7", "4 6",
          "5 5", "1 1 4", "1 2 3", "2 2 2", "1 1 7", "1 2 6", "1 3 5", "1 4 4", "2 2 5", "2 3 4",
          "3 3 3")  # fmt: skip
UNEQUAL = [("pitprops", "orthonormal", split.count(" ") + 1, split) for split in SPLITS]
CASES = [(*case, True) for case in PROVEN] + [(*case, False) for case in WITHIN_WORK + UNEQUAL]


def covariance_of(set):
    """Return the covariance of a set, exactly symmetric."""
    if set == "digits":
        A = np.cov(data_of(set).T)
        return (A + A.T) / 2
    name = set.removeprefix("benchmark_")
    return matrix_of(name if name in BENCHMARKS else set)


@experiment(
    cases=[
        {"set": s, "kind": kind, "m": m, "k": k, "to the end": end}
        for s, kind, m, k, end in CASES
    ],
    alone=True,
)  # fmt: skip
def packing(set, kind, m, k, **case):
    """Bound or prove components on features of their own, and check the claim."""
    A = covariance_of(set)
    k = [int(each) for each in k.split()] if isinstance(k, str) else k
    gap = 0.0 if case["to the end"] else None
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if kind == "nonnegative":
            found = solve_nonnegative(A, m, k, gap=gap)
        else:
            found = solve_separate(A, m, k, gap=gap, **{kind: True})
    seconds = time.process_time() - began
    proven = found.gap <= 2 * PROOF
    began = time.process_time()
    verdict = check(found.certificate | {"A": A})
    return {
        "value": found.objective,
        "gap": 0.0 if proven else found.gap,
        "proven": proven,
        "checked": verdict.holds,
        "by": str(found.certificate["kind"]),
        "features": len(A),
        "seconds": seconds,
        "last digits": {"seconds of the check": time.process_time() - began},
    }
