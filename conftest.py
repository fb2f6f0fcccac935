"""One BLAS thread, one of its kernels and one hash seed, here and in the notebooks', before numpy.

Threads and kernels change the order of sums and so the last digits.
"""

import os
from traceback import extract_tb

import pytest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["PYTHONHASHSEED"] = "0"
os.environ["OPENBLAS_CORETYPE"] = "Haswell"


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call():
    """A Ctrl-C that a test raises and nobody takes fails this test; a real one ends the session."""
    try:
        return (yield)
    except KeyboardInterrupt as error:
        line = extract_tb(error.__traceback__)[-1].line
        if not any(way in line for way in ("raise KeyboardInterrupt", "raise_signal")):
            raise
        raise AssertionError("a KeyboardInterrupt went through") from error


# Notebooks for students and lecturers, no chapters; uses that only mypy reads.
collect_ignore = ["book/assignments", "tests/typed_use.py"]
