"""One component after another, each found in what the earlier ones have left."""

import numpy as np
from scipy.sparse.linalg import aslinearoperator

from fspca.covariance.factors import factor_of
from fspca.covariance.leading import leading_in_memory
from fspca.covariance.linalg import EPS, basis, largest, random_subspace
from fspca.problem import TOLERANCE, SeparateSupports, solution_of
from fspca.shared_support.starts import WORDS, checked_init, starting_point
from fspca.solver import Run, best_run


class Spent(Exception):
    """The budget is spent while a component is sought."""


def without(Z, squares, u, v):
    """Return Z - uv', never formed, and the squares of its columns' lengths."""
    squares = squares - 2 * v * Z.rmatvec(u) + v**2 * (u @ u)
    rest = Z - aslinearoperator(u[:, None]) @ aslinearoperator(v[None, :])
    return rest, np.maximum(squares, 0)


def projected(Z, squares, x):
    """Projection deflation, A <- (I - xx') A (I - xx'), as Z <- Z (I - xx')."""
    return without(Z, squares, Z.matvec(x), x)


def schur(Z, squares, x):
    """Schur deflation, A <- A - Ax x'A / x'Ax, as Z <- (I - yy') Z for the unit score y = Zx."""
    y = Z.matvec(x)
    y /= np.linalg.norm(y) or 1.0
    return without(Z, squares, y, Z.rmatvec(y))


class Components:
    """The components found so far, and the run that counts the steps of each.

    V, where there is one, is an orthonormal matrix of which W is the sparse copy.
    """

    def __init__(self, A, m, run):
        self.A, self.run, self.turns = A.plain, run, iter(run)
        self.W, self.found, self.ends = np.zeros((A.size, m)), 0, []
        self.score = SeparateSupports(m, A.size, score="subspace").score
        self.V = None

    def note(self, X, gain=None, V=None):
        """Keep what a step has found for the next components, or raise Spent."""
        if next(self.turns, None) is None:
            raise Spent
        W = self.W.copy()
        W[:, self.found : self.found + X.shape[1]] = X
        if gain is None:  # else x'Rx, R = (I - QQ') A (I - QQ') with Q a basis of those before
            value = self.score(self.A, W[:, W.any(axis=0)])
        else:
            length = 1 - np.sum((self.Q.T @ X) ** 2)
            value = self.base + (gain / length if length > TOLERANCE else 0.0)
        self.run.record(value, (W, V))

    def begin(self):
        """Measure what is there before the next component is sought."""
        self.Q = basis(self.W[:, : self.found], TOLERANCE) if self.found else self.W[:, :0]
        self.base = self.score(self.A, self.Q) if self.found else 0.0

    def add(self, X, why, V=None):
        """Take the next components as they are."""
        self.V = V
        self.W[:, self.found : self.found + X.shape[1]] = X
        self.found, self.ends = self.found + X.shape[1], [*self.ends, why]


def completed(A, W):
    """Return W with features of large variance where components are missing."""
    W, missing, variances = W.copy(), np.flatnonzero(~W.any(axis=0)), A.diagonal()
    variances[W.any(axis=1)] = -1.0
    W[largest(variances, len(missing)) if len(missing) else [], missing] = 1.0
    return W


def from_starts(A, m, k, solver, search, *, init, n_starts, seed, max_seconds, progress):
    """Return the best Solution, by its score, of a run from `init` and more from random starts.

    `search(components, init, rng)` finds components until there are m or nothing is left.
    """
    rng, init = np.random.default_rng(seed), checked_init(init, A.size, m, WORDS)
    if not isinstance(init, str) and not init.any(axis=0).all():
        raise ValueError("init has a column of zeros, which is no direction")

    def once(n, starts):
        run = Run(None, starts.seconds_left, starts.relay, latest=True)
        start = init if n == 1 else "random"
        return _once(A, m, k, solver, lambda found: search(found, start, rng), run)

    return best_run(once, n_starts, max_seconds, progress)


def _once(A, m, k, solver, search, run):
    """Return the Solution that one search finds, completed where its budget was spent."""
    components = Components(A, m, run)
    with run:
        try:
            search(components)
            run.answer = components.W, components.V
            run.stop("max_iter" if "max_iter" in components.ends else "settled")
        except Spent:
            pass

    def build():
        W, V = completed(A, run.answer[0]), run.answer[1]
        each = k or int(np.count_nonzero(W, axis=0).max())
        problem = SeparateSupports(m, each, score="subspace")
        return solution_of(components.A, problem, W, solver, **run.facts, orthonormal=V)

    return run.finish(build)


def in_projections(A, m, k, solver, find, **options):
    """Return the Solution whose components are found in A, projected off each before.

    `find(rest, start, note)` returns a unit vector, its steps, and why it ended.
    """

    def search(components, init, rng):
        rest = A
        for j in range(m):
            if rest.trace <= A.size * EPS * A.trace:  # nothing is left to explain
                return
            each = init if isinstance(init, str) else init[:, [j]]
            start, _ = starting_point(rest, SeparateSupports(1, 1), each, rng)
            components.begin()
            x, _, why = find(rest, start[:, 0], components.note)
            components.add(x[:, None], why)
            rest = rest.deflated(x)

    return from_starts(A, m, k, solver, search, **options)


def in_factors(A, m, k, solver, find, deflate, size=1, **options):
    """Return the Solution whose components are found, `size` at a time, in a factor of A.

    `find(Z, squares, Y, note)` returns loadings (d x size) and why it ended; Y are directions
    among the features to start from, or None for the longest columns of Z.
    """

    def search(components, init, rng):
        Z, squares = factor_of(A, size), A.diagonal()
        for j in range(0, m, size):
            if squares.max() <= 16 * A.size * EPS * A.trace:  # nothing is left; Z may be zero
                return
            components.begin()
            W, why = find(Z, squares, directions(Z, init, j, size, rng), components.note)
            components.add(W, why)
            if j + size < m:
                Z, squares = deflate(Z, squares, W[:, 0])

    return from_starts(A, m, k, solver, search, **options)


def directions(Z, init, j, size, rng):
    """Return the directions that `init` means for the components from j on; None for "variance"."""
    if not isinstance(init, str):
        return init[:, j : j + size]
    if init == "pca":
        return leading_in_memory(lambda V: Z.rmatmat(Z.matmat(V)), Z.shape[1], size)[1]
    return random_subspace(Z.shape[1], size, rng) if init == "random" else None
