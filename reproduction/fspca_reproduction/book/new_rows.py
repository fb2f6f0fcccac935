"""When does the best choice of features explain more of rows that nobody saw?

The rule, written before the first run on other tables than those of `TRIAL`.

Tables are drawn, cleaned, cut in halves and kept apart as `new_rows_tables` says.  A *question* is
a table, a scale and a number of components m of 1, 2, 3, 5; it asks for k = d / 4 features, rounded
up and at least m + 1, and is asked where k <= d / 2.

Every split cuts the rows into two halves at random.  Each half is fitted once, and the other holds
the new rows.  Three splits were meant, one after the other over all tables; two were made in the
time there was, so that intervals are wider.

Scales, of columns that are centred by the fitted half in all but the third:
- raw: as they are;
- learnt: unit variances of the fitted half;
- each: each half with unit variances, and means, of its own;
- clipped: values beyond three deviations from the median are moved there, a deviation being the
  interquartile range over 1.349, of the fitted half; then as learnt.

Contestants choose k features of the fitted half; all are refitted by the same eigenproblem:
- variance: the largest variances (raw alone: elsewhere all are one);
- leverage: Go's, the largest variances of the part of rank m;
- loadings: PCA's m loadings of the largest length, not weighted;
- greedy: from the pair of the largest leading eigenvalue, the feature that raises the m leading
  ones most; while there are no more features than m, the leading one decides.  Ties go to the
  smaller index, and are counted;
- ipu;
- solve: with its default budget up to 26 columns, where that mostly proves the optimum, and three
  nodes above, where proofs would take minutes in all.  Whether its answer is proven is stored:
  there it is the best choice;
- SparsePCA: scikit-learn's, on at most 200 fitted rows, with the largest of five penalties, each a
  third of the one before, that leaves k rows, or else the last (learnt alone: it is slow);
- abess, of one component;
- solve, clipped: what solve chooses of the clipped columns, judged in the scales learnt and each.

Measures, of a half: `held out`, the share of the variance of new rows that the subspace explains;
`sample`, the share of the rows fitted; `common`, the features that both halves' choices share,
(|I and J| - k k / d) / (k - k k / d), 0 by chance and 1 where they are the same; `others`, the
share of the variance of the features left out that a regression on the chosen ones explains of new
rows (learnt alone); seconds of CPU.  Shares are stored in ten-thousandths, `common` and `others` in
hundredths and as means of the two halves.  In the scale "each" choices are those of "learnt", and
held-out shares alone are stored.

Verdicts, of a question and a rival: the differences in held-out share, solve's less the rival's,
two a split, have a mean with a 95 % interval that is corrected for the overlap of the splits
(`practice.paired`).  Solve *wins* where the interval lies above zero and the mean is more than 1 %
of the rival's mean share; it *loses* where the same holds below; else it is a *tie*.  A placebo
gives each of these differences a sign by chance: more than 2.5 % of wins would be a fault of the
rule.  A mean over questions is one over tables, of each table's mean, with an interval from tables
drawn again.

What of the data may tell beforehand is taken from the fitted halves alone (`FEATURES`): rows over
columns; the largest share of a column's variance that one row carries, of the worst and of the
median column; PCA's share; the ratio of the eigenvalues m + 1 and m; the mean of each column's
largest correlation with another; the closed-form bound over leverage's value; what solve gains in
sample over leverage.  A rule of thumb for a scale says that solve wins over leverage where one of
them lies on one side of a threshold, a decile over the tables not kept apart.  The rule with the
largest mean of the two hit rates (where it wins, where it does not) on these is tested once on the
tables kept apart.  The same is done for where it loses.
"""

import time
import warnings
from contextlib import contextmanager

import numpy as np

from fspca import Covariance, go, ipu, solve
from fspca.covariance.linalg import largest
from fspca.shared_support.refit import refit
from fspca_reproduction.book.first_call import of_abess
from fspca_reproduction.book.new_rows_tables import halves, names
from fspca_reproduction.runner import experiment

