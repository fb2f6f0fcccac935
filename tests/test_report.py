"""The report: what it says is so, and names are text in it."""

import base64
import csv
import json
import re
import shlex
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LinearRegression

import fspca
from fspca import Covariance, ipu, path, solve, solve_nonnegative, solve_separate
from fspca.__main__ import main
from fspca.check_certificate import check
from fspca.proof import page, report
from fspca.selection import select_k
from fspca.sklearn import SparsePrincipalSubspace

HOSTILE = {
    "ash": "<script>document.title = 'owned'</script>",
    "flavanoids": '"><img src=x onerror=alert(2)>',
    "hue": "turned \u202e and \x1b[2J & cut; " + "verylong" * 20,
    "alcohol": "' onmouseover='alert(1)",
}


class Page(HTMLParser):
    """The tags of a page, its text, its links, and its tables as lists of rows."""

    def __init__(self, file):
        super().__init__()
        self.tags, self.links, self.tables, self.said, self.attributes = set(), {}, {}, [], set()
        self.rows, self.cell, self.caption = None, None, None
        self.feed(file.read_text(encoding="utf-8"))
        self.text = " ".join(" ".join(self.said).split())

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        given = dict(attributes)
        if tag == "a":
            self.links[given["download"]] = given["href"]
        elif tag == "table":
            self.rows = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th", "caption"):
            self.cell = []

    def handle_endtag(self, tag):
        if tag == "caption":
            self.caption = "".join(self.cell)
        elif tag in ("td", "th"):
            self.rows[-1].append("".join(self.cell))
        elif tag == "table":
            self.tables[self.caption] = self.rows
        if tag in ("td", "th", "caption"):
            self.cell = None

    def handle_data(self, data):
        if self.lasttag == "style":
            return
        self.said.append(data)
        if self.cell is not None:
            self.cell.append(data)


@pytest.fixture(scope="module")
def wine():
    return load_wine(as_frame=True).data


@pytest.fixture(scope="module")
def A(wine):
    return Covariance.from_data(wine, standardize=True)


@pytest.fixture(scope="module")
def place(tmp_path_factory, A):
    file = tmp_path_factory.mktemp("report") / "panel.html"
    solve(A, 2, 5).report(file, A)
    return file


@pytest.fixture(scope="module")
def told(place):
    return Page(place)


def write_hostile(folder):
    """Write a report whose names are hostile, with a copy of a feature, and return its path."""
    frame = load_wine(as_frame=True).data.rename(columns=HOSTILE)
    frame["a <b>copy</b>"] = 3 * frame[HOSTILE["flavanoids"]] + 1
    frame.to_csv(folder / "t.csv", index=False)
    file = folder / "panel.html"
    main(["select", str(folder / "t.csv"), "-k", "5", "--scale", "--report", str(file)])
    return file


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return write_hostile(tmp_path_factory.mktemp("hostile"))


def near(text):
    """The number that a cell shows, and what its last digit leaves open."""
    text = text.replace("\u2212", "-")
    share = 0.01 if text.endswith("%") else 1.0
    digits = text.removesuffix(" %")
    last = 10.0 ** -len(digits.partition(".")[2])
    return pytest.approx(share * float(digits), abs=0.51 * share * last, rel=0)


def table_of(told, words):
    """The rows of the table whose caption holds these words, without its heads."""
    return next(rows[1:] for caption, rows in told.tables.items() if words in caption)


