"""The judge's side: instances that nobody has seen, optima by enumeration, the book's judge.

Nothing here shares code with a solver of fspca, nor with the model solutions: the optimum is
found by trying every support, and an answer is judged by `fspca.judge` alone.
"""

import hashlib
import os
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from fspca.judge import check_solution
from fspca.problem import Nonnegative, SharedSupport

# Hidden instances differ from course to course: set the variable, and tell nobody.
SALT = os.environ.get("FSPCA_COURSE_SALT", "a pinch of salt")

# The project's data: beside the course in the instructor's archive, else the book's own.
HERE = Path(__file__).resolve().parent
PLACES = [HERE.parent / "data", HERE.parents[2] / "fspca" / "raw"]
PROJECT_DATA = "tissue_expression.npz"


class NotYet(Exception):
    """What was expected and what came, in words."""


def expect(condition, sentence):
    if not condition:
        raise NotYet(sentence)


def hidden(student, *task):
    """Random numbers for a student and a task, which the notebook cannot foretell."""
    name = "/".join([SALT, str(student).strip().lower(), *map(str, task)])
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))


def value(A, support, m):
    """The most that m orthonormal components on the support explain."""
    support = np.asarray(support, dtype=int)
    return float(np.sort(np.linalg.eigvalsh(A[np.ix_(support, support)]))[-m:].sum())


def values(A, m, k):
    """Every support of k features, and what each explains."""
    supports = np.array(list(combinations(range(len(A)), k)))
    blocks = A[supports[:, :, None], supports[:, None, :]]
    return supports, np.linalg.eigvalsh(blocks)[:, -m:].sum(axis=1)


def best(A, m, k):
    """The best support of k features and its value, by trying all."""
    supports, explained = values(A, m, k)
    first = int(np.argmax(explained))
    return supports[first], float(explained[first])


def judged(what, A, W, problem):
    """What loadings explain, as the book's judge sees it; faults are said in its words."""
    W = np.asarray(W, dtype=float)
    W = W[:, None] if W.ndim == 1 else W
    verdict = check_solution(A, W, problem)
    expect(verdict, f"{what}: {verdict}")
    return verdict.objective


def reaches(what, came, optimum, tolerance=1e-7):
    """An objective that is the optimum: not below, and not above either."""
    far = abs(came - optimum) > tolerance * max(1e-12, abs(optimum))
    expect(not far, f"{what}: expected {optimum:.8g}, the best there is, came {came:.8g}")


def shared(what, A, W, m, k):
    """The objective of loadings that must be feasible with k rows in all."""
    return judged(what, A, W, SharedSupport(m, k))


def nonnegative(what, A, x, k):
    """The objective of one nonnegative component with k nonzeros."""
    return judged(what, A, x, Nonnegative(k))


def best_nonnegative(A, k):
    """The largest x'Ax over unit x >= 0 with at most k nonzeros.

    On the support of its positive entries a best x is an eigenvector: all eigenvectors of all
    blocks that have one sign are looked at.
    """
    most = float(np.diag(A).max())
    for size in range(2, k + 1):
        supports = np.array(list(combinations(range(len(A)), size)))
        w, V = np.linalg.eigh(A[supports[:, :, None], supports[:, None, :]])
        one_sign = np.all(V > -1e-12, axis=1) | np.all(V < 1e-12, axis=1)
        most = max(most, float(np.max(np.where(one_sign, w, -np.inf))))
    return most


def greedy(A, m, k):
    """Add, one by one, the feature that raises the value most: what a short cut finds."""
    chosen = []
    while len(chosen) < k:
        rest = [j for j in range(len(A)) if j not in chosen]
        chosen.append(max(rest, key=lambda j: value(A, [*chosen, j], m)))
    return np.sort(chosen)


def misleading(rng, d, m, k, short_cuts=(greedy,), loss=0.01, spectrum=None):
    """A covariance on which each of the short cuts loses at least a share of the optimum."""
    while True:
        X = rng.standard_normal((d, d))
        Q = np.linalg.qr(X)[0]
        A = X @ X.T / d if spectrum is None else (Q * np.asarray(spectrum, dtype=float)) @ Q.T
        enough = (1 - loss) * best(A, m, k)[1]
        if all(value(A, cut(A, m, k), m) < enough for cut in short_cuts):
            return A


def top(scores, k):
    """The places of the k largest, ascending; ties go to the smallest."""
    return np.sort(np.argsort(-np.asarray(scores), kind="stable")[:k])


def refit(A, m, support):
    """The m leading eigenvectors on the support, in d rows."""
    W = np.zeros((len(A), m))
    W[support] = np.linalg.eigh(A[np.ix_(support, support)])[1][:, -m:]
    return W


def ipu_step(A, m, support):
    """Where IPU goes from a support: A W (W'AW)^+ W'A through the square root of A."""
    w, V = np.linalg.eigh(A)
    R = (V * np.sqrt(np.maximum(w, 0))) @ V.T
    U, s, _ = np.linalg.svd(R @ refit(A, m, support), full_matrices=False)
    U = U[:, s > 1e-9 * max(s[0], 1e-300)]
    scores = np.sum((R @ U) ** 2, axis=1)
    return top(np.round(scores / scores.max(), 12), len(support))


def long_climb(rng, d, m, k):
    """A covariance and a start from which one step of IPU gains, and a second gains more."""
    while True:
        X = rng.standard_normal((d, d))
        A, start = X @ X.T / d, np.sort(rng.choice(d, k, replace=False))
        first = ipu_step(A, m, start)
        path = [value(A, each, m) for each in (start, first, ipu_step(A, m, first))]
        if path[1] > 1.01 * path[0] and path[2] > 1.01 * path[1]:
            return A, start


