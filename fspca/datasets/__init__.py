"""Data sets: `load(name)` finds one, `fetch(name)` downloads one, both refuse an altered file."""

import bz2
import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import scipy.sparse

from fspca.covariance import Covariance
from fspca.covariance.validate import checked_choice, needed
from fspca.datasets import files
from fspca.datasets.catalogue import CATALOGUE, Entry

RAW = Path(__file__).parent / "raw"
CSR = ("data", "indices", "indptr")


class MissingDataError(FileNotFoundError):
    """A data set is in none of the places where it is looked for.

    It says which places these are, and the ways to get the set.

    See Also
    --------
    missing : The sentence that it bears.

    Examples
    --------
    >>> issubclass(MissingDataError, FileNotFoundError)
    True
    """


@dataclass(frozen=True, eq=False)
class Dataset:
    """Data X (samples x features) or a covariance A, whichever was published.

    Some sets have labels y of their samples too.
    What a set does not have, it does not have as an attribute: `hasattr(dataset, "X")` asks.

    Parameters
    ----------
    name : str
        As in `fspca.datasets.catalogue.CATALOGUE`.
    arrays : dict of str to array
        What was published: "X" or "A", and perhaps "y".
    names : list of str
        Of the features; empty where none are known.
    provenance : str
        Where it is from, and on which terms.

    See Also
    --------
    load : Returns one.

    Examples
    --------
    >>> load("pitprops").names[:3]
    ['topdiam', 'length', 'moist']
    """

    name: str
    arrays: dict[str, np.ndarray]
    names: list[str]
    provenance: str

    @property
    def X(self) -> np.ndarray:
        """The data, samples x features, which may be sparse."""
        return self._published("X")

    @property
    def A(self) -> np.ndarray:
        """The covariance, features x features, of a set whose data were not published."""
        return self._published("A")

    @property
    def y(self) -> np.ndarray:
        """The samples' labels."""
        return self._published("y")

    def _published(self, name: str) -> np.ndarray:
        if name in self.arrays:
            return self.arrays[name]
        raise AttributeError(f"{self.name} has no {name}: it has {' and '.join(self.arrays)}")

    def covariance(self, **conventions: Any) -> Covariance:
        """Return the Covariance of the set."""
        if "A" in self.arrays:
            return Covariance(self.A, **conventions)
        return Covariance.from_data(self.X, **conventions)

    def __repr__(self):
        is_data = "X" in self.arrays
        n, d = (self.X if is_data else self.A).shape
        what = f"{n} samples x {d} features" if is_data else f"{d} x {d} covariance"
        return f"Dataset({self.name}: {what}; {self.provenance})"


