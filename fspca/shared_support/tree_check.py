"""Check a claimed gap with numpy alone.

python check_certificate.py claim.npz, where the file holds A, m, k, support, G and gap.
"""

import sys
from itertools import combinations

import numpy as np


def bound_of(A, G, m, k, fixed=0):
    """Return (bound, F_m(A - GG') with what rounding may hide), the first `fixed` rows required."""
    C, c = G @ G.T, np.sum(G**2, axis=1)
    w, V = np.linalg.eigh(A - C)
    residual = np.linalg.norm(A - C - (V * w) @ V.T)
    defect = np.linalg.norm(V.T @ V - np.eye(len(A))) * np.abs(w).max()
    rounding = 8 * max(G.shape) * np.finfo(float).eps * (np.linalg.norm(A) + np.trace(C))
    top = w[-m:].sum() + m * (residual + defect + rounding)
    return top + c[:fixed].sum() + np.sort(c[fixed:])[::-1][: k - fixed].sum(), top


def check(A, m, k, support, G, gap):
    """Say whether the support explains at least 1 / (1 + gap) of the optimum.

    For C = GG' (semidefinite, whatever G is) no W with orthonormal columns and k nonzero rows
    explains more than S_k(diag C) + F_m(A - C).
    """
    A, G, support = (A + A.T) / 2, np.asarray(G, float), np.unique(support)
    if len(support) > k or not m <= k <= len(A):
        return False, np.nan, np.nan
    value = np.linalg.eigvalsh(A[np.ix_(support, support)])[-m:].sum()
    bound, _ = bound_of(A, G, m, k)
    return bool(bound <= (1 + gap) * value), value, bound


def check_tree(A, m, k, support, proof, gap=2e-9):
    """Say whether a branch and bound tree proves that the support is within the gap.

    proof maps a node's name ("" the root, then "1" required, "0" excluded) to its features
    (`rows`, the first `fixed` required), a factor G, and what it kept after deciding features.
    """
    support = np.unique(support)
    target = np.linalg.eigvalsh(A[np.ix_(support, support)])[-m:].sum() * (1 + gap)
    stack = [("", frozenset(), frozenset(range(len(A))))]
    while stack:
        name, required, allowed = stack.pop()
        node = proof[name]
        rows, fixed, G = node["rows"], node["fixed"], node["G"]
        if set(rows[:fixed]) != required or set(rows) != allowed or len(support) > k:
            return False
        bound, top = bound_of(A[np.ix_(rows, rows)], G, m, k, fixed)
        if bound <= target:
            continue
        if "kept" not in node:
            return False  # claimed to be closed by its bound, and it is not
        c = dict(zip(rows.tolist(), np.sum(G**2, axis=1), strict=True))
        falling = sorted((c[i] for i in rows[fixed:]), reverse=True) + [0.0]
        last_in, first_out = falling[k - fixed - 1], falling[k - fixed]
        kept, now = node["kept"].tolist(), node["kept_fixed"]
        if any(bound - c[i] + first_out > target for i in set(kept[:now]) - required):
            return False  # a feature was required without reason
        if any(bound + c[i] - last_in > target for i in allowed - set(kept)):
            return False  # a feature was excluded without reason
        children = [proof.get(name + side) for side in "10"]
        if (children[0] is None) != (children[1] is None):
            return False
        if children[0] is not None:
            i = (set(children[0]["rows"][: now + 1].tolist()) - set(kept[:now])).pop()
            stack.append((name + "1", frozenset(kept[:now]) | {i}, frozenset(kept)))
            stack.append((name + "0", frozenset(kept[:now]), frozenset(kept) - {i}))
            continue
        base = top + sum(c[i] for i in kept[:now])
        for chosen in combinations(kept[now:], k - now):
            if base + sum(c[i] for i in chosen) > target:
                I = kept[:now] + list(chosen)
                if np.linalg.eigvalsh(A[np.ix_(I, I)])[-m:].sum() > target:
                    return False
    return True


if __name__ == "__main__":
    claim = np.load(sys.argv[1])
    holds, value, bound = check(*(claim[name] for name in ("A", "m", "k", "support", "G", "gap")))
    print(f"explains {value:.10g} of at most {bound:.10g}: the gap {'holds' if holds else 'FAILS'}")
    sys.exit(not holds)
