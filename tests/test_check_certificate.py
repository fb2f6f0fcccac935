"""The checker accepts what is true, refuses what is not, and raises on nothing."""

import ast
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import fspca.check_certificate as checker
from fspca.check_certificate import EXACT_SIZE, check, sha256

COUNT = 10_000  # mutations; ten times as many by night


def best_of(A, m, k, required=(), forbidden=()):
    """Return the optimum and its support, by enumeration."""
    allowed = np.setdiff1d(np.arange(len(A)), forbidden)
    supports = np.array(list(combinations(allowed, min(k, len(allowed)))))
    supports = supports[[set(required) <= set(I) for I in supports.tolist()]]
    blocks = A[supports[:, :, None], supports[:, None, :]]
    values = np.linalg.eigvalsh(blocks)[:, -m:].sum(axis=1)
    return values.max(), supports[np.argmax(values)]


def is_true(claim):
    """Say whether an accepted claim is true, whatever proof it carries."""
    A, m, k = np.asarray(claim["A"], float), int(claim["m"]), int(claim["k"])
    I, R, F = (np.asarray(claim.get(x, []), int) for x in ("support", "required", "forbidden"))
    honest = len(set(I.tolist())) == len(I) <= k and min([*I, 0]) >= 0 and set(R) <= set(I)
    value = np.linalg.eigvalsh(A[np.ix_(I, I)])[-m:].sum()
    most = best_of(A, m, k, R, F)[0]
    return (
        honest
        and not set(I) & set(F)
        and most <= value + claim["gap"] * abs(value) + 1e-12 * abs(most)
    )


def random_problem(rng):
    d = int(rng.integers(3, 8))
    k = int(rng.integers(1, d + 1))
    m = int(rng.integers(1, k + 1))
    rank = int(rng.integers(1, d + 2))
    if rng.random() < 0.3:  # repeated eigenvalues, ties, exact optima
        B = rng.integers(-3, 4, (rank, d)).astype(float)
    else:
        B = rng.standard_normal((rank, d)) * np.exp(rng.standard_normal(d))
    A = B.T @ B + 0.1 * np.eye(d)
    return (A + A.T) / 2 * 2.0 ** int(rng.integers(-40, 40)), m, k


def arrays_for(A, m, rng):
    """Return a G and a Y that are not bad."""
    w, V = np.linalg.eigh(A)
    share = rng.random()
    G = V[:, -m:] * np.sqrt(np.maximum(w[-m:] - w[max(0, len(A) - m - 1)], 0) * share)
    Y = rng.choice([0.0, 0.3, 1.0]) * (A - np.diag(np.diag(A))) * (rng.random(A.shape) < 0.9)
    return G, Y


def honest_bound(rng):
    A, m, k = random_problem(rng)
    chosen = best_of(A, m, k)[1]
    required = rng.permutation(chosen)[: rng.integers(0, k + 1)] * (rng.random() < 0.5)
    required = np.unique(required) if set(required) <= set(chosen) else chosen[:0]
    forbidden = np.setdiff1d(np.arange(len(A)), chosen)[: rng.integers(0, 2)]
    G, Y = arrays_for(A, m, rng)
    rows = np.setdiff1d(np.arange(len(A)), forbidden)
    claim = {
        "version": 1, "kind": "shared", "m": m, "k": k, "gap": 1e9, "A": A, "support": chosen,
        "required": required, "forbidden": forbidden, "G_0": G[rows], "Y_0": Y[np.ix_(rows, rows)],
    }  # fmt: skip
    verdict = check(claim)
    assert verdict.holds, verdict
    return claim | {"gap": verdict.bound / verdict.value - 1 + 1e-12}


