"""The sentences of asteris2014, each held against our rows by its rule."""

from functools import cache

import numpy as np

from fspca_reproduction.asteris2014.readings import bounds, fractions
from fspca_reproduction.asteris2014.verdicts import claim_of
from fspca_reproduction.runner import stored
from fspca_reproduction.verdict import DIFFERS, REPRODUCED, WITHIN

FIGURES = {"cbcl_faces": "asteris2014_figure_4", "leukemia_armstrong": "asteris2014_figure_5",
           "lrs": "asteris2014_figure_6"}  # fmt: skip
LOW = 20  # the largest k that is called low


def verdict(name, key, holds, number):
    """Return a record of a claim: its sentence and rule, the number behind, whether it holds."""
    said = claim_of(name, key)
    return {
        "key": key,
        "claim": said["claim"],
        "rule": said["rule"],
        "value": said.get("value"),
        "tolerance": said.get("tolerance"),
        "ours": number,
        "verdict": REPRODUCED if holds else DIFFERS,
    }


@cache
def rows_of(name, preparation="centred"):
    return [r for r in stored(name)["rows"] if r["preparation"] == preparation]


def apart(rows):
    """Return the largest difference between Algorithm 3 and EM, as a share of lambda_1."""
    return max((abs(r["value"] - r["em"]) / r["first"] for r in rows), default=0.0)


def figure_1_claims():
    name = "asteris2014_figure_1"
    rows = stored(name)["rows"]
    return [
        verdict(name, "points", rows[0]["points"] == 10, rows[0]["points"]),
        verdict(name, "candidates", (most := max(r["candidates"] for r in rows)) <= 40, most),
        verdict(name, "only there", (n := sum(r["elsewhere"] for r in rows)) == 0, n),
        verdict(name, "not at all", (idle := rows[1]["idle"]) >= 1, idle),
        verdict(name, "optimum", all(r["found"] for r in rows), sum(r["found"] for r in rows)),
    ]


def figure_2_claims():
    name = "asteris2014_figure_2"
    rows = stored(name)["rows"]
    drawn = drawn_instance()
    slack = max(r["slack"] for r in rows if not r["leading feasible"])
    ahead = drawn["slack"] < 1e-9 and drawn["ahead of the grid"]
    return [
        verdict(name, "outside", not drawn["leading feasible"], None),
        verdict(name, "endpoint", ahead, drawn["slack"]),
        verdict(name, "active", slack < 1e-9, slack),
    ]


def drawn_instance():
    """Return the first planar instance whose leading eigenvector is not feasible."""
    rows = stored("asteris2014_figure_2")["rows"]
    return next(r for r in rows if r["dimension"] == 2 and not r["leading feasible"])


def figure_3_claims():
    name = "asteris2014_figure_3"
    mine, rival = stored(name)["rows"]
    listed = np.concatenate(mine["features"])
    sound = len(set(listed)) == len(listed) and max(map(len, mine["features"])) <= 40
    sound = sound and min(map(min, mine["weights"])) > 0
    together = sum(mine["variances"]) / sum(rival["variances"])
    return [
        verdict(name, "orthogonal", sound, 0 if sound else None),
        verdict(name, "parts", (ratio := connected(mine["features"])) >= 2, ratio),
        verdict(name, "like EM", abs(together - 1) <= 0.02, together),
    ]


def connected(features, width=19):
    """Return how many of a pixel's neighbours are in its component, over a random choice's."""
    rng = np.random.default_rng(0)
    random = [
        neighbours(rng.choice(width * width, len(rows), replace=False), width)
        for rows in features
        for _ in range(200)
    ]
    return float(np.mean([neighbours(rows, width) for rows in features]) / np.mean(random))


def neighbours(rows, width):
    """Return the mean number of the four neighbours of a pixel that are chosen too."""
    image = np.zeros((width + 2, width + 2))  # with an empty margin
    image[1:-1, 1:-1].flat[np.asarray(rows)] = 1
    around = image[:-2, 1:-1] + image[2:, 1:-1] + image[1:-1, :-2] + image[1:-1, 2:]
    return float(around.flat[np.asarray(rows)].mean())


def one_sided(name, key, preparation="centred"):
    """Return the record of "at least": whether our fraction is not below the printed number."""
    said = claim_of(name, key)
    row = next(r for r in rows_of(name, preparation) if r["k"] == said["k"])
    ours = fractions(row, said["k"])["sum"]
    return verdict(name, key, ours >= said["value"], ours)


