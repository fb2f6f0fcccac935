"""Give points for written answers, where formgrader's pages are more than is needed.

python grading/read.py go_and_its_proof                       # what waits for a reader
python grading/read.py go_and_its_proof ada                   # ada's written answers
python grading/read.py go_and_its_proof ada unique-proof 5    # five points, if there are five
"""

import sys
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook

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
    for cell in nbformat.read(done, as_version=4).cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("grade") and marks.get("solution"):
            yield marks["grade_id"], cell.source


def give(gradebook, name, student, answer, points):
    grade = gradebook.find_grade(answer, name, name, student)
    if not 0 <= points <= grade.max_score:
        raise SystemExit(f"{answer}: {points:g} points, and there are 0 to {grade.max_score:g}")
    grade.manual_score, grade.needs_manual_grade = points, False
    gradebook.db.commit()


def main(name, student=None, answer=None, points=None):
    with Gradebook(f"sqlite:///{COURSE / 'gradebook.db'}") as gradebook:
        if points is not None:
            give(gradebook, name, student, answer, float(points))
        elif student is not None:
            for which, text in answers(name, student):
                print(f"--- {which}\n{text}\n")
        else:
            for line in sorted(waiting(gradebook, name)):
                print("{:20} {:20} of {:g}".format(*line))


if __name__ == "__main__":
    main(*sys.argv[1:])
