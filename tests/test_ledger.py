"""The reproduction ledger: whole, and what its command makes."""

import csv
import io
import json
import re
from collections import Counter

import numpy as np
import pytest
import toc

from fspca_reproduction import ledger, ledger_page
from fspca_reproduction.book import power
from fspca_reproduction.claim import judged, papers
from fspca_reproduction.results import published, published_ids
from fspca_reproduction.runner import experiments
from fspca_reproduction.tan2019.verdicts import printed_cells
from fspca_reproduction.tian2020.claims import longer
from fspca_reproduction.verdict import COLOURS, MARKS, WITHIN, half_unit

ROWS = ledger.entries()
VERDICTS = {  # of the papers' own rows; whoever changes a count says why
    "tian2020": {"reproduced": 181, "close": 2, "within sampling error": 135, "order only": 37,
                 "differs": 16, "under-specified": 76},
    "tan2019": {"reproduced": 16, "close": 3, "within sampling error": 9, "differs": 56,
                "under-specified": 23, "not available": 13},
    "asteris2014": {"reproduced": 23, "differs": 2, "under-specified": 6},
}  # fmt: skip


def faults(ids, functions, labels, rows):
    """Return a sentence for each published id without a function, a chapter cell or a row."""
    listed = {row["id"] for row in rows}
    kinds = {"function": set(functions), "cell in a chapter": set(labels), "row": listed}
    every = sorted(set(ids) | listed)
    return [f"{i} has no {kind}" for i in every for kind, known in kinds.items() if i not in known]


def labels():
    """Return the labels of all notebooks' cells, "(tian2020_table_2)=" and the like."""
    found = set()
    for path in (toc.ROOT / "book").rglob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            lines = [line.strip() for line in "".join(cell["source"]).splitlines()]
            found |= {line[1:-2] for line in lines if line.startswith("(") and line.endswith(")=")}
    return found


@pytest.mark.parametrize("paper", VERDICTS)
def test_no_verdict_has_moved(paper):
    mine = [row for row in ROWS if row["paper"] == paper and row["whose"] == "paper"]
    assert Counter(row["verdict"] for row in mine) == VERDICTS[paper]


@pytest.mark.parametrize(("path", "text"), ledger_page.made().items(), ids=lambda x: "")
def test_files_are_what_the_command_makes(path, text):
    """If this fails, run: python -m fspca_reproduction ledger"""
    assert path.read_text(encoding="utf-8") == text


def test_every_published_id_has_a_function_a_chapter_cell_and_a_row():
    ids = published_ids()
    assert len(ids) >= 8
    assert faults(ids, experiments(), labels(), ROWS) == []


@pytest.mark.parametrize("missing", ["function", "cell in a chapter", "row"])
def test_what_is_missing_is_seen(missing):
    known = {"function": ["one"], "cell in a chapter": ["one"], "row": [{"id": "one"}]}
    known[missing] = []
    assert faults(["one"], *known.values()) == [f"one has no {missing}"]


def test_every_published_number_has_one_row():
    def count(name):
        return sum(row["id"] == name and row["kind"] == "number" for row in ROWS)

    assert count("tian2020_table_2") == 3 * len(published("tian2020_table_2")["rows"]) == 270
    second = published("tian2020_figure_2")
    assert count("tian2020_figure_2") == sum(
        len(values) for curves in second["values"].values() for values in curves.values()
    )
    assert count("tian2020_figure_3") == 4 * len(published("tian2020_figure_3")["k"])
    fourth = published("tian2020_figure_4")["values"].values()
    drawn = sum(v is not None for line in fourth for v in line)
    assert count("tian2020_figure_4") == drawn - 2  # three methods have one start
    assert count("tian2020_table_1") == 6
    assert count("tan2019_table_2") == len(printed_cells())
    assert count("tan2019_table_1") == len(published("tan2019_table_1")["rows"])
    assert count("asteris2014_certified") == 4


@pytest.mark.parametrize("name", published_ids())
def test_every_sentence_has_one_row(name):
    """But for what we ask ourselves of several preparations."""
    told = published(name).get("claims", {})
    rows = [row for row in ROWS if row["id"] == name and row["kind"] == "sentence"]
    of_paper = [row["row"] for row in rows if row["whose"] == "paper"]
    assert len(set(of_paper)) == len(of_paper)
    assert set(of_paper) == {
        each["text"] for each in told.values() if each.get("whose", whose(name)) == "paper"
    }


def whose(name):
    return published(name).get("sentences", {}).get("whose", "paper")


def test_no_fraction_is_judged_twice():
    """The four certified fractions are numbers, and no sentence counts them again."""
    for row in ROWS:
        if row["paper"] == "asteris2014" and row["kind"] == "sentence" and row["whose"] == "paper":
            assert "certified" not in row["row"]


def test_what_is_reproduced_is_so_to_its_last_digit_or_to_its_reading():
    for name in published_ids():
        for each in judged(name):
            if each.place and each.verdict == "reproduced" and within(each) is not None:
                assert abs(float(each.ours) - float(each.said)) <= within(each) * (1 + 1e-6)
    for each in judged("tian2020_figure_3"):
        if each.place and each.verdict == "reproduced":
            low, high = map(float, each.said.split(" to "))
            assert low * 0.95 <= float(each.ours) <= high * 1.05  # two digits are shown


def within(each):
    """Half a unit of a printed number's last digit, or what a point was read off to."""
    name = each.claim.id.split("/")[0]
    if name == "tian2020_table_2":
        return 0.005
    if name == "tan2019_table_2":
        return half_unit(float(each.said), 4)
    if name == "asteris2014_certified":
        return half_unit(each.said, 3 if each.said == 0.446 else 2)
    if name in ("tian2020_figure_2", "tian2020_figure_4") and isinstance(each.said, float):
        return each.claim.tolerance
    return None


