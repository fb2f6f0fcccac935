"""Every margin, stop and decision that a proof rests on is needed: without it a claim fails.

A row of `REMOVALS` names a function, an expression or statement in it, what is put in its place,
and a claim that holds before and fails after.  What is replaced is looked up in the function's
syntax tree, so that lines may break and move, and functions change their file.  Claims on margins
compare with exact arithmetic: on numbers that really round so, or in an arithmetic as bad as the
page of the format allows (`Bad`, `lenient`), in which every margin must still hold.
"""

import ast
import inspect
import textwrap
from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

import fspca.check_certificate as checker
from fspca import certify, go, ipu, solve, upper_bound
from fspca.check_certificate import Floating, Node, check, gamma
from fspca.covariance import Covariance
from fspca.covariance.linalg import largest
from fspca.proof import bounds as certificate
from fspca.proof import certify as certifying
from fspca.proof import checked, search, tree
from fspca.proof.projections import TopPairs
from fspca.proof.search import PROOF, Tree, Walk
from fspca.proof.tree import SupportTree
from fspca.separate_supports.alternation import alternate
from fspca.shared_support import iteration, soap
from fspca.shared_support.exhaustive import exhaustive
from fspca.synthetic import make_scheme
from fspca_reproduction.tian2020 import theorem

U = 2.0**-53
NONE = np.zeros((1, 0))


class Replace(ast.NodeTransformer):
    """Put one expression or statement in the place of another one, wherever that stands."""

    def __init__(self, old, new):
        self.old, self.new, self.count = ast.dump(part(old)), new, 0

    def visit(self, node):
        if ast.dump(node) != self.old:
            return self.generic_visit(node)
        self.count += 1
        return part(self.new)


def part(text):
    """Return the tree of an expression, or of a statement that is none."""
    statement = ast.parse(text).body[0]
    return statement.value if isinstance(statement, ast.Expr) else statement


def removed(monkeypatch, function, old, new):
    """Let a function run with one of its expressions replaced, wherever it has been imported."""
    function = inspect.unwrap(function)
    tree, replace = ast.parse(textwrap.dedent(inspect.getsource(function))), Replace(old, new)
    replace.visit(tree)
    assert replace.count == 1, f"{old} is no longer in {function.__name__}, once"
    scope = {}
    code = compile(ast.fix_missing_locations(tree), "<removed>", "exec")
    exec(code, function.__globals__, scope)
    changed = scope[function.__name__]
    changed = inspect.unwrap(changed.fget if isinstance(changed, property) else changed)
    monkeypatch.setattr(function, "__code__", changed.__code__)


class Bad(np.ndarray):
    """Products and sums as wrong as any order of summation may be: `way` times their bound."""

    way = 1

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [np.asarray(x) if isinstance(x, Bad) else x for x in inputs]
        kwargs.pop("out", None)
        out = getattr(ufunc, method)(*plain, **kwargs)
        if ufunc is np.matmul:
            a, b = plain
            out = out + self.way * gamma(np.shape(a)[-1]) * (np.abs(a) @ np.abs(b))
        if ufunc is np.add and method == "reduce":
            out = out - gamma(plain[0].size) * np.add.reduce(np.abs(plain[0]), **kwargs)
        return np.asarray(out).view(type(self))


class Worse(Bad):
    way = -1


def lenient(S):
    """Whether a Cholesky factorisation may run to its end, by what is known of its errors."""
    n = len(S)
    lost = gamma(n + 3) / (1 - gamma(n + 3)) * np.trace(S)
    return np.linalg.eigvalsh(np.asarray(S))[0] >= -lost


def exact(x):
    return Fraction(float(x))


def numbers_of(A):
    return Floating(np.asarray(A), False, [])


# ---- what the eigenproblems of supports return


def eigh_that(change):
    honest = np.linalg.eigh

    def eigh(B):
        return change(*honest(B))

    return patch("numpy.linalg.eigh", eigh)


def top_sums_hold(change):
    B = np.diag([1.0, 2.0, 5.0])[None]
    with eigh_that(change):
        low, high = numbers_of(B[0]).top_sums(B, 2, 0)
    assert low[0] <= 7 <= high[0]


def eigenvalues_that_are_off():
    for factor in (1 - 1e-6, 1 + 1e-6):
        top_sums_hold(lambda w, V, factor=factor: (w * factor, V))


