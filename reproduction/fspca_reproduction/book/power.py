"""How much a rule of the ledger is worth: what share of wrong experiments it lets come out.

Three experiments are wrong on purpose: our answers told under each other's names; given to each
other's cases; and each number times a factor between 1/2 and 2 (a share to that power).  A paper's
folder may name a placebo of its own, in PLACEBOS of its claims.
"""

import importlib
import time
from collections import defaultdict

import numpy as np

from fspca_reproduction.claim import judged, judges
from fspca_reproduction.results import published_ids, seen_through
from fspca_reproduction.runner import experiment, experiments
from fspca_reproduction.verdict import PASSED, REPRODUCED

DRAWS = 8


def shape(value):
    """Return what values must have in common to be exchanged."""
    if isinstance(value, dict):
        return tuple(sorted(value))
    return len(value) if isinstance(value, list) else type(value)


def other_names(row, keys, draw):
    """Return a row whose answers of one shape stand under each other's names.

    All rows of a draw are changed alike.

    >>> other_names({"k": 1, "a": 2.0, "b": 3.0}, ["k"], 0)
    {'k': 1, 'a': 3.0, 'b': 2.0}
    """
    alike, found = defaultdict(list), {}
    for name, value in row.items():
        if name not in keys:
            alike[shape(value)].append(name)
    for names in alike.values():
        turn = 1 + draw % max(len(names) - 1, 1)  # nobody keeps a name of his own
        for i, name in enumerate(names):
            value = row[names[(i + turn) % len(names)]]
            found[name] = other_names(value, (), draw) if isinstance(value, dict) else value
    return {name: found.get(name, value) for name, value in row.items()}


def other_cases(rows, keys, rng):
    """Return rows whose answers are those of other cases."""
    order = rng.permutation(len(rows))
    return [rows[i] | {key: row[key] for key in keys} for i, row in zip(order, rows, strict=True)]


def other_numbers(value, rng):
    """Return what holds numbers with each times a factor of up to two; a truth goes by chance."""
    if isinstance(value, dict):
        return {name: other_numbers(each, rng) for name, each in value.items()}
    if isinstance(value, list):
        return [other_numbers(each, rng) for each in value]
    if isinstance(value, bool):
        return bool(rng.integers(2))
    factor = 2.0 ** rng.uniform(-1, 1)
    if isinstance(value, int):
        return round(value * factor)
    if isinstance(value, float):
        return value**factor if 0 < value < 1 else value * factor  # a share stays one
    return value


def wrong(kind, draw):
    """Return a change of stored results that makes an experiment wrong in one of three ways."""
    changed = {}

    def change(name, result):
        if name not in changed:
            rng, rows = np.random.default_rng(draw), result["rows"]
            keys = list(experiments()[name].cases[0]) if name in experiments() else []
            if kind == "names":
                rows = [other_names(row, keys, draw) for row in rows]
            elif kind == "cases":
                rows = other_cases(rows, keys, rng)
            else:
                rows = [other_numbers(row, rng) | {key: row[key] for key in keys} for row in rows]
            changed[name] = result | {"rows": rows}
        return changed[name]

    return change


def comes_out(each):
    """Say whether a verdict lets a number pass, or says that a sentence holds."""
    return each.verdict in PASSED if each.place else each.verdict == REPRODUCED


def what_passes(name, kind, draw, right):
    """Return, for each claim's id that a wrong experiment changes, whether it comes out of it.

    `right` are the claims as they are judged; one whose number stays the same is not put to a test,
    and nor is any where what is wrong cannot be judged at all.
    """
    with seen_through(wrong(kind, draw)):
        try:
            found = {each.claim.id: each for each in judged(name)}
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
            return {}
    changed = [key for key, each in right.items() if key in found
               and (each.ours is None or str(found[key].ours) != str(each.ours))]  # fmt: skip
    return {key: comes_out(found[key]) for key in changed}


@experiment(cases=[{"id": name} for name in published_ids()])
def ledger_power(id):
    """What share of wrong experiments the rules on a table or figure let come out."""
    began = time.process_time()
    right = {each.claim.id: each for each in judged(id)}
    found = {each.claim.rule: {} for each in right.values()}
    for kind in ("names", "cases", "numbers"):
        passed = defaultdict(list)
        for draw in range(DRAWS):
            for key, each in what_passes(id, kind, draw, right).items():
                passed[right[key].claim.rule].append(each)
        for rule, each in passed.items():
            found[rule][kind] = float(np.mean(each))
    module = importlib.import_module(judges()[id].__module__)
    if placebo := vars(module).get("PLACEBOS", {}).get(id):
        tables = [[comes_out(each) for each in table] for table in placebo()]
        rule = next(iter(right.values())).claim.rule
        found[rule]["placebo"] = float(np.mean([np.mean(table) for table in tables]))
    return {"rules": found, "seconds": time.process_time() - began}
