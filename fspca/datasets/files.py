"""Files: what comes in is bounded, what goes out is whole."""

import io
import zipfile
from pathlib import Path

import numpy as np

LARGEST = 2**31  # bytes that a file may unfold to


def open_archive(path):
    """Return the arrays of an npz, to be read one by one; pickled objects are refused."""
    with zipfile.ZipFile(path) as parts:
        size = sum(part.file_size for part in parts.infolist())
    if size > LARGEST:
        raise ValueError(f"unfolds to {size} bytes, more than {LARGEST}")
    return np.load(path, allow_pickle=False)


def write_whole(path, content):
    """Write text or bytes at once: what ends in between leaves the old file, or none.

    A pipe or a device is written to as it is.
    """
    path = Path(path).resolve()  # a link stays one
    content = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_arrays(path, arrays):
    """Write an npz at once."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    write_whole(path, packed.getvalue())


def printable(text):
    r"""Return text without signs that steer a terminal.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)
