"""The judge finds every fault that an answer can have."""

import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from fspca import (
    Covariance,
    Nonnegative,
    SeparateSupports,
    SharedSupport,
    Solution,
    check_solution,
    exhaustive,
    go,
    solve,
    spannogram,
)
from fspca.check_certificate import check
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.problem import correlation_of_scores, objective, solution_of
from fspca.registry import oracle
from fspca.synthetic import make_scheme

A = make_scheme("F", 6, 0)
GOOD = go(A, 2, 3)
E2 = np.eye(6)[:, :2]
HALF = np.full((6, 1), 6**-0.5)


def changed(**what):
    return replace(GOOD, **{name: np.array(v) if name == "W" else v for name, v in what.items()})


@pytest.mark.parametrize(
    ("solution", "fault"),
    [
        (changed(W=2 * GOOD.W), "unit length"),
        (changed(W=GOOD.W[:, [0, 0]]), "not orthonormal"),
        (changed(W=GOOD.W[:, :1]), "shape"),
        (changed(W=np.where(E2, np.nan, GOOD.W)), "not finite"),
        (changed(W=np.linalg.qr(np.ones((6, 2)) + E2)[0]), "outside the support"),
        (changed(support=np.arange(6)), "more than k=3"),
        (changed(objective=GOOD.objective * 1.001), "as claimed"),
        (changed(upper_bound=GOOD.objective * 0.999), "exceeds its bound"),
    ],
)
def test_each_fault_is_found(solution, fault):
    verdict = check_solution(A, solution)
    assert not verdict
    assert fault in str(verdict)
    assert (verdict.support.size == 0) == np.isnan(verdict.objective)


def test_a_tolerance_is_relative():
    small = replace(GOOD, objective=1e-12 * GOOD.objective, history=())
    assert check_solution(1e-12 * A, small)
    false = replace(small, objective=1.001 * small.objective)
    assert "as claimed" in str(check_solution(1e-12 * A, false))


@pytest.mark.parametrize(
    ("solution", "fault"),
    [
        (changed(objective=np.nan), "the objective claimed, nan, is not finite"),
        (changed(upper_bound=np.nan), "the upper_bound claimed, nan, is not finite"),
        (changed(history=(1.0, np.inf)), "the history holds numbers that are not finite"),
        (changed(history=(1.0, 2.0)), "the history does not hold the objective"),
        (changed(W=GOOD.W + 0j), "complex"),
        (changed(support=GOOD.support[::-1]), "not features in ascending order"),
        (changed(support=[-1, *GOOD.support[1:]]), "not features in ascending order"),
        (changed(support=[*GOOD.support[:-1], 6]), "not features in ascending order"),
        (changed(support=GOOD.support[[0, 0, 1]]), "not features in ascending order"),
        (changed(support=GOOD.support + 0.0), "not features in ascending order"),
    ],
)
def test_a_claim_that_is_none_is_refused(solution, fault):
    assert fault in str(check_solution(A, solution))


def test_a_history_that_falls_is_refused_where_it_should_rise():
    fallen = changed(history=(GOOD.objective, 0.9 * GOOD.objective))
    assert check_solution(A, fallen)
    assert "falls at step 1" in str(check_solution(A, fallen, rises=True))
    risen = changed(history=tuple(GOOD.objective * np.array([0.9, 1.0, 0.8])))
    assert "falls at step 2" in str(check_solution(A, risen, rises=True))
    rounding = changed(history=(GOOD.objective, GOOD.objective * (1 - 1e-14)))
    assert check_solution(A, rounding, rises=True)


def test_a_direction_that_is_rounding_is_not_scored():
    """Singular values 1.41, 1 and 1.6e-13 are two directions; see the eye of five features."""
    W = np.eye(5)[:, [0, 1, 0]]
    W[4, 2] = 1.6e-13
    assert SeparateSupports(3, 3, score="subspace").score(np.eye(5), W) == pytest.approx(2)
    assert Nonnegative(3, 3).score(np.eye(5), W) == pytest.approx(2)
    W[4, 2] = 1e-4  # a direction, if a short one
    assert SeparateSupports(3, 3, score="subspace").score(np.eye(5), W) == pytest.approx(3)


