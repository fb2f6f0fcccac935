"""Where a covariance comes from: an array, data, or another source seen through an operation.

A source answers `size`, `diagonal()`, `submatrix(I)`, `product(V, rows)`, `factor()` and
`restricted(I)`.  Whatever answers these can be handed to `Covariance.from_source`.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator


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
            return self.A @ V
        if 2 * len(rows) > self.size:  # then copying rows of A costs more than multiplying zeros
            full = np.zeros((self.size, V.shape[1]))
            full[rows] = V
            return self.A @ full
        return self.A[rows].T @ V

    def factor(self):
        return self.origin.factor() if self.origin else None

    def restricted(self, columns):
        return Dense(self.submatrix(columns), self.origin and self.origin.restricted(columns))


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
