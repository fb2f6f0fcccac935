"""A second checker of certificates, written from book/practice/certificate_format.md alone.

It shares nothing with fspca/check_certificate.py: no numpy, no margins, every rule in fractions.
Floating point only guesses (eigenvectors); whatever was guessed is then shown in fractions.
It is slow, and meant for claims about 12 features, or 30 with patience.
"""

import ast
import hashlib
import math
import struct
import zipfile
from fractions import Fraction
from itertools import combinations

LISTED = 20_000  # supports that are listed in all
FEW = 200  # of these, whose eigenvalues are bounded; each takes up to a tenth of a second
CODES = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b"}
CODES |= {"u8": "Q", "u4": "I", "u2": "H", "u1": "B"}


class Refused(Exception):
    """The claim breaks a rule, or does not follow from its proof."""


class TooMany(Exception):
    """More supports are listed than this checker has the patience for."""


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
    need(isinstance(descr, str), "structured array")
    count = math.prod(shape)
    if descr[1] == "U":
        need(shape == (), "text is one text")
        return Array(
            "U", shape, [body.decode("utf-32-" + "lb"[descr[0] == ">"] + "e").rstrip("\0")]
        )
    need(descr[1:] in CODES, f"numbers of type {descr}")
    order = ">" if descr[0] == ">" else "<"
    values = list(struct.unpack(f"{order}{count}{CODES[descr[1:]]}", body))
    if header["fortran_order"] and len(shape) == 2:
        values = [values[j * shape[0] + i] for i in range(shape[0]) for j in range(shape[1])]
    return Array(descr[1], shape, values)


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
        need(array is not None and array.kind[0] in "iu", f"{name} must hold integers")
        need(len(array.shape) == dimensions, f"{name} has the wrong shape")
        return array.values

    def integer(self, name):
        return self.integers(name, 0)[0]

    def reals(self, name, dimensions):
        array = self.arrays.get(name)
        need(array is not None and array.kind[0] in "iuf", f"{name} must hold numbers")
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


def product(B, C):
    columns = list(zip(*C, strict=True))
    return [
        [sum(map(Fraction.__mul__, row, column), Fraction(0)) for column in columns] for row in B
    ]


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


def semidefinite(S):
    """Elimination: every pivot is positive, or zero with a row of zeros.

    Over a common denominator the entries are integers, and Bareiss's division by the pivot before
    keeps them so: what stands at the end of a step are minors.
    """
    common = math.lcm(*(cell.denominator for row in S for cell in row))
    S = [[int(cell * common) for cell in row] for row in S]
    before = 1
    for i, row in enumerate(S):
        pivot = row[i]
        if pivot < 0 or (pivot == 0 and any(row[i + 1 :])):
            return False
        if pivot == 0:
            continue
        for j in range(i + 1, len(S)):
            for h in range(j, len(S)):
                S[j][h] = (S[j][h] * pivot - row[j] * row[h]) // before
        before = pivot
    return True


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


# Eigenvalues: guessed by Jacobi's rotations in floating point, shown in fractions.


def unit_of(M):
    """A power of two near the largest modulus of an entry."""
    top = max((abs(cell) for row in M for cell in row), default=Fraction(0))
    if not top:
        return Fraction(1)
    return Fraction(2) ** (top.numerator.bit_length() - top.denominator.bit_length())


def jacobi(M):
    """Eigenvalues over a unit, descending, and eigenvectors as columns; only a guess."""
    n, unit = len(M), unit_of(M)
    B = [[float(cell / unit) for cell in row] for row in M]
    V = [[float(i == j) for j in range(n)] for i in range(n)]
    for _ in range(30):
        if sum(B[i][j] ** 2 for i in range(n) for j in range(i)) < 1e-32:
            break
        for p, q in combinations(range(n), 2):
            if abs(B[p][q]) < 1e-20:
                continue
            slope = (B[q][q] - B[p][p]) / (2 * B[p][q])
            tangent = math.copysign(1, slope) / (abs(slope) + math.hypot(slope, 1))
            cosine = 1 / math.hypot(tangent, 1)
            sine = tangent * cosine
            for rows in (B, V):
                for row in rows:
                    row[p], row[q] = (
                        cosine * row[p] - sine * row[q],
                        sine * row[p] + cosine * row[q],
                    )
            B[p], B[q] = (
                [cosine * x - sine * y for x, y in zip(B[p], B[q], strict=True)],
                [sine * x + cosine * y for x, y in zip(B[p], B[q], strict=True)],
            )
    order = sorted(range(n), key=lambda i: -B[i][i])
    return unit, [B[i][i] for i in order], [[row[i] for i in order] for row in V]


