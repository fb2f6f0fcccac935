"""What the text of tan2019 says of its experiments, each sentence held against our rows.

The sentences are in data/published, the rules in `tan2019.verdicts`; a function for each id.
"""

from itertools import product

import numpy as np

from fspca_reproduction.results import stored
from fspca_reproduction.tan2019.methods import BLOCK, JOINT, OURS, POWER, RIVALS, VARIED, key
from fspca_reproduction.tan2019.verdicts import COUNTS, FAR, SAME, SUMS, rows_of, table_2
from fspca_reproduction.verdict import (
    DIFFERS,
    NOT_HAD,
    REPRODUCED,
    WITHIN,
    above,
    all_of,
    holds,
    over_readings,
    told,
)


def tan2019_table_1(said):
    """A set that we have is compared in both numbers; features that were filtered are open."""
    found = {each["set"]: each for each in stored("tan2019_table_1")["rows"]}
    common = said["numbers"]
    for line in said["rows"]:
        name, theirs = line["set"], f"{line['instances']} x {line['features']}"
        if name not in found:
            yield said.number(
                {"set": name},
                theirs,
                "",
                NOT_HAD,
                tolerance=None,
                rule="the set is in no public place that we know",
            )
            continue
        ours = f"{found[name]['instances']} x {found[name]['features']}"
        reason = common["reasons"].get(name, common["reason"])
        yield said.number({"set": name}, theirs, ours, holds(ours == theirs), reason=reason)


def tan2019_table_2(said):
    """The cells, then the sentences set by set, over all counts, sums and preparations."""
    (count, total, by), chosen, records = table_2()
    how = f"k = 50 {'for each component' if count == 'each' else 'in all'}, {total} sum, over {by}"
    for r in records:
        rule = f"{how}; {chosen[r['set']]['preparation']}"
        yield said.number(
            {"set": r["set"], "method": r["method"]},
            f"{r['published']:.4g}",
            r["ours"],
            r["verdict"],
            "comes out under another reading",
            rule=rule,
        )
    rows = rows_of("tan2019_table_2")
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = [(row, *r) for row in rows if row["set"] == name for r in product(COUNTS, SUMS)]
        found = {"blocks": [], "ours first": [], "two stages": []}
        for row, count, total in mine:
            p = {method: each[total] for method, each in row[count].items()}
            joint = [method for method in (*JOINT, "soap") if method in p]
            single = [method for method in (*RIVALS, "deflated_sadmm") if method in p
                      and method != "soap"]  # fmt: skip
            rivals = [method for method in RIVALS if method in p]
            found["blocks"].append(above(min(p[b] for b in joint), max(p[s] for s in single)))
            found["ours first"].append(above(min(p[o] for o in JOINT), max(p[r] for r in rivals)))
            rest = max(p[o] for o in (*rivals, "sadmm", "deflated_sadmm"))
            found["two stages"].append(above(p["two_stage"], rest))
        for k, verdicts in found.items():
            holding = f"{verdicts.count(REPRODUCED)} of {len(verdicts)} readings"
            yield said.sentence(k, over_readings(verdicts), holding, set=name)
    ratios = [row["most"] / max(row["least"], 1) for row in rows_of("tan2019_imbalance")]
    imbalance = all_of([above(ratio, 2.0) for ratio in ratios])
    yield said.sentence("imbalance", imbalance, min(ratios))


def ends(rows, method, matrix, *setting):
    """Return the recovery errors at the end, one a draw."""
    return np.array([row["ends"][method][matrix][key(*setting)] for row in rows])


def tan2019_figure_1(said):
    rows = rows_of("tan2019_figure_1")
    verdicts = {"best": [], "penalty": [], "rho": []}
    for matrix in ("sparse", "orthonormal"):
        best = ends(rows, "admm", matrix, 10, 1000)
        settings = rows[0]["ends"]["admm"][matrix]
        others = np.array([[row["ends"]["admm"][matrix][s] for row in rows] for s in settings])
        verdicts["best"].append(all_of([told(other + SAME - best) for other in others]))
        for name, setting in (("penalty", (1, 1000)), ("rho", (10, 10))):
            verdicts[name].append(told(ends(rows, "admm", matrix, *setting) - best - FAR))
    numbers = {"best": (10, 1000), "penalty": (1, 1000), "rho": (10, 10)}
    for name, found in verdicts.items():
        ours = ends(rows, "admm", "sparse", *numbers[name]).mean()
        yield said.sentence(name, over_readings(found), ours)


