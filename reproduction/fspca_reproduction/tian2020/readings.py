"""What other readings of tian2020 would give: starts that it leaves open, and a damaged one."""

from dataclasses import replace

from fspca_reproduction.results import stored
from fspca_reproduction.tian2020.verdicts import table_cells
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