def cache() -> Path:
    """Return the folder for what is fetched.

    It lies in `XDG_CACHE_HOME`, or else in `.cache` of the home folder.

    Returns
    -------
    Path
        Whether it exists or not.

    See Also
    --------
    places : All folders in which sets are looked for.

    Examples
    --------
    >>> cache().name
    'fspca'
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "fspca")


def places() -> list[Path]:
    """Return the folders in which sets are looked for, first to last.

    They are the one that comes with the module, that of the variable FSPCA_DATA, and the cache.

    Returns
    -------
    list of Path
        Two or three.

    See Also
    --------
    where : Looks for one set in them.

    Examples
    --------
    >>> places()[-1] == cache()
    True
    """
    named = os.environ.get("FSPCA_DATA")
    return [RAW, *([Path(named)] if named else []), cache()]


def where(name: str) -> Path | None:
    """Return the path of a set's file, or None where it is not here.

    What it holds is not looked at.

    Parameters
    ----------
    name : str
        One of `fspca.datasets.catalogue.CATALOGUE`.

    Returns
    -------
    Path or None
        The first found.

    See Also
    --------
    places : Where it is looked for.

    Examples
    --------
    >>> where("pitprops").name
    'pitprops.csv'
    """
    file = CATALOGUE[checked_choice("name", name, tuple(CATALOGUE))].file
    return next((place / file for place in places() if (place / file).is_file()), None)


def checksum(*arrays: np.ndarray) -> str:
    """Return the sha256 of decoded arrays: of type, shape and bytes, whatever the file's format.

    It is what `fspca.datasets.catalogue.CATALOGUE` knows of each set.

    Parameters
    ----------
    *arrays : array
        In the order in which they are published.

    Returns
    -------
    str
        64 hexadecimal digits.

    See Also
    --------
    load : Refuses a set that has another.

    Examples
    --------
    >>> checksum(np.arange(3.0))[:12]
    '74cc823074f3'
    """
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def load(name: str) -> Dataset:
    """Return the Dataset of that name: carried here, in the folder FSPCA_DATA, or in the cache.

    What is found is checked against the sum that is known of it.

    Parameters
    ----------
    name : str
        One of `fspca.datasets.catalogue.CATALOGUE`.

    Returns
    -------
    Dataset
        With its data or its covariance.

    See Also
    --------
    fetch : Brings one that is not here.

    Examples
    --------
    >>> load("pitprops")  # doctest: +ELLIPSIS
    Dataset(pitprops: 13 x 13 covariance; correlations of 13 measurements of 180 pit props, ...)
    """
    path = where(name)
    if path is None:
        raise MissingDataError(missing(name))
    return _read(name, path)


def missing(name: str) -> str:
    """Return a sentence with the ways to get a set that is not here.

    These are a download where there is an address, and a folder of one's own.

    Parameters
    ----------
    name : str
        One of `fspca.datasets.catalogue.CATALOGUE`.

    Returns
    -------
    str
        With the places in which it was looked for.

    See Also
    --------
    fetch : The first of the ways.

    Examples
    --------
    >>> print(missing("pitprops")[:8])
    pitprops
    """
    entry = CATALOGUE[name]
    ways = [f"put {entry.file} into a folder and name that folder in the variable FSPCA_DATA"]
    if entry.url:
        ways.insert(0, f"run `python -m fspca fetch {name}` (from {entry.url})")
    looked = ", ".join(map(str, places()))
    return f"{name} ({entry.source}) is not here; {', or '.join(ways)}. Looked in: {looked}"


def _read(name, path):
    try:
        if path.suffix == ".csv":
            names = path.read_text().splitlines()[0].split(",")[1:]
            parts = {"names": names, "A": np.genfromtxt(path, delimiter=",", skip_header=1)[:, 1:]}
        else:
            with files.open_archive(path) as file:
                parts = {key: np.asarray(file[key]) for key in file.files}
    except Exception as error:  # whatever the readers of a format raise on what is not in it
        raise ValueError(f"{path} cannot be read ({error}); {missing(name)}") from None
    return _checked(name, parts, path)


def _checked(name, parts, path):
    """Return the Dataset made of parts, or refuse them."""
    entry = CATALOGUE[name]
    keys = [key for key in ("A", "X", *CSR) if key in parts]
    found = checksum(*(parts[key] for key in keys))
    if found != entry.sha256:
        raise ValueError(
            f"{path} is not the {name} that was published: its decoded array has sha256 "
            f"{found}, not {entry.sha256}; delete it, then {missing(name)}"
        )
    arrays = {key: parts[key] for key in ("X", "A", "y") if key in parts}
    if "indptr" in parts:
        arrays["X"] = scipy.sparse.csr_array(tuple(parts[key] for key in CSR), shape=entry.shape)
    names = next((parts[key] for key in ("names", "features", "genes") if key in parts), None)
    if "X" in arrays and (names is None or np.shape(names) != arrays["X"].shape[1:]):
        names = next((parts[key] for key in ("features", "genes") if key in parts), None)
    provenance = f"{entry.source}; {entry.terms}"
    listed = [] if names is None else list(map(str, np.ravel(names)))
    return Dataset(name, arrays, listed, provenance)


def fetch(name: str, progressbar: bool = True) -> Dataset:
    """Download a set from its public address into the cache, check it, and return it.

    One without an address that is here already is loaded.  A download needs
    the package pooch, and tqdm for the progress bar.

    Parameters
    ----------
    name : str
        One of `fspca.datasets.catalogue.CATALOGUE`, with an address.
    progressbar : bool
        Whether the download shows how far it is.

    Returns
    -------
    Dataset
        As `load` returns it from now on.

    See Also
    --------
    load : Takes what is here.

    Examples
    --------
    >>> fetch("pitprops").name
    'pitprops'
    """
    entry = CATALOGUE[checked_choice("name", name, tuple(CATALOGUE))]
    if not entry.url and where(name):
        return load(name)
    if not entry.url:
        raise MissingDataError(f"{name} has no address to fetch it from: {missing(name)}")
    pooch, folder = needed("pooch", "data", "fetching data"), cache()
    coming = folder / f".{name}"  # what an interruption leaves there goes with the next
    shutil.rmtree(coming, ignore_errors=True)
    try:
        got = pooch.retrieve(entry.url, None, "download", coming, progressbar=progressbar)
        parts = decoded(entry, Path(got))
    finally:
        shutil.rmtree(coming, ignore_errors=True)
    dataset = _checked(name, parts, got)
    files.write_arrays(folder / entry.file, parts)
    return dataset


def decoded(entry: Entry, path: Path) -> dict[str, np.ndarray]:
    """Return the arrays in a downloaded file, or say that it cannot be read.

    The address says which format it is: MATLAB's, LIBSVM's, or a table of numbers.

    Parameters
    ----------
    entry : fspca.datasets.catalogue.Entry
        The set's row of the catalogue.
    path : Path
        The file.

    Returns
    -------
    dict of str to array
        By the names that the cache's file has.

    See Also
    --------
    fetch : Checks and keeps them.

    Examples
    --------
    >>> entry = next(each for each in CATALOGUE.values() if each.url.endswith(".mat"))
    >>> try:
    ...     decoded(entry, RAW / "pitprops.csv")
    ... except ValueError as error:
    ...     print("cannot be read" in str(error))
    True
    """
    try:
        return _decode(entry, path)
    except Exception as error:
        raise ValueError(f"what {entry.url} sends cannot be read ({error})") from None


def _decode(entry, path):
    """Return the arrays in a downloaded file: MATLAB's, LIBSVM's, or a table of numbers."""
    if entry.url.endswith(".mat"):
        arrays = scipy.io.loadmat(path).values()
        found = [a for a in arrays if isinstance(a, np.ndarray) and a.shape == entry.shape]
        array = np.ascontiguousarray(found[0], dtype=entry.dtype)
        return {"A" if entry.shape[0] == entry.shape[1] else "X": array}
    if entry.url.endswith(".bz2"):
        unpacked = bz2.BZ2Decompressor().decompress(path.read_bytes(), files.LARGEST // 16)
        return _decode_libsvm(entry, unpacked.decode())
    return {"X": np.loadtxt(path).astype(entry.dtype)}


def _decode_libsvm(entry, text):
    """Return the parts of lines "label index:value ...", dense where the set is."""
    lines = [line.split() for line in text.splitlines()]
    pairs = [[pair.split(":") for pair in line[1:]] for line in lines]
    data = np.array([float(v) for line in pairs for _, v in line]).astype(entry.dtype)
    indices = np.array([int(i) - 1 for line in pairs for i, _ in line], dtype=np.int32)
    indptr = np.cumsum([0] + [len(line) for line in pairs]).astype(np.int32)
    y = np.array([float(line[0]) for line in lines]).astype(np.int8)
    X = scipy.sparse.csr_array((data, indices, indptr), shape=entry.shape)
    if np.prod(entry.shape) < 2**24:
        return {"X": X.toarray(), "y": y}
    return {"data": data, "indices": indices, "indptr": indptr, "y": y}
