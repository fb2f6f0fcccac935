"""GPower: climbs that never fall, patterns that are found, and counts that are hit."""

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import aslinearoperator

from fspca import ConvergenceWarning, Covariance
from fspca.covariance.factors import factor_of
from fspca.separate_supports import gpower, patterns
from fspca.separate_supports.gpower import climb_penalised
from fspca.separate_supports.patterns import largest_columns, polar
from fspca.synthetic import make_scheme

FORMS = [("l1", False), ("l0", False), ("l1", True), ("l0", True)]
forms = pytest.mark.parametrize(("norm", "block"), FORMS)


def planted(n=60, d=90, seed=0):
    """Data with two components on the features 0 to 4 and 5 to 9, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, :5] += 6 * rng.standard_normal((n, 1))
    X[:, 5:10] += 4 * rng.standard_normal((n, 1))
    return X


@forms
@pytest.mark.parametrize("seed", range(10))
def test_the_penalised_objective_never_falls(norm, block, seed):
    A, m = Covariance(make_scheme("F", 30, seed)), 3 if block else 1
    Z, squares = factor_of(A, m), A.diagonal()
    gamma = 0.2 * squares.max() ** (0.5 if norm == "l1" else 1)
    _, _, values, settled = climb_penalised(Z, largest_columns(Z, squares, m), gamma, norm)
    assert settled
    assert np.all(np.diff(values) >= -1e-12 * values[-1])  # rounding of a sum of d terms


@forms
@pytest.mark.parametrize("seed", range(5))
def test_a_planted_structure_is_found(norm, block, seed):
    A = Covariance.from_data(planted(seed=seed))
    for solution in (
        gpower(A, 2, penalty={"l1": 0.3, "l0": 0.1}[norm], norm=norm, block=block),
        gpower(A, 2, 5, norm=norm, block=block),
    ):
        assert [np.flatnonzero(w).tolist() for w in solution.W.T] == [[*range(5)], [*range(5, 10)]]


@forms
@pytest.mark.parametrize("k", [1, 7, 20, 90])
def test_the_count_is_hit(norm, block, k):
    solution = gpower(Covariance.from_data(planted()), 2, k, norm=norm, block=block)
    assert np.count_nonzero(solution.W, axis=0).tolist() == [k, k]


def test_a_count_that_is_jumped_over_is_truncated():
    solution = gpower(np.ones((6, 6)), 1, 3)  # all features are the same: 6 or none
    assert solution.W[:, 0] == pytest.approx([3**-0.5] * 3 + [0] * 3)


def test_a_count_or_a_penalty_is_given_and_not_both():
    for given in ({}, {"k": 2, "penalty": 0.1}):
        with pytest.raises(ValueError, match="one of the two must be given"):
            gpower(np.eye(3), 1, **given)


@forms
@pytest.mark.parametrize("init", ["pca", "random", np.eye(90)[:, [0, 5]]])
def test_it_starts_where_it_is_told(norm, block, init):
    solution = gpower(Covariance.from_data(planted()), 2, 5, norm=norm, block=block, init=init)
    assert sorted(solution.support) == list(range(10))


@forms
@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_entries_of_any_size(norm, block, unit):
    """Squares of the data's squares would overflow."""
    A = make_scheme("F", 12, 0)
    plain, scaled = (gpower(B, 2, 4, norm=norm, block=block) for B in (A, unit * A))
    assert np.array_equal(plain.support, scaled.support)
    assert scaled.objective == pytest.approx(unit * plain.objective, rel=1e-9)  # rounding


@pytest.mark.parametrize("seed", range(10))
def test_a_larger_penalty_chooses_less_at_the_ends(seed):
    A = make_scheme("F", 20, seed)
    counts = [np.count_nonzero(gpower(A, 1, penalty=penalty).W) for penalty in (0.0, 0.3, 0.999)]
    assert counts[0] == 20
    assert counts[0] >= counts[1] >= counts[2] == 1


def test_without_a_penalty_it_is_pca():
    A = make_scheme("D", 12, 0)
    for norm, block in FORMS:
        objective = gpower(A, 3, penalty=0.0, norm=norm, block=block).objective
        assert objective == pytest.approx(280, rel=1e-3)  # l0 ends where a step gains 1e-6


@pytest.mark.parametrize("seed", range(10))
def test_l0_needs_no_refit(seed):
    """At a fixed point of l0 the loadings are the leading eigenvector on their pattern."""
    A = make_scheme("F", 20, seed)
    solution = gpower(A, 1, penalty=0.3, norm="l0")
    rows = solution.support
    best = np.linalg.eigvalsh(A[np.ix_(rows, rows)])[-1]
    assert solution.objective == pytest.approx(best, rel=1e-4)  # the climb ends at steps of 1e-6


@forms
def test_wide_sparse_and_dense_give_one_answer(norm, block):
    X = planted()
    X[np.abs(X) < 0.5] = 0
    sources = [
        Covariance.from_data(X),
        Covariance.from_data(scipy.sparse.csr_array(X)),
        np.cov(X.T),
        Covariance.from_data(np.vstack([X, np.zeros((60, 90))]), center=False, divisor=1),
    ]
    answers = [gpower(A, 2, 8, norm=norm, block=block) for A in sources]
    for answer in answers[1:3]:
        assert np.array_equal(answer.support, answers[0].support)
        assert answer.objective == pytest.approx(answers[0].objective, rel=1e-6)  # ends of climbs
    assert np.count_nonzero(answers[3].W, axis=0).tolist() == [8, 8]  # tall: an eigenfactor


