"""Make the students' copies of the assignments, and the instructor's archive.

    python book/tools/assignments.py            # students' copies, for the book and to hand out
    python book/tools/assignments.py archive    # the instructor's archive, with the solutions

nbgrader works in a temporary copy of the course folder, so that no gradebook is left behind.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "assignments" / "grading"))

import nbformat
from examiner import data_files
from nbgrader.apps import NbGraderAPI
from traitlets.config import PyFileConfigLoader

import plan
import toc

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "book" / "assignments"
OUTPUT = ROOT / "_build" / "assignments"
FOR_STUDENTS = ("numpy", "matplotlib", "ipykernel")
FOR_GRADERS = ("numpy", "scipy", "nbgrader", "nbformat", "nh3")


def names():
    return sorted(path.stem for path in COURSE.glob("source/*/*.ipynb"))


def course_copy(folder):
    """The course without what was made from it, in a folder of its own."""
    made = [
        "release",
        "submitted",
        "autograded",
        "feedback",
        "*.db",
        "__*",
        ".*",
        "for_*.md",
        "lectures.md",
    ]
    made = shutil.ignore_patterns(*made)
    course = Path(shutil.copytree(COURSE, Path(folder) / "course", ignore=made))
    (course / "data").mkdir()
    for path in data_files():
        shutil.copy(path, course / "data")
    return course


def nbgrader(course):
    """nbgrader, set up as the course says, quiet, and with alembic to be found."""
    bin = str(Path(sys.executable).parent)
    if bin not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = bin + os.pathsep + os.environ["PATH"]
    config = PyFileConfigLoader(str(course / "nbgrader_config.py")).load_config()
    config.Application.log_level = "ERROR"
    return NbGraderAPI(config=config)


def checked(result):
    if not result["success"]:
        raise RuntimeError(result.get("error") or result.get("log"))


def generate(course, chosen=None):
    """Run nbgrader generate_assignment; return {name: text of the student's copy}."""
    api, texts = nbgrader(course), {}
    for name in chosen or names():
        checked(api.generate_assignment(name))
        made = course / "release" / name / f"{name}.ipynb"
        texts[name] = nbformat.writes(nbformat.read(made, as_version=4)) + "\n"
    return texts


def pins():
    return dict(re.findall(r"^([\w-]+)==(\S+)", (ROOT / "requirements.txt").read_text(), re.M))


def for_graders():
    """What grading needs, in the book's versions; the module itself comes in the archive."""
    return "".join(f"{name}=={pins()[name]}\n" for name in FOR_GRADERS)


def environment():
    """What a student installs: the versions of the book."""
    lines = ["name: sparse-subspaces", "dependencies:", "  - python>=3.11", "  - pip", "  - pip:"]
    lines += [f"    - {name}=={pins()[name]}" for name in FOR_STUDENTS]
    return "\n".join([*lines, "    - jupyterlab>=4", ""])


def release():
    """Write the students' copies where the book offers them, and a folder to hand out."""
    with tempfile.TemporaryDirectory() as folder:
        texts = generate(course_copy(folder))
    shutil.rmtree(OUTPUT / "students", ignore_errors=True)
    for name, text in texts.items():
        for target in (COURSE / "release" / name, OUTPUT / "students"):
            target.mkdir(parents=True, exist_ok=True)
            toc.write(target / f"{name}.ipynb", text)
    for target in (COURSE, OUTPUT / "students"):
        toc.write(target / "environment.yml", environment())
    toc.write(COURSE / "grading" / "requirements.txt", for_graders())
    plan.main()
    shutil.copy(COURSE / "instructors_guide.md", OUTPUT)
    print(f"Students' copies, environment and guide: {OUTPUT}")


def wheel(folder):
    """The module, built where nothing of it is left behind."""
    with tempfile.TemporaryDirectory() as temporary:
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, temporary)
        shutil.copytree(ROOT / "fspca", Path(temporary) / "fspca")
        build = "from setuptools.build_meta import build_wheel; build_wheel('.')"
        run = [sys.executable, "-c", build]
        subprocess.run(run, cwd=temporary, check=True, stdout=subprocess.DEVNULL)
        (built,) = Path(temporary).glob("*.whl")
        shutil.copy(built, folder)


def archive():
    """Zip the course folder as a lecturer runs it: sources with solutions, checks, guide."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        course = course_copy(folder)
        wheel(course)
        shutil.make_archive(OUTPUT / "instructor_archive", "zip", course.parent)
    print(f"Instructor's archive, not for students: {OUTPUT / 'instructor_archive.zip'}")


if __name__ == "__main__":
    {"release": release, "archive": archive}[(*sys.argv[1:], "release")[0]]()
