"""The covariance as something one asks questions of, whether or not it is ever formed."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from fspca.covariance import linalg, validate
from fspca.covariance.frames import is_frame
from fspca.covariance.intake import taken_in
from fspca.covariance.leading import leading_pairs
from fspca.covariance.sources import Dense, Remembering, View
from fspca.covariance.views import Deflated, Scaled, Shifted

FORMED_SIZE = 1000  # data with at most so many features, and more samples, is reduced to d x d
DENSE_SIZE = 500  # up to here LAPACK on the whole matrix is quick and needs no iteration
COMMON = 100  # binary orders of magnitude on either side of 1 whose powers are numbers


class Covariance:
    r"""A positive semidefinite d x d matrix A, known by the questions that it answers.

    Solvers ask for `size`, `trace`, `diagonal()`, `submatrix(I)`, `product(V, rows)` and
    `leading(m)`, and see A + ridge I.  Scores are taken on `plain`, the same without its ridge.
    Everything that can be wrong with the input is said here, once.

    `from_data` takes an array of any real type, scipy.sparse (CSR and CSC are read where they are),
    a DataFrame, a dask array, or anything with a shape, a dtype and slices of rows: this, and a
    memory-mapped array, is streamed by blocks.  The data are not copied: leave them as they are
    while the covariance is in use.  The d x d matrix is formed only where d is at most n and at
    most 1000, or where more than a quarter of all eigenpairs is asked for.

    Parameters
    ----------
    A : array, d x d
        Symmetric and positive semidefinite up to rounding.  It is copied.
    ridge : float
        Added to the diagonal for the solvers, which makes A positive definite.

    See Also
    --------
    fspca.covariance.as_covariance : Takes an array for one.

    Examples
    --------
    >>> A = Covariance([[2.0, 1.0], [1.0, 2.0]], ridge=0.5)
    >>> A.diagonal(), A.plain.diagonal()
    (array([2.5, 2.5]), array([2., 2.]))

    Of data it knows the factor Z with A = Z'Z, too.

    >>> A = Covariance.from_data(np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 5.0]]))
    >>> A.submatrix([0, 1])
    array([[4., 3.],
           [3., 3.]])
    >>> round(A.trace, 9), A.product([[1.0]], rows=[1]).ravel(), A.factor.shape
    (7.0, array([3., 3.]), (3, 2))
    >>> A.restricted([1]).leading(1)
    (array([3.]), array([[1.]]))
    """

    def __init__(self, A: ArrayLike, ridge: float = 0.0) -> None:
        ridge = validate.checked_ridge(ridge)
        self._set(Dense(validate.checked_covariance(A)), ridge)
        if is_frame(A):
            self.names = tuple(map(str, A.columns))

    @classmethod
    def from_data(cls, X: Any, *, center: bool = True, divisor: str | float = "n-1",
                  standardize: bool = False, ridge: float = 0.0, max_memory: float = 2**30,
                  missing: str = "refuse", sample_weight: ArrayLike | None = None,
                  names: Sequence[str] | None = None) -> Self:  # fmt: skip
        """The covariance X'X / divisor of data X (n samples x d features), never squared."""
        ridge = validate.checked_ridge(ridge)
        taken = taken_in(X, center=center, divisor=divisor, standardize=standardize,
                         max_memory=max_memory, missing=missing, sample_weight=sample_weight,
                         names=names)  # fmt: skip
        source = taken.source
        if isinstance(source, Remembering) and source.size <= min(source.base.n, FORMED_SIZE):
            source = Dense(source.submatrix(np.arange(source.size)), origin=source)
        covariance = cls.from_source(source, ridge)
        covariance.names, covariance.about = taken.names, taken.about
        covariance.moments, covariance.filling = taken.moments, taken.filling
        done: dict[str, Any] = {"center": center, "divisor": divisor, "standardize": standardize}
        done |= {"missing": missing, "sample_weight": sample_weight, "kept": taken.kept}
        covariance.table = X, done
        return covariance

    @classmethod
    def from_source(cls, source: Any, ridge: float = 0.0) -> Self:
        """The covariance that a `fspca.covariance.sources.Source` answers for, taken on trust."""
        if source.streamed and not isinstance(source, View):
            source = Remembering(source)
        covariance = cls.__new__(cls)
        covariance._set(source, validate.checked_ridge(ridge))
        return covariance

    def _set(self, source, ridge):
        self._source, self.ridge = source, ridge
        self._seen = Shifted(source, ridge) if ridge else source
        self.size, self.names = source.size, None
        self.table = None  # the data, and what was done to them, where it comes from data
        self.about = None  # of which data it is, where some are missing or weigh differently
        self.moments = None  # the means and deviations of data
        self.filling = None  # the moments by which missing values are filled in
        self._pairs = {}

    def __repr__(self):
        ridge = f", ridge={self.ridge:g}" if self.ridge else ""
        source = self._source.base if isinstance(self._source, Remembering) else self._source
        kind = "streamed" if source.streamed else type(source).__name__.lower()
        return f"Covariance({self.size} features, {kind}{ridge})"

    @property
    def plain(self) -> "Covariance":
        """The covariance without its ridge."""
        return self._like(self._source, 0.0) if self.ridge else self

    @property
    def precise(self) -> "Covariance":
        """The same with products in float64, where those of float32 data are taken in float32."""
        exact = self._source.accuracy <= linalg.ACCURACY
        return self if exact else self._like(self._source.precise(), self.ridge)

    def _like(self, source, ridge, rows=None):
        covariance = Covariance.from_source(source, ridge)
        covariance.about = self.about
        if self.names is not None:
            covariance.names = self.names if rows is None else tuple(self.names[j] for j in rows)
        return covariance

    @property
    def passes(self) -> int | None:
        """How often all of the data have been read so far."""
        return self._source.passes

    @property
    def streamed(self) -> bool:
        """Whether to read the data costs more than the arithmetic on them."""
        return self._source.streamed

    @property
    def max_memory(self) -> float:
        """The bytes that may be kept beside the data."""
        return self._source.max_memory

    @cached_property
    def _diagonal(self):
        return self._seen.diagonal()

    def diagonal(self) -> np.ndarray:
        """The variances of the features."""
        return self._diagonal.copy()

    @cached_property
    def trace(self) -> float:
        """The sum of the variances."""
        return float(self._diagonal.sum())

    def submatrix(self, rows: ArrayLike) -> np.ndarray:
        """The principal submatrix A[I, I] as an array."""
        return self._seen.submatrix(self._checked(rows))

    def _checked(self, rows):
        rows = np.asarray(rows)
        if rows.size and not (rows.min() >= 0 and rows.max() < self.size):
            raise ValueError(f"rows={rows!r} must be features between 0 and {self.size - 1}")
        return rows

    def columns(self, rows: ArrayLike, among: ArrayLike | None = None) -> np.ndarray:
        """A[:, I], or A[among, I], as an array that is not to be written to."""
        within = slice(None) if among is None else np.asarray(among)
        return self._seen.columns(np.asarray(rows), within)

    def product(self, V: ArrayLike, rows: ArrayLike | None = None) -> np.ndarray:
        """A V, or A[:, I] V where V holds only the rows I."""
        return self._seen.product(V, None if rows is None else self._checked(rows))

    def leading(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        """The m largest eigenvalues, descending, and their eigenvectors as read-only columns."""
        if not 1 <= m <= self.size:
            raise ValueError(f"m={m} must lie between 1 and d={self.size}")
        small = self.size <= DENSE_SIZE  # then all are computed at once, whatever m is
        asked = self.size if small else m  # else not from a larger m: where they tie, they differ
        if asked not in self._pairs:
            self._pairs[asked] = leading_pairs(self._seen, asked, DENSE_SIZE)
            self._pairs[asked][1].setflags(write=False)  # views of it are given, not copies
        values, vectors = self._pairs[asked]
        return values[:m].copy(), vectors[:, :m]

    def learn_leading(self, values: np.ndarray, V: np.ndarray) -> None:
        """Take leading eigenpairs that were found and verified elsewhere: nobody seeks them again.

        >>> A = Covariance(np.diag([1.0, 3.0]))
        >>> A.learn_leading(np.array([3.0]), np.array([[0.0], [1.0]]))
        >>> A.leading(1)[0]
        array([3.])
        """
        if len(values) not in self._pairs:
            V = V.copy()
            V.setflags(write=False)
            self._pairs[len(values)] = values.copy(), V

    def known_leading(self, m: int) -> np.ndarray | None:
        """The m largest eigenvalues where they are at hand or cheap, or None."""
        cheap = self.size <= DENSE_SIZE and not self._seen.streamed
        return self.leading(m)[0] if cheap or m in self._pairs else None

    @property
    def factor(self) -> LinearOperator:
        """A linear operator Z (n x d) with A = Z'Z; there is one where A comes from data."""
        factor = self._seen.precise().factor()
        if factor is None:
            raise ValueError(f"{self!r} has no factor; use Covariance.from_data with ridge=0")
        return factor

    def gram(self) -> np.ndarray | None:
        """Z Z' for A = Z'Z, n x n, in one pass; None where A has no factor or only gives rows."""
        return self._seen.gram()

    def wide_factor(self, most: float = np.inf) -> np.ndarray | None:
        """The factor as an array where A has fewer samples than features and than most, or None."""
        # an array of its own, so that it must fit the memory; of small d A itself is quick
        Z = self._seen.precise().factor()
        wide = Z is not None and Z.shape[0] < min(self.size, most) and self.size > DENSE_SIZE
        fits = wide and 8 * Z.shape[0] * self.size <= self.max_memory
        return Z.rmatmat(np.eye(Z.shape[0])).T if fits else None

    @property
    def unit(self) -> float:
        """1, or where variances are so far from it that their powers might be none, their scale."""
        top = self._diagonal.max()
        if top == 0 or -COMMON <= np.log2(top) <= COMMON:
            return 1.0
        # a power of four: to divide by it, and the factor by its root, is exact
        return 4.0 ** np.round(np.log2(top) / 2)

    def scaled(self, c: float) -> "Covariance":
        """Return c A, for a power of four c."""
        return self._like(Scaled(self._source, c), self.ridge * c)

    def shifted(self, sigma: float) -> "Covariance":
        """A + sigma I, for a sigma that leaves it positive semidefinite."""
        if not np.isfinite(sigma) or self._diagonal.min() + sigma < -linalg.TIE * self.trace:
            raise ValueError(
                f"sigma={sigma} must be finite and leave no variance negative "
                f"(the smallest is {self._diagonal.min():.6g})"
            )
        return self._like(Shifted(self._source, sigma), self.ridge)

    def restricted(self, rows: ArrayLike) -> "Covariance":
        """The covariance of some of the features."""
        rows = validate.checked_rows(rows, self.size)
        return self._like(self._source.restricted(rows), self.ridge, rows)

    def deflated(self, x: ArrayLike) -> "Covariance":
        """(I - xx') A (I - xx') for a unit vector x: projection deflation."""
        x = np.asarray(x, dtype=float)
        if x.shape != (self.size,) or not abs(np.linalg.norm(x) - 1) <= 1e-8:
            raise ValueError(
                f"x has shape {x.shape} and length {np.linalg.norm(x):.6g}; "
                f"it must be a unit vector of d={self.size} entries"
            )
        return self._like(Deflated(self._source, x), self.ridge)


def as_covariance(A: "Matrix") -> Covariance:
    """Return A if it is a Covariance, and the Covariance of the array A otherwise."""
    return A if isinstance(A, Covariance) else Covariance(A)


Matrix: TypeAlias = ArrayLike | Covariance  # what every solver takes for A
