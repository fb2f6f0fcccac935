"""What is proven, and of what: every bound goes through the arithmetic of the checker."""

import warnings
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse.linalg import ArpackError

from fspca.check_certificate import (
    VERSION,
    Floating,
    Matrix,
    Node,
    Refused,
    bound_node,
    check,
    shared_bound,
)
from fspca.covariance.leading import by_arpack
from fspca.covariance.linalg import leading_of_matrix

MAX_MEMORY = 2**31  # bytes
SQUARES = 10  # arrays of d x d that are in hand at once
SMALL = 200  # features up to which all eigenpairs cost no more than some
NEAR = 1e-9  # of eigenpairs that make a bound, and of what is added to one for rounding
FORMED = 500  # features up to which the matrix is formed, whatever there is to form it from


@dataclass(frozen=True, eq=False)
class Certificate:
    """An upper bound, and the arrays of a certificate that prove it.

    `factor` is G with C = GG'; `arrays` is all that goes into a claim, the Y of the rows too;
    where the bound only holds with a `probability`, there are none.  `z` is how much of
    each feature the relaxation wants, `state` where its iteration stands.
    """

    bound: float
    arrays: dict = field(default_factory=dict, repr=False)
    probability: float = 1.0
    z: np.ndarray | None = field(default=None, repr=False)
    n_iter: int = 0
    state: tuple | None = field(default=None, repr=False)
    interrupted: bool = False

    @property
    def factor(self):
        return self.arrays.get("G")


