"""The penalty that gives a wanted count, by bisection."""

import numpy as np


def penalty_search(run, k, low, high, max_steps=60):
    """Bisect between low (too many nonzeros) and high (too few) until k are counted.

    A larger penalty mostly gives fewer nonzeros, but not strictly, and the count may jump past
    k.  Then the smallest answer seen with at least k is returned, for the caller to truncate by
    |loading| and to refit; where none has so many, the one closest to k.

    Parameters
    ----------
    run : callable
        run(penalty, start) returns the count and whatever was found.  `start` is what was found
        at a smaller penalty, to begin from, or None.
    k : int
        The count wanted.
    low, high : float or array
        One penalty and one count, or an array of each: those are bisected side by side.

    Returns
    -------
    penalty, found, hit
        `hit` says whether every count is k.

    Examples
    --------
    >>> sizes = np.array([5.0, 4.0, 2.0, 1.0])
    >>> penalty, _, hit = penalty_search(lambda p, _: ((sizes > p).sum(), None), 3, 0.0, 8.0)
    >>> float(penalty), hit
    (1.0, True)
    """
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    start, best, rank = None, None, ()
    for step in range(max_steps + 1):
        last = step == max_steps or np.all(high - low <= 1e-12 * high)
        if last and rank and rank[0]:
            break
        penalty = (low + high) / 2 if not last else low  # nothing had enough: ask the lowest
        count, found = run(penalty[()], start)
        count = np.asarray(count)
        enough = bool(np.all(count >= k))
        if not rank or (enough, -np.abs(count - k).sum()) > rank:
            best, rank = (penalty[()], found), (enough, -np.abs(count - k).sum())
        if last or np.all(count == k):
            break
        start = found if enough else start
        low, high = np.where(count > k, penalty, low), np.where(count < k, penalty, high)
    return *best, bool(rank[0] and rank[1] == 0)
