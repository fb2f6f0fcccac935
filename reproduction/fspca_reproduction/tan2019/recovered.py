"""How often planted components are recovered, and what a seed is worth.

The rule, written before the runs.  Ten draws of 100 x 1000 for each noise factor, ten features
each; a draw is recovered where the recovery error is below FAR, 0.4.  "Outscored" is a draw where
the true supports, refitted, are worth more to uncorrelated factors than the answer.  The spread is
that of `solve_separate` over five seeds.
"""

from fspca import SOLVERS, metrics
from fspca.separate_supports.factors import fit_within
from fspca.separate_supports.solve_separate import solve_separate
from fspca.synthetic import make_sparse_pair
from fspca_reproduction.results import rows_of
from fspca_reproduction.runner import experiment
from fspca_reproduction.tan2019.data import STANDARD, prepared
from fspca_reproduction.tan2019.figures import NARROW, REPEATS, K, summed
from fspca_reproduction.tan2019.methods import quietly, recovery_error

COUNTS, SEEDED, TURNS, FAR = (17, 17, 16), ("colon", "duke"), 200, 0.4


@experiment(cases=[{"set": name, "seed": seed} for name in SEEDED for seed in range(5)])
def tan2019_seeds(set, seed):
    """What `solve_separate` explains from each seed."""
    A = summed(prepared(set, preparation=STANDARD["colon"]))
    return {"value": solve_separate(A, 3, COUNTS, seed=seed).objective}


def spreads():
    """Return what `solve_separate` explains from its seeds, by set."""
    rows = rows_of("tan2019_seeds")
    return {name: [r["value"] for r in rows if r["set"] == name] for name in SEEDED}


RECOVERING = {"solve_separate": {}, "tpower from PCA": {"init": "pca"}}


@experiment(cases=[{"noise": n, "seed": seed} for n in (6, 7, 8, 9) for seed in REPEATS])
def tan2019_recovered(noise, seed):
    """Whether a draw is recovered, the truth not seen, and whether the truth outscores it."""
    X, truth = make_sparse_pair(*NARROW, float(noise), seed=seed)
    A, row = summed(X), {}
    of_truth = metrics.explained_by_factors(A, fit_within(A.product, truth, TURNS)[0])
    for name, options in RECOVERING.items():
        W = quietly(SOLVERS[name.split()[0]], A, 2, K, **options)[0].W
        own = metrics.explained_by_factors(A, W)
        row[name] = {"recovered": bool(recovery_error(W, truth) < FAR),
                     "outscored": bool(of_truth > own * (1 + 1e-9))}  # fmt: skip
    return row


def recoveries(method, what="recovered"):
    """Return in how many of ten draws, by noise factor."""
    rows = rows_of("tan2019_recovered")
    return [sum(r[method][what] for r in rows if r["noise"] == n) for n in (6, 7, 8, 9)]
