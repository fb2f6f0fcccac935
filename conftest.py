"""One BLAS thread, one of its kernels and one hash seed, here and in the notebooks', before numpy.

Threads and kernels change the order of sums and so the last digits.
"""

import os
from pathlib import Path
from traceback import extract_tb

import pytest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["PYTHONHASHSEED"] = "0"
os.environ["OPENBLAS_CORETYPE"] = "Haswell"


def pytest_configure(config):
    """A chapter that is compared runs in a kernel like the one that stored its outputs."""
    if config.getoption("nbval", default=False):
        start = Path(__file__).parent / "book" / "tools" / "kernel_start.py"
        os.environ["PYTHONSTARTUP"] = str(start)


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


def pytest_collectstart(collector):
    """A chapter's figures are not compared by the letter but by what is seen."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("image/svg+xml",)


def pytest_itemcollected(item):
    """A cell's figures are the stored ones up to the tolerance of `drawings.same_drawing`."""
    if by_letter := getattr(item, "compare_outputs", None):
        from drawings import drawings, same_drawing

        def compare(test, ref, skip_compare=None):
            pair = drawings(test), drawings(ref)
            alike = len(pair[0]) == len(pair[1]) and all(map(same_drawing, *pair))
            same = by_letter(test, ref, skip_compare)
            if not alike:
                item.comparison_traceback.append("a figure differs from the stored one")
            return same and alike

        item.compare_outputs = compare


# Notebooks for students and lecturers, no chapters; uses that type checkers read.
collect_ignore = ["book/assignments", "tests/typed_use.py", "tests/used_strictly.py"]