def eigenvectors_that_are_too_long():
    for factor in (1 - 1e-6, 1 + 1e-6):
        top_sums_hold(lambda w, V, factor=factor: (w / factor**2, V * factor))


def blocks_of_data_that_are_off():
    X = np.full((64, 1), 0.125).view(Worse)  # X'X = 1
    B, error = numbers_of(np.eye(1)).square(X)
    B, error = np.asarray(B), float(error)
    assert B[0, 0] + error >= 1
    assert numbers_of(np.eye(1)).top_sums(B[None], 1, error)[1][0] >= 1


def listed_supports_that_round_down():
    """A support of value 3 is not at most what is a little less."""
    numbers = numbers_of(np.eye(1))
    assert not checker.no_larger([np.diag([1.0, 2.0])], [0], 2, 3 * (1 - 2 * U), numbers)[0]


# ---- F_m(A - GG' - sym Y)


def accepted(prove, truth, levels):
    """Whatever level s is accepted, the bound is at least the truth; and some are."""
    bounds = []
    with patch.object(checker, "factored", lenient):
        for s in levels:
            try:
                bounds.append(prove(s))
            except checker.Refused:
                continue
    assert bounds
    assert min(exact(bound) for bound in bounds) >= truth


def ky_fan(A, G, Y, m, H):
    A = np.atleast_2d(np.asarray(A, dtype=float))
    return lambda s: numbers_of(A).ky_fan(A, G, Y, m, 0, s=s, H=H)


def near(s, steps=400, by=16):
    return s * (1 + by * U * np.arange(-steps, 10))


def cholesky_that_ends_too_easily():
    n = 60
    A, none = np.diag(np.eye(n)[0]), np.zeros((n, 0))
    accepted(ky_fan(A, none, None, 1, none), 1, near(1.0))


def a_factor_whose_square_is_off():
    G = np.full((1, 1024), 2.0**-5).view(Bad)  # GG' = 1 = A
    accepted(ky_fan(1.0, G, None, 1, NONE), 0, np.arange(-2000, 10, 8) * U)


def a_witness_whose_square_is_off():
    H = np.full((1, 1024), 2.0**-5).view(Bad)  # HH' = 1 = A, s = 0
    accepted(ky_fan(1.0, NONE, None, 1, H), 1, np.arange(-2000, 10, 8) * U)


def halves_that_round():
    """A_12 = (Y_12 + Y_21) / 2 but for rounding: M is nothing as computed, and not in truth."""
    Y = np.array([[0.0, 1.0 + 2 * U], [U / 2, 0.0]])
    A = (Y + Y.T) / 2
    most = abs((exact(Y[0, 1]) + exact(Y[1, 0])) / 2 - exact(A[0, 1]))
    assert most > 0
    none = np.zeros((2, 0))
    assert exact(numbers_of(A).ky_fan(A, none, Y, 1, 0, s=2.0**-70, H=none)) >= most


# ---- the same, of data


def of_data(X, G, m):
    """The bound of rank m that data and a factor give at a level s, all costs counted."""
    H, numbers = np.zeros((X.shape[1], 0)), numbers_of(X)
    matrix = checker.Matrix(X, True, numbers)

    def prove(s):
        node = Node(np.ones(X.shape[1], int), matrix, {"G": G, "Y": None, "s": s, "H": H,
                                                       "whole": None})  # fmt: skip
        with patch.object(Floating, "read", lambda self, x, degree: x):
            return checker.bound_node(node, numbers, m, X.shape[1], checker.shared_bound)[2]

    return prove


def cholesky_of_samples_that_ends_too_easily():
    X = np.zeros((60, 1))
    X[0] = 1
    accepted(of_data(X, np.zeros((1, 0)), 1), 1, near(1.0))


def a_cost_of_data_that_is_too_small():
    """Nearly all of it is cost, and s is small: the factor of the Cholesky must reach the cost."""
    X = np.zeros((60, 1))
    X[0] = 1
    s = 2.0**-20
    for by in range(0, 4000, 16):
        G = np.array([[np.sqrt(1 - s - by * U)]])
        with patch.object(checker, "factored", lenient):
            try:
                bound = of_data(X, G, 1)(s)
            except checker.Refused:
                continue
        assert bound >= 1


