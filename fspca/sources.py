"""Where a covariance comes from: an array, data, or another source seen through an operation.

A source answers `size`, `diagonal()`, `submatrix(I)`, `product(V, rows)`, `factor()` and
`restricted(I)`.  Whatever answers these can be handed to `Covariance.from_source`.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, aslinearoperator

BLOCK_BYTES = 2**26


class Source:
    """What every source can do unless it knows better."""

    def factor(self):
        return None

    def restricted(self, columns):
        return Restricted(self, columns)


class Dense(Source):
    """A d x d array; `origin` is the data that it was formed from."""

    def __init__(self, A, origin=None):
        self.A, self.origin, self.size = A, origin, len(A)

    def diagonal(self):
        return np.diagonal(self.A).copy()

    def submatrix(self, rows):
        return self.A[np.ix_(rows, rows)]

    def product(self, V, rows=None):
        if rows is None:
            return (self.A @ V[:, 0])[:, None] if V.shape[1] == 1 else self.A @ V
        if 2 * len(rows) > self.size:  # then copying rows of A costs more than multiplying zeros
            full = np.zeros((self.size, V.shape[1]))
            full[rows] = V
            return self.A @ full
        return self.A[rows].T @ V

    def factor(self):
        return self.origin.factor() if self.origin else None

    def restricted(self, columns):
        return Dense(self.submatrix(columns), self.origin and self.origin.restricted(columns))


class Blocks(Source):
    """A = Z'Z with Z = (X - 1 mean') / sqrt(divisor) read in blocks of rows.

    Data of float64 in memory is centred once.  Other data (memory-mapped, float32, integers)
    stays as it is: each block is converted when it is read.
    """

    def __init__(self, X, center, divisor):
        n, self.size = X.shape
        self.n, self.X, self.divisor = n, X, divisor
        self.step = max(1, BLOCK_BYTES // (8 * self.size))
        self.mean, self.prepared = np.zeros(self.size), False
        if center:
            self.mean = sum(b.sum(axis=0, dtype=float) for b in self.blocks(scaled=False)) / n
        if X.dtype == np.float64 and not isinstance(X, np.memmap):
            self.X, self.step = (X - self.mean) / np.sqrt(divisor), n
            self.prepared = True

    def blocks(self, columns=slice(None), scaled=True):
        for start in range(0, self.n, self.step):
            block = self.X[start : start + self.step, columns]
            if scaled and not self.prepared:
                block = (block.astype(float) - self.mean[columns]) / np.sqrt(self.divisor)
            yield np.asarray(block)

    def diagonal(self):
        return sum(np.einsum("ij,ij->j", block, block) for block in self.blocks())

    def submatrix(self, rows):
        return sum(block.T @ block for block in self.blocks(rows))

    def product(self, V, rows=None):
        chosen = slice(None) if rows is None else rows
        return sum(block.T @ (block[:, chosen] @ V) for block in self.blocks())

    def factor(self):
        def forward(V):
            return np.concatenate([block @ V for block in self.blocks()])

        def back(Y):
            parts = np.split(Y, range(self.step, self.n, self.step))
            return sum(block.T @ part for block, part in zip(self.blocks(), parts, strict=True))

        return LinearOperator((self.n, self.size), forward, back, forward, float, back)


class Sparse(Source):
    """A = Z'Z for a sparse X, with Z = (X - 1 mean') / sqrt(divisor) never formed."""

    def __init__(self, X, center, divisor):
        self.n, self.size = X.shape
        self.X, self.divisor = X.astype(float), divisor
        self.mean = np.asarray(X.mean(axis=0)).ravel() if center else np.zeros(self.size)

    def diagonal(self):
        stored = np.diff(self.X.indptr)
        column = np.repeat(np.arange(self.size), stored)
        squares = np.bincount(column, (self.X.data - self.mean[column]) ** 2, self.size)
        return (squares + (self.n - stored) * self.mean**2) / self.divisor

    def submatrix(self, rows):
        X, mean = self.X[:, rows], self.mean[rows]
        return ((X.T @ X).toarray() - self.n * np.outer(mean, mean)) / self.divisor

    def product(self, V, rows=None):
        X, mean = (self.X, self.mean) if rows is None else (self.X[:, rows], self.mean[rows])
        Y = X @ V - mean @ V
        return (self.X.T @ Y - np.outer(self.mean, Y.sum(axis=0))) / self.divisor

    def factor(self):
        ones = aslinearoperator(np.ones((self.n, 1)))
        centred = aslinearoperator(self.X) - ones @ aslinearoperator(self.mean[None, :])
        return centred * (1 / np.sqrt(self.divisor))


class Shifted(Source):
    """base + sigma I."""

    def __init__(self, base, sigma):
        self.base, self.sigma, self.size = base, sigma, base.size

    def diagonal(self):
        return self.base.diagonal() + self.sigma

    def submatrix(self, rows):
        return self.base.submatrix(rows) + self.sigma * np.eye(len(rows))

    def product(self, V, rows=None):
        result = self.base.product(V, rows)
        result[slice(None) if rows is None else rows] += self.sigma * V
        return result

    def restricted(self, columns):
        return Shifted(self.base.restricted(columns), self.sigma)


class Restricted(Source):
    """The principal submatrix of base on some columns, not formed."""

    def __init__(self, base, columns):
        self.base, self.columns, self.size = base, columns, len(columns)

    def diagonal(self):
        return self.base.diagonal()[self.columns]

    def submatrix(self, rows):
        return self.base.submatrix(self.columns[rows])

    def product(self, V, rows=None):
        chosen = self.columns if rows is None else self.columns[rows]
        return self.base.product(V, chosen)[self.columns]

    def factor(self):
        Z = self.base.factor()
        if Z is None:
            return None
        places = (self.columns, np.arange(self.size))
        embed = csr_array((np.ones(self.size), places), shape=(self.base.size, self.size))
        return Z @ aslinearoperator(embed)


class Deflated(Source):
    """(I - xx') base (I - xx') for a unit vector x: what is left after a component is removed."""

    def __init__(self, base, x):
        self.base, self.x, self.size = base, x, base.size
        self.y = base.product(x[:, None])[:, 0]
        self.variance = x @ self.y

    def diagonal(self):
        rest = self.base.diagonal() - 2 * self.x * self.y + self.variance * self.x**2
        return np.maximum(rest, 0.0)

    def submatrix(self, rows):
        x, y = self.x[rows], self.y[rows]
        cross = np.outer(x, y)
        return self.base.submatrix(rows) - cross - cross.T + self.variance * np.outer(x, x)

    def product(self, V, rows=None):
        chosen = slice(None) if rows is None else rows
        on_x, on_y = self.x[chosen] @ V, self.y[chosen] @ V
        rest = np.outer(self.x, on_y - self.variance * on_x) + np.outer(self.y, on_x)
        return self.base.product(V, rows) - rest

    def factor(self):
        Z = self.base.factor()
        x = aslinearoperator(self.x[:, None])
        return Z and Z - Z @ x @ x.T
