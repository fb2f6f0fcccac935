"""The rows of the reproduction ledger for asteris2014."""

from fspca_reproduction import ledger
from fspca_reproduction.asteris2014 import claims
from fspca_reproduction.asteris2014.verdicts import certified_points, published
from fspca_reproduction.runner import stored
from fspca_reproduction.verdict import DIFFERS, OPEN_TO_READING, REPRODUCED

TITLES = {
    "asteris2014_figure_1": "asteris2014, Figure 1, a spannogram",
    "asteris2014_figure_2": "asteris2014, Figure 2, half-spaces",
    "asteris2014_figure_3": "asteris2014, Figure 3, parts of faces",
    "asteris2014_figure_4": "asteris2014, Figure 4, faces",
    "asteris2014_figure_5": "asteris2014, Figure 5, Leukemia",
    "asteris2014_figure_6": "asteris2014, Figure 6, spectra",
    "asteris2014_certified": "asteris2014, the certified fractions",
    "asteris2014_net": "asteris2014, Theorem 2",
    "asteris2014_oracle": "asteris2014, exactness",
    "asteris2014_speed": "asteris2014, seconds",
}
REASONS = {  # what we found out about a difference, by id and key
    ("asteris2014_figure_4", "NSPCA"): "alpha is not stated: with 10 lambda_1 its count falls "
    "from 262 to 3 at once, with 100 lambda_1 it hits 3 of 12",
    ("asteris2014_figure_4", "NSPCA below"): "nothing to compare; with 100 lambda_1 it is below",
    ("asteris2014_figure_5", "low k"): "ahead at k = 10, behind at 5 and 20; of EM's positive "
    "starts it is ahead by 42 % or more at all of them",
    ("asteris2014_figure_6", "certified 20"): "short by 0.002",
    ("asteris2014_figure_6", "certified 90"): "no bound with the factor 1 - epsilon = 0.9 gives it",
    ("asteris2014_figure_6", "dense"): "so it is where the spectra are not centred",
    ("asteris2014_oracle", "printed"): "lines 7 and 8 leave supports out, see the errata",
    ("asteris2014_certified", "all"): "fails on Leukemia for k <= 20; where the paper's curve "
    "begins is not said",
    ("asteris2014_certified", "some"): "no bound with the factor 1 - epsilon = 0.9 gives it; our "
    "own gives 0.99",
}
ASKED = "asked by us"  # begins the rule of a sentence that is not the paper's


def entries():
    """Return every row, in the paper's order."""
    rows = []
    for name in TITLES:
        if name == "asteris2014_certified":
            rows += [*fractions(), *marks()]
        rows += sentences(name)
    return rows


def sentences(name):
    """Return a row for each sentence about a figure or a matter."""
    records = getattr(claims, f"{name.removeprefix('asteris2014_')}_claims")()
    return [
        ledger.entry(name, f"claim/{each['claim']}",
                     "" if each["rule"].startswith(ASKED) else each["value"] or "so it says",
                     each["ours"], each["tolerance"],
                     why(each["rule"], each["verdict"], REASONS.get((name, each["key"]))),
                     each["verdict"]) for each in records
    ]  # fmt: skip


def why(rule, verdict, reason):
    return f"{rule}; {reason}" if verdict == DIFFERS and reason else rule


def fractions():
    """Return a row for each of the four certified fractions, judged on both sides."""
    name, rows = "asteris2014_certified", []
    for point in certified_points():
        place = f"{point['set']}/{point['k']}"
        rule = "centred, A_d's value / (1 - epsilon) + lambda_4"
        if point["verdict"] == OPEN_TO_READING:
            rule += "; comes out as " + ", ".join(f"{how} with {bound}" for how, bound in
                                                  point["near"])  # fmt: skip
        reason = why(rule, point["verdict"], REASONS.get((name, place)))
        rows.append(ledger.entry(name, place, point["value"], point["ours"], point["tolerance"],
                                 reason, point["verdict"]))  # fmt: skip
    return rows


def marks():
    """Return a row for each of the fractions that we set ourselves to certify."""
    name, rows = "asteris2014_certified", []
    wanted = published(name)["marks"]
    for row in stored(name)["rows"]:
        ours, mark = max(row["fractions"].values()), wanted[f"{row['set']} {row['k']}"]
        sentence = f"{row['set']}, {row['preparation']}, k = {row['k']}: we certify {mark}"
        verdict = REPRODUCED if ours >= mark else DIFFERS
        reason = why("the best of three bounds", verdict, REASONS.get((name, "marks")))
        rows.append(ledger.entry(name, f"claim/{sentence}", "", ours, mark, reason, verdict))
    return rows
