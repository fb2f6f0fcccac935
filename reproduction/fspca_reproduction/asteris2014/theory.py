"""What asteris2014 proves, held against enumeration; its fractions, other readings, and ours."""

import time
import tracemalloc
from itertools import combinations
from math import comb

import numpy as np
from sklearn.datasets import load_digits

from fspca import datasets
from fspca.check_certificate import check
from fspca.covariance import Covariance
from fspca.nonnegative.bounds import MOST_FORMED, nonnegative_bounds
from fspca.nonnegative.branch_and_bound import branch_and_bound_nonnegative
from fspca.nonnegative.em import em
from fspca.nonnegative.epsilon_net import epsilon_net
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.halfspaces import halfspaces, halfspaces_batch, unit_rows
from fspca.nonnegative.points import candidates, intersections, spannogram_points
from fspca.nonnegative.solve import solve_nonnegative
from fspca.nonnegative.spannogram import spannogram
from fspca.proof.bounds import upper_bound
from fspca_reproduction.asteris2014.figures import STARTS
from fspca_reproduction.asteris2014.readings import (
    EPSILON,
    RANK,
    algorithm_3,
    covariance_of,
    fractions,
    low_rank_value,
    numbers,
    prepared,
    printed_supports,
    samples,
)
from fspca_reproduction.runner import experiment

POINTS = (("cbcl_faces", 180), ("leukemia_armstrong", 50), ("lrs", 20), ("lrs", 90))
PREPARATIONS = (
    "centred",
    "centred, unit variance",
    "as it is",
    "unit length",
    "samples standardised",
)


def enumerated(V, k):
    """Return the optimum of VV' by a half-space problem on every support of at most k features."""
    best = 0.0
    for size in range(1, k + 1):
        rows = V[np.array(list(combinations(range(len(V)), size)))]
        Q = rows.transpose(0, 2, 1) @ rows
        best = max(best, halfspaces_batch(Q, unit_rows(rows))[1].max())
    return best


def as_printed(V, k):
    """Return the optimum over the supports that Algorithm 2 collects as it is printed."""
    chosen = (sorted(support) for support in printed_supports(V, k) if support)
    return max(halfspaces(V[rows].T @ V[rows], V[rows])[1] for rows in chosen)


def supports(V, k):
    """Return the number of different candidate supports of a spannogram."""
    found = set()
    for members, c in intersections(V):
        for signed in (c, -c):
            for mask in candidates(V, members, signed, k):
                found |= set(map(tuple, mask.tolist()))
    return len(found)


def normal_factor(d, rank, seed):
    """Return a normal G (d x rank), whose GG' has that rank."""
    return np.random.default_rng(seed).standard_normal((d, rank))


def sizes(seed, rank):
    """Return d <= 12 and k <= d that a seed and a rank stand for."""
    d = 5 + (3 * seed + rank) % 8
    return d, 1 + seed % d


@experiment(cases=[{"rank": 1 + i % 3, "shift": 0, "seed": i} for i in range(200)]
            + [{"rank": 1 + i % 3, "shift": 2, "seed": 1000 + i} for i in range(60)])  # fmt: skip
def asteris2014_oracle(rank, shift, seed):
    """The spannogram against enumeration: low rank, and shift I plus low rank."""
    d, k = sizes(seed, rank)
    V = normal_factor(d, rank, seed)
    A = V @ V.T + shift * np.eye(d)
    best = enumerated(V, k) + shift
    found = spannogram_points(A, 1, k, rank=rank, shift=bool(shift)).objective
    alone = exhaustive_nonnegative(A, 1, k).objective
    return {
        "d": d,
        "k": k,
        "optimum": best,
        "equal": bool(max(abs(found / best - 1), abs(alone / best - 1)) <= 1e-9),
        "as printed": bool(as_printed(V, k) + shift >= best * (1 - 1e-9)),
        "candidates": supports(V, k),
        "most": 2**rank * comb(d + 1, rank),
    }