def figure_4_claims():
    name = "asteris2014_figure_4"
    rows = rows_of(name)
    searched = stored("asteris2014_nspca")["rows"][0]
    found = dict(zip(searched["counts"], searched["variances"], strict=True))
    hits = [r for r in rows if r["k"] in found]
    lead = max((found[r["k"]] - r["value"] / r["first"] for r in hits), default=0.0)
    return [
        one_sided(name, "certified"),
        verdict(name, "EM", apart(rows) <= 0.02, apart(rows)),
        verdict(name, "NSPCA", 0 < len(hits) < len(rows), f"{len(hits)} of {len(rows)}"),
        verdict(name, "NSPCA below", bool(hits) and lead <= 0.02, lead if hits else "no hit"),
    ]


def figure_5_claims():
    name = "asteris2014_figure_5"
    rows = rows_of(name)
    low = [r["value"] / r["em"] - 1 for r in rows if r["k"] <= LOW]
    at = next(r for r in rows if r["k"] == 50)
    share = bounds(at, 50)["sum"] / at["first"]
    large = apart([r for r in rows if r["k"] > LOW])
    return [
        one_sided(name, "certified"),
        verdict(name, "features", round(50 / at["features"], 3) == 0.004, 50 / at["features"]),
        verdict(name, "low k", max(low) > 0.005 and min(low) >= -0.005, max(low)),
        verdict(name, "larger k", large <= 0.02, large),
        verdict(name, "bound", share <= 0.8, share),
    ]


def figure_6_claims():
    name = "asteris2014_figure_6"
    decay = {s: rows_of(f)[0]["next"] / rows_of(f)[0]["first"] for s, f in FIGURES.items()}
    dense = next(r["nonzeros"] for r in rows_of(name) if r["k"] == 90)
    return [
        one_sided(name, "certified 20"),
        one_sided(name, "certified 90"),
        verdict(name, "EM", (gap := apart(rows_of(name))) <= 0.02, gap),
        verdict(name, "decay", decay["lrs"] == min(decay.values()), decay["lrs"]),
        verdict(name, "dense", dense >= 80, dense),
    ]


def certified_claims():
    name = "asteris2014_certified"
    rows = [r for figure in FIGURES.values() for r in rows_of(figure)]
    found = [fractions(r, r["k"])["sum"] for r in rows]
    behind = max((r["em"] - r["value"]) / r["first"] for r in rows)
    return [
        verdict(name, "all", min(found) >= 0.4, min(found)),
        verdict(name, "matches", behind <= 0.02, behind),
        verdict(name, "some", max(found) >= 0.9, max(found)),
    ]


def net_claims():
    name = "asteris2014_net"
    rows = stored(name)["rows"]
    reached = {
        r["d"]: [o["reached"]["paper"] >= 0.9 for o in rows if o["d"] == r["d"]] for r in rows
    }
    holds = all(np.mean(each) >= 1 - 1 / d for d, each in reached.items())
    return [verdict(name, "success", holds, float(min(map(np.mean, reached.values()))))]


def oracle_claims():
    name = "asteris2014_oracle"
    rows = stored(name)["rows"]
    plain, shifted = ([r["equal"] for r in rows if bool(r["shift"]) is s] for s in (False, True))
    fits = sum(r["candidates"] > r["most"] for r in rows)
    letter = [r["as printed"] for r in rows if not r["shift"]]
    return [
        verdict(name, "exact", all(plain), f"{sum(plain)} of {len(plain)}"),
        verdict(name, "shift", all(shifted), f"{sum(shifted)} of {len(shifted)}"),
        verdict(name, "first", fits == 0, fits),
        verdict(name, "printed", all(letter), f"{sum(letter)} of {len(letter)}"),
    ]


def speed_claims():
    name = "asteris2014_speed"
    seconds = stored(name)["rows"][0]["seconds"]
    ratio = seconds["epsilon_net"] / seconds["em"]
    similar = verdict(name, "similar", 1 / 3 <= ratio <= 3, ratio)
    if similar["verdict"] == DIFFERS and max(seconds["epsilon_net"], seconds["em"]) <= 30:
        similar["verdict"] = WITHIN
    return [similar, verdict(name, "mark", ratio <= 1, ratio)]
