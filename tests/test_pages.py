"""The built book in a real browser: what a visitor would stumble over on each page.

Each page is opened in one of four modes, two widths and two themes, and in all of them at night.
"""

from urllib.parse import quote

import check_links
import pytest
import toc
from browser import MODES, PROGRAM, Browser, axe_script

HTML = toc.ROOT / "_build" / "html"
HEAVIEST = 1_700_000  # bytes, of a chapter with all that it loads but style sheets
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium here: no page is opened")

WIDER = """(() => {
  const width = document.documentElement.clientWidth;
  const ways = ["auto", "scroll", "hidden", "clip"];
  const scrolls = (e) => ways.includes(getComputedStyle(e).overflowX);
  const kept = (e) => e && e !== document.body && (scrolls(e) || kept(e.parentElement));
  const sticksOut = (e) => e.getBoundingClientRect().right > width + 1 && !kept(e.parentElement);
  const cut = (e) => e.getBoundingClientRect().right > width + 1 && e.matches("svg, img, canvas");
  return [...document.querySelectorAll("article *")].filter((e) => sticksOut(e) || cut(e))
    .map((e) => e.outerHTML.slice(0, 120));
})()"""
FAULTS = """axe.run({ exclude: EXCLUDED }, { preload: false, resultTypes: ["violations"] })
  .then(({ violations }) => violations
    .filter(({ impact }) => impact !== "minor")
    .flatMap(({ id, nodes }) => nodes.map((n) => id + ": " + n.html.slice(0, 120))))"""


MOVED = """new Promise((told) => {
  let sum = 0;
  const count = (list) => list.forEach((each) => (sum += each.hadRecentInput ? 0 : each.value));
  const watch = new PerformanceObserver((list) => count(list.getEntries()));
  watch.observe({ type: "layout-shift", buffered: true });
  setTimeout(() => (count(watch.takeRecords()), told(sum)), 300);
})"""
# A sign of a font that no page loads is an empty box, and an icon without a drawing is a full one.
SIGNLESS = """[...document.querySelectorAll("*")].flatMap((e) => [
  ...["::before", "::after"].map((part) => getComputedStyle(e, part).content)
    .filter((content) => /[\\uE000-\\uF8FF]/.test(content)),
  ...(e.matches("i[class*=fa-]") && getComputedStyle(e).maskImage === "none" ? [e.outerHTML] : []),
])"""
ANSWERS = """[...document.querySelectorAll("article p")]
  .filter((p) => p.querySelector("strong")?.textContent.startsWith("Predict"))
  .map((p) => {
    const seen = (e) => !!e?.checkVisibility();
    let next = p.nextElementSibling ?? p.parentElement.nextElementSibling;
    while (next && !next.matches(".cell")) next = next.nextElementSibling;
    let given = false;
    for (; next?.matches(".cell, figure"); next = next.nextElementSibling) {
      const [code, output] = [".cell_input", ".cell_output"].map((s) => next.querySelector(s));
      const tells = output && seen(code) && code.textContent.includes("assert ");
      given ||= next.matches("figure") || seen(output) || tells;
    }
    return !!given;
  })"""


@pytest.fixture(scope="module")
def browser():
    with Browser() as one:
        yield one


@pytest.fixture(scope="session")
def axe():
    """The script that finds what a reader with a screen reader, or weak eyes, trips over."""
    return axe_script() or pytest.skip("no npm here to bring axe: accessibility is not checked")


def pages():
    """Every page, whether or not it is built yet, and the two that Sphinx adds."""
    return [*toc.pages(), "search", "genindex"]


def modes(of):
    """Pairs of a page and a mode: one for each page, each mode as often as the others."""
    order = sorted(MODES)
    return [(page, *order[i % len(order)]) for i, page in enumerate(of)]


AT_NIGHT = [
    pytest.param(page, *mode, marks=pytest.mark.nightly)
    for page, *used in modes(pages())
    for mode in sorted(MODES - {tuple(used)})
]


