"""Data spread over many processes or machines, as a dask.array: only what is small comes back.

Each question is one graph over the chunks as they are, in rows or in both directions; sums are
taken by trees, in an order that does not depend on who is first.  Nothing is kept between two
questions, on the workers or in a graph, unless the array itself is persisted.
"""

from functools import partial, reduce
from itertools import pairwise

import numpy as np

from fspca.covariance.data import Data, merged, moments_of
from fspca.covariance.validate import needed

dask = needed("dask", "dask", "a dask.array")
delayed = dask.delayed


class Dask(Data):
    """A = Z'Z for X as a dask.array; `received` counts the bytes that came back."""

    def __init__(self, X, *conventions):
        if np.isnan(X.shape[0]) or np.isnan(sum(X.chunks[1])):
            raise ValueError("X has chunks of unknown size; call X.compute_chunk_sizes() first")
        self.grid, self.received = X.to_delayed(), 0
        self.edges = [np.cumsum((0, *sizes)) for sizes in X.chunks]
        super().__init__(X, *conventions)

    def answers(self, tasks):
        """Return what some tasks come to, computed in one graph; this is one pass."""
        self.tally[0] += 1
        results = dask.compute(*tasks)
        self.received += sum(each.nbytes for each in results)
        return results

    def moments(self, center):
        def of_column(j):
            rows, columns = self.edges
            places = [(rows[i : i + 2], columns[j : j + 2]) for i in range(len(self.grid))]
            pairs = zip(self.grid[:, j], places, strict=True)
            return tree(
                [delayed(moments_in)(block, center, place) for block, place in pairs],
                partial(reduce, merged),
            )

        parts = self.answers([delayed(stacked)(of_column(j)) for j in range(self.grid.shape[1])])
        return np.hstack(parts)

    def pieces(self, rows, V=None):
        """Return, for each row of chunks, a task of Z[:, I] weighted by V (by 1 where None)."""
        part = np.searchsorted(self.edges[1], rows, side="right") - 1
        used = [(j, np.flatnonzero(part == j)) for j in np.unique(part)]
        at = [(rows[places] - self.edges[1][j], places) for j, places in used]
        shift = None if self.shift is None else [self.shift[rows[places]] for _, places in used]
        V = V if V is None else delayed(V)
        facts = delayed((at, shift, self.mean[rows], self.weight[rows], V), traverse=V is not None)
        dtype = float if V is None else self.dtype
        return [delayed(centred)([line[j] for j, _ in used], facts, dtype) for line in self.grid]

    def submatrix(self, rows):
        return self.answers([tree([delayed(square)(part) for part in self.pieces(rows)])])[0]

    def across(self, parts, dtype):
        """Return Z'Y for the parts of Y."""
        tasks = [tree([delayed(np.sum)(part, axis=0, dtype=float) for part in parts])]
        for j, (start, stop) in enumerate(pairwise(self.edges[1])):
            shift = None if self.shift is None else self.shift[start:stop]
            blocks = zip(self.grid[:, j], parts, strict=True)
            tasks.append(tree([delayed(back)(b, part, shift, dtype) for b, part in blocks]))
        total, *results = self.answers(tasks)
        return self.finished(np.concatenate(results), total)

    def columns(self, rows, among=slice(None)):
        return self.across(self.pieces(rows), float)[among]

    def product(self, V, rows=None):
        rows = np.arange(self.size) if rows is None else rows
        return self.across(self.pieces(rows, V), self.dtype)

    def factor(self):
        return None


def refuse_sparse_chunks(block):
    """Refuse a chunk that is no dense array: its columns are picked out as those of one."""
    if block is not None and not isinstance(block, np.ndarray):
        raise TypeError(
            f"X is a dask.array with chunks of {type(block).__name__}; make them dense, "
            "X.map_blocks(lambda chunk: chunk.toarray(), dtype=float), or hand over a sparse matrix"
        )


def tree(parts, add=sum):
    """Return a task of the sum of some tasks, four at a time."""
    while len(parts) > 1:
        parts = [delayed(add)(parts[i : i + 4]) for i in range(0, len(parts), 4)]
    return parts[0]


def stacked(moments):
    return np.array(moments[1:])


def moments_in(block, center, place):
    refuse_sparse_chunks(block)
    block = np.asarray(block).astype(float, copy=False)
    if not np.all(np.isfinite(block)):
        (top, bottom), (left, right) = place
        raise ValueError(
            f"X holds NaN or infinite entries in its chunk of rows {top} to {bottom - 1} and "
            f"columns {left} to {right - 1}"
        )
    return moments_of(block, center)


def centred(blocks, facts, dtype):
    within, shift, mean, weight, V = facts
    k = len(mean)
    part = np.empty((len(blocks[0]), k), dtype=dtype)
    for i, (block, (columns, places)) in enumerate(zip(blocks, within, strict=True)):
        chosen = np.asarray(block)[:, columns].astype(dtype, copy=False)
        part[:, places] = chosen if shift is None else chosen - shift[i]
    if V is None:
        return (part - mean) * weight
    V = weight[:, None] * V
    return part @ V.astype(dtype) - (mean @ V).astype(dtype)


def square(part):
    return part.T @ part


def back(block, part, shift, dtype):
    block = np.asarray(block).astype(dtype, copy=False)
    return ((block if shift is None else block - shift).T @ part).astype(float, copy=False)
