"""The live figures compute what the module computes, and say what is seen, at every width."""

import json
from itertools import combinations

import live_instances
import numpy as np
import pytest
import toc
from browser import PROGRAM, Browser

from fspca import Covariance, exhaustive, go, ipu, solve_separate, upper_bound
from fspca.covariance.linalg import largest
from fspca.nonnegative import spannogram
from fspca.separate_supports import gpower
from fspca.separate_supports.alternation import steps

LIVE = toc.ROOT / "book" / "static" / "live"
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium here: the figures are not run")

# What each preset shows must be what the words below the figure say.
PRESETS = {
    "climb": {
        "from Go": "stays at once",
        "up to the optimum": "will come in",
        "stuck below": "will come in",
    },
    "split": {
        "by features alone": "counted by features",
        "by components alone": "PCA's bound",
        "flat noise: proven": "no search was needed",
        "noise with a shape": "least of all levels",
    },
    "spannogram": {
        "toward the longest": "% of the largest",
        "the best angle": "the largest of all",
        "fewer than three are best": "Fewer than 3 curves",
    },
    "threshold": {
        "all stay": "all features stay",
        "more than wanted": "no threshold keeps 5",
        "one step further": "% of the best choice of as many",
    },
    "copies": {
        "the first step": "collected their difference",
        "they meet": "They agree",
        "too light: they swing": "do not settle",
        "no penalty: PCA": "Without a penalty",
    },
    "prices": {
        "no prices": "a higher price there lowers the bound",
        "the best prices": "They meet: proven",
        "no prices suffice": "No prices do better here",
    },
}
PAGE = """<!doctype html><html data-theme="{theme}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="{css}">
<style>:root {{ --pst-color-text-base: #222; --pst-color-background: #fff }}
html[data-theme="dark"] {{ --pst-color-text-base: #ced6dd; --pst-color-background: #14181e }}
body {{ margin: 0 16px; font: 16px/1.65 sans-serif; background: var(--pst-color-background) }}
article {{ max-width: 720px }} </style><article>{figures}
<script defer src="{live}"></script><p id="after">After.</p></article>"""
FIGURE = (
    '<figure class="live" data-live="{}"><p>In the book a live figure stands here.</p></figure>'
)
BUTTONS = "[...document.querySelectorAll('.live-presets button')]"
WORDS = "document.querySelector('.live-words').textContent"
SEEN = "document.querySelector('figure.live svg').innerHTML + " + WORDS
STUCK_OUT = """(() => {
    const box = document.querySelector("figure.live svg").getBoundingClientRect();
    return [...document.querySelectorAll("figure.live svg *")]
        .map((e) => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
        .filter(([, r]) => r.left < box.left - 1 || r.right > box.right + 1
            || r.top < box.top - 1 || r.bottom > box.bottom + 1)
        .map(([words]) => words);
})()"""


@pytest.fixture(scope="module")
def browser():
    with Browser() as one:
        yield one


@pytest.fixture(scope="module")
def kernel(browser, tmp_path_factory):
    """Run an expression of JavaScript after the kernel of the figures."""
    page = tmp_path_factory.mktemp("kernel") / "page.html"
    page.write_text(f'<script src="{(LIVE / "kernel.js").as_uri()}"></script>')
    browser.open(page)
    tab = browser.browser.new_page()
    tab.goto(page.as_uri())
    yield lambda script, *given: tab.evaluate(
        script,
        [np.asarray(each).tolist() if isinstance(each, np.ndarray) else each for each in given],
    )
    tab.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a page of files with one figure, and return the browser."""

    def show(name, width=760, theme="light", state=""):
        path = tmp_path / f"{name}-{theme}.html"
        css, live = (toc.ROOT / "book" / "static" / n for n in ("book.css", "live/live.js"))
        scene = {"css": css.as_uri(), "live": live.as_uri(), "figures": FIGURE.format(name)}
        path.write_text(PAGE.format(theme=theme, **scene))
        browser.page.goto("about:blank")
        browser.open(path.as_uri() + state, width, theme)
        browser.until("!!document.querySelector('.live-words')?.textContent")
        return browser

    return show


def instances(count):
    """Return covariances of 4 to 9 features from as many or fewer samples, with m and k."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(4, 10))
        X = rng.standard_normal((int(rng.integers(2, 2 * d)), d)) * rng.uniform(0.5, 2, d)
        m = int(rng.integers(1, 4))
        yield X.T @ X, m, int(rng.integers(m, d + 1))


def test_our_scripts_are_small():
    assert sum(path.stat().st_size for path in LIVE.iterdir()) < 60_000


def test_the_instances_are_those_that_the_search_finds():
    assert (LIVE / "instances.js").read_text() == live_instances.written()


