"""What asteris2014 says, held against our rows: a function for each id, rules in data/published."""

from itertools import product

import numpy as np

from fspca_reproduction.asteris2014.figures import connected
from fspca_reproduction.asteris2014.readings import all_readings, bounds, fractions
from fspca_reproduction.results import stored
from fspca_reproduction.verdict import (
    CLOSE,
    DIFFERS,
    OPEN_TO_READING,
    close_verdict,
    first_reading,
    half_unit,
    holds,
)

FIGURES = {"cbcl_faces": "asteris2014_figure_4", "leukemia_armstrong": "asteris2014_figure_5",
           "lrs": "asteris2014_figure_6"}  # fmt: skip
LOW = 20  # the largest k that is called low
FIRST = ("centred", "sum")  # the reading that was put first
EM = ("em", "em, positive")  # from which starts: directions of either sign, or positive ones


def rows_under(name, preparation="centred"):
    return [r for r in stored(name)["rows"] if r["preparation"] == preparation]


def read(said, key, judge, ways=(None,)):
    """Return the sentence as judge(rows, way) -> (truth, number) says under each reading.

    A reading is a preparation of the data, the one that the paper states first, and one of `ways`;
    the bound is that of the paper's text.
    """
    names = dict.fromkeys(r["preparation"] for r in stored(said.name)["rows"])
    found = [judge(rows_under(said.name, name), way) for name in names for way in ways]
    truths, numbers = zip(*found, strict=True)
    told = [", ".join(filter(None, pair)) for pair in product(names, ways)]
    values = dict(zip(told, map(holds, truths), strict=True))
    return said.sentence(key, first_reading(truths), numbers[0], values=values)


def like_em(rows, em):
    """Say whether Algorithm 3 and EM differ by at most 0.02 of lambda_1, and by how much."""
    gap = max(abs(r["value"] - r[em]) / r["first"] for r in rows)
    return gap <= 0.02, gap


def asteris2014_figure_1(said):
    rows = stored(said.name)["rows"]
    yield said.sentence("points", rows[0]["points"] == 10, rows[0]["points"])
    yield said.sentence("candidates", (most := max(r["candidates"] for r in rows)) <= 40, most)
    yield said.sentence("only there", (n := sum(r["elsewhere"] for r in rows)) == 0, n)
    yield said.sentence("not at all", (idle := rows[1]["idle"]) >= 1, idle)
    yield said.sentence("optimum", all(r["found"] for r in rows), sum(r["found"] for r in rows))


def asteris2014_figure_2(said):
    rows, drawn = stored(said.name)["rows"], drawn_instance()
    slack = max(r["slack"] for r in rows if not r["leading feasible"])
    ahead = drawn["slack"] < 1e-9 and drawn["ahead of the grid"]
    yield said.sentence("outside", not drawn["leading feasible"], None)
    yield said.sentence("endpoint", ahead, drawn["slack"])
    yield said.sentence("active", slack < 1e-9, slack)


def drawn_instance():
    """Return the first planar instance whose leading eigenvector is not feasible."""
    rows = stored("asteris2014_figure_2")["rows"]
    return next(r for r in rows if r["dimension"] == 2 and not r["leading feasible"])


def asteris2014_figure_3(said):
    mine, rival = stored(said.name)["rows"]
    listed = np.concatenate(mine["features"])
    sparse = len(set(listed)) == len(listed) and max(map(len, mine["features"])) <= 40
    sound = sparse and min(map(min, mine["weights"])) > 0
    together = sum(mine["variances"]) / sum(rival["variances"])
    yield said.sentence("orthogonal", sound, 0 if sound else None)
    yield said.sentence("parts", (n := connected(mine["features"])) >= 2, n)
    yield said.sentence("like EM", abs(together - 1) <= 0.02, together)


def asteris2014_figure_4(said):
    rows = rows_under(said.name)
    hits, leads = [], []
    for searched in stored("asteris2014_nspca")["rows"]:  # a reading of alpha each
        found = dict(zip(searched["counts"], searched["variances"], strict=True))
        met = [r for r in rows if r["k"] in found]
        hits.append(len(met))
        leads.append(max((found[r["k"]] - r["value"] / r["first"] for r in met), default=np.inf))
    below = first_reading([lead <= 0.02 for lead in leads])
    yield read(said, "EM", like_em, EM)
    some = first_reading([0 < n < len(rows) for n in hits])
    yield said.sentence("NSPCA", some, f"{hits[0]} of {len(rows)}")
    yield said.sentence("NSPCA below", below, leads[0] if hits[0] else "no hit")


