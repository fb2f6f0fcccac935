"""What is proven, and of what: every bound goes through the arithmetic of the checker."""

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import ArpackError

from fspca.check_certificate import KINDS, Floating, Matrix, Node, Refused, bound_node
from fspca.covariance.covariance import DENSE_SIZE
from fspca.covariance.leading import by_arpack
from fspca.covariance.linalg import ACCURACY, leading_of_matrix

MAX_MEMORY = 2**31  # bytes
SQUARES = 10  # arrays of d x d that are in hand at once
FORMED = 500  # features up to which the matrix is formed, whatever there is to form it from
SMALL = 200  # features up to which all eigenpairs cost no more than some, and are known best
NEAR = 1e-9  # relative, of eigenpairs that make a bound
KEPT = 16  # vectors that ARPACK keeps of a large matrix: with 8 it multiplies half as often again
VARIANCES = 1  # `whole` in a claim: C = A, of which variances are the costs, and no array is needed
# Shares of the trace by which the eigenvalue s of a claim is raised in turn: rounding asks for
# little, and each step loses a hundred times as much of the bound as the one before.
RAISED = (1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 1.0)


class Bound(NamedTuple):
    """Nothing in a node explains more than `value`; a support J at most rest + sum of c over J."""

    rest: float
    c: np.ndarray
    value: float
    arrays: dict


