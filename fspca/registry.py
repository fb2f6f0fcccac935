"""Every solver and what may be relied on; the property tests read it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from fspca.problem import Problem, SharedSupport
from fspca.shared_support.exhaustive import exhaustive
from fspca.shared_support.go import go
from fspca.shared_support.ipu import ipu


@dataclass(frozen=True)
class Solver:
    """A solver with its options fixed, and its properties.

    guarantee: "exact", "bounded" (a proven factor or bound) or "heuristic".
    monotone: the objective never falls along `history`.
    shift_invariant: the support for A + sigma I is the support for A.
    seeded: random, and the same for the same seed.
    """

    name: str
    function: Callable
    problem: type[Problem]
    guarantee: str
    monotone: bool
    shift_invariant: bool
    options: dict = field(default_factory=dict)
    seeded: bool = False

    def __call__(self, A, m, k):
        """Solve with the options registered."""
        return self.function(A, m, k, **self.options)


SOLVERS = {
    solver.name: solver
    for solver in (
        Solver("exhaustive", exhaustive, SharedSupport, "exact", True, True),
        Solver("go", go, SharedSupport, "bounded", True, False),
        Solver("go, shifted", go, SharedSupport, "bounded", True, True, {"shift": True}),
        Solver("ipu", ipu, SharedSupport, "bounded", True, False),
        Solver("ipu from variances", ipu, SharedSupport, "heuristic", True, False,
               {"init": "variance"}),
        Solver("ipu from random starts", ipu, SharedSupport, "heuristic", True, False,
               {"init": "random", "n_starts": 5, "seed": 0}, seeded=True),
    )
}  # fmt: skip
