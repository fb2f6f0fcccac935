r"""Covariances of data that are never formed.

A = Z'Z with Z = (X - 1 mean') diag(weight).  X is read as it is, in blocks of rows, and the mean
and the weights are put in by algebra: Z V = X (weight V) - 1 (mean' weight V).
"""

from copy import copy
from functools import reduce

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator

from fspca.covariance.linalg import ACCURACY
from fspca.covariance.sources import Restricted, Source, among_known

BLOCK_BYTES = 2**25
FAR = {4: 8.0, 8: 4096.0}  # |mean| / deviation from which a feature is shifted, by bytes a number


def scaled(squares, divisor, standardize):
    """Return the variances and the weights of the columns of Z."""
    if not standardize:
        return squares / divisor, np.broadcast_to(1 / np.sqrt(divisor), len(squares))
    varies = squares > 0  # a constant feature stays zero
    return np.where(np.isfinite(squares), varies, np.nan), np.where(
        varies, 1 / np.sqrt(np.where(varies, squares, 1)), 0.0
    )


def moments_of(block, center):
    """Return the count of rows, their mean and the sum of squares around it (around 0)."""
    block, mean = block.astype(float), np.zeros(block.shape[1])  # a copy, to be written to
    if center:
        mean = np.ones(len(block)) @ block / len(block)
        block -= mean
    return len(block), mean, np.einsum("ij,ij->j", block, block)


def merged(first, second):
    """Return the moments of two blocks together; nothing cancels."""
    (n, mean, squares), (more, other, rest) = first, second
    gap, share = other - mean, more / (n + more)
    return n + more, mean + gap * share, squares + rest + gap**2 * (n * share)


def added(total, part):
    """Return total + part in float64, without a third array."""
    return part.astype(float, copy=False) if np.isscalar(total) else np.add(total, part, out=total)