def steady_gamma(rows):
    """Return the gamma that explains most with ten features for each component, truth unseen."""
    gammas = {float(name.split(", ")[2]) for name in rows[0]["explained"]["sadmm"]}

    def explained(gamma):
        return np.mean([r["explained"]["sadmm"][key(*s, gamma)] for r in rows for s in VARIED])

    return max(sorted(gammas), key=explained)


def tan2019_figure_2(said):
    rows = rows_of("tan2019_figure_2")
    gamma = steady_gamma(rows)
    verdicts, numbers = {"similar": [], "apart": [], "better": []}, {}
    for matrix in ("sparse", "orthonormal"):
        steady = np.array([ends(rows, "sadmm", matrix, *s, gamma) for s in VARIED])
        plain = np.array([ends(rows, "admm", matrix, *s) for s in VARIED])
        verdicts["similar"].append(told(FAR - np.ptp(steady, axis=0)))
        verdicts["apart"].append(told(np.ptp(plain, axis=0) - FAR))
        verdicts["better"].append(told(plain.mean(axis=0) - steady.mean(axis=0)))
        if matrix == "sparse":
            numbers = {"similar": np.ptp(steady, axis=0).mean(), "better": steady.mean(),
                       "apart": np.ptp(plain, axis=0).mean()}  # fmt: skip
    for name, found in verdicts.items():
        yield said.sentence(name, over_readings(found), numbers[name])


def errors(rows, method, answer, noises):
    """Return what a method did, a row for each draw, a column for each noise factor; else NaN."""
    found = {(row["noise"], row["seed"]): row.get(method) for row in rows}
    at = {place: (f | f["seconds"])[answer] if f else np.nan for place, f in found.items()}
    seeds = sorted({row["seed"] for row in rows})
    return np.array([[at[noise, seed] for noise in noises] for seed in seeds])


def tan2019_figure_3(said):
    """What is said of recovery against noise: here, and in Figure 4 (a) again."""
    rows = rows_of(said.name)
    noises = sorted({row["noise"] for row in rows})
    there = [method for method in (*RIVALS, *BLOCK, *OURS) if method in rows[0]]
    verdicts = {}

    def add(claim, verdict):
        verdicts.setdefault(claim, []).append(verdict)

    for answer in ("cut", "own"):
        low, six, mean, two = (
            {m: errors(rows, m, answer, at).mean(axis=1) for m in there}
            for at in ([x for x in noises if x <= 4], [6], noises, [2])
        )
        power = [m for m in there if m in (*POWER, *BLOCK)]
        rest = [m for m in there if m not in power]
        rivals = [m for m in there if m not in OURS]
        add("power", all_of([told(low[p] - low[q]) for p in power for q in rest]))
        for m in ("grqi", "inverse_power", "tpower", "soap"):
            if m in there:
                add(f"rise, {m}", all_of([told(FAR - two[m]), told(six[m] - 1)]))
        for m in OURS:
            add(f"six, {m}", told(FAR - six[m]))
        add("ahead", all_of([told(six[p] - six[q]) for p in rivals for q in OURS]))
        others = [m for m in there if m != "two_stage"]
        add("first", all_of([told(mean[m] - mean["two_stage"]) for m in others]))
    for clock in ("run", "search"):
        seconds = {m: errors(rows, m, clock, noises).mean(axis=1) for m in there}
        slow = [m for m in there if m not in (*POWER, *BLOCK)]
        add("fast", all_of([told(seconds[m] - seconds[p]) for m in slow for p in POWER]))
    numbers = {"first": np.nanmean(errors(rows, "two_stage", "cut", noises))}
    for claim in verdicts:
        kind, _, method = claim.partition(", ")
        if kind in ("six", "rise"):
            numbers[claim] = np.nanmean(errors(rows, method, "cut", [6]))
    for claim, found in verdicts.items():
        yield said.sentence(claim, over_readings(found), numbers.get(claim))


