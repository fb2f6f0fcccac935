"""Tables of chapters that run without our experiments say what the stored rows say."""

import re

import nbformat
import numpy as np
import pytest
import toc

from fspca_reproduction.book.bench import OURS, SIZES
from fspca_reproduction.book.practice import PLANTED, STRENGTHS, paired
from fspca_reproduction.results import rows_of


def stored_where(name, **case):
    """Return the stored rows of a part of an experiment's cases."""
    return [row for row in rows_of(name) if case.items() <= row.items()]


def lines_of(chapter):
    """Return the cells of each line of the tables of a chapter, without signs of code."""
    notebook = nbformat.read(toc.ROOT / "book" / "practice" / f"{chapter}.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    lines = re.findall(r"^\|(.*)\|$", text.replace("`", ""), re.M)
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def namespace_of(chapter, name):
    """Return what the cell of a chapter that names it gives it: numbers that were typed."""
    notebook = nbformat.read(toc.ROOT / "book" / "practice" / f"{chapter}.ipynb", as_version=4)
    cell = next(cell for cell in notebook.cells if cell.source.startswith(f"{name} = "))
    given = {"np": np}
    exec(cell.source, given)
    return given


def test_the_planted_counts():
    chosen = {
        strength: np.concatenate(
            [r["chosen"] for r in stored_where("planted_count", strength=strength)]
        )
        for strength in STRENGTHS
    }
    lines = {line[0]: line[1:] for line in lines_of("choosing")}
    for name, counted in (
        ("variance of the direction", list(STRENGTHS)),
        ("exactly eight features, of 100 draws", [sum(c == PLANTED["k"]) for c in chosen.values()]),
        ("fewer", [sum(c < PLANTED["k"]) for c in chosen.values()]),
        ("more", [sum(c > PLANTED["k"]) for c in chosen.values()]),
    ):
        assert lines[name] == [str(int(each)) for each in counted]


def standing(method, rows):
    """Return in how many comparisons ours are ahead and behind, and of how many."""
    cases = {}
    for each in rows:
        if method in each:
            cases.setdefault((each["set"], each["m"]), []).append(each)
    whole = [some for some in cases.values() if len(some) == 10]
    found = [paired([r["ours"] for r in some], [r[method] for r in some]) for some in whole]
    ahead, behind = sum(low > 0 for _, low, _ in found), sum(high < 0 for *_, high in found)
    return [str(int(each)) for each in (ahead, behind, len(found))]


def test_the_rivals_on_nine_tables():
    columns = {
        "standardised": [
            *rows_of("held_out_rivals"),
            *stored_where("held_out_quick", standardize=True),
        ],
        "in their unit": stored_where("held_out_quick", standardize=False),
    }
    said = [line for line in lines_of("selector") if line[1] in columns]
    assert len(said) == 8
    for method, unit, *counted in said:
        rows = columns[unit]
        if method == "PCA's loadings" and unit == "standardised":  # asked twice, of the same rows
            rows = rows_of("held_out_rivals")
        assert counted == standing(method, rows), method


def test_the_four_gigabytes():
    ended = {"the support repeats": "the support repeats", "done": "it was done",
             "max_seconds": "the minute was over"}  # fmt: skip
    rows = [r for r in rows_of("bench_limits") if r["data"] == "a file" and r["n"] > 500]
    for row in rows:
        line = [row["solver"], f"{100 * row['explained']:.4f} %", str(row["passes"])]
        assert [*line, ended[row["stopped"]]] in lines_of("beyond_memory")
    assert len(rows) == 4


def test_the_contest_with_others():
    sets = {}
    for row in rows_of("bench"):
        sets.setdefault(row["set"].replace("_", " "), {})[row["contender"]] = row
    for name, found in sets.items():
        shares = {who: row["explained"] for who, row in found.items() if "explained" in row}
        best, who = max((share, who) for who, share in shares.items() if who not in OURS)
        who = {"svds, then Go's rule": "svds"}.get(who, who)
        ours, bound = shares["solve"], found["solve"]["bound"]
        line = [name, f"{ours:.4g}", f"{bound:.4g}", f"{best:.4g}, {who}"]
        assert [*line, f"{100 * (ours / best - 1):+.2f} %"] in lines_of("beyond_memory")
        assert ours > max(shares.values()) * (1 - 1e-9)


def test_the_ratios_of_seconds():
    for row in rows_of("bench_ratios"):
        numbers = [f"{float(f'{ratio:.2g}'):g}" for ratio in row["ratios"].values()]
        assert [row["set"], *numbers] in lines_of("beyond_memory")


def test_the_seconds_of_a_step():
    given, rows = namespace_of("beyond_memory", "sizes_of"), rows_of("bench_slopes")
    for by, sizes in SIZES.items():
        assert tuple(given["sizes_of"][by]) == sizes
        measured = [row["seconds"] for row in rows if row["by"] == by]
        assert given["seconds_of"][by] == pytest.approx(measured, rel=5e-3)  # three digits
