"""The checker on nonnegative claims: what is true holds, and no forgery does."""

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from test_check_certificate import best_of, forged

from fspca.check_certificate import Raised, check
from fspca.nonnegative.branch_and_bound import branch_and_bound_nonnegative
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.halfspaces import halfspaces
from fspca.nonnegative.solve import solve_nonnegative
from fspca.problem import Nonnegative
from fspca.proof import nonnegative_tree as tree
from fspca.proof.nonnegative_relaxation import NonnegativeRelaxation

COUNT = 2000  # mutations; ten times as many by night
RING = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
HORN = np.array([np.roll(RING, i) for i in range(5)])  # copositive; the relaxation does not see it


def problem(rng):
    """A covariance of few features with entries of both signs, and k."""
    d = int(rng.integers(3, 7))
    B = rng.standard_normal((int(rng.integers(1, d + 2)), d)) * np.exp(rng.standard_normal(d))
    if rng.random() < 0.3:  # ties, repeated rows, opposite rows
        B = rng.integers(-2, 3, B.shape).astype(float)
    A = B.T @ B + 0.1 * np.eye(d)
    A[0, 1] = A[1, 0] = min(A[0, 1], -0.01)
    A += max(0.0, 0.1 - np.linalg.eigvalsh(A)[0]) * np.eye(d)
    return A, int(rng.integers(1, d + 1))


def honest(rng):
    """A claim: a tree for one component, or one bound for two."""
    A, k = problem(rng)
    if rng.random() < 0.3:
        counts = k if rng.random() < 0.5 else rng.integers(1, k + 1, 2)
        return solve_nonnegative(A, 2, counts, n_starts=4, max_iter=50).certificate | {"A": A}
    if rng.random() < 0.2:
        k, tries = min(k + 1, len(A)), {"n_starts": 4, "max_iter": 50}
        return solve_nonnegative(A, 2, k, in_all=True, **tries).certificate | {"A": A}
    return branch_and_bound_nonnegative(A, 1, k, n_starts=4).certificate | {"A": A}


def cut_claim(rng):
    """A claim whose tree is divided by directions, made where they are preferred."""
    while True:
        A, k = problem(rng)
        hasty = {"ROOT": tree.Pace(20, 0.0, 50), "CUT": tree.Pace(30, 0.0, 50)}
        short = {"MANY": 1, "MIXED": 1e-6} | hasty
        with patch.multiple(tree, **short), patch.object(tree.ComponentTree, "most_enumerated", 1):
            claim = branch_and_bound_nonnegative(A, 1, k, n_starts=4, max_iter=4).certificate
        if "directions" in claim:
            return claim | {"A": A}


def matrix_of(claim):
    X = np.asarray(claim["A"] if "A" in claim else claim["X"], float)
    return X if "A" in claim else (X.T @ X + (X.T @ X).T) / 2


def is_true(claim):
    """Say whether an accepted claim is true, whatever proof it carries."""
    A, m, k = matrix_of(claim), int(claim["m"]), int(claim["k"])
    W = np.asarray(claim["W"], float)
    W = W / np.abs(W).max(axis=0)  # whose squares are numbers
    value = sum(w @ A @ w / (w @ w) for w in W.T)
    counts, total = np.asarray(claim["counts"]), W.any(axis=1).sum()
    slack = float(claim["gap"]) * abs(value)
    if claim["kind"] == "separate" and m == 1:  # a forged kind, of a claim with signs of its own
        most = best_of(A, 1, min(k, *counts))[0]
        return total <= counts[0] and most <= value + slack + 1e-12 * abs(most)
    most = max(  # of the sets of k features
        exhaustive_nonnegative(A[np.ix_(I, I)], m, np.minimum(counts, k)).objective
        for I in combinations(range(len(A)), k)
    )
    fits = np.all((W > 0).sum(axis=0) <= counts) and np.all((W > 0).sum(axis=1) <= 1)
    fits = claim["kind"] == "separate" or (fits and W.min() >= 0)
    return fits and total <= k and most <= value + slack + 1e-12 * abs(most)


