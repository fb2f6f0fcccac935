"""What required features leave: a bound in closed form, and the proofs that are made of it."""

from itertools import combinations

import numpy as np
import pytest
from test_second_checker import second_holds

from fspca import check_certificate as checker
from fspca.check_certificate import Exact, Floating, Matrix, Node, check
from fspca.covariance import as_covariance
from fspca.problem import SharedSupport
from fspca.proof.checked import CheckedMatrix
from fspca_reproduction.book.near_ties import proven


def problem(seed):
    """A covariance of integers, of any rank and with near copies, with m, k and some required."""
    rng = np.random.default_rng(seed)
    d, m = int(rng.integers(4, 9)), int(rng.integers(1, 4))
    X = rng.integers(-9, 10, (int(rng.integers(1, d + 2)), d))
    if seed % 2:
        X = 20 * X[:, rng.integers(0, 3, d)] + rng.integers(-1, 2, X.shape)
    k = int(rng.integers(m, d))
    required = rng.permutation(d)[: rng.integers(0, k + 1)]
    return (X.T @ X).astype(float), m, k, np.sort(required)


def required_bound(numbers, A, m, k, required):
    """The rest and the costs that the checker finds, in its unit, with what it read."""
    state = np.ones(len(A), dtype=np.int8)
    state[required] = 2
    node = Node(state, Matrix(A, False, numbers), {"whole": 3, "G": None, "Y": None})
    return checker.shared_bound(node, numbers, m, k)


@pytest.mark.parametrize("part", range(4))
def test_no_support_explains_more_than_what_is_required_leaves(part):
    """The theorem on required features, and that the least it leaves is often all there is."""
    tight = 0
    for seed in range(100 * part, 100 * part + 100):
        A, m, k, required = problem(seed)
        if not A.any():
            continue
        numbers = Floating(A, False, [])
        rest, c = required_bound(numbers, A, m, k, required)
        others = np.setdiff1d(np.arange(len(A)), required)
        for more in combinations(others, k - len(required)):
            support = [*required, *more]
            value = np.linalg.eigvalsh(A[np.ix_(support, support)])[-m:].sum()
            bound = numbers.back(rest + c[list(more)].sum())
            assert value <= bound * (1 + 1e-12) + 1e-9, seed
            tight += bound <= value * (1 + 1e-9) + 1e-9
    assert tight > 100


def test_where_the_matrix_is_not_semidefinite_it_is_made_so():
    """Without what makes it so the bound of three zeros beside -4 would be -2."""
    A = np.diag([-4.0, 0, 0])
    for kind in (Floating, Exact):
        rest, c = required_bound(kind(A, False, []), A, 1, 3, [0])
        assert rest + c.sum() >= 0


def test_floating_point_is_on_the_side_of_the_bound():
    for seed in range(60):
        A, m, k, required = problem(seed)
        if not A.any():
            continue
        exact, near = Exact(A, False, []), Floating(A, False, [])
        rest, c = required_bound(exact, A, m, k, required)
        above, costs = required_bound(near, A, m, k, required)
        room = 1e-12 * np.trace(A)  # exact bounds are raised too, by less than a part in 1e12
        assert near.back(above) >= exact.back(rest) - room
        for i in range(len(A)):
            assert near.back(costs[i]) >= exact.back(c[i]) - room


def claims_of(seeds):
    """Search from the worst support; three checkers are to take what is claimed."""
    divided = 0
    for seed in seeds:
        A, m, k, _ = problem(seed)
        supports = list(combinations(range(len(A)), k))
        values = [np.linalg.eigvalsh(A[np.ix_(I, I)])[-m:].sum() for I in supports]
        if min(values) <= 0:
            continue
        checked = CheckedMatrix.of(as_covariance(A), SharedSupport(m, k))
        found = proven(checked, np.array(supports[np.argmin(values)]), 10_000)
        assert found.objective == pytest.approx(max(values), rel=1e-8)
        assert found.gap < 1.001e-9
        claim = found.certificate | {"A": A}
        assert check(claim).holds, seed
        assert check(claim, exact=True).holds, seed
        assert second_holds({name: np.asarray(x) for name, x in claim.items()}), seed
        divided += len(claim.get("nodes", ())) > 1
    return divided


def test_a_search_by_what_is_required_finds_the_best_and_three_checkers_take_it(monkeypatch):
    monkeypatch.setattr("fspca_reproduction.book.near_ties.RequiredTree.most_enumerated", 1)
    assert claims_of(range(30)) > 10


def near_copies(d=24, groups=4):
    """Correlations near 1 within groups, so that optima differ by millionths."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, groups))[:, np.arange(d) % groups]
    return np.corrcoef((X + 1e-3 * rng.standard_normal((40, d))).T)


def test_optima_that_differ_by_millionths_are_told_apart():
    A = near_copies()
    A = (A + A.T) / 2
    checked = CheckedMatrix.of(as_covariance(A), SharedSupport(1, 5))
    found = proven(checked, np.arange(5), 10_000)
    best = max(np.linalg.eigvalsh(A[np.ix_(I, I)])[-1] for I in combinations(range(24), 5))
    assert found.objective == pytest.approx(best, rel=1e-12)
    assert 5 - best < 1e-4
    assert check(found.certificate | {"A": A}).holds
