"""A second checker of certificates, written from book/appendix/certificate_format.md alone.

It shares nothing with fspca/check_certificate.py: no numpy, no margins, every rule in fractions.
Floating point only guesses (eigenvalues); whatever was guessed is then shown in integers, over a
step of 2^-120, and what was rounded is counted.  It is slow: for claims about 30 features or fewer.
"""

import ast
import copy
import hashlib
import math
import struct
import zipfile
from fractions import Fraction
from itertools import combinations
from operator import mul

BITS = 120  # places after the point of what is rounded: more than two doubles have
APART = 4  # so few supports are looked at each on its own
PATIENCE = 50_000  # bounds of eigenvalues for supports that are listed; each takes milliseconds
CODES = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b"}
CODES |= {"u8": "Q", "u4": "I", "u2": "H", "u1": "B"}
INTEGERS = [code for code in CODES if code[0] in "iu"]


class Refused(Exception):
    """The claim breaks a rule, or does not follow from its proof."""


class TooMany(Exception):
    """Listed supports need more bounds than this checker has the patience for."""


class NeedsData(Exception):
    """The claim carries no matrix, and none with its sha256 was supplied."""


def need(condition, words):
    if not condition:
        raise Refused(words)


# Reading: a .npz file is a zip of .npy files, each a header and its numbers.


def read(path):
    """Return each array of the file by its name."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        fields = [name.removesuffix(".npy") for name in names]
        need(len(set(fields)) == len(fields), "a name stands twice in the file")
        return {field: read_array(archive.read(f"{field}.npy")) for field in fields}


class Array:
    """The numbers of an array, row by row, as Python's own, with its shape and its kind."""

    def __init__(self, kind, shape, values):
        self.kind, self.shape, self.values = kind, shape, values


def read_array(raw):
    need(raw[:6] == b"\x93NUMPY", "not an array")
    wide = raw[6] > 1
    start = 12 if wide else 10
    length = struct.unpack("<I" if wide else "<H", raw[8:start])[0]
    header = ast.literal_eval(raw[start : start + length].decode("latin1"))
    descr, shape, body = header["descr"], header["shape"], raw[start + length :]
    count = math.prod(shape)
    if isinstance(descr, str) and descr[1] == "U" and shape == ():
        return Array(
            "U", shape, [body.decode("utf-32-" + "lb"[descr[0] == ">"] + "e").rstrip("\0")]
        )
    if not isinstance(descr, str) or descr[1:] not in CODES:
        return Array("none that a field has", shape, [])
    order = ">" if descr[0] == ">" else "<"
    values = list(struct.unpack(f"{order}{count}{CODES[descr[1:]]}", body))
    if header["fortran_order"] and len(shape) == 2:
        values = [values[j * shape[0] + i] for i in range(shape[0]) for j in range(shape[1])]
    return Array(descr[1:], shape, values)


class Fields:
    """The fields of a claim, each asked for by the type and shape that the page gives it."""

    def __init__(self, arrays):
        self.arrays = arrays

    def __contains__(self, name):
        return name in self.arrays

    def text(self, name):
        need(name in self and self.arrays[name].kind == "U", f"{name} must be text")
        return self.arrays[name].values[0]

    def integers(self, name, dimensions=1):
        array = self.arrays.get(name)
        need(array is not None and array.kind in INTEGERS, f"{name} must hold integers")
        need(len(array.shape) == dimensions, f"{name} has the wrong shape")
        return array.values

    def integer(self, name):
        return self.integers(name, 0)[0]

    def reals(self, name, dimensions):
        array = self.arrays.get(name)
        need(array is not None and array.kind in CODES, f"{name} must hold numbers")
        need(len(array.shape) == dimensions, f"{name} has the wrong shape")
        for value in array.values:
            need(math.isfinite(value), f"{name} is not finite")
            need(isinstance(value, float) or abs(value) <= 2**53, f"{name} has a large integer")
        return [Fraction(value) for value in array.values]

    def matrix(self, name):
        values = self.reals(name, 2)
        rows, columns = self.arrays[name].shape
        return [values[i * columns : (i + 1) * columns] for i in range(rows)]

    def rows_of_integers(self, name, columns):
        values = self.integers(name, 2)
        rows = self.arrays[name].shape[0]
        need(self.arrays[name].shape[1] == columns, f"{name} has the wrong shape")
        return [values[i * columns : (i + 1) * columns] for i in range(rows)]

    def features(self, name, d, optional=False):
        if optional and (name not in self or self.arrays[name].shape == (0,)):
            return []
        values = self.integers(name)
        need(all(0 <= i < d for i in values), f"{name} names what is no feature")
        need(len(set(values)) == len(values), f"{name} names a feature twice")
        return values


# Matrices, as lists of rows of fractions.


def over_one(M):
    """M as integers over a common denominator."""
    common = math.lcm(*(cell.denominator for row in M for cell in row))
    return common, [[int(cell * common) for cell in row] for row in M]


def product(B, C):
    (b, B), (c, C) = over_one(B), over_one(transposed(C))
    return [[Fraction(sum(map(mul, row, column)), b * c) for column in C] for row in B]


def transposed(B):
    return [list(row) for row in zip(*B, strict=True)]


def block(M, rows):
    return [[M[i][j] for j in rows] for i in rows]


def added(*matrices):
    return [
        [sum(cells) for cells in zip(*rows, strict=True)] for rows in zip(*matrices, strict=True)
    ]


