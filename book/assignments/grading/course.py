# Given: data of your own, and checks that speak. Run this cell, and leave it as it is.
import hashlib
from itertools import combinations

import numpy as np


class NotYet(Exception):
    """What was expected and what came, in words."""

    def _render_traceback_(self):
        return [f"Not yet: {self}"]


def expect(condition, sentence):
    if not condition:
        raise NotYet(sentence)


STUDENT = str(globals().get("STUDENT", ""))
filled_in = STUDENT.strip().lower() not in ("", "your id here")
expect(filled_in, "put your id between the quotes above, run that cell, then this one again")


def my_rng(student, *task):
    """Random numbers that belong to a student and a task."""
    name = "/".join([str(student).strip().lower(), *map(str, task)])
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def covariance(rng, d, spectrum=None):
    """A random covariance: XX'/d, or one with the eigenvalues given."""
    X = rng.standard_normal((d, d))
    if spectrum is None:
        return X @ X.T / d
    Q = np.linalg.qr(X)[0]
    return (Q * np.asarray(spectrum, dtype=float)) @ Q.T


def cause(came, likely):
    """What has likely happened, of pairs (what then comes, or is said; why)."""
    for sign, why in likely:
        words = isinstance(sign, str)
        if sign in came if words else np.shape(sign) == np.shape(came) and np.allclose(came, sign):
            return f". Likely: {why}"
    return ""


def call(function, *arguments, likely=()):
    """Ask a function of yours for its answer; what goes wrong is said in words."""
    name = getattr(function, "__name__", str(function))
    expect(callable(function), f"{name} is not a function")
    try:
        answer = function(*[np.array(a) if isinstance(a, np.ndarray) else a for a in arguments])
    except Exception as error:
        why = cause(str(error), likely)
        raise NotYet(f"{name} stopped with an error: {error}{why}") from None
    expect(answer is not None, f"{name} returned nothing: it is not written yet, or lacks a return")
    return answer


def shown(value):
    return np.array2string(np.asarray(value), precision=6, suppress_small=True, threshold=20)


def array(what, came, *shape):
    """What came, as numbers of the shape expected."""
    try:
        value = np.asarray(came, dtype=float)
    except (TypeError, ValueError):
        value = None
    numbers = value is not None and came is not None and bool(np.all(np.isfinite(value)))
    expect(numbers, f"{what}: expected finite numbers, came {came!r}")
    form = f"an array of shape {shape}" if shape else "one number"
    expect(value.shape == shape, f"{what}: expected {form}, came shape {value.shape}")
    return value


def same(what, came, expected, tolerance=1e-6, likely=()):
    """Numbers that agree up to the tolerance, relative to the largest."""
    expected = np.asarray(expected, dtype=float)
    value = array(what, came, *expected.shape)
    far = np.abs(value - expected).max(initial=0) > tolerance * max(1, np.abs(expected).max())
    said = f"{what}: expected {shown(expected)}, came {shown(value)}{cause(value, likely)}"
    expect(not far, said)


def pair(what, came):
    """What came, as a pair."""
    two = isinstance(came, tuple | list) and len(came) == 2
    expect(two, f"{what}: expected a pair, came {type(came).__name__}")
    return came


def features(what, came, d, k):
    """What came, as k different features of 0, ..., d - 1 in ascending order."""
    value = array(what, came, *np.shape(came))
    whole = value.ndim == 1 and np.all(value == np.round(value))
    expect(whole, f"{what}: expected a list of {k} features, came {came!r}")
    chosen = np.unique(value.astype(int))
    expect(len(chosen) == len(value), f"{what}: a feature occurs twice in {shown(value)}")
    expect(len(chosen) == k, f"{what}: expected {k} features, came {len(chosen)}: {shown(value)}")
    within = chosen.min() >= 0 and chosen.max() < d
    expect(within, f"{what}: features run from 0 to {d - 1}, came {shown(value)}")
    return chosen