def test_the_choice_is_told_by_name_with_loadings_contributions_and_what_they_tell(wine, A, told):
    solution = solve(A, 2, 5)
    rows = table_of(told, "The features chosen")
    assert [row[0] for row in rows] == [wine.columns[j] for j in solution.support]
    Z = (wine - wine.mean()) / wine.std()
    T = Z @ solution.W
    for (_, *cells), j in zip(rows, solution.support, strict=True):
        w = solution.W[j]
        assert w.tolist() == [near(cells[0]), near(cells[1])]
        assert w @ w / 2 == near(cells[2])
        assert LinearRegression().fit(T, Z.iloc[:, j]).score(T, Z.iloc[:, j]) == near(cells[3])
    total = A.trace
    pca = A.leading(2)[0] / total
    (_, first, _, pca_first, _), (_, _, both, _, pca_both) = table_of(told, "each component adds")
    assert solution.objective / total == near(both)
    assert (pca[0], pca.sum()) == (near(pca_first), near(pca_both))
    assert SparsePrincipalSubspace(2, 5, scale=True).fit(wine).explained_variance_ratio_[0] == near(
        first
    )
    assert f"explain {page.percent(solution.objective / total)} of the variance" in told.text
    assert f"explain {page.percent(pca.sum())}" in told.text


def test_what_is_known_of_those_left_out_is_the_r2_of_a_regression(wine, A, told):
    support = solve(A, 2, 5).support
    rows = table_of(told, "left out")
    left = [name for j, name in enumerate(wine.columns) if j not in support]
    assert sorted(row[0] for row in rows) == sorted(left)
    X = wine.iloc[:, support]
    shares = {name: LinearRegression().fit(X, wine[name]).score(X, wine[name]) for name in left}
    R = wine.corr()
    for name, alike, correlation, known in rows:
        assert shares[name] == near(known)
        assert R.loc[name, X.columns].abs().idxmax() == alike
        assert R.loc[name, alike] == near(correlation)
    known = [shares[row[0]] for row in rows]
    assert known == sorted(known, reverse=True)
    assert f"{page.percent(np.mean(list(shares.values())))} of the variance of all" in told.text


def test_a_stand_in_is_the_best_of_all_others(wine, A, told):
    solution, names = solve(A, 2, 5), list(wine.columns)
    full = A.submatrix(np.arange(A.size))
    for gone, instead, loss in table_of(told, "stand-in"):
        kept = [j for j in solution.support if j != names.index(gone)]
        values = {}
        for j in set(range(A.size)) - set(solution.support):
            rows = [*kept, j]
            values[j] = np.linalg.eigvalsh(full[np.ix_(rows, rows)])[-2:].sum()
        best = max(values, key=values.get)
        assert names[best] == instead
        assert 1 - values[best] / solution.objective == near(loss)


def test_other_counts_are_those_of_select_k(wine, told):
    rows = table_of(told, "Each count")
    counts = [int(row[0]) for row in rows]
    choice = select_k(wine, 2, counts, standardize=True)
    assert 5 in counts
    for i, row in enumerate(rows):
        held_out = (choice.held_out[i], choice.standard_error[i], choice.noise[i])
        assert held_out == tuple(near(each) for each in row[3:6])
        assert choice.stability[i] == pytest.approx(float(row[6]), abs=0.01)
        if counts[i] == 5:
            assert row[1] == row[2]  # proven, whatever the bound of a path is
        else:
            assert (choice.explained[i], choice.bound[i]) == (near(row[1]), near(row[2]))
    frequency = choice.frequency[counts.index(5)]
    for name, *cells in table_of(told, "The features chosen"):
        assert frequency[wine.columns.get_loc(name)] == near(cells[-1])
    assert f"best held-out share: {choice.chosen} features" in told.text
    assert f"from its first point to its last: {choice.elbow} features" in told.text


def test_the_claim_that_it_carries_is_accepted_with_its_table_alone(
    hostile, tmp_path, capsys, monkeypatch
):
    told = Page(hostile)
    claim = tmp_path / "claim.npz"
    claim.write_bytes(base64.b64decode(told.links["claim.npz"].partition("base64,")[2]))
    assert check(claim).holds
    assert "this is proven, and can be checked" in told.text
    (shown,) = re.findall(r"fspca check claim\.npz --data \S+t\.csv", told.text)
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    main(shlex.split(shown)[1:])
    assert "holds" in capsys.readouterr().out
    table = hostile.parent / "t.csv"
    other = tmp_path / "other.csv"
    other.write_text(table.read_text().replace("14.23", "14.24", 1))
    with pytest.raises(SystemExit):
        main(["check", str(claim), "--data", str(other)])


