"""What SADMM costs: a step in units of one product; whole runs beside the rivals' and ManPG's."""

import time

import numpy as np
import scipy.linalg

from fspca import sadmm, solve_separate
from fspca.covariance import Covariance
from fspca.separate_supports import conjugate_gradient, line_search, manpg, tpower
from fspca.separate_supports.alternation import settling_rho, spectrum, steps
from fspca.synthetic import make_sparse_pair
from fspca_reproduction.book.foundations import timed
from fspca_reproduction.results import rows_of
from fspca_reproduction.runner import experiment
from fspca_reproduction.tan2019.data import STANDARD, prepared
from fspca_reproduction.tan2019.figures import summed
from fspca_reproduction.tan2019.methods import SHARED, WITH_K, cut, quietly, recovery_error

N, D, M, NOISE = 500, 5000, 2, 3.0


def walk(A, count, penalty=10.0, gamma=100.0, rho=1000.0):
    """Return the seconds of so many outer steps, and how many searches and trials they had."""
    V = A.leading(M)[1]
    found = steps(A, V, penalty, gamma, rho, 1.1, settling_rho(A, 1, penalty))
    began = time.process_time()
    for _ in range(count):
        next(found)
    return time.process_time() - began


@experiment(cases=[{"steps": 30}], alone=True)
def tan2019_step_cost(steps):
    """One outer step of SADMM, X 500 x 5000, m = 2, in products X'(XV); the line search's share."""
    X, _ = make_sparse_pair(N, D, NOISE, seed=0)
    A = Covariance.from_data(X, center=False, divisor=1)
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((D, M)))[0]
    product = timed(lambda: X.T @ (X @ V), repeats=15)
    once = timed(lambda: scipy.linalg.svd(X, full_matrices=False), repeats=3)
    spectrum(A)
    outer = min(walk(A, steps) for _ in range(3)) / steps
    search, spent, counts = line_search.strong_wolfe, [0.0], [0, 0]

    def clocked(along, *arguments):
        def counted(t):
            counts[1] += 1
            return along(t)

        began = time.process_time()
        found = search(counted, *arguments)
        spent[0] += time.process_time() - began
        counts[0] += 1
        return found

    conjugate_gradient.strong_wolfe = clocked
    try:
        whole = walk(A, steps)
    finally:
        conjugate_gradient.strong_wolfe = search
    return {
        "searches": counts[0], "trials": counts[1],
        "seconds": {"product": product, "decomposition": once, "outer step": outer,
                    "in products": outer / product, "share of the search": spent[0] / whole},
    }  # fmt: skip


@experiment(cases=[{"noise": noise} for noise in (1, 6)], alone=True)
def tan2019_whole_runs(noise):
    """Seconds of one run of every method of Figure 4, and of scikit-learn, on the same X."""
    from sklearn.decomposition import SparsePCA

    X, truth = make_sparse_pair(N, D, float(noise), seed=0)
    row, seconds = {}, {}
    for method, solver in WITH_K.items():
        A = Covariance.from_data(X, center=False, divisor=1)  # anew: nothing is remembered
        found, seconds[method] = quietly(solver, A, M, 20 if method in SHARED else 10)
        row[method] = recovery_error(found.W, truth)
    for alpha in (1.0, 20.0):
        model = SparsePCA(M, alpha=alpha, max_iter=100, random_state=0)
        _, seconds[f"SparsePCA, alpha={alpha:g}"] = quietly(model.fit, X)
        W = model.components_.T / np.maximum(np.linalg.norm(model.components_, axis=1), 1e-300)
        row[f"SparsePCA, alpha={alpha:g}"] = recovery_error(cut(W, 10), truth)
    return {"error": row, "seconds": seconds}


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
