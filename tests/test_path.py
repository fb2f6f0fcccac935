"""Answers for many counts: each a local optimum, none below its neighbour, bounds that hold."""

from importlib import import_module

import numpy as np
import pytest

from fspca import Covariance, check_solution, exhaustive, path, solve
from fspca.check_certificate import check
from fspca.covariance import as_covariance
from fspca.problem import SharedSupport
from fspca.proof.bounds import least_closed_form
from fspca.proof.checked import CheckedMatrix
from fspca.proof.tree import Along
from fspca.shared_support import swap
from fspca.shared_support.solve import search_from
from fspca.solver import Run
from fspca.synthetic import make_scheme


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("m", "k"), [(2, [2, 3, 4, 6, 9]), ([1, 2, 3, 4], 4)])
def test_values_never_fall_and_bounds_hold(seed, m, k):
    A = make_scheme("F", 12, seed)
    answers = path(A, m, k)
    values = [answer.objective for answer in answers]
    assert np.all(np.diff(values) > 0)
    for answer in answers:
        assert check_solution(A, answer)
        assert answer.solver == "path"
        best = exhaustive(A, answer.problem.m, answer.problem.k).objective
        assert answer.objective <= best * (1 + 1e-12) <= answer.upper_bound * (1 + 2e-12)
        again = swap(A, answer.problem.m, answer.problem.k, init=answer.support)
        assert again.objective == pytest.approx(answer.objective, rel=1e-9)  # no exchange helps


def test_answers_come_in_the_order_asked_and_do_not_depend_on_it():
    A = make_scheme("F", 14, 0)
    there, back = path(A, 2, [4, 7, 5]), path(A, 2, [5, 4, 7])
    assert [answer.problem.k for answer in there] == [4, 7, 5]
    assert [a.objective for a in there] == [back[i].objective for i in (1, 2, 0)]


def test_a_path_is_hardly_below_its_problems_solved_one_by_one():
    shares = []
    for seed in range(10):
        A = make_scheme("F", 30, seed)
        alone = [solve(A, 3, k, seed=0).objective for k in (4, 6, 8, 10)]
        along = [answer.objective for answer in path(A, 3, [4, 6, 8, 10], bound=None)]
        shares.append(np.divide(along, alone))
    assert np.mean(shares) > 0.995
    assert np.min(shares) > 0.95


def test_a_path_shares_its_passes(monkeypatch):
    monkeypatch.setattr("fspca.covariance.covariance.FORMED_SIZE", 0)
    monkeypatch.setattr("fspca.covariance.covariance.DENSE_SIZE", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6)) @ rng.standard_normal((6, 90)) + rng.standard_normal((50, 90))
    cost = {}
    for ks in ([4], [4, 6, 8, 10, 12]):
        A = Covariance.from_data(X.view(np.memmap))
        A.leading(3)  # which all problems need, and which is kept
        before = A.passes
        path(A, 3, ks, n_starts=3)
        cost[len(ks)] = A.passes - before
    assert cost[5] < 3 * cost[1]


def test_the_scale_of_the_covariance_does_not_matter():
    A = make_scheme("F", 12, 0)
    tiny = path(A * 2.0**-980, 2, [3, 5])
    assert [a.objective * 2.0**980 for a in tiny] == [a.objective for a in path(A, 2, [3, 5])]


@pytest.mark.parametrize(("m", "k"), [(2, 4), ([1, 2], [3, 4])])
def test_one_of_the_two_is_a_sequence(m, k):
    with pytest.raises(ValueError, match="one of the two must be a sequence"):
        path(np.eye(5), m, k)


def whole(A, answers, ks, m=2):
    assert [(answer.problem.m, answer.problem.k) for answer in answers] == [(m, k) for k in ks]
    return all(check_solution(A, answer) and answer.solver == "path" for answer in answers)


def test_a_budget_of_seconds_leaves_an_answer_for_each():
    A = make_scheme("F", 30, 0)
    answers = path(A, 2, [3, 5, 8], max_seconds=0)
    assert whole(A, answers, [3, 5, 8])
    assert {answer.stopped for answer in answers} == {"max_seconds"}
    assert all(answer.upper_bound is None for answer in answers)


def test_it_is_told_of_all_steps_and_a_ctrl_c_at_any_of_them_loses_nothing():
    A, ks, told = make_scheme("F", 30, 0), [3, 5, 8], []
    known = path(A, 2, ks, progress=told.append)
    values = [news.objective for news in told]
    assert len(told) > 5
    assert values == sorted(values)
    assert values[-1] == pytest.approx(known[-1].objective)
    for last in range(1, len(told) + 1):

        def interrupt(news, last=last):
            if news.step == last:
                raise KeyboardInterrupt

        answers = path(A, 2, ks, progress=interrupt)
        assert whole(A, answers, ks)
        cut = [answer for answer in answers if answer.stopped == "interrupted"]
        assert cut or [a.objective for a in answers] == [a.objective for a in known]