def test_names_are_text_and_nothing_else(hostile):
    """Of the tags and attributes of a page none come from a table."""
    told = Page(hostile)
    tame = {"html", "head", "meta", "title", "style", "body", "main", "div", "ul", "li", "section",
            "h1", "h2", "p", "a", "pre", "code", "table", "caption", "thead", "tbody", "tr", "th",
            "td", "span", "figure", "figcaption", "svg", "g", "line", "text", "path", "polygon",
            "polyline", "circle"}  # fmt: skip
    assert told.tags <= tame
    assert not {name for name in told.attributes if name.startswith("on")}
    assert not {"src", "style", "srcset", "action"} & told.attributes
    for name in [*HOSTILE.values(), "a <b>copy</b>"]:
        shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
        assert shown in told.text
    assert "\x1b" not in hostile.read_text()
    assert "\u202e" not in hostile.read_text()


def test_what_must_be_known_before_is_warned_of(hostile, wine, tmp_path):
    text = Page(hostile).text
    assert "carries the same as" in text
    assert "in the place of" in text
    file = tmp_path / "units.html"
    with pytest.warns(fspca.covariance.validate.UnitsWarning):
        model = SparsePrincipalSubspace(2, 3).fit(wine)
    model.solution_.report(file, wine)
    assert "'proline' alone carries 99.8 % of the variance" in Page(file).text
    heavy = np.random.default_rng(0).standard_normal((40, 9))
    heavy[7, :3] = 25.0
    A = Covariance.from_data(heavy, standardize=True)
    solve(A, 1, 3).report(file, A)
    assert "Row 7 alone carries" in Page(file).text
    noise = np.random.default_rng(0).standard_normal((40, 9))
    solve(Covariance.from_data(noise), 1, 3).report(file, noise)
    text = Page(file).text
    assert "From another half of the rows other features would be chosen" in text
    X = np.random.default_rng(0).standard_normal((40, 5)) * [1, 1, 1, 1, 0]
    path(Covariance.from_data(X), 1, [2], bound="dual")[0].report(file, X)
    assert "Without any variance: feature 4." in Page(file).text
    tied = np.diag([3.0, 2.0, 2.0, 1.0])
    solve(tied, 1, 2).report(file, Covariance(tied))
    assert "in the place of feature 1 explains as much" in Page(file).text
    quiet = tmp_path / "quiet.html"
    solve(np.diag([3.0, 2.5, 2.0, 1.0]), 3, 3).report(quiet, Covariance(np.diag([3, 2.5, 2, 1.0])))
    assert "Before you rely on it" not in Page(quiet).text


def test_features_that_had_to_be_in_or_out_are_named(A, tmp_path):
    file = tmp_path / "panel.html"
    solution = solve(A, 2, 4, required=["ash"], forbidden=["proline"])
    solution.report(file, A)
    told = Page(file)
    assert "These had to be in: ash." in told.text
    assert "These had to be out: proline." in told.text
    assert "No choice of 4 features, with what had to be in and out, explains more" in told.text
    assert "ash" not in [row[0] for row in table_of(told, "stand-in")]
    assert "proline" not in [row[1] for row in table_of(told, "stand-in")]


def test_a_choice_reports_the_count_that_it_chose(wine, tmp_path):
    choice = select_k(wine, 2, [2, 5, 8], standardize=True, subsamples=4, permutations=2)
    file = tmp_path / "panel.html"
    choice.report(file, wine, standardize=True)
    told = Page(file)
    assert f"A choice of {choice.chosen} of 13 features" in told.text
    assert [row[0] for row in table_of(told, "Each count")] == ["2", "5", "8"]


def test_several_cores_write_the_same_page(A, tmp_path):
    pages = []
    for n_jobs in (None, 2):
        file = tmp_path / f"{n_jobs}.html"
        solve(A, 2, 3).report(file, A, n_jobs=n_jobs)
        pages.append(re.sub('base64,[^"]*', "", file.read_text()))  # a zip holds the time
    assert pages[0] == pages[1]