@pytest.mark.parametrize(("page", "width", "theme"), modes(pages()) + AT_NIGHT)
def test_a_page_is_whole(browser, axe, page, width, theme, request):
    browser.open(HTML / f"{page}.html", width, theme)
    assert browser.complaints() == []
    assert browser.strangers() == []
    assert browser.run("document.querySelectorAll('mjx-merror').length") == 0
    assert browser.run(MOVED) <= 0.05
    assert browser.run(SIGNLESS) == []
    about = "document.querySelector('meta[name=description]').content"
    assert 40 < len(browser.run(about)) <= 160
    assert browser.run("!!document.querySelector('link[rel=icon]')")
    assert browser.run(WIDER) == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    browser.run(f"{axe};0")
    # What MathJax makes is the same on every page, and is looked into at night.
    by_night = request.node.get_closest_marker("nightly")
    assert browser.run(FAULTS.replace("EXCLUDED", "[]" if by_night else '["mjx-container"]')) == []


def test_chapters_are_light_and_predictions_hide_their_answers(browser):
    """What stands under "Predict" up to the next text is folded until it is asked for."""
    weights, asked, shown = {}, 0, []
    for path in toc.notebooks():
        browser.open(HTML / path.relative_to(toc.ROOT).with_suffix(".html"))
        weights[path.stem] = browser.weight()
        found = browser.run(ANSWERS)
        asked += len(found)
        shown += [path.stem] * sum(found)
    assert not {name: weight for name, weight in weights.items() if weight > HEAVIEST}
    assert asked > 30
    assert shown == []


def test_no_page_of_the_api_is_long(browser):
    """At most 6,000 elements, which a phone lays out at once: all on one page were 50,884."""
    for page in (name for name in toc.pages() if name.startswith("book/appendix/api")):
        browser.open(HTML / f"{page}.html")
        assert browser.run("document.querySelectorAll('*').length") <= 6000, page


CUT = """(() => {
  document.querySelectorAll("details").forEach((each) => (each.open = true));
  const shown = [...document.querySelectorAll(".cell_output pre, .cell_output table.dataframe")];
  const cut = shown.filter((each) => each.scrollWidth > each.clientWidth + 1);
  return [shown.length, cut.map((each) => each.tagName + ": " + each.textContent.slice(0, 80))];
})()"""


@pytest.mark.parametrize("width", [1280, 360])
def test_no_output_is_cut(browser, width):
    """Text goes on in the next row; on a phone alone a table is moved sideways."""
    count = 0
    for path in toc.notebooks():
        browser.open(HTML / path.relative_to(toc.ROOT).with_suffix(".html"), width)
        seen, cut = browser.run(CUT)
        count += seen
        assert [each for each in cut if width > 360 or not each.startswith("TABLE")] == [], path
    assert count > 300


@pytest.mark.parametrize(("width", "end"), [(1280, 700), (360, 800)])
def test_three_doors_stand_on_the_first_screen(browser, width, end):
    browser.open(HTML / "book" / "cover.html", width)
    ends = browser.run("""[...document.querySelectorAll(".doors a")].map(
        (door) => door.getBoundingClientRect().bottom)""")
    assert len(ends) == 3
    assert max(ends) <= end
    browser.run("document.querySelector('.doors a').focus()")
    browser.press("Enter")
    browser.until("location.href.includes('first_twenty_minutes')")


LIVE = {
    "climb": "shared_support/ipu",
    "split": "shared_support/certificates",
    "spannogram": "nonnegative/spannogram",
    "threshold": "separate_supports/generalised_power",
    "copies": "separate_supports/sadmm",
    "prices": "separate_supports/prices",
}


@pytest.mark.parametrize(("name", "page"), LIVE.items())
def test_a_live_figure_moves_in_its_chapter(browser, name, page):
    browser.open(HTML / "book" / f"{page}.html", 360)
    figure = f"document.querySelector('figure.live[data-live={name}]')"
    browser.until(f"!!{figure}.querySelector('svg')?.innerHTML")
    seen = f"{figure}.innerText + {figure}.querySelector('svg').innerHTML"
    before = browser.run(seen)
    browser.run(f"{figure}.querySelectorAll('button')[1].click()")
    assert browser.run(seen) != before
    assert browser.run("location.hash").startswith(f"#{name}:")
    assert not browser.complaints()


