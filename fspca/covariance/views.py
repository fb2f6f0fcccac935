"""A covariance seen through an operation: shifted, scaled, or with a component removed."""

import numpy as np
from scipy.sparse.linalg import aslinearoperator

from fspca.covariance.linalg import embedded
from fspca.covariance.sources import View


class Shifted(View):
    """base + sigma I."""

    def __init__(self, base, sigma):
        super().__init__(base, base.size)
        self.sigma = sigma

    def diagonal(self):
        return self.base.diagonal() + self.sigma

    def submatrix(self, rows):
        return self.base.submatrix(rows) + self.sigma * np.eye(len(rows))

    def columns(self, rows, among=slice(None)):
        shift = embedded(self.sigma * np.eye(len(rows)), rows, self.size)
        return self.base.columns(rows, among) + shift[among]

    def product(self, V, rows=None):
        result = self.base.product(V, rows)
        result[slice(None) if rows is None else rows] += self.sigma * V
        return result

    def precise(self):
        return Shifted(self.base.precise(), self.sigma)

    def restricted(self, columns):
        return Shifted(self.base.restricted(columns), self.sigma)


class Scaled(View):
    """c base, for a power of four c, which is exact."""

    def __init__(self, base, c):
        super().__init__(base, base.size)
        self.c = c

    def diagonal(self):
        return self.c * self.base.diagonal()

    def submatrix(self, rows):
        return self.c * self.base.submatrix(rows)

    def columns(self, rows, among=slice(None)):
        return self.c * self.base.columns(rows, among)

    def product(self, V, rows=None):
        return self.c * self.base.product(V, rows)

    def factor(self):
        Z = self.base.factor()
        return Z and Z * np.sqrt(self.c)

    def gram(self):
        gram = self.base.gram()
        return None if gram is None else self.c * gram

    def precise(self):
        return Scaled(self.base.precise(), self.c)

    def restricted(self, columns):
        return Scaled(self.base.restricted(columns), self.c)


class Deflated(View):
    """(I - xx') base (I - xx') for a unit vector x: what is left after a component is removed."""

    def __init__(self, base, x):
        super().__init__(base, base.size)
        rows = np.flatnonzero(x) if 2 * np.count_nonzero(x) < len(x) else None
        self.x, self.y = x, base.product(x[:, None] if rows is None else x[rows, None], rows)[:, 0]
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

    def gram(self):
        gram, Z = self.base.gram(), self.base.precise().factor()
        return None if gram is None else gram - np.outer(z := Z @ self.x, z)

    def precise(self):
        return Deflated(self.base.precise(), self.x)
