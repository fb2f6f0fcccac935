"""Every solver: its problem, what it needs, and what may be relied on.

A solver declares this where it stands, in `@solves(...)`; here they are put together, with those
that are the same with other options.  The property tests and the book's tables are made from it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from fspca import nonnegative, separate_supports, shared_support
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.problem import Nonnegative, Problem, SeparateSupports, SharedSupport
from fspca.proof.certify import certify
from fspca.shared_support.exhaustive import exhaustive
from fspca.shared_support.path import path
from fspca.solver import DECLARED

ROOMS = (shared_support, separate_supports, nonnegative)  # one for each problem
PROMISES = {
    "rises": "the objective never falls along `history`",
    "shift": "the answer for A + sigma I is that for A, and explains m sigma more",
    "labels": "features in another order give the same features",
}
# Options with which a solver is registered, so that what the tests ask of it is quick.
OPTIONS: dict[str, dict[str, Any]] = {
    "solve": {"seed": 0},
    "solve_nonnegative": {"n_starts": 2, "max_iter": 20},
    "em": {"n_starts": 1, "apart": "deflation"},
}
# The same solvers with other options, by the solver: name, promises, options.
VARIANTS: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "go": [("go, shifted", "shift labels", {"shift": True})],
    "ipu": [
        ("ipu from variances", "rises labels", {"init": "variance"}),
        ("ipu from random starts", "rises", {"init": "random", "n_starts": 5}),
        ("ipu from fantope", "rises labels", {"init": "fantope"}),
    ],
    "soap": [("soap, refined", "rises labels", {"refined": True})],
    "srt": [("srt from random starts", "", {"init": "random", "n_starts": 5})],
    "cssp": [("cssp, refined", "shift labels", {"refined": True})],
    "fantope": [("fantope, refined", "shift", {"refined": True})],
    "two_stage": [("two_stage, refitted", "labels", {"refit": True})],
    "gpower": [
        ("gpower, l0", "labels", {"norm": "l0"}),
        ("gpower, block", "labels", {"block": True}),
        ("gpower, block l0", "labels", {"norm": "l0", "block": True}),
    ],
    "sadmm": [("sadmm, deflated", "labels", {"deflated": True})],
    "spannogram": [("spannogram, shifted", "shift labels", {"shift": True})],
}


@dataclass(frozen=True)
class Solver:
    """A solver with its options fixed, and its properties.

    It is called as the function is; the tests hold it to what it promises.

    Parameters
    ----------
    name : str
        By which it stands in `fspca.SOLVERS`.
    function : callable
        Called with A, m, k and the options by name.
    problem : type
        `fspca.SharedSupport`, `fspca.SeparateSupports` or `fspca.Nonnegative`.
    guarantee : str
        "exact", "bounded" (a proven factor or bound) or "heuristic".
    promises : str
        Words of `PROMISES`.
    needs : str
        "questions" (those of a Covariance), a "factor" of it, or the d x d "matrix".
    most_components : int
        What m may be at most; None for any number.
    options : dict
        Those that are fixed.

    See Also
    --------
    fspca.testing.check_solver : Holds it to this.

    Examples
    --------
    >>> SOLVERS["ipu"].guarantee, SOLVERS["ipu"].promise("rises")
    ('bounded', True)
    """

    name: str
    function: Callable
    problem: type[Problem]
    guarantee: str
    promises: str
    needs: str = "questions"
    most_components: int | None = None
    options: dict = field(default_factory=dict)

    def promise(self, word: str) -> bool:
        """Whether it makes one of the `PROMISES`."""
        return word in self.promises.split()

    @property
    def spelling(self) -> str:
        """How it is called."""
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"{self.function.__name__}(A, {self.most_components or 'm'}, k{options})"

    def variant(self, name, promises, options):
        """Return the same solver under another name, with options beside those that are fixed."""
        return replace(self, name=name, promises=promises, options=self.options | options)

    def __call__(self, A, m, k, **options):
        """Solve with the options registered."""
        return self.function(A, m, k, **(self.options | options))


@dataclass(frozen=True)
class Question:
    """A problem, and who answers what of it: a row of `PROBLEMS`, found by the problem's kind.

    `first` names the solver to call first; `quick` answers without a bound, where asked for none;
    `bounded` adds one to an answer that has none; `least` is the least k for m components.
    """

    problem: type[Problem]
    first: str
    oracle: Callable
    least: Callable = lambda m: 1
    quick: Callable | None = None
    bounded: Callable | None = None


def shared_oracle(A, problem):
    """The best of all supports."""
    sides = {"required": problem.required, "forbidden": problem.forbidden}
    return exhaustive(A, problem.m, problem.k, **sides)


def separate_oracle(A, problem):
    """The best of all supports of one component; several have no oracle."""
    return exhaustive(A, 1, problem.k) if problem.m == 1 else None


def nonnegative_oracle(A, problem):
    """The best of all supports of one component, or of several that are disjoint."""
    one = problem.m == 1 or problem.disjoint
    return exhaustive_nonnegative(A, problem.m, problem.k) if one else None


def quick_shared(A, m, k, *, required=(), forbidden=(), n_starts=1, seed=0):
    """Return an answer for a shared support without a bound."""
    sides = {"required": required, "forbidden": forbidden}
    return path(A, m, [k], bound=None, n_starts=n_starts, seed=seed, **sides)[0]


PROBLEMS = {
    row.problem.kind: row
    for row in (
        Question(
            problem=SharedSupport,
            first="solve",
            oracle=shared_oracle,
            least=lambda m: m,
            quick=quick_shared,
            bounded=certify,
        ),
        Question(problem=SeparateSupports, first="solve_separate", oracle=separate_oracle),
        Question(problem=Nonnegative, first="solve_nonnegative", oracle=nonnegative_oracle),
    )
}


def oracle(A, problem):
    """Return the exact optimum by enumeration, or None where the problem has no oracle."""
    return PROBLEMS[problem.kind].oracle(A, problem)


def registered() -> Iterator[Solver]:
    """Yield the solvers that the rooms list, each before its variants."""
    for room in ROOMS:
        for name in room.__all__:
            function = getattr(room, name)
            if function in DECLARED:
                solver = Solver(name, function, **DECLARED[function], options=OPTIONS.get(name, {}))
                yield solver
                for variant in VARIANTS.get(name, []):
                    yield solver.variant(*variant)


SOLVERS = {solver.name: solver for solver in registered()}
