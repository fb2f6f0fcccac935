"""Write the tables of the course's pages from plan.yml, the chapters and the assignments.

    python book/tools/plan.py

One rule for hours: reading is what the chapters say of themselves, an assignment takes ten
minutes a point, the project thirty.
"""

import re
from pathlib import Path

import nbformat
import yaml

import toc

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "book" / "assignments"
PLAN = yaml.safe_load((COURSE / "plan.yml").read_text())
POINTS = r"\*\*Points:\*\* (\d+)\. The checks give (\d+) .* a reader gives (\d+)"
HEADING = r"^## (?:Task \d+\. )?(.+?) \((?:([a-z-]+), )?\d+ points?\)$"
SAID = {
    "half an hour": 30,
    "three quarters of an hour": 45,
    "an hour": 60,
    "an hour and a half": 90,
    "two hours": 120,
}


def page(stem):
    """The file of a chapter, by its name alone."""
    (found,) = [path for path in ROOT.glob(f"book/*/{stem}.*") if path.suffix in (".ipynb", ".md")]
    return found


def cells(path):
    if path.suffix == ".md":
        return [path.read_text()]
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


def title(path):
    return re.search(r"^# (.+)$", "\n".join(cells(path)), re.MULTILINE)[1]


def minutes(path):
    """What the chapter says that reading it takes; a page that says nothing takes half an hour."""
    said = re.search(r"reading takes ([a-z ]+?)[,.;]", "\n".join(cells(path)))
    return SAID[said[1]] if said else 30


def notebook(name):
    return COURSE / "source" / name / f"{name}.ipynb"


def points(name):
    """(all, by the checks, by a reader)"""
    return tuple(map(int, re.search(POINTS, "\n".join(cells(notebook(name)))).groups()))


def in_hours(minutes):
    return round(minutes / 30) / 2


def work(name):
    """The hours of an assignment."""
    return in_hours(points(name)[0] * (30 if name == "final_project" else 10))


def links(week):
    found = [page(stem) for stem in week["read"]]
    return ", ".join(f"[{title(path)}](../{path.parent.name}/{path.name})" for path in found)


def reading(week):
    return in_hours(sum(minutes(page(stem)) for stem in week["read"]))


def weeks(which):
    """For lecturers: every week, what is read and handed in, and the hours of both."""
    rows = ["| week | what it is about | read | hours | hand in | hours |", "|" + "---|" * 6]
    total = 0
    for number, week in enumerate(PLAN[which], 1):
        name = week.get("hand_in")
        hours = (reading(week), work(name) if name else 0)
        total += sum(hours)
        handed = (f"`{name}`", f"{hours[1]:g}") if name else ("", "")
        parts = (number, week["about"], links(week), f"{hours[0]:g}", *handed)
        rows.append("| " + " | ".join(map(str, parts)) + " |")
    return "\n".join([*rows, "", f"{total:g} hours in all, lectures not counted."])


def handed_in():
    """[(week, name, what was read since the last one)]"""
    read = []
    for number, week in enumerate(PLAN["weeks"], 1):
        read += week["read"]
        if "hand_in" in week:
            yield number, week["hand_in"], {"read": read}
            read = []


def assignments():
    """For students: every assignment, what to read before it, hours and points."""
    rows = ["| week | assignment | before it, read | hours | points |", "|---|---|---|---|---|"]
    for number, name, since in handed_in():
        file = f"{{download}}`{title(notebook(name))} <release/{name}/{name}.ipynb>`"
        parts = (number, file, links(since), f"{work(name):g}", points(name)[0])
        rows.append("| " + " | ".join(map(str, parts)) + " |")
    return "\n".join(rows)


def tasks():
    """For lecturers: every assignment's tasks, and who gives the points."""
    rows = ["| assignment | tasks | points: checks + reader |", "|---|---|---|"]
    for _, name, _ in handed_in():
        text = "\n".join(cells(notebook(name)))
        found = re.findall(HEADING, text, re.MULTILINE)
        said = "; ".join(f"{what} ({kind})" if kind else what for what, kind in found)
        rows.append(f"| `{name}` | {said} | {points(name)[1]} + {points(name)[2]} |")
    return "\n".join(rows)


TABLES = {
    "twelve weeks": lambda: weeks("weeks"),
    "six weeks": lambda: weeks("short"),
    "assignments": assignments,
    "tasks": tasks,
}


def filled(text):
    """A page with its tables made again."""

    def table(found):
        return f"{found[1]}\n{TABLES[found[2]]()}\n{found[3]}"

    return re.sub(r"(<!-- (.+?) -->)\n.*?(<!-- end -->)", table, text, flags=re.DOTALL)


def main():
    for path in COURSE.glob("for_*.md"):
        toc.write(path, filled(path.read_text()))


if __name__ == "__main__":
    main()
