"""The public names: grouped by what is asked, and the page of all names is made from them."""

import api_page
import linked_cells
import pytest
import toc

import fspca
from fspca import SOLVERS, Nonnegative, SeparateSupports, SharedSupport

GROUPS = api_page.groups()
ROOM = {
    SharedSupport: fspca.shared_support,
    SeparateSupports: fspca.separate_supports,
    Nonnegative: fspca.nonnegative,
}


def test_every_name_stands_in_one_group():
    assert [name for names in GROUPS.values() for name in names] == fspca.__all__
    assert len(set(fspca.__all__)) == len(fspca.__all__)


@pytest.mark.parametrize("name", fspca.__all__)
def test_every_name_exists_and_is_described(name):
    assert getattr(fspca, name).__doc__


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=lambda solver: solver.name)
def test_a_solver_is_imported_from_the_room_of_its_problem(solver):
    assert solver.function.__name__ in ROOM[solver.problem].__all__


@pytest.mark.parametrize("room", ROOM.values(), ids=lambda room: room.__name__)
def test_a_room_lists_solvers_and_path(room):
    functions = {solver.function for solver in SOLVERS.values()} | {fspca.path}
    assert {getattr(room, name) for name in room.__all__} <= functions


def test_the_pages_are_made_from_the_module():
    made = api_page.pages()
    assert {path: path.read_text(encoding="utf-8") for path in made} == made, "run `make pages`"
    assert set(api_page.FIRST.with_suffix("").glob("*.md")) | {api_page.FIRST} == set(made)
    assert {str(path.relative_to(toc.ROOT).with_suffix("")) for path in made} <= set(toc.pages())


def test_each_submodule_is_described_on_one_page_and_each_name_of_ours_on_one():
    text = "\n".join(api_page.pages().values())
    assert "fspca.shared_support.iteration" in api_page.submodules()
    assert all(text.count(f"\n.. automodule:: {name}\n") == 1 for name in api_page.submodules())
    assert set(api_page.groups()) == {
        group for _, each, _ in api_page.PAGES.values() for group in each
    }


def test_the_first_page_leads_to_what_is_imported_from_a_submodule():
    text = api_page.pages()[api_page.FIRST]
    doors = [pair for modules in api_page.DOORS.values() for pair in modules.items()]
    for module, names in doors:
        listed = "\n".join(f"   {name}" for name in names)
        assert f"currentmodule:: {module}\n\n.. autosummary::\n\n{listed}\n" in text


def test_a_name_in_a_cell_means_what_it_was_imported_for():
    cells = ["from fspca import go, ipu, swap", "def ipu(swap): ...", "not python"]
    assert linked_cells.meanings(cells) == {"go": "fspca.go"}
    code = '<span class="n">{}</span>'
    go, dot = code.format("go"), '<span class="o">.</span>'
    link = f'<a class="api" title="fspca.go" href="api.html#x">{go}</a>'
    text = f'{go} {dot}{go} {go}<span class="o">=</span>'  # an attribute, a name of an option
    found = linked_cells.linked(text, {"go": "fspca.go"}, {"fspca.go": "api.html#x"})
    assert found == text.replace(go, link, 1)
