"""The fractions that asteris2014 certifies beside ours, by a rule that was written beforehand.

Sentences and rules are in data/published/asteris2014_*.json, which were written from the text
before the runs.
"""

from fspca_reproduction.results import published, stored
from fspca_reproduction.verdict import DIFFERS, OPEN_TO_READING, REPRODUCED

FIRST = ("centred", "sum")  # the reading that was put first


def two_sided(value, ours, tolerance, readings):
    """Return the verdict on a certified fraction and the readings that come within the tolerance.

    >>> two_sided(0.86, 0.858, 0.01, {})
    ('reproduced', [])
    >>> two_sided(0.58, 0.84, 0.01, {("as it is", "sum"): 0.89, ("other", "sum"): 0.587})
    ('under-specified', [('other', 'sum')])
    >>> two_sided(0.93, 0.858, 0.01, {("as it is", "sum"): 0.89})
    ('differs', [])
    """
    near = [name for name, each in readings.items() if abs(each - value) <= tolerance + 1e-9]
    if abs(ours - value) <= tolerance + 1e-9:
        return REPRODUCED, near
    return (OPEN_TO_READING if near else DIFFERS), near


def all_readings(set, k):
    """Return the certified fraction at one of the paper's points by (preparation, bound)."""
    rows = [r for r in stored("asteris2014_readings")["rows"] if (r["set"], r["k"]) == (set, k)]
    return {
        (row["preparation"], bound): fraction
        for row in rows
        for bound, fraction in row["fractions"].items()
    }


def certified_points():
    """Return a record for each of the four fractions: printed, ours, verdict, readings near."""
    said = published("asteris2014_certified")
    records = []
    for point in said["points"]:
        readings = all_readings(point["set"], point["k"])
        ours = readings[FIRST]
        found, near = two_sided(point["value"], ours, said["tolerance"], readings)
        ways = ", ".join(" with ".join(each) for each in near)
        records.append(point | {"published": point["value"], "ours": ours, "verdict": found,
                                "near": near, "open": f"comes out as {ways}"})  # fmt: skip
    return records
