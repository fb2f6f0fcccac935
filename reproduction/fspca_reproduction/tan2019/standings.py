"""Who is first in the tournament, by how much, and how far all are from the bound."""

from fspca_reproduction.results import rows_of
from fspca_reproduction.tan2019.outside import OUTSIDE
from fspca_reproduction.tan2019.tournament import BOUND, FROM_PCA, SEPARATE, SHARED, WAYS, label

APART = [*SEPARATE, *OUTSIDE, *(label(name, "pca") for name in FROM_PCA)]  # supports of their own


def panels():
    """Return by set and way of counting what all explain, (single, searched), and the bound."""
    found = {}
    for row in rows_of("tan2019_tournament"):
        for way, (features, *asked) in WAYS.items():
            panel = found.setdefault(row["set"], {}).setdefault(way, {})
            of_bound = (row["method"], row["init"]) == BOUND
            key = features if of_bound else asked[row["method"] in SHARED]
            panel[label(row["method"], row["init"])] = row[str(key)]
    return found


def ranking(panel, searched, among=None):
    """Return (value, method) of all entrants of a panel, the best first."""
    names = [name for name in panel if name != "bound" and (among is None or name in among)]
    values = [(panel[name][searched], name) for name in names]
    return sorted((pair for pair in values if pair[0] is not None), reverse=True)


def standing(panel, searched, among=None):
    """Return who is first, the next, by how much, and how far the bound is above the first."""
    (most, first), (value, second), *_ = ranking(panel, searched, among)
    return first, second, most / value - 1, panel["bound"] / most - 1


def shares(way, searched):
    """Return what every method explains over the bound, a list over the sets that it entered."""
    found = {}
    for ways in panels().values():
        for value, name in ranking(ways[way], searched):
            found.setdefault(name, []).append(value / ways[way]["bound"])
    return found


def leads(method, way, searched, among=None):
    """Return by set how far a method is ahead of the best other one; below 0, how far behind."""
    found = {}
    for name, ways in panels().items():
        values = {each: value for value, each in ranking(ways[way], searched, among)}
        found[name] = values.pop(method) / max(values.values()) - 1
    return found
