"""The reproduction ledger: a row for every number and every claim of a paper that we repeat."""

import re
from functools import cache

import numpy as np

from fspca_reproduction.claim import judged, judges
from fspca_reproduction.results import published, published_ids, result_path, stored
from fspca_reproduction.runner import experiments
from fspca_reproduction.supply import rests_on
from fspca_reproduction.verdict import DIFFERS, NOT_AVAILABLE, OPEN_TO_READING, ORDER

POWER = "ledger_power"  # the experiment that says what share of wrong experiments a rule lets pass
WEAK = 0.5  # a rule that lets as many pass is called weak
KINDS = {
    "names": "our answers under each other's names",
    "cases": "our answers given to each other's cases",
    "numbers": "each number times a factor of up to two",
    "placebo": "the paper's own placebo",
}


def entries(paper=""):
    """Return every row of the ledger, or of one paper, in the papers' order."""
    names = [name for name in judges() if name.startswith(paper)]
    return [entry(name, each) for name in names for each in judged(name)]


def entry(name, each):
    """Return a row of the ledger; its function, data and seconds follow from its id."""
    claim, function = each.claim, experiments()[name]
    known = {DIFFERS: claim.reason, ORDER: claim.reason}
    known[OPEN_TO_READING] = claim.reason if each.open in claim.reason else each.open
    return {
        "address": address(name, each),
        "paper": name.split("_")[0],
        "text": text_of(name),
        "kind": "number" if each.place else "sentence",
        "whose": claim.whose,
        "row": ", ".join(named(name, each.place)) if each.place else claim.text,
        "set": set_of(name, each),
        "method": ", ".join(methods(name, each)),
        "published": "" if claim.whose == "us" else shown(each.said, formats(name, each)[0]),
        "ours": shown(each.ours, formats(name, each)[1]),
        "difference": difference(each),
        "verdict": each.verdict,
        "rule": claim.rule,
        "tolerance": shown(claim.tolerance),
        "lets pass": power(name).get(claim.rule, ""),
        "assumption": claim.assumption,
        "reason": known.get(each.verdict, ""),
        "values": (each.more or {}).get("values") or {},
        "data": "" if each.verdict == NOT_AVAILABLE else rests_on(name, each.place),
        "id": name,
        "place": each.place,
        "percent": published(name).get("numbers", {}).get("percent", False),
        "command": f"python -m fspca_reproduction run {name}",
        "function": f"{function.__module__}.{name}",
        "seconds": seconds(name),
    }


def address(name, each):
    """Return what a row is cited by: "tan2019-table-2-leukemia-stspca"."""
    place = named(name, each.place) if each.place else each.claim.id.split("/")[1:]
    return slug(" ".join((name, *place)))


def slug(text):
    """Return a text as a piece of an address.

    >>> slug("tan2019_table_2 Leukemia StSPCA-2S")
    'tan2019-table-2-leukemia-stspca-2s'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def text_of(name):
    """Return what a paper calls its table or figure: "Table 2"."""
    title = published(name)["title"]
    return title.split(",")[0] if re.match(r"(Table|Figure) \d", title) else title


@cache
def words(name):
    """Return what the parts of places are called in a paper's table or figure."""
    data = published(name)
    return {"method": method_names(name.split("_")[0]) | data.get("names", {}),
            "set": data.get("sets", {}), "init": data.get("inits", {})}  # fmt: skip


def called(name, part, value):
    """Return what a part of a place is called: a scheme by its letter, k with its letter."""
    known = words(name).get(part, {}).get(value)
    return known or (f"{part} = {value}" if part == "k" else
                     f"scheme {value}" if part == "scheme" else str(value))  # fmt: skip


def named(name, place):
    """Return the parts of a place as the paper calls them."""
    return [called(name, part, value) for part, value in place.items()]


def set_of(name, each):
    """Return the data that a row is about, as the paper calls them, or ""."""
    place = each.place or {}
    part = next((part for part in ("set", "scheme") if part in place), None)
    if part:
        return called(name, part, place[part])
    alone = published(name).get("set", "")
    return words(name)["set"].get(alone, alone)


def methods(name, each):
    """Return whose number it is, or the paper's methods that the sentence names."""
    known = words(name)["method"]
    if each.place:
        method = each.place.get("method")
        return [known.get(method, method)] if method else []
    found = {word for word in known.values() if is_named(word, each.text)}
    return sorted(found)


def is_named(method, text):
    """Say whether a sentence names a method, and not one whose name goes on.

    >>> is_named("StSPCA", "StSPCA-2S is highest"), is_named("StSPCA", "so does StSPCA")
    (False, True)
    """
    return bool(re.search(rf"(?<![\w-]){re.escape(method)}(?![\w-])", text))


@cache
def method_names(paper):
    """Return how the paper spells its methods."""
    found = {}
    for name in published_ids():
        if name.startswith(f"{paper}_"):
            found |= published(name).get("names", {})
    return found


def power(name):
    """Return, for each rule, what share of wrong experiments it lets come out, by kind."""
    if not result_path(POWER).exists():
        return {}
    rows = {row["id"]: row["rules"] for row in stored(POWER)["rows"]}
    return {rule: spoken(found) for rule, found in rows.get(name, {}).items()}


def spoken(found):
    """Return as a sentence what share of wrong experiments a rule lets come out.

    >>> spoken({"names": 0.25, "numbers": 0.0}).split(" (")[0]
    '12 % of wrong experiments'
    >>> spoken({"names": 0.75}).split(":")[0]
    'Weak'
    """
    if not found:
        return "Not known: none of our wrong experiments changes what it judges."
    share = sum(found.values()) / len(found)
    parts = "; ".join(f"{KINDS[kind]}: {each:.0%}" for kind, each in found.items())
    told = f"{share:.0%} of wrong experiments ({parts})".replace("%", " %")
    return f"Weak: {told}" if share >= WEAK else told


def is_weak(row):
    return row["lets pass"].startswith("Weak")


@cache
def seconds(name):
    return shown(stored(name)["seconds"])


def formats(name, each):
    """Return how the paper's numbers and ours are written, or a pair of None."""
    known = published(name).get("numbers", {}).get("formats")
    return known if known and each.place else (None, None)


def difference(each):
    """Return by how much our number differs, as a part of the paper's, if both are numbers.

    A ratio that the paper draws as a range has no difference, nor has a printed zero.
    """
    try:
        said, ours = float(each.said), float(each.ours)
    except (TypeError, ValueError):
        return ""
    return f"{ours / said - 1:+.1%}".replace("%", " %") if each.place and said else ""


def shown(value, how=None):
    """Return a number with at most four digits of its own, anything else as text."""
    number = isinstance(value, float | np.floating)
    if number and how:
        return how.format(value)
    if number and abs(value) < 1e-9:
        return "0"  # rounding
    if number:
        return f"{value:.2f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"
    return "" if value is None else str(value)
