"""Who is first in the tournament by each measure, by how much, and what each gives up."""

import numpy as np

from fspca_reproduction.results import rows_of
from fspca_reproduction.tan2019.tournament import CHOICES, PCA, label
from fspca_reproduction.verdict import EQUAL

MEASURES = ("factors", "adjusted")
OURS = {label("solve_separate", how) for how in (None, *CHOICES)}


def panels():
    """Return by set what each entrant's answer is worth by all measures."""
    found = {}
    for row in rows_of("tan2019_tournament"):
        name = label(row["method"], row["how"])
        found.setdefault(row["set"], {})[name] = row
    return found


def ranking(panel, measure, among=None):
    """Return (value, name) of the entrants of a panel that are among some, the best first."""
    names = [name for name in panel if name != PCA and (among is None or name in among)]
    values = [(panel[name][measure], name) for name in names]
    return sorted((pair for pair in values if pair[0] is not None), reverse=True)


def rivals(panel):
    """Return the entrants that are not `solve_separate`."""
    return panel.keys() - OURS - {PCA}


def first_rivals():
    """Return by rival and measure on how many sets it is the best of the rivals, or one of them."""
    found = {}
    for panel in panels().values():
        for measure in MEASURES:
            ranked = ranking(panel, measure, rivals(panel))
            for first in (name for value, name in ranked if value == ranked[0][0]):
                counted = found.setdefault(first, dict.fromkeys(MEASURES, 0))
                counted[measure] += 1
    return found


def leads(measure, method="solve_separate"):
    """Return by set how far a method is ahead of the best rival; below 0, how far behind."""
    found = {}
    for name, panel in panels().items():
        most, _ = ranking(panel, measure, rivals(panel))[0]
        found[name] = panel[method][measure] / most - 1
    return found


def counted(measure, method="solve_separate"):
    """Return on how many sets a method is ahead of the best rival, level with it and behind it."""
    found = np.array([*leads(measure, method).values()])
    ahead, behind = np.sum(found > EQUAL), np.sum(found < -EQUAL)
    return int(ahead), int(len(found) - ahead - behind), int(behind)


def middle(name, what):
    """Return the median over the sets of a measure as a share of PCA's, or of a correlation."""
    found = []
    for panel in panels().values():
        if name in panel and panel[name][MEASURES[0]] is not None:
            unit = 1.0 if what == "correlation" else panel[PCA]["factors"]
            found.append(panel[name][what] / unit)
    return float(np.median(found))