NET = {2: (60, 12), 3: (25, 6)}  # the sizes d and k where the spannogram gives the optimum


@experiment(cases=[{"rank": rank, "seed": seed} for rank in NET for seed in range(100)])
def asteris2014_net(rank, seed):
    """How often the epsilon-net reaches 1 - epsilon of the low-rank optimum, by its samples."""
    d, k = NET[rank]
    V = normal_factor(d, rank, 7)
    A = Covariance(V @ V.T)
    best = spannogram_points(A, 1, k, rank=rank).objective
    options = {"rank": rank, "epsilon": EPSILON, "seed": seed}
    reached = {
        name: epsilon_net(A, 1, k, n_samples=count, **options).objective / best
        for name, count in {"enough": None, "paper": samples(d, rank), "10": 10}.items()
    }
    return {"d": d, "k": k, "reached": reached}


def with_seconds(function):
    """Return what a function returns, and the seconds that it took."""
    began = time.perf_counter()
    found = function()
    return found, time.perf_counter() - began


@experiment(cases=[{"set": "leukemia_armstrong", "k": 50}], alone=True)
def asteris2014_speed(set, k):
    """Seconds of Algorithm 3 and of EM on 12,582 features, and of a spannogram of 500."""
    data = prepared(datasets.load(set).X, "centred")
    seconds, values = {}, {}
    methods = {
        "epsilon_net": lambda A: epsilon_net(A, 1, k, rank=RANK, epsilon=EPSILON),
        "epsilon_net, paper's samples": lambda A: algorithm_3(A, k),
        "em": lambda A: em(A, 1, k, n_starts=STARTS),
    }
    for _ in range(5):  # in turns; the least is kept, since what else runs can only add to it
        for name, method in methods.items():
            A = Covariance.from_data(data, center=False, divisor="n")  # no eigenvectors are kept
            found, passed = with_seconds(lambda A=A, method=method: method(A))
            values[name] = found.objective
            seconds[name] = min(passed, seconds.get(name, passed))
    V = normal_factor(500, 2, 0)
    A = Covariance(V @ V.T)
    tracemalloc.start()
    exact, _ = with_seconds(lambda: spannogram_points(A, 1, 50, rank=2))
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    again, seconds["spannogram"] = with_seconds(lambda: spannogram_points(A, 1, 50, rank=2))
    return {
        "variances": values,
        "spannogram": exact.objective,
        "same": again.objective == exact.objective,
        "last digits": {"megabytes": peak},
        "seconds": seconds,
    }


COMPARED = ((2, 1000), (3, 200))
EXACT = ((2, 100_000), (3, 20_000), (4, 2000), (3, 100_000), (4, 10_000))
DRAWS = [*(("flat", seed) for seed in range(5)), ("decaying", 0)]