def times(factor, M):
    return [[factor * cell for cell in row] for row in M]


def identity(n):
    return [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]


def square(B):
    return sum((cell * cell for row in B for cell in row), Fraction(0))


def gram(B, n):
    """BB', of order n, also where B has no column."""
    return product(B, transposed(B)) if B and B[0] else times(0, identity(n))


def symmetric_part(Y):
    return times(Fraction(1, 2), added(Y, transposed(Y)))


def solve(B, C):
    """The solution of B x = C for every column of C, or None if B is singular."""
    n = len(B)
    rows = [list(b) + list(c) for b, c in zip(B, C, strict=True)]
    for i in range(n):
        pivot = next((j for j in range(i, n) if rows[j][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [cell / rows[i][i] for cell in rows[i]]
        for j in range(n):
            if j != i and rows[j][i]:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[n:] for row in rows]


def root_above(x):
    """A number at least sqrt(x), above it by less than 2^-80 of it; the root itself if rational."""
    shift = 4**80 * 4 ** max(0, x.denominator.bit_length() - x.numerator.bit_length())
    inner = x.numerator * x.denominator * shift
    root = math.isqrt(inner)
    return Fraction(root + (root * root < inner), x.denominator * math.isqrt(shift))


def largest(j, numbers):
    """T_j and S_j of the page: the sum of the j largest."""
    return sum(sorted(numbers, reverse=True)[: max(j, 0)], Fraction(0))


# Eigenvalues: guessed in floating point, shown in integers.


def in_steps(M):
    """The step, 2^-BITS of a power of two near the largest entry, and M in steps, rounded."""
    top = max(abs(cell) for row in M for cell in row)
    if not top:
        return Fraction(0), [[0] * len(M) for _ in M]
    near = top.numerator.bit_length() - top.denominator.bit_length()
    step = Fraction(2) ** (near - BITS)
    return step, [[round(cell / step) for cell in row] for row in M]


def pivots(S):
    """D, all but zero, and a number of steps: LDL' is nearer than that to S before its rounding.

    L has ones on its diagonal, and is rounded to BITS places.  So an entry of LDL' misses S by at
    most as many steps as its pivot is, as a number, or by one; S was rounded by half a step.
    """
    L, D, products = [], [], []
    for row in S:
        left = []
        for j, done in enumerate(products):
            rest = (row[j] << 2 * BITS) - sum(map(mul, left, done))
            left.append(rest // (D[j] << BITS))
        L.append(left)
        products.append(list(map(mul, left, D)))
        rest = (row[len(left)] << 2 * BITS) - sum(map(mul, left, products[-1]))
        D.append(rest >> 2 * BITS or 1)
    return D, len(S) * (3 + max(map(abs, D), default=0) // 2**BITS)


def shifted(N, s):
    """sI - N."""
    return [[s * (i == j) - cell for j, cell in enumerate(row)] for i, row in enumerate(N)]


def beside(N, j, guess, side, first=2 ** (BITS - 52)):
    """A number of steps above (side 1) or below (-1) the j-th largest eigenvalue of N.

    LDL', near sI - N, has as many negative eigenvalues as there are negative pivots (Sylvester).
    A pivot near zero makes a large one and a large miss: then the next number is tried.
    """
    for e in range(0, 2 * BITS, 2):
        s = round(guess) + side * (first << e)
        D, miss = pivots(shifted(N, s))
        larger = sum(pivot < 0 for pivot in D)
        if miss <= first << e and (larger < j if side > 0 else larger >= j):
            return s + side * miss
    raise Refused("an eigenvalue was not found")


def tridiagonal(B):
    """The diagonal, and the squares beside it, after Householder's reflections; only a guess."""
    diagonal, squares = [], [0.0]
    while len(B) > 1:
        diagonal.append(B[0][0])
        v, B = B[0][1:], [row[1:] for row in B[1:]]
        squares.append(sum(map(mul, v, v)))
        v[0] += math.copysign(math.sqrt(squares[-1]), v[0])
        half = sum(map(mul, v, v)) / 2
        if half:
            p = [sum(map(mul, row, v)) / half for row in B]
            share = sum(map(mul, v, p)) / (2 * half)
            p = [a - share * b for a, b in zip(p, v, strict=True)]
            B = [
                [cell - x * b - y * a for cell, a, b in zip(row, v, p, strict=True)]
                for row, x, y in zip(B, v, p, strict=True)
            ]
    return diagonal + B[0], squares


def guesses(N, m):
    """The m largest eigenvalues of N by bisection, in steps; only a guess."""
    diagonal, squares = tridiagonal([[cell / 2**BITS for cell in row] for row in N])
    top = 2.0 * len(N)  # entries are below 2
    found = []
    for j in range(1, m + 1):
        low, high = -2.0 * len(N), top
        while low < (middle := (low + high) / 2) < high:
            pivot, larger = 1.0, 0
            for a, b in zip(diagonal, squares, strict=True):
                pivot = a - middle - b / (pivot or -1e-300)
                larger += pivot > 0
            low, high = (middle, high) if larger >= j else (low, middle)
        found.append(high * 2**BITS)
        top = high
    return found


def at_most(M, m):
    """A number that F_m(M) does not exceed."""
    step, N = in_steps(M)
    return step * sum(beside(N, j, guess, 1) for j, guess in enumerate(guesses(N, m), 1))


def at_least(M, m):
    """A number that F_m(M) does not fall short of."""
    step, N = in_steps(M)
    return step * sum(beside(N, j, guess, -1) for j, guess in enumerate(guesses(N, m), 1))


def fits(M, m, target):
    """Whether F_m(M) is shown to be at most the target, which leaves room for quick numbers."""
    step, N = in_steps(M)
    if not step:
        return target >= 0
    near = guesses(N, m)
    room = math.floor(target / step) - round(sum(near))
    first = max(room // (2 * m), 2 ** (BITS - 52))
    return (
        room > 0
        and sum(beside(N, j, guess, 1, first) for j, guess in enumerate(near, 1)) * step <= target
    )


def lack(S):
    """A number whose addition to the diagonal makes S semidefinite, nearly the smallest."""
    step, N = in_steps(S)
    minus = [[-cell for cell in row] for row in N]
    return step * max(beside(minus, 1, 0, 1), 0)


def rounding(S, M):
    """What S lacks, which must be no more than rounding beside M."""
    missing, (step, _) = lack(S), in_steps(M)
    need(missing <= step * 2 ** (BITS - 26), "what is to be semidefinite is not")
    return missing


def smallest_multiple(S, A, s):
    """A number theta, near the smallest, that makes theta S - A semidefinite; S is above sI.

    So where a multiple of I lacks, a multiple of S will do.
    """
    low, high, best = Fraction(-1), Fraction(3), None  # tries 1 first, then 0 or more
    for _ in range(60):
        theta = max((low + high) / 2, Fraction(0))
        missing = lack(added(times(theta, S), times(-1, A))) / s
        best = theta + missing if best is None else min(best, theta + missing)
        low, high = (low, theta) if missing < 2**-40 else (theta, high)
    return best


def trace_on_span(V, M):
    """tr((V'V)^-1 V'MV), or None if the columns of V are dependent."""
    V_t = transposed(V)
    projected = solve(product(V_t, V), product(V_t, product(M, V)))
    return None if projected is None else sum(projected[j][j] for j in range(len(projected)))


def independent(V):
    """The first columns of V that are independent."""
    kept = []
    for column in transposed(V):
        C = transposed([*kept, column])
        if solve(product(transposed(C), C), identity(len(kept) + 1)) is not None:
            kept.append(column)
    return transposed(kept)


# Nodes.


class Node:
    """The states of the features, what bounds them, and where the node stands in the tree."""

    def __init__(self, states, arrays, cuts):
        self.states, self.arrays, self.cuts = states, arrays, cuts
        self.allowed = [i for i, state in enumerate(states) if state]
        self.required = [i for i, state in enumerate(states) if state == 2]
        self.free = [i for i, state in enumerate(states) if state == 1]


ROWS = ("G", "Y", "s", "H", "whole", "few")
NAMES = {
    "shared": ROWS,
    "separate": (*ROWS, "Z", "p"),
    "factors": ROWS,
    "nonnegative": (*ROWS, "N"),
    "packing": (),  # its trees are of another kind
}


class Claim:
    def __init__(self, arrays, data=None):
        """`data` is the matrix supplied, as ("A" or "X", rows of floats)."""
        self.fields = fields = Fields(arrays)
        need(fields.integer("version") == 1, "version")
        self.kind = fields.text("kind")
        need(self.kind in NAMES, "kind")
        self.A, self.data = self.take_matrix(data)
        self.d = len(self.A)
        self.m, self.k = fields.integer("m"), fields.integer("k")
        need(1 <= self.m <= self.k <= self.d, "m and k")
        self.orthonormal = False
        if "orthonormal" in fields and self.kind == "separate":
            self.orthonormal = fields.integer("orthonormal") == 1
        self.must, self.must_not = (
            fields.features(name, self.d, optional=True) for name in ("required", "forbidden")
        )
        need(not set(self.must) & set(self.must_not), "required and forbidden")
        self.gap = fields.reals("gap", 0)[0]
        need(self.gap >= 0, "gap")
        self.bounds = 0  # of eigenvalues, for supports that are listed
        self.prices = self.row_count = None
        self.columns, self.priced = set(), False

    def take_matrix(self, supplied):
        fields = self.fields
        need(not ("A" in fields and "X" in fields), "both A and X")
        own = next((name for name in "AX" if name in fields), None)
        if own:
            rows, name = fields.matrix(own), own
        else:
            if supplied is None:
                raise NeedsData
            name, floats = supplied
            rows = [[Fraction(cell) for cell in row] for row in floats]
        need(rows and rows[0], "the matrix is empty")
        if "sha256" in fields:
            text = f"{name} {len(rows)} {len(rows[0])}\n".encode()
            text += b"".join(struct.pack("<d", cell) for row in rows for cell in row)
            if hashlib.sha256(text).hexdigest() != fields.text("sha256"):
                if own:
                    raise Refused("sha256")
                raise NeedsData
        else:
            need(own, "neither a matrix nor its sha256")
        if name == "X":
            return gram(transposed(rows), len(rows[0])), True
        need(rows == transposed(rows), "A is not symmetric")
        return rows, False

    # The answer.

    def value(self):
        """A number that the value of the answer does not fall short of."""
        if self.kind == "shared":
            support = self.fields.features("support", self.d)
            need(self.m <= len(support) <= self.k, "the support's size")
            need(set(self.must) <= set(support), "the support lacks what is required")
            need(not set(self.must_not) & set(support), "the support holds what is forbidden")
            inner = block(self.A, support)
            return at_least(inner, self.m)
        need(not self.must and not self.must_not, "nothing is required or forbidden")
        self.counts = self.fields.integers("counts")
        need(len(self.counts) == self.m and min(self.counts) >= 1, "counts")
        W = self.fields.matrix("W")
        need(len(W) == self.d and len(W[0]) == self.m, "the shape of W")
        for column, count in zip(zip(*W, strict=True), self.counts, strict=True):
            need(1 <= sum(map(bool, column)) <= count, "a column has too many entries, or none")
        if self.kind == "factors":
            return self.value_of_factors(W)
        rows = sum(any(row) for row in W)
        need(rows <= self.k, "W has too many rows")
        signs = self.take_signs()
        if signs in ("separate", "orthonormal"):
            need(self.k >= min(self.d, sum(self.counts)), "k must hold all counts")
            if self.orthonormal:
                products = gram(transposed(W), self.m)
                for i, j in combinations(range(self.m), 2):
                    bound = products[i][i] * products[j][j] / 10**16
                    need(products[i][j] ** 2 <= bound, "the columns of W are not orthonormal")
            value = trace_on_span(W, self.A)
            if value is None:
                kept = independent(W)
                lost = 0 if self.data else rounding(self.A, self.A)
                value = trace_on_span(kept, self.A) - lost * (self.m - len(kept[0]))
            return value
        least = min(cell for row in W for cell in row)
        need(least >= 0 or signs == "disjoint", "W has a negative entry")
        need(all(sum(map(bool, row)) <= 1 for row in W), "a feature is in two columns")
        value = Fraction(0)
        for column in transposed(W):
            w = [[cell] for cell in column]
            value += trace_on_span(w, self.A)
        return value

    def take_signs(self):
        """What the columns are to be; where they share no feature, a row of WW' is that of one."""
        signs = self.kind
        if self.kind == "packing":
            said = [name for name in ("nonnegative", "orthonormal") if name in self.fields]
            need(len(said) < 2 and all(self.fields.integer(name) == 1 for name in said), "flags")
            signs = said[0] if said else "disjoint"
            self.orthonormal = signs == "orthonormal"
        if signs in ("nonnegative", "disjoint"):
            self.row_count = min(max(self.counts), self.d)
        return signs

    def value_of_factors(self, W):
        """The sum of (y'Aw)^2 / w'w over theta, A between itself and A + tI, both semidefinite."""
        need(self.k >= min(self.d, sum(self.counts)), "k must hold all counts")
        Y = self.fields.matrix("factors")
        need(len(Y) == self.d and len(Y[0]) == self.m, "the shape of factors")
        need(any(any(row) for row in Y), "the factors are zero")
        t = Fraction(0) if self.data else rounding(self.A, self.A)
        length = [sum(map(abs, column)) for column in transposed(Y)]
        inner = product(transposed(Y), product(self.A, Y))
        theta = max(
            sum(abs(cell) + t * length[i] * length[j] for j, cell in enumerate(row))
            for i, row in enumerate(inner)
        )
        value = Fraction(0)
        own = product(transposed(Y), product(self.A, W))
        for j, w in enumerate(transposed(W)):
            missed = t * length[j] * sum(map(abs, w))
            explained = max(abs(own[j][j]) - missed, Fraction(0))
            if explained:
                value += explained**2 / sum(cell * cell for cell in w) / theta
        self.A = added(self.A, times(t, identity(self.d)))
        return value

    def take_levels(self):
        """M takes the place of A, and one component of it that of all."""
        R = self.fields.matrix("R")
        c = self.fields.reals("levels", 1)
        need(len(R) == self.d and len(R[0]) == len(c), "the shape of R")
        need(all(abs(cell) <= 1 for row in R for cell in row), "R has an entry above 1")
        need(all(level > 0 for level in c), "levels must be positive")
        mu = Fraction(self.m)
        if c:
            R_t = transposed(R)
            inner = product(R_t, product(self.A, R))
            mu += sum(inner[i][i] / level for i, level in enumerate(c))
            P = added(identity(self.d), times(-1, gram(R, self.d)))
            levelled = [[level * cell for cell in r] for level, r in zip(c, R_t, strict=True)]
            self.A = added(product(P, product(self.A, P)), product(R, levelled))
            self.data = False
        self.m, self.k = 1, min(max(self.counts), self.d)
        self.target /= mu

    # The tree.

    def first_node(self):
        """The states of the features in the whole problem."""
        first = [1] * self.d
        for i in self.must:
            first[i] = 2
        for i in self.must_not:
            first[i] = 0
        return first

    def take_directions(self):
        """The half-spaces that nodes are divided by."""
        self.directions = []
        if "directions" in self.fields:
            need(self.kind == "nonnegative" and self.m == 1, "directions")
            self.directions = self.fields.rows_of_integers("directions", self.d)

    def check(self):
        low = self.value()
        spoken_of = [i for i in range(self.d) if i not in self.must_not]
        if not any(cell for row in block(self.A, spoken_of) for cell in row):
            return 0.0
        self.target = low + self.gap * max(low, Fraction(0))
        if self.kind == "packing":
            Packing(self).check()
            return float(low)
        if self.kind == "factors" and "R" in self.fields:
            self.take_levels()
        first = self.first_node()
        self.take_directions()
        self.check_tree(first)
        return float(low)

    def check_tree(self, first):
        """Every node of the tree, the first of which has these states."""
        states, parents, branches = [first], [-1], [-1]
        if "nodes" in self.fields:
            states = self.fields.rows_of_integers("nodes", self.d)
            parents, branches = self.fields.integers("parent"), self.fields.integers("branch")
            need(len(states) == len(parents) == len(branches) > 0, "nodes")
        need(all(state in (0, 1, 2) for row in states for state in row), "a state")
        need(states[0] == first and parents[0] == -1, "the first node is not the whole problem")
        children = [[] for _ in states]
        for t, parent in enumerate(parents):
            need(t == 0 or 0 <= parent < t, "a parent comes later")
            if t:
                children[parent].append(t)
        need(all(-2 <= b < self.d + len(self.directions) for b in branches), "branch")
        self.tree = []
        for t, row in enumerate(states):
            above = self.tree[parents[t]] if t else None
            cuts = list(above.cuts) if above else []
            if above and branches[parents[t]] >= self.d:
                sign = 1 if children[parents[t]][0] == t else -1
                g = self.directions[branches[parents[t]] - self.d]
                cuts.append([Fraction(sign * cell) for cell in g])
            need(len(cuts) <= 100, "too many cuts")
            self.tree.append(Node(row, self.take_arrays(t, row, cuts, above), cuts))
        for below, branch in zip(children, branches, strict=True):
            if branch != -2:
                need(len(below) == 2 if branch >= 0 else len(below) <= 1, "children and branch")
        for t, node in enumerate(self.tree):
            self.check_node(node, [self.tree[c] for c in children[t]], branches[t])

    def take_arrays(self, t, states, cuts, above):
        """The arrays of node t as a mapping, with the features and the cuts that they speak of."""
        fields = self.fields
        allowed = [i for i, state in enumerate(states) if state]
        own = {name for name in NAMES[self.kind] if f"{name}_{t}" in fields}
        need(not own & {"Z", "p"} or self.orthonormal, "Z or p without orthonormal columns")
        if not own and above:
            return above.arrays
        need(own, "the first node has no arrays")
        arrays = {"features": allowed, "cuts": cuts, "own": own}
        n = len(allowed)
        if "whole" in own:
            arrays["whole"] = fields.integer(f"whole_{t}")
            need(own == {"whole"} and arrays["whole"] in (1, 2, 3), "whole")
            need(arrays["whole"] != 2 or self.orthonormal, "whole of another kind")
            need(arrays["whole"] != 3 or not self.data, "whole 3 of data")
        for name in own & {"G", "H"}:
            arrays[name] = fields.matrix(f"{name}_{t}")
            need(len(arrays[name]) == n, f"{name} has the wrong shape")
        need("H" not in own or "s" in own, "H without s")
        if "s" in own:
            arrays["s"] = fields.reals(f"s_{t}", 0)[0]
        wide = self.data and arrays.get("s", 0) > 0
        arrays["wide"] = wide and "few" not in own
        need(not arrays["wide"] or not own & {"Y", "Z", "N", "p"}, "a wide node has no Y, N or Z")
        few = None
        if "few" in own:
            need(wide and not cuts, "few is for wide nodes without cuts")
            need(not own & {"Z", "p"}, "few comes with Y and N alone")
            few = fields.features(f"few_{t}", self.d)
            need(set(few) <= set(allowed), "few names a feature that is excluded")
        for name in own & {"Y", "Z", "N"}:
            size = len(few) if few is not None else n + len(cuts) * (name == "N")
            M = fields.matrix(f"{name}_{t}")
            need(
                len(M) == size and all(len(row) == size for row in M), f"{name} has the wrong shape"
            )
            if few is not None:
                place = {i: j for j, i in enumerate(few)}
                M = [
                    [
                        M[place[i]][place[j]] if i in place and j in place else Fraction(0)
                        for j in allowed
                    ]
                    for i in allowed
                ]
            arrays[name] = M
        if "p" in own:
            arrays["p"] = fields.reals(f"p_{t}", 1)
            need(len(arrays["p"]) == n, "p has the wrong shape")
        self.check_signs(arrays)
        return arrays

    def check_signs(self, arrays):
        """N is symmetric, and neither it nor p has a negative entry."""
        N = arrays.get("N", [])
        need(transposed(N) == N if N else True, "N is not symmetric")
        need(all(cell >= 0 for row in N for cell in row), "N has a negative entry")
        need(all(cell >= 0 for cell in arrays.get("p", [])), "p has a negative entry")

    def row_costs(self, Y, k, node, rows):
        """Half of Y_ii + sqrt(...), for the rows of Y, which are the features `rows`."""
        n, costs = len(rows), []
        for i in range(n):
            required = [j for j in range(n) if node.states[rows[j]] == 2 and j != i]
            others = [j for j in range(n) if node.states[rows[j]] != 2 and j != i]
            inside = Y[i][i] ** 2 + sum(Y[i][j] ** 2 for j in required)
            inside += largest(k - 1 - len(required), [Y[i][j] ** 2 for j in others])
            costs.append((Y[i][i] + root_above(inside)) / 2)
        return costs

    def bound(self, node):
        """r and the costs c of the node's features, as a mapping."""
        arrays, rows = node.arrays, node.allowed
        n = len(rows)
        A = block(self.A, rows)
        if arrays.get("whole") == 1:
            t = Fraction(0) if self.data else lack(A)
            return Fraction(0), {i: self.A[i][i] + t for i in rows}
        if arrays.get("whole") == 2:
            k = max(self.counts)
            sums = [
                A[i][i] + largest(k - 1, [abs(A[i][j]) for j in range(n) if j != i])
                for i in range(n)
            ]
            return largest(self.m, sums), dict.fromkeys(rows, Fraction(0))
        place = [arrays["features"].index(i) for i in rows]
        G = [arrays["G"][i] for i in place] if "G" in arrays else [[] for _ in rows]
        H = [arrays["H"][i] for i in place] if "H" in arrays else [[] for _ in rows]
        zero = times(0, identity(n))
        Y = block(arrays["Y"], place) if "Y" in arrays else zero
        Z = block(arrays["Z"], place) if "Z" in arrays else zero
        GG = gram(G, n)
        if arrays["wide"]:
            inner = added(times(arrays["s"], identity(n)), gram(H, n), GG)
            theta = smallest_multiple(inner, A, arrays["s"])
            r = theta * (self.m * arrays["s"] + square(H))
            return r, {i: theta * GG[j][j] for j, i in enumerate(rows)}
        if "N" in arrays:
            width = len(arrays["features"])
            inside = place + [width + q for q in range(len(arrays["cuts"]))]
            B = identity(n) + [[cut[i] for i in rows] for cut in arrays["cuts"]]
            A = added(A, product(transposed(B), product(block(arrays["N"], inside), B)))
        M = added(A, times(-1, GG), times(-1, symmetric_part(Y)), times(-1, symmetric_part(Z)))
        if "s" in arrays:
            S = added(times(arrays["s"], identity(n)), gram(H, n), times(-1, M))
            r = self.m * (arrays["s"] + rounding(S, M)) + square(H)
        else:
            r = at_most(M, self.m)
        nobody = Node([min(state, 1) for state in node.states], None, None)
        costs = self.row_costs(Y, self.k, node, rows)
        of_one = self.row_costs(Y, self.row_count or self.d, nobody, rows)
        costs = [GG[j][j] + min(pair) for j, pair in enumerate(zip(costs, of_one, strict=True))]
        if self.orthonormal:
            p = [arrays["p"][i] for i in place] if "p" in arrays else [Fraction(0)] * n
            for count in self.counts:
                own = self.row_costs(Z, count, nobody, rows)
                r += largest(count, [a + b for a, b in zip(p, own, strict=True)])
            costs = [max(cost - q, Fraction(0)) for cost, q in zip(costs, p, strict=True)]
        return r, dict(zip(rows, costs, strict=True))

    def beside_required(self, node):
        """r and the costs where `whole` is 3."""
        A = block(self.A, node.allowed)
        A = added(A, times(lack(A), identity(len(A))))
        P = [j for j, i in enumerate(node.allowed) if node.states[i] == 2]
        p, root = len(P), 1
        while root**2 < self.k - p:
            root *= 2
        inner = block(A, P)
        r = at_most(inner, min(self.m, p)) if p else Fraction(0)
        least = at_least(inner, min(self.m, p)) if p else Fraction(0)
        costs = {}
        for j, i in enumerate(node.allowed):
            scales = [1] * p + [root]
            M = block(A, [*P, j])
            M = [[M[a][b] * scales[a] * scales[b] for b in range(p + 1)] for a in range(p + 1)]
            more = at_most(M, min(self.m, p + 1)) - least
            costs[i] = Fraction(0) if j in P else max(more, Fraction(0)) / root**2
        return r, costs

    def bound_of_node(self, node):
        """r, the costs net of prices, and b."""
        required = node.arrays.get("whole") == 3
        r, costs = self.beside_required(node) if required else self.bound(node)
        if self.prices is not None:
            costs = {i: cost - self.prices[i] for i, cost in costs.items()}
        b = r + sum(costs[i] for i in node.required)
        b += largest(self.k - len(node.required), [max(costs[i], Fraction(0)) for i in node.free])
        return r, costs, b

    def check_node(self, node, children, branch):
        free, q = node.free, self.k - len(node.required)
        if q < 0 or len(node.allowed) < self.m:
            return  # it holds no support
        if branch == -2:
            need(self.prices is None, "leaders where features have prices")
            self.check_children_of_leaders(node, children)
        r, costs, b = self.bound_of_node(node)
        if b <= self.target and not children:
            return
        if branch == -2:
            by_leader = {child.required[0]: child for child in children}
            need(len(by_leader) == len(children), "two children with one leader")
            return self.check_leaders(node, by_leader)
        if not children:
            need("nodes" in self.fields or self.priced, "the bound exceeds the target")
            return self.check_list(node, r, costs)
        ranked = sorted((max(costs[i], 0) for i in free), reverse=True)
        divided = None
        if 0 <= branch < self.d:
            divided = branch
            need(branch in free, "a division at what is not free")
            states = sorted(child.states[branch] for child in children)
            need(states == [0, 2], "the children miss a support")
        for child in children:
            for i, (old, new) in enumerate(zip(node.states, child.states, strict=True)):
                if i == divided or old == new:
                    continue
                need(old == 1 and 1 <= q <= len(free) - 1, "a decision that is none")
                loss = costs[i] - ranked[q] if new == 2 else ranked[q - 1] - costs[i]
                need(b - max(Fraction(0), loss) <= self.target, "a decision without proof")

    def check_children_of_leaders(self, node, children):
        """What a child may be, whatever the target is."""
        one = self.kind in ("shared", "factors") and self.m == 1
        need(one and self.data, "leaders of what has none")
        for child in children:
            need(len(child.required) == 1, "a child requires what does not lead it alone")
            need(all(node.states[i] == 1 for i in child.allowed), "a child holds too much")

    def check_leaders(self, node, children):
        """Every feature that may lead a support above the target has a child with all it may need.

        `children` are those of the node, each by its leader.
        """
        need(not node.required, "leaders divide what requires something")
        need(self.target > 0, "leaders of nothing")
        S, A, k = node.allowed, self.A, self.k
        t = root_above(max(largest(k, [A[i][i] for i in S]) / self.target - 1, Fraction(0)))
        for i in S:
            b = {}
            for j in S:
                if j == i:
                    continue
                square = A[i][j] ** 2 / (A[i][i] * A[j][j]) if A[i][i] and A[j][j] else Fraction(0)
                r = min(root_above(square), Fraction(1))
                b[j] = A[j][j] * r * min(Fraction(1), r + t * root_above(1 - square))
            if A[i][i] + largest(k - 1, b.values()) <= self.target:
                continue
            need(i in children, "a leader has no child")
            for j in set(b) - set(children[i].allowed):
                rest = largest(k - 2, b.values())
                need(A[i][i] + b[j] + rest <= self.target, "a child lacks what it may need")

    def check_list(self, node, r, costs):
        need(self.kind != "nonnegative" or self.m == 1, "no node of this kind is listed")
        sizes = [min(self.k, len(node.allowed)) - len(node.required)]
        if self.kind == "nonnegative" or self.priced:
            sizes = [j for j in range(sizes[0] + 1) if j + len(node.required) >= self.m]
        room = self.target - r - sum(costs[i] for i in node.required)
        _, [[room, *ranked]] = over_one([[room, *map(costs.get, node.free)]])
        by_cost = sorted(zip(ranked, node.free, strict=True), reverse=True)
        for size in sizes:
            self.check_below(node.required, by_cost, size, room, self.d + 1)

    def check_below(self, fixed, free, left, room, asked):
        """Show that no support of what is fixed and `left` of the free ones exceeds the target.

        It does not if its costs fit into the room, or if F_m of all these features together is at
        most the target, by interlacing; so many features were `asked` together before.
        """
        if sum(cost for cost, _ in free[:left]) <= room:
            return
        free = free if left else []
        together = sorted([*fixed, *(i for _, i in free)])
        supports = math.comb(len(free), left)
        if len(together) < asked and (supports == 1 or supports > APART):
            asked = len(together)
            self.bounds += 1
            if self.bounds > PATIENCE:
                raise TooMany
            inner = block(self.A, together)
            target = self.target
            if self.prices is not None:  # the cheapest of these supports
                target += sum(self.prices[i] for i in fixed)
                target += sum(sorted(self.prices[i] for _, i in free)[:left])
            if fits(inner, self.m, target):
                return
            if supports == 1 and frozenset(together) in self.columns:
                return
            if supports == 1:
                one = self.kind == "nonnegative" and no_positive_vector(inner)
                return need(one, "a listed support exceeds the target")
        (cost, first), *rest = free
        self.check_below(fixed, rest, left, room, asked)
        self.check_below([*fixed, first], rest, left - 1, room - cost, asked)


class Packing:
    """A claim of several components: blocks of them on features of their own."""

    def __init__(self, claim):
        self.claim, self.fields, self.d = claim, claim.fields, claim.d
        self.A, self.T = claim.A, claim.target
        self.nonnegative = "nonnegative" in claim.fields

    def part(self, prefix, **facts):
        """The part of the claim whose fields have this prefix, as a claim of its own."""
        part, start = copy.copy(self.claim), f"{prefix}_"
        own = self.fields.arrays.items()
        part.fields = Fields({x[len(start) :]: v for x, v in own if x.startswith(start)})
        part.kind = "nonnegative" if self.nonnegative else "shared"
        part.orthonormal, part.directions = False, []
        vars(part).update(facts)
        return part

    def check(self):
        if self.first_is_enough():
            return
        self.prices = self.fields.matrix("prices")
        need(all(len(row) == self.d for row in self.prices), "prices has the wrong shape")
        need(all(price >= 0 for row in self.prices for price in row), "a price below 0")
        self.columns = []
        if "columns" in self.fields:
            rows = self.fields.rows_of_integers("columns", self.d)
            need(all(cell in (0, 1) for row in rows for cell in row), "columns hold 0 and 1")
            self.columns = [[i for i, cell in enumerate(row) if cell] for row in rows]
            need(all(set(U) <= set(self.kept) for U in self.columns), "a column of what is dropped")
        self.check_trees()
        for way in self.ways():
            need(any(self.shows(way, row) for row in range(len(self.prices))), f"blocks {way}")

    def first_is_enough(self):
        """Whether the node of all components is closed; else what it drops is dropped rightly."""
        d = self.d
        self.kept = self.fields.features("kept", d) if "kept" in self.fields else list(range(d))
        first = self.part("first")
        if not first.fields.arrays:
            need(len(self.kept) == d, "something is dropped, and nothing says why")
            return False
        need("nodes" not in first.fields, "the first is one node")
        states = [1] * d
        node = Node(states, first.take_arrays(0, states, [], None), [])
        _, costs, b = first.bound_of_node(node)
        if b <= self.T:
            return True
        falling = sorted(costs.values(), reverse=True)
        for i in set(range(d)) - set(self.kept):
            need(first.k < d and b - max(falling[first.k - 1] - costs[i], 0) <= self.T, "dropped")
        return False

    def check_trees(self):
        trees = self.fields.rows_of_integers("trees", 3)
        targets = self.fields.reals("targets", 1)
        need(len(targets) == len(trees), "a target for each tree")
        first = [int(i in self.kept) for i in range(self.d)]
        self.us = {}
        for i, (row, b, size) in enumerate(trees):
            need(0 <= row < len(self.prices) and 1 <= b <= size, "trees")
            need(b == 1 or self.claim.orthonormal, "a block of components that do not overlap")
            columns = {frozenset(U) for U in self.columns}
            tree = self.part(
                f"tree{i}", m=b, k=min(size, len(self.kept)), target=targets[i],
                prices=self.prices[row], columns=columns, priced=True, row_count=None,
            )  # fmt: skip
            tree.check_tree(first)
            old = self.us.get((row, b, size), targets[i])
            self.us[row, b, size] = min(old, targets[i])

    def ways(self):
        """All ways to divide the components into blocks, as sorted tuples of tuples of counts."""
        if not self.claim.orthonormal:
            return [[(count,) for count in self.claim.counts]]
        found = [[]]
        for count in self.claim.counts:
            more = []
            for way in found:
                more.append([*way, (count,)])
                more += [[*way[:i], (*way[i], count), *way[i + 1 :]] for i in range(len(way))]
            found = more
        every = {tuple(sorted(tuple(sorted(block)) for block in way)) for way in found}
        return [way for way in every if all(map(self.possible, way))]

    @staticmethod
    def size(block):
        return sum(block) - 2 * (len(block) - 1)

    def possible(self, block):
        """Columns that overlap share two features at least."""
        return len(block) == 1 or (min(block) > 1 and self.size(block) >= len(block))

    def shows(self, way, row):
        """Whether a row of prices shows that components in such blocks are below the target."""
        keys = [(row, len(block), self.size(block)) for block in way]
        if not all(key in self.us for key in keys):
            return False
        rows = min(self.claim.k, sum(size for _, _, size in keys))
        p = self.prices[row]
        charge = largest(rows, [p[i] for i in self.kept])
        slots = []
        for block, key in zip(way, keys, strict=True):
            options, u = [], self.us[key]
            for number, U in enumerate(self.columns):
                if len(block) <= len(U) <= key[2]:
                    value = self.value(number, block)
                    net = value - sum(p[i] for i in U)
                    options += [(net, value, set(U))] if net > u else []
            slots.append((u, sorted(options, key=lambda option: -option[0])))
        best = [max([u, *(net for net, _, _ in options)]) for u, options in slots]
        rest = [sum(best[j:], Fraction(0)) for j in range(len(best) + 1)]

        def fits(j, net, value, used, others):
            if charge + net + rest[j] <= self.T:
                return True
            if j == len(slots):
                return not others and (len(used) > rows or value <= self.T)
            u, options = slots[j]
            return fits(j + 1, net + u, value, used, True) and all(
                fits(j + 1, net + own, value + worth, used | U, others)
                for own, worth, U in options
                if not used & U
            )

        return fits(0, Fraction(0), Fraction(0), set(), False)

    def value(self, number, block_of):
        """What a block of components explains on a column at most."""
        U = self.columns[number]
        B = block(self.A, U)
        most = at_most(B, len(block_of))
        name = f"spectral_{number}"
        if len(block_of) > 1 and name in self.fields:
            H = self.fields.matrix(name)
            need(len(H) == len(U), "spectral has the wrong shape")
            M = added(B, times(-1, gram(H, len(U))))
            total = square(H)
            for count in block_of:
                parts = combinations(range(len(U)), min(count, len(U)))
                total += max(at_most(block(M, S), 1) for S in parts)
            most = min(most, total)
        return most


def no_positive_vector(B):
    """Whether some y has (B - tI) y > 0 for both bounds t of the largest eigenvalue."""
    n = len(B)
    if n == 1:
        return False
    low, high = at_least(B, 1), at_most(B, 1)
    # one step of inverse iteration; a start without regularity has a part along the eigenvector
    start = [[Fraction(1, i + 2)] for i in range(n)]
    near = solve(added(B, times(-high, identity(n))), start)
    if near is None:
        return False
    size = max(abs(cell) for (cell,) in near)
    u = [Fraction(float(cell / size)) for (cell,) in near]
    # q > 0 at right angles to u: some entry of u is negative and some positive
    if sum(u) < 0:
        u = [-cell for cell in u]
    plus = sum(cell for cell in u if cell > 0)
    minus = -sum(cell for cell in u if cell < 0)
    if not minus:
        return False
    q = [plus / minus if cell < 0 else Fraction(1) for cell in u]
    # (B - low I + u u') y = q: off u the same as (B - low I) y = q
    along = times(high or 1, gram([[cell] for cell in u], n))
    y = solve(added(B, times(-low, identity(n)), along), [[cell] for cell in q])
    if y is None:
        return False
    image = product(B, y)
    return all(a[0] - t * b[0] > 0 for t in (low, high) for a, b in zip(image, y, strict=True))


def check(path, data=None):
    """Return what the answer explains, if the claim of the file follows; else raise Refused."""
    return Claim(read(path), data).check()
