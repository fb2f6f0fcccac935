"""The public names: grouped by what is asked, and the page of all names is made from them."""

import api_page
import linked_cells
import pytest

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


def test_the_page_describes_every_submodule():
    text = api_page.names()
    assert "fspca.shared_support.iteration" in api_page.submodules()
    assert all(f"\n.. automodule:: {name}\n" in text for name in api_page.submodules())


def test_the_page_leads_to_what_is_imported_from_a_submodule():
    text = api_page.names()
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
    found = linked_cells.linked(text, {"go": "fspca.go"}, {"fspca.go": "x"}, "api.html")
    assert found == text.replace(go, link, 1)
