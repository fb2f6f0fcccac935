"""Programs of others for separate supports: loadings of data X, at a setting."""

import numpy as np


def of_sparse_pca(X, penalty):
    """Loadings of scikit-learn's, whose penalty is on each entry."""
    from sklearn.decomposition import SparsePCA

    model = SparsePCA(3, alpha=penalty, ridge_alpha=0.01, max_iter=30, random_state=0)
    return model.fit(X).components_.T


def of_amanpg(X, share):
    """Loadings of PyPI's sparsepca, at a share of the longest column for its penalty."""
    from sparsepca import spca

    penalty = share * np.sqrt(np.sum(X**2, axis=0).max()) * np.ones((3, 1))
    return spca(X, penalty, np.inf, k=3, normalize=False, maxiter=100)["loadings"]


def of_abess(X, *counts):
    """Loadings of abess, which takes a count for each component; NaN where it returns others."""
    from abess import SparsePCA

    sizes = np.zeros((max(counts), len(counts)))  # a one in row s asks for s + 1 features
    sizes[np.array(counts) - 1, range(len(counts))] = 1
    found = SparsePCA(support_size=sizes).fit(X, number=len(counts)).coef_
    W = np.asarray(found).reshape(-1, len(counts))  # on wide data all ones were seen
    return np.where(np.all(np.count_nonzero(W, axis=0) <= counts), W, np.nan)


OUTSIDE = {"SparsePCA": of_sparse_pca, "AManPG": of_amanpg, "abess": of_abess}
SEARCHED = {  # the setting of a single run first; abess takes the counts, and has none
    "SparsePCA": [(1.0,), (2.0,), (4.0,), (8.0,)],
    "AManPG": [(0.1,), (0.02,), (0.5,), (1.0,)],
    "abess": [],
}