def test_required_and_forbidden_features_are_judged():
    problem = SharedSupport(2, 3, required=[GOOD.support[0]], forbidden=(5,))
    assert problem.required == (int(GOOD.support[0]),)
    absent = next(j for j in range(6) if j not in GOOD.support)
    lacking = SharedSupport(2, 3, required=[absent])
    assert "lacks the required" in str(check_solution(A, GOOD, lacking))
    holding = SharedSupport(2, 3, forbidden=GOOD.support[:1])
    assert "holds the forbidden" in str(check_solution(A, GOOD, holding))


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ({"required": [1, 1]}, r"required=\[1, 1\] must hold different features"),
        ({"required": [-1]}, "must hold different features, 0 or above"),
        ({"forbidden": [6]}, "must lie between 0 and 5"),
        ({"required": [0, 1, 2, 3]}, "must hold at most k=3"),
        ({"required": [1], "forbidden": [1]}, "required and forbidden both hold"),
        ({"forbidden": [0, 1, 2, 3]}, "leaves 2 features, fewer than k=3"),
    ],
)
def test_sides_that_do_not_fit_are_refused(sides, message):
    with pytest.raises(ValueError, match=message):
        SharedSupport(2, 3, **sides).fit(6)


def test_counts_may_differ_between_components():
    assert SeparateSupports(2, [3, 3]) == SeparateSupports(2, 3)
    assert SeparateSupports(2, np.array([3, 1], dtype=np.uint8)).k == (3, 1)
    W = np.zeros((6, 2))
    W[[0, 1], 0] = W[[2, 3], 1] = 0.5**0.5
    assert check_solution(A, W, SeparateSupports(2, [2, 4]))
    fault = str(check_solution(A, W, SeparateSupports(2, (2, 1))))
    assert fault == "column 1 of W has 2 nonzeros, more than k=1"
    with pytest.raises(ValueError, match=r"k=\[1, 2, 3\] must be one count or m=2 counts"):
        SeparateSupports(2, [1, 2, 3])
    with pytest.raises(ValueError, match=r"k=\(2, 7\) must lie between 1 and d=6"):
        Nonnegative(2, [2, 7]).fit(6)


def test_a_pickled_solution_stays_as_it_was():
    copy = pickle.loads(pickle.dumps(changed(orthonormal=E2)))
    assert str(copy) == str(changed(orthonormal=E2))
    for array in (copy.W, copy.support, copy.orthonormal):
        assert not array.flags.writeable


def test_converged_follows_from_why_it_stopped():
    assert changed(stopped="no gain").converged
    for cut in ("max_iter", "max_seconds", "interrupted"):
        assert not changed(stopped=cut).converged
        assert f"ended by {cut})" in str(changed(stopped=cut))


def test_a_good_answer_passes():
    verdict = check_solution(A, GOOD)
    assert verdict
    assert verdict.objective == pytest.approx(GOOD.objective)
    assert np.array_equal(verdict.support, GOOD.support)
    assert check_solution(A, GOOD.W, SharedSupport(2, 3))
    assert check_solution(A, changed(upper_bound=GOOD.objective))
    assert check_solution(A, E2, SharedSupport(2, 3)).support.tolist() == [0, 1]
    with pytest.raises(TypeError, match="can only be judged as an answer to a problem"):
        check_solution(A, E2)


def test_what_k_means_differs():
    W = np.zeros((6, 2))
    W[[0, 1], 0] = W[[2, 3], 1] = 0.5**0.5
    assert not check_solution(A, W, SharedSupport(2, 3))
    assert check_solution(A, W, SharedSupport(2, 4))
    assert check_solution(A, W, SeparateSupports(2, 2))
    assert check_solution(A, W, Nonnegative(2, 2))
    assert not check_solution(A, W, SeparateSupports(2, 1))
    assert "negative" in str(check_solution(A, -W, Nonnegative(2, 2)))


def test_separate_supports_do_not_count_variance_twice():
    twice = np.hstack([HALF, HALF])
    for score in ("factors", "subspace"):
        counted = SeparateSupports(2, 6, score=score).score(A, twice)
        assert counted == pytest.approx(objective(A, HALF))
    assert objective(A, twice) == pytest.approx(2 * objective(A, HALF))
    x = np.abs(HALF[:, :1])
    doubled = np.hstack([x, x])
    assert Nonnegative(2, 6).score(A, doubled) == pytest.approx(objective(A, x))


def test_oracles():
    best = oracle(A, SharedSupport(1, 3)).objective
    assert oracle(A, SeparateSupports(1, 3)).objective == best
    assert oracle(A, SeparateSupports(2, 3)) is None
    assert oracle(A, Nonnegative(1, 3)).objective <= best
    assert oracle(A, Nonnegative(2, 3)) is None


