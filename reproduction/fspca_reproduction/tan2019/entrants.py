"""Methods that tan2019 does not draw, on its synthetic data: Go, IPU, defaults, and outside ones.

Recovery as in its Figure 3: a method for each component is asked for ten features each, one
for all of them for twenty.  Nothing is searched; scikit-learn's SparsePCA, which has a penalty and
no count, is cut to the ten largest loadings of a component, as the paper's own method is.
"""

from fspca import go, ipu, solve_separate, two_stage
from fspca.separate_supports import tpower
from fspca.synthetic import make_sparse_pair
from fspca_reproduction.runner import experiment
from fspca_reproduction.tan2019.figures import NARROW, NOISES, REPEATS, WIDE, K, summed
from fspca_reproduction.tan2019.methods import cut, quietly, recovery_error

OURS = {
    "go": lambda A: go(A, 2, 2 * K),
    "ipu": lambda A: ipu(A, 2, 2 * K),
    "two_stage": lambda A: two_stage(A, 2, 2 * K),
    "tpower from PCA": lambda A: tpower(A, 2, K, init="pca"),
    "solve_separate": lambda A: solve_separate(A, 2, K, score="subspace"),
}


def recovered(noise, seed, size=NARROW):
    """Return the recovery error of each on one draw."""
    X, truth = make_sparse_pair(*size, float(noise), seed=seed)
    A = summed(X)
    row = {name: recovery_error(quietly(f, A)[0].W, truth) for name, f in OURS.items()}
    return row | {"PCA, cut": recovery_error(cut(A.leading(2)[1], K), truth)}


DRAWS = [{"noise": n, "seed": s} for n in (4, 5, 6, 7, 8, 9, 10, 12) for s in REPEATS]


@experiment(cases=DRAWS)
def tan2019_entrants(noise, seed):
    """Recovery errors on X 100 x 1000 of methods that Figure 3 has not."""
    return recovered(noise, seed)


@experiment(cases=DRAWS)
def tan2019_sparse_pca(noise, seed):
    """The same of scikit-learn's SparsePCA, cut to ten features; it takes most of the time."""
    from sklearn.decomposition import SparsePCA

    X, truth = make_sparse_pair(*NARROW, float(noise), seed=seed)
    model = quietly(SparsePCA(2, alpha=1.0, max_iter=30, random_state=0).fit, X)[0]
    return {"SparsePCA": recovery_error(cut(model.components_.T, K), truth)}


@experiment(cases=[{"noise": n, "seed": s} for n in NOISES for s in REPEATS])
def tan2019_entrants_wide(noise, seed):
    """The same on X 500 x 5000, the draws of Figure 4."""
    return recovered(noise, seed, WIDE)