def test_a_thousand_instances_have_the_module_s_answers(kernel):
    asked = [(A.tolist(), m, k) for A, m, k in instances(1000)]
    rows = kernel("""([asked]) => asked.map(([A, m, k]) => {
        const first = kernel.go(A, m, k), last = kernel.ipu(A, m, k, first.support).at(-1);
        const best = kernel.exhaustive(A, m, k), level = kernel.eigen(A).values[m] ?? 0;
        return [first.support, first.value, last.support, last.value, best.support, best.value,
                kernel.split(A, m, k, level).bound, kernel.split(A, m, k, 0).bound];
    })""", asked)  # fmt: skip
    for (A, m, k), row in zip(instances(1000), rows, strict=True):
        ours = [go(A, m, k), ipu(A, m, k), exhaustive(A, m, k)]
        for i, solution in enumerate(ours):
            assert row[2 * i + 1] == pytest.approx(solution.objective, rel=1e-9)
            assert row[2 * i] == solution.support.tolist()
        assert row[6] == pytest.approx(upper_bound(A, m, k, method="shifted").bound, rel=1e-9)
        assert row[7] == pytest.approx(upper_bound(A, m, k, method="diagonal").bound, rel=1e-9)


def test_ties_go_to_the_smaller_index_there_too(kernel):
    rng = np.random.default_rng(0)
    scores = [rng.integers(0, 4, 9) + 1e-14 * rng.random(9) for _ in range(200)]
    found = kernel(
        "([all]) => all.map((s) => kernel.largest(s, 4))", [score.tolist() for score in scores]
    )
    assert found == [largest(score, 4).tolist() for score in scores]


def test_ipu_climbs_from_a_start_as_the_module_does(kernel):
    found = live_instances.climb()
    A, m, k = found["A"], found["m"], found["k"]
    for start in found["starts"]:
        path = kernel(
            "([A, m, k, I]) => kernel.ipu(A, m, k, I).map((s) => s.value)", A, m, k, start
        )
        share, rises = live_instances.reached(A, m, k, start, found["best"])
        assert path[-1] == pytest.approx(share * found["best"], rel=1e-9)
        assert len(path) == rises + 1


def test_no_level_s_bound_is_below_the_optimum(kernel):
    for A, m, k in instances(60):
        top = np.linalg.eigvalsh(A)[-1]
        levels = np.linspace(0, top, 23)
        every = "([A, m, k, levels]) => levels.map((s) => kernel.split(A, m, k, s).bound)"
        bounds = kernel(every, A, m, k, levels)
        assert min(bounds) >= exhaustive(A, m, k).objective * (1 - 1e-9)
        ours = upper_bound(A, m, k, method="eigenvalue").bound
        assert bounds[-1] == pytest.approx(ours, rel=1e-9)


def test_the_best_cell_is_the_module_s_optimum(kernel):
    rng = np.random.default_rng(1)
    for k in (1, 2, 3, 5):
        for _ in range(20):
            V = rng.standard_normal((7, 2))
            cells = kernel("([V, k]) => kernel.cells(V, k)", V, k)
            best = spannogram(V @ V.T, 1, k, rank=2)
            top = max(cells, key=lambda cell: cell["value"])
            assert top["value"] == pytest.approx(best.objective, rel=1e-9)
            assert top["support"] == best.support.tolist()
            assert sum(cell["to"] - cell["from"] for cell in cells) == pytest.approx(2 * np.pi)


def test_a_threshold_keeps_what_the_module_keeps(kernel):
    for A, _, _ in instances(60):
        threshold = 0.3 * np.sqrt(A.diagonal().max())
        row = kernel("([A, t]) => kernel.thresholded(A, t)", A, threshold)
        solution = gpower(A, 1, penalty=0.3, tol=1e-13, max_iter=20_000)
        assert row["support"] == np.flatnonzero(solution.W[:, 0]).tolist()
        assert row["value"] == pytest.approx(solution.objective, rel=1e-9)


@pytest.mark.parametrize(
    ("share", "weight"), [(0.2, 1.0), (0.2, 0.5), (0.1, 0.3), (0.4, 2.0), (0, 1)]
)
def test_the_two_copies_step_as_the_module_s_do(kernel, share, weight):
    A = live_instances.copies()["A"]
    penalty, rho = share * np.linalg.eigvalsh(A)[-1], weight * np.linalg.norm(A)
    ours = kernel("([A, p, r]) => kernel.twoCopies(A, p, r, 30)", A, float(penalty), float(rho))
    V = Covariance(A).leading(1)[1]
    for row, step in zip(ours, steps(Covariance(A), V, penalty, rho, rho), strict=False):
        sign = np.sign(step.V[:, 0] @ row["v"])  # an eigenvector has none
        np.testing.assert_allclose(sign * np.array(row["v"]), step.V[:, 0], atol=2e-4)
        np.testing.assert_allclose(sign * np.array(row["y"]), step.Y[:, 0], atol=2e-4)