def test_a_solution_is_frozen_and_prints_in_two_short_lines():
    with pytest.raises(FrozenInstanceError):
        GOOD.objective = 0.0
    with pytest.raises(ValueError, match="read-only"):
        GOOD.W[0, 0] = 1.0
    what, known = str(GOOD).splitlines()
    assert f"explains {GOOD.objective:.6g} (" in what
    assert what.endswith(" on 3 of 6 features")
    assert known.startswith("  with m=2 components (")
    assert GOOD.gap is None
    assert "contradicted by the upper bound" in str(changed(upper_bound=0.9 * GOOD.objective))
    W = np.array(GOOD.W)
    changed(W=W)
    W[0, 0] = 1.0  # the caller's array is not frozen
    assert changed(upper_bound=1.1 * GOOD.objective).gap == pytest.approx(0.1)


WIDTH = 90  # characters, which a page of the book shows in one row


@pytest.mark.parametrize("score", ["factors", "subspace"])
def test_what_is_printed_of_a_large_table_fits_a_page(score):
    """Long numbers, a proof and a name; what the lists share has a line of its own."""
    W = np.zeros((7129, 3))
    W[:50, 0] = W[50:100, 1] = W[100:150, 2] = 50**-0.5
    told = {"n_iter": 125250, "score_correlation": 0.05, "total_variance": 5.12345e6}
    told |= {"upper_bound": 81234.5, "pca_variance": 81234.5, "certificate": {"gap": 0.0159}}
    problem = SeparateSupports(3, 50, score=score)
    solution = Solution(W, np.arange(150), 79961.4, problem, "solve_separate", (79961.4,), **told)
    lines = str(solution).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= WIDTH, max(lines, key=len)
    assert str(replace(solution, about="of 90 % of the rows")).splitlines()[:3] == lines


def test_an_orthonormal_copy_is_judged_and_frozen():
    good = changed(orthonormal=np.eye(6)[:, :2])
    assert check_solution(A, good)
    assert not good.orthonormal.flags.writeable
    for bad in (np.eye(6)[:, :2] * (1 + 1e-7), np.eye(6)[:, [0, 0]], np.eye(5)[:, :2]):
        assert "`orthonormal` are not orthonormal" in str(
            check_solution(A, changed(orthonormal=bad))
        )


@pytest.mark.parametrize("names", [None, ("a", "b", "c", "d")])
def test_loadings_in_a_frame_are_those_of_the_features_chosen(names):
    A = Covariance(np.diag([1.0, 4.0, 2.0, 3.0]))
    A.names = names
    solution = solve(A, 2, 3)
    frame = solution.to_frame()
    rows = solution.support if names is None else [names[j] for j in solution.support]
    assert frame.index.tolist() == list(rows)
    assert frame.columns.tolist() == ["component 1", "component 2"]
    np.testing.assert_array_equal(frame.to_numpy(), solution.W[solution.support])


def test_proven_is_said_of_what_the_checker_accepts_and_of_nothing_else():
    """Enumeration and bounds that carry no claim have words of their own."""
    A = np.diag([5.0, 3.0, 1.0])
    answers = {
        "proven optimal": solve(A, 1, 2, gap=0.0),
        "optimal by enumeration": exhaustive(A, 1, 2),
        "optimal by a computed bound": spannogram(A, 1, 2, rank=3),
    }
    for words, answer in answers.items():
        assert f": {words} (" in str(answer)
        claimed = answer.certificate is not None
        assert claimed == ("proven" in words)
        assert not claimed or check(answer.certificate | {"A": A}).holds
    assert ": optimal by enumeration (" in str(exhaustive_nonnegative(A, 1, 2))
    loose = replace(answers["optimal by a computed bound"], upper_bound=6.0)
    assert ": by a computed bound the optimum is at most 20 % higher (" in str(loose)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "sum"}, "score='sum' must be one of 'factors', 'subspace'"),
        ({"disjoint": 1}, "disjoint=1 must be True or False"),
        ({"score": "subspace", "uncorrelated": True}, "score='subspace' and uncorrelated=True are"),
        ({"orthonormal": True, "disjoint": True}, "orthonormal=True and disjoint=True are"),
    ],
)
def test_scores_and_conditions_that_do_not_go_together_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SeparateSupports(2, 3, **options)


def test_conditions_that_may_have_no_answer_are_refused():
    with pytest.raises(ValueError, match="k=1 must be at least m=2"):
        SeparateSupports(2, 1, uncorrelated=True).fit(6)


