"""The contract that every solver keeps, rule by rule, and for each rule saboteurs that break it."""

import inspect
import pickle
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import wraps

import numpy as np
import pytest
import which_method

import fspca
from fspca import SOLVERS, ConvergenceWarning, Covariance, check_solution
from fspca.covariance.linalg import largest
from fspca.covariance.sources import Dense, Source
from fspca.problem import CUT_SHORT, TRIED, SharedSupport
from fspca.registry import ROOMS
from fspca.shared_support.ipu import ipu
from fspca.shared_support.refit import refit, solution_on
from fspca.shared_support.starts import SHARED_WORDS, WORDS
from fspca.solver import Progress, Run, solves
from fspca.synthetic import make_scheme

pytestmark = pytest.mark.filterwarnings("ignore::fspca.ConvergenceWarning")

ROUNDING = 1e-9  # relative; objectives of well-scaled matrices differ by far less when equal
COMMON = ("init", "n_starts", "seed", "tol", "max_iter", "max_seconds", "progress", "n_jobs")
SYNONYMS = {
    "start", "starts", "support", "random_state", "eps", "max_steps", "max_nodes", "max_swaps",
    "max_cells", "max_sweeps", "n_iter", "timeout", "callback", "verbose",
}  # fmt: skip
ENDS = {
    "done", "the support repeats", "no gain", "settled", "gap reached", "target reached",
    TRIED,
    *CUT_SHORT,
}  # fmt: skip

A, M, K = make_scheme("F", 9, 2), 2, 4


def options(solver):
    """The keyword-only parameters of a solver."""
    return dict(list(inspect.signature(solver.function).parameters.items())[3:])


def signature(solver):
    """A, m, k in this order, all else by name, the common options last and in one order."""
    first = list(inspect.signature(solver.function).parameters.values())[:3]
    assert [each.name for each in first] == ["A", "m", "k"]
    assert all(each.kind is each.POSITIONAL_OR_KEYWORD for each in first)
    assert all(each.kind is each.KEYWORD_ONLY for each in options(solver).values())
    assert not SYNONYMS & options(solver).keys()
    shared = [name for name in options(solver) if name in COMMON]
    assert list(options(solver))[len(options(solver)) - len(shared) :] == shared
    assert shared == sorted(shared, key=COMMON.index)


def defaults(solver):
    """seed=0, no limit of time, silence; m and k are asked for, k or a penalty where both do."""
    known = {"seed": 0, "max_seconds": None, "progress": None}
    for name in known.keys() & options(solver).keys():
        assert options(solver)[name].default == known[name]
        assert type(options(solver)[name].default) is type(known[name])
    parameters = inspect.signature(solver.function).parameters
    assert parameters["m"].default is inspect.Parameter.empty
    if parameters["k"].default is not inspect.Parameter.empty:
        assert parameters["k"].default is None
        assert "penalty" in parameters
        with pytest.raises(ValueError, match="one of the two"):
            solver.function(A, M)
        with pytest.raises(ValueError, match="one of the two"):
            solver.function(A, M, K, penalty=0.1)


def calls_again(solver):
    """The same call gives the same answer, to the last bit, and leaves its input alone."""
    part = A[:6, :6].copy()
    for m, calls in ((1, 10), (M, 3)):  # more components take longer
        first = solver(part, m, 3)
        for _ in range(calls):
            again = solver(part, m, 3)
            assert np.array_equal(first.W, again.W)
            assert (first.history, first.n_iter) == (again.history, again.n_iter)
    assert np.array_equal(part, A[:6, :6])


def seeds(solver):
    """Numbers of any kind of integer are the same; None is chance, and what is none is refused."""
    narrow = solver(A, np.uint8(M), np.uint8(K))
    assert np.array_equal(narrow.W, solver(A, M, K).W)
    assert type(narrow.problem.m) is type(narrow.problem.k) is int
    if "seed" in options(solver):
        assert check_solution(A, solver(A, M, K, seed=None))
        same = solver(A, M, K, seed=np.random.default_rng(5)), solver(A, M, K, seed=5)
        assert np.array_equal(same[0].W, same[1].W)
        with pytest.raises(ValueError, match="seed='a' must be None, an integer"):
            solver(A, M, K, seed="a")


def inits(solver):
    """`init` takes every word that makes sense for the problem, and an array; no other word."""
    if "init" not in options(solver):
        return
    shared = solver.problem.__name__ == "SharedSupport"
    words = set(SHARED_WORDS if shared else WORDS)
    with pytest.raises(ValueError, match="init='best' must be one of") as refused:
        solver(A, M, K, init="best")
    offered = {word for word in words if f"'{word}'" in str(refused.value)}
    assert offered >= set(WORDS) - ({"random"} if "seed" not in options(solver) else set())
    for word in offered:
        assert check_solution(A, solver(A, M, K, init=word))
    start = np.linalg.qr(np.random.default_rng(3).standard_normal((len(A), M)))[0]
    assert check_solution(A, solver(A, M, K, init=start))
    with pytest.raises(ValueError, match="init"):
        solver(A, M, K, init=start[:, :1])
    with pytest.raises(ValueError, match="init"):
        solver(A, M, K, init=np.where(start == start[0, 0], np.nan, start))