COMPONENTS = (1, 2, 3, 5)
SPLITS = 2
SCALES = ("raw", "learnt", "each", "clipped")
MEASURES = ("held out", "sample", "common", "others")
PROVED = 26  # columns up to which `solve` has its own budget
NODES = 3  # of its search above
REACH = 3  # deviations, beyond which clipped values are moved
NORMAL = 1.349  # interquartile range of a normal distribution of deviation 1
PENALTIES, LESS, SEEN = 5, 3, 200  # of SparsePCA: how many, each so much less; rows that it sees


@contextmanager
def quiet():
    """Let nobody be told that a search has ended: the rule ends it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def asked(d):
    """Return the pairs (m, k) asked of d columns."""
    pairs = [(m, max(m + 1, -(-d // 4))) for m in COMPONENTS]
    return [(m, k) for m, k in pairs if 2 * k <= d]


def standardised(Z, like):
    """Return rows centred and divided by the deviations of others, where these vary."""
    spread = like.std(axis=0)
    return (Z - like.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def clipped(fitted, *parts):
    """Return parts with their values moved to within three deviations of the fitted median."""
    low, middle, high = np.quantile(fitted, (0.25, 0.5, 0.75), axis=0)
    reach = REACH * (high - low) / NORMAL
    reach[reach == 0] = np.inf  # more than half of a column is one value: nothing is known of it
    return [np.clip(part, middle - reach, middle + reach) for part in parts]


def fitted_scales(a):
    """Return the fitted rows in each scale that leads to a choice of its own."""
    (moved,) = clipped(a, a)
    return {"raw": a - a.mean(axis=0), "learnt": standardised(a, a),
            "clipped": standardised(moved, moved)}  # fmt: skip


def new_scales(a, b):
    """Return the new rows in each scale."""
    moved, new = clipped(a, a, b)
    return {"raw": b - a.mean(axis=0), "learnt": standardised(b, a), "each": standardised(b, b),
            "clipped": standardised(new, moved)}  # fmt: skip


def second_moments(Z):
    return Z.T @ Z / len(Z)


@contextmanager
def timed(seconds, method):
    """Add the CPU of what is done within to a method's seconds."""
    began = time.process_time()
    yield
    seconds[method] = seconds.get(method, 0.0) + time.process_time() - began


def greedy_from_pair(C, m, k):
    """Return k features added one by one from the best pair, and how many steps were ties."""
    first, second = np.triu_indices(len(C), 1)
    one, other = np.diag(C)[first], np.diag(C)[second]
    values = (one + other) / 2 + np.hypot((one - other) / 2, C[first, second])
    at = largest(values, 1)[0]
    support, ties = [int(first[at]), int(second[at])], int(is_tie(values))
    while len(support) < k:
        outside = np.setdiff1d(np.arange(len(C)), support)
        tried = [[*support, j] for j in outside]
        blocks = C[np.array(tried)[:, :, None], np.array(tried)[:, None, :]]
        counted = m if len(support) >= m else 1
        values = np.linalg.eigvalsh(blocks)[:, -counted:].sum(axis=1)
        ties += is_tie(values)
        support.append(int(outside[largest(values, 1)[0]]))
    return support, ties


def is_tie(values):
    """Say whether the two largest values are equal up to rounding."""
    return bool(len(values) > 1 and np.diff(np.sort(values)[-2:])[0] <= 1e-9 * abs(values.max()))


def of_sparse_pca(Z, m, k):
    """Return the k rows of largest loadings of scikit-learn's sparse PCA."""
    from sklearn.decomposition import SparsePCA

    Z, lengths = Z[:SEEN], None
    strongest = np.linalg.norm(Z, axis=0).max() / LESS
    for power in range(PENALTIES):
        options = {"alpha": strongest / LESS**power, "random_state": 0, "max_iter": 50}
        lengths = np.linalg.norm(SparsePCA(m, **options).fit(Z).components_, axis=0)
        if np.count_nonzero(lengths) >= k:
            break
    return largest(lengths, k)


def searched(A, m, k):
    """Return the answer of solve, within the nodes that the rule allows."""
    return solve(A, m, k, **({"max_iter": NODES} if A.size > PROVED else {}))