def test_a_page_can_be_left_by_keyboard(browser):
    """The first key leads past the menus, and every stop on the way shows where it is."""
    browser.open(HTML / "book" / "shared_support" / "go.html")
    browser.press("Tab")
    assert browser.run("document.activeElement.textContent").strip() == "Skip to main content"
    for _ in range(25):
        browser.press("Tab")
        assert browser.run(
            "(() => { const at = document.activeElement;"
            "return [at, ...at.querySelectorAll('.toctree-toggle')].map(getComputedStyle)"
            ".some((s) => s.outlineStyle !== 'none' || s.boxShadow !== 'none') })()"
        ), browser.run("document.activeElement.outerHTML.slice(0, 200)")


LEDGER = HTML / "book" / "appendix" / "ledger.html"
PLACES = "[...document.querySelectorAll('table.ledger td[id], .ledger-sentences li[id]')]"
SEEN = f"{PLACES}.filter((p) => (p.querySelector('a') ?? p).checkVisibility(VISIBLE))".replace(
    "VISIBLE", "{ visibilityProperty: true }"
)


def test_the_ledger_is_light_and_its_papers_stand_on_the_first_screen(browser):
    browser.open(LEDGER)
    assert browser.run("document.querySelector('.how-much').getBoundingClientRect().bottom") < 800
    assert browser.weight() <= 450_000


def test_the_ledger_is_filtered_and_keeps_it_in_its_address(browser):
    browser.open(LEDGER)
    form = "document.querySelector('.ledger-filter')"
    chosen = {"paper": "tian2020", "text": "Table 2", "verdict": "differs", "method": "SOAP"}
    for name, value in chosen.items():
        browser.run(f"{form}.{name}.value = '{value}'")
    browser.run(f"{form}.dispatchEvent(new Event('input'))")
    found = browser.run(f"{SEEN}.map((p) => [p.id, p.className])")
    assert found == [["tian2020-table-2-scheme-a-soap-low-rank-approx-hf", "v-differs"]]
    assert browser.run(f"{form}.querySelector('output').textContent").startswith("1 of ")
    address = browser.run("location.href")
    browser.page.goto("about:blank")
    browser.open(address)
    assert browser.run(f"{SEEN}.map((p) => p.id)") == [found[0][0]]
    browser.run(f"{form}.querySelector('button').click()")
    browser.until(f"{form}.querySelector('output').textContent.startsWith('6')")
    assert browser.run("location.hash") == ""


@pytest.mark.parametrize("width", [1280, 360])
def test_a_row_of_the_ledger_is_cited_found_and_left_by_key(browser, width):
    """From a file, without a server: the address opens the row, and Escape leads back to it."""
    browser.page.goto("about:blank")
    browser.open(f"{LEDGER.as_uri()}#tan2019-table-2-leukemia-stspca-2s", width)
    told = browser.run("document.querySelector('.ledger-row').innerText")
    for words in ("tan2019, Table 2: Leukemia, StSPCA-2S", "2508", "2285", "50 features in all",
                  "of wrong experiments", "run tan2019_table_2",
                  "ledger.html#tan2019-table-2-leukemia-stspca-2s"):  # fmt: skip
        assert words in told
    place = browser.run("document.querySelector('.ledger-row').getBoundingClientRect().top")
    assert 0 < place < 800
    assert browser.run(WIDER) == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    browser.press("Escape")
    assert browser.run("document.querySelector('.ledger-row')") is None
    assert browser.run("document.activeElement.hash") == "#tan2019-table-2-leukemia-stspca-2s"
    browser.press("Enter")
    browser.until("document.querySelector('.ledger-row')")
    assert browser.complaints() == []


def test_every_row_of_the_ledger_opens(browser):
    browser.page.goto("about:blank")
    browser.open(LEDGER)
    fields = """[...document.querySelectorAll('table.ledger td[id], .ledger-sentences li[id]')]
        .map((place) => {
            place.querySelector('a').click();
            dispatchEvent(new HashChangeEvent('hashchange'));
            const told = document.querySelector('.ledger-row');
            const terms = [...told.querySelectorAll('dt')].map((e) => e.textContent);
            return ['verdict', 'the paper', 'rule', 'made by', 'to cite']
                .every((each) => terms.includes(each)) && told.innerText.includes(place.id);
        })"""
    found = browser.run(fields)
    assert len(found) > 600
    assert all(found)


