"""The penalty that gives a wanted count, by bisection."""

import numpy as np

NARROW = 1e-6  # relative width of a bracket; an iteration's end is not known more closely


def penalty_search(run, k, low, high, max_steps=60):
    """Bisect between low (too many nonzeros) and high (too few) until k are counted.

    A larger penalty mostly gives fewer nonzeros, but not strictly, and the count may jump past
    k.  Then the smallest answer seen with at least k is returned, for the caller to truncate by
    |loading| and to refit; where even low gives too few, the one closest to k.

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
    first, low, high = (np.array(each, dtype=float) for each in (low, low, high))
    top, start, best, rank = high, None, None, (False, -np.inf)

    def tried(penalty):
        nonlocal start, best, rank
        count, found = run(penalty[()], start)
        enough = bool(np.all(count >= k))
        if (this := (enough, -np.abs(count - k).sum())) > rank:
            best, rank = (penalty[()], found), this
        start = found if enough else start
        return np.asarray(count)

    for _ in range(max_steps):
        penalty = (low + high) / 2
        count = tried(penalty)
        low, high = np.where(count > k, penalty, low), np.where(count < k, penalty, high)
        narrow = high - low <= NARROW * np.maximum(high, top / 1000)
        if np.all((count == k) | narrow):
            break
    for part in (1, 1 / 2, 1 / 4, 1 / 8, 0):
        if rank[0]:
            break
        tried(first + part * (low - first))
    return *best, rank == (True, 0)
