"""What the stored rows of `new_rows` answer: who wins where, by how much, and what tells it."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np

from fspca_reproduction.book.new_rows import COMPONENTS, SCALES, asked
from fspca_reproduction.book.new_rows_tables import is_apart
from fspca_reproduction.book.practice import paired
from fspca_reproduction.results import stored

MARGIN = 0.01  # of the rival's share, which a win or a loss must exceed
DRAWS = 2000  # of tables, for an interval
FEATURES = (
    "rows over columns", "heaviest row, worst column", "heaviest row, median column", "PCA's share",
    "decay", "redundancy", "bound over leverage", "gain in sample",
)  # fmt: skip
FEW = 10  # questions with a verdict, below which a rule of it is not judged
DECILES = np.linspace(0.1, 0.9, 9)


@dataclass(frozen=True)
class Question:
    """A table, a scale and a number of components, with every contestant's shares.

    `held` has two shares a split, of the two halves; `sample`, `common` and `others` are means.
    """

    table: str
    scale: str
    m: int
    d: int
    n: int
    proven: float
    held: dict = field(repr=False)
    sample: dict = field(repr=False)
    common: dict = field(repr=False)
    others: dict = field(repr=False)
    features: dict = field(repr=False)

    @property
    def apart(self):
        return is_apart(self.table)


@cache
def questions():
    """Return every question of the stored rows, of all splits together."""
    of_table = {}
    for row in stored("new_rows")["rows"]:
        of_table.setdefault(row["set"], []).append(row)
    return tuple(
        question(table, rows, scale, i)
        for table, rows in of_table.items()
        for scale in SCALES
        for i in range(len(asked(rows[0]["d"])))
    )


def question(table, rows, scale, i):
    """Return question i of a table's rows in a scale."""
    fitted = "learnt" if scale == "each" else scale  # there choices are those of "learnt"
    held, others = {}, {}
    sample, common = {}, {}
    for method, found in rows[0][scale].items():
        if i >= len(found[0]) // 2 or any(method not in row[scale] for row in rows):
            continue
        held[method] = (
            np.concatenate([row[scale][method][0][2 * i : 2 * i + 2] for row in rows]) / 1e4
        )
        within = [row[fitted][method] for row in rows if method in row[fitted]]
        sample[method] = np.mean([each[1][i] for each in within]) / 1e4
        common[method] = np.mean([each[2][i] for each in within]) / 100
        if scale == "learnt":
            others[method] = np.mean([each[3][i] for each in within]) / 100
    seen = [row["seen"][fitted] for row in rows]
    features = told(rows, i) | {
        "bound over leverage": np.mean([each["bound"][i] for each in seen]),
        "gain in sample": sample["solve"] / sample["leverage"] - 1,
    }
    proven = float(np.mean([each["proven"][i] for each in seen]))
    return Question(table, scale, COMPONENTS[i], rows[0]["d"], rows[0]["n"], proven,
                    held, sample, common, others, features)  # fmt: skip


def told(rows, i):
    """Return what the fitted halves of a table tell of m = COMPONENTS[i]."""
    known = [row["told"] for row in rows]
    return {
        "rows over columns": np.mean([each["rows over columns"] for each in known]),
        "heaviest row, worst column": np.mean([each["heaviest row"][0] for each in known]),
        "heaviest row, median column": np.mean([each["heaviest row"][1] for each in known]),
        "PCA's share": np.mean([each["PCA"][i] for each in known]),
        "decay": np.mean([each["decay"][i] for each in known]),
        "redundancy": np.mean([each["redundancy"] for each in known]),
    }


def against(rival, asked_of, ours="solve"):
    """Return the questions that a rival answered, verdicts 1, 0, -1, and relative gains of ours."""
    both = [each for each in asked_of if rival in each.held and ours in each.held]
    mine, theirs = (np.array([each.held[name] for each in both]) for name in (ours, rival))
    return both, *judged_gains(mine, theirs)


def judged_gains(mine, theirs):
    """Return for each line of shares whether mine win (1), tie (0) or lose (-1), and by how much.

    >>> steady = np.full((1, 6), 0.5)
    >>> [int(judged_gains(steady + gain, steady)[0][0]) for gain in (0.1, 0.004, -0.1)]
    [1, 0, -1]
    >>> int(judged_gains(steady + np.array([0.5, -0.4] * 3), steady)[0][0])
    0
    """
    mean, low, high = paired(mine, theirs)
    share = theirs.mean(axis=1)
    relative = mean / np.where(share == 0, 1.0, share)
    wins, loses = (low > 0) & (relative > MARGIN), (high < 0) & (relative < -MARGIN)
    return wins.astype(int) - loses.astype(int), relative


def placebo(rival, asked_of, seed=0):
    """Return the shares of wins and losses where chance gives every difference its sign."""
    both = [each for each in asked_of if rival in each.held]
    mine, theirs = (np.array([each.held[name] for each in both]) for name in ("solve", rival))
    signs = np.random.default_rng(seed).choice([-1, 1], mine.shape)
    verdicts, _ = judged_gains(theirs + signs * (mine - theirs), theirs)
    return float(np.mean(verdicts > 0)), float(np.mean(verdicts < 0))


def by_table(both, values):
    """Return the mean of values of each table's questions."""
    found = {}
    for each, value in zip(both, values, strict=True):
        found.setdefault(each.table, []).append(value)
    return np.array([np.mean(each) for each in found.values()])