def at_least(M, m):
    """A number that F_m(M) does not fall short of: the trace on the span of guessed vectors."""
    _, _, vectors = jacobi(M)
    V = [[Fraction(cell) for cell in row[:m]] for row in vectors]
    return trace_on_span(V, M)


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


def at_most(M, m):
    """A number that F_m(M) does not exceed: s and H of the page, from a guess."""
    unit, values, vectors = jacobi(M)
    s = Fraction(values[m - 1]) * unit
    over = [Fraction(math.sqrt(value - values[m - 1])) for value in values[:m]]
    # H is over the root of the unit, so that HH' is the guess times the unit
    H = [[Fraction(row[j]) * over[j] for j in range(m)] for row in vectors]
    slack = raise_until_semidefinite(
        added(times(s, identity(len(M))), times(unit, gram(H, len(M))), times(-1, M)), unit
    )
    return m * (s + slack) + unit * square(H)


def raise_until_semidefinite(S, unit):
    """The least of some numbers whose addition to the diagonal makes S semidefinite."""
    for slack in [Fraction(0), *(unit * Fraction(2) ** e for e in range(-50, 12, 2))]:
        if semidefinite(added(S, times(slack, identity(len(S))))):
            return slack
    raise Refused("no witness was found")


# Nodes.


class Node:
    """The states of the features, what bounds them, and where the node stands in the tree."""

    def __init__(self, states, arrays, cuts):
        self.states, self.arrays, self.cuts = states, arrays, cuts
        self.allowed = [i for i, state in enumerate(states) if state]
        self.required = [i for i, state in enumerate(states) if state == 2]
        self.free = [i for i, state in enumerate(states) if state == 1]


NAMES = ("G", "Y", "s", "H", "whole", "Z", "p", "N", "few")