def attack(count, seed):
    """Return how many of so many forged claims were accepted, all of them true."""
    rng, accepted = np.random.default_rng(seed), 0
    for number in range(count):
        if number % 20 == 0:
            make = {0: lambda rng: wide_claim(rng)[0], 40: cut_claim}.get(number % 100, honest)
            claim = make(rng)
        forgery = forged(claim, rng)
        verdict = check(forgery)
        assert isinstance(verdict.holds, bool)
        if verdict.holds:
            accepted += 1
            try:
                true = is_true(forgery)
            except ValueError:  # of a matrix that is no covariance, which a claim may be about
                continue
            assert true, forgery
    return accepted


@pytest.mark.filterwarnings("ignore")  # a forged array may warn when it is made
def test_no_forgery_is_accepted_and_none_raises():
    assert attack(COUNT, 0) > COUNT / 50


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(1, 11))
def test_no_forgery_is_accepted_by_night(seed, record_property):
    record_property("instances", COUNT)
    attack(COUNT, seed)


def bound_claim(A, m, k, W, **arrays):
    asked = {"version": 1, "kind": "nonnegative", "m": m, "k": min(m * k, len(A)), "gap": 1e9}
    return (
        asked
        | {"A": A, "W": W, "counts": np.full(m, k)}
        | {f"{name}_0": array for name, array in arrays.items()}
    )


@pytest.mark.parametrize("seed", range(200))
def test_any_arrays_prove_a_bound(seed):
    """Theorem 4 with any G, any Y, symmetric or not, and any N >= 0."""
    rng = np.random.default_rng(seed)
    A, k = problem(rng)
    d, m = len(A), 1 + seed % 2
    size = np.trace(A) / d * 10.0 ** rng.uniform(-3, 1, 3)
    arrays = {
        "G": np.sqrt(size[0]) * rng.standard_normal((d, 2)) * (seed % 3 > 0),
        "Y": size[1] * rng.standard_normal((d, d)) * (seed % 4 > 0),
        "N": np.maximum(-A, 0.0) if seed % 5 else size[2] * rng.random((d, d)),
    }
    arrays["N"] = arrays["N"] + arrays["N"].T
    verdict = check(bound_claim(A, m, k, np.eye(d)[:, :m], **arrays))
    assert verdict.holds, verdict
    assert verdict.bound >= exhaustive_nonnegative(A, m, k).objective * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_any_arrays_prove_a_bound_beside_a_cut(seed):
    """The best x on each side of a direction, by half-space problems, is bounded there."""
    rng = np.random.default_rng(seed)
    A, k = problem(rng)
    d = len(A)
    relaxation = NonnegativeRelaxation(A, Nonnegative(1, k))
    everything = np.arange(d), np.zeros(d, dtype=bool)
    direction = rng.integers(-9, 10, d)
    for cut in (direction, -direction):
        sides = [np.vstack([np.eye(k), cut[list(I)]]) for I in combinations(range(d), k)]
        blocks = [A[np.ix_(I, I)] for I in combinations(range(d), k)]
        best = max(halfspaces(Q, R)[1] for Q, R in zip(blocks, sides, strict=True))
        size = np.trace(A) / d * 10.0 ** rng.uniform(-3, 1, 3)
        N = size[2] * rng.random((d + 1, d + 1)) / np.append(np.ones(d), 9)
        G, Y = np.sqrt(size[0]) * rng.standard_normal((d, 2)), rng.standard_normal((d, d))
        arrays = {"G": G * (seed % 3 > 0), "Y": size[1] * Y * (seed % 4 > 0), "N": N + N.T}
        proven = relaxation.checked.bound(*everything, arrays, cuts=cut[None])
        assert proven.value >= best * (1 - 1e-9)
        start = relaxation.start._replace(guess=np.zeros((d + 1, d + 1)))
        source = relaxation.descend(*everything, start, (cut,))
        assert min(next(source)[0].value for _ in range(20)) >= best * (1 - 1e-9)


