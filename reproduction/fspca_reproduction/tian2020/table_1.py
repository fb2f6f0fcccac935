"""Table 1 and Figure 1 of tian2020, and the number of IPU's steps."""

import numpy as np

from fspca.separate_supports.tpower import tpower
from fspca.shared_support.ipu import ipu
from fspca.synthetic import make_scheme, scheme_spectrum
from fspca_reproduction.runner import experiment
from fspca_reproduction.tian2020.figures import of_set
from fspca_reproduction.tian2020.table_2 import REALISATIONS, STARTS, K, M, realisation


@experiment(cases=[{"scheme": scheme} for scheme in "ABCDEF"])
def tian2020_table_1(scheme):
    """Hold 100 covariances of each scheme against its description in Table 1.

    For A to D: the largest relative difference of an eigenvalue, and the smallest rank that a
    multiple of the identity can be left with.  For E and F: the mean of all traces, what the law
    of the entries makes of it, and by how many standard errors the two differ.
    """
    matrices = np.array([make_scheme(scheme, seed=seed) for seed in range(100)])
    if scheme in "ABCD":
        values, wanted = np.linalg.eigvalsh(matrices), np.sort(scheme_spectrum(scheme))
        repeated = np.unique(wanted, return_counts=True)[1].max()
        far = np.max(np.abs(values - wanted)) / wanted.max()
        return {"exact": bool(far < 1e-12), "least shifted rank": 20 - int(repeated)}
    traces, expected = np.trace(matrices, axis1=1, axis2=2), 400 * {"E": 1 / 3, "F": 1.0}[scheme]
    error = traces.std(ddof=1) / 10
    return {"trace": traces.mean(), "expected": expected, "z": (traces.mean() - expected) / error}


@experiment(cases=[{"set": "pitprops", "m": 3, "k": 5}])
def tian2020_figure_1(set, m, k):
    """Which features each component uses: one support for each, and one for all."""
    A = of_set(set)
    supports = {}
    for name, solution in (("tpower", tpower(A, m, k)), ("ipu", ipu(A, m, k))):
        supports[name] = [np.flatnonzero(w) for w in solution.W.T]
        supports[f"{name}, loadings"] = solution.W.T
        supports[f"{name}, overlap"] = np.abs(solution.W.T @ solution.W - np.eye(m)).max()
    return supports


@experiment(cases=REALISATIONS)
def tian2020_steps(scheme, seed):
    """Count the steps that IPU takes from Go and, at most, from 20 random starts (of Table 2)."""
    A, _, _ = realisation(scheme, seed)
    starts = range(10_000 + STARTS * seed, 10_000 + STARTS * (seed + 1))
    random = [ipu(A, M, K, init="random", seed=i, max_iter=500).n_iter for i in starts]
    return {"go": ipu(A, M, K).n_iter, "random": max(random)}