def plain_solve(S, x, honest=np.linalg.solve):
    return honest(np.asarray(S), np.asarray(x))


def residuals_of_data_that_are_off():
    G = np.full((1, 256), 2.0**-5).view(Bad)  # GG' = 1/4
    X, numbers = np.ones((1, 1)), numbers_of(np.ones((1, 1)))

    def prove(s):
        blocks = lambda: [(slice(None), X)]  # noqa: E731
        with patch("numpy.hstack", lambda both: G), patch("numpy.linalg.solve", plain_solve):
            rest, times = numbers.ky_fan_of_data(blocks, G, 1, s, np.zeros((1, 0)))
        return rest + times / 4

    accepted(prove, 1, near(0.75, 60, 4))


# ---- costs, sums and targets, against fractions


def cost_of(G, Y, k):
    A, numbers = np.eye(len(G)), numbers_of(np.eye(len(G)))
    parts = {"G": G, "Y": Y, "s": None, "H": G[:, :0], "whole": None}
    node = Node(np.ones(len(G), int), checker.Matrix(A, False, numbers), parts)
    with patch.object(Floating, "ky_fan", lambda *all, **known: 0.0):
        return checker.shared_bound(node, numbers, 1, k)[1]


def costs_of_a_factor():
    rng = np.random.default_rng(0)
    for _ in range(20):
        G = rng.standard_normal((4, 9))
        squares = [sum(exact(g) ** 2 for g in row) for row in G]
        for c, square in zip(cost_of(G, None, 2), squares, strict=True):
            assert exact(c) >= square


def costs_of_rows():
    rng = np.random.default_rng(0)
    for _ in range(20):
        G, Y = rng.standard_normal((4, 2)), rng.standard_normal((4, 4))
        for i, c in enumerate(cost_of(G, Y, 3)):
            others = sorted((exact(y) ** 2 for y in np.delete(Y[i], i)), reverse=True)
            root = 2 * (exact(c) - sum(exact(g) ** 2 for g in G[i])) - exact(Y[i, i])
            assert root >= 0
            assert root**2 >= exact(Y[i, i]) ** 2 + sum(others[:2])


def variances_of_data():
    """1 and a thousand squares that a running sum does not see."""
    X = np.full((1001, 2), 2.0**-27)
    X[0] = 1
    numbers = numbers_of(np.eye(1))
    node = Node(np.ones(2, int), checker.Matrix(X, True, numbers), {"whole": 1, "G": None,
                                                                    "Y": None})  # fmt: skip
    c = checker.shared_bound(node, numbers, 1, 1)[1]
    assert exact(c[0]) >= 1 + Fraction(1000, 2**54)


def variances_taken_whole():
    """1 and 2^-60 beside a matrix whose least eigenvalue is -1: the sum rounds."""
    A, numbers = np.array([[1.0, 0, 0], [0, 2.0**-60, 1], [0, 1, 2.0**-60]]), numbers_of(np.eye(1))
    node = Node(np.ones(3, int), checker.Matrix(A, False, numbers), {"whole": 1, "G": None,
                                                                     "Y": None})  # fmt: skip
    with patch.object(checker, "lowest", lambda *all: 1.0):
        c = checker.shared_bound(node, numbers, 1, 1)[1]
    assert exact(c[1]) >= 1 + Fraction(1, 2**60)


def sums_of_costs():
    rng, numbers = np.random.default_rng(0), numbers_of(np.eye(1))
    for _ in range(50):
        c, rest = rng.random(9), rng.random()
        node = Node(np.ones(9, int), None, {})
        _, _, bound = checker.bound_node(node, numbers, 1, 5, lambda *all, r=rest, c=c: (r, c))
        assert exact(bound) >= exact(rest) + sum(map(exact, np.sort(c)[-5:]))


def targets():
    rng, numbers = np.random.default_rng(0), numbers_of(np.eye(1))
    for _ in range(200):
        value, gap = rng.random(2)
        assert exact(numbers.target(value, gap)) <= exact(value) * (1 + exact(gap))


# ---- decisions of the solvers


def the_closed_form_is_better():
    """A covariance on which a few steps of the dual end above the least bound in closed form."""
    A = make_scheme("F", 12, 2)
    return A, min(upper_bound(A, 3, 11, method=x).bound for x in certificate.CLOSED_FORM)


