"""Damaged and hostile files: more than two hundred, each by name, made anew from a seed.

What is not a table, an archive, a matrix, a certificate or a download, and what pretends to be
one.  Kinds: text (csv, tsv), npz, mtx, certificates, downloads (mat, bz2, txt), json of the runner.
"""

import bz2
import gzip
import io
import itertools
import pickle
import struct
import warnings
import zipfile
import zlib

import numpy as np
import scipy.io
import scipy.sparse
from numpy.lib import format as npy

from fspca import solve

HUGE = 2**40
PROGRAM = "__import__('os').system('touch EXECUTED')"
X = np.random.default_rng(0).integers(0, 9, (6, 3)).astype(float)


class Evil:
    """Unpickled, it runs a command."""

    def __reduce__(self):
        import os

        return os.system, ("touch EXECUTED",)


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def sparse(**changes):
    S = scipy.sparse.csr_array(X)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": S.shape}
    return npz(**parts | {"format": "csr"} | changes)


def zipped(*members, method=zipfile.ZIP_STORED):
    """A zip of (name, bytes), names as they are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of two members with one name
        for name, content in members:
            file.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


def header(descr="<f8", order="False", shape="(6, 3)", text=None, version=b"\x01\x00"):
    """The start of an npy file that says what it is told to."""
    text = text or f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}, }}"
    return npy.MAGIC_PREFIX + version + struct.pack("<H", len(text) + 1) + text.encode() + b"\n"


def damaged(whole, rng, cuts=8, flips=12):
    """Cut at some places, and changed at some."""
    for share in np.linspace(0, 0.98, cuts):
        yield f"cut at {share:.2f}", whole[: int(share * len(whole))]
    for number in range(flips):
        changed = bytearray(whole)
        for place in rng.integers(0, len(whole), 3):
            changed[place] ^= int(rng.integers(1, 256))
        yield f"flipped {number}", bytes(changed)
    yield "twice", whole + whole
    yield "behind rubbish", b"rubbish" * 9 + whole


def text():
    yield "empty", b""
    yield "line break", b"\n\n"
    yield "mark of order alone", b"\xef\xbb\xbf"
    yield "blanks", b"   \n \t\n"
    yield "names alone", b"a,b\n"
    for word in ("nan", "NaN", "NA", "", " ", "-", "null", "inf", "-Infinity", "1e999", "9" * 400,
                 "0x10", "1_0", "1,5", "1;5", "=cmd|'/C calc'!A0", "None", "True", "1 2", "\x00",
                 "1e", "--1", "1+1j", "２_", PROGRAM):  # fmt: skip
        yield f"cell {word[:12]!r}", f"a,b\n1,2\n3,{word}\n5,6\n".encode()
    yield "short line", b"a,b\n1,2\n3\n"
    yield "long line", b"a,b\n1,2\n3,4,5\n"
    yield "open quote", b'a,b\n"1,2\n3,4\n'
    yield "quote in a cell", b'a,b\n1"1,2\n3,4\n'
    yield "wide field", b"a,b\n" + b"1" * 140_000 + b",2\n"
    yield "one sample", b"a,b\n1,2\n"
    yield "one column", b"a\n1\n2\n3\n"
    yield "constant", b"a,b\n1,2\n1,2\n1,2\n"
    yield "same names", b"a,a\n1,2\n3,5\n2,2\n"
    yield "no names", b",\n1,2\n3,5\n2,2\n"
    yield "steering names", b"\x1b[2J\x1b]0;x\x07,b\n1,2\n3,5\n2,2\n"
    yield "turned names", "\u202eabc,b\n1,2\n3,5\n2,2\n".encode()
    yield "huge numbers", b"a,b\n1e308,2\n-1e308,3\n1e308,4\n"
    yield "tiny numbers", b"a,b\n1e-320,2e-320\n3e-320,1e-320\n0,1e-320\n"
    for coding in ("utf-16", "utf-16-le", "utf-32", "utf-7", "cp037"):
        yield f"in {coding}", "größe,b\n1,2\n3,4\n".encode(coding)
    yield "in latin-1", "größe,b\n1,2\n3,4\n".encode("latin-1")
    yield "old line breaks", b"a,b\r1,2\r3,4\r"
    yield "a picture", b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    yield "packed", gzip.compress(b"a,b\n1,2\n3,4\n")
    yield "a page", b"<!DOCTYPE html><html><script>alert(1)</script></html>"
    yield "deep brackets", b"[" * 100_000
    yield "a pickle", pickle.dumps(Evil())
    yield "many columns", b",".join(b"%d" % j for j in range(3000)) + b"\n"


def archives(rng):
    yield from arrays_that_are_no_table()
    yield from headers_that_lie()
    deflated = zipped(("X.npy", npy_bytes(np.zeros((2**10, 2**13)))), method=zipfile.ZIP_DEFLATED)
    yield (
        "bomb",
        zipped(("X.npy", npy_bytes(np.zeros((2**11, 2**13)))), method=zipfile.ZIP_DEFLATED),
    )
    yield "many bombs", overlapped(deflated, 9)
    yield "bomb that lies", deflated.replace(struct.pack("<I", 2**26 + 128), struct.pack("<I", 999))
    whole = npz(X=X)
    at = whole.rindex(b"PK\x01\x02")
    for place, name in ((8, "locked"), (10, "unknown packing")):
        changed = bytearray(whole)
        for start in (at + place, whole.index(b"PK\x03\x04") + place - 2):
            changed[start] = 99 if place == 10 else 1
        yield name, bytes(changed)
    yield "a plain array", npy_bytes(X)
    yield "packed twice", gzip.compress(whole)
    for name, changes in {
        "column too far": {"indices": np.full(len(X[X != 0]), HUGE)},
        "column before the first": {"indices": np.full(len(X[X != 0]), -1)},
        "columns at fractions": {"indices": np.full(len(X[X != 0]), 0.5)},
        "rows that fall": {"indptr": np.array([0, 9, 3, 6, 9, 12, 15])},
        "rows too long": {"indptr": np.array([0, 1, 2, 3, 4, 5, HUGE])},
        "rows before": {"indptr": np.array([0, -9, 3, 6, 9, 12, 15])},
        "too few rows": {"indptr": np.array([0, 3])},
        "of any width": {"shape": (6, HUGE)},
        "of any height": {"shape": (HUGE, 3)},
        "of no size": {"shape": (-6, 3)},
        "of one dimension": {"shape": (6,)},
        "unknown format": {"format": "evil"},
        "format is a number": {"format": 7},
        "format is empty": {"format": np.array([], dtype=str)},
        "as diagonals": {"format": "dia", "offsets": np.array([HUGE])},
        "as blocks": {"format": "bsr"},
        "as pairs": {"format": "coo", "row": np.full(15, HUGE), "col": np.full(15, HUGE)},
        "as pairs before": {"format": "coo", "row": np.full(15, -9), "col": np.full(15, -9)},
        "nan within": {"data": np.full(len(X[X != 0]), np.nan)},
        "complex within": {"data": np.full(len(X[X != 0]), 1j)},
        "text within": {"data": np.full(len(X[X != 0]), "a")},
        "too little within": {"data": np.ones(2)},
    }.items():
        yield f"sparse, {name}", sparse(**changes)
    yield from damaged(whole, rng)
    yield from ((f"sparse, {name}", x) for name, x in damaged(sparse(), rng, 4, 4))


def arrays_that_are_no_table():
    yield "pickled", npz(X=np.array([[Evil()]], dtype=object))
    yield "pickled names", npz(X=X, names=np.array([Evil(), 1, 2], dtype=object))
    yield "pickle for an array", zipped(("X.npy", pickle.dumps(Evil())))
    yield "pickle in a sparse matrix", sparse(data=np.array([Evil()] * 9, dtype=object))
    for kind in ("c16", "m8[s]", "M8[D]", "S3", "U3", "V8", "i4,f8", "O"):
        yield f"of {kind}", npz(X=np.ones((6, 3)).astype(kind) if kind != "O" else X.astype(object))
    for kind in ("?", "f2", ">f8", "g", "u1", "i8"):
        yield f"of {kind}", npz(X=X.astype(kind))
    for shape in ((), (3,), (2, 3, 4), (0, 3), (3, 0), (1, 1), (1, 3)):
        yield f"shape {shape}", npz(X=np.ones(shape))
    for value in (np.nan, np.inf, 1e200, 5e-324):
        yield f"holds {value}", npz(X=np.where(X > 7, value, X))
    for names in (["a"], ["a"] * 3, [["a"] * 3], "abc", [1, 2, 3], ["a\x1b[2J", "b", "c"], 7):
        yield f"names {names!r}", npz(X=X, names=np.array(names))
    yield (
        "names that are no text",
        zipped(("X.npy", npy_bytes(X)), ("names.npy", header("<U1", shape="(3,)") + b"\xff" * 12)),
    )
    for key in ("wrong", "a/b", "../X", "X.npy.npy"):
        yield f"array {key!r} and another", npz(**{key: X, "other": X})
    yield "nothing in it", zipped()


def headers_that_lie():
    for shape in (f"({HUGE}, {HUGE})", f"({HUGE},3)", "(-1, 3)", "(6, 3, 'a')", "6", "(6,)*9**9",
                  "(True, 3)", "(6.0, 3)", "None", "(10**10, 3)", f"({2**62}, 4)"):  # fmt: skip
        yield f"says shape {shape}", zipped(("X.npy", header(shape=shape) + X.tobytes()))
    for descr in ("|O", "|O8", "<f16", "<f99", "no", PROGRAM):
        yield f"says type {descr}", zipped(("X.npy", header(descr) + X.tobytes()))
    for name, content in {
        "header is a program": header(text=PROGRAM),
        "header is deep": header(text="(" * 5000),
        "header is long": header(text=" " * 60_000),
        "header is a list": header(text="[1, 2]"),
        "header lacks a key": header(text="{'descr': '<f8'}"),
        "version 9": header(version=b"\x09\x00"),
        "no bytes follow": header(),
        "fewer bytes follow": header() + X.tobytes()[:-9],
        "magic alone": npy.MAGIC_PREFIX,
    }.items():
        yield name, zipped(("X.npy", content))
    for name in ("../../X.npy", "/tmp/X.npy", "C:\\X.npy", "X.npy/..", "\x1b[2J.npy", "X"):
        yield f"member {name!r}", zipped((name, npy_bytes(X)))
    yield "two of a name", zipped(("X.npy", npy_bytes(X)), ("X.npy", npy_bytes(-X)))
    yield "a zip in a zip", zipped(("X.npy", npz(X=X)))


def overlapped(whole, count):
    """The only member of a zip, named many times in its directory."""
    at, end = whole.rindex(b"PK\x01\x02"), whole.rindex(b"PK\x05\x06")
    tail = bytearray(whole[end:])
    struct.pack_into("<HHI", tail, 8, count, count, (end - at) * count)
    return whole[:at] + whole[at:end] * count + bytes(tail)


def npy_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def markets(rng):
    head = "%%MatrixMarket matrix {} {} {}\n"
    plain = head.format("coordinate", "real", "general")
    for name, content in {
        "empty": "", "no banner": "1 1 1\n1 1 1\n", "banner alone": plain, "banner cut": "%%Matrix",
        "no size": plain + "% a remark\n", "size of words": plain + "a b c\n",
        "too far": plain + "2 2 1\n3 3 1\n", "at zero": plain + "2 2 1\n0 0 1\n",
        "before": plain + "2 2 1\n-1 1 1\n", "fewer": plain + "2 2 9\n1 1 1\n",
        "more": plain + "2 2 1\n1 1 1\n2 2 2\n", "nan": plain + "2 2 1\n1 1 nan\n",
        "infinite": plain + "2 2 1\n1 1 inf\n", "a word": plain + "2 2 1\n1 1 x\n",
        "wide": plain + f"2 {HUGE} 1\n1 1 1\n", "high": plain + f"{HUGE} 2 1\n1 1 1\n",
        "many": plain + f"2 2 {HUGE}\n1 1 1\n", "beyond": plain + f"{2**70} " * 3 + "\n1 1 1\n",
        "negative": plain + "-2 2 1\n1 1 1\n", "no entries": plain + "2 2 0\n",
        "no rows": plain + "0 0 0\n", "one word": plain + "2 2 1\n1\n",
        "remark without end": plain + "%" * 200_000, "null": plain + "2 2 1\n1 1 \0\n",
        "large array": head.format("array", "real", "general") + f"{2**30} {2**30}\n1\n",
        "array cut": head.format("array", "real", "general") + "2 2\n1\n2\n",
        "array too long": head.format("array", "real", "general") + "2 2\n" + "1\n" * 9,
        "oblong and symmetric": head.format("coordinate", "real", "symmetric") + "3 2 1\n3 1 1\n",
        "array symmetric": head.format("array", "real", "symmetric") + "2 3\n" + "1\n" * 6,
        "complex": head.format("coordinate", "complex", "general") + "2 2 1\n1 1 1 1\n",
        "hermitian": head.format("coordinate", "complex", "hermitian") + "2 2 1\n1 1 1 1\n",
        "pattern": head.format("coordinate", "pattern", "general") + "2 2 1\n1 1\n",
        "vector": "%%MatrixMarket vector coordinate real general\n2 1\n1 1\n",
        "what is it": head.format("tensor", "quaternion", "none") + "2 2 1\n1 1 1\n",
    }.items():  # fmt: skip
        yield name, content.encode()
    buffer = io.BytesIO()
    scipy.io.mmwrite(buffer, scipy.sparse.coo_array(X))
    yield "packed", gzip.compress(buffer.getvalue())
    yield from damaged(buffer.getvalue(), rng, 5, 6)


def certificates(rng):
    """Changes of a proof that holds."""
    A = np.cov(X.T)
    claim = dict(solve(A, 1, 2, gap=0.0).certificate) | {"A": A}
    yield "whole", npz(**claim)
    for key in claim:
        yield f"without {key}", npz(**{name: x for name, x in claim.items() if name != key})
    wrong = (
        np.array([Evil()], dtype=object),
        np.nan,
        -1,
        HUGE,
        "text",
        np.ones((2, 2, 2)),
        1j,
        b"\xff",
    )
    for key, value in itertools.product(
        ("A", "m", "k", "gap", "support", "kind", "version"), wrong
    ):
        yield f"{key} is {str(value)[:9]!r}", npz(**claim | {key: value})
    t = 4000
    chain = {
        "nodes": np.ones((t, 3), np.int8),
        "parent": np.arange(t) - 1,
        "branch": np.full(t, -1),
    }
    yield "long chain", npz(**claim | chain)
    yield "wide tree", npz(**claim | chain | {"parent": np.r_[-1, np.zeros(t - 1, int)]})
    yield "tree that bites its tail", npz(**claim | chain | {"parent": np.arange(t) * 0 + 5})
    yield "branch nowhere", npz(**claim | chain | {"branch": np.full(t, HUGE)})
    steering = {"source": "\x1b[2J" + "x" * 10_000, "sha256": "0"}
    yield "steering source", npz(**{k: x for k, x in claim.items() if k != "A"} | steering)
    yield from damaged(npz(**claim), rng, 6, 10)


def downloads(rng):
    """What an address may send: (ending, name, bytes)."""
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, {"X": X})
    for name, content in damaged(buffer.getvalue(), rng, 4, 4):
        yield "mat", name, content
    for name, content in {
        "empty": b"", "a page": b"<html>404</html>", "a pickle": pickle.dumps(Evil()),
    }.items():  # fmt: skip
        yield from ((ending, name, content) for ending in ("mat", "bz2", "txt"))
    yield "bz2", "bomb", bz2.compress(b"\0" * 2**26)
    yield "bz2", "no pairs", bz2.compress(b"1 2 3\n")
    yield "bz2", "too far", bz2.compress(b"1 99999999999:1\n")
    yield "bz2", "before", bz2.compress(b"1 -5:1\n")
    yield "bz2", "a word", bz2.compress(b"x 1:y\n")
    yield "txt", "ragged", b"1 2\n3\n"
    yield "txt", "nan", b"nan nan\n"


def notes():
    """What a file of the runner may hold instead: JSON that is none, or of another form."""
    yield from {
        "empty": b"", "cut": b'{"id": "x", "rows": [', "deep": b"[" * 100_000, "null": b"null",
        "number": b"1e999", "list": b"[]", "text": b'"text"', "nan": b'{"rows": NaN}',
        "binary": bytes(range(256)), "mark of order": b"\xef\xbb\xbf{}", "bare": b"{}",
        "rows of numbers": b'{"rows": [1], "stamps": [1], "made": [1]}',
        "many rows": b'{"rows": [], "stamps": [{}], "made": [[0, 1000000000000]]}',
        "no stamps": b'{"rows": [{}], "stamps": [], "made": [[0, 1]]}',
        "keys twice": b'{"rows": [], "rows": {}}', "a pickle": pickle.dumps(Evil()),
        "packed": zlib.compress(b"{}"), "line": b'{"place": 1, "trees": []}\n',
        "lines": b'{"place": "x"}\n[]\nnull\n{"place": "x", "trees": "y"}\n{"pla',
    }.items()  # fmt: skip


def all_files():
    """Yield (name of the file, bytes) of all but the downloads and the runner's."""
    rng = np.random.default_rng(0)
    kinds = {
        "csv": text(),
        "npz": archives(rng),
        "mtx": markets(rng),
        "proof.npz": certificates(rng),
    }
    for ending, found in kinds.items():
        for number, (name, content) in enumerate(found):
            yield f"{number:03}.{ending}", name, content
