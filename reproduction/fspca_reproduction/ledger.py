"""The reproduction ledger: a row for every number and every claim of a paper that we repeat."""

import re
from functools import cache

import numpy as np

from fspca_reproduction.claim import judged, judges
from fspca_reproduction.results import published, published_ids, stored
from fspca_reproduction.runner import experiments
from fspca_reproduction.supply import rests_on
from fspca_reproduction.verdict import DIFFERS, NOT_AVAILABLE, OPEN_TO_READING


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
        "method": ", ".join(methods(name, each)),
        "published": "" if claim.whose == "us" else shown(each.said),
        "ours": shown(each.ours),
        "tolerance": shown(claim.tolerance),
        "why": f"{claim.rule}; {known}" if known else claim.rule,
        "verdict": each.verdict,
        "data": "" if each.verdict == NOT_AVAILABLE else rests_on(name, each.place),
        "function": f"{function.__module__}.{name}",
        "seconds": seconds(name),
    }


def is_sentence(row):
    return row["row"].startswith("claim/")


def methods(name, each):
    """Return whose number it is, or the paper's methods that the sentence names."""
    known = method_names(name.split("_")[0])
    if each.place:
        method = each.place.get("method")
        return [known.get(method, method)] if method else []
    found = {word for word in known.values() if re.search(rf"\b{re.escape(word)}\b", each.text)}
    return sorted(found)


@cache
def method_names(paper):
    """Return how the paper spells its methods."""
    found = {}
    for name in published_ids():
        if name.startswith(f"{paper}_"):
            found |= published(name).get("names", {})
    return found


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