def honest_tree(rng):
    """The root decides, its child divides, and both parts are listed or closed."""
    A, m, k = random_problem(rng)
    _, chosen = best_of(A, m, k)
    G, Y = arrays_for(A, m, rng)
    numbers = checker.Floating(A, False, [])
    matrix = checker.Matrix(A, False, numbers)
    read = {"G": numbers.read(G, 1), "Y": numbers.read(Y, 2), "s": None, "H": None}
    read["whole"] = None
    node = checker.Node(np.ones(len(A), int), matrix, read)
    _, c, bound = checker.bound_node(node, numbers, m, k, checker.shared_bound)
    block = matrix.block(chosen)[0][None]
    target = numbers.target(numbers.top_sums(block, m, 0)[0][0], 1e-9)
    inside, outside = checker.decisions(c, node.required, k, bound, target)
    decided = np.where(outside & ~inside, 0, np.where(inside & ~outside, 2, 1))
    free = np.flatnonzero(decided == 1)
    states, parent, branch = [np.ones(len(A), int), decided], [-1, 0], [-1, -1]
    if len(free) and bound > target:
        branch[1] = free[0]
        for side in (2, 0):
            states.append(np.where(np.arange(len(A)) == free[0], side, decided))
        parent, branch = parent + [1, 1], branch + [-1, -1]
    claim = {
        "version": 1, "kind": "shared", "m": m, "k": k, "gap": 1e-9, "A": A, "support": chosen,
        "nodes": np.array(states), "parent": parent, "branch": branch, "G_0": G, "Y_0": Y,
    }  # fmt: skip
    verdict = check(claim)
    assert verdict.holds, verdict
    return claim


def honest_few(rng):
    """Wide data with any G on all features and any Y on some of them; the claim is its bound."""
    n, d = int(rng.integers(1, 5)), int(rng.integers(4, 9))
    m = int(rng.integers(1, 3))
    k = int(rng.integers(m, d))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-2, 0, d)
    A = X.T @ X
    chosen = best_of(A, m, k)[1]
    sizes = np.sum(X**2) / d * 10.0 ** rng.uniform(-3, 1, 2)
    few = rng.permutation(d)[: rng.integers(1, d + 1)]
    G = np.sqrt(sizes[0]) * rng.standard_normal((d, 2))
    Y = sizes[1] * rng.standard_normal((len(few),) * 2)
    M = A - G @ G.T
    M[np.ix_(few, few)] -= (Y + Y.T) / 2
    w, V = np.linalg.eigh(M)
    s = max(w[-m], 1e-3 * sizes.max())
    H = V[:, -m:] * np.sqrt(np.maximum(w[-m:] - s, 0))
    claim = {
        "version": 1, "kind": "shared", "m": m, "k": k, "gap": 1e9, "X": X, "support": chosen,
        "required": chosen[: rng.integers(0, 2)], "few_0": few, "Y_0": Y, "G_0": G,
        "s_0": s * (1 + 1e-9), "H_0": H,
    }  # fmt: skip
    verdict = check(claim)
    assert verdict.holds, verdict
    return claim | {"gap": verdict.bound / verdict.value - 1 + 1e-12}


@pytest.mark.parametrize("seed", range(100))
def test_rows_of_few_features_bound_what_enumeration_finds(seed):
    """No bound lies below the optimum, and it is that of the matrix with a Y that is padded."""
    claim = honest_few(np.random.default_rng(seed))
    X, few, m, k = claim["X"], claim["few_0"], claim["m"], claim["k"]
    A = (X.T @ X + (X.T @ X).T) / 2
    verdict = check(claim)
    assert verdict.bound >= best_of(A, m, k, claim["required"])[0] * (1 - 1e-12)
    padded = np.zeros_like(A)
    padded[np.ix_(few, few)] = claim["Y_0"]
    formed = {x: v for x, v in claim.items() if x not in ("X", "s_0", "H_0", "few_0")}
    dense = check(formed | {"A": A, "Y_0": padded, "gap": 1e9})
    assert dense.bound * (1 - 1e-9) <= verdict.bound
    M = A - claim["G_0"] @ claim["G_0"].T - (padded + padded.T) / 2
    if np.linalg.eigvalsh(M)[-m] >= claim["s_0"] * (1 - 1e-8):  # the witness was not raised
        assert verdict.bound == pytest.approx(dense.bound, rel=1e-6)
    assert not check(claim | {"gap": claim["gap"] * (1 - 1e-6) - 1e-9}).holds