def ties(solver):
    """On standardised data no answer hangs on the last digits of variances that are all 1."""
    R = np.corrcoef(np.random.default_rng(0).standard_normal((20, 9)).T)
    R.flat[:: len(R) + 1] = 1
    up, down = R.copy(), R.copy()
    up.flat[:: len(R) + 1] += 4e-16 * np.arange(len(R))
    down.flat[:: len(R) + 1] -= 4e-16 * np.arange(len(R))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = (solver(each, M, 3, **variance(solver)) for each in (up, down))
    assert np.array_equal(first.support, second.support)


def variance(solver):
    """Start from variances where it can be told so."""
    return {"init": "variance"} if "init" in options(solver) else {}


def news(solver):
    """`progress` gets events that count, never fall, and end at what is returned."""
    if "progress" not in options(solver):
        return
    heard = []
    solution = solver(A, M, K, progress=heard.append)
    assert {type(each) for each in heard} == {Progress}
    assert [each.step for each in heard] == list(range(1, len(heard) + 1))
    values = np.array([each.objective for each in heard if np.isfinite(each.objective)])
    assert len(values)
    if solver.promise("rises"):
        assert np.all(np.diff(values) >= -ROUNDING * values[-1])
        assert values[-1] <= solution.objective * (1 + ROUNDING)
    bounds = np.array([each.bound for each in heard if each.bound is not None])
    assert np.all(np.diff(bounds) <= 0)
    assert np.all(bounds >= solution.objective * (1 - ROUNDING))
    with pytest.raises(TypeError, match="progress=1 must be"):
        solver(A, M, K, progress=1)


def interrupts(solver):
    """A Ctrl-C after something feasible was told returns it, with a bound that is one."""
    if "progress" not in options(solver):
        return
    best = solver(A, M, K)
    for turn in range(3):
        told = []

        def listen(event, told=told, turn=turn):
            told.append(event)
            if sum(np.isfinite(each.objective) for each in told) == turn + 1:
                raise KeyboardInterrupt

        solution = solver(A, M, K, progress=listen)
        if sum(np.isfinite(each.objective) for each in told) > turn:
            assert solution.stopped == "interrupted" or proven(solution)
            assert solution.objective >= told[-1].objective * (1 - ROUNDING)
        assert check_solution(A, solution)
        if solution.upper_bound is not None and solver.guarantee == "exact":
            assert solution.upper_bound >= best.objective * (1 - ROUNDING)


def proven(solution):
    """Whether there was nothing left to interrupt."""
    return solution.gap is not None and solution.gap <= ROUNDING


class Nervous(Source):
    """A matrix at whose n-th question somebody presses Ctrl-C."""

    def __init__(self, base, when):
        self.base, self.size, self.when, self.asked = base, base.size, when, 0

    def ask(self):
        self.asked += 1
        if self.asked == self.when:
            raise KeyboardInterrupt

    def diagonal(self):
        self.ask()
        return self.base.diagonal()

    def submatrix(self, rows):
        self.ask()
        return self.base.submatrix(rows)

    def columns(self, rows, among=slice(None)):
        self.ask()
        return self.base.columns(rows, among)

    def product(self, V, rows=None):
        self.ask()
        return self.base.product(V, rows)

    def restricted(self, columns):
        self.ask()
        return self.base.restricted(columns)


def interrupts_anywhere(solver):
    """Wherever Ctrl-C comes: before anything was told it goes on, after that there is an answer."""
    if "progress" not in options(solver) or solver.needs == "factor":
        return
    for m in (1, M):
        count = Nervous(Dense(A), 0)
        solver(Covariance.from_source(count), m, K)
        for when in np.unique(np.linspace(1, count.asked, 6).astype(int)):
            told = []
            try:
                source = Nervous(Dense(A), int(when))
                solution = solver(Covariance.from_source(source), m, K, progress=told.append)
            except KeyboardInterrupt:
                assert not any(np.isfinite(each.objective) for each in told)
            else:
                assert source.asked < when or solution.stopped == "interrupted" or proven(solution)
                assert check_solution(A, solution)
                if solver.promise("rises") or solver.guarantee == "exact":  # it goes by the value
                    found = max((each.objective for each in told), default=-np.inf)
                    assert solution.objective >= found * (1 - ROUNDING)


