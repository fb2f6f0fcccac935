"""What git says of a checkout: its commit, whether it is clean, and the names of its trees."""

import subprocess

import pytest

from fspca_reproduction import checkout

WHO = ("-c", "user.name=a tester", "-c", "user.email=tester@example.org")


@pytest.fixture
def repository(tmp_path):
    for folder in checkout.CODE:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "code.py").write_text("1\n")
    (tmp_path / "page.md").write_text("A page.\n")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    commit(tmp_path)
    return tmp_path


def commit(folder):
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    command = ["git", *WHO, "commit", "--quiet", "--allow-empty", "--message=a step"]
    subprocess.run(command, cwd=folder, check=True)
    return checkout.commit(folder)


def test_the_trees_are_those_of_the_code_alone(repository):
    first, before = checkout.trees(root=repository), checkout.commit(repository)
    (repository / "page.md").write_text("Another page.\n")
    assert checkout.is_clean(root=repository)
    assert not checkout.is_clean("page.md", root=repository)
    assert commit(repository) != before
    assert checkout.trees(root=repository) == first
    assert checkout.trees("page.md", root=repository) != first
    (repository / "fspca" / "code.py").write_text("2\n")
    commit(repository)
    assert checkout.trees(root=repository) not in (first, None)


@pytest.mark.parametrize("name", ["code.py", "new.py"])
def test_what_is_not_committed_has_no_name(repository, name):
    (repository / "fspca" / name).write_text("3\n")
    assert not checkout.is_clean(root=repository)
    assert checkout.trees(root=repository) is None


def test_outside_a_checkout_nothing_is_known(repository):
    inside = repository / "fspca"  # of somebody else's checkout
    assert checkout.commit(inside) == ""
    assert not checkout.is_clean(root=inside)
    assert checkout.trees(root=inside) is None


def test_a_commit_contains_itself_and_those_before(repository, monkeypatch):
    older, newer = checkout.commit(repository), commit(repository)
    monkeypatch.setattr(checkout.git, "__kwdefaults__", {"root": repository})
    assert checkout.contains(newer, older)
    assert checkout.contains(newer, newer)
    assert not checkout.contains(older, newer)
    assert not checkout.contains(checkout.BEFORE, older)
    assert checkout.resolved("HEAD").startswith(newer)
    with pytest.raises(checkout.AbsentError, match=r"'v9' must be a commit"):
        checkout.resolved("v9")