def test_each_condition_on_separate_supports_is_judged():
    B = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    slanted = np.array([[1.0, 0.6], [0.0, 0.8], [0.0, 0.0]])
    verdicts = {
        "uncorrelated": "scores of W have a covariance of 2, not 0",
        "orthonormal": "the columns of W are not orthonormal",
        "disjoint": "columns of W share the features [0]",
    }
    assert check_solution(B, slanted, SeparateSupports(2, 2))
    for condition, fault in verdicts.items():
        asked = SeparateSupports(2, 2 if condition != "disjoint" else 1, **{condition: True})
        assert fault in str(check_solution(B, slanted, asked))
    apart = np.array([[0.5**0.5, 0.5**0.5], [0.5**0.5, -(0.5**0.5)], [0.0, 0.0]])
    for condition in ("uncorrelated", "orthonormal"):
        assert check_solution(B, apart, SeparateSupports(2, 2, **{condition: True}))


def test_a_problem_of_separate_supports_prints_what_was_asked():
    assert repr(SeparateSupports(2, [3, 1])) == "SeparateSupports(m=2, k=(3, 1))"
    assert repr(SeparateSupports(2, 3, score="subspace")).endswith("k=3, score='subspace')")
    assert SeparateSupports(2, 3) != SeparateSupports(2, 3, uncorrelated=True)
    assert pickle.loads(pickle.dumps(SeparateSupports(2, 3, disjoint=True))).disjoint


def test_rounding_makes_no_score_less_than_none_and_no_correlation_above_one():
    K = np.array([[1.0, 1 + 1e-15, 0], [1 + 1e-15, 1.0, 0], [0, 0, -1e-17]])
    with np.errstate(all="raise"):
        assert correlation_of_scores(K) == 1.0


def test_an_answer_times_a_unit_is_that_of_the_covariance_times_it():
    bounded = changed(upper_bound=1.1 * GOOD.objective)
    found = bounded.times(4.0)
    for name in ("objective", "upper_bound", "history"):
        assert np.array_equal(getattr(found, name), 4 * np.array(getattr(bounded, name)))
    assert check_solution(4 * A, found)


def test_what_explains_nothing_has_no_gap_where_nothing_can():
    """A share of 0 is none: what counts is the excess beside all variance."""
    nothing = changed(objective=0.0, upper_bound=1e-9, total_variance=2.0)
    assert nothing.gap == 0.0
    assert replace(nothing, upper_bound=1e-3).gap == np.inf


def test_small_scores_correlate_as_large_ones_do():
    K = np.array([[4.0, -1.0], [-1.0, 1.0]])
    assert correlation_of_scores(K / 100) == pytest.approx(correlation_of_scores(K), rel=1e-12)


def test_an_answer_of_loadings_knows_its_rows_and_how_its_scores_correlate():
    found = solution_of(A, SeparateSupports(2, 1), E2, "")
    assert found.support.tolist() == [0, 1]
    assert found.n_iter == 0
    expected = abs(A[0, 1]) / np.sqrt(A[0, 0] * A[1, 1])
    assert found.score_correlation == pytest.approx(expected, rel=1e-12)
    assert solution_of(A, SeparateSupports(1, 1), E2[:, :1], "").score_correlation is None


@pytest.mark.parametrize(("problem", "words"), [
    (SeparateSupports(2, 3), "by m=2 uncorrelated factors"),
    (SeparateSupports(2, 3, score="subspace"), "in the span of m=2 components"),
    (SeparateSupports(2, 3, orthonormal=True), "with m=2 components"),
    (SeparateSupports(1, 3), "with m=1 component"),
    (SharedSupport(2, 3), "with m=2 components"),
])  # fmt: skip
def test_an_answer_names_its_score(problem, words):
    assert str(changed(problem=problem)).splitlines()[1].strip().startswith(words)


def test_an_answer_prints_its_share_of_all_variance_and_of_pcas():
    half = changed(total_variance=2 * GOOD.objective, pca_variance=None)
    assert " (50 % of all) on" in str(half)
    assert " (50 % of all, 80 % of PCA's) on" in str(
        replace(half, pca_variance=GOOD.objective / 0.8)
    )


@pytest.mark.parametrize("problem", [SharedSupport, SeparateSupports, Nonnegative])
def test_only_a_shared_support_is_one_and_no_problem_has_no_component(problem):
    assert problem(1, 2).one_support == (problem is SharedSupport)
    with pytest.raises(ValueError, match="m=0"):
        problem(0, 2)


def test_sides_are_named():
    with pytest.raises(TypeError):
        SharedSupport(1, 2, (0,))


@pytest.mark.parametrize(("make", "message"), [
    (lambda: SeparateSupports(2, [3, 1], uncorrelated=True).fit(6), "at least m=2"),
    (lambda: Nonnegative(2, [2, 1], in_all=True), "one count of at least m=2"),
    (lambda: Nonnegative(3, 2, in_all=True), "one count of at least m=3"),
])  # fmt: skip
def test_counts_that_do_not_fit_a_condition_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
