"""Two further assumptions on tan2019's Table 2: Zou's adjusted variance, and data as files give it.

Their rule, with its placebo, is "assumptions_rule" of `data/published/tan2019_table_2.json`; it was
committed before these rows were made.
"""

from functools import cache

import numpy as np

from fspca_reproduction.results import rows_of
from fspca_reproduction.runner import experiment
from fspca_reproduction.tan2019.data import STANDARD, cases_of_table_2, prepared
from fspca_reproduction.tan2019.figures import at_counts, summed
from fspca_reproduction.tan2019.methods import OURS, convex_start, measured, quietly
from fspca_reproduction.tan2019.verdicts import (
    COUNTS,
    DIVISORS,
    NEAR,
    printed_cells,
    scaled,
    value,
)

SUMS = ("plain", "adjusted", "zou")
AS_FILED = {"colon": ("all", STANDARD["colon"]), "duke": ("first 42 rows", "as given")}
REACH = float(np.log1p(NEAR))
LUCKY = 0.05  # a placebo's share of tables that score as high, above which nothing is said
WANG = {"colon": "all", "prostate": "largest variances"}  # the paper has SOAP on these two


def zou_variance(A, W):
    """Return the adjusted variance of Zou, Hastie and Tibshirani, components in their order.

    With XW = QR it is the sum of R's squared diagonal: the pivots of W'AW.

    >>> from fspca import Covariance
    >>> A = Covariance([[2.0, 1.0], [1.0, 2.0]])
    >>> round(zou_variance(A, np.eye(2)), 9)  # the second adds 2 - 1 / 2 to the first's 2
    3.5
    """
    S, total = W.T @ A.product(W), 0.0
    for j, first in enumerate(np.diagonal(S).copy()):
        pivot = S[j, j]
        if pivot > 1e-12 * first:  # else rounding: the component adds nothing
            total += pivot
            S = S - np.outer(S[:, j], S[j]) / pivot
    return float(total)


def in_three_sums(A, W):
    """Return the plain variance of loadings, that adjusted for overlap, and Zou's."""
    return measured(A, W) | {"zou": zou_variance(A, W)}


def sums_of(point):
    """Return the three sums of a point, where other roundings change them under "last digits"."""
    if "last digits" in point:
        return {"last digits": sums_of(point["last digits"])}
    return {name: point[name] for name in SUMS}


@experiment(
    cases=[
        *cases_of_table_2(),
        *(
            {"set": "duke", "part": "first 42 rows", "preparation": name}
            for name in ("as given", STANDARD["colon"])
        ),
    ]
)
def tan2019_assumptions(set, part, preparation):
    """Table 2 again with Zou's adjusted variance, and on Duke's first 42 rows."""
    X = prepared(set, part, preparation)
    A, row = summed(X), {"samples": len(X)}
    found = at_counts(A, 3, [50], measure=in_three_sums)["50"]
    if WANG.get(set) == part:
        W = quietly(convex_start, A, 3, 50, relaxing=8)[0].W
        found["each"]["soap"] = found["all"]["soap"] = in_three_sums(A, W)
    return row | {
        count: {method: sums_of(point) for method, point in each.items()}
        for count, each in found.items()
    }


def groups(cells):
    """Return the cells of the paper's own methods and those of its rivals."""
    return {
        "its own methods": {key: x for key, x in cells.items() if key[1] in OURS},
        "its rivals": {key: x for key, x in cells.items() if key[1] not in OURS},
    }


@cache
def zou_logarithms():
    """Return by reading and set the logarithms of our numbers, a row for each preparation."""
    rows = [row for row in rows_of("tan2019_assumptions") if row["part"] != "first 42 rows"]
    names = dict.fromkeys(row["set"] for row in rows)
    return {
        reading: {
            name: [
                {m: float(np.log(value(row, m, *reading))) for m in row[reading[0]]}
                for row in rows
                if row["set"] == name
            ]
            for name in names
        }
        for reading in ((count, "zou", by) for count in COUNTS for by in DIVISORS)
    }


def by_zou(cells):
    """Return how many cells the best reading by Zou's sum brings within NEAR.

    As `choose` does, with the preparations that serve each set best.
    """
    columns = {}
    for (name, method), printed in cells.items():
        columns.setdefault(name, {})[method] = float(np.log(printed))
    return max(
        sum(
            max(
                sum(abs(ours[m] - x) <= REACH for m, x in column.items() if m in ours)
                for ours in by_set[name]
            )
            for name, column in columns.items()
        )
        for by_set in zou_logarithms().values()
    )


@cache
def filed_rows():
    """Return the rows of Colon and Duke as public files give them, by set."""
    return {row["set"]: row for row in rows_of("tan2019_assumptions")
            if AS_FILED.get(row["set"]) == (row["part"], row["preparation"])}  # fmt: skip


def as_filed(cells):
    """Return how many cells of Colon and Duke the best count and sum bring within NEAR."""
    rows, scores = filed_rows(), []
    for count in COUNTS:
        for total in SUMS:
            pairs = ((rows[s][count].get(m), x) for (s, m), x in cells.items() if s in rows)
            ratios = np.log([point[total] / x for point, x in pairs if point])
            scores.append(int(np.sum(abs(ratios) <= REACH)))
    return max(scores)


SCORES = {"Zou's adjusted variance": (by_zou, 100), "as the files give it": (as_filed, 1000)}


def shuffled(cells, rng):
    """Return cells whose columns have their numbers in another order."""
    found = {}
    for name in dict.fromkeys(key[0] for key in cells):
        keys = [key for key in cells if key[0] == name]
        found |= zip(keys, rng.permutation([cells[key] for key in keys]).tolist(), strict=True)
    return found


def support():
    """Yield (assumption, group, score, cells, share of each placebo that scores as high)."""
    cells = printed_cells()
    for name, (score, draws) in SCORES.items():
        for group in groups(cells):
            own = score(groups(cells)[group])
            shares = []
            for seed, placebo in enumerate((scaled, shuffled)):
                rng = np.random.default_rng(seed)
                tables = (groups(placebo(cells, rng))[group] for _ in range(draws))
                shares.append(float(np.mean([score(table) >= own for table in tables])))
            scope = [key for key in groups(cells)[group] if score is by_zou or key[0] in AS_FILED]
            yield name, group, own, len(scope), shares