def test_a_cut_closes_what_it_leaves_out():
    """Two opposite parts: on the one side of their difference only one of them counts."""
    A, direction = np.kron(np.diag([2.0, 1.0]), np.ones((2, 2))), np.array([-1, -1, 1, 1])
    A[:2, 2:] = A[2:, :2] = -0.1
    relaxation = NonnegativeRelaxation(A, Nonnegative(1, 2))
    everything = np.arange(4), np.zeros(4, dtype=bool)
    start = relaxation.start._replace(guess=np.zeros((5, 5)))
    for cut, best in ((-direction, 4.0), (direction, 2.0)):
        source = relaxation.descend(*everything, start, (cut,))
        found = min((next(source)[0] for _ in range(60)), key=lambda each: each.value)
        assert found.value == pytest.approx(best, rel=1e-3), cut
    without = relaxation.checked.bound(*everything, found.arrays | {"N": found.arrays["N"][:4, :4]})
    assert without.value >= 4


def test_wide_data_are_relaxed_as_a_whole():
    """There the order is not that of the features: nothing may be required, cut or priced."""
    relaxation = NonnegativeRelaxation(np.arange(1.0, 13).reshape(2, 6), Nonnegative(1, 2), 3)
    rows, none, start = np.arange(6), np.zeros(6, dtype=bool), relaxation.start
    assert next(relaxation.descend(rows, none, start)).bound > 0
    refused = [(rows, rows == 0, start), (rows[1:], none[1:], start), (rows, none, start, [rows])]
    for given in refused:
        with pytest.raises(ValueError, match="leave out the count"):
            next(relaxation.descend(*given))
    relaxation.prices = np.ones(6)
    with pytest.raises(ValueError, match="leave out the count"):
        next(relaxation.descend(rows, none, start))


@pytest.mark.filterwarnings("ignore::fspca.ConvergenceWarning")
def test_a_tree_divided_by_directions_may_not_be_changed():
    rng, refused = np.random.default_rng(0), 0
    for _ in range(10):
        claim = cut_claim(rng)
        d, (q, _) = len(claim["A"]), claim["directions"].shape
        assert check(claim).holds
        assert check(claim | {"gap": claim["gap"] + 1e-9}, exact=True).holds
        (last,) = np.flatnonzero(claim["branch"] == d + q - 1)
        (children,) = np.nonzero(claim["parent"] == last)
        cut = {x: np.delete(claim[x], children[1], axis=0) for x in ("nodes", "parent", "branch")}
        if children[1] == len(claim["parent"]) - 1:
            assert "do not partition" in check(claim | cut).reason
        states = np.array(claim["nodes"])
        states[children[1], np.flatnonzero(states[last])[0]] = 0
        refused += "without reason" in check(claim | {"nodes": states}).reason
        for directions, reason in (
            (claim["directions"].astype(float), "directions are integers"),
            (claim["directions"][:-1], "branch is -2, -1, a feature or a direction"),
            (claim["directions"][:, :-1], "directions has shape"),
        ):
            assert reason in check(claim | {"directions": directions}).reason
        assert "one component" in check(claim | {"m": 2, "k": 2}).reason
        below = [t for t in children if f"N_{t}" in claim]
        for t in below:
            N = claim[f"N_{t}"].copy()
            assert f"N_{t} has shape" in check(claim | {f"N_{t}": N[:-1, :-1]}).reason
            N[-1, 0] = N[0, -1] = -1.0
            assert "N has negative entries" in check(claim | {f"N_{t}": N}).reason
    assert refused > 2  # elsewhere it could be decided