def test_its_answers_say_what_they_cost_and_share():
    A = make_scheme("F", 12, 0)
    for answer in path(A, 2, [3, 5]):
        assert answer.seconds > 0
        assert answer.total_variance == pytest.approx(np.trace(A))
        assert answer.pca_variance == pytest.approx(np.linalg.eigvalsh(A)[-2:].sum())
    with pytest.raises(ValueError, match="n_starts"):
        path(A, 2, [3, 5], n_starts=-1)
    with pytest.raises(TypeError, match="progress"):
        path(A, 2, [3, 5], progress=3)


def test_a_search_along_the_path_bounds_as_solve_does():
    """Bounds never fall with k, as what is best does not; here most of them close."""
    A = make_scheme("F", 30, 3)
    answers, loose = path(A, 2, [3, 5, 8], bound="search"), path(A, 2, [3, 5, 8])
    assert all(each.gap < other.gap for each, other in zip(answers, loose, strict=True))
    assert np.all(np.diff([answer.upper_bound for answer in answers]) >= 0)
    for answer in answers:
        alone = exhaustive(A, 2, answer.problem.k) if answer.problem.k < 6 else answer
        assert answer.upper_bound >= alone.objective * (1 - 1e-12)


@pytest.mark.parametrize("kind", ["solution", "loadings", "features"])
def test_it_starts_from_what_is_given(kind, monkeypatch):
    """Without other starts, and without exchanges, it cannot be found but from there."""
    module, A = import_module("fspca.shared_support.path"), make_scheme("F", 14, 0)
    best = exhaustive(A, 2, 6)
    init = {"solution": best, "loadings": best.W, "features": best.support}[kind]
    monkeypatch.setattr(module, "first_starts", lambda *all: [])
    monkeypatch.setattr(
        module, "swap", lambda *all, init, **rest: swap(*all, init=init, max_iter=1)
    )
    found = path(A, 2, [6], init=init)[0]
    assert found.objective == pytest.approx(best.objective, rel=1e-12)


def test_a_path_keeps_what_is_required_and_forbidden_by_name_too():
    A = Covariance(make_scheme("F", 12, 3))
    A.names = tuple("abcdefghijkl")
    free = path(A, 2, [3, 5, 8], bound="dual")
    out = [A.names[free[0].support[0]]]
    kept = [name for j, name in enumerate(A.names) if j not in free[2].support][:1]
    found = path(A, 2, [3, 5, 8], bound="dual", required=kept, forbidden=out)
    for solution in found:
        names = {A.names[j] for j in solution.support}
        assert names >= set(kept)
        assert not names & set(out)
        assert check_solution(A, solution)
        k = solution.problem.k
        best = exhaustive(A, 2, k, required=kept, forbidden=out)
        assert solution.objective <= best.objective * (1 + 1e-12)
        assert solution.upper_bound >= best.objective * (1 - 1e-12)
        again = swap(A, 2, k, required=kept, forbidden=out, init=solution.support)
        assert again.objective == pytest.approx(solution.objective, rel=1e-9)  # no exchange helps
    values = [solution.objective for solution in found]
    assert values == sorted(values)
    cut = path(A, 2, [3, 5, 8], required=kept, forbidden=out, max_seconds=0)
    assert all(check_solution(A, solution) for solution in cut)


def test_bounds_on_several_cores_are_the_same_bits():
    A = make_scheme("F", 14, 1)
    for one, other in zip(path(A, 2, [2, 4, 7], bound="dual"),
                          path(A, 2, [2, 4, 7], bound="dual", n_jobs=2), strict=True):  # fmt: skip
        assert one.upper_bound == other.upper_bound
        assert one.W.tobytes() == other.W.tobytes()
        assert (one.certificate is None) == (other.certificate is None)


def searched_for(A, k, before=None):
    """Return (the answer of a search without an end, its counted work, what it leaves behind)."""
    checked = CheckedMatrix.of(as_covariance(A), SharedSupport(2, k).fit(len(A)))
    run, along, first = Run(100_000), Along(), swap(A, 2, k)
    run.record(first.objective, first)
    bound = least_closed_form(checked)
    found = search_from(checked, 0.0, first, bound, run, along=along, before=before)
    return found, run.spent, along


def test_nodes_begin_where_those_of_another_count_ended():
    """Their bounds are reached in less work than from the root of the other count alone."""
    A = make_scheme("F", 30, 2)
    _, _, along = searched_for(A, 8)
    assert along.branches
    assert len(along.ends) > 1
    found, work, _ = searched_for(A, 7, along)
    along.ends, along.branches = {}, {}
    again, more, _ = searched_for(A, 7, along)
    assert work < more
    for answer in (found, again):
        assert answer.gap < 1e-8
        assert check(answer.certificate | {"A": A}).holds


def test_what_another_count_leaves_is_no_part_of_the_proof():
    """It is a start alone: one that misleads, of a count far away, costs work and no truth."""
    A = make_scheme("F", 16, 2)
    _, _, along = searched_for(A, 9)
    best = exhaustive(A, 2, 4)
    found, _, _ = searched_for(A, 4, along)
    assert found.objective == pytest.approx(best.objective, rel=1e-9)
    assert check(found.certificate | {"A": A}).bound >= best.objective * (1 - 1e-12)
