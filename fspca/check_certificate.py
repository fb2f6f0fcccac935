"""Check certificates with numpy alone, by the rules of book/appendix/certificate_format.md.

python check_certificate.py [--exact] FILE_OR_FOLDER ...

Nothing of ours is imported, and nothing in a file is believed: what it claims is computed again,
in floating point with margins that are proved on that page, or exactly, in integers.
"""

import hashlib
import sys
import zipfile
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import comb, frexp, isqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

VERSION = 1
UNIT = 2.0**-53
TINY = 2.0**-500  # more than all that underflow may hide, where the matrix is near 1
DEPENDENT = 1e-8  # of the longest: directions of W that are shorter are not computed
ORTHOGONAL = 1e-8  # of unit columns: their products, at most
LISTED = 1_000_000  # supports that are looked at one by one, in all
EXACT_SIZE, EXACT_BITS = 150, 1200  # features, binary places; above, it would hardly end
BLOCK = 2**22  # numbers of wide data in hand at once
SMALL_BLOCK = 2**18  # of correlations, so few that they stay near the processor
LARGEST, TREE = 2**31, 2**27  # bytes that a file may unfold to, states of all its nodes
CUTS = 100  # directions above a node
FINE = 2**60  # of one: what is exact but for its roots is rounded to so small a part
LED = -2  # the branch of a node that is divided by leaders


class Verdict(NamedTuple):
    """Whether a claim holds; why not; what the answer explains at least, anything at most.

    It unpacks into the four.

    Parameters
    ----------
    holds : bool
        Whether every step of the proof was found true.
    reason : str
        "holds", or what is wrong.
    value : float
        What the answer explains at least, rounding included.
    bound : float
        What anything explains at most.

    See Also
    --------
    check : Returns one.

    Examples
    --------
    >>> Verdict(False, "there is no such file").holds
    False
    """

    holds: bool
    reason: str
    value: float = np.nan
    bound: float = np.nan


class Refused(Exception):
    """A sentence that says why a claim is refused."""


def need(condition, reason):
    if not condition:
        raise Refused(reason)


def gamma(n):
    """The relative error of n roundings, at most."""
    need(n < 2**40, "too many roundings")
    return n * UNIT / (1 - n * UNIT)


