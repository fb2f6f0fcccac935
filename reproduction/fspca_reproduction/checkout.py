"""Which commit is checked out, whether it is clean, and what git calls the code that made a row."""

import subprocess

from fspca_reproduction.results import ROOT, AbsentError

CODE = ("fspca", "reproduction")  # what a row, a notebook's output or a passed test depends on
BEFORE = "before 0.3"  # what stands for the commit in rows that were made before it was stored
SHOWN = 10  # digits of a commit or a tree, which no two of ours share


def git(*words, root=ROOT):
    """Return what git answers, or None where this is no checkout, git is not here or refuses."""
    if not (root / ".git").exists():  # a folder within somebody else's checkout is none of ours
        return None
    try:
        told = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
    except OSError:
        return None
    return told.stdout.strip() if told.returncode == 0 else None


def commit(root=ROOT):
    """Return the commit that is checked out, or "" outside a checkout."""
    return (git("rev-parse", "HEAD", root=root) or "")[:SHOWN]


def is_clean(*paths, root=ROOT):
    """Say whether the code, and further paths, are as the commit has them."""
    return git("status", "--porcelain", "--", *CODE, *paths, root=root) == ""


def trees(*paths, root=ROOT):
    """Return what git calls the code and further paths as they are; None where they are not clean.

    A commit that leaves them alone leaves this alone.
    """
    if not is_clean(*paths, root=root):
        return None
    found = git("rev-parse", *(f"HEAD:{path}" for path in (*CODE, *paths)), root=root)
    return found and " ".join(each[:SHOWN] for each in found.split())


def resolved(name):
    """Return the commit that somebody names, or say that there is none of this name."""
    found = git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if found is None:
        raise AbsentError(f"{name!r} must be a commit of this checkout, such as HEAD or v0.3.0")
    return found


def contains(newer, older):
    """Say whether a commit is another one or descends from it; one that is unknown does not."""
    return git("merge-base", "--is-ancestor", older, newer) is not None
