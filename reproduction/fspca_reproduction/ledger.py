"""The reproduction ledger: a row for every number and every claim of a paper that we repeat.

`entries()` makes the rows from data/published and data/results; `ledger_page` writes them.
"""

import json
from functools import cache

import numpy as np

from fspca_reproduction.asteris2014 import ledger as asteris2014_ledger
from fspca_reproduction.runner import RESULTS, experiments, stored
from fspca_reproduction.tan2019 import ledger as tan2019_ledger
from fspca_reproduction.tian2020 import claims, verdicts
from fspca_reproduction.verdict import (
    DIFFERS,
    LIMIT,
    OPEN_TO_READING,
    REPRODUCED,
    WITHIN,
)

ROOT = RESULTS.parents[1]
CHECKED = "the sentence must hold at every point"
OURS = ("ours to ask", "IPU is first", "a step of SRT")  # sentences that are not the paper's
REASONS = {  # what we found out about a difference, by the beginning of its row
    "tian2020_table_2/A/": "tested afterwards: comes out where the eigenvectors of the repeated "
    "eigenvalue are not orthogonal (tian2020_scheme_a)",
    "tian2020_table_2/claim/IPU hits": "the printed table has such cells too: SRT on E and F",
    "tian2020_table_2/claim/CSSP": "its loadings are not defined; ours hit on A, B and C",
    "tian2020_table_2/claim/Every method": "the convex start is open; print has one such cell too, "
    "SRT on A",
    "tian2020_table_2/claim/The best": "SOAP on E; so it is in print",
    "tian2020_figure_2/claim/IPU": "in print at one point (TPower (G), NUS-WIDE, k = 11); others "
    "rest on our convex start",
    "tian2020_figure_2/claim/Go": "NUS-WIDE, k = 11",
    "tian2020_figure_2/claim/The k": "Lymphoma and NUS-WIDE, k = 11",
    "tian2020_figure_3/claim/": "untested: another machine and program, with shared kernels",
    "tian2020_figure_3/": "untested: another machine and program, with shared kernels",
}


def entry(name, row, published, ours, tolerance, why, verdict):
    """Return a row of the ledger; its function and its seconds follow from its id."""
    function = experiments()[name]
    if verdict == DIFFERS:
        known = [text for begins, text in REASONS.items() if f"{name}/{row}".startswith(begins)]
        why = "; ".join([why, *known[:1]])
    return {
        "id": name, "row": row, "published": shown(published), "ours": shown(ours),
        "tolerance": shown(tolerance), "why": why, "verdict": verdict,
        "function": f"{function.__module__}.{name}", "seconds": seconds(name),
    }  # fmt: skip


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


def of_claims(name, records):
    """Return rows for sentences of the paper, and for those that we ask ourselves."""
    texts = {each["claim"]: any(words in each["claim"] for words in OURS) for each in records}
    return [
        entry(name, f"claim/{each['claim']}", "" if texts[each["claim"]] else "so it says",
              each["ours"], None, CHECKED, each["verdict"]) for each in records
    ]  # fmt: skip


def table_1():
    rows = []
    found = {each["scheme"]: each for each in stored("tian2020_table_1")["rows"]}
    for line in verdicts.published("tian2020_table_1")["rows"]:
        ours, row = found[line["scheme"]], line["scheme"]
        if "first" in line:
            text = ", ".join(map(str, line["first"])) + ", ..."
            verdict = REPRODUCED if ours["exact"] else DIFFERS
            rows.append(entry("tian2020_table_1", row, text, text if ours["exact"] else "another",
                              "1e-12", "rounding", verdict))  # fmt: skip
        else:
            near = abs(ours["z"]) <= LIMIT
            rows.append(entry("tian2020_table_1", row, f"X is {line['law']}", ours["trace"],
                              LIMIT * abs(ours["trace"] - ours["expected"]) / abs(ours["z"]),
                              f"mean trace against {ours['expected']:.4g}, its sampling error",
                              WITHIN if near else DIFFERS))  # fmt: skip
    beyond = found["D"]["least shifted rank"]
    note = {"claim": "Scheme D keeps a rank above m = 3, whatever multiple of I is added",
            "ours": beyond, "verdict": REPRODUCED if beyond > 3 else DIFFERS}  # fmt: skip
    return rows + of_claims("tian2020_table_1", [note])


def figure_1():
    ours = stored("tian2020_figure_1")["rows"][0]
    drawn = verdicts.published("tian2020_figure_1")
    patterns = {
        name: len({tuple(np.flatnonzero(w)) for w in drawn[name]})
        for name in ("element-wise", "feature")
    }
    found = {"element-wise": len(set(map(tuple, ours["tpower"]))),
             "feature": len(set(map(tuple, ours["ipu"])))}  # fmt: skip
    return [
        entry("tian2020_figure_1", f"supports of 3 components, {name}", patterns[name],
              found[name], 0, "a count", REPRODUCED if patterns[name] == found[name] else DIFFERS)
        for name in patterns
    ]  # fmt: skip