def tan2019_figure_4(said):
    """Part (b): the value of problem (4) divided by ||X||^2 / 2, by outer step."""
    yield from tan2019_figure_3(said)
    rows = rows_of("tan2019_figure_4b")
    svd, random = (np.array([row[start]["value"] for row in rows]) for start in ("svd", "random"))
    scale = np.abs(svd[:, -1])

    def sooner(curves):  # the first step within 1 % of where the curve ends
        return np.argmax(np.abs(curves - curves[:, -1:]) <= 0.01 * scale[:, None], axis=1)

    starts = {
        "comparable": told(0.01 - np.abs(random[:, -1] - svd[:, -1]) / scale),
        "sooner": told(sooner(random) - sooner(svd)),
        "better": told((random[:, -1] - svd[:, -1]) / scale),
    }
    gap = float(np.mean((random[:, -1] - svd[:, -1]) / scale))
    numbers = {"sooner": float(sooner(svd).mean())}
    for name, verdict in starts.items():
        yield said.sentence(name, verdict, numbers.get(name, gap))


def at_points(verdicts, most=False):
    """Return the verdict on a sentence from its points, and the number of points against it."""
    against = verdicts.count(DIFFERS)
    if most:
        return (REPRODUCED if verdicts.count(REPRODUCED) > len(verdicts) / 2 else DIFFERS), against
    return all_of(verdicts), against


def tan2019_figure_5(said):
    """What is said of variance and time against the number of features: here, and on News20."""
    rows, found = rows_of(said.name), {}
    every = [(row["m"], point) for row in rows for point in row["points"].values()]
    there = every[0][1]["each"]  # on News20 not all rivals
    power = [method for method in POWER if method in there]
    rivals = [method for method in there if method not in OURS]

    def add(claim, points, most=False):
        found.setdefault(claim, []).append(at_points(points, most))

    for count, total in product(COUNTS, SUMS):
        for m in (1, 3, 5):
            points = [
                {method: each[total] for method, each in point[count].items()}
                for r, point in every if r == m
            ]  # fmt: skip
            if m == 1:
                spread = [max(p.values()) / min(p.values()) for p in points]
                add("r=1, comparable", [REPRODUCED if x <= 1.1 else DIFFERS for x in spread])
                lead = [(max(p[o] for o in OURS), max(p[r] for r in rivals)) for p in points]
                equal = [above(*pair) for pair in lead]
                add("r=1, highest", [REPRODUCED if v == WITHIN else v for v in equal], most=True)
            else:
                for claim, ours, theirs in (("ahead", JOINT, rivals),
                                            ("joint", JOINT, ["deflated_sadmm"]),
                                            ("two stages", ["two_stage"], ["sadmm"])):  # fmt: skip
                    worst = [(min(p[o] for o in ours), max(p[r] for r in theirs)) for p in points]
                    add(f"r={m}, {claim}", [above(*pair) for pair in worst])
            others = [method for method in rivals if method not in power]
            least = [(min(p[o] for o in (*OURS, *others)), max(p[g] for g in power))
                     for p in points]  # fmt: skip
            add("gpower, worst", [above(*pair) for pair in least])
    for clock in ("run", "search"):
        seconds = {
            m: [{method: each["seconds"][clock] for method, each in point["each"].items()}
                for r, point in every if r == m] for m in (1, 3, 5)
        }  # fmt: skip
        quick = [min(p[o] for o in OURS) <= np.median(list(p.values())) for p in seconds[1]]
        add("r=1, fast", [REPRODUCED if q else DIFFERS for q in quick], most=True)
        points = [p for each in seconds.values() for p in each]
        add("gpower, fast", [above(min(p[x] for x in p if x not in power),
                                   max(p[g] for g in power)) for p in points])  # fmt: skip
        mean = {m: {method: np.mean([p[method] for p in points]) for method in points[0]}
                for m, points in seconds.items()}  # fmt: skip
        longer = [m for m in ("tpower", "grqi", "inverse_power") if m in there]
        add("slower", [above(mean[b][m], mean[a][m]) for a, b in ((1, 3), (3, 5)) for m in longer])
    for claim, each in found.items():
        yield said.sentence(claim, over_readings([verdict for verdict, _ in each]), each[0][1])


def tan2019_figure_6(said):
    for name in said["claims"]:
        yield said.sentence(name, NOT_HAD, "")


def tan2019_figure_7(said):
    return tan2019_figure_5(said)