def orthonormal(what, came, d, m):
    """What came, as a d x m array with orthonormal columns."""
    V = array(what, came, d, m)
    off = np.abs(V.T @ V - np.eye(m)).max()
    expect(off < 1e-8, f"{what}: expected orthonormal columns, V'V differs from I by {off:.2g}")
    return V


def semidefinite(what, came, d):
    """What came, as a symmetric positive semidefinite d x d array."""
    A = array(what, came, d, d)
    expect(np.allclose(A, A.T), f"{what}: expected a symmetric matrix, and it is not")
    least, largest = np.linalg.eigvalsh((A + A.T) / 2)[[0, -1]]
    sound = least >= -1e-9 * max(largest, 1e-300)
    expect(sound, f"{what}: expected no negative eigenvalue, the least is {least:.4g}")
    return (A + A.T) / 2


def only(what):
    """A check that sees a part says so, lest it be taken for the whole."""
    print(f"So far so good: this checks {what} only.")


def picture(draw):
    """Draw with what you have written; what cannot be drawn yet is said in the picture."""
    import matplotlib.pyplot as plt

    axes = plt.subplots(figsize=(6, 3.5), layout="constrained")[1]
    try:
        draw(axes)
    except Exception as error:
        axes.text(0.5, 0.5, f"Not yet: {error}", ha="center", transform=axes.transAxes)
    plt.show()


def choices(student, task, statements):
    """Statements in an order of the student's own, under letters."""
    order = my_rng(student, task).permutation(len(statements))
    return dict(zip("abcd", [statements[i] for i in order], strict=True))


PROPS = (
    "topdiam length moist testsg ovensg ringtop ringbut bowmax bowdist whorls clear knots diaknot"
)
# The correlations of these thirteen measurements of 180 pit props (Jeffers, 1967), in thousandths:
# what stands below the diagonal, row after row.
CORRELATIONS = """
954 364 297 342 284 882 -129 -118 -148 220 313 291 153 381 364 496 503 -29 174 296 813 424 419
-54 -59 4 90 372 592 648 125 137 -39 211 465 482 545 569 -81 -14 37 274 679 557 526 84 76 162 97
-91 -36 -113 61 85 -319 -19 -36 220 169 -145 24 -232 -357 -127 -368 29 134 144 126 15 -208 -329
-424 -202 -76 -291 7 184
"""

# Which three to leave out, in hexadecimal: those for which the largest loadings are not the best,
# and a climb of one step is none.
LEFT_OUT = """
014 023 024 025 02a 02b 034 035 036 03a 03b 03c 045 047 049 04a 04b 04c 05a 068 07c 08c 0ab 0ac
0bc 123 124 12b 134 136 13b 13c 145 147 14a 14b 14c 15a 17c 18c 1ab 1ac 1bc 234 236 237 238 23a
23c 245 246 247 248 249 24a 24b 24c 25a 25c 278 28a 345 346 347 348 349 34a 34b 34c 357 35a 378
37a 37b 37c 38a 38b 38c 39a 39c 3ab 3ac 3bc 45a 45b 45c 478 479 47a 47b 47c 48a 48b 48c 49a 49b
4bc 578 5ab 78a 78b 78c 79a 79b 79c 7ab 7ac 7bc 8ab 8ac 8bc 9ab
"""


def pit_props(student):
    """Ten of the thirteen measurements, by the student's id: their names and correlations."""
    R = np.eye(13)
    R[np.tril_indices(13, -1)] = np.array(CORRELATIONS.split(), dtype=float) / 1000
    R = R + np.tril(R, -1).T
    left_out = my_rng(student, "pit props").choice(LEFT_OUT.split())
    mine = np.setdiff1d(range(13), [int(digit, 16) for digit in left_out])
    return [PROPS.split()[j] for j in mine], R[np.ix_(mine, mine)]
