"""How often Go and IPU find the optimum, and what they cost."""

import time

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.sources import Dense
from fspca.registry import SOLVERS
from fspca.synthetic import make_scheme, scheme_spectrum
from fspca_reproduction.runner import experiment

HEURISTICS = ("go", "go, shifted", "ipu", "ipu from variances", "ipu from random starts")


@experiment(
    cases=[
        {"scheme": scheme, "seed": seed, "m": 3, "k": 7}
        for scheme in "ABCDEF"
        for seed in range(100)
    ]
)
def hit_rates(scheme, seed, m, k):
    """Compare each solver with the exhaustive optimum on the schemes of tian2020's Table 1."""
    A = Covariance(make_scheme(scheme, seed=seed), ridge=0.0 if scheme == "C" else 0.1)
    best = SOLVERS["exhaustive"](A, m, k)
    result = {"optimum": best.objective}
    for name in HEURISTICS:
        solution = SOLVERS[name](A, m, k)
        result[name] = {
            "error": max(0.0, 1 - solution.objective / best.objective),
            "same support": np.array_equal(solution.support, best.support),
        }
    return result


def timed(function, repeats=9, summary=np.median):
    """Return the CPU time of several calls: the median, as Lanczos draws its start, or least."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return float(summary(seconds))


def large_scheme(d, seed=0):
    """Return scheme D for large d: I plus a part of rank 7, without a d x d factorisation."""
    spectrum = scheme_spectrum("D", 8)
    U = np.linalg.qr(np.random.default_rng(seed).random((d, 7)))[0]
    return Dense((U * (spectrum[:7] - 1)) @ U.T + np.eye(d))


def bench_exhaustive():
    """Return the supports that the oracle tries per second at d = 20, m = 3, k = 7."""
    A = make_scheme("F")
    return 77_520 / timed(lambda: SOLVERS["exhaustive"](A, 3, 7), repeats=3)