def the_lesser_bound_is_kept():
    A, closed_form = the_closed_form_is_better()
    assert certify(A, go(A, 3, 11), max_iter=10).upper_bound <= closed_form


def solving():
    return inspect.getmodule(inspect.unwrap(solve))


def theorem_on_nearly_equal_eigenvalues():
    A = Covariance(np.diag([1.0, 1, 1, 1, 0.99]))
    assert theorem.theorem_loss(A, 2, 3) == pytest.approx(0.01)


def the_tree_ends_where_supports_tie():
    """Two supports of one value up to rounding: neither must look better than the other."""
    A = make_scheme("F", 12, 0)
    twice = np.block([[A, A], [A, A]]) + 0.01 * np.eye(24)
    found = solve(twice, 3, 5, max_iter=60, gap=0.0)
    assert found.stopped == "gap reached"
    assert found.certificate is not None
    assert check(found.certificate | {"A": twice}).holds


def an_interrupted_tree_keeps_its_bound():
    found = solve(make_scheme("F", 24, seed=6), 2, 8, max_iter=1, gap=0.0)
    assert found.certificate is not None
    assert found.upper_bound > found.objective * 1.001


def an_enumerated_support_may_be_better():
    """The first answer is bad, and the best support is one of those that are looked at."""
    A = make_scheme("F", 8, 1)
    bad = min(range(5), key=lambda i: A[i, i])
    with (
        patch.object(
            solving(),
            "at_once",
            lambda A, problem, starts, run, exchanges: run.adopt(worst(A, bad)),
        ),
        patch.object(solving(), "cross", lambda *all: None),
        patch.object(SupportTree, "round_up", lambda *all: None),
    ):
        assert solve(A, 2, 3, gap=0.0).objective == pytest.approx(exhaustive(A, 2, 3).objective)


def worst(A, i):
    return ipu(A, 2, 3, init=np.eye(8)[:, [i, (i + 1) % 8]], max_iter=1)


class Hurried(SupportTree):
    """One that has no time left once a part is processed."""

    def process_node(self, part):
        run, self.run = self.run, SimpleNamespace(seconds_left=0, spend=lambda work: None)
        try:
            return super().process_node(part)
        finally:
            self.run = run


class Rewarded(SupportTree):
    """One that notes the arrays of a node before rewards decide, and those of what is left then."""

    noted = ()

    def tightened_costs(self, found, required):
        held, sharp = self.arrays[len(self.states) - 1], super().tightened_costs(found, required)
        if sharp is not None:
            Rewarded.noted = (held, self.arrays, len(self.states))
        return sharp


def what_rewards_decide_keeps_the_arrays():
    """What decides may bound worse, so that what is left has the arrays of before, on its rows."""
    small = patch.multiple(tree, FEW=0, AT_FIRST=0, WORTH=0.0, DEAR=0)
    rare = patch.object(search, "SHARE", 1.0)
    with small, rare, patch.object(solving(), "SupportTree", Rewarded):
        assert solve(make_scheme("F", 30, seed=3), 2, 6, max_iter=1, gap=0.0).certificate
    held, arrays, left = Rewarded.noted
    assert left in arrays
    assert {row.tobytes() for row in arrays[left]["G"]} <= {row.tobytes() for row in held["G"]}


def seconds_end_the_root():
    """Where no time is left, the relaxation of a node ends at the next look at the clock."""
    counted, honest = [], Walk.advance

    def counting(walk):
        counted.append(1)
        honest(walk)

    hurried = patch.object(solving(), "SupportTree", Hurried)
    with patch.object(Walk, "advance", counting), hurried:
        solve(make_scheme("F", 30, seed=3), 3, 7, max_iter=1, gap=0.0)
    assert len(counted) <= 4


def noise_has_no_inverse():
    """A direction without variance, and a product with it that is rounding: ZZ' <= A all the same.

    A = diag(1, 0), W = I.
    """
    AW, M = np.array([[1.0, 1e-20], [0.0, 1e-18]]), np.diag([1.0, 1e-40])
    assert np.sum(iteration.proxy_rows(AW, M) ** 2, axis=1) == pytest.approx([1.0, 0.0])


def the_best_step_is_kept():
    found = soap(make_scheme("A", 12, 2), 3, 5, keep="best", init="random", seed=2)
    assert found.objective == pytest.approx(max(found.history))


