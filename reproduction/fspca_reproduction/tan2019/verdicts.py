"""Which reading of tan2019's Table 2 is chosen, and whether its cells come out under it.

The rule is in `data/published/tan2019_table_2.json`, written before any run.  Sentences are judged
as `fspca_reproduction.verdict` says: on repeated draws by the mean of the paper's 10, on a data set
at every point; one that says "most" must hold at more than half.  "Far" and "well" are FAR, a tenth
of the largest recovery error possible with two components; "equal" is SAME.  Readings of recovery
errors are the answer cut to ten features for each component and the method's own; in Figures 1 and
2 the sparse and the orthonormal matrix.  There all errors are far below FAR: in a second reading,
made after the runs, "far" is a factor of TIMES.
"""

import numpy as np

from fspca_reproduction.claim import Said
from fspca_reproduction.results import published, rows_of
from fspca_reproduction.tan2019.data import told
from fspca_reproduction.tan2019.reasons import part_of, reason
from fspca_reproduction.verdict import DIFFERS, OPEN_TO_READING, close_verdict, half_unit

NEAR, TOLERANCE, DIGITS = 0.10, 0.02, 4
FAR, SAME, TIMES = 0.4, 0.04, 2.0
COUNTS, SUMS, DIVISORS = ("each", "all"), ("plain", "adjusted"), ("1", "n - 1")
READINGS = [(count, total, by) for count in COUNTS for total in SUMS for by in DIVISORS]


def printed_cells():
    """Return the cells of Table 2 that are printed, by set and method."""
    return {
        (name, line["method"]): value
        for line in published("tan2019_table_2")["rows"]
        for name, value in line.items()
        if name != "method" and value is not None
    }


def value(row, method, count, total, by):
    """Return what a row of Table 2 says of a method under a reading, or None."""
    found = row[count].get(method)
    return found and found[total] / (1 if by == "1" else row["samples"] - 1)


def distances(row, cells, reading):
    """Return by which factor, as a logarithm, our numbers of a row miss the printed ones."""
    ours = {key: value(row, key[1], *reading) for key in cells if key[0] == row["set"]}
    return {key: abs(np.log(mine / cells[key])) for key, mine in ours.items() if mine}


def choose(rows, cells, readings=READINGS):
    """Return the reading, its row for each set, and how many cells it brings within NEAR."""
    best = None
    for reading in readings:
        chosen, near, missed = {}, 0, []
        for name in dict.fromkeys(row["set"] for row in rows):
            scored = []
            for row in (row for row in rows if row["set"] == name):
                found = list(distances(row, cells, reading).values())
                scored.append((-sum(x <= np.log1p(NEAR) for x in found), np.mean(found), row))
            count, _, chosen[name] = min(scored, key=lambda each: each[:2])
            near -= count
            missed += distances(chosen[name], cells, reading).values()
        rank = (-near, np.mean(missed))
        if best is None or rank < best[0]:
            best = rank, reading, chosen, near
    return best[1:]


def reading_verdict(ours, printed, others):
    """Return the verdict on a cell from our number, the printed one, and other readings' numbers.

    >>> reading_verdict(1713.4, 1713.0, []), reading_verdict(1700.0, 1713.0, [])
    ('reproduced', 'close')
    >>> reading_verdict(900.0, 1713.0, [800.0, 1715.0]), reading_verdict(900.0, 1713.0, [800.0])
    ('under-specified', 'differs')
    """
    unit = half_unit(printed, DIGITS)
    verdict = close_verdict(ours, printed, unit, TOLERANCE * printed)
    near = any(abs(each / printed - 1) <= TOLERANCE for each in others)
    return OPEN_TO_READING if verdict == DIFFERS and near else verdict


def scaled(cells, rng):
    """Return cells whose columns are multiplied by factors between 1/2 and 2."""
    factor = {name: 2.0 ** rng.uniform(-1, 1) for name in dict.fromkeys(key[0] for key in cells)}
    return {key: x * factor[key[0]] for key, x in cells.items()}


def table_2(cells=None):
    """Return the chosen reading and, judged, each printed cell that our rows speak of."""
    said, rows, cells = (
        Said("tan2019_table_2"),
        rows_of("tan2019_table_2"),
        cells or printed_cells(),
    )
    reading, chosen, _ = choose(rows, cells)
    records = []
    for (name, method), printed in cells.items():
        prepared = {key: chosen[name][key] for key in ("set", "preparation")}
        alike = [chosen[name], *(row for row in rows if prepared.items() <= row.items())]
        ours = next((x for x in (value(row, method, *reading) for row in alike) if x), None)
        others = [value(row, method, *r) for row in rows if row["set"] == name for r in READINGS]
        if ours:
            verdict = reading_verdict(ours, printed, [each for each in others if each])
            why = reason(name, method, printed, reading, chosen[name])
            words = (*reading, prepared["preparation"], part_of(chosen[name]))
            records.append(said.number(
                {"set": name, "method": method}, f"{printed:.4g}", ours, verdict,
                f"Another assumption on the data comes within 2 %: {why}",
                {"why": why, "values": values_of(name, method)},
                reason=str(why), assumption=f"We take {'; '.join(map(told, words))}.",
            ))  # fmt: skip
    return reading, chosen, records


def values_of(name, method):
    """Return our numbers for a cell under every preparation, count and sum; X'X not divided."""
    found = {"plain, adjusted and Zou's sum: 50 features in all | 50 for each": ""}
    for row in rows_of("tan2019_assumptions"):
        if row["set"] == name and method in row["all"]:
            sums = (" ".join(f"{row[count][method][total]:.4g}" for total in (*SUMS, "zou"))
                    for count in ("all", "each"))  # fmt: skip
            where = "; ".join(map(told, (row["preparation"], part_of(row))))
            found[where] = " | ".join(sums)
    return found
