"""What SADMM costs: beside ManPG at one penalty, and on wide data."""

import time

import numpy as np

from fspca import sadmm, solve_separate
from fspca.covariance import Covariance
from fspca.separate_supports import manpg, tpower
from fspca.synthetic import make_sparse_pair
from fspca_reproduction.results import rows_of
from fspca_reproduction.runner import experiment
from fspca_reproduction.tan2019.data import STANDARD, prepared
from fspca_reproduction.tan2019.figures import summed
from fspca_reproduction.tan2019.methods import quietly

M, NOISE = 2, 3.0


@experiment(
    cases=[
        {"set": name, "share": share}
        for name in ("colon", "duke", "leukemia_golub", "gcm")
        for share in (0.005, 0.01, 0.02, 0.05)
    ],
    alone=True,
)
def tan2019_equal_penalty(set, share):
    """SADMM and ManPG by default at one penalty, a share of the first eigenvalue, m = 3.

    The cost is that of their problem, -1/2 tr(V'AV) + penalty ||V||_1, of the orthonormal matrix.
    """
    row, seconds = {}, {}
    for name, solver in {"manpg": manpg, "sadmm": sadmm}.items():
        # anew for each: a covariance keeps what it was asked, which the second would find
        A = summed(prepared(set, preparation=STANDARD.get(set, STANDARD["colon"])))
        penalty = share * A.leading(1)[0][0]
        began = time.process_time()
        found = quietly(solver, A, 3, penalty=penalty)[0]
        seconds[name], V = time.process_time() - began, found.orthonormal
        cost = penalty * np.abs(V).sum() - np.vdot(V, A.product(V)) / 2
        counts = np.count_nonzero(found.W, axis=0)
        row[name] = {
            "cost": cost,
            "steps": found.n_iter,
            "settled": found.converged,
            "counts": counts,
        }
    return row | {"seconds": seconds}


def equal_penalties():
    """Return a line for each row: by how much ManPG's cost is lower, steps, seconds, features."""
    lines = []
    for row in rows_of("tan2019_equal_penalty"):
        ours, theirs = pair = row["manpg"], row["sadmm"]
        lower = (theirs["cost"] - ours["cost"]) / abs(theirs["cost"])
        ratio = row["seconds"]["manpg"] / row["seconds"]["sadmm"]
        counts = [" ".join(map(str, each["counts"])) for each in pair]
        steps = [each["steps"] for each in pair]
        lines.append((row["set"], row["share"], f"{lower:.1%}", *steps, f"{ratio:.2f}", *counts))
    return lines


@experiment(cases=[{"d": 20_000}], alone=True)
def tan2019_wide_cost(d):
    """CPU seconds of `solve_separate` beside those of TPower, n = 100, m = 2, noise 3."""
    X, _ = make_sparse_pair(100, d, NOISE, seed=0)
    row, solvers = {}, {"tpower": tpower, "solve_separate": solve_separate}
    for name, solver in solvers.items():
        seconds = []
        for _ in range(5):  # others on the machine can only add
            A = Covariance.from_data(X, center=False, divisor=1)  # anew: nothing is remembered
            began = time.process_time()
            found = solver(A, M, 10)
            seconds.append(time.process_time() - began)
        row[name] = {"objective": found.objective, "seconds": min(seconds)}
    return row