def ties_in_noise_go_to_the_first():
    assert largest([1.0, 1e-17, 2e-17], 2).tolist() == [0, 1]


def counted_work_ends_the_search():
    """Two hundredths of a second of it, where some nodes are needed."""
    A = make_scheme("F", 40, seed=3)
    with patch.multiple(solving(), WORK=2e8, quick_work=lambda checked, state: 0.0):
        assert solve(A, 3, 7, max_iter=9).stopped == "max_work"


def partial_eigenproblems_that_fail():
    """LAPACK's search for some eigenpairs may give up; then all are computed."""
    pairs = TopPairs()
    pairs.count = 1
    with patch("scipy.linalg.eigh", side_effect=np.linalg.LinAlgError):
        assert pairs.positive_part(np.diag(np.arange(-50.0, 50))).shape[1] == 49


def agreed(d, penalty, gamma_, rho, seed):
    """Run SADMM's steps to their end, which all three changes must have reached."""
    rng, kept = np.random.default_rng(seed), []
    A = Covariance(np.eye(1) if d == 1 else make_scheme("F", d, seed) / 50)
    V = np.ones((1, 1)) if d == 1 else np.linalg.qr(rng.standard_normal((d, 2)))[0]
    options = {"growth": 1.0, "rho_max": None, "tol": 1e-3, "max_iter": 300}
    _, ended = alternate(
        A, V, penalty, gamma_, rho, note=lambda V, Y: kept.append((V, Y)), **options
    )
    if ended == "settled":
        (V0, Y0), (V, Y) = kept[-2:]
        moves = [np.linalg.norm(x) for x in (V - Y, V - V0, Y - Y0)]
        assert max(moves) <= 1e-3 * np.sqrt(V.shape[1])


def sadmm_has_settled():
    for seed in range(3):
        agreed(6, 0.3, 4.0, 3.0, seed)
    agreed(1, 5.0, 1.0, 9.0, 0)


