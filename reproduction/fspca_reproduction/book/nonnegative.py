"""Nonnegative components: cells against points, bounds against enumeration, proofs, and parts."""

import time
import warnings

import numpy as np

from fspca import datasets
from fspca.check_certificate import check
from fspca.covariance import Covariance
from fspca.nonnegative.bounds import nonnegative_bounds
from fspca.nonnegative.branch_and_bound import branch_and_bound_nonnegative
from fspca.nonnegative.em import em
from fspca.nonnegative.epsilon_net import epsilon_net
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.joint import settled
from fspca.nonnegative.points import spannogram_points
from fspca.nonnegative.solve import solve_nonnegative
from fspca.nonnegative.spannogram import spannogram
from fspca.problem import ConvergenceWarning, Nonnegative
from fspca_reproduction.book.certificates import covariance_of
from fspca_reproduction.runner import experiment

CLOSE = 1e-9  # relative: the agreement of two exact answers


def timed(function):
    """Return what a function returns and the CPU seconds of this process that it took."""
    began = time.process_time()
    found = function()
    return found, time.process_time() - began


def factor(n, rank, spectrum, seed):
    """Return a normal n x rank matrix, its columns of one strength or each half of the last."""
    V = np.random.default_rng(seed).standard_normal((n, rank))
    return V * 2.0 ** -np.arange(rank) if spectrum == "halving" else V


def of_factor(V):
    """Return VV' as a covariance that is never formed."""
    return Covariance.from_data(V.T, center=False, divisor=1)


SIZES = ((2, 1000), (3, 200), (2, 100_000), (3, 20_000), (4, 2000), (3, 100_000), (4, 10_000))