def choices(scale, Z, C, m, k, seconds):
    """Return each contestant's features of fitted rows Z, and what was seen on the way."""
    A, found = Covariance(C), {}
    if scale == "raw":
        found["variance"] = largest(np.diag(C), k)
    with timed(seconds, "leverage"):
        found["leverage"] = go(A, m, k).support
    found["loadings"] = largest(np.linalg.norm(A.leading(m)[1], axis=1), k)
    with timed(seconds, "greedy"):
        found["greedy"], ties = greedy_from_pair(C, m, k)
    with timed(seconds, "ipu"):
        found["ipu"] = ipu(A, m, k).support
    with timed(seconds, "solve"):
        answer = searched(A, m, k)
    found["solve"] = answer.support
    if scale == "learnt":
        with timed(seconds, "SparsePCA"):
            found["SparsePCA"] = of_sparse_pca(Z, m, k)
    peer = of_abess(A) if m == 1 else None
    subset = peer and peer(m, k)
    if subset is not None and 0 < len(subset) <= k:
        found["abess"] = subset
    quick = solve(A, m, k, max_seconds=0).upper_bound
    seen = {"proven": int(answer.gap <= 1e-8), "ties": ties,
            "bound": quick / refit(A, found["leverage"], m)[1] - 1}  # fmt: skip
    return {method: np.sort(support) for method, support in found.items()}, seen


def explained(W, C):
    """Return the share of the variance in C that the span of W explains."""
    return np.einsum("ij,ij->", W, C @ W) / (np.trace(C) or 1.0)


def predicted(support, C, D):
    """Return the share of new variance D of the other features that the chosen ones predict."""
    others = np.setdiff1d(np.arange(len(C)), support)
    inner = C[np.ix_(support, support)]
    inner = inner + 1e-6 * np.trace(inner) / len(inner) * np.eye(len(inner))  # copies are no error
    B = np.linalg.solve(inner, C[np.ix_(support, others)])
    cross = np.einsum("ij,ij->", B, D[np.ix_(support, others)])
    left = np.einsum("ij,ij->", B, D[np.ix_(support, support)] @ B) - 2 * cross
    return -left / (np.trace(D[np.ix_(others, others)]) or 1.0)


def fitted_half(a, b):
    """Return what every contestant's choices on rows a explain of rows b, by scale and method."""
    seconds, found, seen = {}, {scale: {} for scale in SCALES}, {}
    fit = fitted_scales(a)
    C = {scale: second_moments(Z) for scale, Z in fit.items()}
    D = {scale: second_moments(Z) for scale, Z in new_scales(a, b).items()}
    pairs = asked(a.shape[1])
    for scale, Z in fit.items():
        for m, k in pairs:
            chosen, told = choices(scale, Z, C[scale], m, k, seconds)
            for name, value in told.items():
                seen.setdefault(scale, {}).setdefault(name, []).append(value)
            for method, support in chosen.items():
                found[scale].setdefault(method, []).append(support)
    found["learnt"]["solve, clipped"] = found["clipped"]["solve"]
    found["each"] = found["learnt"]
    measured = {scale: {} for scale in SCALES}
    for scale, methods in found.items():
        at = "learnt" if scale == "each" else scale
        for method, supports in methods.items():
            measured[scale][method] = [
                judged(support, C[at], D[scale], m, scale == "learnt")
                for (m, _), support in zip(pairs, supports, strict=False)  # abess: of m = 1
            ]
    told = told_of(fit["learnt"], C["learnt"])
    return {"seconds": seconds, "seen": seen, "measured": measured, "told": told}


def judged(support, C, D, m, predicts):
    """Return a choice with its held-out share, its share in sample, and what it predicts."""
    W, value = refit(Covariance(C), support, m)
    others = predicted(support, C, D) if predicts else None
    return support, explained(W, D), value / (np.trace(C) or 1.0), others