def test_sampling_stands_behind_what_is_called_within_sampling_error():
    """Table 1 and Table 2 of tian2020 have their draws; no number of another paper has any."""
    found = {
        kind: {row["id"] for row in ROWS if (row["verdict"], row["kind"]) == (WITHIN, kind)}
        for kind in ("number", "sentence")
    }
    assert found["number"] == {"tian2020_table_1", "tian2020_table_2"}
    assert found["sentence"] <= {f"tan2019_figure_{i}" for i in (1, 2, 3, 4)}


def test_rows_are_complete_and_each_has_an_address_of_its_own():
    addresses = [row["address"] for row in ROWS]
    assert len(set(addresses)) == len(addresses)
    assert all(re.fullmatch(r"[a-z0-9-]+", each) for each in addresses)
    assert "tan2019-table-2-leukemia-stspca" in addresses
    assert {row["verdict"] for row in ROWS} <= set(MARKS)
    assert all(row["rule"] and row["function"] and row["seconds"] for row in ROWS)


def test_the_files_have_every_row():
    read = list(csv.DictReader(io.StringIO(ledger_page.table(ROWS))))
    assert read == [{name: row[name] for name in ledger_page.COLUMNS} for row in ROWS]
    listed = json.loads(ledger_page.as_json(ROWS))
    assert [row["address"] for row in listed] == [row["address"] for row in ROWS]
    known = next(r for r in listed if r["address"] == "asteris2014-certified-cbcl-faces-k-180")
    assert len(known["values"]) == 30


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["address"])
def test_rules_assumptions_and_reasons_are_sentences(row):
    for told in (row["rule"], row["reason"], row["assumption"]):
        assert not told or re.match(r"[A-Z0-9].*\.$", told, re.DOTALL), told
    if row["verdict"] in ("differs", "under-specified"):
        assert row["reason"]


def test_every_rule_has_its_power_beside_it():
    assert all(row["lets pass"] for row in ROWS)
    unknown = {row["rule"] for row in ROWS if row["lets pass"].startswith("Not known")}
    assert len(unknown) < 0.1 * len({row["rule"] for row in ROWS})
    assert any(ledger.is_weak(row) for row in ROWS)


def test_a_rule_that_lets_everything_pass_is_weak_and_one_that_lets_nothing_is_not():
    assert ledger.spoken({"names": 1.0, "cases": 0.5}).startswith("Weak: 75 %")
    assert not ledger.spoken({"names": 0.0, "placebo": 0.9}).startswith("Weak")


def test_wrong_experiments_are_wrong():
    """Read through a change, Table 2 of tian2020 loses most cells where names are exchanged."""
    right = {each.claim.id: each for each in judged("tian2020_figure_2")}
    wrong = power.what_passes("tian2020_figure_2", "names", 0, right)
    before = [power.comes_out(each) for each in right.values()]
    assert sum(before) > 60
    assert sum(wrong.values()) < 20
    assert [e.ours for e in judged("tian2020_figure_2")] == [e.ours for e in right.values()]


def test_each_paper_is_told_by_itself():
    told = ledger_page.how_much(ROWS)
    for paper in papers():
        mine = [row for row in ROWS if row["paper"] == paper]
        assert f"<strong>{paper}</strong>: " in told
        for _, some in ledger_page.kinds(mine):
            assert "{} of {}".format(*ledger_page.come_out(some)) in told
    numbers = {p: [r for r in ROWS if r["paper"] == p and r["kind"] == "number"] for p in papers()}
    share = {p: np.divide(*ledger_page.come_out(mine)) for p, mine in numbers.items()}
    assert share["tian2020"] > 0.5  # "most of its numbers come out"
    assert share["tan2019"] < 0.2  # "its tables do not come out"


def test_the_page_has_each_row_once_and_says_what_is_weak():
    page = ledger_page.page(ROWS)
    assert all(page.count(f'id="{row["address"]}"') == 1 for row in ROWS)
    assert "by a weak rule" in page
    bars = re.findall(r"<td>(\d+) (?:numbers|sentences)</td>", page)
    assert sum(map(int, bars)) + ledger_page.count_asked(ROWS) == len(ROWS)


def test_every_verdict_has_its_colour_in_the_book_and_in_its_tables():
    css = (toc.ROOT / "book" / "static" / "book.css").read_text(encoding="utf-8").upper()
    for verdict, colour in COLOURS.items():
        rule = css.split(f".{ledger_page.of_class(verdict)} {{".upper())[1].split("}")[0]
        assert colour.upper() in rule


def test_a_row_names_its_method():
    def method(address):
        return next(r["method"] for r in ROWS if r["address"] == address)

    assert method("tian2020-table-2-scheme-a-soap-random-subspace-ir") == "SOAP"
    assert method("tian2020-figure-3-stop-soap") == "IPU, SOAP"
    assert method("tan2019-table-2-two-stages") == "StSPCA-2S"


def test_a_ratio_near_one_says_nothing():
    assert longer(1.05) == longer(0.95) == "close"
    assert (longer(1.2), longer(0.8)) == ("reproduced", "differs")


def test_figure_4_tells_starts_apart():
    points = [each for each in judged("tian2020_figure_4") if each.place]
    assert {p.verdict for p in points if p.place["method"] == "go"} == {"reproduced"}
    assert {p.verdict for p in points if p.place["method"] != "go"} == {"under-specified"}


def test_what_is_not_to_be_had_has_no_verdict():
    """Breast: a row of Table 1, and every sentence on Figure 6."""
    missing = [r for r in ROWS if r["verdict"] == "not available"]
    assert len(missing) == 1 + len(published("tan2019_figure_6")["claims"])
    assert all(not r["ours"] for r in missing)
