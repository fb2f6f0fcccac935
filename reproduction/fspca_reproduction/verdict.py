"""Whether a published number comes out: a rule that was written before the full-size run.

A smaller trial had been compared with the table before, informally: the reading of the basis, of
what is averaged, and the list of what is open come from it.

**A cell of a table** is a mean over N realisations, printed with two digits.  Ours is the mean of
N independent realisations too.  What a realisation gives is one number, whatever the number of
starts within it: runs on one matrix are not independent, so errors are clustered by realisation.

1. The difference counts only beyond half a unit of the last printed digit, 0.005.  If nothing is
   left, the cell is "reproduced".
2. The standard error of the difference is, for IR and RE, the root of (s^2 + b^2) / N with s our
   standard deviation over realisations and b the paper's bracket, which is one; for HF, which
   is a frequency, the root of 2 p (1 - p) / N with p the mean of both.
3. What is left of the difference, over that error, is z.  Up to 2.576 (1 % of honest repetitions
   lie beyond) the cell is "within sampling error", above it "differs".
4. A cell that would differ, and rests on something that the paper leaves open and we could not
   settle, is "under-specified".  These are listed in OPEN, before the run.

Of 270 cells honest repetition would let 3 differ by chance.  The placebo, the same experiment
with rotation-invariant eigenvectors, must fail rows that the reading passes.

**A point of a curve** was read off a drawing to about `digits`: within it "reproduced", beyond it
"differs", or "under-specified" if the method's start is open.
"""

import math

HALF_UNIT = 0.005
LIMIT = 2.576
REPRODUCED, WITHIN, DIFFERS, OPEN_TO_READING = (
    "reproduced",
    "within sampling error",
    "differs",
    "under-specified",
)
NOT_HAD = "not to be had"  # of data that we have not: no verdict

OPEN = {
    "relaxation": "the penalty, the step and the stop of the convex relaxation are not stated",
    "loadings": "the loadings of CSSP are not defined",
    "start": "the convex start of SOAP and SRT is not stated",
}


def open_choice(method, init, measure):
    """Return the key of what the paper leaves open under a cell of its Table 2, or None."""
    if method == "cssp":
        return None if measure == "IR" else "loadings"
    return "relaxation" if init == "convex" and method != "go" else None


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


def cell_verdict(z, choice=None):
    """Return the verdict on a cell of a table from its z and what is open under it."""
    if z == 0:
        return REPRODUCED
    if z <= LIMIT:
        return WITHIN
    return OPEN_TO_READING if choice else DIFFERS


def point_verdict(ours, published, digits, choice=None):
    """Return the verdict on a point read off a curve.

    >>> point_verdict(0.2228, 0.2230, 0.0005), point_verdict(0.2240, 0.2230, 0.0005)
    ('reproduced', 'differs')
    """
    if abs(ours - published) <= digits:
        return REPRODUCED
    return OPEN_TO_READING if choice else DIFFERS
