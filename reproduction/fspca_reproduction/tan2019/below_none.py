"""Whether any method explains more than `solve_separate` on a stored row of Table 2, Figures 5, 7.

The rule, written before the runs.  Every method's stored answer, at its best setting where it was
searched, stands against one call of `solve_separate` with as many nonzeros for each component, by
the variance on a basis of the loadings.  Left out is what answers another problem: the plain sum,
which counts what components share as often as they share it, so that copies of one component
would win; methods of shared features where these are counted in all, since then each component
has as many as the others have together; and SADMM's orthonormal matrices, which are not sparse.
Rows have six digits: a rival within TIE of the answer is run again, and compared in full.
"""

from fspca.separate_supports.solve_separate import solve_separate
from fspca_reproduction.results import rows_of
from fspca_reproduction.runner import experiment
from fspca_reproduction.tan2019.data import PANELS, STANDARD, cases_of_table_2, prepared
from fspca_reproduction.tan2019.figures import asked, summed
from fspca_reproduction.tan2019.methods import AT_SETTING, SHARED, WITH_K, cut, explained, quietly

TIE = 1e-5


def problems():
    """Return the sets, preparations, components and features of all rows, in both readings."""
    table = [case | {"m": 3, "features": 50} for case in cases_of_table_2()]
    panels = [
        {"set": name, "part": "all", "preparation": STANDARD[name], "m": m, "features": k}
        for m in (1, 3, 5) for name, (_, counts) in PANELS.items() for k in sorted(counts)[::-1]
    ]  # fmt: skip
    return [
        case | {"count": count}
        for case in table + panels
        for count in ("each", "all")[: case["m"]]  # one component has them all
    ]


def stored_answers(set, part, preparation, m, features, count):
    """Return what is stored of every method whose answer is one of this problem's."""
    if set in PANELS:
        row = next(row for row in rows_of(PANELS[set][0]) if row["m"] == m)["points"][str(features)]
    else:
        case = (set, part, preparation)
        row = next(r for r in rows_of("tan2019_table_2") if tuple(r.values())[:3] == case)
    return {x: y for x, y in row[count].items() if count == "each" or x not in SHARED}


@experiment(cases=problems())
def tan2019_below_none(set, part, preparation, m, features, count):
    """What `solve_separate` explains, the best of the others, and how far it is below."""
    A, k = summed(prepared(set, part, preparation)), asked(features, m, "tpower")[count]
    found = stored_answers(set, part, preparation, m, features, count)
    value, ties = quietly(solve_separate, A, m, k)[0].objective, []
    rivals = {method: each["adjusted"] for method, each in found.items()}
    for method in rivals:
        if rivals[method] > value * (1 - TIE):
            ties.append(method)
            if "setting" in found[method]:
                W = cut(quietly(AT_SETTING[method], A, m, k, *found[method]["setting"])[0].W, k)
            else:
                W = quietly(WITH_K[method], A, m, k)[0].W
            rivals[method] = explained(A, W)
    best = max(rivals, key=rivals.get)
    return {"value": value, "best": best, "lead": value / rivals[best] - 1, "run again": ties}
