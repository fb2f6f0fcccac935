"""Where a covariance comes from: an array, data, or another source seen through an operation.

A source has a `size` and answers `diagonal()` and `product(V, rows)`; all else it can leave to
`Source`.  The page "Bring your own source" says what each answer means and shows one.
"""

import numpy as np
from scipy.sparse import eye_array
from scipy.sparse.linalg import aslinearoperator

from fspca.covariance.linalg import ACCURACY, embedded


class Source:
    """What every source can do unless it knows better.

    A source of one's own has a `size`, `diagonal()` and `product(V, rows)`, and may have more of
    what is here.  `passes` counts the readings of all the data.  `streamed` says that a reading
    costs more than the arithmetic on it, as it does from a file or over a network, and `blockwise`
    that a product with m vectors costs far less than m with one; `accuracy` is that of products.

    See Also
    --------
    fspca.Covariance.from_source : Takes one.

    Examples
    --------
    >>> class Ones(Source):
    ...     size = 4
    ...     def diagonal(self):
    ...         return np.ones(4)
    ...     def product(self, V, rows=None):
    ...         return np.tile(V.sum(axis=0), (4, 1))
    >>> from fspca import Covariance, go
    >>> go(Covariance.from_source(Ones()), m=1, k=2).support
    array([0, 1])
    """

    passes, streamed, blockwise, max_memory, accuracy = 0, False, False, np.inf, ACCURACY

    def submatrix(self, rows):
        """Return A[I, I]."""
        return self.columns(rows)[rows]

    def columns(self, rows, among=slice(None)):
        """Return A[:, I], or A[among, I]."""
        return self.product(np.eye(len(rows)), rows)[among]

    def factor(self):
        """Return Z with A = Z'Z, where there is one."""
        return None

    def gram(self):
        """Return Z Z' for A = Z'Z, where that takes one pass."""
        return None

    def precise(self):
        """Return the same with products in float64."""
        return self

    def restricted(self, columns):
        """Return the source of some of the features."""
        return Restricted(self, columns)


class Dense(Source):
    """A d x d array; `origin` is the data that it was formed from."""

    def __init__(self, A, origin=None):
        self.A, self.origin, self.size = A, origin, len(A)
        self.passes = origin.passes if origin else 0

    def diagonal(self):
        return np.diagonal(self.A).copy()

    def submatrix(self, rows):
        return self.A[np.ix_(rows, rows)]

    def columns(self, rows, among=slice(None)):
        return self.A[:, rows][among]

    def product(self, V, rows=None):
        self.passes += 1
        if rows is None:
            return self.A @ V
        if 2 * len(rows) > self.size:  # then copying rows of A costs more than multiplying zeros
            return self.A @ embedded(V, rows, self.size)
        return self.A[rows].T @ V

    def factor(self):
        return self.origin.factor() if self.origin else None

    def restricted(self, columns):
        part = Restricted(self.origin, columns) if self.origin else None
        return Dense(self.submatrix(columns), part)


class View(Source):
    """Another source seen through an operation."""

    def __init__(self, base, size):
        self.base, self.size = base, size
        for name in ("streamed", "blockwise", "max_memory", "accuracy"):
            setattr(self, name, getattr(base, name))

    @property
    def passes(self):
        return self.base.passes


def among_known(rows, known):
    """Return which rows are new, and where the others stand among those known."""
    order, new = np.argsort(known), ~np.isin(rows, known)
    return new, order[np.searchsorted(known[order], rows[~new])]


class Remembering(View):
    """Data whose last A[:, I] is kept, so that no column of it is read twice in a row.

    Where data are streamed and d x k numbers fit `max_memory` (the old columns and the new), a
    submatrix is read with its columns, so that the product which follows it costs nothing.
    """

    def __init__(self, base):
        super().__init__(base, base.size)
        self.rows, self.kept = np.empty(0, dtype=int), np.empty((base.size, 0))

    def diagonal(self):
        return self.base.diagonal()

    def fits(self, k):
        return 16 * self.size * k <= self.max_memory

    def submatrix(self, rows):
        if self.streamed and self.fits(len(rows)):
            return self.columns(rows)[rows]
        return self.base.submatrix(rows)

    def columns(self, rows, among=slice(None)):
        if not (isinstance(among, slice) and self.fits(len(rows))):
            return self.base.columns(rows, among)
        if not np.array_equal(rows, self.rows):
            (new, old), C = among_known(rows, self.rows), np.empty((self.size, len(rows)))
            C[:, ~new] = self.kept[:, old]
            if new.any():
                C[:, new] = self.base.columns(rows[new])
            C.setflags(write=False)
            self.rows, self.kept = np.array(rows), C
        return self.kept

    def product(self, V, rows=None):
        if self.streamed and rows is not None and np.array_equal(rows, self.rows):
            return self.kept @ V
        return self.base.product(V, rows)

    def factor(self):
        return self.base.factor()

    def gram(self):
        return self.base.gram()

    def precise(self):
        return Remembering(self.base.precise())

    def restricted(self, columns):
        part = self.base.restricted(columns)
        return Restricted(self, columns) if isinstance(part, Restricted) else part


class Restricted(View):
    """The principal submatrix of base on some columns, not formed."""

    def __init__(self, base, columns):
        super().__init__(base, len(columns))
        self.chosen = columns

    def diagonal(self):
        return self.base.diagonal()[self.chosen]

    def submatrix(self, rows):
        return self.base.submatrix(self.chosen[rows])

    def columns(self, rows, among=slice(None)):
        return self.base.columns(self.chosen[rows], self.chosen[among])

    def product(self, V, rows=None):
        chosen = self.chosen if rows is None else self.chosen[rows]
        return self.base.product(V, chosen)[self.chosen]

    def factor(self):
        Z = self.base.factor()
        return Z and Z @ aslinearoperator(eye_array(self.base.size, format="csc")[:, self.chosen])

    def precise(self):
        return Restricted(self.base.precise(), self.chosen)
