"""Which numbers of nonzeros NSPCA can be made to give, and what it explains there."""

import warnings

import numpy as np

from fspca.nonnegative.nspca import nspca_path
from fspca.problem import ConvergenceWarning
from fspca_reproduction.asteris2014.readings import covariance_of
from fspca_reproduction.runner import experiment

ROUNDS, STARTS, FINER = 4, 3, 4
PIXELS = (5, 10, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200)


def between(tried, ks):
    """Return the penalties to try next: for each k not hit, some between those around it."""
    betas = sorted(tried)
    finer = []
    for k in ks:
        fewest = np.array([min(tried[beta]) for beta in betas])
        i = int(np.argmax(fewest <= k))  # the first penalty that is large enough
        if i > 0 and not any(k in counts for counts in tried.values()):
            finer.extend(np.linspace(betas[i - 1], betas[i], FINER + 2)[1:-1])
    return sorted(set(finer))


@experiment(
    cases=[
        {"set": name, "alpha": alpha}
        for name, alpha in (("cbcl_faces", 10), ("cbcl_faces", 100), ("digit_pixels", 10))
    ]
)
def asteris2014_nspca(set, alpha):
    """Search NSPCA's penalty for every k of Figure 4 at once; alpha is so many lambda_1."""
    A = covariance_of(set)
    top = A.leading(1)[0][0]
    betas, tried, best = [0.0, *np.geomspace(top / A.size / 10, top, 39)], {}, {}
    for _ in range(ROUNDS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            path = nspca_path(A, betas, alpha=alpha * top, n_starts=STARTS, max_iter=300)
        for beta, start in zip(betas, range(0, len(path), STARTS), strict=True):
            solutions = path[start : start + STARTS]
            tried[float(beta)] = [len(each.support) for each in solutions]
            for each in solutions:
                count = len(each.support)
                best[count] = max(best.get(count, 0.0), each.objective / top)
        betas = between(tried, PIXELS)
        if not betas:
            break
    counts = sorted(best)
    return {
        "counts": counts,
        "variances": [best[count] for count in counts],
        "hits": [k for k in PIXELS if k in best],
        "penalties": len(tried),
    }