@forms
@pytest.mark.parametrize("scale", [1e-3, 1e4])
def test_scaling_leaves_the_pattern(norm, block, scale):
    A = make_scheme("F", 20, 1)
    plain = gpower(A, 2, penalty=0.3, norm=norm, block=block)
    scaled = gpower(scale * A, 2, penalty=0.3, norm=norm, block=block)
    assert np.array_equal(plain.W != 0, scaled.W != 0)
    assert scaled.objective == pytest.approx(scale * plain.objective, rel=1e-9)  # rounding


@pytest.mark.parametrize("seed", range(6))
def test_one_penalty_for_all_components_is_uneven(seed):
    """What tan2019 notes of the block form: leading loadings dense, others highly sparse."""
    counts = np.count_nonzero(
        gpower(make_scheme("B", 60, seed), 3, penalty=0.3, block=True).W, axis=0
    )
    assert counts.max() > 2 * counts.min()


def test_the_polar_factor_is_the_best_and_stays_where_all_are():
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.standard_normal((6, 3)))[0]
    G = rng.standard_normal((6, 3))
    # the nuclear norm of G, up to the trace of X that is mixed in
    assert np.vdot(G, polar(G, X)) == pytest.approx(np.linalg.norm(G, "nuc"), rel=1e-12)
    assert np.allclose(polar(np.zeros((6, 3)), X), X, rtol=0, atol=1e-12)  # rounding


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"penalty=1.0 must be below 1"):
        gpower(np.eye(3), 1, penalty=1.0)
    with pytest.raises(ValueError, match=r"norm='l2' must be one of 'l1', 'l0'"):
        gpower(np.eye(3), 1, penalty=0.1, norm="l2")
    with pytest.raises(TypeError, match="block=1 must be True or False"):
        gpower(np.eye(3), 1, 1, block=1)
    with pytest.raises(ValueError, match="k=4 must lie between 1 and d=3"):
        gpower(np.eye(3), 1, 4)


def test_budget_exhausted_warns_and_says_so():
    with pytest.warns(ConvergenceWarning, match="gpower stopped at max_iter=1 "):
        assert not gpower(make_scheme("F", 30, 3), 1, penalty=0.1, max_iter=1).converged


@pytest.mark.parametrize("norm", ["l1", "l0"])
def test_a_penalty_is_relative_to_the_longest_column_and_never_below_rounding(norm):
    power = {"l1": 1, "l0": 2}[norm]
    Z = np.random.default_rng(0).standard_normal((5, 4)) * 30
    squares, X, seen = np.sum(Z**2, axis=0), np.eye(5, 2), []

    def stands(Z, X, gamma, note):
        seen.append(gamma)
        return X, Z.rmatmat(X), 1, "settled"

    peak = np.sqrt(squares.max())
    for penalty in (0.0, 1e-40, 0.3):
        patterns.pattern_at(aslinearoperator(Z), squares, penalty, X, norm, stands)
    least = (8 * np.finfo(float).eps * peak) ** power
    assert seen == pytest.approx([least, least, 0.3 * peak**power], rel=1e-12, abs=0)
    found = patterns.pattern_at(aslinearoperator(Z), squares, 0.999, X[:, ::-1], norm, stands)
    np.testing.assert_allclose(found.X.T @ found.X, np.eye(2), atol=1e-12)
    assert found.mask.any(axis=0).all()  # a component keeps its largest entry


def test_what_k_cuts_stays_within_the_pattern():
    """One column has three entries, of which k leaves two; the other has one, and gains none."""
    Z = aslinearoperator(np.random.default_rng(1).standard_normal((6, 5)))
    X = np.eye(6, 2)
    mask = np.zeros((5, 2), dtype=bool)
    mask[[0, 2, 3], 0] = mask[4, 1] = True
    found = patterns.Pattern(X, Z.rmatmat(X), mask, "settled")
    for norm in ("l1", "l0"):
        W = patterns._fitted(Z, found, norm, 2)
        assert np.count_nonzero(W, axis=0).tolist() == [2, 1]
        assert np.all(mask[W != 0])
        np.testing.assert_allclose(np.linalg.norm(W, axis=0), 1.0)


def test_a_pattern_that_is_not_cut_is_refitted_for_l1_alone():
    Z = aslinearoperator(np.random.default_rng(1).standard_normal((6, 5)))
    X = np.eye(6, 2)
    mask = np.zeros((5, 2), dtype=bool)
    mask[[0, 2, 3], 0] = mask[[1, 4], 1] = True
    found = patterns.Pattern(X, Z.rmatmat(X), mask, "settled")
    as_it_is = patterns.unit_columns_within(found.T, mask)
    refitted = patterns.fitted(Z, mask, X)
    assert np.abs(as_it_is - refitted).max() > 1e-3
    for k in (None, 3):  # three are not more than three
        np.testing.assert_array_equal(patterns._fitted(Z, found, "l0", k), as_it_is)
        np.testing.assert_array_equal(patterns._fitted(Z, found, "l1", k), refitted)
