"""Why a cell of tan2019's Table 2 does not come out: beyond every bound, or merely not met.

The rule, written before the bounds were computed, is "reasons_rule" of
`data/published/tan2019_table_2.json`; of a sentence on a panel, of `tan2019_figure_5.json`.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

from fspca_reproduction.results import rows_of
from fspca_reproduction.tan2019.data import told
from fspca_reproduction.tan2019.methods import JOINT, OURS, POWER, SHARED
from fspca_reproduction.verdict import EQUAL

IMPOSSIBLE, AS_CHOSEN, NOT_MET = "impossible", "impossible as chosen", "not met"
KINDS = ("each", "all", "m k shared")
SUMS, DIVISORS = ("plain", "adjusted"), ("1", "n - 1")
READINGS = list(product(KINDS, SUMS, DIVISORS))
ORDERS = 1000
EXCLUDED = {
    IMPOSSIBLE: "A certified bound excludes the printed number under every assumption",
    AS_CHOSEN: "A certified bound excludes the printed number as the data were prepared here",
}
ALIKE = 0.1  # by so much comparable methods differ


class Reason(NamedTuple):
    """The word, in how many of how many readings the cell is excluded, and how near we come."""

    word: str
    excluded: int
    readings: int
    bound: float  # under the reading chosen
    nearest: float  # ours there over the printed one, less 1
    where: tuple

    def __str__(self):
        if self.word != NOT_MET:
            return (f"{EXCLUDED[self.word]}: no loadings with these counts explain more than "
                    f"{self.bound:.4g}.")  # fmt: skip
        side, where = "above" if self.nearest > 0 else "below", "; ".join(map(told, self.where))
        near = f"{100 * abs(self.nearest):.1f} % {side} it ({where})"
        among = f"under {self.excluded or 'none'} of {self.readings} assumptions"
        return (f"A certified bound excludes the printed number {among}; under the others it is "
                f"possible, but the nearest that we come is {near}.")  # fmt: skip


def limit(bounds, method, count, total, by):
    """Return what no loadings exceed under a reading, from a row of `tan2019_cell_bounds`."""
    few = count == "all" or (method in SHARED and count == "each")
    if total == "plain" and method not in SHARED:
        most = 3 * bounds["one"]["17" if few else "50"]
    else:
        most = bounds["three"]["50" if few else "150"]
    return most / (1 if by == "1" else bounds["samples"] - 1)


def part_of(row):
    return "all samples" if row["part"] == "all" else row["part"]


def numbers_of(name, method):
    """Yield (preparation, part, count, total, by) with our number, over all rows of a set."""
    for row in rows_of("tan2019_table_2"):
        for count, total, by in product(("each", "all"), SUMS, DIVISORS):
            if row["set"] == name and method in row[count]:
                value = row[count][method][total] / (1 if by == "1" else row["samples"] - 1)
                yield (row["preparation"], part_of(row), count, total, by), value
    for row in rows_of("tan2019_further_readings"):
        if row["set"] == name and row["part"] != "first 42 rows" and method in row["shared"]:
            for total, by in product(SUMS, DIVISORS):
                value = row["shared"][method][total] / (1 if by == "1" else row["samples"] - 1)
                yield (row["preparation"], part_of(row), "m k shared", total, by), value


def reason(name, method, printed, reading, chosen):
    """Return why a cell is not what we find under the reading chosen."""
    rows = [row for row in rows_of("tan2019_cell_bounds")
            if row["set"] == name and row["part"] != "first 42 rows"]  # fmt: skip
    limits = [limit(row, method, *each) for row in rows for each in READINGS]
    own = next(r for r in rows if all(r[key] == chosen[key] for key in ("part", "preparation")))
    here = limit(own, method, *reading)
    excluded = sum(printed > most * (1 + 1e-5) for most in limits)  # rows have six digits
    found = {where: value / printed - 1 for where, value in numbers_of(name, method)}
    where = min(found, key=lambda each: abs(np.log1p(found[each])))
    word = IMPOSSIBLE if excluded == len(limits) else NOT_MET
    word = AS_CHOSEN if word == NOT_MET and printed > here * (1 + 1e-5) else word
    return Reason(word, excluded, len(limits), here, found[where], where)


def shape(printed, name):
    """Return the least distance of a column's shape from ours, where, and the placebo's share.

    `printed` maps methods to the numbers of the column.
    """
    ours = {}
    for method in printed:
        for where, value in numbers_of(name, method):
            if where[4] == "1":  # a divisor changes no shape
                ours.setdefault(where[:4], {})[method] = value
    ours = {where: each for where, each in ours.items() if len(each) > len(printed) / 2}

    def least(column):
        best = (np.inf, None)
        for where, each in ours.items():
            apart = np.log([each[m] / column[m] for m in each])
            best = min(best, (float(apart.std()), where), key=lambda pair: pair[0])
        return best

    distance, where = least(printed)
    rng, values = np.random.default_rng(0), np.array([*printed.values()])
    orders = (dict(zip(printed, rng.permutation(values), strict=True)) for _ in range(ORDERS))
    share = np.mean([least(each)[0] <= distance for each in orders])
    return distance, where, float(share)


def panel_limit(bounds, m, k, method, count, total):
    """Return what no loadings of a method's counts exceed, from a row of the panels' bounds."""
    if method in SHARED:
        return bounds["joint"][str(k)]
    each = k if count == "each" else -(-k // m)
    return m * bounds["one"][str(each)] if total == "plain" else bounds["joint"][str(m * each)]


def tally(values, limits, ahead, behind, margin=EQUAL):
    """Return (1, whether a point is against a sentence, whether the sentence is impossible there).

    What the methods behind explain is held against what those ahead do, and what they could.
    """
    most = max(values[x] for x in behind)
    against = most > min(values[x] for x in ahead) * (1 + margin)
    return 1, against, against and most > min(limits[x] for x in ahead) * (1 + margin)


def compared(m, values):
    """Yield (sentence, methods said to be ahead, those behind, margin) for m components."""
    own = [x for x in OURS if x in values]
    rivals, power = [x for x in values if x not in OURS], [x for x in POWER if x in values]
    yield "gpower, worst", [x for x in values if x not in power], power, EQUAL
    if m == 1:
        yield "r=1, comparable", list(values), list(values), ALIKE
        yield "r=1, highest", [max(own, key=values.get)], rivals, EQUAL
    else:
        yield f"r={m}, ahead", JOINT, rivals, EQUAL
        yield f"r={m}, joint", JOINT, ["sadmm, deflated"], EQUAL
        yield f"r={m}, two stages", ["two_stage"], ["sadmm"], EQUAL


def panel_reasons(name):
    """Return, for each sentence on who is ahead, by reading: (points, against it, impossible)."""
    rows, found = rows_of(name), {}
    bounds = {row["m"]: row for row in rows_of("tan2019_panel_bounds")
              if row["set"] == rows[0]["set"]}  # fmt: skip
    for row, count, total in product(rows, ("each", "all"), SUMS):
        m = row["m"]
        for k, point in row["points"].items():
            values = {x: each[total] for x, each in point[count].items()}
            limits = {x: panel_limit(bounds[m], m, int(k), x, count, total) for x in values}
            for what, *pair in compared(m, values):
                tallies = found.setdefault(what, {})
                now = tally(values, limits, *pair)
                before = tallies.get((count, total), (0, 0, 0))
                tallies[count, total] = tuple(map(int, np.add(before, now)))
    return found


def panel_words(name):
    """Return the reason of a sentence on a panel, by its key: what has no bound is not met."""
    bounded = {row["set"] for row in rows_of("tan2019_panel_bounds")}
    known = panel_reasons(name) if rows_of(name)[0].get("set") in bounded else {}
    return lambda key: panel_word(known.get(key, {}))


def panel_word(readings):
    """Return the reason of a sentence from its readings.

    >>> panel_word({"a": (10, 3, 1), "b": (10, 10, 0)})
    'A certified bound excludes the sentence under 1 of 2 assumptions.'
    >>> panel_word({"a": (10, 1, 0)})
    'Nothing that we know of excludes it, but our runs do not show it.'
    """
    excluded = sum(impossible > 0 for _, _, impossible in readings.values())
    if not excluded:
        return "Nothing that we know of excludes it, but our runs do not show it."
    among = f"under {excluded} of {len(readings)} assumptions"
    if excluded == len(readings):
        among = "under every assumption"
    return f"A certified bound excludes the sentence {among}."
