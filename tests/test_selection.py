"""Choosing how many: what is measured is what is said, fold by fold."""

import json
import os
import sys

import numpy as np
import pytest

from fspca import Covariance, path, selection, solve
from fspca.selection import Choice, fewest, held_out_share, select_k, select_m, stability


def planted(n, d, k, strength, seed):
    """Return n samples with one direction of variance 1 + strength on the first k of d features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, :k] += np.sqrt(strength / k) * rng.standard_normal((n, 1))
    return X


def test_held_out_share_is_what_is_left_after_the_residual():
    rng = np.random.default_rng(0)
    W, X = rng.standard_normal((6, 2)), rng.standard_normal((20, 6)) + 3
    mean, scale = rng.standard_normal(6), rng.uniform(1, 2, 6)
    Z = (X - mean) / scale
    rest = Z - Z @ W @ np.linalg.solve(W.T @ W, W.T)
    expected = 1 - np.vdot(rest, rest) / np.vdot(Z, Z)
    assert held_out_share(W, X, mean, scale) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("standardize", [False, True])
def test_no_row_of_a_fold_takes_part_in_its_fit(standardize):
    X, rows, asked = planted(30, 5, 2, 4.0, 0), np.arange(5), (1, [2, 5])
    before = selection.fold_shares(X, rows, asked, (True, standardize), {})
    seen = []
    original = selection.prepared
    try:
        selection.prepared = lambda X, *given: seen.append(len(X)) or original(X, *given)
        Y = X.copy()
        Y[rows] *= -1  # around zero: another fold, the same others
        after = selection.fold_shares(Y, rows, asked, (True, standardize), {})
    finally:
        selection.prepared = original
    assert seen == [25]
    A, mean, scale = original(X[5:], True, standardize)
    for each, one, other in zip(selection.quick(A, asked, {}), before, after, strict=True):
        W = each.W
        assert one == held_out_share(W, X[:5], mean, scale)
        assert other == held_out_share(W, -X[:5], mean, scale)


def test_stability_is_one_for_agreement_zero_for_chance_and_covers():
    same = np.tile([True, False, True, False], (10, 1))
    assert stability(same) == (1.0, (1.0, 1.0))
    rng = np.random.default_rng(0)
    index, (low, high) = stability(rng.permuted(np.tile(np.arange(20) < 5, (2000, 1)), axis=1))
    assert low < 0 < high
    assert abs(index) < 0.01
    assert stability(np.ones((5, 3), bool))[0] == 1.0
    assert stability(np.zeros((5, 3), bool)) == (1.0, (1.0, 1.0))


def test_stability_by_the_definition():
    Z = np.random.default_rng(1).random((7, 11)) < 0.4
    share, density = Z.mean(axis=0), Z.mean()
    unbiased = 7 / 6 * share * (1 - share)
    assert stability(Z)[0] == pytest.approx(1 - unbiased.mean() / (density * (1 - density)))


def test_the_interval_covers_the_index_of_many_runs():
    rng, d = np.random.default_rng(2), 30
    share = np.concatenate([np.full(5, 0.9), np.full(25, 0.1)])
    truth = stability(rng.random((50_000, d)) < share)[0]
    intervals = [stability(rng.random((40, d)) < share)[1] for _ in range(300)]
    covered = np.mean([low <= truth <= high for low, high in intervals])
    assert covered > 0.88  # of 0.95 asymptotically; at 40 runs a little less


@pytest.fixture(scope="module")
def choice():
    return select_k(planted(80, 12, 3, 40.0, 0), 1, [1, 2, 3, 4, 6, 12], subsamples=10)


def test_a_strong_planted_count_is_found(choice):
    assert choice.chosen == 3
    assert choice.stability[2] == 1.0
    assert choice.frequency[2].tolist() == [1.0] * 3 + [0.0] * 9
    assert "k=3" in str(choice)
    np.testing.assert_array_equal(choice.solution.support, [0, 1, 2])


def test_the_rule_is_one_standard_error(choice):
    from dataclasses import replace

    nothing = np.zeros(6)
    moved = replace(
        choice, held_out=np.array([0.1, 0.5, 0.58, 0.6, 0.59, 0.5]),
        standard_error=np.array([0.5, 0.5, 0.5, 0.03, 0.5, 0.5]), noise=nothing,
    )  # fmt: skip
    assert (moved.best, moved.chosen) == (4, 3)
    assert replace(moved, standard_error=nothing).chosen == 4


def test_the_elbow_is_highest_above_the_line_from_the_first_to_the_last(choice):
    from dataclasses import replace

    counts, nothing = np.array([1, 2, 5, 10]), np.zeros(4)
    bent = replace(choice, counts=counts, explained=np.array([0.0, 0.5, 0.6, 0.7]), noise=nothing)
    assert bent.elbow == 2
    assert replace(bent, explained=np.array([0.0, 0.1, 0.6, 0.7])).elbow == 5
    assert replace(bent, explained=np.array([0.2, 0.21, 0.3, 0.65])).elbow == 1  # it has none
    assert replace(bent, counts=np.array([3]), explained=np.array([0.5])).elbow == 3
    assert choice.elbow == 3


def test_bounds_and_shares_are_those_of_the_solutions(choice):
    A = Covariance.from_data(planted(80, 12, 3, 40.0, 0))
    solutions = path(A, 1, choice.counts.tolist(), bound="dual")
    for solution, explained, bound in zip(solutions, choice.explained, choice.bound, strict=True):
        assert explained == solution.objective / A.trace
        assert explained <= bound * (1 + 1e-12)
        assert bound == solution.upper_bound / A.trace
    assert choice.noise[0] == pytest.approx(choice.explained[0])  # one column stays what it was
    assert np.all(choice.noise[1:] < 0.7 * choice.explained[1:])


def test_the_number_of_components():
    X = planted(100, 10, 3, 30.0, 0)
    X[:, 3:6] += 3 * np.random.default_rng(5).standard_normal((100, 1))
    choice = select_m(X, 6, [1, 2, 3], subsamples=4)
    assert choice.what == "m"
    gains = np.diff(choice.explained, prepend=0)
    assert gains[1] > 3 * gains[2]


def test_names_stay_with_the_features():
    import pandas as pd

    X = pd.DataFrame(planted(40, 4, 2, 20.0, 0), columns=list("abcd"))
    choice = select_k(X, 1, [1, 2], subsamples=3, folds=3)
    assert choice.names == tuple("abcd")
    assert choice.solution.names == tuple("abcd")
    assert choice.to_frame().index.name == "k"


@pytest.mark.parametrize("at", [1, 4, 8, 14])
def test_a_run_that_was_ended_goes_on_to_the_same_choice(tmp_path, monkeypatch, at):
    X, file = planted(40, 6, 2, 20.0, 0), tmp_path / "rows"
    asked = {"m": 1, "ks": [1, 2, 6], "folds": 3, "permutations": 2, "subsamples": 10}
    whole, calls = select_k(X, **asked), []

    def stopped(*given):
        calls.append(given)
        if len(calls) == at:
            raise KeyboardInterrupt
        return original(*given)

    original = selection.quick
    monkeypatch.setattr(selection, "quick", stopped)
    try:
        early = select_k(X, **asked, resume=file)
        assert at > 7  # two halves were there
        assert early.held_out.tolist() == whole.held_out.tolist()
    except KeyboardInterrupt:
        assert at <= 7
    with file.open("a") as kept:
        kept.write("[0.1, 0.")  # a line cut off
    monkeypatch.setattr(selection, "quick", original)
    again = select_k(X, **asked, resume=file)
    assert again.held_out.tolist() == whole.held_out.tolist()
    assert again.frequency.tolist() == whole.frequency.tolist()
    assert len([json.loads(line) for line in file.read_text().splitlines()[1:]]) == 15
    with pytest.raises(ValueError, match="rows of other data or options"):
        select_k(X, **asked | {"seed": 1}, resume=file)


def test_news_is_told_for_every_fit():
    news = []
    select_k(planted(20, 4, 2, 9.0, 0), 1, [1, 2], folds=2, permutations=2, subsamples=2,
             progress=news.append)  # fmt: skip
    assert len(news) == 6


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"folds": 1}, "folds=1 must lie between 2 and n / 2 = 10"),
        ({"folds": 11}, "folds=11 must lie"),
        ({"subsamples": 1}, "subsamples=1 must be at least 2"),
        ({"permutations": 1}, "permutations=1 must be at least 2"),
        ({"ks": [0, 1]}, "k=0 must"),
        ({"ks": [5]}, "k=5 must lie between m=1 and d=4"),
    ],
)
def test_bad_input_is_refused_before_any_work(asked, said):
    with pytest.raises(ValueError, match=said):
        select_k(planted(20, 4, 2, 9.0, 0), 1, **{"ks": [1, 2]} | asked)


def test_fewest_is_the_fewest():
    A = Covariance.from_data(planted(60, 10, 4, 8.0, 3))
    for share in (0.1, 0.2, 0.4):
        k = fewest(A, 2, share)
        assert solve(A, 2, k).objective >= share * A.trace * (1 - 1e-12)
        assert k == 2 or solve(A, 2, k - 1).objective < share * A.trace


def test_choices_print_and_are_frozen(choice):
    assert isinstance(choice, Choice)
    with pytest.raises(AttributeError):
        choice.counts = None


def test_what_is_required_and_forbidden_holds_at_each_count_and_in_each_fit():
    import pandas as pd

    X = planted(80, 8, 3, 40.0, 0)  # alone the first three would be chosen
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    named = select_k(frame, 1, required=["h"], forbidden=["a", "b"], subsamples=6)
    assert named.counts.tolist() == [1, 2, 3, 4, 5, 6]
    for solution in named.solutions:
        assert 7 in solution.support
        assert not {0, 1} & set(solution.support.tolist())
        A = Covariance.from_data(X)
        best = solve(A, 1, len(solution.support), required=[7], forbidden=[0, 1]).objective
        assert solution.objective == pytest.approx(best, rel=1e-9)
        assert solution.upper_bound >= solution.objective * (1 - 1e-12)
    assert np.all(named.frequency[:, 7] == 1)
    assert np.all(named.frequency[:, :2] == 0)
    by_number = select_k(X, 1, required=[7], forbidden=[0, 1], subsamples=6)
    assert by_number.held_out.tolist() == named.held_out.tolist()
    free = select_k(X, 1, [1, 2], subsamples=6)
    assert free.held_out[1] > named.held_out[1]  # the folds too are held to it
    assert free.noise[0] != named.noise[0]  # and what is permuted
    choice = select_m(frame, 4, [1, 2], required=["h"], subsamples=4)
    assert all(7 in solution.support for solution in choice.solutions)
    with pytest.raises(ValueError, match="required holds 'z', the name of no column"):
        select_k(frame, 1, required=["z"])


def same_bits(one, other):
    """Whether two choices agree to the last bit, but for how long each took."""
    rows = ("explained", "bound", "held_out", "standard_error", "frequency", "stability",
            "interval", "noise")  # fmt: skip
    answers = zip(one.solutions, other.solutions, strict=True)
    return all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in rows
    ) and all(a.W.tobytes() == b.W.tobytes() for a, b in answers)


def test_several_cores_give_the_same_bits():
    X, news = planted(60, 9, 3, 8.0, 0), []
    asked = {"m": 1, "ks": [1, 3, 9], "subsamples": 6}
    alone = select_k(X, **asked)
    assert same_bits(alone, select_k(X, **asked, n_jobs=2, progress=news.append))
    assert len(news) == 5 + 5 + 6  # in order: folds, permutations, halves
    assert same_bits(select_m(X, 3, [1, 2], subsamples=4), select_m(X, 3, [1, 2], subsamples=4,
                                                                    n_jobs=-1))  # fmt: skip
    assert not same_bits(alone, select_k(X, **asked, seed=1, n_jobs=2))


def test_what_joblib_says_holds_and_more_than_one_job_runs_elsewhere(monkeypatch, tmp_path):
    """A run that goes on does only what is left, whatever the number of cores."""
    import joblib

    from fspca.solver import each_of

    assert set(each_of(os.getpid, [()] * 4, 2)) - {os.getpid()}
    assert set(each_of(os.getpid, [()] * 4, None)) == {os.getpid()}
    with joblib.parallel_config(n_jobs=2):
        assert set(each_of(os.getpid, [()] * 4, None)) - {os.getpid()}
    X, file = planted(40, 6, 2, 20.0, 0), tmp_path / "rows"
    asked = {"m": 1, "ks": [1, 2, 6], "folds": 3, "permutations": 2, "subsamples": 10}
    whole = select_k(X, **asked, resume=file)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:9]))
    assert same_bits(whole, select_k(X, **asked, resume=file, n_jobs=2))
    assert file.read_text() == "".join(lines)
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(ImportError, match=r"n_jobs=2 needs joblib: pip install 'fspca\[learn\]'"):
        select_k(X, **asked, n_jobs=2)
    with pytest.raises(ValueError, match="n_jobs=0 must be None, at least 1, or -1"):
        select_k(X, **asked, n_jobs=0)
    with pytest.raises(TypeError, match="n_jobs=True must be an integer"):
        path(X.T @ X, 1, [1, 2], n_jobs=True)


def test_the_interval_is_that_of_the_definition():
    """Nogueira, Sechidis and Brown's estimate of the variance, each run in a loop of its own."""
    Z = np.random.default_rng(3).random((9, 14)) < np.linspace(0.1, 0.8, 14)
    runs, d = Z.shape
    index, (low, high) = stability(Z)
    density = Z.sum() / (runs * d)
    each = []
    for chosen in Z:
        k = chosen.sum()
        agreed = sum(Z[:, j].mean() for j in np.flatnonzero(chosen)) / d
        chance = 2 * k * density / d - k / d - density + 1
        each.append((agreed - k * density / d + index / 2 * chance) / (density * (1 - density)))
    spread = 1.96 * np.sqrt(4 / runs**2 * sum((one - np.mean(each)) ** 2 for one in each))
    assert (low, high) == pytest.approx((index - spread, index + spread), rel=1e-12)
    assert high < 1
    wide = np.array([[True, False, False]] * 5 + [[True, True, False]])
    index, (low, high) = stability(wide)
    assert high == 1.0  # and no more, though the interval would reach further
    assert index - low > 1 - index


