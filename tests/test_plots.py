"""Each picture draws what it is given, returns its axes, and needs no colour to be read."""

from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_wine

matplotlib.use("agg")
import matplotlib.pyplot as plt

from fspca import Covariance, ipu, path, plots, solve, solve_separate
from fspca.selection import select_k
from fspca.sklearn import SparsePrincipalSubspace
from fspca.synthetic import make_scheme


@pytest.fixture(scope="module")
def wine():
    return load_wine(as_frame=True).data


@pytest.fixture(scope="module")
def model(wine):
    return SparsePrincipalSubspace(2, 4, scale=True).fit(wine)


@pytest.fixture(scope="module")
def choice(wine):
    return select_k(wine, 2, [2, 4, 8], subsamples=4, permutations=2, standardize=True)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def labels(ticks):
    return [tick.get_text() for tick in ticks]


def test_loadings_are_named_and_drawn_largest_first(model):
    ax = plots.plot_loadings(model)
    W = model.solution_.W
    drawn = labels(ax.get_yticklabels())
    lengths = dict(zip(model.feature_names_in_, np.linalg.norm(W, axis=1), strict=True))
    assert set(drawn) == set(model.feature_names_in_[model.support_])
    assert [lengths[name] for name in drawn] == sorted(map(lengths.get, drawn), reverse=True)


def test_a_path_is_drawn_below_its_bound_which_is_shaded(wine):
    solutions = path(Covariance.from_data(wine, standardize=True), 2, [2, 5, 9], bound="dual")
    ax = plots.plot_path(solutions)
    value, bound = ax.get_lines()[:2]
    assert value.get_xdata().tolist() == [2, 5, 9]
    assert np.all(value.get_ydata() <= bound.get_ydata() + 1e-9)
    assert value.get_marker() != bound.get_marker()
    assert len(ax.collections) == 1


def test_a_choice_adds_what_was_held_out(choice):
    ax = plots.plot_path(choice)
    held_out = ax.containers[0].lines[0].get_ydata()
    np.testing.assert_allclose(held_out, choice.held_out)


def test_stability_is_a_row_for_each_feature(choice, wine):
    ax = plots.plot_stability(choice, most=5)
    assert len(ax.get_yticklabels()) == 5
    assert set(labels(ax.get_yticklabels())) <= set(wine.columns)


def test_a_biplot_has_an_arrow_for_each_feature_and_markers_for_groups(model, wine):
    y = load_wine().target
    ax = plots.plot_biplot(model, wine, groups=y)
    named = {text.get_text() for text in ax.texts}
    assert set(model.feature_names_in_[model.support_]) <= named
    markers = {len(path.vertices) for path in ax.collections[0].get_paths()}
    assert len(markers) > 1  # the groups differ in shape too


def test_the_names_in_a_biplot_lie_apart_and_within_it(wine):
    """Of ten measurements that point alike; each name is one, and none hides another."""
    model = SparsePrincipalSubspace(2, 10, scale=True).fit(wine)
    ax = plots.plot_biplot(model, wine, groups=load_wine(as_frame=True).target.rename("grower"))
    ax.figure.draw_without_rendering()
    names = [text for text in ax.texts if text.get_text()]
    assert sorted(text.get_text() for text in names) == sorted(wine.columns[model.support_])
    boxes = [text.get_window_extent() for text in names]
    assert not [1 for i, box in enumerate(boxes) if any(box.overlaps(b) for b in boxes[:i])]
    assert min(box.x0 for box in boxes) >= ax.get_window_extent().x0 - 1  # a pixel of layout
    assert max(box.x1 for box in boxes) <= ax.get_window_extent().x1 + 1
    legend = ax.get_legend()
    assert legend.get_title().get_text() == "grower"
    assert legend.get_window_extent().x0 >= ax.get_window_extent().x1  # beside the samples


def test_an_empty_cell_is_empty_and_a_small_loading_keeps_its_sign():
    W = np.array([[0.8, 0.0], [0.6, -0.001], [0.0, 1.0]])
    answer = solve_separate(np.diag([3.0, 2.0, 1.0]), 2, 2)
    answer = replace(answer, W=W, support=np.arange(3))
    written = sorted(text.get_text() for text in plots.plot_loadings(answer).texts)
    assert written == sorted(["0.80", "", "0.60", "-0", "", "1.00"])


def test_an_axis_of_counts_or_steps_has_whole_numbers(wine):
    solution = replace(solve(np.diag([3.0, 2.0, 1.0]), 1, 2), history=[1.0, 2.0, 2.5, 3.0, 3.1])
    counts = path(Covariance.from_data(wine, standardize=True), 2, [2, 3, 4])
    for ax in (plots.plot_history(solution), plots.plot_path(counts)):
        ticks = ax.get_xticks()
        np.testing.assert_array_equal(ticks, np.round(ticks))


def test_on_an_image_and_on_an_axis():
    A = Covariance(np.diag(np.arange(1.0, 13.0)))
    solution = ipu(A, 2, 3)
    image = plots.plot_on_image(solution, (3, 4)).get_images()[0].get_array()
    np.testing.assert_allclose(image.ravel(), np.linalg.norm(solution.W, axis=1))
    with pytest.raises(ValueError, match=r"shape=\(3, 5\) has 15 pixels, and d=12"):
        plots.plot_on_image(solution, (3, 5))
    ax = plots.plot_on_axis(solution, np.linspace(850, 1050, 12))
    lines = ax.get_lines()[1:]
    assert [len(line.get_xdata()) for line in lines] == np.count_nonzero(
        solution.W, axis=0
    ).tolist()


@pytest.mark.parametrize("k", [10, 40])
def test_signs_are_seen_without_colour(k):
    """Red and blue of the same modulus are one grey: minus signs tell them apart."""
    solution = ipu(Covariance(make_scheme("F", 42, 1)), 2, k)
    ax = plots.plot_on_image(solution, (6, 7), component=0)
    assert len(ax.get_lines()[0].get_xdata()) == np.count_nonzero(solution.W[:, 0] < 0) > 0
    told = "".join(text.get_text() for text in plots.plot_loadings(solution).texts)
    assert told.count("-") == np.count_nonzero(solution.W < 0)


def test_a_history_is_drawn_with_its_bound():
    solution = solve(np.diag([3.0, 2.0, 1.0]), 1, 2)
    ax = plots.plot_history(solution)
    assert ax.get_lines()[0].get_ydata().tolist() == list(solution.history)
    assert ax.get_lines()[1].get_ydata()[0] == solution.upper_bound


@pytest.mark.parametrize(
    "draw", ["plot_loadings", "plot_path", "plot_stability", "plot_biplot", "plot_on_image",
             "plot_on_axis", "plot_history"]
)  # fmt: skip
def test_it_draws_where_it_is_told(draw, model, choice, wine):
    _, ax = plt.subplots()
    given = {
        "plot_path": [choice], "plot_stability": [choice], "plot_biplot": [model, wine],
        "plot_on_image": [model, (13, 1)], "plot_history": [model.solution_],
    }.get(draw, [model])  # fmt: skip
    assert getattr(plots, draw)(*given, ax=ax) is ax
    assert ax.get_xlabel() or draw in ("plot_on_image", "plot_on_axis")
