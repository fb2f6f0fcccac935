"""What a certificate decides: features that must be in or out, supports that cannot be best."""

from functools import lru_cache
from itertools import chain, combinations
from math import comb

import numpy as np

from fspca.shared_support.semidefinite import sum_largest

LISTED, SOLVED = 20_000, 30_000  # supports listed at a leaf; eigenvalues computed there


def decide(c, fixed, k, bound, target):
    """Return masks of the free features that must be in and that must be out to beat the target.

    Forcing feature i out lowers the bound by c_i - c_(k+1), forcing it in by c_(k) - c_i.
    """
    free, needed = c[fixed:], k - fixed
    if not 0 < needed < len(free):
        return np.zeros((2, len(free)), bool)
    falling = -np.sort(-free)
    last_in, first_out = falling[needed - 1], falling[needed]
    inside = (free >= last_in) & (bound - free + first_out < target)
    outside = (free <= first_out) & (bound + free - last_in < target)
    return inside, outside


@lru_cache(maxsize=32)
def choices(n, r):
    """Return all choices of r out of n, one a row."""
    flat = chain.from_iterable(combinations(range(n), r))
    return np.fromiter(flat, dtype=np.intp, count=r * comb(n, r)).reshape(-1, r)


def finish(tree, rows, fixed, c, bound):
    """Enumerate the supports that the certificate cannot exclude; False if there are too many.

    A support I explains at most c(I) + F_m(A - C), one sum per support.
    """
    free, needed = rows[fixed:], tree.k - fixed
    if needed <= 0 or len(free) <= needed:
        chosen = np.arange(max(needed, 0))[None]
    elif comb(len(free), needed) > LISTED:
        return False
    else:
        chosen = choices(len(free), needed)
        rest = bound - sum_largest(c[fixed:], needed)
        chosen = chosen[c[fixed:][chosen].sum(axis=1) + rest > tree.target]
    if len(chosen) * tree.k > SOLVED:
        return False
    if len(chosen):
        required = np.broadcast_to(rows[:fixed], (len(chosen), fixed))
        supports = np.hstack([required, free[chosen]])[:, : tree.k]
        blocks = tree.full[supports[:, :, None], supports[:, None, :]]
        values = np.linalg.eigvalsh(blocks)[:, -tree.m :].sum(axis=1)
        best = np.argmax(values)
        tree.offer(values[best], supports[best])
    return True
