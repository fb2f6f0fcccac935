r"""Bounds on components of few features each, every one with the claim that proves it.

Theorem 3: for W with orthonormal columns of k_1, ..., k_m nonzeros, P = WW' = P_1 + ... + P_m is a
sum of projections, each with rows of k_j nonzeros, and has itself rows of K = k_1 + ... + k_m.
What Theorem 1 says of rows holds of both, and a price p >= 0 says how much of diag GG' is paid by
the columns, how much by their union.  The relaxation looks for the best G, Y, Z and p.
"""

import warnings
from dataclasses import replace

import numpy as np
from scipy.linalg import eigh

from fspca.check_certificate import VERSION, check, row_terms
from fspca.problem import SharedSupport
from fspca.proof.bounds import least_light_bound, probable_bound
from fspca.proof.ground import Ground
from fspca.proof.rows import project_rows
from fspca.proof.semidefinite import RELAX, clip_to_sum, sum_largest

SMALL, SUMMED = 40, 10_000  # features up to which all is relaxed, and rows are summed
FEW = 2, 2  # sweeps of a projection, which begins where the last one ended


def with_claim(A, solution, orthonormal, max_iter=100):
    """Return the solution with the least bound that the checker accepts, and the claim of it.

    Of components that need not be orthonormal the bounds are those on one shared support.
    """
    problem, counts = solution.problem, solution.problem.counts
    union = max(problem.m, min(int(counts.sum()), A.size))
    ground = Ground(A, SharedSupport(problem.m, union))
    if ground.matrix is None:
        found = probable_bound(A, ground.problem)
        return replace(solution, upper_bound=max(found.bound, solution.objective),
                       bound_probability=found.probability)  # fmt: skip
    given = {"X" if ground.of_data else "A": ground.array}
    claim = {"version": VERSION, "kind": "separate", "m": problem.m, "k": union, "counts": counts}
    claim |= {"W": np.array(solution.W)} | ({"orthonormal": 1} if orthonormal else {})
    tried = [least_light_bound(ground).arrays]
    tried += [{"whole": 2}] * (orthonormal and A.size <= SUMMED)
    if orthonormal and A.size <= SMALL:
        tried.append(column_arrays(ground.block(np.arange(A.size)), counts, max_iter))
    claims = [claim | {f"{name}_0": array for name, array in arrays.items()} for arrays in tried]
    verdicts = [check(each | given | {"gap": 1e99}) for each in claims]
    best = min(range(len(claims)), key=lambda i: verdicts[i].bound if verdicts[i].holds else np.inf)
    if not verdicts[best].holds:
        warnings.warn(f"no bound: the checker refuses it, {verdicts[best].reason}", stacklevel=2)
        return solution
    value, bound = verdicts[best].value, verdicts[best].bound
    gap = max(bound / value - 1, 0.0) * (1 + 1e-12) + 1e-15 if value > 0 else 0.0
    return replace(solution, upper_bound=max(bound, solution.objective),
                   certificate=claims[best] | {"gap": gap})  # fmt: skip


def column_arrays(A, counts, max_iter):
    """Return the arrays of the best certificate that so many steps find."""
    top = np.linalg.eigvalsh(A)[-1]
    unit = 2.0 ** np.round(np.log2(top)) if top > 0 else 1.0
    walk = column_steps(A / unit, len(counts), np.asarray(counts))
    found = (next(walk) for _ in range(max(1, max_iter // 10)))
    G, *others = min(found, key=lambda each: each[0])[1]
    scaled = {name: unit * x for name, x in zip("YZp", others, strict=True)}
    return {"G": np.sqrt(unit) * G} | scaled


def bound_of(A, counts, G, Y, Z, p):
    """Return Theorem 3's bound as computed, margins left out."""
    union, none = min(counts.sum(), len(A)), np.zeros(len(A), dtype=bool)

    def rows(M, k):
        return (np.diagonal(M) + row_terms(M, k, none, np.sqrt)) / 2

    shared = np.maximum(np.sum(G**2, axis=1) - p + rows(Y, union), 0.0)
    rest = A - G @ G.T - (Y + Y.T + Z + Z.T) / 2
    return (sum(sum_largest(p + rows(Z, k), k) for k in counts) + sum_largest(shared, union)
            + np.linalg.eigvalsh(rest)[-len(counts) :].sum())  # fmt: skip


def parts_of(P, y, z):
    """Return what each condition is about."""
    return (P, np.diag(y) - P, P - np.diag(y / 2), P - np.diag(z / 2), y / 2, z / 2, z - y, y, z)


def column_steps(A, m, counts, every=10):
    r"""Yield (bound, (G, Y, Z, p)) after every few steps of ADMM, for ever.

    max <A, P> over 0 <= P <= I with trace m, P <= Diag(y), 0 <= y <= 1, y <= z, 0 <= z <= m with
    sum K, and for every row that P_i - y_i e_i / 2 lies in y_i / 2 times the hull of vectors of
    length 1 with K nonzeros, and the same with z and the largest count.  Each has a copy of its
    own, which is projected; P, y and z are fitted to all copies, on the diagonal by `normal`.
    """
    d, union = len(A), min(counts.sum(), len(A))
    sizes, phi = (union, counts.max()), [np.full(d, 0.25)] * 2
    normal = np.linalg.inv([[4, -1.5, -0.5], [-1.5, 3.5, -1], [-0.5, -1, 2.5]])
    parts = parts_of(np.eye(d) * (m / d), *[np.full(d, union / d)] * 2)
    U, rho, step = [0 * part for part in parts], 0.5, 0
    while True:
        step += 1
        aims = [part - u for part, u in zip(parts, U, strict=True)]
        values, V = eigh(aims[0] + A / rho, check_finite=False)
        f = clip_to_sum(values, m)
        V = V[:, f > 0] * np.sqrt(f[f > 0])
        values, G = eigh(-aims[1], check_finite=False)
        G = G[:, values > 0] * np.sqrt(values[values > 0])
        rows, heights = [None] * 2, [None] * 2
        for i, k in enumerate(sizes):
            rows[i], heights[i], phi[i] = project_rows(aims[2 + i], aims[4 + i], 0, k, phi[i], *FEW)
        copies = (V @ V.T, aims[1] + G @ G.T, *rows, *heights, np.maximum(aims[6], 0.0),
                  np.clip(aims[7], 0.0, 1.0), m * clip_to_sum(aims[8] / m, union / m))  # fmt: skip
        if step % every == 0:
            Y, Z = (rho * (aims[2 + i] - rows[i]) for i in range(2))
            arrays = np.sqrt(rho) * G, Y, Z, rho * np.maximum(-aims[6], 0.0)
            yield bound_of(A, counts, *arrays), arrays
        moved = [
            RELAX * copy + (1 - RELAX) * part + u
            for copy, part, u in zip(copies, parts, U, strict=True)
        ]
        a, b, c, e, s, r, f, w, v = moved
        right = a - b + (c + c.T + e + e.T) / 2
        on = np.diagonal(b) - np.diagonal(c) / 2 + s / 2 - f + w, f + v + r / 2 - np.diagonal(e) / 2
        at, y, z = normal @ np.array([np.diagonal(right), *on])
        P = right / 4
        np.fill_diagonal(P, at)
        parts = parts_of(P, y, z)
        U = [x - part for x, part in zip(moved, parts, strict=True)]
