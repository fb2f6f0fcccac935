"""A fourth paper needs data and functions, and not a line of the engine."""

import ast
import json
import sys

import pytest
import toc

import fspca_reproduction
from fspca_reproduction import claim, ledger, ledger_page, results, runner

FIGURE = {
    "id": "toy2031_figure_1",
    "title": "Figure 1, squares",
    "source": "nobody",
    "values": {"square": [1, 4, 9.5]},
    "numbers": {"rule": "read off", "tolerance": 0.1, "reason": "a slip of the pen",
                "layout": {"down": ["curve"], "across": "n"}},
    "sentences": {"rule": "at every point"},
    "claims": {
        "rises": {"text": "squares rise"},
        "first": {"text": "the first is {n}", "value": 1},
        "ours": {"text": "no square is negative", "whose": "us", "rule": "no sign"},
    },
}  # fmt: skip
RUNS = """
from fspca_reproduction.runner import experiment

@experiment(cases=[{"n": n} for n in (1, 2, 3)])
def toy2031_figure_1(n):
    '''Squares.'''
    return {"square": n**2}
"""
CLAIMS = """
from fspca_reproduction.results import stored
from fspca_reproduction.verdict import point_verdict

SUMMARY = "squares, nearly."

def toy2031_figure_1(said):
    rows = stored("toy2031_figure_1")["rows"]
    for row, drawn in zip(rows, said["values"]["square"], strict=True):
        place = {"curve": "square", "n": row["n"]}
        verdict = point_verdict(row["square"], drawn, 0.1)
        yield said.number(place, drawn, row["square"], verdict)
    squares = [row["square"] for row in rows]
    yield said.sentence("rises", squares == sorted(squares), squares[-1])
    yield said.sentence("first", squares[0] == 1, squares[0], n=1)
    yield said.sentence("ours", min(squares) >= 0, min(squares))
"""


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A folder for the paper, and the data of its figure."""
    folder, data = tmp_path / "code" / "toy2031", tmp_path / "data"
    for each in (folder, data / "published", data / "results"):
        each.mkdir(parents=True)
    for name, text in {"__init__": "", "runs": RUNS, "claims": CLAIMS}.items():
        (folder / f"{name}.py").write_text(text)
    (data / "published" / "toy2031_figure_1.json").write_text(json.dumps(FIGURE))
    path = [*fspca_reproduction.__path__, str(folder.parent)]
    monkeypatch.setattr(fspca_reproduction, "__path__", path)
    monkeypatch.setattr(results, "DATA", data)
    yield "toy2031_figure_1"
    for name in [name for name in sys.modules if "toy2031" in name]:
        del sys.modules[name]
    vars(fspca_reproduction).pop("toy2031", None)


def test_a_fourth_paper_is_run_judged_listed_and_shown(paper):
    assert claim.papers()[0] == "toy2031"  # the newest comes first
    rows = [runner.row(paper, case) for case in runner.experiments()[paper].cases]
    stamp = runner.stamp_of_today() | {"seconds": 0.5}
    place = [runner.place(case) for case in runner.experiments()[paper].cases]
    done = [{"place": p, "row": row, "stamp": stamp} for p, row in zip(place, rows, strict=True)]
    runner.write(paper, done)
    assert results.stored(paper)["rows"] == rows
    slug = "toy2031-figure-1"
    listed = ledger.entries()
    assert [(r["row"], r["verdict"], r["published"], r["rule"], r["reason"]) for r in listed] == [
        ("square, 1", "reproduced", "1", "read off", ""),
        ("square, 2", "reproduced", "4", "read off", ""),
        ("square, 3", "differs", "9.5", "read off", "a slip of the pen"),
        ("squares rise", "reproduced", "so it says", "at every point", ""),
        ("the first is 1", "reproduced", "1", "at every point", ""),
        ("no square is negative", "reproduced", "", "no sign", ""),
    ]
    assert {row["data"] for row in listed} == {"made"}
    assert [r["address"] for r in listed][2:4] == [f"{slug}-square-3", f"{slug}-rises"]
    shown = ledger_page.section(paper, listed)
    assert "Figure 1, squares" in shown
    assert f'<td id="{slug}-square-3" class="v-differs"><b>9 ≠</b><br>9.5</td>' in shown
    assert ledger_page.tally(listed) == [4, 0, 0, 0, 1, 0, 0]
    assert ledger_page.count_asked(listed) == 1
    assert ledger_page.summary("toy2031", listed[:3]).endswith("2 of 3 numbers come out.")
    assert f'"{slug}"' in ledger_page.script(listed, shown)


ENGINE = sorted((toc.ROOT / "reproduction" / "fspca_reproduction").glob("*.py"))


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: path.stem)
def test_the_engine_knows_no_paper_and_no_sentence(path):
    """No id, no paper's name and no sentence stands in its code; docstrings may give examples."""
    code = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(code):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body[0].value.value = ""
    strings = {n.value for n in ast.walk(code) if isinstance(n, ast.Constant)}
    strings = {each for each in strings if isinstance(each, str)}
    texts = {
        c["text"] for name in ids() for c in results.published(name).get("claims", {}).values()
    }
    assert not {each for each in strings for known in (*ids(), *claim.papers()) if known in each}
    assert not strings & texts


def ids():
    return results.published_ids()


def imports(path):
    """The modules of ours that a module imports, among other names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fspca_repro"):
            for name in node.names:
                yield from (node.module, f"{node.module}.{name.name}")


def test_no_module_imports_itself_in_the_end():
    top = toc.ROOT / "reproduction"
    files = {".".join(path.relative_to(top).with_suffix("").parts): path
             for path in top.glob("fspca_reproduction/**/*.py")}  # fmt: skip
    left = {name: set(imports(path)) & files.keys() for name, path in files.items()}
    while leaves := {name for name, needs in left.items() if not needs & left.keys()}:
        left = {name: needs for name, needs in left.items() if name not in leaves}
    assert not left
