"""Covariances of data that are never formed: dense data in blocks of rows, and sparse data."""

from copy import copy

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from fspca.sources import Restricted, Source

BLOCK_BYTES = 2**26


class Blocks(Source):
    """A = Z'Z with Z = (X - 1 mean') / sqrt(divisor) read in blocks of rows.

    Data of float64 in memory, or of one block, is centred once.  Other data (memory-mapped, much
    of float32 or integers) stays as it is: each block is converted when it is read.
    """

    def __init__(self, X, center, divisor):
        n, self.size = X.shape
        self.n, self.X, self.divisor = n, X, divisor
        self.step = max(1, BLOCK_BYTES // (8 * self.size))
        self.mean, self.prepared = np.zeros(self.size), False
        if center:
            self.mean = sum(b.sum(axis=0, dtype=float) for b in self.blocks(scaled=False)) / n
        once = X.dtype == np.float64 or 8 * X.size <= BLOCK_BYTES
        if once and not isinstance(X, np.memmap):
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

    def restricted(self, columns):
        if isinstance(self.X, np.memmap):  # a copy of many columns might not fit
            return Restricted(self, columns)
        part = copy(self)
        part.X, part.mean, part.size = self.X[:, columns], self.mean[columns], len(columns)
        return part

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
        self.mean = np.zeros(self.size)
        if center:
            self.mean = np.asarray(self.X.mean(axis=0)).ravel()

    def diagonal(self):
        stored = np.diff(self.X.indptr)
        column = np.repeat(np.arange(self.size), stored)
        squares = np.bincount(column, (self.X.data - self.mean[column]) ** 2, self.size)
        return (squares + (self.n - stored) * self.mean**2) / self.divisor

    def submatrix(self, rows):
        X, step = self.X[:, rows].tocsr(), max(1, BLOCK_BYTES // (8 * len(rows)))
        result = np.zeros((len(rows), len(rows)))
        for start in range(0, self.n, step):  # X'X - n mean mean' would cancel
            block = X[start : start + step].toarray() - self.mean[rows]
            result += block.T @ block
        return result / self.divisor

    def restricted(self, columns):
        part = copy(self)
        part.X, part.mean, part.size = self.X[:, columns], self.mean[columns], len(columns)
        return part

    def product(self, V, rows=None):
        X, mean = (self.X, self.mean) if rows is None else (self.X[:, rows], self.mean[rows])
        Y = X @ V - mean @ V
        return (self.X.T @ Y - np.outer(self.mean, Y.sum(axis=0))) / self.divisor

    def factor(self):
        ones = aslinearoperator(np.ones((self.n, 1)))
        centred = aslinearoperator(self.X) - ones @ aslinearoperator(self.mean[None, :])
        return centred * (1 / np.sqrt(self.divisor))
