"""Find the instances that the live figures start from, and write them for the page.

    python book/tools/live_instances.py

Each figure shows something that few instances show; a search from seed 0 up takes the first that
does.  What each must show is the function's sentence, and is computed by `fspca`.
"""

import json
from itertools import combinations, count

import numpy as np
from fspca import Covariance, exhaustive, go, ipu, upper_bound
from fspca.nonnegative import spannogram
from fspca.separate_supports import gpower
from fspca.separate_supports.alternation import steps
from fspca.synthetic import make_scheme, with_spectrum
from scipy.optimize import linprog

import toc

PAGE = toc.ROOT / "book" / "static" / "live" / "instances.js"
HEAD = "// Made by book/tools/live_instances.py, which says what each instance must show.\n"
PLACES = 3  # decimals that a reader may copy
THRESHOLDS = np.arange(96) / 100  # as the slider has them


def refit(A, support, m):
    """Return the m best loadings on a support."""
    W = np.zeros((len(A), m))
    W[support] = np.linalg.eigh(A[np.ix_(support, support)])[1][:, ::-1][:, :m]
    return W


def rounded(A):
    return np.round(A, PLACES)


def covariance(seed, d, strength=2.0, n=20):
    """Return the covariance of noise with two hidden directions, from few samples."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, 2)) @ (rng.standard_normal((2, d)) * np.sqrt(strength / 2))
    return rounded(np.cov((hidden + rng.standard_normal((n, d))).T))


def climb():
    """Go stays where it is, below the optimum; other starts climb to it in three steps or more,
    or stop at least a twentieth below it."""
    m, k = 2, 5
    for seed in count():
        A = rounded(make_scheme("D", 12, seed))
        best = exhaustive(A, m, k).objective
        rng = np.random.default_rng(seed)
        starts = [go(A, m, k).support]
        starts += [np.sort(rng.choice(12, k, replace=False)) for _ in range(20)]
        shares, lengths = zip(*(reached(A, m, k, start, best) for start in starts), strict=True)
        ends = np.array(shares)
        up = [i for i in range(1, 21) if ends[i] > 1 - 1e-9 and lengths[i] >= 3]
        stuck = [i for i in range(1, 21) if ends[i] < 0.95 and lengths[i] >= 1]
        if lengths[0] == 0 and ends[0] < 0.99 and up and stuck:
            named = {"go": 0, "up": up[0], "stuck": stuck[0]}
            return {"A": A, "m": m, "k": k, "starts": starts, "best": best, **named}


def reached(A, m, k, start, best):
    """Return the share of the optimum that IPU ends with, and how often it rose."""
    values = np.linalg.eigvalsh(A[np.ix_(start, start)])[-m:].sum()
    history = ipu(A, m, k, init=refit(A, start, m)).history
    path = np.array([values, *history])
    return path.max() / best, int(np.sum(np.diff(np.maximum.accumulate(path)) > 1e-9 * best))


def split():
    """Below flat noise a level proves the optimum, though both ends are a tenth off; where the
    noise has a shape, every level leaves a gap of three per cent or more."""
    m, k = 2, 4
    for seed in count():
        flat = rounded(with_spectrum([9, 6] + [2] * 8, seed))
        shaped = rounded(make_scheme("F", 10, seed))
        optima = [exhaustive(A, m, k).objective for A in (flat, shaped)]
        ends = [upper_bound(flat, m, k, method=name).bound for name in ("diagonal", "eigenvalue")]
        if min(ends) > 1.1 * optima[0] and least(shaped, m, k) > 1.03 * optima[1]:
            return {"m": m, "k": k, "flat": flat, "shaped": shaped, "best": optima}


def least(A, m, k):
    """Return the least bound of a hundred levels."""
    w, V = np.linalg.eigh(A)
    levels = np.linspace(0, w[-1], 101)
    diagonals = [np.sort((V**2) @ np.maximum(w - s, 0))[-k:].sum() for s in levels]
    return min(
        c + np.sort(np.minimum(w, s))[-m:].sum() for c, s in zip(diagonals, levels, strict=True)
    )


def turning():
    """The best set is not that of the longest rows; in another, it has fewer than k features."""
    k, found = 3, {}
    for seed in count():
        V = np.round(np.random.default_rng(seed).standard_normal((8, 2)) * [1.3, 1], 2)
        best = spannogram(V @ V.T, 1, k, rank=2)
        longest = np.sort(np.argsort(-np.linalg.norm(V, axis=1))[:k])
        if len(best.support) < k:
            found.setdefault("few", V)
        elif not set(best.support) & set(longest[:1]) and len(set(best.support) & set(longest)) < 2:
            found.setdefault("short", V)
        if len(found) == 2:
            return {"k": k, **found}


def threshold():
    """No threshold keeps four features or five: at one step more three are dropped at once, or
    more, and those left explain a twentieth less than the best of as many."""
    for seed in count():
        A = covariance(seed, 12, 3)
        kept = [gpower(A, 1, penalty=t, tol=1e-12, max_iter=20_000).support for t in THRESHOLDS]
        jump = next(i for i, support in enumerate(kept) if len(support) < 6)
        left = kept[jump]
        value = np.linalg.eigvalsh(A[np.ix_(left, left)])[-1]
        if len(left) == 3 and value < 0.95 * exhaustive(A, 1, 3).objective:
            return {"A": A, "wanted": 5, "before": (jump - 1) / 100, "after": jump / 100}


def copies():
    """A penalty leaves four of twelve features and the copies meet; with a smaller weight they
    swing and are apart after sixty steps."""
    for seed in count():
        A = covariance(seed, 12, 3)
        first, size = np.linalg.eigvalsh(A)[-1], np.linalg.norm(A)
        V = Covariance(A).leading(1)[1]
        for penalty in (0.1, 0.15, 0.2, 0.25, 0.3):
            ends = {w: after(A, V, penalty * first, w * size, 60) for w in (1.0, 0.1)}
            (apart, nonzeros), (swing, _) = ends[1.0], ends[0.1]
            if apart < 1e-3 and nonzeros == 4 and swing > 0.1:
                return {"A": A, "penalty": penalty}


def after(A, V, penalty, rho, number):
    """Return how far apart SADMM's copies are after some steps, and the nonzeros of the sparse."""
    for step, _ in zip(steps(Covariance(A), V, penalty, rho, rho), range(number), strict=False):
        last = step
    return np.linalg.norm(last.V - last.Y), np.count_nonzero(last.Y)


