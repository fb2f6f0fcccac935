"""Claims of packed supports, made by enumeration: a reference for the checkers and the prover.

The prices are the dual of the linear programme over all supports; one node lists all of them.
"""

from itertools import combinations
from math import inf

import numpy as np
from scipy.optimize import linprog

from fspca.check_certificate import PackedBlock, partitions

SPARE = 1e-9  # relative: what a claim leaves to rounding and to the linear programme


def supports(d, least, most):
    """All sets of so many features, as sorted tuples."""
    return [S for size in range(least, min(most, d) + 1) for S in combinations(range(d), size)]


def component(A, S, nonnegative):
    """(value, unit x) of the best on the features S; none if it is to be positive and is not."""
    w, V = np.linalg.eigh(A[np.ix_(S, S)])
    x = V[:, -1] * (1 if V[:, -1].sum() >= 0 else -1)
    return None if nonnegative and not np.all(x > 0) else (w[-1], x)


def on_one(A, k, nonnegative):
    """The best of each support of one component of up to k features."""
    found = {S: component(A, S, nonnegative) for S in supports(len(A), 1, k)}
    return {S: best for S, best in found.items() if best is not None}


def may_be_positive(A, S):
    """Whether rounding may hide that S has a leading eigenvector without negative entry."""
    w, V = np.linalg.eigh(A[np.ix_(S, S)])
    x = V[:, -1] * (1 if V[:, -1].sum() >= 0 else -1)
    return x.min() > -1e-9 or (len(S) > 1 and w[-1] - w[-2] < 1e-9)


def best_packing(A, counts, k, nonnegative):
    """(value, supports) of the best disjoint ones, of k features at most in all: each is tried."""
    values = on_one(A, max(counts), nonnegative)

    def best(left, used):
        if not left:
            return 0.0, []
        found = -inf, []
        for S, (value, _) in values.items():
            if len(S) <= left[0] and not used & set(S) and len(used) + len(S) <= k:
                rest, others = best(left[1:], used | set(S))
                found = max(found, (value + rest, [S, *others]), key=lambda x: x[0])
        return found

    return best(tuple(counts), frozenset())


def least_prices(values, slots, d, rows):
    """(least sum, prices, target of each slot): the `rows` largest prices, and all targets.

    `values` holds for each slot the value of each set.  The rows largest of p sum to the least of
    q rows + sum (p - q)+ over q.
    """
    kinds = sorted(set(slots))
    cost = np.concatenate([np.ones(d), [rows], [slots.count(x) for x in kinds]])
    left, right = [], []
    for j, kind in enumerate(kinds):
        for S, value in values[kind].items():
            row = np.zeros(len(cost))
            row[list(S)], row[d], row[d + 1 + j] = -1, -len(S), -1
            left.append(row)
            right.append(-value)
    bounds = [(0, None)] * (d + 1) + [(None, None)] * len(kinds)
    found = linprog(cost, np.array(left), np.array(right), bounds=bounds, method="highs")
    p = np.maximum(found.x[:d], 0) + max(found.x[d], 0)
    targets = {kind: max(v - p[list(S)].sum() for S, v in values[kind].items()) for kind in kinds}
    total = -np.sort(-p)[:rows].sum() + sum(targets[slot] for slot in slots)
    return total, p, targets


def columns_of(A, counts, picked, nonnegative):
    W = np.zeros((len(A), len(counts)))
    for j, S in enumerate(picked):
        W[list(S), j] = component(A, S, nonnegative)[1]
    return W


def with_trees(trees, targets, d):
    """The fields of trees of one node each, which lists all its supports."""
    fields = {"trees": np.array(trees), "targets": np.array(targets)}
    return fields | {f"tree{i}_G_0": np.zeros((d, 0)) for i in range(len(trees))}


def disjoint_claim(A, counts, k=None, nonnegative=False, gap=SPARE):
    """(claim, least sum of prices over the optimum) that the best packing is one."""
    d = len(A)
    k = min(d, sum(counts)) if k is None else k
    value, picked = best_packing(A, counts, k, nonnegative)
    values = {
        count: {S: x[0] for S, x in on_one(A, count, nonnegative).items()} for count in set(counts)
    }
    total, p, targets = least_prices(values, list(counts), d, k)
    spare = (value * (1 + gap / 2) - total) / len(counts)
    low = {count: u + (spare if spare > 0 else spare * len(counts)) for count, u in targets.items()}
    listed = {
        S
        for count in low
        for S in supports(d, 1, count)
        if not nonnegative or may_be_positive(A, S)
        if np.linalg.eigvalsh(A[np.ix_(S, S)])[-1] - p[list(S)].sum() > low[count]
    }
    kinds = sorted(low)
    claim = {"version": 1, "kind": "packing", "m": len(counts), "k": k, "A": A, "gap": gap,
             "counts": np.array(counts), "W": columns_of(A, counts, picked, nonnegative),
             "prices": p[None]}  # fmt: skip
    claim |= with_trees([[0, 1, count] for count in kinds], [low[count] for count in kinds], d)
    if nonnegative:
        claim["nonnegative"] = 1
    if listed:
        claim["columns"] = np.array([np.isin(np.arange(d), S) for S in sorted(listed)], dtype=int)
    return claim, total / value


def of_blocks(A, counts, W):
    """The claim that orthonormal W is as near to the best as the prices of all blocks show."""
    d, prices, trees, targets, sums = len(A), [], [], [], []
    value = np.trace(W.T @ A @ W)
    for way in sorted(partitions(tuple(sorted(counts, reverse=True)))):
        blocks = [PackedBlock(len(x), sum(x) - 2 * (len(x) - 1), x) for x in way]
        slots = [(block.b, block.size) for block in blocks]
        values = {}
        for b, size in set(slots):
            every = supports(d, b, size)
            values[b, size] = {S: np.linalg.eigvalsh(A[np.ix_(S, S)])[-b:].sum() for S in every}
        if not all(values.values()):
            continue  # more components than features
        rows = min(d, sum(block.size for block in blocks))
        total, p, own = least_prices(values, slots, d, rows)
        for (b, size), u in own.items():
            trees.append([len(prices), b, size])
            targets.append(u + SPARE * value / 4)
        prices.append(p)
        sums.append(total)
    gap = max(max(sums) / value - 1, 0) + SPARE * (1 + len(counts))
    claim = {"version": 1, "kind": "packing", "m": len(counts), "k": min(d, sum(counts)), "A": A,
             "gap": gap, "counts": np.array(counts), "W": W, "orthonormal": 1,
             "prices": np.array(prices)}  # fmt: skip
    return claim | with_trees(trees, targets, d)
