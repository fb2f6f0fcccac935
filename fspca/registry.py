"""Every solver and what may be relied on; the property tests read it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from fspca.nonnegative.components import nonnegative_components
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.problem import Nonnegative, Problem, SeparateSupports, SharedSupport
from fspca.separate_supports.deflated_sadmm import deflated_sadmm_with_k
from fspca.separate_supports.gpower import gpower_with_k
from fspca.separate_supports.grqi import grqi
from fspca.separate_supports.inverse_power import inverse_power_with_k
from fspca.separate_supports.manifold_penalty import manifold_penalty_with_k
from fspca.separate_supports.sadmm import sadmm_with_k
from fspca.separate_supports.tpower import tpower
from fspca.separate_supports.two_stage import two_stage
from fspca.shared_support.branch_and_bound import branch_and_bound
from fspca.shared_support.cssp import cssp
from fspca.shared_support.exhaustive import exhaustive
from fspca.shared_support.fantope import fantope
from fspca.shared_support.go import go
from fspca.shared_support.greedy_tpower import greedy_tpower
from fspca.shared_support.ipu import ipu
from fspca.shared_support.soap import soap
from fspca.shared_support.solve import solve
from fspca.shared_support.srt import srt
from fspca.shared_support.swap import swap


@dataclass(frozen=True)
class Solver:
    """A solver with its options fixed, and its properties.

    guarantee: "exact", "bounded" (a proven factor or bound) or "heuristic".
    monotone: the objective never falls along `history`.
    shift_invariant: the answer for A + sigma I is the answer for A, and explains m sigma more.
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

    def asked(self, m, k):
        """Return the problem that it solves for these m and k."""
        return self.problem(m=m, k=k)

    def __call__(self, A, m, k):
        """Solve with the options registered."""
        return self.function(A, m, k, **self.options)


def oracle(A, problem):
    """Return the exact optimum by enumeration, or None where the problem has no oracle."""
    if isinstance(problem, SharedSupport):
        sides = {"required": problem.required, "forbidden": problem.forbidden}
        return exhaustive(A, problem.m, problem.k, **sides)
    if problem.m > 1:
        return None
    if isinstance(problem, Nonnegative):
        return exhaustive_nonnegative(A, problem.k)
    return exhaustive(A, 1, problem.k)


SOLVERS = {
    solver.name: solver
    for solver in (
        Solver("exhaustive", exhaustive, SharedSupport, "exact", True, True),
        Solver("branch_and_bound", branch_and_bound, SharedSupport, "exact", True, True),
        Solver("swap", swap, SharedSupport, "heuristic", True, True),
        Solver("solve", solve, SharedSupport, "bounded", True, False, {"seed": 0}, seeded=True),
        Solver("go", go, SharedSupport, "bounded", True, False),
        Solver("go, shifted", go, SharedSupport, "bounded", True, True, {"shift": True}),
        Solver("ipu", ipu, SharedSupport, "bounded", True, False),
        Solver("ipu from variances", ipu, SharedSupport, "heuristic", True, False,
               {"init": "variance"}),
        Solver("ipu from random starts", ipu, SharedSupport, "heuristic", True, False,
               {"init": "random", "n_starts": 5, "seed": 0}, seeded=True),
        Solver("ipu from fantope", ipu, SharedSupport, "heuristic", True, False,
               {"init": "fantope"}),
        Solver("soap", soap, SharedSupport, "heuristic", False, False),
        Solver("soap, refined", soap, SharedSupport, "bounded", True, False, {"refined": True}),
        Solver("srt", srt, SharedSupport, "heuristic", False, False),
        Solver("srt from random starts", srt, SharedSupport, "heuristic", False, False,
               {"init": "random", "n_starts": 5, "seed": 0}, seeded=True),
        Solver("cssp", cssp, SharedSupport, "heuristic", True, False),
        Solver("cssp, refined", cssp, SharedSupport, "heuristic", True, True, {"refined": True}),
        Solver("greedy_tpower", greedy_tpower, SharedSupport, "heuristic", True, False),
        Solver("fantope", fantope, SharedSupport, "bounded", True, True),
        Solver("fantope, refined", fantope, SharedSupport, "bounded", True, True,
               {"refined": True}),
        Solver("tpower", tpower, SeparateSupports, "heuristic", True, False),
        Solver("gpower", gpower_with_k, SeparateSupports, "heuristic", True, False),
        Solver("gpower, l0", gpower_with_k, SeparateSupports, "heuristic", True, False,
               {"norm": "l0"}),
        Solver("gpower, block", gpower_with_k, SeparateSupports, "heuristic", True, False,
               {"block": True}),
        Solver("gpower, block l0", gpower_with_k, SeparateSupports, "heuristic", True, False,
               {"norm": "l0", "block": True}),
        Solver("grqi", grqi, SeparateSupports, "heuristic", True, False),
        Solver("inverse_power", inverse_power_with_k, SeparateSupports, "heuristic", True, False),
        Solver("manifold_penalty", manifold_penalty_with_k, SeparateSupports, "heuristic", True,
               False),
        Solver("sadmm", sadmm_with_k, SeparateSupports, "heuristic", False, True),
        Solver("sadmm, deflated", deflated_sadmm_with_k, SeparateSupports, "heuristic", True,
               False),
        Solver("two_stage", two_stage, SharedSupport, "heuristic", False, False),
        Solver("two_stage, refitted", two_stage, SharedSupport, "heuristic", False, False,
               {"refit": True}),
        Solver("spannogram", nonnegative_components, Nonnegative, "bounded", True, False,
               {"method": "spannogram", "rank": 2}),
        Solver("spannogram, shifted", nonnegative_components, Nonnegative, "bounded", True, True,
               {"method": "spannogram", "rank": 2, "shift": True}),
        Solver("epsilon_net", nonnegative_components, Nonnegative, "bounded", True, False,
               {"method": "epsilon_net", "rank": 2, "seed": 0}, seeded=True),
        Solver("net_bound", nonnegative_components, Nonnegative, "bounded", True, True,
               {"method": "net_bound", "rank": 3}),
        Solver("em", nonnegative_components, Nonnegative, "heuristic", True, False,
               {"method": "em", "n_starts": 1, "seed": 0, "apart": "deflation"}, seeded=True),
        Solver("nspca", nonnegative_components, Nonnegative, "heuristic", True, False,
               {"method": "nspca", "n_starts": 3, "seed": 0}, seeded=True),
    )
}  # fmt: skip
