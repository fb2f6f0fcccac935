"""What other readings of tian2020 would give: starts that it leaves open, and a damaged one."""

from collections import defaultdict
from dataclasses import replace

from fspca_reproduction.results import stored
from fspca_reproduction.tian2020.verdicts import table_cells, table_verdicts
from fspca_reproduction.verdict import cell_verdict


def scheme_a_verdicts(reading="last digits"):
    """Return the cells of scheme A that rest on Go, under a reading of how its start is made."""
    rows = []
    for row in stored("tian2020_scheme_a")["rows"]:
        found = {method: {"own": measures} for method, measures in row[reading].items()}
        go = found.pop("go")
        rows.append({"scheme": "A", "go": go, "low rank": found})
    return table_cells(rows)


def convex_verdicts(start):
    """Return the cells of SOAP, SRT and IPU from one kind of convex start, none called open.

    "frozen" is the start that was fitted on Figure 4.
    """
    rows, name = [], "tian2020_frozen" if start == "frozen" else "tian2020_convex_start"
    for row in stored(name)["rows"]:
        measured = row["convex" if start == "frozen" else start]
        found = {method: {"own": measures} for method, measures in measured.items()}
        rows.append({"scheme": row["scheme"], "convex": found})
    cells = table_cells(rows)
    return [replace(cell, verdict=cell_verdict(cell.more["z"])) for cell in cells]


VARIANTS = {  # of an answer, and what each means
    "refit": "with the best loadings on the support",
    "best iterate": "best of all steps",
    "unrefined": "with the eigenvectors of A_m",
    "regression frame": "with regression coefficients, their weights inverted",
}
REPEATED = {
    "one copy lost": "one copy of the repeated eigenvalue lost",
    "last digits": "eigenvectors of the repeated eigenvalue not orthogonal",
}


def other_values():
    """Return what each cell of Table 2 would be under other assumptions: {cell: {name: value}}."""
    found, plain = defaultdict(dict), {cell.text: cell for cell in table_verdicts()}

    def note(name, cells):
        for cell in cells:
            if cell.ours != plain[cell.text].ours:
                found[cell.text][name] = round(cell.ours, 3)

    note("mean of all runs, not the best of 20", table_verdicts(average="runs"))
    for variant, name in VARIANTS.items():
        note(name, table_verdicts(variant=variant))
    for reading, name in REPEATED.items():
        note(name, scheme_a_verdicts(reading))
    starts = stored("tian2020_convex_start")["rows"][0].keys() - {"scheme", "seed"}
    for start in (*sorted(starts), "frozen"):
        told = "fitted on Figure 4" if start == "frozen" else start
        note(f"convex start: {told}", convex_verdicts(start))
    return found
