"""solve_separate: never below what it starts from, exact counts, and components that stand."""

import itertools
import sys

import numpy as np
import pytest

from fspca import (
    SOLVERS,
    Covariance,
    SeparateSupports,
    check_solution,
    datasets,
    exhaustive,
    ipu,
    metrics,
    solve_separate,
    upper_bound,
)
from fspca.problem import objective
from fspca.separate_supports import inverse_power, sweeps
from fspca.separate_supports.blocks import (
    DISJOINT,
    ORTHONORMAL,
    SUBSPACE,
    UNCORRELATED,
    beside,
    best_on,
    climb_block,
    in_turn,
)
from fspca.separate_supports.factors import (
    climb,
    cut_to,
    factors_times,
    fit_within,
    with_lengths,
)
from fspca.synthetic import make_scheme

pytestmark = pytest.mark.filterwarnings("ignore::fspca.ConvergenceWarning")

RIVALS = [n for n, s in SOLVERS.items() if s.problem is SeparateSupports and n != "solve_separate"]
CASES = [("F", 30, 3, 5), ("D", 24, 2, 6), ("E", 20, 4, 3)]
CONDITIONS = [{}, *({name: True} for name in ("uncorrelated", "orthonormal", "disjoint")),
              {"score": "subspace"}]  # fmt: skip
ALL = pytest.mark.parametrize("asked", CONDITIONS, ids=lambda asked: " ".join(asked) or "factors")