@experiment(
    cases=[{"rank": r, "n": n, "spectrum": "flat", "seed": 0} for r, n in COMPARED]
    + [{"rank": r, "n": n, "spectrum": s, "seed": i} for r, n in EXACT for s, i in DRAWS],
    alone=True,
)
def asteris2014_cells(rank, n, spectrum, seed):
    """The exact spannogram by cells, k = n / 10: cells, CPU seconds; and of points where few."""
    V = normal_factor(n, rank, seed)
    if spectrum == "decaying":
        V /= 2.0 ** np.arange(rank)
    found, few = {}, (rank, n) in COMPARED
    for name, method in (("cells", spannogram), ("points", spannogram_points))[: 1 + few]:
        least = np.inf  # of five, since what else runs can only add to it
        for _ in range(5 if few else 1):
            A = Covariance.from_data(V.T, center=False, divisor=1)  # no eigenvectors are kept
            began = time.process_time()
            answer = method(A, 1, n // 10, rank=rank)
            least = min(least, time.process_time() - began)
        found[name] = answer, least
    exact, _ = found["cells"]
    return {
        "optimum": exact.objective,
        "proven": bool(exact.gap <= 1e-9),
        "counts": {name: answer.n_iter for name, (answer, _) in found.items()},
        "equal": bool(all(np.isclose(answer.objective, exact.objective, rtol=1e-9, atol=0)
                          for answer, _ in found.values())),
        "seconds": {name: seconds for name, (_, seconds) in found.items()},
    }  # fmt: skip


@experiment(cases=[{"set": s, "k": k, "preparation": p} for s, k in POINTS for p in PREPARATIONS])
def asteris2014_readings(set, k, preparation):
    """The fraction that Algorithm 3 certifies at the paper's points, by preparation and bound."""
    A = covariance_of(set, preparation)
    found = algorithm_3(A, k)
    row = numbers(A, found.W[:, 0], k)
    return row | {"fractions": fractions(row, k)}


def given_matrix(A, claim):
    """Return a claim with what it is about: the data of a wide one, else the matrix."""
    if "few_0" in claim:
        return claim | {"X": A.wide_factor()}
    full = A.submatrix(np.arange(A.size))
    return claim | {"A": (full + full.T) / 2}


OURS = [*((s, k, "centred") for s, k in POINTS),
        *((s, k, "centred, unit variance") for s, k in POINTS[2:])]  # fmt: skip


@experiment(cases=[{"set": s, "k": k, "preparation": p} for s, k, p in OURS])
def asteris2014_certified(set, k, preparation):
    """The fraction that we certify there: a net that covers the sphere, duals, a relaxation."""
    A = covariance_of(set, preparation)
    net, net_seconds = with_seconds(lambda: spannogram(A, 1, k, rank=RANK, tol=1e-3, shift=True))
    solved, seconds = with_seconds(lambda: solve_nonnegative(A, 1, k))
    best = max(
        (net, algorithm_3(A, k), em(A, 1, k, n_starts=STARTS), solved),
        key=lambda solution: solution.objective,
    )
    limits, passed = {"net": net.upper_bound}, {"net": net_seconds}
    if A.size <= MOST_FORMED:
        dual, passed["dual"] = with_seconds(
            lambda: upper_bound(A, 1, k, method="dual", max_iter=300)
        )
        limits |= {"dual": dual.bound,
                   "positive part": min(nonnegative_bounds(A, k, rank=RANK).values())}  # fmt: skip
    limits["relaxation"], passed["relaxation"] = solved.upper_bound, seconds
    value = best.objective
    return {
        "solver": best.solver,
        "value": value,
        "low rank": low_rank_value(A, best.W[:, 0]),
        "first": A.leading(1)[0][0],
        "bounds": limits,
        "fractions": {name: value / limit for name, limit in limits.items()},
        "checked": check(given_matrix(A, solved.certificate)).holds,
        "seconds": passed,
    }


PROVEN = [*(("lrs", k, 0.0) for k in (20, 90)), *(("digits", k, 0.0) for k in (5, 10, 20)),
          ("cbcl_faces", 20, 5e-4), ("cbcl_faces", 180, 1e-3)]  # fmt: skip


@experiment(cases=[{"set": s, "k": k, "gap": gap} for s, k, gap in PROVEN], alone=True)
def asteris2014_proven(set, k, gap):
    """The best component of A itself by a search that ends at a gap."""
    if set == "digits":
        A = Covariance.from_data(load_digits().data, divisor="n")
    else:
        A = covariance_of(set)
    began = time.process_time()
    found = branch_and_bound_nonnegative(A, 1, k, gap=gap)
    passed = time.process_time() - began
    return {
        "value": found.objective,
        "bound": found.upper_bound,
        "missing": found.gap,
        "nodes": found.n_iter,
        "checked": check(given_matrix(A, found.certificate)).holds,
        "seconds": passed,
    }