MOVES = "[step.V - step.Y, step.V - last.V, step.Y - last.Y]"
REMOVALS = {
    "eigenvalues' residual": (
        Floating.top_sums, "residual", "0.0", eigenvalues_that_are_off),
    "eigenvectors' defect": (
        Floating.top_sums, "defect", "0.0", eigenvectors_that_are_too_long),
    "a block's error": (Floating.top_sums, "error", "0.0", blocks_of_data_that_are_off),
    "a block of data": (
        Floating.square, "gamma(len(X) + 2) * np.sum(X**2)", "0.0", blocks_of_data_that_are_off),
    "a listed support from above": (
        checker.no_larger, "numbers.top_sums(np.array(blocks), m, max(errors))[1]",
        "numbers.top_sums(np.array(blocks), m, max(errors))[0]", listed_supports_that_round_down),
    "Cholesky": (
        Floating.ky_fan, "gamma(n + 3) / (1 - gamma(n + 3)) * np.trace(S)", "0",
        cholesky_that_ends_too_easily),
    "the factor's square": (
        Floating.ky_fan, "gamma(G.shape[1] + 8) * g", "0", a_factor_whose_square_is_off),
    "the witness's square": (
        Floating.ky_fan, "gamma(H.shape[1] + 8) * h", "0", a_witness_whose_square_is_off),
    "sum of the witness": (
        Floating.ky_fan, "H.size + 8", "0", a_witness_whose_square_is_off),
    "forming S": (Floating.ky_fan, "gamma(8) * size", "0", halves_that_round),
    "Cholesky of samples": (
        Floating.ky_fan_of_data, "gamma(n + 3) / (1 - gamma(n + 3)) * np.trace(S)", "0",
        cholesky_of_samples_that_ends_too_easily),
    "that it succeeds": (
        Floating.ky_fan_of_data, "factored(S)", "True",
        cholesky_of_samples_that_ends_too_easily),
    "costs of data": (checker.shared_bound, "c * times * (1 + 4 * UNIT)", "c",
                      a_cost_of_data_that_is_too_small),
    "residual of data": (
        Floating.ky_fan_of_data, "2 * np.sqrt(r) * e + e**2", "0",
        residuals_of_data_that_are_off),
    "costs": (checker.row_costs, "numbers.raised(c, c, roundings)", "c", costs_of_a_factor),
    "costs with rows": (
        checker.row_costs, "numbers.raised(c, size, len(Y) + roundings)", "c", costs_of_rows),
    "k - 1 entries beside": (
        checker.row_terms, "max(left - 1, 0)", "max(left - 2, 0)", costs_of_rows),
    "variances": (
        checker.whole_costs, "numbers.raised(squares, squares, len(node.matrix.array) + 2)",
        "squares", variances_of_data),
    "variances of a matrix": (checker.whole_costs, "numbers.raised(own + t, np.abs(own) + t, 4)",
                              "own + t", variances_taken_whole),
    "sum of costs": (
        checker.bound_node,
        "numbers.raised(rest + fixed.sum() + free.sum(), size, 2 * len(c) + 32)",
        "rest + fixed.sum() + free.sum()", sums_of_costs),
    "target": (Floating.target, "4 * UNIT * (1 + gap) * abs(value)", "0", targets),
    "keep the lesser bound": (
        certifying.shared, "min(found, dual, key=lambda each: each.bound)", "dual",
        the_lesser_bound_is_kept),
    "third term of the theorem": (
        theorem.theorem_terms,
        "[first, second, 1 - max(smallest, 0.0) / values[0], 1 - k / A.size]",
        "[first, second, 1 - k / A.size]", theorem_on_nearly_equal_eigenvalues),
    "the tree's margin": (
        Tree.target.fget, "PROOF * self.value", "0", the_tree_ends_where_supports_tie),
    "what rewards decided keeps its arrays": (
        Tree.without_decided,
        "self.arrays[place] = on_rows(self.arrays[part.place], part.rows, kept)",
        "pass", what_rewards_decide_keeps_the_arrays),
    "the bound of what is open": (
        Tree.bound.fget,
        "max(self.target, self.unresolved_bound, *(-bound for bound, _, _ in self.heap[:1]))",
        "max(self.target, self.unresolved_bound)",
        an_interrupted_tree_keeps_its_bound),
    "the best of those enumerated": (
        SupportTree.evaluate, "self.propose(supports[np.argmax(values)])", "None",
        an_enumerated_support_may_be_better),
    "max_seconds within a node": (
        Walk.is_late, "self.tree.run.seconds_left == 0", "False", seconds_end_the_root),
    "cut of the pseudoinverse": (
        iteration.proxy_rows, "len(w) * np.finfo(float).eps * w[-1]", "0", noise_has_no_inverse),
    'keep="best"': (
        iteration.from_every_start, 'keep == "last"', "True", the_best_step_is_kept),
    "V and Y agree": (alternate, MOVES, "[step.V - last.V, step.Y - last.Y]", sadmm_has_settled),
    "V stands still": (alternate, MOVES, "[step.V - step.Y, step.Y - last.Y]", sadmm_has_settled),
    "Y stands still": (alternate, MOVES, "[step.V - step.Y, step.V - last.V]", sadmm_has_settled),
    "noise of scores": (
        largest, "8 * EPS * np.abs(score).max()", "0", ties_in_noise_go_to_the_first),
    "work is counted": (
        SupportTree.spend, "self.run.spend(10 * step_work(found.state))", "None",
        counted_work_ends_the_search),
    "LAPACK gives up": (
        TopPairs.above, "suppress(np.linalg.LinAlgError)", "suppress(KeyError)",
        partial_eigenproblems_that_fail),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REMOVALS)
def test_it_holds_and_without_this_it_fails(name, monkeypatch):
    function, old, new, claim = REMOVALS[name]
    claim()
    removed(monkeypatch, function, old, new)
    with pytest.raises((AssertionError, np.linalg.LinAlgError, pytest.fail.Exception)):
        claim()


def next_of(x):
    return (  # over two lines
        x
        + 1)  # fmt: skip


def test_a_removal_goes_by_the_tree_and_must_be_found_once(monkeypatch):
    with pytest.raises(AssertionError, match="x \\+ 2 is no longer in next_of, once"):
        removed(monkeypatch, next_of, "x + 2", "x")
    removed(monkeypatch, next_of, "x + 1", "x")
    assert next_of(3) == 3


def test_two_words_of_what_is_proven():
    """The levels at which an answer counts as proven are those that the text names."""
    assert PROOF == 1e-9
    assert checked.MAX_MEMORY == 2**31
