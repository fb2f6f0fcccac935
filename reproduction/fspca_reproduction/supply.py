"""Where the data come from that rows rest on: made, carried here, fetched, or the reader's own."""

from collections import Counter

from fspca import datasets
from fspca.datasets.catalogue import CATALOGUE
from fspca_reproduction.opening import lacking
from fspca_reproduction.runner import experiments, sets_of

MADE, CARRIED, FETCHED, OWN = "made", "carried", "fetched", "own"
SUPPLIES = (MADE, CARRIED, FETCHED, OWN)  # from the easiest to the hardest


def supply(name):
    """Return where a set comes from: carried here, fetched, or your own; else it is made."""
    if name.startswith("benchmark_"):
        return OWN
    if name not in CATALOGUE:
        return MADE
    if (datasets.RAW / CATALOGUE[name].file).exists():
        return CARRIED
    return FETCHED if CATALOGUE[name].url else OWN


def rests_on(name, place=None):
    """Return the supply of the set in a number's place, else the hardest of an experiment's."""
    cases = experiments()[name].cases
    mine = [case for case in cases if place and "set" in place and case.get("set") == place["set"]]
    return max((hardest(name, case) for case in mine or cases), key=SUPPLIES.index)


def hardest(name, case):
    """Return the supply of a case's sets that is hardest to come by."""
    return max(map(supply, sets_of(name, case)), key=SUPPLIES.index, default=MADE)


def cases_of(folders):
    """Yield (experiment, case) for every row that the experiments in these folders store."""
    for name, function in experiments().items():
        if function.__module__.split(".")[1] in folders:
            yield from ((name, case) for case in function.cases)


def rows_by_set(folders):
    """Return how many stored rows rest on a set of the catalogue, by set and experiment."""
    needed = [(each, name) for name, case in cases_of(folders) for each in sets_of(name, case)]
    listed = {each: Counter(name for found, name in needed if found == each) for each in CATALOGUE}
    return {name: counts for name, counts in listed.items() if counts}


def rows_by_supply(folders):
    """Return how many stored rows need what: nothing, or a set that is carried, ..."""
    needed = Counter(hardest(name, case) for name, case in cases_of(folders))
    return {each: needed[each] for each in SUPPLIES}


def that_stay(names):
    """Yield a sentence for each set that is not here: which rows of experiments stay as stored."""
    opened = [sets_of(name, case) for name in names for case in experiments()[name].cases]
    for name, count in Counter(each for sets in opened for each in lacking(sets)).items():
        fetched = f"`python -m fspca fetch {name}` fetches it"
        file = CATALOGUE[name].file if name in CATALOGUE else f"{name}.npz"
        way = fetched if supply(name) == FETCHED else f"your own {file} goes into FSPCA_DATA"
        yield f"{count} rows of {name} stay as they are stored: it is not here, {way}"