def seconds(solver):
    """`max_seconds=0` gives the first answer there is; what it cost is said."""
    solution = solver(A, M, K)
    assert isinstance(solution.seconds, float)
    assert 0 < solution.seconds < 60
    assert isinstance(solution.passes, int)
    assert solution.passes >= 0
    assert solution.total_variance == pytest.approx(np.trace(A))
    assert solution.pca_variance == pytest.approx(np.linalg.eigvalsh(A)[-M:].sum())
    if "max_seconds" in options(solver):
        hasty = solver(A, M, K, max_seconds=0)
        assert check_solution(A, hasty)
        assert hasty.stopped in ENDS - {"interrupted", "max_iter"}


def steps(solver):
    """`max_iter=1` gives an answer, and a warning exactly where that is why it ended."""
    if "max_iter" not in options(solver):
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ConvergenceWarning)
        solution = solver(A, M, K, max_iter=1)
    assert check_solution(A, solution)
    warned = any(each.category is ConvergenceWarning for each in told)
    assert warned == (solution.stopped == "max_iter")
    with pytest.raises(ValueError, match="max_iter=0 must be at least 1"):
        solver(A, M, K, max_iter=0)


CASES = [(make_scheme("F", d, s), m, k) for s in range(2) for d, m, k in ((9, 2, 4), (12, 3, 6))]


def histories(solver):
    """The history holds the objective, and rises where that is promised and can be seen."""
    lengths = []
    for B, m, k in CASES:
        solution = solver(B, m, k)
        lengths.append(len(solution.history))
        verdict = check_solution(B, solution, rises=solver.promise("rises"))
        assert verdict, verdict
    assert min(lengths) > 0
    if solver.promise("rises") and max(lengths) == 1:  # then these were too easy to show it
        solution = solver(make_scheme("F", 30, 7), 3, 10)
        assert check_solution(make_scheme("F", 30, 7), solution, rises=True)
        assert len(solution.history) > 1


def ends(solver):
    """Why it stopped is one of a few words, and `converged` follows from it."""
    solution = solver(A, M, K)
    assert solution.stopped in ENDS
    assert solution.converged == (solution.stopped not in CUT_SHORT)


def keeps(solver):
    """A Solution is read-only, and stays so when it is pickled."""
    solution = solver(A, M, K)
    for each in (solution, pickle.loads(pickle.dumps(solution))):
        assert str(each) == str(solution)
        for name in ("W", "support", "orthonormal", "certificate"):
            array = getattr(each, name)
            assert not isinstance(array, np.ndarray) or not array.flags.writeable


RULES = (
    signature, defaults, calls_again, seeds, inits, ties, news, interrupts, interrupts_anywhere,
    seconds, steps, histories, ends, keeps,
)  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_keeps_the_contract(name, rule, monkeypatch):
    if SOLVERS[name].most_components == 1:
        monkeypatch.setitem(globals(), "M", 1)
        monkeypatch.setitem(globals(), "CASES", [(B, 1, k) for B, _, k in CASES])
    rule(SOLVERS[name])


def test_every_public_solver_is_held_to_it():
    rooms = (fspca, *ROOMS)
    public = {
        each for room in rooms for each in vars(room).values() if hasattr(each, "__wrapped__")
    }
    several = {fspca.path}  # answers a list, and keeps the budgets of all: test_path says how
    assert public - several == {solver.function for solver in SOLVERS.values()}


def spoiled(**changes):
    """IPU with what it answers changed."""

    @wraps(ipu)
    def function(A, m, k, **options):
        solution = ipu(A, m, k, **options)
        return replace(solution, **{name: change(solution) for name, change in changes.items()})

    return function


def reordered(A, k, m, *, seed=0):
    return ipu(A, m, k)


def loose(A, m, k, init="go"):
    return ipu(A, m, k, init=init)


def disordered(A, m, k, *, seed=0, init="go"):
    return ipu(A, m, k, init=init)


def synonymous(A, m, k, *, max_steps=9):
    return ipu(A, m, k, max_iter=max_steps)


def by_chance(A, m, k, *, init="random", seed=None):
    return ipu(A, m, k, init=init, seed=seed)


def with_both(A, m, k=None, *, penalty=None):
    return ipu(A, m, k or 3)


def writing(A, m, k):
    solution = ipu(A, m, k)
    A *= 1.0 + 1e-15
    return solution


def raw_numbers(A, m, k):
    return replace(ipu(A, m, k), problem=Raw(m, k))


def any_seed(A, m, k, *, seed=0):
    return ipu(A, m, k, seed=0 if isinstance(seed, str) else seed)


def few_words(A, m, k, *, init="go"):
    if init not in ("go", "variance"):
        raise ValueError(f"init={init!r} must be one of 'go', 'variance'")
    return ipu(A, m, k, init=init)


