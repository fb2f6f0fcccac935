"""Leading eigenpairs, for what they cost: in memory, streamed, or among few samples."""

import numpy as np
import scipy.sparse.linalg
from scipy.sparse.linalg import LinearOperator

from fspca.covariance.linalg import ACCURACY, EPS, fix_signs, leading_of_matrix
from fspca.covariance.sources import Dense

MOST_STEPS = 500
LOOKS = 7  # products that look for a copy that was missed
MISSED = 1e-8  # relative to the largest: what is left may not exceed the least found by more


def leading_pairs(source, m, small):
    """Return the m largest eigenvalues, descending, and their eigenvectors as columns.

    Where samples are fewer than features, Z Z' has them, which is smaller: with at most `small`
    samples it is formed, in two passes.
    """
    d = source.size
    if 4 * m >= d:
        return leading_of_matrix(source.submatrix(np.arange(d)), m)
    if (pairs := leading_among_samples(source, m, small)) is not None:
        return pairs
    dense = isinstance(source, Dense) and d <= 4 * small  # to factorise costs as to iterate
    return iterated(source, source.product, d, m, source.A if dense else None)


def iterated(source, product, d, m, matrix=None):
    """Return the m leading eigenpairs, found by products.

    A matrix and sparse data are multiplied by single vectors, which needs the least arithmetic;
    dense data by blocks, a third of the price for a vector; streamed too, which needs the fewest
    passes.
    """
    if source.streamed or source.blockwise:
        width = int(np.clip(source.max_memory // (8 * m * d) - 4, 3, 12 if source.streamed else 5))
        return leading_of_operator(product, d, m, source.accuracy, width * m)
    return leading_in_memory(product, d, m, source.accuracy, matrix)


def leading_among_samples(source, m, small):
    """Return the leading pairs by Z Z' where there are fewer samples, of rank m at least, or None.

    Streamed, a product with it takes two passes, one with A one: then it is formed or left alone.
    """
    Z, few = source.factor(), max(4 * m, 4 * small if source.streamed else small)
    if Z is None or not m <= (n := Z.shape[0]) <= source.size / 2:
        return None
    if n <= few and (gram := source.gram()) is not None:
        values, U = leading_of_matrix(gram, m)
    elif n <= few or source.streamed:
        return None
    else:
        values, U = iterated(source, lambda U: Z.matmat(Z.rmatmat(U)), n, m)
    if values[-1] <= MISSED * values[0]:
        return None
    V = Z.rmatmat(U)  # orthogonal up to rounding; in place, for it may be large
    rotate(V, np.linalg.qr(normalise(V, np.random.default_rng(0)))[0])
    return values, fix_signs(V)


def leading_of_operator(product, d, m, tol=ACCURACY, width=None, together=None, steps=MOST_STEPS):
    """Return the m leading eigenpairs of a d x d operator, V -> product(V), by block Lanczos.

    So many vectors are multiplied together: m, so that up to m copies of a repeated eigenvalue
    are found, or as told; fewer end in an error where their span is invariant.  At most `width`
    basis vectors are kept, 3 m if not told; where they are full, they are rotated to the best of
    their span.  All is done in place.
    """
    b, width = together or m, width or 3 * m
    rng, scale, used = np.random.default_rng(0), 0.0, b
    V, T = np.empty((d, width), order="F"), np.zeros((width, width))
    V[:, :b] = rng.standard_normal((d, b))
    normalise(V[:, :b], rng)
    for left in reversed(range(steps)):
        basis, last = V[:, :used], slice(used - b, used)
        block = product(V[:, last])
        T[:used, last] = basis.T @ block
        T[last, :used] = T[:used, last].T
        subtract(block, basis, T[:used, last])
        R = normalise(block, rng)
        if b < m and np.abs(R).max() <= MISSED * np.abs(T).max():
            raise np.linalg.LinAlgError("the span of the products is invariant")
        if used >= m:
            theta, Y = np.linalg.eigh(T[:used, :used])
            theta, Y = theta[::-1], Y[:, ::-1]
            scale = max(scale, abs(theta[0]))
            found = np.linalg.norm(R @ Y[-b:, :m], axis=0).max() <= tol * scale
            if found or not left or used + b > d:
                break
        if used + b > width:
            used -= max(b, (width - m) // 2)
            rotate(basis, Y[:, :used])
            T[:] = 0
            T[range(used), range(used)] = theta[:used]
        along = block
        while np.linalg.norm(along) > 0.1:  # then rounding is left along the basis
            along = V[:, :used].T @ block
            subtract(block, V[:, :used], along)
            normalise(block, rng)
        V[:, used : used + b] = block
        block, used = None, used + b
    rotate(V[:, :used], Y[:, :m])
    block = None
    basis, V = None, V[:, :m].copy()
    return theta[:m], fix_signs(V)


def rotate(V, Y):
    """Replace the first columns of V by V Y, in place."""
    for part in (slice(start, start + 4096) for start in range(0, len(V), 4096)):
        V[part, : Y.shape[1]] = V[part] @ Y


def subtract(block, basis, share):
    """Take basis @ share from a block, in place."""
    for part in (slice(start, start + 4096) for start in range(0, len(block), 4096)):
        block[part] -= basis[part] @ share


def normalise(block, rng):
    """Make a block orthonormal in place, Q, and return R: it was Q R up to rounding.

    By the eigenvectors of its Gram matrix; directions that are rounding are drawn at random.
    """
    size = np.sqrt(np.einsum("ij,ij->j", block, block))
    if len(size) == 1 and size > 0:  # most of the calls
        block /= size
        return size[:, None]
    size[size == 0] = 1.0
    values, U = np.linalg.eigh((block.T @ block) / size / size[:, None])
    lost = values <= len(values) * EPS * values[-1]
    root = np.sqrt(np.where(lost, 1.0, values))
    rotate(block, U / size[:, None] / root)
    block[:, lost] = rng.standard_normal((len(block), lost.sum())) / np.sqrt(len(block))
    return np.where(lost, 0.0, root)[:, None] * U.T * size


def leading_in_memory(product, d, m, tol=ACCURACY, matrix=None):
    """Return the m leading eigenpairs of an operator whose products cost only arithmetic.

    To multiply one vector at a time needs the fewest products but may miss a copy of a repeated
    eigenvalue.  So what is left must be below: by a Cholesky factorisation where the matrix is
    given, else by the largest eigenvalue of what is left, found from a random start: it falls
    short by more than the share t with a probability of at most
    1.65 sqrt(d) exp(-sqrt(t) (2 q - 1)) after q products (Kuczynski and Wozniakowski 1992).
    Where a copy is missed, all are found by blocks.
    """
    width = min(d, max(5 * m // 2, 15))
    try:
        if matrix is None:
            values, V = leading_of_operator(product, d, m, tol, width, 1, MOST_STEPS * m)
        else:
            values, V = by_arpack(product, d, m, tol)
        limit = values[-1] + max(MISSED, 10 * tol) * values[0]
        if matrix is None:
            rest = lambda x: product(x) - V @ (values[:, None] * (V.T @ x))  # noqa: E731
            missed = leading_of_operator(rest, d, 1, 0.0, min(d, LOOKS), 1, LOOKS)[0][0] > limit
        else:
            rest = (V * values) @ V.T
            rest -= matrix
            rest.flat[:: d + 1] += limit
            missed = np.linalg.cholesky(rest) is None
    except (scipy.sparse.linalg.ArpackError, np.linalg.LinAlgError):
        missed = True  # few products say all of a start, or there is no factorisation
    return leading_of_operator(product, d, m, tol) if missed else (values, V)


def by_arpack(product, d, m, tol, kept=8):
    """Return the m leading eigenpairs of a matrix, beside which what ARPACK keeps is little.

    So many vectors are kept, or a few more than twice those wanted.

    In an invariant space it would go on from a vector of its own choice, by chance.
    """
    last = None

    def apply(x):
        nonlocal last
        if last is not None and abs(last @ x) <= MISSED * np.linalg.norm(last):
            raise np.linalg.LinAlgError("the span of the products is invariant")
        last = product(x.reshape(d, 1))[:, 0]
        return last

    operator = LinearOperator((d, d), apply, dtype=float)
    start, kept = np.random.default_rng(0).standard_normal(d), min(d, max(2 * m + 1, kept))
    values, V = scipy.sparse.linalg.eigsh(operator, m, which="LA", tol=tol, v0=start, ncv=kept)
    return values[::-1], fix_signs(V[:, ::-1])