def over_tables(both, values, seed=0):
    """Return a mean over tables and its 95 % interval from tables drawn again."""
    means = by_table(both, values)
    rng = np.random.default_rng(seed)
    drawn = means[rng.integers(len(means), size=(DRAWS, len(means)))].mean(axis=1)
    return float(means.mean()), *map(float, np.quantile(drawn, (0.025, 0.975)))


def standing(rival, scale, ours="solve", which=lambda each: True):
    """Return wins, ties and losses of ours, and the relative gain with its interval."""
    some = [each for each in questions() if each.scale == scale and which(each)]
    both, verdicts, relative = against(rival, some, ours)
    counts = [int(np.sum(verdicts == sign)) for sign in (1, 0, -1)]
    return counts, over_tables(both, relative)


def within_bound(gap=0.01, scale="each"):
    """Return in how many questions leverage is within a gap of the closed-form bound, as a share.

    Beside it: how many of these solve wins, how many of the others, and its gain in these.
    """
    both, verdicts, gains = against(
        "leverage", [each for each in questions() if each.scale == scale]
    )
    within = np.array([each.features["bound over leverage"] < gap for each in both])
    won = [int(np.sum(verdicts[part] > 0)) for part in (within, ~within)]
    return float(within.mean()), *won, float(gains[within].mean())


def of_learnt(measure, method):
    """Return a contestant's `common` or `others` in every question of the scale "learnt"."""
    return np.array(
        [getattr(each, measure)[method] for each in questions() if each.scale == "learnt"]
    )


def spread(scale):
    """Return how far apart solve's shares of new halves are, relatively: the median question."""
    some = [each.held["solve"] for each in questions() if each.scale == scale]
    return float(np.median([held.std() / (held.mean() or 1.0) for held in some]))


def sentences():
    """Return what came out in a few sentences, which the README, the cover and a page say."""
    tables = len({each.table for each in questions()})
    (wins, ties, loses), (gain, _, _) = standing("leverage", "each")
    (more, _, less), _ = standing("leverage", "learnt")
    (raw, _, none), _ = standing("leverage", "raw")
    return (
        f"In the mean over {tables} real tables, `solve` explains {100 * gain:.1f} % more of new "
        "rows than a sort by leverage, if each half of the rows has unit variances of its own.",
        f"Of {wins + ties + loses:,} questions it wins {wins} and loses {loses}; "
        "the rest are ties.",
        f"Where the fitted rows scale the new ones, as a scaler in a pipeline does, it wins {more} "
        f"and loses {less}; in the tables' own units it wins {raw} and loses {none}.",
    )


@dataclass(frozen=True)
class Rule:
    """ "`feature` above (or below) a threshold" says that a verdict is met."""

    feature: str
    above: bool
    threshold: float

    def says(self, some):
        values = np.array([each.features[self.feature] for each in some])
        return values > self.threshold if self.above else values < self.threshold

    def __str__(self):
        return f"{self.feature} {'above' if self.above else 'below'} {self.threshold:.3g}"


def hits(said, true):
    """Return the hit rates where something is and where it is not, and their mean."""
    where, elsewhere = np.mean(said[true]), np.mean(~said[~true])
    return float(where), float(elsewhere), float((where + elsewhere) / 2)


@cache
def learnt_rule(scale, sign, feature=None):
    """Return the rule that the tables not kept apart teach of wins (1) or losses (-1).

    None where fewer than ten questions of theirs teach it.
    """
    some = [each for each in questions() if each.scale == scale and not each.apart]
    both, verdicts, _ = against("leverage", some)
    true, rules = verdicts == sign, []
    if true.sum() < FEW:
        return None
    for name in FEATURES if feature is None else (feature,):
        values = np.array([each.features[name] for each in both])
        thresholds = np.unique(np.quantile(values, DECILES))
        rules += [Rule(name, above, float(x)) for x in thresholds for above in (True, False)]
    return max(rules, key=lambda rule: hits(rule.says(both), true)[2])


def on_those_apart(rule, scale, sign):
    """Return the hit rates of a rule on the tables kept apart, each with a 95 % interval.

    None where there is no rule, or the verdict is met in fewer than ten questions there.
    """
    some = [each for each in questions() if each.scale == scale and each.apart]
    both, verdicts, _ = against("leverage", some)
    true = verdicts == sign
    if rule is None or true.sum() < FEW:
        return None
    said = rule.says(both)
    tables = np.array([each.table for each in both])
    places = [np.flatnonzero(tables == name) for name in np.unique(tables)]
    rng, drawn = np.random.default_rng(0), []
    for _ in range(DRAWS):
        at = np.concatenate([places[i] for i in rng.integers(len(places), size=len(places))])
        if true[at].any() and not true[at].all():
            drawn.append(hits(said[at], true[at]))
    low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
    return [
        (rate, float(a), float(b)) for rate, a, b in zip(hits(said, true), low, high, strict=True)
    ]


def without_a_row():
    """Return whether the choice of a half changes without its heaviest row, and without another.

    One line a half, under "above" where that row carries more than half of a chosen column's
    variance, else under "at most".
    """
    kinds = ("heaviest", "without it", "without another")
    rows = stored("one_row")["rows"]
    tried = np.array([np.ravel([each[kind] for each in rows]) for kind in kinds]).T
    heavy = tried[:, 0] > 0.5
    return {"above": tried[heavy, 1:] < 1, "at most": tried[~heavy, 1:] < 1}
