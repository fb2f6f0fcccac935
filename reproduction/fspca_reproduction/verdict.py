"""Whether a number or a sentence of a paper comes out: the rules that several of them share.

A word says no more than its rule has shown:

| verdict | of a number | of a sentence |
|---|---|---|
| reproduced | within half a printed digit, or a drawing's accuracy | holds by its rule |
| close | beyond that, within a tolerance that is stated; no sampling behind it | not told apart |
| within sampling error | no further than 99 % of honest repetitions | not told apart by draws |
| order only | on the right side of another number, and no more | - |
| differs | none of these | does not hold |
| under-specified | so, but by an assumption that the paper leaves open it comes out | the same |
| not available | no data, no verdict | the same |

**A sentence on repeated draws** compares means, in pairs.  A difference holds or fails if its 99 %
interval (Student's t) excludes zero; else it is "within sampling error", not told apart.  **A
sentence on a data set** compares values, and those closer than EQUAL, 0.1 %, are "close".  A
sentence of many comparisons holds if all do, and fails if one does; one that holds under one
assumption on what is measured and not under another is "under-specified".  Where the paper states
an assumption, it comes first: what holds under it is reproduced, whatever the others say.
"""

import math

import numpy as np
import scipy.stats

HALF_UNIT = 0.005
LIMIT = 2.576
EQUAL = 0.001
REPRODUCED, CLOSE, WITHIN = "reproduced", "close", "within sampling error"
ORDER, DIFFERS, OPEN_TO_READING = "order only", "differs", "under-specified"
NOT_AVAILABLE = "not available"  # of data that we have not: no verdict
MARKS = {REPRODUCED: "=", CLOSE: "≈", WITHIN: "±", ORDER: "≷", DIFFERS: "≠", OPEN_TO_READING: "?",
         NOT_AVAILABLE: "×"}  # fmt: skip
PASSED = (REPRODUCED, CLOSE, WITHIN, ORDER)
# Okabe and Ito's colours, laid thin over a page so that its ink is read on them, light or dark.
COLOURS = {REPRODUCED: "#0072B2", CLOSE: "#56B4E9", WITHIN: "#009E73", ORDER: "#F0E442",
           DIFFERS: "#D55E00", OPEN_TO_READING: "#999999",
           NOT_AVAILABLE: "transparent"}  # fmt: skip


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


def half_unit(printed, digits):
    """Return half a unit of the last of so many digits of a printed number.

    >>> half_unit(1713.0, 4), half_unit(4.153e10, 4), half_unit(0.58, 2)
    (0.5, 5000000.0, 0.005)
    """
    return 0.5 * 10.0 ** (math.floor(math.log10(printed)) + 1 - digits)


def close_verdict(ours, published, unit, tolerance):
    """Return the verdict on a number without a bracket: half its last unit, or a tolerance.

    >>> close_verdict(0.858, 0.86, 0.005, 0.01), close_verdict(0.85, 0.86, 0.005, 0.01)
    ('reproduced', 'close')
    >>> close_verdict(0.84, 0.86, 0.005, 0.01)
    'differs'
    """
    apart = abs(ours - published) - 1e-9  # rounding of the difference
    if apart <= unit:
        return REPRODUCED
    return CLOSE if apart <= tolerance else DIFFERS


def ratio_verdict(ours, low, high, slack=0.1):
    """Return the verdict on a ratio to something: in the range drawn, near it, or its side of 1.

    >>> [ratio_verdict(ours, 1.56, 1.72) for ours in (1.6, 1.8, 36.0, 1.05, 0.5)]
    ['reproduced', 'close', 'order only', 'differs', 'differs']
    """
    if low <= ours <= high:
        return REPRODUCED
    if low * (1 - slack) <= ours <= high * (1 + slack):
        return CLOSE
    side = ours >= 1 + slack if low > 1 else ours <= 1 - slack
    return ORDER if side else DIFFERS


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
        return CLOSE
    return REPRODUCED if one > other else DIFFERS


def all_of(verdicts):
    """Return the verdict on a sentence that says many things at once."""
    return next((worst for worst in (DIFFERS, WITHIN, CLOSE) if worst in verdicts), REPRODUCED)


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