def test_an_open_row_of_the_ledger_is_read_aloud_and_printed(browser, axe):
    for theme in ("light", "dark"):
        browser.page.goto("about:blank")
        browser.open(f"{LEDGER.as_uri()}#tan2019-table-2-leukemia-stspca", 360, theme)
        browser.run(f"{axe};0")
        assert browser.run(FAULTS.replace("EXCLUDED", '["mjx-container"]')) == []
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run("[...document.querySelectorAll('details.ledger-text')].every((d) => d.open)")


def test_no_page_is_left_out():
    built = {str(p.relative_to(HTML).with_suffix("")) for p in check_links.built_pages(HTML)}
    assert built - {"index", "py-modindex"} == set(pages())


HOMES = {
    "spannogram": "nonnegative/spannogram.html",
    "IPU": "shared_support/ipu.html",
    "Go": "shared_support/go.html",
    "SADMM": "separate_supports/sadmm.html",
    "Fantope": "shared_support/fantope.html",
    "certificate": "shared_support/certificates.html",
    "branch and bound": "shared_support/exact_search.html",
    "gpower": "separate_supports/generalised_power.html",
    "CSSP": "shared_support/rivals.html",
    "ridge": "appendix/glossary.html#term-ridge",
    "lambda": "notation.html",
    "σ": "notation.html",
    "errata": "appendix/errata.html",
    "API": "appendix/api.html",
    "how many components": "practice/choosing.html",
    "solve_separate": "separate_supports/solve_separate.html",
}


@pytest.mark.parametrize(("term", "home"), HOMES.items())
def test_the_search_finds_a_name_at_home(browser, term, home):
    browser.open((HTML / "search.html").as_uri() + f"?q={quote(term)}")
    first = browser.until("document.querySelector('.bd-search-container, main')"
                          ".querySelector('ul a')?.href")  # fmt: skip
    assert home in first
    browser.until("!!document.querySelector('#search-results h2')")
    assert browser.complaints() == []


def test_each_hit_has_a_line_of_text(browser):
    """Those that have the name, and those whose text holds the word; from a file, by no fetch."""
    browser.open((HTML / "search.html").as_uri() + "?q=certificate")
    browser.until("document.querySelectorAll('#search-results li').length > 10")
    for hits in ("ul.first-found li", "#search-results li"):
        lines = browser.run(f"""[...document.querySelectorAll('{hits}')].map(
            (hit) => hit.querySelector('.hit')?.innerText ?? '')""")
        assert len(lines) > 5
        assert [line for line in lines if len(line) < 20] == []
    assert browser.run("document.querySelector('#search-results .hit mark').innerText") != ""


def test_a_touch_on_a_word_opens_its_meaning_and_stays(browser):
    """The note leads to the glossary; a touch elsewhere closes it."""
    page = HTML / "book" / "shared_support" / "go.html"
    browser.open(page, 360)
    touch = """(e) => {
        const how = { bubbles: true, cancelable: true, pointerType: "touch" };
        e.dispatchEvent(new PointerEvent("pointerdown", how));
        e.dispatchEvent(new PointerEvent("click", how));
    }"""
    browser.run(f"({touch})(document.querySelector('a.term'))")
    assert browser.run("location.pathname").endswith("/go.html")
    note = "document.querySelector('#meaning')"
    assert len(browser.run(f"{note}.innerText")) > 40
    assert browser.run(f"{note}.querySelector('a').href").count("glossary.html#term-") == 1
    browser.run(f"({touch})(document.querySelector('h1'))")
    assert browser.run(f"{note}.hidden")
    assert browser.complaints() == []


def test_a_letter_and_a_word_show_what_they_mean(browser):
    """One letter has the meaning of the chapter that it stands in."""
    point = """(sign) => {
        const letters = [...document.querySelectorAll("mjx-mi")];
        const found = letters.find((e) => letterAt(e).at(-1) === sign);
        found.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
        return document.querySelector("#meaning").innerText;
    }"""
    told = {}
    for part, page in (("shared_support", "fantope"), ("separate_supports", "sadmm")):
        browser.open(HTML / "book" / part / f"{page}.html")
        told[page] = browser.run(f"({point})('γ')")
    assert "Fantope" in told["fantope"]
    assert "shrinkage" in told["sadmm"]
    browser.run("document.querySelector('a.term').focus()")
    browser.until("!document.querySelector('#meaning').hidden")
    browser.press("Escape")
    assert browser.run("document.querySelector('#meaning').hidden")