class CheckedMatrix:
    """A matrix, or data X with A = X'X, as the checker sees it in a claim of some kind.

    The features of a node are in rising order, in every array that is about them.  `matrix` is
    None where the array is: nothing can be proven there.  `spoken_of` is the part of the array that
    the claim is about, whose size sets the checker's unit; None is all of it.
    """

    A = problem = rows = required = None
    row_count = None  # of components on features of their own: nonzeros of a row of WW' at most

    def __init__(self, array, of_data, kind, m, k, spoken_of=None):
        self.array = array
        self.of_data = of_data
        self.kind = kind
        self.m = m
        self.k = k
        self.matrix = None
        if array is not None:
            self.numbers = Floating(array if spoken_of is None else spoken_of, of_data, [])
            self.matrix = Matrix(array, of_data, self.numbers)

    @classmethod
    def of(cls, A, problem, max_memory=MAX_MEMORY):
        """A covariance for a shared support: the matrix, or the data, where either fits."""
        d = A.size
        X = A.wide_factor() if d > FORMED else None
        array = None
        of_data = X is not None and 8 * (4 * X.size + SQUARES * len(X) ** 2) <= max_memory
        if of_data:
            array = np.asarray(X, dtype=float)
        elif 8 * SQUARES * d**2 <= max_memory:
            full = A.submatrix(np.arange(d))
            array = (full + full.T) / 2
        rows = np.setdiff1d(np.arange(d), problem.forbidden)
        spoken_of = None  # as in the checker, what is forbidden has no part in the scale
        if array is not None and len(rows) < d:
            spoken_of = array[:, rows] if of_data else array[np.ix_(rows, rows)]
        checked = cls(array, of_data, problem.kind, problem.m, problem.k, spoken_of)
        checked.A = A
        checked.problem = problem
        checked.rows = rows
        checked.required = np.isin(checked.rows, problem.required)
        return checked

    @property
    def named(self):
        """The array by its name in a claim."""
        return {"X" if self.of_data else "A": self.array}

    def block(self, rows):
        """A[I, I], formed, or the array itself: it is not to be written to."""
        if not self.of_data and len(rows) == len(self.array):
            return self.array  # rows are in rising order
        if not self.of_data:
            return self.array[np.ix_(rows, rows)]
        part = self.array[:, rows]
        return part.T @ part

    @property
    def shares_pairs(self):
        """Whether eigenpairs found here may be kept by the covariance, and are dear to have."""
        # They are of the same matrix where all features are allowed and it is formed here, not its
        # data, nor streamed.  Up to DENSE_SIZE features all pairs cost little.
        if self.A is None or self.matrix is None or self.of_data or self.A.streamed:
            return False
        return len(self.rows) == self.A.size > DENSE_SIZE

    def leading(self, rows, count):
        """Return so many largest eigenvalues of A[I, I], falling, and their eigenvectors."""
        if not self.of_data:
            block = self.block(rows)
            if 4 * count < len(rows) > SMALL:
                with suppress(ArpackError, np.linalg.LinAlgError):
                    how = (ACCURACY, KEPT) if self.shares_pairs else (NEAR,)
                    return by_arpack(lambda V: block @ V, len(rows), count, *how)
            return leading_of_matrix(block, count)
        X = self.array[:, rows]
        values, U = np.linalg.eigh(X @ X.T)  # X'X has the same eigenvalues, but for zeros
        values, U = values[::-1][:count], U[:, ::-1][:, :count]
        kept = values > len(rows) * 2.0**-52 * values.max()
        return values[kept], X.T @ (U[:, kept] / np.sqrt(values[kept]))

    def bound(self, rows, required, arrays, cuts=None, prices=None):
        """Return the Bound that the checker computes of a node from arrays; it may raise Refused.

        `rows` are the node's n features, rising, and `required` n truth values.  `arrays` has names
        of KINDS[kind].arrays, without a node's number: G (n x q), Y and Z (n x n), s (a number),
        H (n x h, with s only), `whole` (a number in place of all others), `few` (f features, for
        which alone Y and N then are), N (n + c square, c the cuts) and p (n).
        """
        # With `cuts` (c x n) the Bound is about the x whose product with each is at least 0; with
        # `prices`, one for each feature of the matrix, about what a support explains less its
        # prices.  Values go in as the checker reads them from a file: in its unit, to the power of
        # their degree, and [()] makes a number of an array without dimensions.
        state = np.zeros(self.array.shape[1], dtype=np.int8)
        state[rows] = 1
        state[rows[required]] = 2
        kind = KINDS[self.kind]
        read = dict.fromkeys(kind.arrays)
        for name, (degree, marks) in kind.arrays.items():
            if name in arrays:
                read[name] = self.numbers.read(np.asarray(arrays[name], dtype=float), degree)[()]
            elif marks == "n*":  # G or H, of no columns; any other that lacks is None
                read[name] = np.zeros((len(rows), 0))
        if cuts is not None:
            read["cuts"] = cuts
        node = Node(state, self.matrix, read)
        node.row_count = self.row_count  # None: k of them in a row
        if prices is not None:
            node.prices = self.numbers.read(prices[rows], 2)
        with np.errstate(all="ignore"):
            rest, c, value = bound_node(node, self.numbers, self.m, self.k, kind.bound)
        back = np.ldexp(1.0, -2 * self.numbers.shift)
        return Bound(float(rest * back), c * back, self.numbers.back(value), arrays)

    def trace(self, rows):
        """The sum of the variances of some features."""
        if self.of_data:
            return np.sum(self.array[:, rows] ** 2)
        return self.array.diagonal()[rows].sum()

    def wide(self, rows):
        """Whether A on these rows is not formed: then the checker takes Y on few of them only."""
        return self.of_data and len(rows) > max(FORMED, len(self.array))

    def prove(self, rows, required, G, Y=None, leading=None, few=None):
        """Return the Bound that C = GG' and, of the rows of WW', Y give a node, by the checker.

        For n features G is n x q and Y n x n, or f x f, for those at the f places `few` in `rows`
        of what is or was wide data.  `leading` are the m leading eigenpairs (values, V) of
        A - GG' - sym Y: of those that have the least of the values one is enough.
        """
        wide = self.wide(rows)
        if not wide and Y is not None and few is not None:  # no longer wide: Y is about all rows
            of_few, Y = Y, np.zeros((len(rows), len(rows)), dtype=Y.dtype)
            Y[np.ix_(few, few)] = of_few
        arrays = {"G": G} if Y is None else {"G": G, "Y": Y}
        # The checker finds F_m(A - GG' - sym Y) by an eigenproblem, or takes m s + |H|^2, once it
        # has seen that sI + HH' is above that matrix.  Of `leading` are made s, the least value,
        # and H, the vectors times the roots of what is above s: one with the value s adds nothing.
        # Where the data are wide it needs s and H: the pairs are found here, unless they are given
        # and there is no Y.  Else pairs that are given save it an eigenproblem of many features; of
        # few they are not looked at.
        if not wide and (leading is None or len(rows) <= SMALL):
            return self.bound(rows, required, arrays)
        if wide and Y is not None:
            few = np.arange(len(rows)) if few is None else few
            arrays["few"] = rows[few]
            leading = leading_less(self.array[:, rows], G, self.m, few, Y)
        values, V = leading or leading_less(self.array[:, rows], G, self.m)
        least = max(values.min(), 0.0)
        H = V * np.sqrt(np.maximum(values - least, 0.0))
        arrays |= {"H": H} if H.any() else {}
        trace = self.trace(rows)
        for share in RAISED:  # until the checker accepts s
            if share > NEAR and not wide:  # an eigenvalue was missed: the eigenproblem, without s
                return self.prove(rows, required, G, Y)
            arrays["s"] = least + share * trace
            with suppress(Refused):
                return self.bound(rows, required, arrays)
        raise Refused("no s was found for which sI + HH' is above A - GG' - sym Y")

    def value(self, support):
        """What a support explains, from below."""
        block, error = self.matrix.block(np.sort(support))
        return self.numbers.back(self.numbers.top_sums(block[None], self.m, error)[0][0])