def table_2():
    why = "half a printed digit and the sampling of two means of 100"
    return [
        entry("tian2020_table_2", "/".join(c[key] for key in ("scheme", "method", "init",
              "measure")), c["published"], c["ours"], c["tolerance"],
              f"{why}; {c['open']}" if c["verdict"] == OPEN_TO_READING else why, c["verdict"])
        for c in verdicts.table_verdicts()
    ] + of_claims("tian2020_table_2", claims.table_2_claims())  # fmt: skip


def figure_2():
    why, digits = "read off a drawing", verdicts.published("tian2020_figure_2")["digits"]
    return [
        entry("tian2020_figure_2", f"{p['set']}/{p['method']}/{p['k']}",
              "< 0.05" if p["published"] is None else p["published"], p["ours"], digits,
              f"{why}; {p['open']}" if p["verdict"] == OPEN_TO_READING else why, p["verdict"])
        for p in verdicts.figure_2_points()
    ] + of_claims("tian2020_figure_2", claims.figure_2_claims())  # fmt: skip


def figure_3():
    """Seconds of two machines are not compared; on which side of IPU's they lie is."""
    drawn = verdicts.published("tian2020_figure_3")
    rows, unit = [], np.mean(drawn["values"]["ipu"])
    found = {each["k"]: each["seconds"] for each in stored("tian2020_figure_3")["rows"]}
    for method in ("soap", "srt", "go", "tpower"):
        values = drawn["values"][method]
        for i, k in enumerate(drawn["k"]):
            ends = [values[i]] if len(values) > 2 else values  # of a flat curve its range
            theirs = [value / unit for value in ends]
            ours = found[k][method]
            ours = (ours["stop"] if isinstance(ours, dict) else ours) / found[k]["ipu"]["stop"]
            rows.append(entry("tian2020_figure_3", f"{method}/{k}",
                              " to ".join(dict.fromkeys(f"{value:.2g}" for value in theirs)),
                              f"{ours:.2g}", "the same side of 1",
                              "seconds to the stop over IPU's; machines and programs differ",
                              claims.side(ours, theirs[0] > 1)))  # fmt: skip
    return rows + of_claims("tian2020_figure_3", claims.figure_3_claims())


def figure_4():
    why = "read off a drawing"
    return [
        entry("tian2020_figure_4", f"{p['method']}/step {p['step']}", p["published"],
              float(p["ours"]), p["tolerance"],
              f"{why}; {p['open']}" if p["verdict"] == OPEN_TO_READING else why, p["verdict"])
        for p in verdicts.figure_4_points()
    ] + of_claims("tian2020_figure_4", claims.figure_4_claims())  # fmt: skip


def others():
    """The number of IPU's steps, and the corollaries, which have no numbers but laws."""
    rows = stored("tian2020_steps")["rows"]
    most = max(max(each["go"], each["random"]) for each in rows)
    verdict = REPRODUCED if most <= 10 else DIFFERS
    steps = entry("tian2020_steps", "ipu", "at most 10 steps", most, 10, "a count", verdict)
    return [steps, *of_claims("tian2020_corollaries", claims.corollary_claims())]


def entries():
    """Return every row of the ledger, in the papers' order."""
    tian2020 = [
        *table_1(),
        *figure_1(),
        *table_2(),
        *figure_2(),
        *figure_3(),
        *figure_4(),
        *others(),
    ]
    return [*tian2020, *tan2019_ledger.entries(), *asteris2014_ledger.entries()]


def faults(ids, functions, labels, rows):
    """Return a sentence for each published id without a function, a chapter cell or a row."""
    listed = {row["id"] for row in rows}
    kinds = {"function": set(functions), "cell in a chapter": set(labels), "row": listed}
    every = sorted(set(ids) | listed)
    return [f"{i} has no {kind}" for i in every for kind, known in kinds.items() if i not in known]


def published_ids():
    """Return the ids of what the papers print."""
    return sorted(path.stem for path in (RESULTS.parent / "published").glob("*.json"))


def labels():
    """Return the labels of all notebooks' cells, "(tian2020_table_2)=" and the like."""
    found = set()
    for path in (ROOT / "book").rglob("*.ipynb"):
        for cell in json.loads(path.read_text())["cells"]:
            lines = [line.strip() for line in "".join(cell["source"]).splitlines()]
            found |= {line[1:-2] for line in lines if line.startswith("(") and line.endswith(")=")}
    return found