def shaken(x, rng):
    """Return an array (or whatever) that is near x, or not."""
    x = np.array(x)
    at = tuple(rng.integers(0, n) for n in x.shape) if x.size else ()
    ways = [
        lambda: x * rng.choice([0.0, 0.5, -1.0, 1 + 1e-6, 2.0]),
        lambda: x + rng.choice([-1, 1, 2, -3]),
        lambda: x[..., ::-1] if x.ndim else -x,
        lambda: x[:1] if x.ndim else x[None],
        lambda: x.T if x.ndim > 1 else x.reshape(-1, 1),
        lambda: np.concatenate([x, x[-1:]]) if x.ndim else x,
        lambda: x[1:] if x.ndim else np.float16(x),
        lambda: x.astype(rng.choice(["int8", "uint8", "float16", "complex128", "U5", "O", "bool"])),
        lambda: rng.choice([np.nan, np.inf, -np.inf, 1e308, -1, 0, 2**62, -(2**63)]),
        lambda: np.array([]),
        lambda: rng.permuted(x) if x.ndim else x,
    ]
    if x.size and rng.random() < 0.5:
        y = x.copy()
        if x.dtype.kind in "iu":
            y[at] = rng.integers(-2, 8)
        elif x.dtype.kind == "f":
            y[at] = rng.choice([np.nan, np.inf, 0.0, 1e200, -y[at], 2 * y[at], 0.9 * y[at]])
        return y
    with np.errstate(all="ignore"):
        try:
            return ways[rng.integers(len(ways))]()
        except (TypeError, ValueError):  # of what was shaken before
            return x.astype("U5")


def forged(claim, rng):
    claim = dict(claim)
    for _ in range(rng.integers(1, 3)):
        name = list(claim)[rng.integers(len(claim))]
        if rng.random() < 0.1:
            del claim[name]
        elif name == "gap":
            claim[name] = claim[name] * rng.choice([0.5, -1.0, 0.99, np.nan, np.inf, 0.0])
        elif name in ("version", "kind"):
            claim[name] = rng.choice(["shared", "separate", "", "2", "nonnegative"])
        else:
            claim[name] = shaken(claim[name], rng)
        if not claim:
            break
    return claim


def attack(count, seed):
    """Return how many of so many forged claims were accepted, all of them true."""
    rng, accepted = np.random.default_rng(seed), 0
    for number in range(count):
        if number % 20 == 0:
            claim = honest_tree(rng) if number % 40 else honest_bound(rng)
        forgery = forged(claim, rng)
        verdict = check(forgery)
        assert isinstance(verdict.holds, bool)
        assert isinstance(verdict.reason, str)
        if verdict.holds:
            accepted += 1
            assert is_true(forgery), forgery
    return accepted


@pytest.mark.filterwarnings("ignore")  # a forged array may warn when it is made
def test_no_forgery_is_accepted_and_none_raises():
    assert attack(COUNT, 0) > COUNT / 50  # some changes leave a claim true


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(1, 11))
def test_no_forgery_is_accepted_by_night(seed, record_property):
    record_property("instances", COUNT)
    attack(COUNT, seed)


@pytest.mark.parametrize("junk", [None, 3, "no such file", {}, [], {"version": 1}, b"", object()])
def test_junk_is_refused(junk):
    assert not check(junk).holds


def honest():
    claim = honest_tree(np.random.default_rng(5))
    assert (np.asarray(claim["nodes"]) != 1).any()
    return claim


def test_known_forgeries_are_refused():
    A = np.diag([1.0, 2.0, 3.0])
    claim = {"version": 1, "kind": "shared", "m": 2, "k": 2, "A": A, "gap": 0.0, "G_0": np.eye(3)}
    assert "between 0 and d - 1" in check(claim | {"support": [-3, 0]}).reason
    assert "twice" in check(claim | {"support": [2, 2]}).reason
    assert "between 0 and d - 1" in check(claim | {"support": [1, 3]}).reason
    claim["support"] = [1, 2]
    assert check(claim | {"version": 2}).reason == "the version must be 1"
    assert "shape" in check(claim | {"G_0": np.ones((1, 3))}).reason
    assert "not finite" in check(claim | {"G_0": np.full((3, 3), np.nan)}).reason
    assert "real numbers" in check(claim | {"G_0": 1j * np.eye(3)}).reason
    small = np.diag([100, 60]).astype(np.int8)  # A + A' overflows
    forged = claim | {"A": small, "m": 1, "k": 1, "support": [1], "G_0": np.zeros((2, 0))}
    assert not check(forged).holds
    assert check(forged | {"support": [0], "gap": 1e-9}).holds


