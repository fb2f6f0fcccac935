"""The covariance as something one asks questions of, whether or not it is ever formed."""

from functools import cached_property

import numpy as np
import scipy.sparse

from fspca import linalg, validate
from fspca.data_sources import Blocks, Sparse
from fspca.sources import Deflated, Dense, Shifted

FORMED_SIZE = 1000  # data with at most so many features, and more samples, is reduced to d x d
DENSE_SIZE = 500  # up to here LAPACK on the whole matrix is quick and needs no iteration


class Covariance:
    r"""A positive semidefinite d x d matrix A, known by the questions that it answers.

    Solvers ask for `size`, `trace`, `diagonal()`, `submatrix(I)`, `product(V, rows)` and
    `leading(m)`, and see A + ridge I.  Scores are taken on `plain`, the same without its ridge.
    Everything that can be wrong with the input is said here, once.

    Parameters
    ----------
    A : array, d x d
        Symmetric and positive semidefinite up to rounding.  It is copied.
    ridge : float
        Added to the diagonal for the solvers, which makes A positive definite.

    Examples
    --------
    >>> A = Covariance([[2.0, 1.0], [1.0, 2.0]], ridge=0.5)
    >>> A.diagonal(), A.plain.diagonal()
    (array([2.5, 2.5]), array([2., 2.]))
    """

    def __init__(self, A, ridge=0.0):
        ridge = validate.checked_ridge(ridge)
        self._set(Dense(validate.checked_covariance(A)), ridge)

    @classmethod
    def from_data(cls, X, center=True, scale="n-1", ridge=0.0):
        r"""The covariance X'X / divisor of data X (n samples x d features).

        X may be an array of any real type, memory-mapped (then read in blocks), or
        scipy.sparse (then centred implicitly).  The d x d matrix is formed only where d is at
        most n and at most 1000, so that it is both small and cheaper than the data, or where
        more than a quarter of all eigenpairs is asked for.

        Parameters
        ----------
        center : bool
            Subtract the mean of each feature.
        scale : "n-1", "n" or "sum"
            Divide X'X by n - 1, by n, or not at all.

        Examples
        --------
        >>> X = np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 5.0]])
        >>> Covariance.from_data(X).submatrix([0, 1])
        array([[4., 3.],
               [3., 3.]])
        """
        ridge = validate.checked_ridge(ridge)
        validate.checked_truth("center", center)
        scale = validate.checked_choice("scale", scale, ("n-1", "n", "sum"))
        X = validate.checked_data(X)
        n, d = X.shape
        least = 2 if center or scale == "n-1" else 1
        if n < least:
            raise ValueError(
                f"X has n={n} samples; center={center} and scale={scale!r} need at least {least}"
            )
        divisor = {"n-1": n - 1, "n": n, "sum": 1}[scale]
        with np.errstate(over="ignore", invalid="ignore"):  # said below, in words
            kind = Sparse if scipy.sparse.issparse(X) else Blocks
            source = kind(X, center, divisor)
            variances = source.diagonal()
        if not np.all(np.isfinite(variances)):
            j = int(np.argmin(np.isfinite(variances)))
            raise ValueError(
                f"X holds NaN, infinite or too large entries in column {j}; "
                "all squares must be finite"
            )
        if d <= min(n, FORMED_SIZE):
            source = Dense(source.submatrix(np.arange(d)), origin=source)
        return cls.from_source(source, ridge)

    @classmethod
    def from_source(cls, source, ridge=0.0):
        """The covariance that a `fspca.sources.Source` answers for, taken on trust."""
        covariance = cls.__new__(cls)
        covariance._set(source, validate.checked_ridge(ridge))
        return covariance

    def _set(self, source, ridge):
        self._source, self.ridge = source, ridge
        self._seen = Shifted(source, ridge) if ridge else source
        self.size = source.size
        self._pairs = {}

    def __repr__(self):
        ridge = f", ridge={self.ridge:g}" if self.ridge else ""
        return f"Covariance({self.size} features, {type(self._source).__name__.lower()}{ridge})"

    @property
    def plain(self):
        """The covariance without its ridge."""
        return Covariance.from_source(self._source) if self.ridge else self

    @cached_property
    def _diagonal(self):
        return self._seen.diagonal()

    def diagonal(self):
        """The variances of the features."""
        return self._diagonal.copy()

    @cached_property
    def trace(self):
        """The sum of the variances."""
        return float(self._diagonal.sum())

    def submatrix(self, rows):
        """The principal submatrix A[I, I] as an array."""
        return self._seen.submatrix(np.asarray(rows))

    def product(self, V, rows=None):
        """A V, or A[:, I] V where V holds only the rows I."""
        return self._seen.product(V, None if rows is None else np.asarray(rows))

    def leading(self, m):
        """The m largest eigenvalues, descending, and their eigenvectors as columns."""
        if not 1 <= m <= self.size:
            raise ValueError(f"m={m} must lie between 1 and d={self.size}")
        small = self.size <= DENSE_SIZE  # then all are computed at once, whatever m is
        asked = self.size if small else m  # else not from a larger m: where they tie, they differ
        if asked not in self._pairs:
            self._pairs[asked] = self._solve(asked)
        values, vectors = self._pairs[asked]
        return values[:m].copy(), vectors[:, :m].copy()

    def known_leading(self, m):
        """The m largest eigenvalues where they are at hand or cheap, or None."""
        return self.leading(m)[0] if self.size <= DENSE_SIZE or m in self._pairs else None

    def _solve(self, m):
        if 4 * m >= self.size:
            return linalg.leading_of_matrix(self.submatrix(np.arange(self.size)), m)
        return linalg.leading_of_operator(self._seen.product, self.size, m)

    @property
    def factor(self):
        """A linear operator Z (n x d) with A = Z'Z; there is one where A comes from data."""
        factor = self._seen.factor()
        if factor is None:
            raise ValueError(f"{self!r} has no factor; use Covariance.from_data with ridge=0")
        return factor

    def wide_factor(self, most=np.inf):
        """The factor as an array where A has fewer samples than features and than most, or None."""
        Z = self._seen.factor()
        if Z is None or Z.shape[0] >= min(self.size, most) or self.size <= DENSE_SIZE:
            return None
        return Z.rmatmat(np.eye(Z.shape[0])).T

    def shifted(self, sigma):
        """A + sigma I, for a sigma that leaves it positive semidefinite."""
        if not np.isfinite(sigma) or self._diagonal.min() + sigma < -linalg.TIE * self.trace:
            raise ValueError(
                f"sigma={sigma} must be finite and leave no variance negative "
                f"(the smallest is {self._diagonal.min():.6g})"
            )
        return Covariance.from_source(Shifted(self._source, sigma), self.ridge)

    def restricted(self, rows):
        """The covariance of some of the features."""
        rows = np.asarray(rows)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or not rows.size:
            raise ValueError(f"rows={rows!r} must be a list of features")
        if rows.min() < 0 or rows.max() >= self.size or len(np.unique(rows)) < len(rows):
            raise ValueError(
                f"rows={rows!r} must be different features between 0 and {self.size - 1}"
            )
        return Covariance.from_source(self._source.restricted(rows), self.ridge)

    def deflated(self, x):
        """(I - xx') A (I - xx') for a unit vector x: projection deflation."""
        x = np.asarray(x, dtype=float)
        if x.shape != (self.size,) or abs(np.linalg.norm(x) - 1) > 1e-8:  # far above rounding
            raise ValueError(
                f"x has shape {x.shape} and length {np.linalg.norm(x):.6g}; "
                f"it must be a unit vector of d={self.size} entries"
            )
        return Covariance.from_source(Deflated(self._source, x), self.ridge)


def as_covariance(A):
    """Return A if it is a Covariance, and the Covariance of the array A otherwise."""
    return A if isinstance(A, Covariance) else Covariance(A)
