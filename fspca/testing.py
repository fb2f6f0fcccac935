"""Whether a solver keeps what all promise, on instances that break what is not careful."""

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from tempfile import TemporaryFile
from typing import NamedTuple

import numpy as np
import scipy.sparse

from fspca.covariance import Covariance
from fspca.covariance.linalg import random_subspace
from fspca.covariance.validate import needed
from fspca.problem import (
    ConvergenceWarning,
    Problem,
    SharedSupport,
    Solution,
    as_loadings,
    check_solution,
)
from fspca.registry import Solver, oracle

# Data X of d features, by kind; X'X is the covariance.
GENERIC = {
    "random": lambda rng, d: rng.standard_normal((d + 3, d)) * rng.uniform(0.3, 3, d),
    "spectrum": lambda rng, d: 2.0 ** -np.arange(d)[:, None] * random_subspace(d, d, rng),
}
SPECIAL = {
    "few samples": lambda rng, d: rng.standard_normal((rng.integers(1, d + 1), d)),
    "one sample": lambda rng, d: rng.standard_normal((1, d)),
    "zero": lambda rng, d: np.zeros((2, d)),
    "equal": lambda rng, d: np.eye(d),
    "repeated": lambda rng, d: np.repeat([1.0, 0.5], d)[:d, None] * random_subspace(d, d, rng),
    "condition 1e16": lambda rng, d: np.logspace(0, -8, d)[:, None] * random_subspace(d, d, rng),
    "copies": lambda rng, d: rng.standard_normal((d, d))[:, np.arange(d) // 2],
    "opposites": lambda rng, d: rng.standard_normal((d, 1)) * rng.choice([-1.0, 1.0], d),
    "constants": lambda rng, d: rng.standard_normal((d, d)) * rng.choice([0.0, 1.0], d),
    "units": lambda rng, d: rng.standard_normal((d, d)) * 10.0 ** -rng.permutation(d),
    "far apart": lambda rng, d: rng.standard_normal((d, d)) * 10.0 ** -(3.0 * rng.permutation(d)),
    "blocks": lambda rng, d: rng.standard_normal((d, d)) * (np.eye(d) + np.eye(d, k=1)),
}
WHOLE = {
    "signs": lambda rng, d: rng.integers(-1, 2, (d + 1, d)).astype(float),
    "counts": lambda rng, d: rng.integers(0, 100, (d + 3, d)).astype(float),
    "truths": lambda rng, d: rng.integers(0, 2, (d + 3, d)).astype(float),
}
KINDS = GENERIC | SPECIAL | WHOLE
SCALES = (1.0, 4.0**-498, 4.0**-250, 4.0**250, 4.0**498)  # from about 1e-300 to 1e300
COUNTS = (int, np.int8, np.uint8, np.int32, np.uint64)  # what m and k may be


class Subclass(np.ndarray):
    """An array by another name."""


def mapped(array):
    with TemporaryFile() as file:
        copy = np.memmap(file, array.dtype, "w+", shape=array.shape)
    copy[:] = array
    return copy


def nullable(X):
    return needed("pandas", "testing", "check_solver").DataFrame(X.astype(int), dtype="Int64")


def typed(*words):
    return {word: lambda array, word=word: array.astype(word) for word in words}


FORMS = {  # of a covariance
    "again": np.array,
    "in Fortran's order": np.asfortranarray,
    "of every second entry": lambda A: A.repeat(2, 0).repeat(2, 1)[::2, ::2],
    "backwards": lambda A: A[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda A: np.broadcast_to(A, A.shape),
    "memory-mapped": mapped,
    "of a subclass": lambda A: A.view(Subclass),
    "as lists": np.ndarray.tolist,
    "as a Covariance": Covariance,
    **typed(">f8", "g"),
}
SMALL = typed("f2", "f4", ">f4", "i1", ">i2", "i8")
DATA = typed("f8", "f2", "f4", "g", "i1", "u1", ">i2") | {
    "read by rows": mapped,
    "sparse by rows": scipy.sparse.csr_array,
    "sparse by columns": scipy.sparse.csc_array,
    "of nullable integers": nullable,
}


@dataclass(frozen=True)
class Case:
    """An instance: data of a kind on a scale, drawn with a seed; m and k; and a way to ask."""

    way: str
    kind: str
    scale: float
    d: int
    m: int
    k: int
    seed: int

    @property
    def X(self):
        return np.sqrt(self.scale) * KINDS[self.kind](np.random.default_rng(self.seed), self.d)

    @property
    def A(self):
        A = self.X.T @ self.X
        return A / 2 + A.T / 2


class Asked(NamedTuple):
    """A covariance as it is asked about: perhaps in another order, a multiple, shifted."""

    A: object
    order: np.ndarray | slice = slice(None)
    factor: float = 1.0
    sigma: float = 0.0

    def moved(self, m, objective):
        """Return what becomes of an objective."""
        return self.factor * objective + m * self.sigma


def from_data(case, form):
    return Asked(Covariance.from_data(form(case.X), center=False, divisor=1.0))


def relabelled(case):
    order = np.random.default_rng(case.seed).permutation(case.d)
    return Asked(case.A[np.ix_(order, order)], order=order)


def rescaled(case):
    factor = (3.0, 1e5, *SCALES[1::3])[case.seed % 4]
    return Asked(factor * case.A, factor=factor)


def shifted(case):
    sigma = 2 * case.A.trace()
    return Asked(case.A + sigma * np.eye(case.d), sigma=sigma)


def ways(solver):
    """Return the ways to ask a solver: the kinds of data for each, and what it makes of them."""
    found = {
        "data bool": (["truths"], lambda case: from_data(case, lambda X: X > 0)),
        "data": (KINDS, lambda case: from_data(case, np.array)),
        "rescaled": (GENERIC, rescaled),
    }
    for kinds, forms in ((SPECIAL, FORMS), (["signs"], SMALL)):
        for name, form in forms.items():
            found[f"covariance {name}"] = kinds, lambda case, form=form: Asked(form(case.A))
    for name, form in DATA.items():
        found[f"data {name}"] = ["counts"], lambda case, form=form: from_data(case, form)
    promised = {"labels": ("relabelled", relabelled), "shift": ("shifted", shifted)}
    kept = (each for word, each in promised.items() if solver.promise(word))
    return found | {name: (GENERIC, ask) for name, ask in kept}


hypothesis = needed("hypothesis", "testing", "fspca.testing")
draw = hypothesis.strategies

ROUNDING = 1e-9  # relative: what exact answers and bounds may err
CLOSE = 1e-6  # relative: what iterations with a tolerance make of rounding
THREADS = 1e-7  # relative: what the order of sums makes of objectives

REFUSED = {
    "an entry that is not finite": (np.diag([1.0, np.nan, 1.0]), 1, 2),
    "a matrix that is not symmetric": (np.triu(np.ones((3, 3))), 1, 2),
    "a negative variance": (-np.eye(3), 1, 2),
    "variances below the normal numbers": (1e-310 * np.eye(3), 1, 2),
    "no component": (np.eye(3), 0, 2),
    "more than all features": (np.eye(3), 1, 4),
    "half a feature": (np.eye(3), 1, 1.5),
}


@lru_cache(None)
def optimum(case, problem):
    """Return the optimum by enumeration, or None, and what no answer exceeds."""
    if (found := oracle(case.A, problem)) is not None:
        return found.objective, found.objective
    return None, Covariance(case.A).leading(problem.m)[0].sum()


def judged(solver, A, m, k):
    """Return an answer and what the judge says of it; any warning is an error."""
    before = np.array(A) if isinstance(A, np.ndarray) else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        answer = solver(A, m, k)
        assert before is None or np.array_equal(A, before), "the input was changed"
        asked = solver.problem(m, k)
        if isinstance(answer, Solution):  # a method of separate supports has a score of its own
            told = answer.problem
            assert (type(told), told.m, told.k) == (type(asked), asked.m, asked.k), repr(told)
            asked = told
        verdict = check_solution(A, answer, asked, rises=solver.promise("rises"))
    assert verdict, str(verdict)
    return answer, verdict


def check_case(solver, case, exact_when=None, compare=True):
    """Assert all that one case can show."""
    exact = solver.guarantee == "exact" or (exact_when and exact_when(case.A, case.m, case.k))
    asked = ways(solver)[case.way][1](case)
    kind = COUNTS[case.seed % len(COUNTS)]
    answer, verdict = judged(solver, asked.A, kind(case.m), kind(case.k))
    known = optimum(replace(case, way=""), solver.problem(case.m, case.k))
    best, most = (None if each is None else asked.moved(case.m, each) for each in known)
    assert verdict.objective <= most * (1 + ROUNDING), f"above the optimum {most}"
    if best is not None and exact:
        assert verdict.objective >= best * (1 - ROUNDING), f"below the optimum {best}"
    if best is not None and getattr(answer, "upper_bound", None) is not None:
        assert answer.upper_bound >= best * (1 - ROUNDING), f"a bound below the optimum {best}"
    same = case.way.startswith("covariance")
    if not compare or (case.kind in SPECIAL and not same):
        return
    plain, expected = judged(solver, case.A, case.m, case.k)
    if same:
        assert np.array_equal(as_loadings(answer), as_loadings(plain)), "another answer"
    value = asked.moved(case.m, expected.objective)
    assert abs(verdict.objective - value) <= CLOSE * value, f"another objective than {value}"
    chosen, known = (np.abs(as_loadings(each)).max(axis=1) > ROUNDING for each in (answer, plain))
    assert np.array_equal(chosen, known[asked.order]), f"other features than {expected.support}"


def check_threads(solver: Callable, d: int = 150) -> None:
    """Assert that two threads of BLAS find what one does, on data large enough for both to work.

    The objectives may differ by 1e-7 of themselves, which is what sums in another order come to
    where an iteration ends by its tolerance.

    Parameters
    ----------
    solver : Solver or callable
        What is called as solver(A, m, k).
    d : int
        Features of the instance, from four times as many samples.

    See Also
    --------
    check_solver : All else that is promised.

    Examples
    --------
    >>> from fspca import go
    >>> check_threads(go)
    """
    limited = needed("threadpoolctl", "testing", "check_threads").threadpool_limits
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4 * d, d))
    X[:, :2] += 3 * rng.standard_normal((4 * d, 1))
    A, values = Covariance.from_data(X), []
    for n in (1, 2):
        with limited(n, "blas"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            values.append(solver(A, getattr(solver, "most_components", None) or 2, 2).objective)
    assert abs(values[1] - values[0]) <= THREADS * values[0], f"{values} by one thread and by two"


def check_solver(solver: Callable, problem: type[Problem] = SharedSupport, *,
                 n_instances: int = 100, compared: int = 1, largest: int = 6,
                 exact_when: Callable | None = None, seed: int = 0) -> Counter:  # fmt: skip
    """Assert that a solver keeps what all promise, on instances that hypothesis draws.

    Each instance is a covariance of at most six features, among them those of rank 0 and 1, of
    condition 1e16, with entries from 1e-300 to 1e300, ties, copies and constants, and a way to
    ask: as an array of any layout and type, as data of any kind, with any kind of integers for m
    and k; rescaled; relabelled and shifted where that is promised.  The answer must be feasible,
    its claims true, its objective at most the optimum that enumeration finds, and the optimum
    where that is promised; a bound must be one; the same question in plain words must get the
    same answer.  No warning may come out but that of a loop cut short, and what makes no sense
    must be refused by a TypeError or a ValueError.

    Parameters
    ----------
    solver : Solver or callable
        A row of the registry with its promises, or what is called as solver(A, m, k) and returns
        a Solution or an array of loadings, and promises nothing else.
    problem : type
        What a callable solves: SharedSupport, SeparateSupports or Nonnegative.
    n_instances : int
        How many instances are drawn.
    compared : int
        One instance in so many is also asked in plain words, to save time.
    largest : int
        Features at most, up to six.
    exact_when : callable
        Tells of (A, m, k) whether the optimum is promised.
    seed : int
        Of the instances.

    Returns
    -------
    Counter
        How many instances were asked in each way.

    See Also
    --------
    check_threads : One thread against two.
    fspca.check_solution : Judges one answer.

    Examples
    --------
    >>> from fspca import ipu
    >>> check_solver(ipu, n_instances=20).total() >= 20
    True
    """
    if not isinstance(solver, Solver):
        solver = Solver(getattr(solver, "__name__", "solver"), solver, problem, "heuristic", "")
    for what, arguments in REFUSED.items():
        try:
            solver(*arguments)
        except Exception as error:
            if type(error) not in (TypeError, ValueError):
                raise
        else:
            raise AssertionError(f"{what} is taken")
    known, tried = ways(solver), Counter()

    @draw.composite
    def cases(choose):
        kind = choose(draw.sampled_from([*GENERIC, *GENERIC, *KINDS]))
        way = choose(draw.sampled_from([way for way in known if kind in known[way][0]]))
        scale = choose(draw.sampled_from(SCALES if kind in SPECIAL else SCALES[:1]))
        d = choose(draw.sampled_from([each for each in (4, 3, 5, 2, 6, 1) if each <= largest]))
        most = min(d, solver.most_components or d)
        m = choose(draw.sampled_from([each for each in (2, 1, 3, d) if each <= most]))
        k = choose(draw.integers(m if issubclass(solver.problem, SharedSupport) else 1, d))
        return Case(way, kind, scale, d, m, k, choose(draw.integers(0, 2**20)))

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=n_instances, deadline=None, database=None,
                         phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
                         suppress_health_check=list(hypothesis.HealthCheck))  # fmt: skip
    @hypothesis.given(cases())
    def examined(case):
        tried[case.way] += 1
        check_case(solver, case, exact_when, case.seed % compared == 0)

    examined()
    return tried