def leading_less(X, G, m, few=(), Y=None):
    """Return leading eigenpairs (values, V) of X'X - GG', less Y's symmetric part on few features.

    X is n x d, G d x q, and Y f x f, for the features at the f places `few`.  Values are rising,
    while those of `CheckedMatrix.leading` are falling.  They are the m largest on the span of B, or
    all where that has fewer dimensions; beside it the matrix is 0.

    The matrix is BSB' with B = [X', G, the unit vectors of the few] and a small S, so that no d x d
    matrix is formed: with B'B = U diag(root^2) U' its eigenvalues are those of root U'SU root.
    """
    n, q, XG, few = len(X), G.shape[1], X @ G, np.asarray(few, dtype=int)
    values, U = np.linalg.eigh(
        np.block(
            [
                [X @ X.T, XG, X[:, few]],
                [XG.T, G.T @ G, G[few].T],
                [X[:, few].T, G[few], np.eye(len(few))],
            ]
        )
    )
    kept = values > len(values) * 2.0**-52 * values[-1]
    root, U = np.sqrt(values[kept]), U[:, kept]
    inner = U[:n].T @ U[:n] - U[n : n + q].T @ U[n : n + q]
    if len(few):
        inner -= U[n + q :].T @ ((Y + Y.T) / 2) @ U[n + q :]
    values, V = np.linalg.eigh(root[:, None] * inner * root)
    V = (U / root) @ V[:, -m:]
    found = X.T @ V[:n] + G @ V[n : n + q]
    found[few] += V[n + q :]
    return values[-m:], found


def on_rows(arrays, rows, kept):
    """Return the arrays of a node of a shared support, with these rows, on those at places kept.

    G and H keep their rows, Y its rows and columns, and `few` those that are kept; s and `whole`
    are the same on any rows.
    """
    found = dict(arrays)
    of_few = "few" in arrays
    at = np.flatnonzero(np.isin(arrays["few"], rows[kept])) if of_few else kept
    for name, array in arrays.items():
        if name in ("G", "H"):
            found[name] = array[kept]
        elif name == "Y":
            found[name] = array[np.ix_(at, at)]
        elif name == "few":
            found[name] = array[at]
    return found
