"""Each number of tian2020 beside ours, with its verdict, under the readings that it leaves open."""

import numpy as np

from fspca_reproduction.claim import Said
from fspca_reproduction.results import stored
from fspca_reproduction.verdict import HALF_UNIT, LIMIT, cell_verdict, standard_error, z_score

MEASURES = ("IR", "RE", "HF")
OPEN = {
    "relaxation": "The paper does not state penalty, step and stop of its convex relaxation.",
    "loadings": "The paper does not define the loadings of CSSP.",
    "start": "The paper does not state the convex start of SOAP, SRT and IPU.",
}


def open_choice(method, init, measure):
    """Return the key of what the paper leaves open under a cell of its Table 2, or ""."""
    if method == "cssp":
        return "" if measure == "IR" else "loadings"
    return "relaxation" if init == "convex" and method != "go" else ""


def answers(row, method, init, variant="own", average="paper"):
    """Return IR, RE and HF of one realisation, averaged as the paper does or over all runs."""
    found = row[method] if method in ("go", "cssp") else row[init][method]
    found = found[variant]
    return found[average] if isinstance(found, dict) else found


def table_cells(rows, variant="own", average="paper"):
    """Return the cells of Table 2 that the rows can speak of.

    A row speaks of a method under its name or under that of a start.

    `variant` is "own", "refit" or "best iterate" where a method has it, else its own answer;
    `average` is "paper" or "runs", the plain mean.  With each stands its z, and the standard
    error of our mean, clustered by realisation.
    """
    schemes = {scheme: [r for r in rows if r["scheme"] == scheme] for scheme in "ABCDEF"}
    said, cells = Said("tian2020_table_2"), []
    for line in said["rows"]:
        mine, method, init = schemes[line["scheme"]], line["method"], line["init"]
        there = mine and (method in mine[0] or method in mine[0].get(init, {}))
        if not there:
            continue
        kinds = mine[0][method] if method in mine[0] else mine[0][init][method]
        kind = variant if variant in kinds else "own"
        values = np.array([answers(row, method, init, kind, average) for row in mine])
        for j, measure in enumerate(MEASURES):
            mean, bracket = line[measure]
            ours, spread = values[:, j].mean(), values[:, j].std(ddof=1)
            compared = (ours, spread, mean, bracket, len(values), measure == "HF")
            z = z_score(*compared)
            choice = open_choice(method, init, measure)
            place = {"scheme": line["scheme"], "method": method, "init": init, "measure": measure}
            cells.append(said.number(
                place, mean, ours, cell_verdict(z, choice), OPEN.get(choice, ""),
                {"z": z, "error": spread / len(values) ** 0.5},
                tolerance=HALF_UNIT + LIMIT * standard_error(*compared),
            ))  # fmt: skip
    return cells


def table_verdicts(name="tian2020_table_2", **reading):
    """Return the cells of Table 2 from the stored rows."""
    return table_cells(stored(name)["rows"], **reading)