def dual_bound(A, G, m, k, required=(), excluded=()):
    """The dual bound of C = GG' on a part: some features required, some excluded."""
    allowed = np.setdiff1d(np.arange(len(A)), excluded)
    c, inside = np.sum(G[allowed] ** 2, axis=1), np.isin(allowed, required)
    rest = A[np.ix_(allowed, allowed)] - G[allowed] @ G[allowed].T
    free = np.sort(c[~inside])[::-1][: k - len(required)]
    return float(np.linalg.eigvalsh(rest)[-m:].sum() + c[inside].sum() + free.sum())


def classic_bounds(A, m, k):
    """Three bounds that need no search: eigenvalues, variances, and the shifted one."""
    w, V = np.linalg.eigh(A)
    sigma = w[-m - 1]
    scores = V[:, -m:] ** 2 @ (w[-m:] - sigma)
    return {
        "the eigenvalue bound": w[-m:].sum(),
        "the diagonal bound": np.sort(np.diag(A))[-k:].sum(),
        "the shifted bound": m * sigma + np.sort(scores)[-k:].sum(),
    }


def proves(what, A, m, k, support, parts):
    """Check that the parts hold every support of k features, and none a better one."""
    target = value(A, support, m) * (1 + 1e-6)
    left = {tuple(each) for each in combinations(range(len(A)), k)}
    for required, excluded, G in parts:
        required, excluded = set(map(int, required)), set(map(int, excluded))
        named = f"{what}: the part that requires {sorted(required)}, excludes {sorted(excluded)}"
        held = {I for I in left if required <= set(I) and not excluded & set(I)}
        if len(required) == k or len(A) - len(excluded) == k:
            bound = max((value(A, I, m) for I in held), default=0.0)
        else:
            G = np.asarray(G, dtype=float)
            sound = G.ndim == 2 and len(G) == len(A) and bool(np.all(np.isfinite(G)))
            expect(sound, f"{named}: expected a factor G with {len(A)} rows")
            bound = dual_bound(A, G, m, k, sorted(required), sorted(excluded))
        expect(bound <= target, f"{named}: its bound {bound:.6g} exceeds {target:.6g}")
        left -= held
    expect(not left, f"{what}: no part holds the support {min(left, default=())}")


def wedge(what, Q, R, came):
    """A unit vector c of the plane with Rc >= 0 that no angle of a fine grid beats."""
    c = np.asarray(came, dtype=float)
    sound = c.shape == (2,) and abs(np.linalg.norm(c) - 1) < 1e-6
    expect(sound, f"{what}: expected a unit vector of the plane, came {came}")
    expect(np.all(R @ c >= -1e-6), f"{what}: Rc has the negative entry {np.min(R @ c):.4g}")
    angles = np.linspace(0, 2 * np.pi, 20001)
    grid = np.array([np.cos(angles), np.sin(angles)])
    grid = grid[:, np.all(R @ grid >= 0, axis=0)]
    most = np.max(np.sum(grid * (Q @ grid), axis=0))
    expect(
        c @ Q @ c >= most - 1e-6 * abs(most), f"{what}: {most:.6g} is reached, came {c @ Q @ c:.6g}"
    )


def rectified(A, k):
    """The better of the positive and the negative part of the leading eigenvector, cut to k."""
    v, most = np.linalg.eigh(A)[1][:, -1], 0.0
    for sign in (1, -1):
        x = np.maximum(sign * v, 0)
        x[np.argsort(-x, kind="stable")[k:]] = 0
        if x.any():
            most = max(most, float(x @ A @ x / (x @ x)))
    return most


def slope(rng, d, m):
    """Covariances A_1, ..., A_m, and a start that is high already and can still be raised.

    The start is where the linear minorant of sum_j v_j' A_j v_j at a random point is largest.
    """
    while True:
        As = [X @ X.T / d for X in rng.standard_normal((m, d, d))]
        path = [np.linalg.qr(rng.standard_normal((d, m)))[0]]
        for _ in range(2):
            G = np.column_stack([A @ v for A, v in zip(As, path[-1].T, strict=True)])
            U, _, Wt = np.linalg.svd(G, full_matrices=False)
            path.append(U @ Wt)
        first, second = (np.einsum("aj,jab,bj->", V, As, V) for V in path[1:])
        if second > 1.01 * first:
            return np.array(As), path[1]


def trap(rng, d, k):
    """A d x 2 matrix V on whose VV' rectifying the leading eigenvector loses a per cent."""
    while True:
        V = rng.standard_normal((d, 2))
        if rectified(V @ V.T, k) < 0.99 * best_nonnegative(V @ V.T, k):
            return V


def data_file():
    return next(place / PROJECT_DATA for place in PLACES if (place / PROJECT_DATA).is_file())


@cache
def expression():
    return np.load(data_file())["X"].astype(float)


def tissue(*parts):
    """The covariances of the training and of the held-out samples, on the genes given."""
    *rows, genes = parts
    X = expression()
    return [np.cov(X[np.ix_(each, genes)].T) for each in rows]


def exchanged(A, m, k):
    """The value reached from the k largest variances by exchanging a feature while that helps."""
    support, reached = top(np.diag(A), k), 0.0
    while value(A, support, m) > reached * (1 + 1e-9):
        reached = value(A, support, m)
        others = np.setdiff1d(np.arange(len(A)), support)
        tried = np.array([[*np.delete(support, i), j] for i in range(k) for j in others])
        blocks = A[tried[:, :, None], tried[:, None, :]]
        support = tried[np.argmax(np.linalg.eigvalsh(blocks)[:, -m:].sum(axis=1))]
    return reached
