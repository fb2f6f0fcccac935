"""IPU from many starts at once, so that all of them share the passes over the data."""

from typing import NamedTuple

import numpy as np

from fspca.linalg import TIE, largest, leading_of_matrix
from fspca.shared_support.ipu import proxy_rows


class Ascent(NamedTuple):
    """Where one ascent ended: what the support explains, the support, the loadings on it."""

    value: float
    support: np.ndarray
    loadings: np.ndarray | None


def ascend_together(A, asked, max_iter=100):
    """Return the Ascent of IPU for each (m, k, start): a support or an array d x m.

    A step of all costs one product with the blocks of those that still rise side by side, and
    one submatrix on all their features: one pass over streamed data where A on these fits.

    >>> from fspca import Covariance
    >>> A = Covariance([[3.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 2.5]])
    >>> [end.support for end in ascend_together(A, [(1, 2, [0, 2]), (1, 2, [1, 2])])]
    [array([0, 1]), array([0, 1])]
    """
    supports = [None if np.ndim(start) == 2 else np.sort(start) for _, _, start in asked]
    spread = [i for i, support in enumerate(supports) if support is None]
    blocks = [asked[i][2] for i in spread]
    for i, W, AW in zip(spread, blocks, side_by_side(A, blocks), strict=True):
        supports[i] = choice(AW, W.T @ AW, asked[i][1])
    ends = [Ascent(-np.inf, support, None) for support in supports]
    live = list(range(len(ends)))
    for _ in range(max_iter):
        union = np.unique(np.concatenate([supports[i] for i in live]))
        inside, rising, blocks = A.submatrix(union), [], []
        for i in live:
            m, places = asked[i][0], np.searchsorted(union, supports[i])
            top, V = leading_of_matrix(inside[np.ix_(places, places)], m)
            if top.sum() > ends[i].value * (1 + TIE):
                block = np.zeros((len(union), m))
                block[places], ends[i] = V, Ascent(top.sum(), supports[i], V)
                rising.append(i)
                blocks.append(block)
        live = []
        for i, V, AV in zip(rising, blocks, side_by_side(A, blocks, union), strict=True):
            supports[i] = choice(AV, V.T @ AV[union], asked[i][1])
            if not np.array_equal(supports[i], ends[i].support):
                live.append(i)
        if not live:
            break
    return ends


def side_by_side(A, blocks, rows=None):
    """Return the product of A with each of some blocks, by one product with all of them."""
    if not blocks:
        return []
    ends = np.cumsum([block.shape[1] for block in blocks])[:-1]
    return np.split(A.product(np.hstack(blocks), rows), ends, axis=1)


def choice(AW, M, k):
    """Return the k largest variances of the proxy, where M = W'AW."""
    Z = proxy_rows(AW, M)
    return largest(np.einsum("ij,ij->i", Z, Z), k)
