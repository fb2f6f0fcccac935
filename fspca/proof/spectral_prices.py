r"""What orthonormal columns explain on few features that they share: a price on directions.

For every semidefinite Z and columns W = [w_1, ..., w_m] with orthonormal w_j of k_j nonzeros,
trace(W'AW) = <Z, WW'> + sum_j w_j'(A - Z)w_j <= trace Z + sum_j max over |S| <= k_j of
lambda_1((A - Z)_SS), since WW' <= I.  The bound is convex in Z, and steps along a subgradient find
a Z that is good enough, if there is one: their length is Polyak's, towards what is wanted.
"""

from itertools import combinations
from math import comb

import numpy as np

STEPS = 3000  # towards what is wanted: near it the steps halve what is missing, in tens of steps
WINDOW, PATIENCE = 200, 0.2  # the share of what is missing that so many steps must gain
LOOKED_AT = 2.5e4  # the work of a support, in the unit of a relaxation's
LISTED = 2_000  # supports of one column, which are all looked at in each step


def spectral_price(A, counts, wanted, run):
    """Return (bound, H) with Z = HH' for what such columns explain of A, which has few features.

    It ends where it gains too little of what is missing, or the run has no time left.
    """
    n = len(A)
    if any(comb(n, min(count, n)) > LISTED for count in counts):
        return np.inf, None
    sets = {k: np.array(list(combinations(range(n), min(k, n)))) for k in set(counts)}
    H = np.zeros((n, 0))
    best, last = (np.inf, H), np.inf
    work = LOOKED_AT * (20 + sum(map(len, sets.values())))
    for step in range(STEPS):
        run.spend(work)
        if run.seconds_left == 0:
            break
        if step % WINDOW == 0:
            if last - best[0] < PATIENCE * (last - wanted):
                break
            last = best[0]
        Z = H @ H.T
        value, gradient = np.trace(Z), np.eye(n)
        for count in counts:
            S = sets[count]
            w, V = np.linalg.eigh((A - Z)[S[:, :, None], S[:, None, :]])
            i = int(np.argmax(w[:, -1]))
            u = np.zeros(n)
            u[S[i]] = V[i, :, -1]
            value += w[i, -1]
            gradient -= np.outer(u, u)
        if value < best[0]:
            best = value, H
        if value <= wanted:
            break
        Z = Z - (value - wanted) / np.sum(gradient**2) * gradient
        w, V = np.linalg.eigh(Z)
        H = V[:, w > 0] * np.sqrt(w[w > 0])
    return best
