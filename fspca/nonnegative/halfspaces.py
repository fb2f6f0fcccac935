"""Quadratics over half-spaces: a largest quadratic form on a cone, in few dimensions."""

import numpy as np

from fspca.covariance.validate import checked_real

FEASIBLE = 1e-10  # of R c, relative to the rows' lengths: far above rounding
MOST_NUMBERS = 4_000_000  # held at a time by one level of the recursion


def halfspaces(Q, R):
    r"""Find the unit vector c with R c >= 0 that maximises c'Qc, exactly.

    The problem (P_d) is max c'Qc over unit c with R c >= 0, for a d x d symmetric Q and a k x d
    matrix R.  If the leading eigenvector u or -u is feasible, it is the answer.  If not, some
    constraint is active at the optimum, so each in turn is set to zero and the same problem is
    solved in the d - 1 dimensions that are left.

    Parameters
    ----------
    Q : array, d x d
        Symmetric.
    R : array, k x d
        One constraint a row; rows of zeros, repeated rows and no rows at all are allowed.

    Returns
    -------
    c : array of d entries, or None
        None where no unit vector is feasible.
    value : float
        c'Qc, or -inf.

    Notes
    -----
    Exact, with R c >= 0 met up to 1e-10 of each row's length.  An optimum inside the cone is a
    local maximum on the sphere, hence a leading eigenvector.  Where the leading eigenvalue is
    repeated and the u computed is not feasible, the other leading vectors are all feasible
    together with u, which is excluded, or one of them lies on a constraint: the recursion
    needs no rule of its own for them.
    Cost: O(k^d) eigenproblems and checks; constant for a constant d.
    asteris2014, Section 5.
    Explained in the chapter "Half-spaces: maximise a quadratic form over them".

    Examples
    --------
    >>> halfspaces(np.diag([2.0, 1.0]), np.array([[1.0, 0.0], [-1.0, 1.0]]))
    (array([0.70710678, 0.70710678]), 1.5)
    """
    Q, R = np.atleast_2d(np.asarray(Q, float)), np.atleast_2d(np.asarray(R, float))
    Q = checked_real("Q", Q)
    if Q.shape[0] != Q.shape[1] or np.abs(Q - Q.T).max() > 1e-8 * np.abs(Q).max():
        raise ValueError(f"Q has shape {Q.shape}; it must be square and symmetric")
    R = checked_real("R", R) if len(R) else R  # no row at all is allowed
    if R.ndim != 2 or R.shape[1] != len(Q):
        raise ValueError(f"R has shape {R.shape}; it must have d={len(Q)} columns")
    c, value = halfspaces_batch(Q[None], np.unique(unit_rows(R), axis=0)[None])
    return (c[0], float(value[0])) if np.isfinite(value[0]) else (None, -np.inf)


def unit_rows(R):
    """Scale rows to length 1; rows of zeros, which constrain nothing, stay."""
    peak = np.abs(R).max(axis=-1, keepdims=True, initial=0.0)
    R = R / np.where(peak > 0, peak, 1.0)
    return R / np.maximum(np.linalg.norm(R, axis=-1, keepdims=True), 0.5)


def halfspaces_batch(Q, R):
    """Solve b such problems at once: Q is b x d x d, R is b x k x d with rows of length 1 or 0.

    Returns c (b x d) and values (b), with value -inf where no unit vector is feasible.
    """
    b, d = Q.shape[:2]
    values, vectors = np.linalg.eigh(Q)
    best, value = np.zeros((b, d)), np.full(b, -np.inf)
    for sign in (1.0, -1.0):
        c = sign * vectors[:, :, -1]
        found = (np.einsum("bkd,bd->bk", R, c) >= -FEASIBLE).all(axis=1)
        best[found], value[found] = c[found], values[found, -1]
    if d == 1:
        return best, value
    length = np.linalg.norm(R, axis=2)  # of what is left of a row it may be short
    items, rows = np.nonzero((value < values[:, -1])[:, None] & (length > FEASIBLE))
    parts = -(-len(items) * R.shape[1] * d // MOST_NUMBERS)
    for part in np.array_split(np.arange(len(items)), max(parts, 1)):
        item, row = items[part], rows[part]
        N = complement(R[item, row] / length[item, row][:, None])
        c, reached = halfspaces_batch(N.transpose(0, 2, 1) @ Q[item] @ N, R[item] @ N)
        order = np.argsort(-reached, kind="stable")
        item, first = np.unique(item[order], return_index=True)  # the best constraint of each
        first = order[first]
        won = reached[first] > value[item]
        item, first = item[won], first[won]
        value[item] = reached[first]
        best[item] = np.einsum("bdj,bj->bd", N[first], c[first])
    return best, value


def complement(r):
    """Return orthonormal bases (b x d x d-1) of the complements of unit vectors r (b x d)."""
    w = r.copy()
    w[:, 0] += np.where(r[:, 0] >= 0, 1.0, -1.0)  # the reflection that takes r to the first axis
    scale = 2 / np.einsum("bd,bd->b", w, w)
    return np.eye(r.shape[1])[None, :, 1:] - scale[:, None, None] * w[:, :, None] * w[:, None, 1:]