def any_array(A, m, k, *, init="go", seed=0):
    init = init if isinstance(init, str) else "go"
    return ipu(A, m, k, init=init, seed=seed)


def by_last_digits(A, m, k, *, init="variance"):
    support = np.sort(np.argsort(-np.diagonal(A))[:k])
    return ipu(A, m, k, init=refit(Covariance(A), support, m)[0], max_iter=1)


def telling(change):
    """IPU with the news of it changed."""

    @wraps(ipu)
    def function(A, m, k, *, progress=None, **options):
        if progress is None or not callable(progress):
            return ipu(A, m, k, progress=progress, **options)
        return ipu(A, m, k, progress=lambda news: change(news, progress), **options)

    return function


def deaf(A, m, k, *, progress=None):
    def listen(news):
        with suppress(KeyboardInterrupt):
            progress(news)

    return ipu(A, m, k, progress=progress and listen)


def lost(A, m, k, *, progress=None):
    solution = ipu(A, m, k)
    if progress is not None:
        progress(Progress(1, solution.objective))  # a Ctrl-C here goes on
    return solution


def careless(A, m, k, *, progress=None):
    A = A if isinstance(A, Covariance) else Covariance(A)
    with Run(progress=progress) as run:
        for _ in run:
            run.record(1.0, "an answer")
            run.stop("done")
    return ipu(A, m, k)  # and a Ctrl-C here


def silent(A, m, k, *, max_iter=100):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ipu(A, m, k, init="random", max_iter=max_iter)


def untimely(A, m, k, *, max_seconds=None):
    return replace(ipu(A, m, k), stopped="interrupted" if max_seconds == 0 else "no gain")


def unlocked(A, m, k):
    solution = ipu(A, m, k)
    object.__setattr__(solution, "W", np.array(solution.W))
    return solution


class Raw(type(SOLVERS["ipu"].problem(1, 1))):
    """A problem that takes numbers as they come."""

    def __post_init__(self):
        pass


SABOTEURS = {
    signature: (reordered, loose, disordered, synonymous),
    defaults: (by_chance, with_both),
    calls_again: (by_chance, writing),
    seeds: (raw_numbers, any_seed),
    inits: (few_words, any_array),
    ties: (by_last_digits,),
    news: (
        telling(lambda news, tell: tell(tuple(news))),
        telling(lambda news, tell: tell(news._replace(step=1 + news.step))),
        telling(lambda news, tell: tell(news._replace(objective=2 * news.objective))),
        telling(lambda news, tell: tell(news._replace(bound=0.5 * news.objective))),
        telling(lambda news, tell: None),
    ),
    interrupts: (deaf, lost),
    interrupts_anywhere: (careless,),
    seconds: (spoiled(seconds=lambda _: None), spoiled(pca_variance=lambda _: 1.0), untimely),
    steps: (silent,),
    histories: (
        spoiled(history=lambda solution: (solution.objective, 0.9 * solution.objective)),
        spoiled(history=lambda solution: (0.8 * solution.objective, 0.9 * solution.objective)),
        spoiled(history=lambda solution: (solution.objective,)),
        spoiled(history=lambda solution: ()),
    ),
    ends: (spoiled(stopped=lambda _: "finished"),),
    keeps: (unlocked,),
}


@pytest.mark.parametrize(
    ("rule", "function"),
    [(rule, function) for rule, functions in SABOTEURS.items() for function in functions],
    ids=lambda each: each.__name__,
)
def test_each_rule_catches_who_breaks_it(rule, function):
    saboteur = replace(SOLVERS["ipu"], name="saboteur", function=function)
    with pytest.raises((AssertionError, pytest.fail.Exception, KeyboardInterrupt)):
        rule(saboteur)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_no_rule_catches_who_does_not(rule):
    rule(replace(SOLVERS["ipu"], name="no saboteur", function=spoiled()))


def test_each_rule_has_a_saboteur():
    assert set(RULES) == set(SABOTEURS)


@solves(SharedSupport)
def by_variance(A: Covariance, m: int, k: int):
    """Keep the k largest variances."""
    return solution_on(A, SharedSupport(m, k), largest(A.diagonal(), k), "by_variance")


def test_a_solver_of_four_lines_is_held_to_all_of_it_the_day_it_is_registered(monkeypatch):
    new = replace(SOLVERS["cssp"], name="by_variance", function=by_variance)
    monkeypatch.setitem(which_method.ABOUT, new.name, {"cost": "a sort"})
    monkeypatch.setitem(SOLVERS, new.name, new)
    for rule in RULES:
        rule(SOLVERS["by_variance"])
    assert "| `by_variance(A, m, k)` |" in which_method.tables()
