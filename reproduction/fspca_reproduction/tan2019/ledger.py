"""The rows of the reproduction ledger for tan2019."""

from fspca_reproduction import ledger
from fspca_reproduction.runner import stored
from fspca_reproduction.tan2019 import claims
from fspca_reproduction.tan2019.verdicts import TOLERANCE, published, table_2
from fspca_reproduction.verdict import DIFFERS, NOT_HAD, OPEN_TO_READING, REPRODUCED

TITLES = {
    "tan2019_table_1": "tan2019, Table 1, the data",
    "tan2019_table_2": "tan2019, Table 2, variance on real data",
    "tan2019_figure_1": "tan2019, Figure 1, ADMM's parameters",
    "tan2019_figure_2": "tan2019, Figure 2, ADMM and SADMM",
    "tan2019_figure_3": "tan2019, Figure 3, recovery, 100 x 1000",
    "tan2019_figure_4": "tan2019, Figure 4, recovery, 500 x 5000, and two starts",
    "tan2019_figure_5": "tan2019, Figure 5, GCM",
    "tan2019_figure_6": "tan2019, Figure 6, Breast",
    "tan2019_figure_7": "tan2019, Figure 7, News20",
}
NAMES = {  # as the paper calls them
    "gpower, l0": "GPower-0",
    "gpower, l1": "GPower-1",
    "gpower, l0, block": "GPower-0-B",
    "gpower, l1, block": "GPower-1-B",
    "manifold_penalty": "Manopt",
    "grqi": "GRQI",
    "inverse_power": "IPM",
    "tpower": "TPower",
    "soap": "Wang",
    "sadmm": "StSPCA",
    "deflated_sadmm": "StSPCA-D",
    "two_stage": "StSPCA-2S",
}
STYLED = {  # as `fspca.plots.STYLES` calls them, where that is another name
    "gpower, l1": "gpower",
    "gpower, l0, block": "gpower, block l0",
    "gpower, l1, block": "gpower, block",
    "deflated_sadmm": "sadmm, deflated",
}
REASONS = {  # what we found out about a difference, by the beginning of its row
    "tan2019_table_1/duke": "the public copy has two samples more",
    "tan2019_table_1/gcm": "the copy at hand is another selection of genes and samples",
    "tan2019_table_1/": "all genes; the paper's filter is not stated",
    "tan2019_table_2/claim/": "under no reading, on this set",
    "tan2019_table_2/": "in no preparation that we listed",
    "tan2019_figure_1/": "all settings end near PCA, whose error is 0.012",
    "tan2019_figure_2/": "all settings end near PCA, whose error is 0.012",
    "tan2019_figure_3/claim/GPower and": "up to a factor of 4 they recover as well as the others",
    "tan2019_figure_3/claim/GPower is": "TPower is quicker",
    "tan2019_figure_4/claim/GPower and": "up to a factor of 4 they recover as well as the others",
    "tan2019_figure_4/claim/GPower is": "TPower is quicker",
    "tan2019_figure_5/claim/GPower is": "TPower is quicker",
    "tan2019_figure_5/claim/GPower explains": "StSPCA-D or IPM explain less",
    "tan2019_figure_5/claim/with one component the": "GPower-0 is ahead",
    "tan2019_figure_5/claim/with one component all": "local optima, from 250 to 350 features",
    "tan2019_figure_5/": "StSPCA is not ahead of GPower and TPower",
    "tan2019_figure_7/claim/GPower is": "TPower is quicker",
    "tan2019_figure_7/claim/GPower explains": "GRQI or StSPCA-D explain less",
    "tan2019_figure_7/claim/with one component all": "the rivals stop at a local optimum",
    "tan2019_figure_7/": "StSPCA is not ahead of GPower and TPower",
}
RULES = {
    "tan2019_table_2": "0.1 % is not told apart; every preparation, count and sum",
    "tan2019_figure_5": "at every point, or most; 0.1 % is not told apart; every count and sum",
}
RULES["tan2019_figure_7"] = RULES["tan2019_figure_5"]
REPEATED = "means over 10 draws in pairs, 99 % interval; 0.4 is far"


def row(name, place, theirs, ours, tolerance, why, verdict):
    if verdict == DIFFERS:
        known = [text for begins, text in REASONS.items() if f"{name}/{place}".startswith(begins)]
        why = "; ".join([why, *known[:1]])
    return ledger.entry(name, place, theirs, ours, tolerance, why, verdict)


def data():
    """A set that we have is compared in both numbers; features that were filtered are open."""
    found = {each["set"]: each for each in stored("tan2019_table_1")["rows"]}
    rows = []
    for line in published("tan2019_table_1")["rows"]:
        theirs, ours = f"{line['instances']} x {line['features']}", found.get(line["set"])
        if ours is None:
            rows.append(row("tan2019_table_1", line["set"], theirs, "", None,
                            "the set is in no public place that we know", NOT_HAD))  # fmt: skip
            continue
        size = f"{ours['instances']} x {ours['features']}"
        verdict = REPRODUCED if size == theirs else DIFFERS
        rows.append(row("tan2019_table_1", line["set"], theirs, size, 0, "counts", verdict))
    return rows


def variances():
    reading, chosen, records = table_2()
    count, total, by = reading
    why = f"k = 50 {'for each component' if count == 'each' else 'in all'}, {total} sum, over {by}"
    return [
        row("tan2019_table_2", f"{r['set']}/{r['method']}", f"{r['published']:.4g}", r["ours"],
            f"{100 * TOLERANCE:g} %", f"{why}; {chosen[r['set']]['preparation']}"
            + ("; comes out under another reading" if r["verdict"] == OPEN_TO_READING else ""),
            r["verdict"])
        for r in records
    ] + sentences("tan2019_table_2")  # fmt: skip


def sentences(name):
    records = getattr(claims, name.removeprefix("tan2019_"))()
    rule = RULES.get(name, REPEATED)
    return [
        row(name, f"claim/{each['claim']}", "so it says", each["ours"], None, rule,
            each["verdict"]) for each in records
    ]  # fmt: skip


def breast():
    name = "tan2019_figure_6"
    return [
        row(name, f"claim/{text}", "so it says", "", None, "the Breast data are not to be had",
            NOT_HAD) for text in published(name)["claims"].values()
    ]  # fmt: skip


def entries():
    """Return every row, in the paper's order."""
    rows = [*data(), *variances()]
    for name in TITLES:
        if name == "tan2019_figure_6":
            rows += breast()
        elif "figure" in name:
            rows += sentences(name)
    return rows