def test_a_tree_may_not_forget_a_required_feature():
    """The optimum is 2 on [0, 1]; the tree decides nothing, and drops what it should hold."""
    A = np.diag([1.0, 1.0, 0.7, 0.7])
    claim = {
        "version": 1, "kind": "shared", "m": 2, "k": 2, "A": A, "support": [2, 3], "gap": 1e-9,
        "nodes": [[1, 1, 1, 1], [2, 0, 1, 1], [0, 1, 1, 1]], "parent": [-1, 0, 0],
        "branch": [0, -1, -1], "G_0": np.zeros((4, 1)),
    }  # fmt: skip
    assert "without reason" in check(claim).reason
    claim["nodes"] = [[1, 1, 1, 1], [0, 1, 1, 1], [2, 1, 1, 1]]
    assert "may explain more" in check(claim).reason
    assert check(claim | {"support": [0, 1]}).holds


def test_a_matrix_that_is_not_carried_is_bound_by_its_hash():
    claim = honest_bound(np.random.default_rng(3))
    A = claim.pop("A")
    assert check(claim | {"source": "the moon"}).reason == "needs data: the moon"
    assert "carries its matrix or the sha256" in check(claim, A=A).reason
    claim["sha256"] = sha256("A", A)
    assert check(claim).reason.startswith("needs data")
    assert check(claim, A=A).holds
    assert "not the matrix of the claim" in check(claim, A=A * (1 + 1e-15)).reason


@pytest.mark.parametrize("seed", range(40))
def test_exact_arithmetic_agrees(seed):
    """What holds exactly by a part in 10^9 holds in floating point, and the other way round."""
    rng = np.random.default_rng(seed)
    claim = honest_bound(rng) if seed % 2 else honest_tree(rng)
    rough, exact = check(claim), check(claim, exact=True)
    assert exact.holds, exact
    assert exact.value >= rough.value
    assert exact.bound <= rough.bound or "nodes" in claim  # there it is the target
    assert exact.bound == pytest.approx(rough.bound, rel=1e-9)


@pytest.mark.parametrize("d", [20, 60])
def test_exact_arithmetic_at_size(d):
    rng = np.random.default_rng(d)
    B = rng.integers(-9, 10, (d // 2, d))
    A = (B.T @ B).astype(float)
    w, V = np.linalg.eigh(A)
    G = (V[:, -3:] * np.sqrt(w[-3:] - w[-4])).astype(np.float32)
    claim = {"version": 1, "kind": "shared", "m": 3, "k": 5, "A": A, "support": np.arange(5)}
    claim |= {"gap": 1e3, "G_0": G, "Y_0": np.triu(A, 1).astype(np.float32) / 4}
    rough, exact = check(claim), check(claim, exact=True)
    assert rough.holds
    assert exact.holds
    assert exact.bound <= rough.bound == pytest.approx(exact.bound, rel=1e-10)


def test_exact_arithmetic_ends_at_a_size_that_it_names():
    d = EXACT_SIZE + 1
    claim = {"version": 1, "kind": "shared", "m": 1, "k": 1, "A": np.eye(d), "support": [0]}
    claim |= {"gap": 1e-9, "G_0": np.zeros((d, 0))}
    assert check(claim).holds
    assert check(claim, exact=True).reason == f"exactly only up to {EXACT_SIZE} features"


@pytest.mark.parametrize("seed", range(20))
def test_wide_data_agree_with_their_matrix(seed):
    """The Cholesky factor of the size of samples proves what that of the features proves."""
    rng = np.random.default_rng(seed)
    n, d, m, k = 4, 30, 2, 6
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d)) * 10.0 ** rng.integers(-3, 4)
    A = X.T @ X
    w, V = np.linalg.eigh(A)
    G = V[:, -m:] * np.sqrt(w[-m:] - w[-m - 1])
    s = w[-m - 1] * (1 + 1e-9)
    claim = {"version": 1, "kind": "shared", "m": m, "k": k, "support": np.arange(k), "gap": 1e9}
    wide = check(claim | {"X": X, "G_0": G, "s_0": s, "H_0": np.zeros((d, 0))})
    dense = check(claim | {"A": (A + A.T) / 2, "G_0": G})
    assert wide.holds
    assert dense.holds
    assert wide.bound == pytest.approx(dense.bound, rel=1e-8)
    low = claim | {"X": X, "G_0": G, "s_0": s * (1 - 1e-6), "H_0": np.zeros((d, 0))}
    assert "not above" in check(low).reason
    formed = check(claim | {"X": X, "G_0": G})  # without s the matrix is formed
    assert formed.bound == pytest.approx(dense.bound, rel=1e-10)
    whole = check(claim | {"X": X, "whole_0": 1})
    assert whole.bound == pytest.approx(np.sort(np.diag(A))[-k:].sum(), rel=1e-10)
    assert whole.bound >= check(claim | {"X": X, "whole_0": 1}, exact=True).bound
    formed = check(claim | {"A": (A + A.T) / 2, "whole_0": 1})
    assert formed.bound == pytest.approx(whole.bound, rel=1e-10)