def test_what_cannot_be_shown_is_said(A, tmp_path):
    file = tmp_path / "panel.html"

    def text_of(solution, X, **options):
        solution.report(file, X, **options)
        return Page(file).text

    matrix = Covariance(A.submatrix(np.arange(13)))
    assert "The covariance was given without rows." in text_of(solve(matrix, 2, 3), matrix)
    assert "Other counts took longer than 0 seconds" in text_of(solve(A, 2, 3), A, max_seconds=0)
    few = np.random.default_rng(0).standard_normal((6, 4))
    few_solved = solve(Covariance.from_data(few), 1, 2)
    assert "6 rows are too few to hold some out." in text_of(few_solved, few)
    for other in (solve_separate, solve_nonnegative):
        text = text_of(other(A, 2, 3), A)
        assert "Other counts are shown for one support shared by all" in text
        assert "If one cannot be measured" not in text
    text = text_of(ipu(A, 2, 4), A)
    assert "The best choice of 4 features explains at most 0.000" in text  # a bound is looked for
    rows = np.random.default_rng(0).standard_normal((20, 4))
    weighted = Covariance.from_data(rows, sample_weight=np.arange(20.0), divisor="n")
    text = text_of(solve(weighted, 1, 2), weighted)
    assert "The samples have weights, which the halves and folds would not have." in text


@pytest.mark.parametrize("missing", ["drop", "mean", "em"])
def test_missing_values_are_told_and_no_score_is_lost(wine, tmp_path, missing):
    gone = wine.mask(np.random.default_rng(0).random(wine.shape) < 0.02)
    A = Covariance.from_data(gone, standardize=True, missing=missing)
    solution, file = solve(A, 2, 4), tmp_path / "panel.html"
    solution.report(file, A)
    told = Page(file)
    assert report.MISSING[missing] in told.text
    assert table_of(told, "Each count")
    T, kept = report.scores_of(A, solution)
    whole = np.flatnonzero(gone.notna().all(axis=1))
    assert kept.tolist() == (whole.tolist() if missing == "drop" else list(range(178)))
    assert np.all(np.isfinite(T))
    model = SparsePrincipalSubspace(2, 4, scale=True, missing=missing).fit(gone)
    signs = np.sign(np.diag(model.components_ @ solution.W))
    given = gone.iloc[kept] if missing == "drop" else gone
    np.testing.assert_allclose(T * signs, model.transform(given), atol=1e-9)


def test_one_command_from_text_dates_and_missing_values_to_the_report(wine, tmp_path, capsys):
    frame = wine.mask(np.random.default_rng(0).random(wine.shape) < 0.01)
    frame.insert(0, "grower", [f"grower {i % 3}" for i in range(178)])
    frame.insert(1, "visit", [f"2024-03-{1 + i % 28:02}" for i in range(178)])
    frame.to_csv(tmp_path / "wine.csv", sep=";", decimal=",", index=False)
    file = tmp_path / "panel.html"
    main(["select", str(tmp_path / "wine.csv"), "-k", "4", "--scale", "--missing", "em",
          "--report", str(file)])  # fmt: skip
    told = Page(file)
    assert {"grower", "visit"} <= set(re.findall(r"(grower|visit): ", told.text))
    assert report.MISSING["em"] in told.text
    assert len(table_of(told, "The features chosen")) == 4