def told_of(Z, C):
    """Return what the standardised fitted rows tell of their table."""
    weight = np.max(Z**2, axis=0) / np.maximum(np.sum(Z**2, axis=0), 1e-300)
    values = np.linalg.eigvalsh(C)[::-1]
    apart = np.abs(C - np.diag(np.diag(C)))
    return {
        "rows over columns": len(Z) / Z.shape[1],
        "heaviest row": [weight.max(), np.median(weight)],
        "PCA": [values[:m].sum() / values.sum() for m, _ in asked(len(values))],
        "decay": [max(values[m], 0.0) / values[m - 1] for m, _ in asked(len(values))],
        "redundancy": apart.max(axis=0).mean(),
    }


def common(I, J, d):
    """Return the share of features in common beyond what chance would have."""
    k, chance = len(I), len(I) * len(J) / d
    return (len(np.intersect1d(I, J)) - chance) / (k - chance)


def compact(scale, one, other, d):
    """Return a contestant's measures of both halves as `MEASURES` lists them, in whole numbers."""
    pairs = list(zip(one, other, strict=True))
    held = [round(1e4 * each[1]) for pair in pairs for each in pair]
    sample = [round(1e4 * (a[2] + b[2]) / 2) for a, b in pairs]
    shared = [round(100 * common(a[0], b[0], d)) for a, b in pairs]
    if scale == "each":
        return [held]
    if scale != "learnt":
        return [held, sample, shared]
    return [held, sample, shared, [round(100 * (a[3] + b[3]) / 2) for a, b in pairs]]


def mean_of(one, other):
    """Return the mean of what two halves tell, in three digits."""
    if isinstance(one, dict):
        return {key: mean_of(one[key], other[key]) for key in one}
    if isinstance(one, list):
        return [mean_of(*pair) for pair in zip(one, other, strict=True)]
    return float(f"{(one + other) / 2:.3g}")


def both(scale, one, other, d):
    """Return every contestant's measures, of those who answered in both halves."""
    answered = [
        method for method in one if method in other and len(one[method]) == len(other[method])
    ]
    return {method: compact(scale, one[method], other[method], d) for method in answered}


@experiment(cases=[{"set": name, "split": split} for split in range(SPLITS) for name in names()])
def new_rows(set, split):
    """Compare on both halves of a table, in each scale, what choices explain of the other half."""
    a, b = halves(set, split)
    with quiet():
        first, second = fitted_half(a, b), fitted_half(b, a)
    spent, d = first["seconds"], a.shape[1]
    found = {
        scale: both(scale, methods, second["measured"][scale], d)
        for scale, methods in first["measured"].items()
    }
    told = {name: mean_of(first[name], second[name]) for name in ("told", "seen")}
    seconds = {name: round(each + second["seconds"][name], 3) for name, each in spent.items()}
    return {"n": len(a) + len(b), "d": d} | told | found | {"seconds": seconds}


@experiment(cases=[{"set": name} for name in names()])
def one_row(set):
    """Ask whether a single row decides the choice: leave out the heaviest, or another.

    Of both halves of the first split, in the scale "learnt", with two components.  The heaviest row
    is the one with the largest share of a chosen column's variance; the other row is the first that
    is not the heaviest.  Stored are this share, and the features that the choices with and without
    the row have in common, beyond chance.  Written down before the first run: a warning is due
    where the share is above one half, as of units.
    """
    with quiet():
        found = [heaviest(half) for half in halves(set, 0)]
    return {"heaviest": [each[0] for each in found], "without it": [each[1] for each in found],
            "without another": [each[2] for each in found]}  # fmt: skip


def heaviest(a):
    """Return the largest share of a row, and what is chosen in common without it and another."""
    m, k = asked(a.shape[1])[1]

    def chosen(rows):
        return searched(Covariance(second_moments(standardised(a[rows], a[rows]))), m, k).support

    every = np.arange(len(a))
    whole = chosen(every)
    weight = (a[:, whole] - a[:, whole].mean(axis=0)) ** 2
    weight /= np.maximum(weight.sum(axis=0), 1e-300)
    row = int(np.argmax(weight.max(axis=1)))
    without = [chosen(every[every != each]) for each in (row, int(row == 0))]
    shared = [round(common(whole, other, a.shape[1]), 3) for other in without]
    return float(f"{weight.max():.3g}"), *shared
