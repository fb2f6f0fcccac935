"""Where the data come from that rows rest on: made, carried here, fetched, or the reader's own."""

from fspca import datasets
from fspca.catalogue import CATALOGUE
from fspca_reproduction.runner import experiments

MADE, CARRIED, FETCHED, OWN = "made", "carried", "fetched", "own"
SUPPLIES = (MADE, CARRIED, FETCHED, OWN)  # from the easiest to the hardest


def supply(name):
    """Return where a set comes from: carried here, fetched, or your own; else it is made."""
    if name not in CATALOGUE:
        return MADE
    if (datasets.RAW / CATALOGUE[name].file).exists():
        return CARRIED
    return FETCHED if CATALOGUE[name].url else OWN


def rests_on(name, place=None):
    """Return the supply of the set in a number's place, else the hardest of an experiment's."""
    sets = {case.get("set") for case in experiments()[name].cases}
    mine = {place["set"]} & sets if place and "set" in place else sets
    return max(map(supply, mine or sets), key=SUPPLIES.index)


def rows_by_set():
    """Return how many stored rows rest on a set of the catalogue, by set and experiment."""
    found = {name: {} for name in CATALOGUE}
    for experiment, function in experiments().items():
        for case in function.cases:
            if case.get("set") in found:
                counts = found[case["set"]]
                counts[experiment] = counts.get(experiment, 0) + 1
    return {name: counts for name, counts in found.items() if counts}


def rows_by_supply():
    """Return how many of all stored rows need what: nothing, or a set that is carried, ..."""
    cases = [case for function in experiments().values() for case in function.cases]
    needed = [supply(case.get("set")) for case in cases]
    return {each: needed.count(each) for each in SUPPLIES}
