"""Data sets: found where they should be, refused when altered, described when missing."""

import bz2
import functools
import http.server
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
import scipy.io
import toc

from fspca import datasets
from fspca.__main__ import main
from fspca.datasets.catalogue import CATALOGUE

CARRIED = [name for name, entry in CATALOGUE.items() if (datasets.RAW / entry.file).exists()]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs_data(name)) for name in CATALOGUE]
)
def test_loads_where_it_is_found(name):
    found, entry = datasets.load(name), CATALOGUE[name]
    array = found.X if hasattr(found, "X") else found.A
    assert array.shape == entry.shape
    assert array.dtype == entry.dtype
    assert entry.source in found.provenance
    assert len(found.names) in (0, array.shape[1])
    assert not hasattr(found, "y") or len(found.y) == entry.shape[0]


def test_what_a_set_does_not_have_is_said():
    for name, lacks, has in (("pitprops", "X", "A"), ("digit_pixels", "A", "X")):
        found = datasets.load(name)
        assert hasattr(found, has)
        assert not hasattr(found, lacks)
        with pytest.raises(AttributeError, match=f"{name} has no {lacks}: it has {has}"):
            getattr(found, lacks)


def test_carried_sets_are_described_with_their_checksums():
    text = (toc.ROOT / "data" / "README.md").read_text()
    assert CARRIED
    assert {file.name for file in datasets.RAW.iterdir()} == {CATALOGUE[n].file for n in CARRIED}
    for name in CARRIED:
        entry = CATALOGUE[name]
        assert f"| {name} | {entry.sha256} |" in text
        assert f"| {entry.file} | `{name}` |" in text
        assert " x ".join(map(str, entry.shape)) in text
    assert all(f"`{name}`" in text for name in CATALOGUE)


def test_covariance_follows_the_conventions_asked_for():
    X = datasets.load("tecator_spectra").X.astype(float)
    found = datasets.load("tecator_spectra").covariance(center=False, divisor=1)
    assert found.trace == pytest.approx(np.sum(X**2), rel=1e-6)
    pitprops = datasets.load("pitprops")
    assert pitprops.covariance().trace == pytest.approx(13)
    assert pitprops.names[:2] == ["topdiam", "length"]


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """No set is carried, FSPCA_DATA and the cache are empty folders."""
    monkeypatch.setattr(datasets, "RAW", tmp_path / "raw")
    monkeypatch.setenv("FSPCA_DATA", str(tmp_path / "named"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "named").mkdir()
    return tmp_path


def test_looks_in_the_folder_named_and_in_the_cache(elsewhere):
    original = (toc.ROOT / "fspca" / "datasets" / "raw" / "pitprops.csv").read_bytes()
    (elsewhere / "cache" / "fspca").mkdir(parents=True)
    for place in (elsewhere / "cache" / "fspca", elsewhere / "named"):
        (place / "pitprops.csv").write_bytes(original)
        assert datasets.where("pitprops").parent == place
        assert datasets.load("pitprops").A.shape == (13, 13)


def test_missing_set_says_how_to_get_it(elsewhere):
    with pytest.raises(datasets.MissingDataError, match=r"fspca fetch nus_wide.*FSPCA_DATA") as it:
        datasets.load("nus_wide")
    assert str(elsewhere / "named") in str(it.value)
    with pytest.raises(datasets.MissingDataError, match=r"put colon_62x2000\.npz into a folder"):
        datasets.load("colon")
    with pytest.raises(datasets.MissingDataError, match="colon has no address"):
        datasets.fetch("colon")


def test_unknown_name_is_refused():
    with pytest.raises(ValueError, match="name='iris' must be one of 'pitprops'"):
        datasets.load("iris")


def test_altered_file_is_refused(elsewhere):
    X = np.zeros((215, 100), np.float32)
    np.savez(elsewhere / "named" / "tecator_spectra.npz", X=X)
    with pytest.raises(ValueError, match=r"not the tecator_spectra that was published.*delete it"):
        datasets.load("tecator_spectra")


@pytest.mark.parametrize("name", CARRIED)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_truncated_file_is_refused(elsewhere, name, share):
    file = CATALOGUE[name].file
    whole = (toc.ROOT / "fspca" / "datasets" / "raw" / file).read_bytes()
    (elsewhere / "named" / file).write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match=r"cannot be read|not the"):
        datasets.load(name)


@pytest.fixture
def served(elsewhere):
    """An address on this machine for files put into a folder."""
    folder = elsewhere / "served"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=folder)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def published(X, name, url, monkeypatch):
    """Declare X to be what the set called name decodes to."""
    digest = datasets.checksum(X)
    entry = replace(CATALOGUE[name], shape=X.shape, dtype=X.dtype.str[1:], sha256=digest, url=url)
    monkeypatch.setitem(CATALOGUE, name, entry)


@pytest.mark.parametrize("kind", ["table", "mat", "libsvm"])
def test_fetch_decodes_checks_and_keeps(served, monkeypatch, kind):
    folder, address = served
    X = np.array([[1.0, 0.0, 2.5], [0.0, 4.0, 0.0]])
    file = {"table": "set.txt", "mat": "set.mat", "libsvm": "set.bz2"}[kind]
    if kind == "table":
        np.savetxt(folder / file, X)
    elif kind == "mat":
        scipy.io.savemat(folder / file, {"something": X, "other": X[:1]})
    else:
        (folder / file).write_bytes(bz2.compress(b"1 1:1 3:2.5\n-1 2:4\n"))
    published(X, "duke", f"{address}/{file}", monkeypatch)
    assert np.array_equal(datasets.fetch("duke", progressbar=False).X, X)
    assert datasets.where("duke").parent == datasets.cache()
    assert np.array_equal(datasets.load("duke").X, X)
    published(X + 1, "duke", f"{address}/{file}", monkeypatch)
    with pytest.raises(ValueError, match="not the duke that was published"):
        datasets.fetch("duke", progressbar=False)
    assert [path.name for path in datasets.cache().iterdir()] == [CATALOGUE["duke"].file]


def test_fetch_without_pooch_says_what_is_needed(elsewhere, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"pip install 'fspca\[data\]'"):
        datasets.fetch("nus_wide")


def test_command_lists_what_is_here_and_what_is_not(elsewhere, capsys):
    main(["datasets"])
    said = capsys.readouterr().out
    assert all(name in said for name in CATALOGUE)
    assert "not here, to be fetched" in said
    assert "not here, to be put into FSPCA_DATA" in said
    with pytest.raises(SystemExit):
        main(["fetch", "colon"])
    assert "has no address" in capsys.readouterr().err