@pytest.mark.parametrize("score", ["factors", "subspace"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_below_no_method(case, seed, score):
    scheme, d, m, k = case
    A = make_scheme(scheme, d, seed)
    best = solve_separate(A, m, k, score=score).objective
    for name in (n for n in RIVALS if "sadmm" not in n or not seed):  # these take seconds
        rival = SeparateSupports(m, k, score=score).score(A, SOLVERS[name](A, m, k).W)
        assert best >= rival * (1 - 1e-9), name  # rounding


def leukemia():
    """The genes of 38 samples, standardised."""
    X = datasets.load("leukemia_golub").X[-38:].astype(float)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    return Covariance.from_data(X, divisor=1)


def test_it_is_not_below_the_inverse_power_method_on_genes():
    """Its ratio leads to other features than variances do: once they were no start."""
    A = leukemia()
    rival = inverse_power(A, 3, 17)
    span = solve_separate(A, 3, 17, score="subspace", n_starts=1)
    assert span.objective >= rival.objective
    own = solve_separate(A, 3, 17, n_starts=1)
    assert own.objective >= metrics.explained_by_factors(A, rival.W)
    assert own.score_correlation < 0.3


@ALL
@pytest.mark.parametrize("counts", [[5, 3, 3], [3, 4, 3], 4])
def test_every_component_has_its_count_and_obeys(counts, asked):
    A = make_scheme("F", 30, 1)
    solution = solve_separate(A, 3, counts, **asked)
    assert check_solution(A, solution, SeparateSupports(3, counts, **asked))
    assert np.count_nonzero(solution.W, axis=0).tolist() == np.broadcast_to(counts, 3).tolist()


@ALL
def test_a_condition_costs_what_it_must(asked):
    """Each is a part of the problem without it, for which the same bound holds."""
    A = make_scheme("F", 30, 2)
    free, held = solve_separate(A, 3, 5), solve_separate(A, 3, 5, **asked)
    own = metrics.explained_by_factors(A, held.W)
    assert own <= free.objective * (1 + 1e-9)
    assert own >= 0.7 * free.objective  # far from what drawn lists explain
    if asked.get("uncorrelated"):
        assert own == pytest.approx(objective(A, held.W))
        assert held.score_correlation < 1e-6


def test_copies_of_a_factor_are_not_found_where_there_are_others():
    """Nine copies of one factor, a weaker one of its own three features."""
    Z = np.random.default_rng(0).standard_normal((40, 2)) * [2.0, 1.0]
    X = np.hstack([np.repeat(Z[:, :1], 9, axis=1), np.repeat(Z[:, 1:], 3, axis=1)])
    X += 0.3 * np.random.default_rng(1).standard_normal(X.shape)
    A = Covariance.from_data(X)
    own, span = solve_separate(A, 2, 3), solve_separate(A, 2, 3, score="subspace")
    assert own.support[-3:].tolist() == [9, 10, 11]
    assert own.score_correlation < 0.3
    assert metrics.explained_by_factors(A, span.W) <= own.objective * (1 + 1e-9)


def test_where_the_span_has_no_maximum_factors_attain_theirs():
    e = np.array([1.0, 1, 0, 1, 1, 0, 0, 0])
    A = np.diag([1.0, 1, 5, 1, 1, 1, 1, 1]) + np.outer(e, e)
    solution = solve_separate(A, 2, 3)
    assert solution.objective == pytest.approx(9, rel=1e-12)
    assert best_factors(A, 3) == pytest.approx(9, rel=1e-9)
    assert solve_separate(A, 2, 3, score="subspace").objective > 9.99


@pytest.mark.parametrize("seed", range(10))
def test_turns_never_lower_the_sum_and_need_products_alone(seed):
    A, rng = make_scheme("F", 30, seed), np.random.default_rng(seed)
    asked = []

    def times(V):
        asked.append(V.shape)
        return A @ V

    history, W = climb(times, rng.standard_normal((30, 3)), [5, 4, 3])
    assert np.all(np.diff(history) >= 0)
    assert len(asked) >= len(history) - 1
    assert np.count_nonzero(W, axis=0).tolist() == [5, 4, 3]
    assert metrics.explained_by_factors(A, W) >= history[-1] * (1 - 1e-9)


def test_a_turn_from_other_factors_than_the_best_would_be_seen_to_fall():
    """The saboteur: any orthonormal factors in place of the polar one."""
    A, rng, fell = make_scheme("F", 30, 0), np.random.default_rng(0), 0
    Z = np.linalg.cholesky(A + 1e-9 * np.eye(30)).T
    W, s = with_lengths(cut_to(rng.standard_normal((30, 3)), [5, 5, 5]))
    W, s = with_lengths(cut_to(factors_times(A.__matmul__, W, s), [5, 5, 5]))
    better = with_lengths(cut_to(factors_times(A.__matmul__, W, s), [5, 5, 5]))[1]
    assert np.sum(better**2) >= np.sum(s**2)
    for _ in range(20):
        U = np.linalg.qr(rng.standard_normal((30, 3)))[0]
        fell += np.sum(with_lengths(cut_to(Z.T @ U, [5, 5, 5]))[1] ** 2) < np.sum(s**2)
    assert fell == 20


def test_one_component_is_mostly_the_optimum_of_small_instances():
    hits = 0
    for seed in range(10):
        A = make_scheme("F", 14, seed)
        value, optimum = solve_separate(A, 1, 4).objective, exhaustive(A, 1, 4).objective
        assert value <= optimum * (1 + 1e-9)  # rounding
        hits += value >= optimum * (1 - 1e-9)
    assert hits >= 8


@pytest.mark.parametrize("seed", range(10))
def test_what_a_component_adds_is_the_rise_of_the_score(seed):
    rng = np.random.default_rng(seed)
    A, score = (
        Covariance(make_scheme("F", 12, seed)),
        SeparateSupports(3, 5, score="subspace").score,
    )
    W = np.zeros((12, 3))
    for j in range(3):
        W[rng.choice(12, 5, replace=False), j] = rng.standard_normal(5)
    W /= np.linalg.norm(W, axis=0)
    given, rows = beside(A, W, 2, SUBSPACE), np.flatnonzero(W[:, 2])
    found, V = best_on(given, rows), W.copy()
    V[:, 2] = 0
    V[rows, 2] = found.x
    assert score(A, V) - score(A, W[:, :2]) == pytest.approx(found.gain)
    for _ in range(200):  # no other loadings on these features add more
        V[rows, 2] = found.x + 0.1 * rng.standard_normal(5)
        assert score(A, V) - score(A, W[:, :2]) <= found.gain * (1 + 1e-9)


@pytest.mark.parametrize("condition", [SUBSPACE, ORTHONORMAL])
@pytest.mark.parametrize("seed", range(5))
def test_of_many_patterns_the_best_is_that_of_each_alone(seed, condition):
    rng = np.random.default_rng(seed)
    A = Covariance(make_scheme("F", 12, seed))
    W = rng.standard_normal((12, 3)) * (rng.random((12, 3)) < 0.5)
    W[:, 1] = 0.0  # a component is missing
    W[3, 1] = 1.0
    given, lines = beside(A, W, 2, condition), np.argsort(rng.random((9, 12)))[:, :5]
    each, found = [best_on(given, rows) for rows in lines], best_on(given, lines)
    assert found.gain == pytest.approx(max(one.gain for one in each))
    assert any(np.array_equal(found.rows, rows) for rows in lines)
    if condition == ORTHONORMAL:
        assert np.allclose(given.Q[found.rows].T @ found.x, 0, atol=1e-8)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("condition", [SUBSPACE, ORTHONORMAL, UNCORRELATED, DISJOINT])
def test_sweeps_never_lower_the_score(seed, condition):
    A, score = (
        Covariance(make_scheme("F", 30, seed)),
        SeparateSupports(3, 5, score="subspace").score,
    )
    if condition != SUBSPACE:
        score = lambda A, W: objective(A, W)  # noqa: E731
    W = in_turn(A, solve_separate(A, 3, 5, n_starts=1).W[:, ::-1], [5, 5, 5], condition)
    values = [score(A, W)]
    for _ in range(4):
        W = in_turn(A, W, [5, 5, 5], condition)
        values.append(score(A, W))
    assert np.all(np.diff(values) >= -1e-9 * values[-1])


def test_nothing_more_is_added_by_a_power_step():
    A = Covariance(make_scheme("F", 40, 0))
    W = solve_separate(A, 3, 6, score="subspace").W
    for j in range(3):
        given = beside(A, W, j, SUBSPACE)
        now = best_on(given, np.flatnonzero(W[:, j]))
        assert climb_block(given, now).gain <= now.gain * (1 + 1e-6)


def test_more_features_in_all_than_the_shared_ones_explain_no_less():
    A = make_scheme("F", 30, 2)
    assert solve_separate(A, 2, 10).objective >= 0.97 * ipu(A, 2, 10).objective


@pytest.mark.parametrize("init", ["pca", "variance", "random", np.eye(30)[:, :3]])
def test_seeds_and_starts_hardly_matter(init):
    A = make_scheme("F", 30, 5)
    values = [solve_separate(A, 3, 5, init=init, seed=seed).objective for seed in range(3)]
    assert np.ptp(values) <= 0.01 * max(values)


@pytest.mark.parametrize("seed", [0, 30])
def test_columns_are_orthonormal_where_supports_must_overlap(seed):
    """Three of three features among four: drawn anew, a component may find nothing orthogonal."""
    rng, W = np.random.default_rng(seed), np.zeros((4, 3))
    base = rng.choice(4, 3, replace=False)
    for j in range(3):
        rows = base.copy()
        if j:
            rows[rng.integers(3)] = np.setdiff1d(np.arange(4), base)[0]
        W[rows, j] = rng.standard_normal(3)
    Q = np.linalg.qr(W)[0]
    solution = solve_separate(Q @ Q.T, 3, 3, orthonormal=True, n_starts=1)
    assert np.allclose(solution.W.T @ solution.W, np.eye(3), rtol=0, atol=1e-8)
    assert check_solution(Q @ Q.T, solution)


def test_interrupted_it_keeps_the_best():
    def stop(news):
        if news.step == 2:
            raise KeyboardInterrupt

    A = make_scheme("F", 30, 5)
    solution = solve_separate(A, 3, 5, progress=stop)
    assert solution.stopped == "interrupted"
    assert check_solution(A, solution)


def test_components_drawn_anew_raise_what_sweeps_leave(monkeypatch):
    A = make_scheme("E", 20, 0)
    drawn = solve_separate(A, 3, 4, n_starts=1, uncorrelated=True).objective
    monkeypatch.setattr(sweeps, "KICKS", 0)
    assert drawn > 1.01 * solve_separate(A, 3, 4, n_starts=1, uncorrelated=True).objective


@pytest.mark.parametrize("asked", CONDITIONS[:2], ids=["factors", "uncorrelated"])
def test_starts_on_several_cores_give_the_same_bits(asked, monkeypatch):
    A, news = make_scheme("F", 20, 5), []
    alone = solve_separate(A, 2, 4, n_starts=9, progress=news.append, **asked)
    told = list(news)
    news.clear()
    beside = solve_separate(A, 2, 4, n_starts=9, progress=news.append, n_jobs=2, **asked)
    assert alone.W.tobytes() == beside.W.tobytes()
    assert alone.history == beside.history
    assert told == news
    cut = solve_separate(A, 2, 4, max_seconds=0, n_jobs=2, **asked)
    assert cut.stopped == "max_seconds"
    assert check_solution(A, cut)
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(ImportError, match="n_jobs=2 needs joblib"):
        solve_separate(A, 2, 4, n_jobs=2, **asked)


def test_counts_must_fit():
    with pytest.raises(ValueError, match=r"k=\[2, 3\] must be one count or m=3 counts"):
        solve_separate(np.eye(4), 3, [2, 3])
    with pytest.raises(TypeError, match="orthonormal=1 must be True or False"):
        solve_separate(np.eye(4), 2, 2, orthonormal=1)
    with pytest.raises(ValueError, match="k=1 must be at least m=2"):
        solve_separate(np.eye(4), 2, 1, uncorrelated=True)
    with pytest.raises(ValueError, match=r"init has shape \(2, 2\)"):
        solve_separate(np.eye(4), 2, 2, init=np.eye(2))


def best_of_all(A, k):
    """Return the most that two components of k features explain, over all pairs of supports."""
    A, score = Covariance(A), SeparateSupports(2, k, score="subspace").score
    supports = [np.array(rows) for rows in itertools.combinations(range(A.size), k)]
    best = 0.0
    for I, J in itertools.combinations_with_replacement(supports, 2):
        union = np.union1d(I, J)
        if np.linalg.eigvalsh(A.submatrix(union))[-2:].sum() <= best:
            continue  # no two vectors on the union explain more
        W = np.zeros((A.size, 2))
        W[I, 0] = np.linalg.eigh(A.submatrix(I))[1][:, -1]
        for _ in range(20):
            for j, rows in ((1, J), (0, I)):
                found = best_on(beside(A, W, j, SUBSPACE), rows)
                W[:, j] = 0
                W[rows, j] = found.x
        best = max(best, score(A, W))
    return best


def best_factors(A, k):
    """Return the most that two factors explain found over all pairs of lists, a lower value."""
    supports = [np.array(rows) for rows in itertools.combinations(range(len(A)), k)]
    rng, best = np.random.default_rng(0), 0.0
    for I, J in itertools.combinations_with_replacement(supports, 2):
        if np.linalg.eigvalsh(A[np.ix_(union := np.union1d(I, J), union)])[-2:].sum() <= best:
            continue  # no factors on the union explain more
        for _ in range(3):
            W = np.zeros((len(A), 2))
            W[I, 0], W[J, 1] = rng.standard_normal((2, k))
            W = fit_within(A.__matmul__, with_lengths(W)[0], 60)[0]
            best = max(best, metrics.explained_by_factors(A, W))
    return best


def awkward(rng, n, d, kind):
    """Return data (n x d) as they come, or with a copy, ties, a zero, unit columns, or all ones."""
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 3, d)
    if kind == 1:
        X[:, 1] = X[:, 0]
    elif kind == 2:
        X = np.round(X)
    elif kind == 3:
        X[:, rng.integers(d)] = 0
    elif kind == 4:
        X /= np.maximum(np.linalg.norm(X, axis=0), 1e-9)
    return np.ones((n, d)) if kind == 5 else X


def hostile(seed):
    """A small covariance of awkward spectrum or scale: low rank, duplicates, zeros, ties, huge."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(3, 8)), int(rng.integers(1, 9))
    X = awkward(rng, n, d, seed % 5)
    return X.T @ X * 10.0 ** rng.integers(-8, 9), int(rng.integers(1, min(4, d + 1)))


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_and_the_answer_beside_enumeration(seed):
    A, k = hostile(seed)
    solution, best = solve_separate(A, 2, k, score="subspace"), best_of_all(A, k)
    assert check_solution(A, solution)
    assert solution.upper_bound >= best * (1 - 1e-12)  # rounding of the enumeration
    assert solution.objective >= 0.9 * best


@pytest.mark.parametrize("seed", range(40))
def test_the_answer_by_factors_beside_enumeration(seed):
    A, k = hostile(seed)
    solution, best = solve_separate(A, 2, k), best_factors(A, k)
    assert check_solution(A, solution, rises=True)
    assert solution.upper_bound >= best * (1 - 1e-12)  # rounding of the enumeration
    assert solution.objective >= best * (1 - 1e-6)  # its turns end a little below


def test_a_bound_of_one_support_for_both_would_be_seen_to_fail():
    """The saboteur: k features in all, where each of two components may have its own."""
    assert upper_bound(np.eye(4), 2, 2).bound < best_of_all(np.diag([3.0, 2.0, 2.0, 1.0]), 2)
    below = [upper_bound(A, 2, max(2, k), method="diagonal").bound < best_of_all(A, k)
             for A, k in map(hostile, range(40)) if len(A) > 2]  # fmt: skip
    assert any(below)


@pytest.mark.parametrize(("d", "m", "k"), [(2, 2, 1), (3, 3, 1), (4, 4, 2), (4, 3, 1)])
def test_where_nothing_is_orthogonal_to_the_others_the_answer_stays_one(d, m, k):
    """No kick has a place to go to: columns that it leaves empty would be no answer."""
    for seed in range(3):
        A = make_scheme("F", d, seed)
        found = solve_separate(A, m, k, orthonormal=True)
        assert check_solution(A, found)
        if m == d:
            assert found.objective == pytest.approx(np.trace(A))