def test_margins_cover_rounding_where_the_truth_is_an_integer():
    """Each bound in floating point is above the bound of the same arrays in exact arithmetic."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        d, m = 6, 1 + seed % 3
        B = rng.integers(-9, 10, (m, d)) * 2.0 ** rng.integers(-12, 13, d)
        w, V = np.linalg.eigh(B.T @ B)
        claim = {"version": 1, "kind": "shared", "m": m, "k": 4, "A": B.T @ B, "gap": 1e9}
        claim |= {"support": np.arange(4), "G_0": V[:, -m:] * np.sqrt(np.maximum(w[-m:], 0))}
        rough, exact = check(claim), check(claim, exact=True)
        optimum = np.sort(np.diag(B.T @ B))[-4:].sum()  # the rank is m, so it is exact
        assert rough.bound >= exact.bound >= optimum
        assert rough.value <= exact.value


def test_the_checker_imports_numpy_alone():
    tree = ast.parse(Path(checker.__file__).read_text())
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    names = {alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}
    names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    own = {"fractions", "functools", "hashlib", "itertools", "math", "pathlib", "sys", "typing"}
    own |= {"zipfile"}
    assert names == own | {"numpy"}


def test_the_command_checks_folders(tmp_path, capsys):
    claim = honest_bound(np.random.default_rng(1))
    np.savez(tmp_path / "a.npz", **claim)
    np.savez(tmp_path / "b.npz", **claim | {"gap": 0.0, "G_0": 0 * claim["G_0"]})
    np.savez(tmp_path / "c.npz", **{x: v for x, v in claim.items() if x != "A"}, source="elsewhere")
    (tmp_path / "d.npz").write_bytes(b"PK no archive")
    assert checker.check_files([str(tmp_path)]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("a.npz: holds")
    assert lines[2] == "c.npz: needs data: elsewhere"
    assert lines[3].startswith("d.npz: no certificate")


def test_a_tree_begins_with_the_whole_problem():
    """The optimum is 3 on [2]; a tree that begins without that feature would prove another."""
    A = np.diag([1.0, 2.0, 3.0])
    claim = {
        "version": 1, "kind": "shared", "m": 1, "k": 1, "A": A, "support": [1], "gap": 1e-9,
        "nodes": [[1, 1, 0]], "parent": [-1], "branch": [-1], "G_0": np.zeros((2, 0)),
    }  # fmt: skip
    assert check(claim).reason == "the first node is not the whole problem"
    assert check(claim | {"forbidden": [2]}).holds
    assert not check(claim | {"forbidden": [0, 1, 2]}).holds
    assert "fewer than m features" in check(claim | {"forbidden": [0, 1, 2]}).reason
