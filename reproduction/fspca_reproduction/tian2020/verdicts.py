"""Each number of tian2020 beside ours, with its verdict, under the readings that it leaves open."""

import numpy as np

from fspca_reproduction.results import published, stored
from fspca_reproduction.verdict import (
    HALF_UNIT,
    LIMIT,
    OPEN_TO_READING,
    cell_verdict,
    holds,
    point_verdict,
    standard_error,
    z_score,
)

MEASURES = ("IR", "RE", "HF")
OPEN = {
    "relaxation": "the penalty, the step and the stop of the convex relaxation are not stated",
    "loadings": "the loadings of CSSP are not defined",
    "start": "the convex start of SOAP and SRT is not stated",
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
    """Return a record for each cell of Table 2 that the rows can speak of.

    A row speaks of a method under its name or under that of a start.

    `variant` is "own", "refit" or "best iterate" where a method has it, else its own answer;
    `average` is "paper" or "runs", the plain mean.  `error` is the standard error of our mean,
    clustered by realisation.
    """
    schemes = {scheme: [r for r in rows if r["scheme"] == scheme] for scheme in "ABCDEF"}
    cells = []
    for line in published("tian2020_table_2")["rows"]:
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
            cells.append({
                "scheme": line["scheme"], "method": method, "init": init, "measure": measure,
                "published": mean, "bracket": bracket, "ours": ours, "z": z,
                "error": spread / len(values) ** 0.5, "verdict": cell_verdict(z, choice),
                "tolerance": HALF_UNIT + LIMIT * standard_error(*compared),
                "open": OPEN.get(choice, ""),
            })  # fmt: skip
    return cells


def counts(cells):
    """Return how often each verdict was given."""
    names, numbers = np.unique([cell["verdict"] for cell in cells], return_counts=True)
    return dict(zip(names.tolist(), numbers.tolist(), strict=True))


def table_verdicts(name="tian2020_table_2", **reading):
    """Return the cells of Table 2 from the stored rows."""
    return table_cells(stored(name)["rows"], **reading)


def figure_2_points(start="convex"):
    """Return a record for each point read off Figure 2, with its verdict.

    The published markers of SOAP and SRT come from a convex start that the paper leaves open;
    `start` names the one to compare with.
    """
    drawn = published("tian2020_figure_2")
    rows = {(row["set"], row["k"]): row for row in stored("tian2020_figure_2")["rows"]}
    points = []
    for name, curves in drawn["values"].items():
        for method, values in curves.items():
            choice = "start" if method in ("soap", "srt") else ""
            for k, value in zip(drawn["k"], values, strict=True):
                ours = rows[name, k][f"{method}, {start}" if choice else method]
                verdict = point_verdict(ours, value or 0.0, drawn["digits"], choice)
                if value is None:  # below the axis, which begins at 0.05
                    verdict = holds(True) if ours < 0.05 else OPEN_TO_READING
                points.append({
                    "set": name, "method": method, "k": k, "published": value or "< 0.05",
                    "ours": ours, "verdict": verdict, "open": OPEN.get(choice, ""),
                })  # fmt: skip
    return points


def figure_4_points(start="convex"):
    """Return a record for each point read off Figure 4, from one of the starts that we tried.

    Go's line needs no start.  A step that our run no longer takes, because it has stopped, has the
    value of its last.
    """
    drawn, row = published("tian2020_figure_4"), stored("tian2020_figure_4")["rows"][0]
    points = []
    for method, values in drawn["values"].items():
        choice = "" if method == "go" else "start"
        walk = row[f"from {start}"][method] if choice else [row["go"]]
        for t, value in enumerate(values):
            if value is None:
                continue
            ours, digits = walk[min(t, len(walk) - 1)], drawn["digits"][method]
            points.append({
                "method": method, "step": f"step {t + 1}", "published": value, "ours": float(ours),
                "verdict": point_verdict(ours, value, digits, choice), "tolerance": digits,
                "open": OPEN.get(choice, ""),
            })  # fmt: skip
    return points