def wide_claim(rng):
    """A claim with any G on all features, any Y and N on some of them, and its witness."""
    n, d, m = int(rng.integers(1, 5)), int(rng.integers(4, 9)), int(rng.integers(1, 3))
    X, k = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-2, 0, d), int(rng.integers(1, d // 2))
    few = rng.choice(d, int(rng.integers(1, d)), replace=False)
    A, size = X.T @ X, np.sum(X**2) / d * 10.0 ** rng.uniform(-3, 1, 3)
    G, Y = np.sqrt(size[0]) * rng.standard_normal((d, 2)), rng.standard_normal((len(few),) * 2)
    N = size[2] * rng.random(Y.shape)
    arrays = {"G": G, "Y": size[1] * Y, "N": N + N.T}
    M = A - G @ G.T
    M[np.ix_(few, few)] += arrays["N"] - size[1] * (Y + Y.T) / 2
    w, V = np.linalg.eigh(M)
    least = max(w[-m], 1e-3 * size.max())
    H = V[:, -m:] * np.sqrt(np.maximum(w[-m:] - least, 0.0))
    arrays |= {"few": few, "s": least * (1 + 1e-9), "H": H}
    W = np.eye(d)[:, np.argsort(-np.diag(A))[:m]]
    claim = bound_claim((A + A.T) / 2, m, k, W, **arrays)
    tight = w[-m] == least
    return {name: array for name, array in claim.items() if name != "A"} | {"X": X}, few, tight


@pytest.mark.parametrize("seed", range(200))
def test_few_features_of_wide_data_prove_what_the_matrix_does(seed):
    claim, few, tight = wide_claim(np.random.default_rng(seed))
    X, d, counts = claim["X"], claim["X"].shape[1], claim["counts"]
    A = (X.T @ X + (X.T @ X).T) / 2
    verdict = check(claim)
    assert verdict.holds, verdict
    assert verdict.bound >= exhaustive_nonnegative(A, claim["m"], counts).objective * (1 - 1e-12)
    whole = {x: np.zeros((d, d)) for x in "YN"}
    for x, array in whole.items():
        array[np.ix_(few, few)] = claim[f"{x}_0"]
    formed = bound_claim(A, claim["m"], counts[0], claim["W"], G=claim["G_0"], **whole)
    least = check(formed).bound
    assert verdict.bound >= least * (1 - 1e-9)
    if tight:
        assert verdict.bound == pytest.approx(least, rel=1e-6)
        too_little = claim | {"s_0": claim["s_0"] * (1 - 1e-6)}
        assert "is not above" in check(too_little).reason


def test_what_is_not_about_few_features_of_wide_data_is_refused():
    claim, few, _ = wide_claim(np.random.default_rng(0))
    twice, outside = np.repeat(few[:1], len(few)), few + claim["X"].shape[1]
    for wrong in (twice, outside) if len(few) > 1 else (outside,):
        assert "few must list" in check(claim | {"few_0": wrong}).reason
    assert "N has negative" in check(claim | {"N_0": -claim["N_0"]}).reason
    assert "Y_0 has shape" in check(claim | {"Y_0": np.zeros((len(few) + 1,) * 2)}).reason
    without = {name: array for name, array in claim.items() if name[0] not in "sH"}
    assert "of wide data only" in check(without).reason
    assert "of wide data only" in check(claim, exact=True).reason
    signs = claim | {"kind": "shared", "support": np.flatnonzero(claim["W"].any(axis=1))}
    assert not check(signs).holds


def test_a_child_takes_over_what_is_left_of_the_few():
    """The root is not closed; without its first feature it is, by the arrays of the root."""
    X = np.array([[3.0, 2.0, 1.0, 0.1, 0.1], [1.0, -4.0, 1.0, 0.1, -0.1]])
    A, few, H, first = X.T @ X, np.arange(3), np.zeros((5, 0)), np.eye(5)[:, :1]
    N = np.maximum(-A, 0.0)[:3, :3]
    raised = A + np.pad(N, (0, 2))
    top, most = np.linalg.eigvalsh(raised)[-1] * (1 + 1e-9), 2 * A[0, 0]
    rest = np.linalg.eigvalsh(raised - most * first @ first.T)[-1] * (1 + 1e-9)
    own = {"few": few, "N": N, "H": H}
    claim = bound_claim(A, 1, 2, np.eye(5)[:, 1:2], **own, G=np.sqrt(most) * first, s=rest)
    claim |= {f"{name}_1": array for name, array in (own | {"s": top}).items()}
    del claim["A"]
    states = np.array([[1, 1, 1, 1, 1], [2, 1, 1, 1, 1], [0, 1, 1, 1, 1]])
    claim |= {"X": X, "nodes": states, "parent": np.array([-1, 0, 0])}
    claim |= {"branch": np.array([0, -1, -1]), "gap": top / A[1, 1] - 1 + 1e-3}
    assert rest + most > 1.1 * top
    assert check(claim).holds
    assert not check(claim | {"gap": rest / A[1, 1] - 1 - 1e-3}).holds


def test_the_hypotheses_are_needed():
    """A negative entry of N, or of W, and the bound lies below the optimum: both are refused."""
    A, W = np.ones((2, 2)), np.eye(2)[:, :1]
    sharp = bound_claim(A, 1, 2, W, N=np.array([[0.0, -1.0], [-1.0, 0.0]]))
    assert "N has negative entries" in check(sharp).reason
    raised = A + sharp["N_0"]
    assert np.linalg.eigvalsh(raised)[-1] < exhaustive_nonnegative(A, 1, 2).objective
    opposite = np.array([[1.0, -1.0], [-1.0, 1.0]])
    with_signs = np.array([[1.0], [-1.0]])
    assert "W has negative entries" in check(bound_claim(opposite, 1, 2, with_signs)).reason
    shared = np.array([[1.0, 1.0], [1.0, 0.0]])
    assert "share a feature" in check(bound_claim(A, 2, 2, shared)).reason


def test_eigenvectors_with_two_signs_close_what_no_bound_closes():
    A = np.linalg.eigvalsh(HORN)[-1] * np.eye(5) - HORN
    found = branch_and_bound_nonnegative(A, 1, 5)
    claim = found.certificate | {"A": A}
    assert check(claim).holds
    assert found.gap < 1e-8
    relaxed = solve_nonnegative(A, 1, 5, max_iter=2000)
    assert relaxed.gap > 0.05
    assert exhaustive_nonnegative(A, 1, 5).objective == pytest.approx(found.objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_exact_arithmetic_agrees(seed):
    claim = honest(np.random.default_rng(seed))
    exact = check(claim | {"gap": claim["gap"] + 1e-9}, exact=True)
    assert exact.holds, exact
    assert exact.value >= check(claim).value


def test_a_divided_tree_may_not_be_cut(monkeypatch):
    """Next to nothing is listed, so that trees divide; then a child is taken away, or emptied."""
    monkeypatch.setattr("fspca.proof.nonnegative_tree.ComponentTree.most_enumerated", 1)
    monkeypatch.setattr("fspca.proof.nonnegative_tree.ROOT", tree.Pace(20, 0.05, 50))
    divided = 0
    for seed in range(40):
        A, k = problem(np.random.default_rng(seed))
        claim = branch_and_bound_nonnegative(A, 1, k, n_starts=4).certificate | {"A": A}
        assert check(claim).holds
        if np.max(claim["branch"]) < 0:
            continue
        divided += 1
        if claim["branch"][claim["parent"][-1]] >= 0:  # the last is one of two children
            cut = {name: np.asarray(claim[name])[:-1] for name in ("nodes", "parent", "branch")}
            assert "do not partition" in check(claim | cut).reason
        states = np.array(claim["nodes"])
        states[-1] = 0
        assert "without reason" in check(claim | {"nodes": states}).reason
    assert divided > 5


def test_listed_supports_may_have_fewer_features():
    """Beside each other the two features explain nothing with positive loadings; one alone does."""
    A = np.array([[1.0, -0.5], [-0.5, 0.9]])
    claim = {"version": 1, "kind": "nonnegative", "m": 1, "k": 2, "counts": [2], "A": A}
    claim |= {"nodes": [[1, 1]], "parent": [-1], "branch": [-1], "G_0": np.zeros((2, 0))}
    assert check(claim | {"gap": 1e-9, "W": [[1.0], [0.0]]}).holds
    assert "a listed support" in check(claim | {"gap": 1e-9, "W": [[0.0], [1.0]]}).reason


def test_what_a_direction_adds_is_a_form_of_features_and_directions():
    rng = np.random.default_rng(0)
    N, C = rng.random((6, 6)), rng.standard_normal((2, 4))
    N, both = N + N.T, np.vstack([np.eye(4), C])
    np.testing.assert_allclose(Raised(None, N, C, None).added(C), both.T @ N @ both)
