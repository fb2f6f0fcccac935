"""Run the course as a lecturer would: the guide's commands, in their order, in an empty folder.

    python book/tools/rehearse.py          # this environment's packages stand in for a download
    python book/tools/rehearse.py --full   # nothing is shortened: pip fetches the pinned versions

The commands are read from the guide.  What is shortened without --full: `pip install` finds every
pinned version installed already (PYTHONPATH names this environment's packages), so it installs
the module's wheel and fetches nothing.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import nbformat

import assignments

NAME = "go_and_its_proof"
GUIDE = "course/instructors_guide.md"


def commands(guide):
    """The blocks of commands, in their order."""
    return re.findall(r"^```bash\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)


def handed_in(course):
    """What students send: ada has it right, grace in her own names, bob has changed nothing."""
    source = nbformat.read(course / "source" / NAME / f"{NAME}.ipynb", as_version=4)
    blank = nbformat.reads(assignments.generate(course, [NAME])[NAME], as_version=4)
    (course / "gradebook.db").unlink()
    shutil.rmtree(course / "release")
    places = {
        "ada": course / "inbox" / NAME / "ada.ipynb",
        "bob": course / "inbox" / NAME / "bob.ipynb",
        "grace": course / "downloaded" / NAME / "archive" / f"grace__{NAME}.ipynb",
    }
    answers = {
        cell.id: cell.source
        for cell in source.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    for student, path in places.items():
        notebook = nbformat.from_dict(blank)
        for cell in notebook.cells:
            if cell.id == "student":
                cell.source = f"STUDENT = {student!r}"
            elif student != "bob":
                cell.source = answers.get(cell.id, cell.source)
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)


def environment(full):
    names = {name: value for name, value in os.environ.items() if not name.startswith("FSPCA")}
    if not full:
        names["PYTHONPATH"] = sysconfig.get_path("purelib")
        names |= {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        names["PATH"] = f"{Path(sys.executable).parent}:{names['PATH']}"
    return names


def rehearse(folder, full=False):
    """Unpack the archive, run the guide; return its course and what each block printed."""
    folder = Path(folder)
    shutil.copy(assignments.OUTPUT / "instructor_archive.zip", folder)
    with tempfile.TemporaryDirectory() as peek:
        shutil.unpack_archive(folder / "instructor_archive.zip", peek)
        blocks = commands((Path(peek) / GUIDE).read_text())
        handed_in(Path(peek) / "course")
        sent = {kind: Path(peek) / "course" / kind for kind in ("inbox", "downloaded")}
        script = "set -euo pipefail\n"
        for number, block in enumerate(blocks):
            script += f"echo '=== block {number}'\n{block}"
            if number == 0:  # what students send comes in
                script += "".join(f"cp -r '{path}' .\n" for path in sent.values())
        ran = subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env=environment(full),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    printed = re.split(r"^=== block \d+\n", ran.stdout, flags=re.MULTILINE)[1:]
    if ran.returncode:
        last = len(printed) - 1
        raise RuntimeError(f"this block of the guide fails:\n{blocks[last]}{printed[last]}")
    return folder / "course", printed


if __name__ == "__main__":
    assignments.archive()
    with tempfile.TemporaryDirectory() as folder:
        course, printed = rehearse(folder, full="--full" in sys.argv)
        print((course / "marks.csv").read_text())
        print(f"{len(printed)} blocks of commands ran as printed.")
