"""IPU from many starts at once, so that all of them share the passes over the data."""

import numpy as np

from fspca.linalg import TIE, largest, leading_of_matrix
from fspca.shared_support.ipu import proxy_rows


def ascend_together(A, asked, max_iter=100):
    """Return the supports where IPU ends for each (m, k, start): a support or an array d x m.

    A step of all costs one product with the blocks of those that still rise side by side, and
    one submatrix on all their features: one pass over streamed data where A on these fits.

    >>> from fspca import Covariance
    >>> A = Covariance([[3.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 2.5]])
    >>> ascend_together(A, [(1, 2, [0, 2]), (1, 2, [1, 2])])
    [array([0, 1]), array([0, 1])]
    """
    ends = [None if np.ndim(start) == 2 else np.sort(start) for _, _, start in asked]
    if any(end is None for end in ends):
        spread = [i for i, end in enumerate(ends) if end is None]
        blocks = [asked[i][2] for i in spread]
        for i, W, AW in zip(spread, blocks, side_by_side(A, blocks), strict=True):
            ends[i] = choice(AW, W.T @ AW, asked[i][1])
    values, live = np.full(len(ends), -np.inf), list(range(len(ends)))
    for _ in range(max_iter):
        union = np.unique(np.concatenate([ends[i] for i in live]))
        inside, rising, blocks = A.submatrix(union), [], []
        for i in live:
            m, places = asked[i][0], np.searchsorted(union, ends[i])
            top, V = leading_of_matrix(inside[np.ix_(places, places)], m)
            if top.sum() > values[i] * (1 + TIE):
                block = np.zeros((len(union), m))
                block[places], values[i] = V, top.sum()
                rising.append(i)
                blocks.append(block)
        live = []
        for i, V, AV in zip(rising, blocks, side_by_side(A, blocks, union), strict=True):
            chosen = choice(AV, V.T @ AV[union], asked[i][1])
            if not np.array_equal(chosen, ends[i]):
                ends[i] = chosen
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
