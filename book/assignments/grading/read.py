"""Give points for written answers, where formgrader's pages are more than is needed.

python grading/read.py go_and_its_proof                       # what waits for a reader
python grading/read.py go_and_its_proof ada                   # ada's written answers
python grading/read.py go_and_its_proof ada unique-proof 5    # five points, if there are five
"""

import sys
from pathlib import Path

import nbformat
from harmless import printed
from nbgrader.api import Gradebook, MissingEntry

COURSE = Path(__file__).resolve().parents[1]


def waiting(gradebook, name):
    for submission in gradebook.assignment_submissions(name):
        for part in submission.notebooks:
            for grade in part.grades:
                if grade.needs_manual_grade:
                    yield submission.student.id, grade.name, grade.max_score


def answers(name, student):
    """The written answers of a graded notebook."""
    done = COURSE / "autograded" / student / name / f"{name}.ipynb"
    if not done.is_file():
        raise SystemExit(f"{name} of {student} is not graded: nbgrader autograde {name}")
    for cell in nbformat.read(done, as_version=4).cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("grade") and marks.get("solution"):
            yield marks["grade_id"], printed(cell.source)


def give(gradebook, name, student, answer, points):
    try:
        points = float(points)
        grade = gradebook.find_grade(answer, name, name, student)
    except MissingEntry:
        raise SystemExit(f"There is no answer {answer} of {student} in {name}.") from None
    except ValueError:
        raise SystemExit(f"{answer}: points are a number, not {points!r}.") from None
    if not 0 <= points <= grade.max_score:
        raise SystemExit(f"{answer}: {points:g} points, and there are 0 to {grade.max_score:g}.")
    grade.manual_score, grade.needs_manual_grade = points, False
    gradebook.db.commit()


def main(name, student=None, answer=None, points=None):
    if not (COURSE / "source" / name).is_dir():
        raise SystemExit(f"There is no assignment {name} in {COURSE / 'source'}.")
    if answer is not None and points is None:
        raise SystemExit(f"How many points for {answer}?  They come after its name.")
    if not (COURSE / "gradebook.db").is_file():
        raise SystemExit(f"There is no gradebook yet: nbgrader generate_assignment {name}")
    with Gradebook(f"sqlite:///{COURSE / 'gradebook.db'}") as gradebook:
        if points is not None:
            give(gradebook, name, student, answer, points)
        elif student is not None:
            for which, text in answers(name, student):
                print(f"--- {which}\n{text}\n")
        else:
            lines = ["{:20} {:20} of {:g}".format(*each) for each in waiting(gradebook, name)]
            print("\n".join(sorted(lines)) or f"Nothing of {name} waits for a reader.")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 5:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
