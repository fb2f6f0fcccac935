"""The reproduction ledger: whole, and what its command makes."""

import csv
import io
import json
import re
from collections import Counter

import pytest
import toc

from fspca_reproduction import ledger, ledger_page
from fspca_reproduction.claim import judged
from fspca_reproduction.results import published, published_ids
from fspca_reproduction.runner import experiments
from fspca_reproduction.tan2019.verdicts import printed_cells
from fspca_reproduction.tian2020.claims import side
from fspca_reproduction.verdict import MARKS

ROWS = ledger.entries()
VERDICTS = {  # of the papers' own rows; whoever changes a count says why
    "tian2020": {"reproduced": 264, "within sampling error": 137, "differs": 26,
                 "under-specified": 78},
    "tan2019": {"reproduced": 16, "within sampling error": 12, "differs": 59,
                "under-specified": 32, "not available": 13},
    "asteris2014": {"reproduced": 25, "differs": 3, "under-specified": 7},
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
    mine = [row for row in ROWS if row["id"].startswith(paper) and row["published"]]
    assert Counter(row["verdict"] for row in mine) == VERDICTS[paper]


def test_page_and_table_are_what_the_command_makes():
    """If this fails, run: python -m fspca_reproduction ledger"""
    assert ledger_page.PAGE.read_text(encoding="utf-8") == ledger_page.page()
    assert ledger_page.TABLE.read_text(encoding="utf-8") == ledger_page.table()
    cover = ledger_page.bar(ROWS) + ledger_page.key()
    assert ledger_page.BAR.read_text(encoding="utf-8") == cover


def test_every_published_id_has_a_function_a_chapter_cell_and_a_row():
    ids = published_ids()
    assert len(ids) >= 8
    assert faults(ids, experiments(), labels(), ROWS) == []


@pytest.mark.parametrize("missing", ["function", "cell in a chapter", "row"])
def test_what_is_missing_is_seen(missing):
    known = {"function": ["one"], "cell in a chapter": ["one"], "row": [{"id": "one"}]}
    known[missing] = []
    assert faults(["one"], *known.values()) == [f"one has no {missing}"]


def test_every_published_number_has_its_row():
    def rows(name):
        return [r["row"] for r in ROWS if r["id"] == name and not r["row"].startswith("claim/")]

    table = published("tian2020_table_2")["rows"]
    cells = {f"{x['scheme']}/{x['method']}/{x['init']}/{y}" for x in table for y in
             ("IR", "RE", "HF")}  # fmt: skip
    assert set(rows("tian2020_table_2")) == cells
    assert len(cells) == len(rows("tian2020_table_2")) == 270
    second = published("tian2020_figure_2")
    assert len(rows("tian2020_figure_2")) == sum(
        len(values) for curves in second["values"].values() for values in curves.values()
    )
    assert len(rows("tian2020_figure_3")) == 4 * len(published("tian2020_figure_3")["k"])
    fourth = published("tian2020_figure_4")["values"].values()
    assert len(rows("tian2020_figure_4")) == sum(v is not None for line in fourth for v in line)
    assert len(rows("tian2020_table_1")) == 6


def test_rows_are_complete_and_each_place_is_there_once():
    places = [(row["id"], row["row"]) for row in ROWS]
    assert len(set(places)) == len(places)
    assert {row["verdict"] for row in ROWS} <= set(MARKS)
    assert all(row["why"] and row["function"] and row["seconds"] for row in ROWS)
    read = list(csv.DictReader(io.StringIO(ledger_page.table())))
    assert read == ROWS


def test_every_difference_has_its_reason():
    bare = [r for r in ROWS if r["verdict"] == "differs" and ";" not in r["why"]]
    assert bare == []


def test_counts_on_top_are_those_of_the_rows():
    numbers = ledger_page.tally(ROWS)
    assert sum(numbers) + ledger_page.count_asked(ROWS) == len(ROWS)
    page = ledger_page.page()
    assert f"Of {sum(numbers)} numbers and sentences: {ledger_page.spoken(ROWS)}." in page
    assert page.count("<details><summary>") == len(ROWS)
    bars = re.findall(r"<td>(\d+) (?:numbers|sentences)</td>", page)
    assert sum(map(int, bars)) == sum(numbers)


def test_a_row_names_its_method():
    def method(name, row):
        return next(r["method"] for r in ROWS if (r["id"], r["row"]) == (name, row))

    assert method("tian2020_table_2", "A/soap/random/IR") == "SOAP"
    assert method("tian2020_figure_3", "claim/k=5000: SOAP stops later than IPU") == "IPU, SOAP"


def test_a_ratio_near_one_says_nothing():
    assert side(1.05, True) == side(1.05, False) == "within sampling error"
    assert (side(1.2, True), side(1.2, False)) == ("reproduced", "differs")


def test_figure_4_tells_starts_apart():
    points = [each for each in judged("tian2020_figure_4") if each.place]
    assert {p.verdict for p in points if p.place["method"] == "go"} == {"reproduced"}
    assert {p.verdict for p in points if p.place["method"] != "go"} == {"under-specified"}


def test_every_number_and_sentence_of_tan2019_has_its_row():
    rows = {(r["id"], r["row"]) for r in ROWS if r["id"].startswith("tan2019")}
    for name, method in printed_cells():
        assert ("tan2019_table_2", f"{name}/{method}") in rows
    for line in published("tan2019_table_1")["rows"]:
        assert ("tan2019_table_1", line["set"]) in rows
    for figure in range(1, 8):
        name = f"tan2019_figure_{figure}"
        for sentence in published(name)["claims"].values():
            assert (name, f"claim/{sentence['text']}") in rows


def test_what_is_not_to_be_had_has_no_verdict():
    """Breast: a row of Table 1, and every sentence on Figure 6."""
    missing = [r for r in ROWS if r["verdict"] == "not available"]
    assert len(missing) == 1 + len(published("tan2019_figure_6")["claims"])
    assert all(not r["ours"] for r in missing)
