"""Whether a number or a sentence of a paper comes out: the rules that several of them share.

A cell of a table, a mean with its bracket, is judged as `data/published/tian2020_table_2.json`
says.  **A point of a curve** was read off a drawing to about `digits`: within it "reproduced",
beyond it "differs", or "under-specified" if what it rests on is open.

**A sentence on repeated draws** compares means, in pairs.  A difference holds or fails if its 99 %
interval (Student's t) excludes zero; else it is "within sampling error", not told apart.  **A
sentence on a data set** compares values, and those closer than EQUAL, 0.1 %, are not told apart.  A
sentence of many comparisons holds if all do, and fails if one does; one that holds under one
reading of what is measured and not under another is "under-specified".  Where the paper states a
reading, it comes first: what holds under it is reproduced, whatever the others say.
"""

import math

import numpy as np
import scipy.stats

HALF_UNIT = 0.005
LIMIT = 2.576
EQUAL = 0.001
REPRODUCED, WITHIN = "reproduced", "within sampling error"
DIFFERS, OPEN_TO_READING = "differs", "under-specified"
NOT_AVAILABLE = "not available"  # of data that we have not: no verdict
SIGNS = {REPRODUCED: "=", WITHIN: "~", DIFFERS: "≠", OPEN_TO_READING: "?"}
MARKS = SIGNS | {NOT_AVAILABLE: "×"}


def holds(condition):
    """Return the verdict on what either holds or does not."""
    return REPRODUCED if condition else DIFFERS


def z_score(ours, deviation, published, bracket, n, frequency):
    """Return by how many standard errors two means differ beyond the printed digit.

    >>> z_score(0.80, 0.10, 0.76, 0.12, 100, frequency=False)
    2.2406...
    >>> z_score(1.00, 0.0, 1.00, 0.0, 100, frequency=True)
    0.0
    """
    excess = abs(ours - published) - HALF_UNIT
    if excess <= 1e-9:  # rounding of the difference
        return 0.0
    error = standard_error(ours, deviation, published, bracket, n, frequency)
    return excess / error if error > 0 else math.inf


def standard_error(ours, deviation, published, bracket, n, frequency):
    """Return the standard error of the difference of two means of n, as the rule says.

    >>> standard_error(0.80, 0.10, 0.76, 0.12, 100, frequency=False)
    0.0156...
    """
    mean = (ours + published) / 2
    variance = 2 * mean * (1 - mean) if frequency else deviation**2 + bracket**2
    return math.sqrt(variance / n)


def cell_verdict(z, choice=""):
    """Return the verdict on a cell of a table from its z and what is open under it."""
    if z == 0:
        return REPRODUCED
    if z <= LIMIT:
        return WITHIN
    return OPEN_TO_READING if choice else DIFFERS


def point_verdict(ours, published, digits, choice=""):
    """Return the verdict on a point read off a curve.

    >>> point_verdict(0.2228, 0.2230, 0.0005), point_verdict(0.2240, 0.2230, 0.0005)
    ('reproduced', 'differs')
    """
    if abs(ours - published) <= digits:
        return REPRODUCED
    return OPEN_TO_READING if choice else DIFFERS


def told(differences):
    """Return the verdict on differences, one a draw, that should be positive in the mean.

    >>> told([2.0, 2.1, 2.2]), told([-1.0, 1.0, 0.5]), told([-2.0, -2.1, -2.2])
    ('reproduced', 'within sampling error', 'differs')
    """
    differences = np.asarray(differences, dtype=float)
    differences = differences[~np.isnan(differences)]  # draws that a slow method was spared
    n, mean = len(differences), differences.mean()
    reach = scipy.stats.t.ppf(0.995, n - 1) * differences.std(ddof=1) / np.sqrt(n) if n > 1 else 0.0
    if abs(mean) <= reach + 1e-12:
        return WITHIN
    return REPRODUCED if mean > 0 else DIFFERS


def above(one, other):
    """Return whether a value exceeds another, both positive, by more than EQUAL."""
    if abs(one - other) <= EQUAL * abs(other):
        return WITHIN
    return REPRODUCED if one > other else DIFFERS


def all_of(verdicts):
    """Return the verdict on a sentence that says many things at once."""
    return next((worst for worst in (DIFFERS, WITHIN) if worst in verdicts), REPRODUCED)


def first_reading(truths):
    """Return the verdict on a sentence, true or not under each reading, the stated one first.

    >>> first_reading([True, False]), first_reading([False, True]), first_reading([False, False])
    ('reproduced', 'under-specified', 'differs')
    """
    if truths[0]:
        return REPRODUCED
    return OPEN_TO_READING if any(truths) else DIFFERS


def over_readings(verdicts):
    """Return the verdict on a sentence from those under each reading.

    >>> over_readings(["reproduced", "differs"])
    'under-specified'
    """
    if DIFFERS in verdicts and set(verdicts) != {DIFFERS}:
        return OPEN_TO_READING
    return all_of(verdicts)