class Claim:
    def __init__(self, arrays, data=None):
        """`data` is the matrix supplied, as ("A" or "X", rows of floats)."""
        self.fields = fields = Fields(arrays)
        need(fields.integer("version") == 1, "version")
        self.kind = fields.text("kind")
        need(self.kind in ("shared", "separate", "factors", "nonnegative"), "kind")
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
        self.listed = self.looked_at = 0

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
        if self.kind == "separate":
            need(self.k >= min(self.d, sum(self.counts)), "k must hold all counts")
            if self.orthonormal:
                products = gram(transposed(W), self.m)
                for i, j in combinations(range(self.m), 2):
                    bound = products[i][i] * products[j][j] / 10**16
                    need(products[i][j] ** 2 <= bound, "the columns of W are not orthonormal")
            value = trace_on_span(W, self.A)
            if value is None:
                shift = times(unit_of(self.A) / 10**8, identity(self.d))
                need(self.data or semidefinite(added(self.A, shift)), "W dependent, A indefinite")
                value = trace_on_span(independent(W), self.A)
            return value
        need(all(cell >= 0 for row in W for cell in row), "W has a negative entry")
        need(all(sum(map(bool, row)) <= 1 for row in W), "a feature is in two columns")
        value = Fraction(0)
        for column in transposed(W):
            w = [[cell] for cell in column]
            value += trace_on_span(w, self.A)
        return value

    def value_of_factors(self, W):
        """The sum of (y'Aw)^2 / w'w over theta, A between itself and A + tI, both semidefinite."""
        need(self.k >= min(self.d, sum(self.counts)), "k must hold all counts")
        Y = self.fields.matrix("factors")
        need(len(Y) == self.d and len(Y[0]) == self.m, "the shape of factors")
        need(any(any(row) for row in Y), "the factors are zero")
        t = Fraction(0)
        if not self.data:
            unit = unit_of(self.A)
            shifted = added(self.A, times(unit / 10**8, identity(self.d)))
            need(semidefinite(shifted), "A is indefinite")
            t = raise_until_semidefinite(self.A, unit)
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

    def check(self):
        low = self.value()
        self.target = low + self.gap * max(low, Fraction(0))
        if self.kind == "factors" and "R" in self.fields:
            self.take_levels()
        first = [1] * self.d
        for i in self.must:
            first[i] = 2
        for i in self.must_not:
            first[i] = 0
        self.directions = []
        if "directions" in self.fields:
            need(self.kind == "nonnegative" and self.m == 1, "directions")
            self.directions = self.fields.rows_of_integers("directions", self.d)
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
        need(all(-1 <= b < self.d + len(self.directions) for b in branches), "branch")
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
            need(len(below) == 2 if branch >= 0 else len(below) <= 1, "children and branch")
        for t, node in enumerate(self.tree):
            self.check_node(node, [self.tree[c] for c in children[t]], branches[t])
        return float(low)

    def take_arrays(self, t, states, cuts, above):
        """The arrays of node t as a mapping, with the features and the cuts that they speak of."""
        fields = self.fields
        allowed = [i for i, state in enumerate(states) if state]
        own = {name for name in NAMES if f"{name}_{t}" in fields}
        need(not own & {"Z", "p"} or self.orthonormal, "Z or p without orthonormal columns")
        need(not own & {"N", "few"} or self.kind == "nonnegative", "N or few of another kind")
        if not own and above:
            return above.arrays
        need(own, "the first node has no arrays")
        arrays = {"features": allowed, "cuts": cuts, "own": own}
        n = len(allowed)
        if "whole" in own:
            arrays["whole"] = fields.integer(f"whole_{t}")
            need(own == {"whole"} and arrays["whole"] in (1, 2), "whole")
            need(arrays["whole"] == 1 or self.orthonormal, "whole of another kind")
            need(arrays["whole"] == 2 or self.data, "whole of a matrix that is no data")
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
            return Fraction(0), {i: self.A[i][i] for i in rows}
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
            theta = self.theta(inner, A)
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
            r = self.m * (arrays["s"] + raise_until_semidefinite(S, unit_of(S))) + square(H)
        else:
            r = at_most(M, self.m)
        costs = self.row_costs(Y, self.k, node, rows)
        costs = [GG[j][j] + cost for j, cost in enumerate(costs)]
        if self.orthonormal:
            p = [arrays["p"][i] for i in place] if "p" in arrays else [Fraction(0)] * n
            nobody = Node([min(state, 1) for state in node.states], None, None)
            for count in self.counts:
                own = self.row_costs(Z, count, nobody, rows)
                r += largest(count, [a + b for a, b in zip(p, own, strict=True)])
            costs = [max(cost - q, Fraction(0)) for cost, q in zip(costs, p, strict=True)]
        return r, dict(zip(rows, costs, strict=True))

    def theta(self, inner, A):
        """A number that makes theta inner - A semidefinite, near the smallest such."""
        for e in range(-48, 4):
            theta = 1 + Fraction(2) ** e
            if semidefinite(added(times(theta, inner), times(-1, A))):
                return theta
        raise Refused("the witness of wide data is far from one")

    def check_node(self, node, children, branch):
        required, free, q = node.required, node.free, self.k - len(node.required)
        if q < 0 or len(node.allowed) < self.m:
            return  # it holds no support
        r, costs = self.bound(node)
        b = r + sum(costs[i] for i in required) + largest(q, [costs[i] for i in free])
        if b <= self.target and not children:
            return
        if not children:
            need("nodes" in self.fields, "the bound exceeds the target")
            return self.check_list(node, r, costs)
        ranked = sorted((costs[i] for i in free), reverse=True)
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

    def check_list(self, node, r, costs):
        need(self.kind != "nonnegative" or self.m == 1, "no node of this kind is listed")
        sizes = [min(self.k, len(node.allowed)) - len(node.required)]
        if self.kind == "nonnegative":
            sizes = [j for j in range(sizes[0] + 1) if j + len(node.required) >= 1]
        for size in sizes:
            for chosen in combinations(node.free, size):
                self.listed += 1
                if self.listed > LISTED:
                    raise TooMany
                J = sorted([*node.required, *chosen])
                if r + sum(costs[i] for i in J) <= self.target:
                    continue
                self.looked_at += 1
                if self.looked_at > FEW:
                    raise TooMany
                inner = block(self.A, J)
                if at_most(inner, self.m) <= self.target:
                    continue
                need(
                    self.kind == "nonnegative" and no_positive_vector(inner),
                    "a listed support exceeds the target",
                )


def no_positive_vector(B):
    """Whether some y has (B - tI) y > 0 for both bounds t of the largest eigenvalue."""
    n = len(B)
    if n == 1:
        return False
    unit, _, vectors = jacobi(B)
    low, high = at_least(B, 1), at_most(B, 1)
    u = [Fraction(row[0]) for row in vectors]
    # q > 0 at right angles to u: some entry of u is negative and some positive
    if sum(u) < 0:
        u = [-cell for cell in u]
    plus = sum(cell for cell in u if cell > 0)
    minus = -sum(cell for cell in u if cell < 0)
    if not minus or not plus:
        return False
    q = [plus / minus if cell < 0 else Fraction(1) for cell in u]
    # (B - low I + u u') y = q: off u the same as (B - low I) y = q
    shifted = added(B, times(-low, identity(n)), times(unit, gram([[cell] for cell in u], n)))
    y = solve(shifted, [[cell] for cell in q])
    if y is None:
        return False
    image = product(B, y)
    return all(a[0] - t * b[0] > 0 for t in (low, high) for a, b in zip(image, y, strict=True))


def check(path, data=None):
    """Return what the answer explains, if the claim of the file follows; else raise Refused."""
    return Claim(read(path), data).check()
