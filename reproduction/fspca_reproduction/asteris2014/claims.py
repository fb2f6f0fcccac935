"""What asteris2014 says, held against our rows: a function for each id, rules in data/published."""

from functools import cache

import numpy as np

from fspca_reproduction.asteris2014.figures import connected
from fspca_reproduction.asteris2014.readings import bounds, fractions
from fspca_reproduction.asteris2014.verdicts import certified_points
from fspca_reproduction.results import stored
from fspca_reproduction.verdict import WITHIN

FIGURES = {"cbcl_faces": "asteris2014_figure_4", "leukemia_armstrong": "asteris2014_figure_5",
           "lrs": "asteris2014_figure_6"}  # fmt: skip
LOW = 20  # the largest k that is called low


@cache
def rows_under(name, preparation="centred"):
    return [r for r in stored(name)["rows"] if r["preparation"] == preparation]


def apart(rows):
    """Return the largest difference between Algorithm 3 and EM, as a share of lambda_1."""
    return max((abs(r["value"] - r["em"]) / r["first"] for r in rows), default=0.0)


def asteris2014_figure_1(said):
    rows = stored(said.name)["rows"]
    yield said.sentence("points", rows[0]["points"] == 10, rows[0]["points"])
    yield said.sentence("candidates", (most := max(r["candidates"] for r in rows)) <= 40, most)
    yield said.sentence("only there", (n := sum(r["elsewhere"] for r in rows)) == 0, n)
    yield said.sentence("not at all", (idle := rows[1]["idle"]) >= 1, idle)
    yield said.sentence("optimum", all(r["found"] for r in rows), sum(r["found"] for r in rows))


def asteris2014_figure_2(said):
    rows = stored(said.name)["rows"]
    drawn = drawn_instance()
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
    sound = len(set(listed)) == len(listed) and max(map(len, mine["features"])) <= 40
    sound = sound and min(map(min, mine["weights"])) > 0
    together = sum(mine["variances"]) / sum(rival["variances"])
    yield said.sentence("orthogonal", sound, 0 if sound else None)
    yield said.sentence("parts", (ratio := connected(mine["features"])) >= 2, ratio)
    yield said.sentence("like EM", abs(together - 1) <= 0.02, together)


def one_sided(said, key):
    """Return the sentence that says "at least": it holds if our fraction is not below."""
    told = said["claims"][key]
    row = next(r for r in rows_under(said.name) if r["k"] == told["k"])
    ours = fractions(row, told["k"])["sum"]
    return said.sentence(key, ours >= told["value"], ours)


def asteris2014_figure_4(said):
    rows = rows_under(said.name)
    searched = stored("asteris2014_nspca")["rows"][0]
    found = dict(zip(searched["counts"], searched["variances"], strict=True))
    hits = [r for r in rows if r["k"] in found]
    lead = max((found[r["k"]] - r["value"] / r["first"] for r in hits), default=0.0)
    yield one_sided(said, "certified")
    yield said.sentence("EM", apart(rows) <= 0.02, apart(rows))
    yield said.sentence("NSPCA", 0 < len(hits) < len(rows), f"{len(hits)} of {len(rows)}")
    yield said.sentence("NSPCA below", bool(hits) and lead <= 0.02, lead if hits else "no hit")


def asteris2014_figure_5(said):
    rows = rows_under(said.name)
    low = [r["value"] / r["em"] - 1 for r in rows if r["k"] <= LOW]
    at = next(r for r in rows if r["k"] == 50)
    share = bounds(at, 50)["sum"] / at["first"]
    large = apart([r for r in rows if r["k"] > LOW])
    yield one_sided(said, "certified")
    yield said.sentence("features", round(50 / at["features"], 3) == 0.004, 50 / at["features"])
    yield said.sentence("low k", max(low) > 0.005 and min(low) >= -0.005, max(low))
    yield said.sentence("larger k", large <= 0.02, large)
    yield said.sentence("bound", share <= 0.8, share)


def asteris2014_figure_6(said):
    decay = {s: rows_under(f)[0]["next"] / rows_under(f)[0]["first"] for s, f in FIGURES.items()}
    dense = next(r["nonzeros"] for r in rows_under(said.name) if r["k"] == 90)
    yield one_sided(said, "certified 20")
    yield one_sided(said, "certified 90")
    yield said.sentence("EM", (gap := apart(rows_under(said.name))) <= 0.02, gap)
    yield said.sentence("decay", decay["lrs"] == min(decay.values()), decay["lrs"])
    yield said.sentence("dense", dense >= 80, dense)


def asteris2014_certified(said):
    """The four fractions, judged on both sides; those that we set ourselves; the sentences."""
    yield from said.numbers(certified_points(), "set", "k")
    for row in stored(said.name)["rows"]:
        ours, mark = max(row["fractions"].values()), said["marks"][f"{row['set']} {row['k']}"]
        words = {key: row[key] for key in ("set", "preparation", "k")}
        yield said.sentence("mark", ours >= mark, ours, mark, **words, mark=mark)
    rows = [r for figure in FIGURES.values() for r in rows_under(figure)]
    found = [fractions(r, r["k"])["sum"] for r in rows]
    behind = max((r["em"] - r["value"]) / r["first"] for r in rows)
    yield said.sentence("all", min(found) >= 0.4, min(found))
    yield said.sentence("matches", behind <= 0.02, behind)
    yield said.sentence("some", max(found) >= 0.9, max(found))


def asteris2014_net(said):
    rows = stored(said.name)["rows"]
    reached = {
        r["d"]: [o["reached"]["paper"] >= 0.9 for o in rows if o["d"] == r["d"]] for r in rows
    }
    all_reached = all(np.mean(each) >= 1 - 1 / d for d, each in reached.items())
    yield said.sentence("success", all_reached, float(min(map(np.mean, reached.values()))))


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
    similar = WITHIN if max(seconds["epsilon_net"], seconds["em"]) <= 30 else False
    yield said.sentence("similar", 1 / 3 <= ratio <= 3 or similar, ratio)
    yield said.sentence("mark", ratio <= 1, ratio)