def prices():
    """Without prices the bound is a tenth too high, with the best prices it is the optimum; in
    another, three pairs of three features want each other, and no prices reach it."""
    m, found = 2, {}
    for seed in count():
        A = np.round(np.cov(np.random.default_rng(seed).standard_normal((6, 8))), 2)
        names, worth = pairs(A)
        best = max(
            a + b
            for (S, a), (T, b) in combinations(zip(names, worth, strict=True), 2)
            if not set(S) & set(T)
        )
        paid, bound = best_prices(names, worth, m)
        if bound < best * (1 + 1e-9) and m * max(worth) > 1.1 * best and np.sum(paid > 0.1) > 1:
            found.setdefault("meet", {"A": A, "prices": paid, "best": best})
        elif bound > 1.02 * best:
            found.setdefault("apart", {"A": A, "prices": paid, "best": best})
        if len(found) == 2:
            return {"m": m, "k": 2, **found}


def pairs(A):
    """Return the lists of one feature or two, and what the best component of each explains."""
    names = [(i,) for i in range(len(A))] + list(combinations(range(len(A)), 2))
    return names, [np.linalg.eigvalsh(A[np.ix_(S, S)])[-1] for S in names]


def best_prices(names, worth, m):
    """Return prices p >= 0 for which sum p + m max (worth - price) is least, and that bound."""
    d = max(map(max, names)) + 1
    wants = np.array([[-float(i in S) for i in range(d)] + [-1.0] for S in names])
    solved = linprog([1.0] * d + [m], wants, [-w for w in worth])
    return np.round(solved.x[:d], 6), solved.fun


def plain(value):
    """Return what JSON can hold."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each) for each in value]
    if isinstance(value, np.integer | int):
        return int(value)
    return round(float(value), 6)


def written():
    """Return the text of the page's file."""
    searches = (climb, split, turning, threshold, copies, prices)
    found = {search.__name__: plain(search()) for search in searches}
    lines = ",\n".join(f"  {name}: {json.dumps(each)}" for name, each in found.items())
    return f'{HEAD}"use strict";\n// prettier-ignore\nconst INSTANCES = {{\n{lines},\n}};\n'


if __name__ == "__main__":
    toc.write(PAGE, written())