@experiment(
    cases=[
        {"rank": rank, "features": n, "spectrum": spectrum, "seed": seed}
        for rank, n in SIZES
        for spectrum, seed in [*(("even", seed) for seed in range(5)), ("halving", 0)]
    ]
)
def nonnegative_cells(rank, features, spectrum, seed):
    """How many cells settle a low-rank problem exactly, k a tenth of the features; and points."""
    V = factor(features, rank, spectrum, seed)
    found, seconds = timed(lambda: spannogram(of_factor(V), 1, features // 10, rank=rank))
    row = {"value": found.objective, "cells": found.n_iter, "proven": bool(found.gap < CLOSE)}
    passed = {"cells": seconds}
    if (rank, features) in SIZES[:2] and seed == 0 and spectrum == "even":
        points, passed["points"] = timed(
            lambda: spannogram_points(of_factor(V), 1, features // 10, rank=rank)
        )
        row["same as points"] = bool(abs(points.objective / found.objective - 1) < CLOSE)
    return row | {"seconds": passed}


def hostile(seed):
    """Return a covariance of at most eight features, its rank, and k: an instance of some malice.

    Random; of small integers; with rows repeated, opposite or zero; features from 1e-9 to 1; all
    of it from 1e-150 to 1e150.
    """
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 9))
    rank = int(rng.integers(1, min(d, 3) + 1))
    V = rng.standard_normal((d, rank))
    if seed % 5 == 1:
        V = rng.integers(-2, 3, (d, rank)).astype(float)
    if seed % 5 == 2:
        V = V[rng.integers(0, d, d)] * rng.choice([-1.0, 0.0, 1.0, 1.0], (d, 1))
    if seed % 5 == 3:
        V = V * 10.0 ** rng.uniform(-9, 0, (d, 1))
    if seed % 5 == 4:
        V = V * 10.0 ** rng.uniform(-75, 75)
    full = seed % 2 and rng.standard_normal((d, d)) * np.abs(V).max()
    A = V @ V.T + full @ full.T if seed % 2 else V @ V.T
    return A, V, int(rng.integers(1, d + 1))


BLOCK = 100


@experiment(cases=[{"block": block} for block in range(50)])
def nonnegative_hostile(block):
    """Every bound and every exact answer against enumeration, a hundred instances a row."""
    wrong = dict.fromkeys(
        ("cells", "points", "search", "claims", "bounds", "together", "refused"), 0
    )
    least = np.inf
    for seed in range(BLOCK * block, BLOCK * (block + 1)):
        A, V, k = hostile(seed)
        try:
            found = against_enumeration(A, V, k)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            wrong["refused"] += 1
            continue
        for name, is_wrong in found[0].items():
            wrong[name] += is_wrong
        least = min(least, found[1])
    return {"instances": BLOCK, "wrong": wrong, "least bound over optimum": least}


def against_enumeration(A, V, k):
    """Return what is wrong of the answers for A and for VV', and the least bound over optimum."""
    low, best = (exhaustive_nonnegative(M, 1, k).objective for M in (V @ V.T, A))
    rank = V.shape[1]
    options = {"rank": rank}
    off = {
        "cells": abs(spannogram(V @ V.T, 1, k, **options).objective - low) > CLOSE * low,
        "points": abs(spannogram_points(V @ V.T, 1, k, **options).objective - low) > 1e-7 * low,
    }
    search = branch_and_bound_nonnegative(A, 1, k, n_starts=5)
    off["search"] = abs(search.objective - best) > CLOSE * best
    if A.min() < 0:  # else the search with signs answers, with its own kind of claim
        claim = search.certificate
        off["claims"] = claim is None or not check(claim | {"A": (A + A.T) / 2}).holds
    pair = exhaustive_nonnegative(A, 2, k).objective
    together = solve_nonnegative(A, 2, k, max_iter=20)
    off["together"] = abs(together.objective - pair) > CLOSE * pair
    bounds = [*nonnegative_bounds(A, k).values(), search.upper_bound]
    bounds.append(spannogram(A, 1, k, rank=1).upper_bound)
    shares = [bound / best if best else 1.0 for bound in bounds]
    shares.append(together.upper_bound / pair if pair else 1.0)
    off["bounds"] = min(shares) < 1 - 1e-11
    return off, float(min(shares))


PROOFS = [("lrs", 20), ("lrs", 90), ("digits", 5), ("digits", 10), ("digits", 20),
          ("digit_pixels", 10), ("digit_pixels", 40), ("tecator_spectra", 10),
          ("cbcl_faces", 20), ("cbcl_faces", 180)]  # fmt: skip
BUDGET = 300.0  # seconds


@experiment(cases=[{"set": name, "k": k} for name, k in PROOFS])
def nonnegative_proofs(set, k):
    """How far a nonnegative component is proven: with the earlier bounds, and by the search."""
    A = covariance_of(set)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        before = min(nonnegative_bounds(A, k).values())
        found, seconds = timed(lambda: branch_and_bound_nonnegative(A, 1, k, max_seconds=BUDGET))
    full = A.submatrix(np.arange(A.size))
    claim = found.certificate
    verdict = claim is not None and check(claim | {"A": (full + full.T) / 2}).holds
    return {
        "features": A.size,
        "nonzeros": len(found.support),
        "value": found.objective,
        "gap before": before / found.objective - 1,
        "gap": found.gap,
        "proven": bool(found.gap < 1e-8),
        "accepted": bool(verdict),
        "nodes": found.n_iter,
        "seconds": {"search": seconds},
    }


def text_like(seed=0):
    """Counts of 300 words in 1000 short texts on six subjects, some words shared: Poisson draws."""
    rng = np.random.default_rng(seed)
    rates = 0.02 * np.ones((6, 300))
    for j in range(6):
        rates[j, 45 * j : 45 * j + 60] += rng.gamma(1.0, 0.5, 60)
    subjects = rng.dirichlet(0.2 * np.ones(6), 1000)
    return rng.poisson(subjects @ rates * rng.uniform(0.5, 2.0, (1000, 1)))


def data_of(name):
    """Return the data of a set, samples in rows, not negative."""
    if name == "text_like":
        return text_like().astype(float)
    if name == "digits":
        from sklearn.datasets import load_digits

        return load_digits().data
    return np.asarray(datasets.load(name).X, dtype=float)


def cut_factors(X, A, m, k):
    """Return NMF's parts, each cut to its k largest entries and refitted on them.

    Parts may share features; where one is the largest in two, it stays with the heavier.
    """
    from sklearn.decomposition import NMF

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = NMF(m, init="nndsvda", max_iter=500, random_state=0).fit(X).components_
    parts = parts / np.linalg.norm(parts, axis=1, keepdims=True)
    W, owner = np.zeros((A.size, m)), parts.argmax(axis=0)
    for j, part in enumerate(parts):
        own = np.where(owner == j, part, 0.0)
        rows = np.argsort(-own, kind="stable")[:k]
        W[rows, j] = own[rows] if own[rows].any() else 1.0
    return settled(A, W / np.linalg.norm(W, axis=0))


SETS = [("cbcl_faces", 6, 40), ("digits", 6, 10), ("digit_pixels", 6, 20), ("lrs", 4, 20),
        ("tecator_spectra", 4, 20), ("text_like", 6, 20)]  # fmt: skip


@experiment(cases=[{"set": name, "m": m, "k": k} for name, m, k in SETS])
def nonnegative_parts(set, m, k):
    """Parts found together, one after another, by EM with two kinds of starts, and by NMF."""
    X = data_of(set)
    A = Covariance.from_data(X)
    positive = {"init": "positive", "tol": 1e-3}  # as nsprcomp, the program of EM's author, does
    methods = {
        "together": lambda: solve_nonnegative(A, m, k),
        "cells": lambda: spannogram(A, m, k, shift=True, tol=1e-3),
        "epsilon_net": lambda: epsilon_net(A, m, k),
        "em": lambda: em(A, m, k, n_starts=10),
        "em as nsprcomp": lambda: em(A, m, k, n_starts=10, **positive),
        "nmf": lambda: cut_factors(X, A, m, k),
    }
    values, seconds, kept = {}, {}, {}
    problem = Nonnegative(m, k, disjoint=True)
    for name, method in methods.items():
        found, seconds[name] = timed(method)
        kept[name] = found if name == "nmf" else found.W
        values[name] = problem.score(A, kept[name])
        if name == "together":
            bound = found.upper_bound
    shared = {
        name: float(np.mean((((W > 0).T.astype(float)) @ (kept["together"] > 0)).max(axis=1) / k))
        for name, W in kept.items()
    }
    top = A.leading(m)[0].sum()
    return {
        "features": A.size,
        "share of PCA": {name: value / top for name, value in values.items()},
        "bound": bound / top,
        "overlap with together": shared,
        "features of the parts": {
            name: [np.flatnonzero(w) for w in kept[name].T] for name in ("together", "nmf")
        },
        "seconds": seconds,
    }