def test_deviations_are_those_of_a_covariance_and_a_constant_is_left_as_it_is():
    X = planted(12, 4, 2, 4.0, 0) + 5
    X[:, 3] = 7.0
    A, mean, scale = selection.prepared(X, True, True)
    np.testing.assert_allclose(mean, X.mean(axis=0))
    np.testing.assert_allclose(scale[:3], np.sqrt(np.diag(np.cov(X[:, :3], rowvar=False))))
    assert scale[3] == 1.0
    np.testing.assert_allclose(A.diagonal(), [1, 1, 1, 0], atol=1e-12)
    _, mean, scale = selection.prepared(X, False, False)
    assert (mean.tolist(), scale.tolist()) == ([0.0] * 4, [1.0] * 4)


def test_the_standard_error_is_that_of_the_mean_of_the_folds(tmp_path):
    file = tmp_path / "rows"
    X = planted(40, 6, 2, 20.0, 0)
    choice = select_k(X, 1, [1, 2, 6], folds=4, permutations=2, subsamples=3, resume=file)
    rows = [json.loads(line) for line in file.read_text().splitlines()[1:]]
    shares, noise = np.array(rows[:4]), np.array(rows[4:6])
    deviations = np.sqrt(((shares - shares.mean(axis=0)) ** 2).sum(axis=0) / 3)
    np.testing.assert_allclose(choice.standard_error, deviations / 2)
    np.testing.assert_allclose(choice.held_out, shares.mean(axis=0))
    np.testing.assert_allclose(choice.noise, np.maximum(*noise))


@pytest.mark.parametrize(("k", "counts"), [(3, [1, 2, 3]), (12, list(range(1, 11)))])
def test_components_are_tried_from_one_to_the_lesser_of_ten_and_k(k, counts):
    X = np.random.default_rng(0).standard_normal((30, 14))
    choice = select_m(X, k, subsamples=2, permutations=2, folds=2, bound="shifted")
    assert choice.counts.tolist() == counts