class Floating:
    """Doubles, scaled by a power of two so that the matrix is near 1; results are raised.

    Underflow is an error of its own, which no relative margin holds: every margin has TINY.
    """

    def __init__(self, array, of_data, others):
        exponent = frexp(max(array.max(initial=0), -array.min(initial=0)))[1]
        self.shift = -exponent if of_data else -(exponent // 2)

    def read(self, x, degree):
        return np.ldexp(x, degree * self.shift)

    def rounded(self, x, degree):
        """Return what was guessed, in doubles that were scaled before."""
        return x

    def directions(self, W):
        """Return columns of the same span, each near 1, whatever the scale of the matrix."""
        return np.ldexp(W, -np.frexp(np.abs(W).max(axis=0))[1])

    def in_one_unit(self, Y):
        """Return all columns times one power of two, near 1."""
        return np.ldexp(Y, -frexp(np.abs(Y).max())[1])

    def back(self, x):
        return float(np.ldexp(x, -2 * self.shift))

    def raised(self, x, size, roundings):
        return x + gamma(roundings) * size + TINY

    def divided(self, x, times):
        return self.quotient(x, abs(x), 4, times)

    def hides(self, value):
        """Say whether underflow may hide as much as this."""
        return abs(value) <= TINY * 2.0**50

    root = staticmethod(np.sqrt)

    def doubles(self, M):
        return M

    def quotient(self, x, size, roundings, by):
        low = x - gamma(roundings) * size - TINY
        return (low - gamma(roundings) * abs(low)) / by

    def square(self, X):
        return X.T @ X, gamma(len(X) + 2) * np.sum(X**2) + TINY

    def products(self, X, Y):
        longest = np.sqrt(np.sum(X**2, axis=0) * np.sum(Y**2, axis=0).max())
        return X.T @ Y, 1.001 * gamma(len(X) + 2) * longest + TINY

    def target(self, value, gap):
        return value + gap * max(value, 0) - 4 * UNIT * (1 + gap) * abs(value)

    def unit_columns(self, X):
        """Return the columns of X with length 1, those that are zero as they are."""
        X = self.directions(X)
        lengths = np.sqrt(np.sum(X**2, axis=0))
        return X / np.where(lengths > 0, lengths, 1)

    def tangent(self, most, value):
        """Return sqrt(most / value - 1), raised."""
        return np.sqrt(max(most - value, 0) / value) * (1 + gamma(8)) + TINY

    def led(self, Z, part, a, tangent):
        """Return b_il = a_l r min(1, r + sqrt(1 - r^2) tangent) for each i of a part, raised."""
        r = np.abs(Z[:, part].T @ Z)
        r += gamma(5 * len(Z) + 16) + TINY  # b grows with r, so that r is raised alone
        np.minimum(r, 1, out=r)
        b = 1 - r
        b *= 1 + r
        np.sqrt(b, out=b)
        b *= tangent
        b += r
        np.minimum(b, 1, out=b)
        b *= r
        b *= a * (1 + gamma(16))
        b += TINY
        return b

    def top_sums(self, blocks, m, error):
        """Return numbers not above and not below the sums of the m largest eigenvalues."""
        # the blocks are V diag(w) V' up to a residual; Ostrowski's theorem does the rest
        w, V = np.linalg.eigh(blocks)
        V_t, count = np.swapaxes(V, -1, -2), V.shape[-1]
        norm = partial(np.linalg.norm, axis=(-2, -1))
        size, spread = np.abs(w).max(axis=-1), norm(V) ** 2
        residual = norm(blocks - (V * w[..., None, :]) @ V_t)
        defect = norm(V_t @ V - np.eye(count)) + gamma(count + 8) * spread
        margin = residual + size * (defect + gamma(count + 8) * (spread + 1)) + error + TINY
        top = w[..., -m:].sum(axis=-1)
        return top - 1.001 * m * margin, top + 1.001 * m * margin

    def spanned(self, B, W, error):
        """Return a number not above the variance on V = WT with V'V near I, and V's columns."""
        _, lengths, right = np.linalg.svd(W, full_matrices=False)
        kept = lengths > DEPENDENT * lengths[0]  # fewer where some columns nearly depend on others
        T = right[kept].T / lengths[kept]
        V, (n, m), norm = W @ T, W.shape, np.linalg.norm
        e = 1.001 * gamma(m + 4) * norm(W) * norm(T) + TINY  # of V
        shift = 2 * norm(V) * e + e**2 + gamma(n + 8) * norm(V) ** 2
        defect = norm(V.T @ V - np.eye(V.shape[1])) + 1.001 * shift
        margin = 1.001 * (2 * shift + gamma(2 * n + 8) * norm(V) ** 2) * norm(B)
        need(defect < 0.1, "W has no basis that could be computed")
        image = V.T @ B @ V
        margin += 1.2 * defect * np.sqrt(m) * norm(image)  # of tr (V'V)^-1 M and tr M
        margin += error * norm(V) ** 2 + TINY
        return np.trace(image) - 1.001 * margin - 4 * m * UNIT * norm(image), V.shape[1]

    def below_zero(self, A, t):
        """Return a number that no eigenvalue of A lies below by more, if A + tI shows one."""
        n, size = len(A), np.linalg.norm(A)
        S, t = (A, 0.0) if factored(A) else (A + t * np.eye(n), t)
        need(S is A or factored(S), NOT_SEMIDEFINITE)  # A itself was factored just now
        return t + 1.001 * (gamma(8) * (size + t) + gamma(n + 4) * np.trace(S) + TINY)

    def levelled(self, A, error, R, c, m):
        """Return (I - RR') A (I - RR') + R diag(c) R', its error's norm, and m + sum r'Ar / c."""
        image, size = A @ R, np.abs(R).T @ np.abs(A) @ np.abs(R)
        inner, n, r = R.T @ image, sum(R.shape), np.sum(R**2)
        M = A - image @ R.T - R @ image.T + R @ (inner + np.diag(c)) @ R.T
        most = (1 + 1.001 * r) ** 2 * np.linalg.norm(A) + r * c.max(initial=0)
        more = np.diagonal(inner) + error * np.sum(np.abs(R), axis=0) ** 2
        gains = self.raised(more, np.diagonal(size) + more, 2 * n + 8) / c
        times = self.raised(m + gains.sum(), m + gains.sum(), n + 8)
        error = (1 + 1.001 * r) ** 2 * error
        return (M + M.T) / 2, self.raised(error, 1.001 * most + error, 3 * n + 16), times

    def ky_fan(self, A, G, Y, m, error, *, s=None, H=None):
        """Return a number not below F_m(A - GG' - sym Y): m s + |H|^2 if sI + HH' is above it."""
        n, M = len(A), G @ G.T
        M = np.subtract(A, M, out=M)
        if Y is not None:
            M -= (Y + Y.T) / 2
        size, own, slack = np.linalg.norm(A), s is None, 0.0
        if own:
            slack = 4 * n * UNIT * max(np.linalg.norm(M), UNIT * size, UNIT**4)
            w, V = np.linalg.eigh(M)
            s, H = w[-m], V[:, -m:] * np.sqrt(w[-m:] - w[-m])
        for _ in range(12 if own else 1):
            s, slack = s + slack * own, 4 * slack
            S = H @ H.T
            S -= M
            S.flat[:: n + 1] += s
            if factored(S):
                break
        else:
            raise Refused("sI + HH' - (A - GG' - Y) has no Cholesky factor")
        g, h = np.sum(G**2), np.sum(H**2)
        size += abs(s) + (0 if Y is None else np.linalg.norm(Y))
        error += gamma(8) * size + gamma(G.shape[1] + 8) * g + gamma(H.shape[1] + 8) * h
        error += gamma(n + 3) / (1 - gamma(n + 3)) * np.trace(S) + TINY
        return self.raised(m * (s + 1.001 * error) + h, m * (abs(s) + error) + h, H.size + 8)

    def ky_fan_of_data(self, blocks, G, m, s, H):
        """Return (F, t), F_m(X'X - t GG') <= F, by a Cholesky factor of the size of samples."""
        # X' = R + UT gives X'X <= (sI + UU') |R'R / s + T'T|, for U = [H, G] and every T
        need(s > 0, "wide data need s > 0")
        U, h = np.hstack([H, G]), np.sum(H**2)
        image = sum(U[rows].T @ X.T for rows, X in blocks())
        T = np.linalg.solve(s * np.eye(U.shape[1]) + U.T @ U, image)
        n = T.shape[1]
        S, r, x = s * np.eye(n) - s * (T.T @ T), 0.0, 0.0
        for rows, X in blocks():
            R = X.T - U[rows] @ T
            S, r, x = S - R.T @ R, r + np.sum(R**2), x + np.sum(X**2)
        need(factored(S), "sI + HH' + GG' is not above X'X")
        t, size = np.sum(T**2), np.sqrt(x) + np.sqrt(np.sum(U**2) * np.sum(T**2))
        e = 1.001 * gamma(U.shape[1] + 4) * size + TINY  # what R may miss
        error = 2 * np.sqrt(r) * e + e**2 + gamma(len(U) + 8) * r + gamma(len(T) + 8) * s * t
        error += gamma(n + 3) / (1 - gamma(n + 3)) * np.trace(S) + gamma(8) * s + TINY
        times = 1 + 1.001 * error / s + 4 * UNIT
        return self.raised(times * (m * s + h), times * (m * s + h), H.size + 8), times

    def ky_fan_of_few(self, X, G, N, Y, *, few, m, s, H):
        """Return a number not below F_m(X'X + M - GG'), M = N - sym Y on few features."""
        # It is m s + |H|^2 as above.  With B = [G, H, X'], with QC near the rows of B for all other
        # features, and with y = Q'x there, x'(sI + HH' + GG' - X'X - M)x is that of (x on the few,
        # y) for a matrix of a few more rows.
        need(s > 0, "wide data need s > 0")
        B = np.hstack([G, H, X.T])
        signs, norm = np.repeat([1.0, -1.0], [G.shape[1] + H.shape[1], len(X)]), np.linalg.norm
        others = np.delete(B, few, axis=0)
        Q, C = np.linalg.qr(others)
        p = B.shape[1]
        miss = norm(others - Q @ C) + gamma(p + 4) * (norm(others) + norm(Q) * norm(C)) + TINY
        defect = norm(Q.T @ Q - np.eye(Q.shape[1])) + gamma(len(Q) + 8) * norm(Q) ** 2
        defect = 1.001 * defect + 8 * UNIT
        need(defect < 0.1, "the rest of the data has no basis that could be computed")
        T, n = np.vstack([B[few], C]), len(few) + len(C)
        S = (T * signs) @ T.T
        S[: len(few), : len(few)] -= N - (Y + Y.T) / 2
        S[np.arange(n), np.arange(n)] += np.where(np.arange(n) < len(few), s, s / (1 + defect))
        need(factored(S), "sI + HH' + GG' is not above X'X + M")
        size = norm(N) + norm(Y) + s * np.sqrt(n) + norm(S)
        error = gamma(p + 8) * norm(T) ** 2 + gamma(8) * size
        error += gamma(n + 3) / (1 - gamma(n + 3)) * np.trace(S)
        error = 1.2 * error + 2 * miss * norm(B) + miss**2 + TINY
        h = np.sum(H**2)
        return self.raised(m * (s + 1.001 * error) + h, m * (abs(s) + error) + h, H.size + 8)


def factored(S):
    """Say whether a Cholesky factorisation runs to its end; it reads the lower triangle.

    What S stands for is symmetric, and an entry's margin is that of its mirror.
    """
    if not np.all(np.isfinite(S)):
        return False
    try:
        L = np.linalg.cholesky(S)
    except np.linalg.LinAlgError:
        return False
    return bool(np.all(np.isfinite(L)) and np.all(np.diagonal(L) > 0))


class Exact:
    """Integers, in units of a power of two so small that every number of the file is one."""

    def __init__(self, array, of_data, others):
        need(array.shape[1] <= EXACT_SIZE, f"exactly only up to {EXACT_SIZE} features")
        entries = (float(v) for x in (array, *others) for v in np.asarray(x).flat)
        places = max(v.as_integer_ratio()[1].bit_length() for v in entries)
        self.shift = Floating(array, of_data, others).shift
        self.bits = max(places, 60 + self.shift)
        need(self.bits <= EXACT_BITS, "numbers too small for exact arithmetic")
        self.ints = np.frompyfunc(lambda v, bits: int(Fraction(float(v)) * 2**bits), 2, 1)
        self.held = np.frompyfunc(in_unit, 2, 1)

    def read(self, x, degree):
        """Return numbers of a file in the unit; one that it does not hold is refused."""
        return np.asarray(self.held(x, degree * self.bits), dtype=object)

    def rounded(self, x, degree):
        """Return what was guessed from `doubles`, near it in the unit."""
        return np.asarray(self.ints(x, degree * (self.bits - self.shift)), dtype=object)

    def directions(self, W):
        """Return columns of the same span, each in a unit of its own."""
        places = [max(v.as_integer_ratio()[1].bit_length() for v in w.tolist()) for w in W.T]
        need(max(places) <= EXACT_BITS, "W has numbers too small for exact arithmetic")
        return np.asarray(self.held(W, np.array(places, dtype=object)), dtype=object)

    def in_one_unit(self, Y):
        """Return all columns in one unit of their own."""
        places = max(v.as_integer_ratio()[1].bit_length() for v in Y.flat)
        need(places <= EXACT_BITS, "a field has numbers too small for exact arithmetic")
        return np.asarray(self.held(Y, places), dtype=object)

    def back(self, x):
        return float(Fraction(int(x), 4**self.bits))

    def raised(self, x, size, roundings):
        return x

    def hides(self, value):
        return False

    def root(self, x):
        return np.frompyfunc(lambda v: isqrt(v - 1) + 1 if v else 0, 1, 1)(x)

    def quotient(self, x, size, roundings, by):
        return int(Fraction(int(x), int(by)) // 1)

    def divided(self, x, times):
        return int(Fraction(int(x)) / times // 1)

    def square(self, X):
        return X.T @ X, 0

    def products(self, X, Y):
        return X.T @ Y, 0

    def target(self, value, gap):
        return value + int(Fraction(float(gap)) * max(value, 0))

    def unit_columns(self, X):
        return X

    def tangent(self, most, value):
        """The same in units of 1 / FINE."""
        return self.root(-(-max(most - value, 0) * FINE**2 // value))

    def led(self, X, part, a, tangent):
        """The same, of columns of any length; what is of no unit is an integer over FINE."""
        products = X[:, part].T @ X
        squares = products**2 * FINE**2 // np.maximum(np.outer(a[part], a), 1)
        r = np.minimum(self.root(squares + 1), FINE)
        sine = self.root(FINE**2 - squares)
        share = np.minimum(r - (-sine * tangent // FINE), FINE)
        return -(-a * r * share // FINE**2)

    def doubles(self, M):
        """Return a matrix scaled by a power of two to entries near 1, to guess from."""
        one = 4 ** (self.bits - self.shift)
        return np.array([[float(Fraction(int(v), one)) for v in row] for row in M])

    def top_sums(self, blocks, m, error):
        """From below by trace((V'V)^-1 V'BV), from above as `ky_fan`."""
        blocks = blocks if blocks.ndim == 3 else blocks[None]
        low = [self.below(B, m) - m * error for B in blocks]
        none = np.zeros((blocks.shape[-1], 0), dtype=object)
        high = [self.ky_fan(B, none, None, m, error) for B in blocks]
        return np.array(low, dtype=object), np.array(high, dtype=object)

    def below(self, B, m):
        guess = self.ints(np.linalg.eigh(self.doubles(B))[1][:, -m:], 60)
        value, rank = self.spanned(B, guess, 0)
        need(rank == m, "the eigenvectors that were guessed are dependent")
        return value

    def spanned(self, B, V, error):
        """Return tr (V'V)^-1 V'BV, rounded down, and the rank; dependent columns are left out."""
        while True:
            gram, image, m = V.T @ V, V.T @ B @ V, V.shape[1]
            for i in range(m):  # Gauss and Jordan, in fractions
                if not gram[i, i]:  # column i depends on those before
                    V = np.delete(V, i, axis=1)
                    break
                pivot = Fraction(gram[i, i])
                gram[i], image[i] = gram[i] / pivot, image[i] / pivot
                for j in set(range(m)) - {i}:
                    image[j] = image[j] - gram[j, i] * image[i]
                    gram[j] = gram[j] - gram[j, i] * gram[i]
            else:
                return int(np.trace(image) // 1), m

    def levelled(self, A, error, R, c, m):
        """The same, rounded up to the unit, which costs d of it."""
        places = max(v.as_integer_ratio()[1].bit_length() for v in R.flat)
        need(places <= EXACT_BITS, "R has numbers too small for exact arithmetic")
        R, one = np.asarray(self.held(R, places), dtype=object), 4**places
        image = A @ R
        inner = R.T @ image + np.diag(c) * one
        M = A * one**2 - (image @ R.T + R @ image.T) * one + R @ inner @ R.T
        r, of_R = np.sum(R**2), np.sum(R**2, axis=0)
        gains = [
            Fraction(int(inner[j, j] + error * of_R[j]), int(c[j]) * one) - 1 for j in range(len(c))
        ]
        error = -(-error * (one + r) ** 2 // one**2) + len(M)
        return -(-M // one**2), error, m + sum(gains, Fraction(0))

    def below_zero(self, A, t):
        if semidefinite(A):
            return 0
        t = int(t) + 1
        need(semidefinite(A + np.diag([t] * len(A))), NOT_SEMIDEFINITE)
        return t

    def ky_fan(self, A, G, Y, m, error, *, s=None, H=None):
        M = A - G @ G.T - (0 if Y is None else (Y + Y.T) // 2)
        w, V = np.linalg.eigh(self.doubles(M))
        slack = 2 * len(M) * UNIT * np.abs(w).max()
        own = s is None
        if own:
            s, H = w[-m], self.rounded(V[:, -m:] * np.sqrt(w[-m:] - w[-m]), 1)
        for power in range(8 if own else 1):
            level = self.rounded(s + slack * 4**power, 2)[()] + 1 if own else s
            if semidefinite(np.diag([level] * len(M)) + H @ H.T - M):
                return m * (level + error) + np.sum(H**2)
        raise Refused("sI + HH' - (A - GG' - Y) is not positive semidefinite")


TOO_LITTLE = (
    "the answer explains too little beside the largest entry of the features allowed: "
    "underflow may hide as much (try --exact)"
)
NOT_SEMIDEFINITE = "A is not positive semidefinite, as dependent columns and factors need"


def in_unit(v, bits):
    """Return a number of a file times 2^bits: an integer, or the unit does not hold it."""
    held = Fraction(float(v)) * 2**bits
    need(held.denominator == 1, "a number of the file is smaller than the unit")
    return held.numerator


def semidefinite(S):
    """Say whether a matrix of integers is, by its pivots (Bareiss: no fractions)."""
    last = 1
    while len(S):
        pivot = S[0, 0]
        if pivot < 0 or (pivot == 0 and np.any(S[0] != 0)):
            return False
        if pivot == 0:
            S = S[1:, 1:]
            continue
        S, last = (S[1:, 1:] * pivot - np.outer(S[1:, 0], S[0, 1:])) // last, pivot
    return True


def row_terms(Y, k, required, root):
    """Return sqrt(Y_ii^2 + the required and the k - 1 largest squares beside it), for each row."""
    squares = Y * Y
    total = np.diagonal(squares).copy()
    np.fill_diagonal(squares, 0)
    total = total + squares[:, required].sum(axis=1)
    falling, left = -np.sort(-squares[:, ~required], axis=1), k - required.sum()
    with_one, without = falling[:, : max(left - 1, 0)], falling[:, :left]
    return root(total + np.where(required, without.sum(axis=1), with_one.sum(axis=1)))


def row_costs(c, roundings, Y, k, required, numbers, row_count=None):
    """Return c_i + (Y_ii + the root of its row's terms) / 2, raised; c has so many roundings.

    Where columns share no feature, a row of WW' has `row_count` entries at most.
    """
    if Y is None:
        return numbers.raised(c, c, roundings)
    root, own = row_terms(Y, k, required, numbers.root), np.diagonal(Y)
    if row_count is not None:
        of_one = row_terms(Y, row_count, np.zeros(len(Y), dtype=bool), numbers.root)
        root = np.minimum(root, of_one)
    size, twice = c + np.abs(own) + root, 2 * c + own + root
    c = twice / 2 if isinstance(numbers, Floating) else -(-twice // 2)
    return numbers.raised(c, size, len(Y) + roundings)


def shared_bound(node, numbers, m, k):
    """Return (rest, c): a support I explains at most rest + sum of c over I (Theorem 1)."""
    G, Y, Z = node.G, node.Y, node.Z
    if node.whole is not None:
        need(node.whole in (1, 3), "whole must be 1 or 3")
        beside = node.whole == 3
        return beside_required(node, numbers, m, k) if beside else (0, whole_costs(node, numbers))
    if node.few is not None:
        return bound_with_few(node, numbers, m, k)
    squares, roundings = np.sum(G * G, axis=1), G.shape[1] + 10
    c = row_costs(squares, roundings, Y, k, node.required, numbers, node.row_count)
    wide = node.matrix.of_data and node.s is not None
    need(not wide or Y is None, "wide data take Y on few features only")
    if wide and isinstance(numbers, Floating):
        columns = partial(node.matrix.columns, node.rows)
        rest, times = numbers.ky_fan_of_data(columns, G, m, node.s, node.H)
        return rest, c * times * (1 + 4 * UNIT)
    A, error = node.matrix.block(node.rows)
    both = Y if Z is None else Z if Y is None else Y + Z
    return numbers.ky_fan(A, G, both, m, error, s=node.s, H=node.H), c


def whole_costs(node, numbers):
    """Return the variances, raised by what makes the matrix semidefinite: these are C = A."""
    if node.matrix.of_data:
        squares = np.concatenate([np.sum(X * X, axis=0) for _, X in node.matrix.columns(node.rows)])
        return numbers.raised(squares, squares, len(node.matrix.array) + 2)
    A, error = node.matrix.block(node.rows)
    own, t = np.diagonal(A), lowest(A, numbers, np.inf) + 2 * error
    return np.maximum(numbers.raised(own + t, np.abs(own) + t, 4), 0)


def beside_required(node, numbers, m, k):
    """Return (F_m of what is required, costs): what any other feature adds to it at most.

    That is the theorem on required features, for A made semidefinite; P stands for those required.
    """
    need(not node.matrix.of_data, "whole is 3 of a matrix only")
    P, free = np.flatnonzero(node.required), np.flatnonzero(~node.required)
    A, error = node.matrix.block(node.rows)
    error = lowest(A, numbers, np.inf) + 2 * error
    root, p = 1, len(P)
    while root**2 < k - p:
        root = 2 * root
    low, high = 0, 0
    if p:
        (low,), (high,) = numbers.top_sums(A[np.ix_(P, P)][None], min(m, p), error)
    blocks = np.zeros((len(free), p + 1, p + 1), dtype=A.dtype)
    blocks[:, :p, :p] = A[np.ix_(P, P)]
    blocks[:, :p, p] = blocks[:, p, :p] = root * A[np.ix_(free, P)]
    blocks[:, p, p] = root**2 * np.diagonal(A)[free]
    c = 0 * np.diagonal(A)
    if len(free):
        more = numbers.top_sums(blocks, min(m, p + 1), root**2 * error)[1] - low
        more = more / root**2 if isinstance(numbers, Floating) else -(-more // root**2)
        c[free] = np.maximum(numbers.raised(more, np.abs(more), 4), 0)
    return high, c


def separate_bound(node, numbers, m, k):
    """The same; of orthonormal components also by prices and rows of their own, or by row sums."""
    own = [x is not None for x in (node.Z, node.p)]
    need(node.counts is not None or not (any(own) or node.whole == 2),
         "Z, p and row sums bound orthonormal components only")  # fmt: skip
    if node.whole == 2:
        sums = row_sums(node, numbers, max(node.counts))
        return numbers.raised(-np.sort(-sums)[:m].sum(), m * np.abs(sums).max(), m), 0 * sums
    if not any(own):
        return shared_bound(node, numbers, m, k)
    need(node.whole is None, "Z and p are not taken with the whole of the data")
    need(not node.matrix.of_data or node.s is None, "wide data take no Z and p")
    rest, c = shared_bound(node, numbers, m, k)
    p, none = node.p if own[1] else 0 * c, np.zeros(len(c), dtype=bool)
    for count in node.counts:
        each = -np.sort(-row_costs(p, 10, node.Z, count, none, numbers))[:count].sum()
        rest = numbers.raised(rest + each, abs(rest) + each, len(c) + 2)
    return rest, np.maximum(numbers.raised(c - p, c + p, 2), 0)


def row_sums(node, numbers, k):
    """Return a_ii + the sum of the k - 1 largest |a_ij| beside it, for each row, raised."""
    k = min(k, len(node.rows))  # a count may be any integer, and margins grow with it
    n, found, step = len(node.rows), [], max(1, BLOCK // len(node.rows))
    for start in range(0, n, step):
        part = np.arange(start, min(start + step, n))
        B, error = node.matrix.beside(node.rows[part], node.rows)
        own = B[part - start, part]
        B = np.abs(B)
        B[part - start, part] = 0
        top = largest_of_rows(B, k - 1).sum(axis=1)
        found.append(numbers.raised(own + top + k * error, abs(own) + top + k * error, k + 4))
    return np.concatenate(found)


def largest_of_rows(B, count):
    """Return the `count` largest entries of each row, falling."""
    if not count:
        return B[:, :0]
    B = B if B.dtype == object else np.partition(B, B.shape[1] - count)[:, -count:]
    return np.sort(B)[:, ::-1][:, :count]


def leaders(matrix, rows, k, target, numbers, among=None):
    """Yield (i, its bound, that with each l) for each row i that may lead a support.

    A support that explains more than the target has an i whose bound is above it, and holds only
    l whose bound with i is (the theorem on leaders).  i and l are places among the rows; `among`
    are those i that are asked for.
    """
    need(target > 0, "who explains nothing has no leaders")
    X = numbers.read(matrix.array[:, rows], 1)
    a = np.sum(X * X, axis=0)
    a = numbers.raised(a, a, len(X) + 2)
    d, k = len(rows), min(k, len(rows))
    most = largest_of_rows(a[None], k).sum()
    tangent = numbers.tangent(numbers.raised(most, most, k + 4), target)
    Z = numbers.unit_columns(X)
    among = np.arange(d) if among is None else among
    step = max(1, SMALL_BLOCK // d)
    for start in range(0, len(among), step):
        part = among[start : start + step]
        B = numbers.led(Z, part, a, tangent)
        B[np.arange(len(part)), part] = 0
        top = largest_of_rows(B, k - 1)
        whole = a[part] + top.sum(axis=1)
        whole = numbers.raised(whole, whole, k + 4)
        for j in np.flatnonzero(whole > target):
            others = a[part[j]] + top[j, : max(k - 2, 0)].sum() + B[j]
            yield part[j], whole[j], numbers.raised(others, others, k + 4)


def nonnegative_bound(node, numbers, m, k):
    """The same of A + B'NB, N >= 0: as BPB' >= 0, <A, P> is at most <A + B'NB, P>.

    B is the identity above the node's cuts, whose products with w are at least 0.
    """
    if node.N is not None and node.few is None:
        need(np.array_equal(node.N, node.N.T), "N must be symmetric")
        need(node.whole is None, "N is not taken with the whole of the data")
        need(not node.matrix.of_data or node.s is None, "wide data take no N")
        node.matrix = Raised(node.matrix, node.N, node.cuts, numbers)
    return shared_bound(node, numbers, m, k)


def bound_with_few(node, numbers, m, k):
    """The same of wide data, with Y and, where no entry of W is negative, N for few features."""
    need(isinstance(numbers, Floating) and node.matrix.of_data and node.s is not None,
         "few features are named of wide data only")  # fmt: skip
    need(len(np.unique(node.few)) == len(node.few) and np.all(np.isin(node.few, node.rows)),
         "few must list features of the node, each once")  # fmt: skip
    need(not len(node.cuts), "few features are named where nothing is cut only")
    few = np.searchsorted(node.rows, node.few)
    zero = np.zeros((len(few), len(few)))
    Y, N = (zero if x is None else x for x in (node.Y, node.N))
    need(np.array_equal(N, N.T), "N must be symmetric")
    c = numbers.raised(*[np.sum(node.G**2, axis=1)] * 2, node.G.shape[1] + 10)
    beside = np.sum(node.required) - np.sum(node.required[few])  # where Y is zero
    required = node.required[few]
    c[few] = row_costs(c[few], 10, Y, k - beside, required, numbers, node.row_count)
    X = node.matrix.numbers.read(node.matrix.array[:, node.rows], 1)
    return numbers.ky_fan_of_few(X, node.G, N, Y, few=few, m=m, s=node.s, H=node.H), c


def shared_value(claim, matrix, numbers, m, k, state):
    """Return what the answer explains at least: F_m(A[I, I]) for its `support` I."""
    I = features(claim, "support", len(state))
    need(m <= len(I) <= k, "the support must have m to k features")
    need(np.all(state[I] > 0), "the support holds a forbidden feature")
    need((state[I] == 2).sum() == (state == 2).sum(), "the support lacks a required feature")
    block, error = matrix.block(np.sort(I))
    return numbers.top_sums(block[None], m, error)[0][0]


def columns_of(claim, m, state):
    """Return `W` and `counts`, of column j at most counts[j] nonzeros."""
    W, counts = real(claim, "W", len(state), m), integers(claim, "counts")
    need(np.all(state == 1), "supports of components take nothing required or forbidden")
    need(len(counts) == m, "counts must be m integers")
    need(min(counts) >= 1, "counts must be at least 1")
    nonzeros = np.count_nonzero(W, axis=0).tolist()
    need(all(map(int.__le__, nonzeros, counts)), "a column of W has more than its count")
    return W, counts


def separate_value(claim, matrix, numbers, m, k, state):
    """Return what `W` explains on a basis, each column with at most its count of nonzeros."""
    W, counts = columns_of(claim, m, state)
    need(min(sum(counts), len(state)) <= k, "k must hold all counts")
    I = np.flatnonzero(W.any(axis=1))
    need(len(I) > 0, "W is zero")
    if "orthonormal" in claim:
        need(one_number(claim, "orthonormal") == 1, "orthonormal is 1 or absent")
        U = np.ldexp(W, -np.frexp(np.abs(W).max(axis=0))[1])
        U = U / np.linalg.norm(U, axis=0)
        products = np.abs(U.T @ U - np.eye(m)) + gamma(2 * len(state) + 16)
        need(np.all(products <= ORTHOGONAL), "W has no orthogonal columns")
    block, error = matrix.block(I)
    value, rank = numbers.spanned(block, numbers.directions(W[I]), error)
    if rank < m and not matrix.of_data:
        # a column that is replaced by one of another direction explains at least so much less
        less = (m - rank) * lowest(matrix.block(np.arange(len(state)))[0], numbers)
        value = numbers.quotient(value - less, abs(value) + less, 4, 1)
    return value


def factors_value(claim, matrix, numbers, m, k, state):
    """Return what m contractions Z y_j, y_j the columns of `factors`, explain of Zw_j."""
    W, counts = columns_of(claim, m, state)
    need(min(sum(counts), len(state)) <= k, "k must hold all counts")
    need(np.all(W.any(axis=0)), "a column of W is zero")
    Y = real(claim, "factors", len(state), m)
    need(Y.any(), "the factors are zero")
    rows = np.flatnonzero(W.any(axis=1) | Y.any(axis=1))
    (A, error), W, Y = matrix.block(rows), numbers.directions(W[rows]), numbers.in_one_unit(Y[rows])
    n, size, of_Y = 2 * len(rows) + 8, np.abs(A) @ np.abs(Y), np.abs(Y).sum(axis=0)
    image = A @ Y
    inner = np.abs(Y.T @ image) + error * np.outer(of_Y, of_Y)
    most = numbers.raised(inner, np.abs(Y).T @ size + inner, n).sum(axis=1).max()
    most, total = numbers.raised(most, most, m + 4), 0
    if most == 0:  # then AY is zero
        return most
    for j, w in enumerate(W.T):
        own, missed = abs(w @ image[:, j]), error * np.abs(w).sum() * of_Y[j]
        size_of_own = np.abs(w) @ size[:, j] + missed
        own = max(numbers.quotient(own - missed, size_of_own, n, 1), 0)
        by = numbers.raised(w @ w, w @ w, n) * most
        total = total + numbers.quotient(own * own, own * own, 8, by)
    return numbers.quotient(total, total, m + 8, 1)


def one_component(claim, question, matrix, numbers):
    """Return (a question about one component of a levelled M, M, by what its bound is multiplied).

    (u'Zw)^2 <= (1 + sum over r of (u'Zr)^2 / c) w'Mw for the columns r of R: the theorem on levels.
    """
    R = real(claim, "R", len(question.root), None)
    c = real(claim, "levels", R.shape[1])
    need(np.all(np.abs(R) <= 1), "R has entries above 1")
    need(np.all(c > 0), "levels must be positive")
    m, k = question.m, min(max(integers(claim, "counts")), len(question.root))
    c = numbers.read(c, 2)
    if not R.size:
        return question._replace(m=1, k=k), matrix, m
    A, error = matrix.block(np.arange(len(R)))
    M, error, times = numbers.levelled(A, error, R, c, m)
    return question._replace(m=1, k=k), Formed(matrix, M, error), times


def lowest(A, numbers, most=DEPENDENT):
    """Return a t with A + tI semidefinite, or refuse an A that lacks `most` of its size."""
    near = numbers.doubles(A)
    rounding = 8 * len(A) * UNIT * max(np.linalg.norm(near), UNIT**4)
    try:
        return numbers.below_zero(A, np.asarray(numbers.rounded(rounding, 2))[()])
    except Refused:
        w = np.linalg.eigvalsh(near)
        need(w[0] >= -most * np.abs(w).max(), NOT_SEMIDEFINITE)
        more = max(-w[0], 0) + 2 * rounding
        return numbers.below_zero(A, np.asarray(numbers.rounded(more, 2))[()])


def nonnegative_value(claim, matrix, numbers, m, k, state):
    """Return what disjoint columns explain, which have no negative entry."""
    W, _ = columns_of(claim, m, state)
    need(np.all(W >= 0), "W has negative entries")
    return disjoint_value(claim, matrix, numbers, m, k, state)


def packing_value(claim, matrix, numbers, m, k, state):
    """Return what the answer explains at least, by what the claim says of its columns."""
    said = [x for x in ("nonnegative", "orthonormal") if x in claim]
    need(len(said) < 2, "columns are nonnegative or orthonormal, not both")
    need(
        all(one_number(claim, x) == 1 for x in said), "nonnegative and orthonormal are 1 or absent"
    )
    values = {"nonnegative": nonnegative_value, "orthonormal": separate_value}
    value = values[said[0]] if said else disjoint_value
    return value(claim, matrix, numbers, m, k, state)


def disjoint_value(claim, matrix, numbers, m, k, state):
    """Return what the answer explains at least: the sum of w'Aw / w'w of its columns w."""
    (W, _), total = columns_of(claim, m, state), 0
    need(W.any(axis=1).sum() <= k, "W has more than k rows")
    need(np.all((W != 0).sum(axis=1) <= 1), "columns of W share a feature")
    for w in W.T:
        J = np.flatnonzero(w)
        need(len(J), "a column of W is zero")
        (B, error), x = matrix.block(J), numbers.directions(w[J][:, None])[:, 0]
        size = np.abs(x) @ np.abs(B) @ np.abs(x)
        low = numbers.quotient(x @ B @ x, size, 2 * len(J) + 8, x @ x)
        total = total + low - numbers.raised(error, abs(low), m + 8)
    return total


def signed(B, error, low, high, numbers):
    """Say whether no x > 0 is an eigenvector of B with an eigenvalue from low to high.

    With (B - t) y > 0 for both ends t, and so for all between, x'(B - t) y > 0 for every x > 0.
    """
    w, V = np.linalg.eigh(numbers.doubles(B))
    u, above = V[:, -1], w[-1] - w[:-1]
    if not np.all(above > 0):  # u is one of many
        return False
    right = np.where(u > 0, -u[u < 0].sum(), u[u > 0].sum())  # at right angles to u
    y = V[:, :-1] @ ((V[:, :-1].T @ right) / -above)
    if not y.any() or not np.all(np.isfinite(y)):
        return False
    y, n = numbers.rounded(y / np.abs(y).max(), 1), len(B)
    for level in (low, high):
        size = np.abs(B) @ np.abs(y) + abs(level) * np.abs(y)
        if not np.all(numbers.raised(level * y - B @ y, size, n + 8) + error * np.abs(y).sum() < 0):
            return False
    return True


def no_larger(blocks, errors, m, target, numbers):
    """Say of each block whether its supports explain at most the target."""
    return numbers.top_sums(np.array(blocks), m, max(errors))[1] <= target


def none_positive(blocks, errors, m, target, numbers):
    """The same of unit x > 0 on exactly these features: the best ones are leading eigenvectors."""
    need(m == 1, "supports are listed for one nonnegative component only")
    low, high = numbers.top_sums(np.array(blocks), m, max(errors))
    targets = np.broadcast_to(target, len(blocks))
    return [
        bool(top <= most) or signed(B, error, least, top, numbers)
        for B, error, least, top, most in zip(blocks, errors, low, high, targets, strict=True)
    ]


class Kind(NamedTuple):
    """What an answer explains, the bound of a node, the arrays of one: (degree in A, shape).

    `closes` says of listed supports whether they can be dropped (the target may be one for each),
    `smaller` whether those of fewer features are listed too, `semidefinite` whether A must be so
    but for rounding, `packs` whether supports are packed, by prices.
    """

    value: object
    bound: object
    arrays: dict
    closes: object
    smaller: bool
    semidefinite: bool = False
    packs: bool = False


ROWS = {
    "G": (1, "n*"),
    "Y": (2, "nn"),
    "s": (2, ""),
    "H": (1, "n*"),
    "whole": (0, ""),
    "few": (0, "*"),
}
KINDS = {
    "shared": Kind(shared_value, shared_bound, ROWS, no_larger, False),
    # A bound on the union of the supports is one on the components.
    "separate": Kind(
        separate_value, separate_bound, ROWS | {"Z": (2, "nn"), "p": (2, "n")}, no_larger, False
    ),
    # What factors explain is no more than what the union of the supports does.
    "factors": Kind(factors_value, shared_bound, ROWS, no_larger, False, semidefinite=True),
    "nonnegative": Kind(
        nonnegative_value,
        nonnegative_bound,
        ROWS | {"N": (2, "cc")},
        none_positive,
        True,
    ),
}
# Its trees are of one block each: of a nonnegative component, or of a shared support.
KINDS["packing"] = KINDS["nonnegative"]._replace(value=packing_value, packs=True)


class Matrix:
    """The d x d matrix A, or data X with A = X'X, in the numbers of this check."""

    def __init__(self, array, of_data, numbers):
        self.array, self.of_data, self.numbers = array, of_data, numbers

    def block(self, rows):
        """Return (A[I, I], the norm of its error at most)."""
        if self.of_data:
            return self.numbers.square(self.numbers.read(self.array[:, rows], 1))
        return self.numbers.read(self.array[np.ix_(rows, rows)], 2), 0

    def beside(self, part, rows):
        """Return (A[part, rows], what an entry of each row may miss at most)."""
        if not self.of_data:
            return self.numbers.read(self.array[np.ix_(part, rows)], 2), 0
        X, Y = (self.numbers.read(self.array[:, each], 1) for each in (part, rows))
        return self.numbers.products(X, Y)

    def columns(self, rows):
        """Yield (places, X[:, rows[places]]), a block at a time."""
        step = max(1, BLOCK // len(self.array))
        for start in range(0, len(rows), step):
            places = slice(start, start + step)
            yield places, self.numbers.read(self.array[:, rows[places]], 1)


class Formed:
    """A symmetric matrix that was computed, with the norm of its error."""

    of_data = False

    def __init__(self, matrix, M, error):
        self.array, self.numbers, self.M, self.error = matrix.array, matrix.numbers, M, error

    def block(self, rows):
        return self.M[np.ix_(rows, rows)], self.error


def semidefinite_of(matrix):
    """Return A with an error of t, where no eigenvalue lies further below 0 than that.

    So a claim is about the nearest semidefinite matrix, which is A but for rounding.
    """
    if matrix.of_data or not matrix.array.any():
        return matrix
    A = matrix.block(np.arange(len(matrix.array)))[0]
    return Formed(matrix, A, lowest(A, matrix.numbers))


class Raised:
    """A + B'NB on the features of a node."""

    def __init__(self, matrix, N, cuts, numbers):
        self.matrix, self.N, self.cuts, self.numbers = matrix, N, cuts, numbers
        self.of_data = False

    def added(self, C):
        n = len(self.N) - len(C)
        beside = C.T @ self.N[n:, :n]
        return self.N[:n, :n] + beside + beside.T + C.T @ self.N[n:, n:] @ C

    def block(self, rows):
        (A, error), C = self.matrix.block(rows), self.cuts
        size = np.sum(np.abs(A) + self.added(np.abs(C)))
        return A + self.added(C), self.numbers.raised(error, size, 2 * len(C) + 6)


class Node:
    """A part of the search: the rows that are allowed, which are required, and what bounds it.

    With `prices` on its rows a support counts for what it explains less its prices; those of
    `columns` are left to another search.
    """

    Z = N = p = few = counts = row_count = prices = None
    columns = frozenset()

    def __init__(self, state, matrix, arrays):
        self.rows, self.matrix, self.own = np.flatnonzero(state), matrix, matrix
        self.required, self.cuts = state[self.rows] == 2, np.zeros((0, len(self.rows)))
        for name, array in arrays.items():
            setattr(self, name, array)


def one_number(claim, name, kinds="iu"):
    x = np.asarray(claim[name])
    need(x.ndim == 0 and x.dtype.kind in kinds, f"{name} must be one number, kind {kinds}")
    return x[()].item()


def integers(claim, name):
    """Return a list of Python's integers, which nothing makes overflow."""
    x = np.asarray(claim[name])
    need(x.ndim == 1 and x.dtype.kind in "iu" and x.size, f"{name} must list integers")
    return x.tolist()


def features(claim, name, d):
    x = np.asarray(claim[name])
    need(x.ndim == 1 and (x.dtype.kind in "iu" or not x.size), f"{name} must list features")
    x = x.tolist()
    need(all(0 <= i < d for i in x), f"{name} must lie between 0 and d - 1")
    need(len(set(x)) == len(x), f"{name} names a feature twice")
    return np.array(x, dtype=np.int64)


def real(claim, name, *shape):
    """Return a finite array of doubles of this shape (None: any length)."""
    x = np.asarray(claim[name])
    need(x.dtype.kind in "fiu" and x.dtype.itemsize <= 8, f"{name} must be real numbers")
    fits = x.ndim == len(shape) and all(w in (None, n) for n, w in zip(x.shape, shape, strict=True))
    need(fits, f"{name} has shape {x.shape}, not {shape}")
    if x.dtype.kind != "f" and x.size:  # before they are doubles, which would round them
        need(max(int(x.max()), -int(x.min())) <= 2**53, f"{name} holds integers above 2^53")
    y = x.astype(np.float64)
    need(np.all(np.isfinite(y)), f"{name} holds what is not finite")
    return y


def sha256(name, array):
    """The name, the shape and the doubles of a matrix, row by row, in 64 hexadecimal digits."""
    head = f"{name} {array.shape[0]} {array.shape[1]}\n".encode()
    return hashlib.sha256(head + np.ascontiguousarray(array, "<f8").tobytes()).hexdigest()


def find_matrix(claim, given):
    """Return (array, of data or not): carried by the claim, or given and of the right sha256."""
    carried = {name: claim[name] for name in ("A", "X") if name in claim}
    need(len(carried) < 2, "a claim carries A or X, not both")
    held = carried or given
    need(len(given) < 2, "A or X is given, not both")
    if not held:
        said = repr(str(claim["source"])[:200])[1:-1] if "source" in claim else "no source is named"
        raise Refused(f"needs data: {said}")  # repr: it may be printed
    (name,) = held
    array = real(held, name, None, None)
    need(array.size, f"{name} is empty")
    if not carried or "sha256" in claim:
        need("sha256" in claim, "a claim carries its matrix or the sha256 of it")
        need(sha256(name, array) == str(claim["sha256"]), f"{name} is not the matrix of the claim")
    for other, x in given.items() if carried else ():
        same = other == name and np.array_equal(real(given, other, *np.shape(x)), array)
        need(same, f"the claim carries {name}, and another matrix is given")
    if name == "A":
        need(array.shape[0] == array.shape[1], "A must be square")
        need(np.array_equal(array, array.T), "A must be symmetric")
    return array, name == "X"


def find_tree(claim, root, turns):
    """Return (states, parents, branches) of all nodes; a claim without `nodes` has the root.

    Branches are features and, numbered after these, so many directions.
    """
    if "nodes" not in claim:
        return root[None], np.array([-1]), np.array([-1])
    states, d = np.asarray(claim["nodes"]), len(root)
    need(states.ndim == 2 and states.shape[1] == d and len(states), "nodes must have d columns")
    need(states.size <= TREE, f"the nodes hold more than {TREE} states")
    need(states.dtype.kind in "iu" and np.all((states >= 0) & (states <= 2)), "nodes hold 0, 1, 2")
    need(np.array_equal(states[0], root), "the first node is not the whole problem")
    found = []
    for name in ("parent", "branch"):
        x = integers(claim, name)
        need(len(x) == len(states), f"{name} is one integer a node")
        need(all(LED <= i < d + turns + len(x) for i in x), f"{name} names no node and no feature")
        found.append(np.array(x, dtype=np.int64))
    parent, branch = found
    order = np.arange(len(states))
    need(parent[0] == -1 and np.all((parent[1:] >= 0) & (parent[1:] < order[1:])),
         "each node but the first comes after its parent")  # fmt: skip
    need(np.all((branch >= LED) & (branch < d + turns)),
         "branch is -2, -1, a feature or a direction")  # fmt: skip
    return states, parent, branch


def find_directions(claim, m, d, shapes):
    """Return the directions by whose products with w nodes are divided."""
    if "directions" not in claim or "N" not in shapes:
        return np.zeros((0, d))
    need(np.asarray(claim["directions"]).dtype.kind in "iu", "directions are integers")
    need(m == 1, "directions divide the nodes of one component only")
    return real(claim, "directions", None, d)


def find_arrays(claim, t, n, cuts, numbers, shapes):
    """Return the arrays of node t, None or empty where it lacks one, or None if it has none."""
    if not any(f"{name}_{t}" in claim for name in shapes):
        return None
    found, few = {}, claim.get(f"few_{t}") if "few" in shapes else None
    for name in (f"few_{t}", f"whole_{t}"):
        given = np.asarray(claim.get(name, ()))
        need(not given.size or given.dtype.kind in "iu", f"{name} must hold integers")
    for name, (degree, marks) in shapes.items():
        sizes, held = {"n": n, "c": n + cuts, "*": None}, f"{name}_{t}" in claim
        if few is not None and marks in ("nn", "cc"):
            sizes = dict.fromkeys(marks, np.size(few))
        shape = tuple(sizes[mark] for mark in marks)
        if held:
            array = real(claim, f"{name}_{t}", *shape)
            need(name not in ("N", "p") or np.all(array >= 0), f"{name} has negative entries")
            found[name] = numbers.read(array, degree)[()]
        elif marks == "n*":
            found[name] = numbers.read(np.zeros((n, 0)), degree)
        else:
            found[name] = None
    need((f"H_{t}" in claim) <= (found["s"] is not None), "H comes with s")
    return found


def inherited(arrays, old, rows, shapes):
    """Return the arrays of a node without any of its own: its ancestor's, on fewer rows."""
    at, found = np.searchsorted(old, rows), {}
    few = arrays.get("few")
    beside = at if few is None else np.flatnonzero(np.isin(few, rows))
    for name, (_, marks) in shapes.items():
        array, own = arrays[name], beside if marks in ("nn", "cc", "*") else at
        if marks == "cc" and array is not None:  # the cuts stay
            own = np.append(own, np.arange(len(old), len(array)))
        kept = array if array is None or not marks else array[own]
        found[name] = kept[:, own] if kept is not None and marks in ("nn", "cc") else kept
    return found


def bound_node(node, numbers, m, k, bound_of):
    """Return (rest, c, rest + the largest sum of c over a support of the node).

    Prices are taken off the costs c, which may so be negative.
    """
    rest, c = bound_of(node, numbers, m, k)
    if node.prices is not None:
        c = numbers.raised(c - node.prices, c + node.prices, 8)
    free = np.maximum(-np.sort(-c[~node.required]), 0)[: max(0, k - node.required.sum())]
    fixed = c[node.required]
    size = 2 * abs(rest) + np.abs(fixed).sum() + free.sum()
    return rest, c, numbers.raised(rest + fixed.sum() + free.sum(), size, 2 * len(c) + 32)


def decisions(c, required, k, bound, target):
    """Return masks of the features that a support above the target must have, and must lack."""
    free, needed = c[~required], k - required.sum()
    inside, outside = np.zeros((2, len(c)), dtype=bool)
    if 0 < needed < len(free):
        falling = np.maximum(-np.sort(-free), 0)  # nothing below 0 is taken
        inside[~required] = bound - np.maximum(free - falling[needed], 0) <= target
        outside[~required] = bound - np.maximum(falling[needed - 1] - free, 0) <= target
    return inside, outside


def listed_one_by_one(node, numbers, c, rest, *, m, k, target, left, kind):
    """Return how many supports were looked at one by one; refuse if one may be above the target."""
    fixed, free = np.flatnonzero(node.required), np.flatnonzero(~node.required)
    most, total = max(0, min(k - len(fixed), len(free))), 0
    for needed in range(0 if kind.smaller else most, most + 1):
        count = comb(len(free), needed)
        total += count
        need(total <= left, "a node is neither closed nor divided nor small enough to be listed")
        if len(fixed) + needed < (m if kind.smaller else 1):
            continue
        chosen = np.array(list(combinations(free, needed)), dtype=int).reshape(count, needed)
        supports = np.hstack([np.broadcast_to(fixed, (count, len(fixed))), chosen])
        sums, sizes = c[supports].sum(axis=1), np.abs(c)[supports].sum(axis=1)
        bounds = numbers.raised(rest + sums, abs(rest) + sizes, k + 8)
        for part in np.array_split(supports[~(bounds <= target)], 1 + count // 1000):
            if len(part):
                union = np.unique(part)
                whole, error = node.own.block(node.rows[union])
                at = np.searchsorted(union, part)
                blocks, most = whole[at[:, :, None], at[:, None, :]], target
                if node.prices is not None:
                    prices = node.prices[part].sum(axis=1)
                    most = -numbers.raised(-target - prices, abs(target) + prices, k + 8)
                closed = kind.closes(blocks, [error] * len(part), m, most, numbers)
                left_open = np.sort(node.rows[part[~np.array(closed, dtype=bool)]], axis=1)
                need(all(tuple(each) in node.columns for each in left_open.tolist()),
                     "a listed support may explain more than is claimed")  # fmt: skip
    return total


class ClaimQuestion(NamedTuple):
    """What a claim is about: its kind, m, k and gap, the matrix, and each feature's state.

    Of components that are orthonormal also their `counts`, of disjoint ones the largest, as
    `row_count`; of a tree of a packing the `prices`, and the `columns` that it may leave.
    """

    kind: Kind
    m: int
    k: int
    gap: float
    array: np.ndarray
    of_data: bool
    root: np.ndarray
    counts: list | None = None
    row_count: int | None = None
    prices: np.ndarray | None = None
    columns: frozenset = frozenset()

    @property
    def spoken_of(self):
        """The matrix without what is forbidden."""
        allowed = np.flatnonzero(self.root)
        return self.array[:, allowed] if self.of_data else self.array[np.ix_(allowed, allowed)]


def find_question(claim, given):
    """Return the ClaimQuestion of a claim."""
    need(one_number(claim, "version") == VERSION, f"the version must be {VERSION}")
    kind = str(claim["kind"])[:40]
    need(kind in KINDS, f"the kind {kind!r} is not one of {', '.join(KINDS)}")
    m, k = one_number(claim, "m"), one_number(claim, "k")
    gap = float(one_number(claim, "gap", "fiu"))
    need(0 <= gap < np.inf, "the gap must be finite and at least 0")
    array, of_data = find_matrix(claim, given)
    d = array.shape[1]
    need(1 <= m <= k <= d, "m or k do not fit the features")
    root = np.ones(d, dtype=np.int8)
    for name, state in (("forbidden", 0), ("required", 2)):
        rows = features(claim, name, d) if name in claim else []
        need(np.all(root[rows] == 1), "a feature is both required and forbidden")
        root[rows] = state
    need((root == 2).sum() <= k, "more than k features are required")
    need((root > 0).sum() >= m, "fewer than m features are allowed")
    return ClaimQuestion(KINDS[kind], m, k, gap, array, of_data, root)


class ClaimTree:
    """The nodes of a claim, each after its parent, and what is known once they are bounded.

    `held` are the arrays of each node or of the one above it that has some, `decided` which
    features its costs take out and put in, `cuts` the half-spaces that it lies in.
    """

    def __init__(self, claim, question, numbers, directions):
        self.claim, self.numbers, self.directions = claim, numbers, directions
        self.m, self.k, self.shapes = question.m, question.k, question.kind.arrays
        self.states, self.parent, self.branch = find_tree(claim, question.root, len(directions))
        self.d = len(question.root)
        one_component = question.kind.bound is shared_bound and self.m == 1
        self.may_be_led = one_component and question.prices is None
        self.counts, self.row_count = question.counts, question.row_count
        self.prices, self.columns = question.prices, question.columns
        self.held, self.decided, self.cuts = [], [], [()]

    def find_children(self):
        """Note the children of each node, two or none, which together are the node."""
        counts = np.bincount(self.parent[1:], minlength=len(self.states))
        falling = 1 + np.argsort(self.parent[1:], kind="stable")
        self.children = np.split(falling, np.cumsum(counts)[:-1])
        for t, below in enumerate(self.children):
            by, two = self.branch[t], len(below) == 2
            fits = by == LED or (len(below) < 3 and two == (by >= 0))
            need(fits, "children do not partition")
            if two and 0 <= by < self.d:
                pair = sorted(self.states[below, by].tolist())
                need(self.states[t, by] == 1 and pair == [0, 2], "children do not partition")

    def come_to(self, t):
        """Refuse a node that changes more than its parent allows; note its half-spaces."""
        if t == 0:
            return
        p = self.parent[t]
        by, before, state = self.branch[p], self.states[p], self.states[t]
        if by == LED:
            need((state == 2).sum() == 1 and np.all(before[state > 0] == 1),
                 f"node {t} is not led by one feature")  # fmt: skip
            self.cuts.append(())
            return
        may_go, may_stay = self.decided[p]
        changed = state != before
        if 0 <= by < self.d:
            changed[by] = False
        allowed = (before == 1) & np.where(state == 2, may_stay, may_go)
        need(np.all(allowed | ~changed), f"node {t} changes a feature without reason")
        if by < self.d:
            self.cuts.append(self.cuts[p])
        else:
            sign = 1 if self.children[p][0] == t else -1
            self.cuts.append((*self.cuts[p], sign * self.directions[by - self.d]))
        need(len(self.cuts[t]) <= CUTS, f"more than {CUTS} directions lie above a node")

    def find_leaders(self, t, node, target):
        """Refuse a division by leaders that misses a support above the target."""
        led = self.may_be_led and node.matrix.of_data
        need(led, "leaders divide nodes of one component of data, of any sign, only")
        need(not np.any(node.required), "a node that is divided by leaders requires nothing")
        children = {np.argmax(self.states[c]): self.states[c][node.rows] for c in self.children[t]}
        need(len(children) == len(self.children[t]), "two children are led by the same feature")
        for i, _, reach in leaders(node.matrix, node.rows, self.k, target, self.numbers):
            child = children.get(node.rows[i])
            need(
                child is not None, "a feature may lead a support above the target, without a child"
            )
            need(np.all((child > 0) | (reach <= target)), "a child lacks a neighbour of its leader")

    def node(self, t, matrix):
        """Return node t with its arrays, or None where no support is left in it."""
        state = self.states[t]
        rows = np.flatnonzero(state)
        cuts = len(self.cuts[t])
        own = find_arrays(self.claim, t, len(rows), cuts, self.numbers, self.shapes)
        need(t or own is not None, "the first node has no G, Y, s or H")
        self.held.append(self.held[self.parent[t]] if own is None else (own, rows, self.cuts[t]))
        self.decided.append(np.zeros((2, self.d), dtype=bool))
        if (state == 2).sum() > self.k or len(rows) < self.m:
            return None
        above, of_rows, lies_in = self.held[t]
        arrays = inherited(above, of_rows, rows, self.shapes) if own is None else own
        node = Node(state, matrix, arrays)
        node.counts, node.row_count, node.columns = self.counts, self.row_count, self.columns
        node.prices = None if self.prices is None else self.prices[rows]
        node.cuts = self.numbers.read(np.reshape(lies_in, (-1, self.d))[:, rows], 0)
        return node


def examine(claim, given, exact):
    """Return the Verdict on a claim, or raise Refused."""
    question = find_question(claim, given)
    kind, m, k, *_ = question
    directions = find_directions(claim, m, len(question.root), kind.arrays)
    spoken_of = question.spoken_of
    others = [claim[x] for x in claim if is_read_in_a_unit(x, kind)]
    numbers = (Exact if exact else Floating)(spoken_of, question.of_data, others * exact)
    matrix = Matrix(question.array, question.of_data, numbers)
    matrix = semidefinite_of(matrix) if kind.semidefinite else matrix
    value = kind.value(claim, matrix, numbers, m, k, question.root)
    question = with_counts(claim, question)
    if not spoken_of.any():
        return Verdict(True, "holds", 0.0, 0.0)
    target, times = numbers.target(value, question.gap), 1
    if kind.packs:
        need(not numbers.hides(value), TOO_LITTLE)
        bound = packed(claim, question, matrix, numbers, target)
        return Verdict(True, "holds", numbers.back(value), numbers.back(bound))
    if kind.semidefinite and "R" in claim:
        question, matrix, times = one_component(claim, question, matrix, numbers)
        target = numbers.divided(target, times)
    tree = ClaimTree(claim, question, numbers, directions)
    tree.find_children()
    too_little = numbers.hides(value)
    if "nodes" not in claim:
        _, _, bound = bound_node(tree.node(0, matrix), numbers, tree.m, tree.k, kind.bound)
        reason = TOO_LITTLE if too_little else "the bound is above the claim"
        told = "holds" if bound <= target else reason
    else:
        need(not too_little, TOO_LITTLE)
        least = value if times == 1 else numbers.divided(value, times)
        bound, told = largest_of(tree, matrix, least, target, kind), "holds"
    most = numbers.back(bound) * (1 if times == 1 else float(times) * (1 + 8 * UNIT))
    return Verdict(told == "holds", told, numbers.back(value), most)


def with_counts(claim, question):
    """Return the question with what `counts` say of rows; they were looked at with the answer."""
    kind, disjoint = question.kind, "orthonormal" not in claim
    if kind.value is separate_value and not disjoint:
        return question._replace(counts=integers(claim, "counts"))
    if kind.value is nonnegative_value or (kind.packs and disjoint):
        most = min(max(integers(claim, "counts")), len(question.root))
        return question._replace(row_count=most)
    return question


def is_read_in_a_unit(name, kind):
    """Say whether a field holds numbers that are multiplied with the matrix."""
    if kind.packs:
        first, _, rest = name.partition("_")
        of_tree = first == "first" or first.removeprefix("tree").isdigit()
        name = rest if of_tree else name
        if name in ("prices", "targets") or first == "spectral":
            return True
    array, _, node = name.partition("_")
    return (array in kind.arrays and node != "") or (kind.semidefinite and name == "levels")


class PackedBlock(NamedTuple):
    """Components on features of their own: how many, on how many features at most, their counts."""

    b: int
    size: int
    counts: tuple


class ListedOption(NamedTuple):
    """A listed column that a block may take: what it explains net of its prices, and without."""

    net: Any
    value: Any
    features: frozenset


class Families:
    """All ways in which blocks take listed columns that share no feature, or any other set.

    A column counts net of its prices, any other set as its tree's target `us`; with both goes what
    all prices charge.  Blocks that are alike stand together, and take columns in falling order.
    """

    def __init__(self, blocks, us, options, numbers):
        self.blocks, self.us, self.options = blocks, us, options
        self.numbers, self.left = numbers, LISTED
        self.alike = [sum(x == block for x in blocks[j + 1 :]) for j, block in enumerate(blocks)]
        best = [max([u, *(x.net for x in each[:1])]) for u, each in zip(us, options, strict=True)]
        self.after = [best[j + 1 + more :] for j, more in enumerate(self.alike)]

    def total(self, nets):
        return self.numbers.raised(sum(nets), sum(map(abs, nets)), len(nets) + 8)

    def search(self, room, target, rows, taken=(), others=(), first=0):
        """Refuse if a family may explain more than the target, which is the room and the charge."""
        self.left -= 1
        need(self.left >= 0, "the families of columns are too many to be looked at")
        j, none = len(taken) + len(others), "columns may explain more than is claimed"
        if j == len(self.blocks):
            few = sum(len(x.features) for x in taken) <= rows
            need(not others, none)  # the targets of the blocks that took no column
            need(not few or self.total([x.value for x in taken]) <= target, none)
            return
        before = [*(x.net for x in taken), *others]
        closes = lambda net: (  # noqa: E731
            self.total([*before, *[net] * (1 + self.alike[j]), *self.after[j]]) <= room
        )
        if j and self.blocks[j] != self.blocks[j - 1]:
            first = 0
        used = frozenset().union(*(x.features for x in taken))
        for i in range(first, len(self.options[j])):
            option = self.options[j][i]
            if closes(option.net):
                return
            if not used & option.features:
                self.search(room, target, rows, (*taken, option), others, i + 1)
        if not closes(self.us[j]):
            self.search(room, target, rows, taken, (*others, self.us[j]), len(self.options[j]))


class ListedColumns:
    """The sets that a claim lists, and what a block of components explains on each at most."""

    def __init__(self, claim, matrix, kept, d):
        self.matrix, self.numbers, self.sets, self.H, self.known = (
            matrix,
            matrix.numbers,
            [],
            {},
            {},
        )
        if "columns" not in claim:
            return
        x = np.asarray(claim["columns"])
        need(x.ndim == 2 and x.shape[1] == d and x.size <= TREE, "columns must have d entries each")
        need(x.dtype.kind in "iu" and np.all((x == 0) | (x == 1)), "columns hold 0 and 1")
        need(
            np.all(np.isin(np.flatnonzero(x.any(axis=0)), kept)), "a column is not of what is kept"
        )
        self.sets = [np.flatnonzero(row) for row in x]
        if "orthonormal" in claim:
            for i, rows in enumerate(self.sets):
                if f"spectral_{i}" in claim:
                    H = real(claim, f"spectral_{i}", len(rows), None)
                    self.H[i] = self.numbers.read(H, 1)

    def value(self, i, block):
        """Return what the block explains on set i at most."""
        key = (i, block.b, block.counts if i in self.H else None)
        if key not in self.known:
            B, error = self.matrix.block(self.sets[i])
            most = self.numbers.top_sums(B[None], block.b, error)[1][0]
            if i in self.H and block.b > 1:
                most = min(most, self.spectral(B, error, self.H[i], block.counts))
            self.known[key] = most
        return self.known[key]

    def spectral(self, B, error, H, counts):
        """Return tr Z + what one component of each count explains of B - Z, at most; Z = HH'."""
        M, numbers, n = B - H @ H.T, self.numbers, len(B)
        terms, size = [np.sum(H * H)], np.sum(np.abs(B)) + np.sum(H * H)
        error = numbers.raised(error, size, H.shape[1] + 8)
        for count in counts:
            few = min(count, n)
            need(comb(n, few) <= LISTED, "a column has too many parts to be looked at")
            S = np.array(list(combinations(range(n), few)))
            terms.append(max(numbers.top_sums(M[S[:, :, None], S[:, None, :]], 1, error)[1]))
        return numbers.raised(sum(terms), sum(map(abs, terms)), H.size + len(terms) + 8)

    def options(self, block, p, u):
        """Return the sets whose value on the block, net of prices p, may be above u; falling."""
        found = []
        for i, rows in enumerate(self.sets):
            if block.b <= len(rows) <= block.size:
                value, price = self.value(i, block), p[rows].sum()
                net = self.numbers.raised(value - price, abs(value) + price, len(rows) + 8)
                found += [ListedOption(net, value, frozenset(rows.tolist()))] * bool(net > u)
        return sorted(found, key=lambda option: option.net, reverse=True)


def packed(claim, question, matrix, numbers, target):
    """Return the most that a packing explains by its prices, or refuse what is above the target."""
    d, orthonormal = len(question.root), "orthonormal" in claim
    inner = KINDS["nonnegative" if "nonnegative" in claim else "shared"]._replace(smaller=True)
    question = question._replace(kind=inner)
    bound, kept = first_of_all(claim, question, numbers, matrix, target)
    if bound is not None:
        return bound
    prices = real(claim, "prices", None, d)
    need(np.all(prices >= 0), "a price is negative")
    prices, columns = numbers.read(prices, 2), ListedColumns(claim, matrix, kept, d)
    question = question._replace(
        root=np.isin(np.arange(d), kept).astype(np.int8),
        row_count=None,
        columns=frozenset(tuple(rows.tolist()) for rows in columns.sets),
    )
    us = tree_targets(claim, question, matrix, numbers, prices, orthonormal)
    counts = tuple(sorted(integers(claim, "counts"), reverse=True))
    ways = partitions(counts) if orthonormal else {tuple((count,) for count in counts)}
    return max(bound_way(way, question.k, prices, kept, us, columns, target) for way in ways)


def bound_way(way, k, prices, kept, us, columns, target):
    """Return what components in such blocks explain at most, by the first prices that show it.

    `us` are the targets of the trees, by row of prices, components and features.
    """
    numbers, why = columns.numbers, "no prices have a tree for each block"
    blocks = [PackedBlock(len(x), sum(x) - 2 * (len(x) - 1), x) for x in way]
    rows = min(k, sum(block.size for block in blocks))
    for i, p in enumerate(prices):
        keys = [(i, block.b, block.size) for block in blocks]
        if not all(key in us for key in keys):
            continue
        own = [us[key] for key in keys]
        charge = -np.sort(-p[kept])[:rows].sum()
        room = -numbers.raised(charge - target, charge + abs(target), len(kept) + 8)
        options = [columns.options(block, p, u) for block, u in zip(blocks, own, strict=True)]
        families = Families(blocks, own, options, numbers)
        try:
            families.search(room, target, rows)
        except Refused as reason:
            why = str(reason)
            continue
        if any(options):
            return target
        return numbers.raised(charge + families.total(own), charge, len(kept) + 8)
    raise Refused(why)


def partitions(counts):
    """Return all ways to divide the counts, which fall, into blocks that orthonormal columns form.

    Columns that overlap share two features at least, so that b of them are on 2 (b - 1) less than
    their counts.
    """
    need(len(counts) <= 10, "blocks of at most 10 components")
    if not counts:
        return {()}
    found = set()
    for more in range(len(counts)):
        for mates in set(combinations(counts[1:], more)):
            block, left = (counts[0], *mates), list(counts)
            if more and (block[-1] < 2 or sum(block) - 2 * more < len(block)):
                continue
            for count in block:
                left.remove(count)
            found |= {tuple(sorted((block, *way), reverse=True)) for way in partitions(tuple(left))}
    return found


def first_of_all(claim, question, numbers, matrix, target):
    """Return (the bound of the one node, if that is enough, the features that it does not drop)."""
    d, own = len(question.root), fields_of(claim, "first")
    kept = features(claim, "kept", d) if "kept" in claim else np.arange(d)
    if not own:
        need(len(kept) == d, "features are dropped without a first node")
        return None, np.arange(d)
    need("nodes" not in own, "what comes first is one node")
    tree = ClaimTree(own, question, numbers, np.zeros((0, d)))
    node = tree.node(0, matrix)
    _, c, bound = bound_node(node, numbers, question.m, question.k, question.kind.bound)
    if bound <= target:
        return bound, kept
    _, outside = decisions(c, node.required, question.k, bound, target)
    need(np.all(np.delete(outside, kept)), "a feature is dropped without reason")
    return None, np.sort(kept)


def fields_of(claim, prefix):
    """Return the fields with such a prefix, without it."""
    own = {name.partition("_")[2]: x for name, x in claim.items() if name.startswith(f"{prefix}_")}
    return own


def tree_targets(claim, question, matrix, numbers, prices, orthonormal):
    """Return the target of each tree, by row of prices, components, features; refuse a false one.

    No set of so many features explains more with so many components, net of its prices, but for
    the columns.
    """
    trees = np.asarray(claim["trees"])
    need(trees.ndim == 2 and trees.shape[1] == 3 and trees.dtype.kind in "iu",
         "trees must list three integers each")  # fmt: skip
    read, found = numbers.read(real(claim, "targets", len(trees)), 2), {}
    d, kept = len(question.root), int(question.root.sum())
    for i, (row, b, size) in enumerate(trees.tolist()):
        need(0 <= row < len(prices) and 1 <= b <= size, "a tree is of no prices, or of no block")
        need(b == 1 or orthonormal, "a block of several components is of orthonormal ones")
        own = question._replace(m=b, k=min(size, kept), prices=prices[row])
        tree = ClaimTree(fields_of(claim, f"tree{i}"), own, numbers, np.zeros((0, d)))
        tree.find_children()
        u = read[i]
        largest_of(tree, matrix, u, u, question.kind)
        found[row, b, size] = min(u, found.get((row, b, size), u))
    return found


def largest_of(tree, matrix, worst, target, kind):
    """Return the largest bound of a node, which is the target where one is not closed by itself."""
    numbers, m, k, left = tree.numbers, tree.m, tree.k, LISTED
    for t, children in enumerate(tree.children):
        tree.come_to(t)
        node = tree.node(t, matrix)
        if node is None:
            continue
        rest, c, bound = bound_node(node, numbers, m, k, kind.bound)
        if bound <= target:
            worst = max(worst, bound)
            tree.decided[t] = ~tree.decided[t]  # its children do not matter
            continue
        worst = target
        if tree.branch[t] == LED:
            tree.find_leaders(t, node, target)
        elif len(children):
            inside, outside = decisions(c, node.required, k, bound, target)
            tree.decided[t][0][node.rows], tree.decided[t][1][node.rows] = outside, inside
        else:
            limits = {"m": m, "k": k, "target": target, "left": left, "kind": kind}
            left -= listed_one_by_one(node, numbers, c, rest, **limits)
    return worst


def check(claim: Any, A: Any = None, X: Any = None, exact: bool = False) -> Verdict:
    """Return the Verdict on a claim: a mapping of names to arrays, or the path of its file.

    Nothing is raised: whatever a file holds, a claim that cannot be followed does not hold.

    Parameters
    ----------
    claim : mapping, str or Path
        Names to arrays, as the page of the format says, or an npz of them.
    A, X : array
        The matrix of a claim that carries only its sha256.
    exact : bool
        Compute in fractions: slow, and without rounding.

    Returns
    -------
    Verdict
        With the numbers that were found, not those claimed.

    See Also
    --------
    fspca.solve : Gives answers with a certificate.

    Examples
    --------
    >>> from fspca import solve
    >>> A = np.diag([3.0, 2.0, 1.0])
    >>> check({**solve(A, m=1, k=2).certificate, "A": A}).reason
    'holds'
    >>> check("nowhere.npz").reason
    'there is no such file'
    """
    given = {name: array for name, array in (("A", A), ("X", X)) if array is not None}
    try:
        with np.errstate(all="ignore"):
            if isinstance(claim, str | Path):
                need(Path(claim).is_file(), "there is no such file")
                with zipfile.ZipFile(claim) as parts:
                    size = sum(part.file_size for part in parts.infolist())
                    names = [part.filename.removesuffix(".npy") for part in parts.infolist()]
                need(size <= LARGEST, f"the file unfolds to {size} bytes, more than {LARGEST}")
                need(len(set(names)) == len(names), "a name stands in the file twice")
                with np.load(claim, allow_pickle=False) as file:
                    return examine(dict(file), given, exact)
            # each field is read once, so that all rules speak of the same numbers
            return examine({x: np.array(claim[x]) for x in claim}, given, exact)
    except Refused as reason:
        return Verdict(False, str(reason))
    except Exception as error:  # whatever a file holds, the answer is no
        return Verdict(False, f"no certificate: {type(error).__name__}: {error}")


def check_files(arguments):
    """Check files and folders, a line each; return how many do not hold."""
    exact = "--exact" in arguments
    paths = [Path(each) for each in arguments if each != "--exact"]
    files = [f for path in paths for f in (sorted(path.glob("*.npz")) if path.is_dir() else [path])]
    failed = 0
    for file in files:
        holds, reason, value, bound = check(file, exact=exact)
        failed += not holds and not reason.startswith("needs data")
        numbers = f": {value:.10g} of at most {bound:.10g}" if bound == bound else ""
        print(f"{file.name}: {reason}{numbers}")
    return failed


if __name__ == "__main__":
    sys.exit(bool(check_files(sys.argv[1:])))