def test_a_large_claim_is_left_out_and_many_features_are_not_all_listed(tmp_path, monkeypatch):
    X = np.random.default_rng(0).standard_normal((30, 40))
    A, file = Covariance.from_data(X), tmp_path / "panel.html"
    monkeypatch.setattr(report, "CLAIM_BYTES", 1000)
    monkeypatch.setattr(report, "MOST", 10)
    monkeypatch.setattr(report, "POINTS", 7)
    monkeypatch.setattr(report, "WORK", 10)
    monkeypatch.setattr(report, "NEAREST", 2)
    solve(A, 1, 3, max_seconds=0).report(file, A, max_seconds=0)
    told = Page(file)
    assert "claim.npz" not in told.links
    assert "too large for a page" in told.text or "no claim" in told.text
    rows = table_of(told, "left out")
    assert len(rows) == 10
    assert "Of 37 the 5 best and the 5 least known are listed." in told.text
    assert "Of 30 samples 7 are drawn" in told.text
    assert file.read_text().count("<circle") == 7
    assert "Tried were the 2 features most like the one replaced" in told.text


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("panel.txt", {"standardize": True}, "must end in .html"),
        ("panel.html", {}, "X does not fit the answer: the objective is .* Say standardize=True"),
    ],
)
def test_what_does_not_fit_is_refused_before_any_work(A, wine, tmp_path, name, given, said):
    with pytest.raises(ValueError, match=said):
        solve(A, 2, 3).report(tmp_path / name, wine, **given)
    assert not list(tmp_path.iterdir())


def test_one_command_gives_the_report_and_the_pieces(wine, tmp_path, capsys):
    table = tmp_path / "wine.csv"
    wine.to_csv(table, index=False)
    files = {name: tmp_path / name for name in ("panel.html", "scores.csv", "few.tsv", "p.npz")}
    asked = ["select", str(table), "-k", "4", "--scale", "--report", str(files["panel.html"]),
             "--scores", str(files["scores.csv"]), "--reduced", str(files["few.tsv"]),
             "--proof", str(files["p.npz"]), "--jobs", "2"]  # fmt: skip
    main(asked)
    told = Page(files["panel.html"])
    assert shlex.join(["fspca", *asked]) in told.text
    assert f"{table}" in told.text
    assert f"fspca {fspca.__version__}, numpy {np.__version__}" in told.text
    model = SparsePrincipalSubspace(2, 4, scale=True).fit(wine)
    chosen = wine.columns[model.support_].tolist()
    with files["few.tsv"].open() as file:
        head, *rows = csv.reader(file, delimiter="\t")
    assert head == chosen
    np.testing.assert_array_equal(np.array(rows, dtype=float), wine[chosen])
    with files["scores.csv"].open() as file:
        head, *rows = csv.reader(file)
    assert head == ["component 1", "component 2"]
    signs = np.sign(np.diag(model.components_ @ model.solution_.W))
    np.testing.assert_allclose(np.array(rows, dtype=float) * signs, model.transform(wine))
    assert check(files["p.npz"]).holds


@pytest.mark.parametrize("option", ["--report", "--scores", "--reduced", "--proof"])
def test_an_ending_that_says_nothing_is_refused_before_the_table_is_read(option, capsys):
    with pytest.raises(SystemExit):
        main(["select", "absent.csv", "-k", "3", option, "file.odd"])
    assert f"{option} file.odd must end in " in capsys.readouterr().err


def test_it_tells_its_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"fspca {fspca.__version__}\n"


def test_news_for_machines_is_what_it_was(wine, tmp_path, capsys):
    """A report beside it changes nothing of what is printed."""
    table = tmp_path / "wine.csv"
    wine.to_csv(table, index=False)
    asked = ["select", str(table), "-k", "4", "--scale", "--json"]
    main(asked)
    alone = json.loads(capsys.readouterr().out)
    main([*asked, "--report", str(tmp_path / "panel.html")])
    assert json.loads(capsys.readouterr().out) == alone


def test_columns_without_names_get_names_that_are_no_numbers(tmp_path, capsys):
    """A line of numbers above a table is one sample more to whoever reads it again."""
    X = np.random.default_rng(0).standard_normal((20, 6))
    np.savez(tmp_path / "t.npz", X=X)
    few = tmp_path / "few.csv"
    main(["select", str(tmp_path / "t.npz"), "-k", "3", "--reduced", str(few)])
    support = solve(Covariance.from_data(X), 2, 3).support
    table = fspca.datasets.tables.read_table(few)
    assert table.names == tuple(f"feature {j}" for j in support)
    np.testing.assert_array_equal(table.X, X[:, support])
