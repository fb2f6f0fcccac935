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
        records.append(point | {"ours": ours, "verdict": found, "near": near,
                                "tolerance": said["tolerance"]})  # fmt: skip
    return records


def fits():
    """Return for each reading how many of the four fractions it comes within the tolerance of."""
    points = certified_points()
    readings = all_readings("lrs", 90)
    return {name: sum(name in point["near"] for point in points) for name in readings}


def spectra_scores():
    """Return by preparation of the spectra: the conditions met, and the sum of two differences."""
    rows = {(r["preparation"], r["k"]): r for r in stored("asteris2014_readings")["rows"]
            if r["set"] == "lrs"}  # fmt: skip
    scores = {}
    for how in dict.fromkeys(name for name, _ in rows):
        first, last = (rows[how, k]["fractions"]["sum"] for k in (20, 90))
        met = [abs(first - 0.86) <= 0.01, abs(last - 0.93) <= 0.01, 0.04 <= last - first <= 0.1,
               rows[how, 90]["nonzeros"] >= 80]  # fmt: skip
        scores[how] = (sum(met), abs(first - 0.86) + abs(last - 0.93))
    return scores


def spectra_preparation():
    """Return the preparation of the spectra that the rule of the published file chooses."""
    scores = spectra_scores()
    return min(scores, key=lambda how: (-scores[how][0], scores[how][1]))