def test_prices_bound_what_disjoint_lists_explain(kernel):
    """The module's answer may be below the best lists, and never above a bound by prices."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        A = np.cov(rng.standard_normal((6, 8)))
        prices = rng.uniform(0, 0.5, 6) * (seed % 5 > 0)
        value, bound, top = kernel("""([A, p]) => {
            const all = kernel.lists(A, 2);
            const { bound, ranked } = kernel.priced(all, 2, p);
            return [kernel.packing(all, 2).value, bound, ranked[0].value];
        }""", A, prices)  # fmt: skip
        names, worth = live_instances.pairs(A)
        net = max(w - sum(prices[list(S)]) for S, w in zip(names, worth, strict=True))
        assert bound == pytest.approx(prices.sum() + 2 * net)
        assert solve_separate(A, 2, 2, disjoint=True).objective <= value * (1 + 1e-9)
        both = combinations(zip(names, worth, strict=True), 2)
        assert value == pytest.approx(max(a + b for (S, a), (T, b) in both if not set(S) & set(T)))
        assert value <= bound * (1 + 1e-12)
        if not prices.any():
            assert top == pytest.approx(exhaustive(A, 1, 2).objective)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 760])
@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_shows_what_its_words_say(opened, name, width, theme):
    browser = opened(name, width, theme)
    assert browser.run(f"{BUTTONS}.map((b) => b.textContent)") == list(PRESETS[name])
    place = "document.querySelector('#after').getBoundingClientRect().top + scrollY"
    assert browser.run(place) > 500
    below = browser.run(place)
    for i, words in enumerate(PRESETS[name].values()):
        browser.run(f"{BUTTONS}[{i}].click()")
        assert words in browser.run(WORDS)
        assert browser.run(f"{BUTTONS}.map((b) => b.ariaPressed)").index("true") == i
        assert browser.run(STUCK_OUT) == []
        assert browser.run(place) == below  # nothing moves with the words
        assert "NaN" not in browser.run(SEEN)
    all_ = "[...document.querySelectorAll('figure.live *')]"
    assert min(browser.run(f"{all_}.map((e) => parseFloat(getComputedStyle(e).fontSize))")) >= 11
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []
    assert browser.strangers() == []


@pytest.mark.parametrize("name", PRESETS)
def test_keys_fingers_and_the_address_move_it(opened, name):
    browser = opened(name)
    for i in range(browser.run("document.querySelectorAll('figure.live input').length")):
        before = browser.run(SEEN)
        browser.run(f"{BUTTONS}[1].click()")
        browser.run(f"document.querySelectorAll('figure.live input')[{i}].focus()")
        key = browser.run("document.activeElement.value === document.activeElement.max")
        browser.press("ArrowLeft" if key else "ArrowRight")
        assert browser.run(SEEN) != before, i
    browser.run(f"{BUTTONS}[2].click()")
    address, seen = browser.run("location.hash"), browser.run(SEEN)
    again = opened(name, state=address)
    assert again.run(SEEN) == seen
    box = again.page.locator("figure.live svg").bounding_box()
    low = 0.88 if name in ("climb", "copies", "prices") else 0.4
    to = 0.1 if name == "split" else 0.7  # its bars are on the left
    again.page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + low * box["height"])
    again.page.mouse.down()
    again.page.mouse.move(box["x"] + to * box["width"], box["y"] + (low - 0.05) * box["height"])
    again.page.mouse.up()
    assert again.run(SEEN) != seen
    assert again.complaints() == []


@pytest.mark.parametrize(
    "state", ["#climb:step=99,start=-4", "#climb:step=x", "#climb:foo=1", "#other:step=1", "#climb"]
)
def test_an_address_that_says_too_much_is_read_as_far_as_it_can_be(opened, state):
    browser = opened("climb", state=state)
    assert "NaN" not in browser.run(SEEN)
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [360, 760])
@pytest.mark.parametrize("name", PRESETS)
def test_the_page_does_not_shift_when_the_figure_comes(browser, opened, name, width, tmp_path):
    """The room is kept by the style sheet: a page without the script is as high."""
    opened(name, width)
    heights = "document.querySelector('figure.live').getBoundingClientRect().height"
    drawn = browser.run(heights)
    page = next(tmp_path.glob("*.html"))
    page.write_text(page.read_text().replace("<script defer", "<script type='none'"))
    browser.open(page, width)
    assert browser.run(heights) == drawn


def test_the_state_of_every_instance_is_json():
    text = (LIVE / "instances.js").read_text()
    for line in text.splitlines():
        if line.startswith("  "):
            assert json.loads(line.split(": ", 1)[1].rstrip(","))