class Ground:
    """A covariance as the checker sees it: the matrix, or the data, where either fits the memory.

    `matrix` is None where neither does: nothing can be proven there.
    """

    def __init__(self, A, problem, max_memory=MAX_MEMORY):
        self.A, self.problem, self.matrix, d = A, problem, None, A.size
        allowed = np.setdiff1d(np.arange(d), problem.forbidden)
        self.fixed = len(problem.required)
        first = np.array(problem.required, dtype=int)
        self.rows = np.concatenate([first, np.setdiff1d(allowed, first)])
        X = A.wide_factor() if d > FORMED else None
        if X is not None and 8 * (4 * X.size + SQUARES * len(X) ** 2) <= max_memory:
            self.array, self.of_data = np.asarray(X, dtype=float), True
        elif 8 * SQUARES * d**2 <= max_memory:
            full = A.submatrix(np.arange(d))
            self.array, self.of_data = (full + full.T) / 2, False
        else:
            return
        # as in the checker, what is forbidden has no part in the scale
        spoken_of = self.array[:, self.rows]
        spoken_of = spoken_of if self.of_data else spoken_of[self.rows]
        self.numbers = Floating(spoken_of, self.of_data, [])
        self.matrix = Matrix(self.array, self.of_data, self.numbers)

    def block(self, rows):
        """A[I, I], formed."""
        if not self.of_data:
            return self.array[np.ix_(rows, rows)]
        part = self.array[:, rows]
        return part.T @ part

    def leading(self, rows, count):
        """The largest eigenvalues, falling, and eigenvectors of A[I, I], so many if there are."""
        if not self.of_data:
            block = self.block(rows)
            if 4 * count < len(rows) > SMALL:
                with suppress(ArpackError, np.linalg.LinAlgError):
                    return by_arpack(lambda V: block @ V, len(rows), count, NEAR)
            return leading_of_matrix(block, count)
        X = self.array[:, rows]
        values, U = np.linalg.eigh(X @ X.T)
        values, U = values[::-1][:count], U[:, ::-1][:, :count]
        kept = values > len(rows) * 2.0**-52 * values.max()
        return values[kept], X.T @ (U[:, kept] / np.sqrt(values[kept]))

    def root(self, rows):
        """Return G with GG' = A[I, I] up to rounding."""
        block = self.block(rows)
        if len(rows) > SMALL:
            with suppress(np.linalg.LinAlgError):
                return np.linalg.cholesky(block + 1e-13 * np.trace(block) * np.eye(len(block)))
        values, V = self.leading(rows, len(rows))
        return V * np.sqrt(np.maximum(values, 0.0))

    def bound(self, rows, required, arrays):
        """Return (rest, c, bound) of a node, all proven, c in the order of the rows.

        `required` is how many of the first rows are.
        """
        order, state = np.argsort(rows), np.zeros(self.A.size, dtype=np.int8)
        state[rows], state[rows[:required]] = 1, 2
        node = Node(state, self.matrix, self.read(rows, arrays, order))
        m, k = self.problem.m, self.problem.k
        with np.errstate(all="ignore"):
            rest, c, bound = bound_node(node, self.numbers, m, k, shared_bound)
        back = np.ldexp(1.0, -2 * self.numbers.shift)
        return rest * back, c[np.argsort(order)] * back, self.numbers.back(bound)

    def read(self, rows, arrays, order):
        """Return the arrays of a node, ascending in its features, as the checker scales them."""
        read, none, given = self.numbers.read, np.zeros((len(rows), 0)), arrays.get
        Y, s = given("Y"), given("s")
        return {
            "G": read(given("G", none)[order].astype(float), 1),
            "Y": None if Y is None else read(Y[np.ix_(order, order)].astype(float), 2),
            "s": None if s is None else read(float(s), 2),
            "H": read(given("H", none)[order].astype(float), 1),
            "whole": given("whole"),
        }

    def wide(self, rows):
        """Whether A on these rows is not formed: then the checker takes no Y."""
        return self.of_data and len(rows) > max(FORMED, len(self.array))

    def prove(self, rows, required, G, Y=None, witness=None):
        """Return ((rest, c, bound), arrays) for C = GG' and Y.

        A witness s, H of F_m(A - GG') that is given spares the checker an eigenproblem; s is
        raised until the checker finds that it is one.  Data of many features always need one: the
        leading eigenpairs, then.
        """
        arrays = {"G": G} if Y is None else {"G": G, "Y": Y}
        few = len(rows) <= SMALL  # whose eigenvalues are known best
        if (witness is None or few) and not self.wide(rows):
            return self.bound(rows, required, arrays), arrays
        values, V = witness or leading_less(self.array[:, rows], G, self.problem.m)
        size = self.A.diagonal()[rows].sum()
        least = max(values.min(), 0.0)
        arrays["H"] = V * np.sqrt(np.maximum(values - least, 0.0))
        for slack in (1e-13, 1e-11, NEAR, 1e-7, 1e-5, 1e-3, 1.0):
            if slack > NEAR and not self.wide(rows):  # an eigenvalue was missed
                return self.prove(rows, required, G, Y)
            arrays["s"] = least + slack * size
            with suppress(Refused):
                return self.bound(rows, required, arrays), arrays
        raise Refused("no witness was found")

    def value(self, support):
        """What a support explains, from below."""
        block, error = self.matrix.block(np.sort(support))
        return self.numbers.back(self.numbers.top_sums(block[None], self.problem.m, error)[0][0])

    def claimed(self, solution, found):
        """Return the solution with a bound and its claim, if the checker accepts that."""
        bound, chance = max(found.bound, solution.objective), found.probability
        bare = replace(solution, upper_bound=bound, bound_probability=chance, certificate=None)
        if not found.arrays:  # chance is part of it
            return bare
        value = self.value(solution.support)
        gap = max(found.bound / value - 1, 0.0) * (1 + 1e-12) + 1e-15 if value > 0 else 0.0
        arrays = found.arrays
        if "nodes" not in arrays:
            order = np.argsort(self.rows)
            arrays = {f"{x}_0": placed(x, v, order) for x, v in arrays.items()}
        claim = claim_of(self.problem, solution.support, gap, **arrays)
        verdict = check(claim | {"X" if self.of_data else "A": self.array})
        if verdict.holds or value <= 0:  # of nothing a gap would be no share
            return replace(bare, certificate=claim if verdict.holds else None)
        warnings.warn(f"no bound: the checker refuses it, {verdict.reason}", stacklevel=2)
        return solution


def leading_less(X, G, m):
    """Return the m leading eigenpairs of X'X - GG', by the Gram matrix of both factors."""
    n, XG = len(X), X @ G
    values, U = np.linalg.eigh(np.block([[X @ X.T, XG], [XG.T, G.T @ G]]))
    kept = values > len(values) * 2.0**-52 * values[-1]
    root, U = np.sqrt(values[kept]), U[:, kept]
    values, V = np.linalg.eigh(root[:, None] * (U[:n].T @ U[:n] - U[n:].T @ U[n:]) * root)
    V = (U / root) @ V[:, -m:]
    return values[-m:], X.T @ V[:n] + G @ V[n:]


def placed(name, array, order):
    """An array of a node with its rows in this order."""
    return array[np.ix_(order, order)] if name == "Y" else array[order] if name in "GH" else array


def claim_of(problem, support, gap, **arrays):
    """Return the claim, without its matrix, that a support is within the gap of the best."""
    claim = {"version": VERSION, "kind": "shared", "m": problem.m, "k": problem.k, "gap": gap}
    claim |= {"support": np.asarray(support), "required": np.array(problem.required, dtype=int)}
    return claim | {"forbidden": np.array(problem.forbidden, dtype=int)} | arrays