class Data(Source):
    """Dense data, in memory or anything that gives its rows by slices, which is streamed.

    Products of float32 data are taken in float32 and summed over the blocks in float64; what is
    reported (variances, submatrices, columns) is computed in float64 throughout.  Features whose
    mean is far above their deviation are shifted before they are multiplied, so that the digits
    that the mean would take are not lost.
    """

    blockwise, samples, roots = True, None, None

    def __init__(self, X, center, divisor, standardize, max_memory):
        (self.n, self.size), self.max_memory = X.shape, max_memory
        self.streamed = type(X) is not np.ndarray
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        if not self.streamed and X.dtype != self.dtype and 8 * X.size <= max_memory:
            X = X.astype(self.dtype)  # once, not once a pass
        self.X, self.shift, self.tally = X, None, [0]
        self.mean, squares = self.moments(center)
        self.centre, self.spread = self.mean, np.sqrt(squares / divisor)
        self.variances, self.weight = scaled(squares, divisor, standardize)
        deviation = np.sqrt(squares / self.n)
        deviation[deviation == 0] = deviation.max()
        far = np.abs(self.mean) > FAR[self.dtype.itemsize] * deviation
        if far.any():
            self.shift = np.where(far, self.mean, 0.0).astype(self.dtype)
            self.mean = self.mean - self.shift
            if not self.streamed and self.X.dtype == float:  # exact enough to be done once
                self.X, self.shift = self.X - self.shift, None

    @property
    def accuracy(self):
        return ACCURACY if self.dtype == float else 10 * float(np.finfo(self.dtype).eps)

    @property
    def passes(self):
        return self.tally[0]  # parts that share the data share the count

    def blocks(self, dtype=None, least=1):
        """Yield the rows, some at a time; this is one pass."""
        self.tally[0] += 1
        step = max(1, BLOCK_BYTES // (8 * self.size + 8), least)
        for start in range(0, self.n, step):
            block = np.asarray(self.X[start : start + step]).astype(dtype or self.dtype, copy=False)
            yield block if self.shift is None else block - self.shift

    def moments(self, center):
        """Return the means (0 where not centred) and the sums of squares around them."""
        return reduce(merged, (moments_of(block, center) for block in self.blocks(self.X.dtype)))[
            1:
        ]

    def diagonal(self):
        return self.variances

    def centred(self, rows):
        """Yield blocks of Z[:, I] in float64, and beside them those of all of X."""
        whole = self.all_of(rows)
        for block in self.blocks(float, len(rows) // 2):  # to add up costs no more than to read
            part = (block if whole else block[:, rows]) - self.mean[rows]
            part *= self.weight[rows]
            yield part, block

    def all_of(self, rows):
        """Whether these are all the features, in their order: then nothing is picked out."""
        return len(rows) == self.size and np.array_equal(rows, np.arange(self.size))

    def submatrix(self, rows):
        if self.streamed or self.all_of(rows):
            return sum(part.T @ part for part, _ in self.centred(rows))
        alone = self.restricted(rows)  # the other columns need not be touched
        return sum(part.T @ part for part, _ in alone.centred(np.arange(len(rows))))

    def columns(self, rows, among=slice(None)):
        result, total = 0.0, np.zeros(len(rows))
        for part, block in self.centred(rows):
            total += part.sum(axis=0)
            result = added(result, block[:, among].T @ part)
        return self.finished(result, total, among)

    def finished(self, result, total, among=slice(None)):
        """Return Z'Y from X'Y and the sums of Y, in place."""
        mean, weight = self.mean[among], self.weight[among]
        step = 2**15 // (len(total) + 1) + 1
        for part in (slice(start, start + step) for start in range(0, len(result), step)):
            result[part] -= mean[part, None] * total
            result[part] *= weight[part, None]
        return result

    def product(self, V, rows=None):
        result, total = 0.0, np.zeros(V.shape[1])
        for block, Y in self.applied(V, rows):
            total += self.summed(Y)
            result = added(result, block.T @ Y)
        return self.finished(result, total)

    def applied(self, V, rows=None):
        """Yield blocks of X, and beside them those of Z V."""
        chosen = slice(None) if rows is None else rows
        V = self.weight[chosen, None] * V
        offset, V = (self.mean[chosen] @ V).astype(self.dtype), V.astype(self.dtype, copy=False)
        for block in self.blocks(least=V.shape[1]):
            Y = (block if rows is None else self.chosen(rows, block)) @ V
            yield block, self.offset_by(Y, offset)

    def offset_by(self, Y, offset):
        """Return Y less the offset of every row, in place."""
        Y -= offset if self.roots is None else np.outer(self.roots, offset)
        return Y

    def summed(self, Y):
        """Return 1'Y, or the roots of the weights times Y."""
        return Y.sum(axis=0, dtype=float) if self.roots is None else self.roots @ Y

    def chosen(self, rows, block):
        """Return the columns of a block."""
        return block[:, rows]

    def gram(self):
        """Return Z Z', n x n, by blocks of columns; once."""
        if self.samples is not None:
            return self.samples
        if not (isinstance(self.X, np.ndarray) or scipy.sparse.issparse(self.X)):
            return None  # others promise their rows only
        self.tally[0] += 1
        result, step = np.zeros((self.n, self.n)), max(1, BLOCK_BYTES // (8 * self.n))
        for start in range(0, self.size, step):
            chosen = slice(start, start + step)
            shift = 0 if self.shift is None else self.shift[chosen]
            block = self.X[:, chosen]
            block = block.toarray() if scipy.sparse.issparse(block) else block.astype(float)
            block = self.offset_by(block, shift + self.mean[chosen])
            block *= self.weight[chosen]
            result += block @ block.T
        self.samples = result
        return result

    def precise(self):
        part = copy(self)
        part.dtype = np.dtype(float)
        return part

    def restricted(self, columns):
        if self.streamed:  # a copy of many columns might not fit
            return Restricted(self, columns)
        part = copy(self)
        part.X, part.size, part.tally = self.X[:, columns], len(columns), [0]
        part.last, part.samples, part.known = None, None, Sparse.known
        for name in ("mean", "weight", "variances", "shift"):
            if (value := getattr(self, name, None)) is not None:
                setattr(part, name, value[columns])
        return part

    def factor(self):
        def forward(V):
            return np.concatenate([Y for _, Y in self.applied(V.reshape(self.size, -1))])

        def back(Y):
            start, result, total = 0, 0.0, self.summed(Y.reshape(self.n, -1))
            Y = Y.reshape(self.n, -1).astype(self.dtype, copy=False)
            for block in self.blocks():
                result = added(result, block.T @ Y[start : start + block.shape[0]])
                start += block.shape[0]
            return self.finished(result, total)

        return LinearOperator((self.n, self.size), forward, back, forward, float, back)


class Sparse(Data):
    """Sparse data, read where it is: CSR or CSC, all of it one block.

    With roots of weights, S X is given in place of X, and S 1 in place of 1.
    """

    blockwise, last, known = False, None, (np.empty(0, dtype=int), np.empty((0, 0)))

    def __init__(self, X, center, divisor, standardize, max_memory, roots=None):
        (self.n, self.size), self.max_memory = X.shape, max_memory
        self.roots, self.total = roots, self.n if roots is None else roots @ roots
        self.streamed, self.dtype, self.shift = False, np.dtype(float), None
        if X.dtype != self.dtype:  # the places of the entries are not copied
            X = type(X)((X.data.astype(float), X.indices, X.indptr), shape=X.shape)
        self.X, self.tally = X, [0]
        self.mean, squares = self.moments(center)
        self.centre, self.spread = self.mean, np.sqrt(squares / divisor)
        self.variances, self.weight = scaled(squares, divisor, standardize)

    def blocks(self, dtype=None, least=1):
        self.tally[0] += 1
        yield self.X

    def entries(self):
        """Yield columns and values of the entries stored, as many at a time as caches take."""
        self.tally[0] += 1
        step = max(BLOCK_BYTES // 128, 2 * self.size * (self.X.format == "csc"))
        for start in range(0, len(self.X.data), step):
            stop = min(start + step, len(self.X.data))
            columns = self.X.indices[start:stop]
            if self.X.format == "csc":
                stored = np.diff(np.clip(self.X.indptr, start, stop))
                columns = np.repeat(np.arange(self.size), stored)
            yield columns, self.X.data[start:stop]

    def moments(self, center):
        if self.roots is not None:
            mean = center * (self.X.T @ self.roots) / self.total
            self.mean, self.weight = mean, np.ones(self.size)
            parts = self.centred(np.arange(self.size))
            squares = sum(np.einsum("ij,ij->j", part, part) for part, _ in parts)
            self.last = None
            return mean, squares
        mean, total, squares, stored = (np.zeros(self.size) for _ in range(4))
        for columns, values in self.entries():
            np.add.at(mean, columns, values)
            np.add.at(total, columns, values**2)
        mean *= center / self.n
        taken = np.einsum("i,i,->i", mean, mean, self.n)
        if np.all(0.9 * total >= taken):  # then hardly a digit goes
            return mean, np.subtract(total, taken, out=total)
        for columns, values in self.entries():
            np.add.at(stored, columns, 1)
            np.add.at(squares, columns, (values - mean[columns]) ** 2)
        return mean, squares + (self.n - stored) * mean**2

    def pieces(self, rows):
        """Yield X[:, I], some rows at a time."""
        X, step = self.chosen(rows), max(1, BLOCK_BYTES // (8 * len(rows) + 8))
        return (X[start : start + step] for start in range(0, self.n, step))

    def centred(self, rows):
        start = 0
        for part in self.pieces(rows):
            stop = start + part.shape[0]
            taken = self.mean[rows]
            if self.roots is not None:
                taken = np.outer(self.roots[start:stop], taken)
            yield (part.toarray() - taken) * self.weight[rows], None
            start = stop

    def chosen(self, rows, _=None):
        """Return X[:, I] as CSR; the last is kept, for in CSR it costs as much as a product."""
        if self.last is None or not np.array_equal(rows, self.last[0]):
            self.last = None  # two of them are never held
            self.last = np.array(rows), self.X[:, rows].tocsr()
        return self.last[1]

    def submatrix(self, rows):
        mean, weight = self.mean[rows], self.weight[rows]
        if np.any(self.total * (mean * weight) ** 2 > 1e3 * self.variances[rows]):  # 3 digits of 16
            return sum(part.T @ part for part, _ in self.centred(rows))
        new, old = among_known(rows, self.known[0])
        products = np.empty((len(rows), len(rows)))
        products[np.ix_(~new, ~new)] = self.known[1][np.ix_(old, old)]
        products[:, new] = sum((part.T @ part[:, new]).toarray() for part in self.pieces(rows))
        products[new] = products[:, new].T
        if 64 * len(rows) ** 2 <= self.max_memory:  # the next support will share most of them
            self.known = np.array(rows), products
        return (products - self.total * np.outer(mean, mean)) * np.outer(weight, weight)

    def columns(self, rows, among=slice(None)):
        width = max(1, BLOCK_BYTES // (8 * self.n))
        parts = np.split(rows, range(width, len(rows), width))
        return np.hstack([self.product(np.eye(len(part)), part)[among] for part in parts])