def asteris2014_figure_5(said):
    def outperforms(rows, em):
        low = [r["value"] / r[em] - 1 for r in rows if r["k"] <= LOW]
        return max(low) > 0.005 and min(low) >= -0.005, max(low)

    def similar(rows, em):
        return like_em([r for r in rows if r["k"] > LOW], em)

    def improved(rows, _):
        at = next(r for r in rows if r["k"] == 50)
        share = bounds(at, 50)["sum"] / at["first"]
        return share <= 0.8, share

    share = 50 / rows_under(said.name)[0]["features"]
    yield said.sentence("features", round(share, 3) == 0.004, share)
    yield read(said, "low k", outperforms, EM)
    yield read(said, "larger k", similar, EM)
    yield read(said, "bound", improved)


def asteris2014_figure_6(said):
    decay = {s: rows_under(f)[0]["next"] / rows_under(f)[0]["first"] for s, f in FIGURES.items()}

    def filled(rows, _):
        nonzeros = next(r["nonzeros"] for r in rows if r["k"] == 90)
        return nonzeros >= 80, nonzeros

    yield read(said, "EM", like_em, EM)
    yield said.sentence("decay", decay["lrs"] == min(decay.values()), decay["lrs"])
    yield read(said, "dense", filled)


def two_sided(value, ours, digits, tolerance, readings):
    """Return the verdict on a certified fraction and the readings that come within the tolerance.

    >>> two_sided(0.86, 0.858, 2, 0.01, {})
    ('reproduced', [])
    >>> two_sided(0.58, 0.84, 2, 0.01, {("as it is", "sum"): 0.89, ("other", "sum"): 0.587})
    ('under-specified', [('other', 'sum')])
    >>> two_sided(0.93, 0.858, 2, 0.01, {("as it is", "sum"): 0.89})
    ('differs', [])
    """
    near = [name for name, each in readings.items() if abs(each - value) <= tolerance + 1e-9]
    verdict = close_verdict(ours, value, half_unit(value, digits), tolerance)
    return (OPEN_TO_READING if verdict == DIFFERS and near else verdict), near


def certified_points(said):
    """Return each of the four fractions, with the readings that come near."""
    for point in said["points"]:
        place = {"set": point["set"], "k": point["k"]}
        readings = all_readings(**place)
        ours = readings[FIRST]
        verdict, near = two_sided(
            point["value"], ours, point["digits"], said["tolerance"], readings
        )
        told = {name: f"{name[0]}; {said['bounds'][name[1]]}" for name in readings}
        ways = ", or with ".join(told[name] for name in near)
        values = {told[name]: round(x, 3) for name, x in readings.items()}
        yield said.number(place, point["value"], ours, verdict, f"It comes out with {ways}.",
                          {"near": near, "values": values})  # fmt: skip


def asteris2014_certified(said):
    """The four fractions, judged on both sides; those that we set ourselves; the sentences."""
    yield from certified_points(said)
    for row in stored(said.name)["rows"]:
        ours, mark = max(row["fractions"].values()), said["marks"][f"{row['set']} {row['k']}"]
        words = {key: row[key] for key in ("set", "preparation", "k")}
        yield said.sentence("we certify", ours >= mark, ours, mark, **words, mark=mark)
    rows = [r for figure in FIGURES.values() for r in rows_under(figure)]
    found = [fractions(r, r["k"])["sum"] for r in rows]
    behind = max((r["em"] - r["value"]) / r["first"] for r in rows)
    yield said.sentence("all", min(found) >= 0.4, min(found))
    yield said.sentence("matches", behind <= 0.02, behind)
    yield said.sentence("some", max(found) >= 0.9, max(found))


def asteris2014_net(said):
    rows = stored(said.name)["rows"]
    share = {d: np.mean([r["reached"]["paper"] >= 0.9 for r in rows if r["d"] == d])
             for d in {r["d"] for r in rows}}  # fmt: skip
    often = all(each >= 1 - 1 / d for d, each in share.items())
    yield said.sentence("success", often, float(min(share.values())))


def asteris2014_oracle(said):
    rows = stored(said.name)["rows"]
    plain, shifted = ([r["equal"] for r in rows if bool(r["shift"]) is s] for s in (False, True))
    fits = sum(r["candidates"] > r["most"] for r in rows)
    letter = [r["as printed"] for r in rows if not r["shift"]]
    yield said.sentence("exact", all(plain), f"{sum(plain)} of {len(plain)}")
    yield said.sentence("shift", all(shifted), f"{sum(shifted)} of {len(shifted)}")
    yield said.sentence("first", fits == 0, fits)
    yield said.sentence("printed", all(letter), f"{sum(letter)} of {len(letter)}")


def asteris2014_speed(said):
    seconds = stored(said.name)["rows"][0]["seconds"]
    ratio = seconds["epsilon_net"] / seconds["em"]
    similar = CLOSE if max(seconds["epsilon_net"], seconds["em"]) <= 30 else False
    yield said.sentence("similar", 1 / 3 <= ratio <= 3 or similar, ratio)
    yield said.sentence("mark", ratio <= 1, ratio)


SUMMARY = (
    "its algorithms do what is proven of them. Of its four certified fractions one comes out; the "
    "others rest on how the data were prepared, which it does not say."
)
