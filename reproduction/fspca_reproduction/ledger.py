"""The reproduction ledger: a row for every number and every claim of a paper that we repeat."""

import json
from functools import cache

import numpy as np

from fspca import datasets
from fspca.catalogue import CATALOGUE
from fspca_reproduction.claim import judged, judges
from fspca_reproduction.results import ROOT, stored
from fspca_reproduction.runner import experiments
from fspca_reproduction.verdict import DIFFERS, NOT_HAD, OPEN_TO_READING

MADE, CARRIED, FETCHED, OWN = "made", "carried", "fetched", "own"
SUPPLIES = (MADE, CARRIED, FETCHED, OWN)  # from the easiest to the hardest


def entries(paper=""):
    """Return every row of the ledger, or of one paper, in the papers' order."""
    names = [name for name in judges() if name.startswith(paper)]
    return [entry(name, each) for name in names for each in judged(name)]


def entry(name, each):
    """Return a row of the ledger; its function, data and seconds follow from its id."""
    claim, function = each.claim, experiments()[name]
    known = {DIFFERS: claim.reason, OPEN_TO_READING: each.open}.get(each.verdict)
    return {
        "id": name,
        "row": claim.text if each.place else f"claim/{claim.text}",
        "published": "" if claim.whose == "us" else shown(each.said),
        "ours": shown(each.ours),
        "tolerance": shown(claim.tolerance),
        "why": f"{claim.rule}; {known}" if known else claim.rule,
        "verdict": each.verdict,
        "data": "" if each.verdict == NOT_HAD else rests_on(name, each.place),
        "function": f"{function.__module__}.{name}",
        "seconds": seconds(name),
    }


@cache
def seconds(name):
    return shown(stored(name)["seconds"])


def shown(value):
    """Return a number with at most four digits of its own, anything else as text."""
    if isinstance(value, float | np.floating) and abs(value) < 1e-9:
        return "0"  # rounding
    if isinstance(value, float | np.floating):
        return f"{value:.2f}" if abs(value) >= 1e4 else f"{value:.4g}"
    return "" if value is None else str(value)


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


def faults(ids, functions, labels, rows):
    """Return a sentence for each published id without a function, a chapter cell or a row."""
    listed = {row["id"] for row in rows}
    kinds = {"function": set(functions), "cell in a chapter": set(labels), "row": listed}
    every = sorted(set(ids) | listed)
    return [f"{i} has no {kind}" for i in every for kind, known in kinds.items() if i not in known]


def labels():
    """Return the labels of all notebooks' cells, "(tian2020_table_2)=" and the like."""
    found = set()
    for path in (ROOT / "book").rglob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            lines = [line.strip() for line in "".join(cell["source"]).splitlines()]
            found |= {line[1:-2] for line in lines if line.startswith("(") and line.endswith(")=")}
    return found
