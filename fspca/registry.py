"""Every solver: its spelling, its problem, what it needs and costs, and what may be relied on.

The property tests, the tables of the chapters, the page of all functions and the styles of the
figures are made from it.  It is long because it is one table.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from fspca.nonnegative.branch_and_bound import branch_and_bound_nonnegative
from fspca.nonnegative.em import em
from fspca.nonnegative.epsilon_net import epsilon_net
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.nspca import nspca
from fspca.nonnegative.solve import solve_nonnegative
from fspca.nonnegative.spannogram import spannogram
from fspca.problem import Nonnegative, Problem, SeparateSupports, SharedSupport
from fspca.proof.bounds import certify
from fspca.separate_supports.gpower import gpower
from fspca.separate_supports.grqi import grqi
from fspca.separate_supports.inverse_power import inverse_power
from fspca.separate_supports.manifold_penalty import manifold_penalty
from fspca.separate_supports.manpg import manpg
from fspca.separate_supports.sadmm import sadmm
from fspca.separate_supports.solve_separate import solve_separate
from fspca.separate_supports.tpower import tpower
from fspca.shared_support.branch_and_bound import branch_and_bound
from fspca.shared_support.cssp import cssp
from fspca.shared_support.exhaustive import exhaustive
from fspca.shared_support.fantope import fantope
from fspca.shared_support.go import go
from fspca.shared_support.greedy_tpower import greedy_tpower
from fspca.shared_support.ipu import ipu
from fspca.shared_support.path import path
from fspca.shared_support.soap import soap
from fspca.shared_support.solve import solve
from fspca.shared_support.srt import srt
from fspca.shared_support.swap import swap
from fspca.shared_support.two_stage import two_stage

PROMISES = {
    "rises": "the objective never falls along `history`",
    "shift": "the answer for A + sigma I is that for A, and explains m sigma more",
    "labels": "features in another order give the same features",
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
    sure : str
        When the guarantee holds.
    cost, unless : str
        What a run costs, and when another is better.
    section : str
        Where in the book it is explained.
    style : str
        Colour, marker and line of its curves.
    options : dict
        Those that are fixed.
    most_components : int
        What m may be at most; None for any number.

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
    sure: str = "no guarantee"
    cost: str = ""
    unless: str = ""
    section: str = ""
    style: str = "#000000 . -"
    options: dict = field(default_factory=dict)
    most_components: int | None = None

    def promise(self, word):
        """Whether it makes one of the `PROMISES`.

        Parameters
        ----------
        word : str
            A key of `PROMISES`.

        Returns
        -------
        bool
            True where it does.

        See Also
        --------
        fspca.testing.check_solver : Tests it.

        Examples
        --------
        >>> SOLVERS["soap"].promise("rises")
        False
        """
        return word in self.promises.split()

    @property
    def spelling(self):
        """How it is called.

        See Also
        --------
        fspca.SharedSupport : What m and k count.

        Examples
        --------
        >>> SOLVERS["go"].spelling
        'go(A, m, k)'
        """
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"{self.function.__name__}(A, {self.most_components or 'm'}, k{options})"

    def also(self, name, promises, style, options, **changes):
        """Return the same with other options.

        Parameters
        ----------
        name : str
            By which it shall stand in `fspca.SOLVERS`.
        promises : str
            Words of `PROMISES`.
        style : str
            Colour, marker and line of its curves.
        options : dict
            Beside those that are fixed already.
        **changes : dict
            Other fields.

        Returns
        -------
        Solver
            A row of its own.

        See Also
        --------
        spelling : Shows the options.

        Examples
        --------
        >>> SOLVERS["ipu"].also("slow", "rises", "#000000 . -", {"n_starts": 9}).spelling
        'ipu(A, m, k, n_starts=9)'
        """
        options = self.options | options
        return replace(self, name=name, promises=promises, style=style, options=options, **changes)

    def __call__(self, A, m, k, **options):
        """Solve with the options registered."""
        return self.function(A, m, k, **(self.options | options))


def styled(words):
    """Return matplotlib's keywords of a style.

    >>> styled("#000000 s -")
    {'color': '#000000', 'marker': 's', 'linestyle': '-'}
    """
    return dict(zip(("color", "marker", "linestyle"), words.split(), strict=True))


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


def quick_shared(A, m, k, *, n_starts=1, seed=0):
    """Return an answer for a shared support without a bound."""
    return path(A, m, [k], bound=None, n_starts=n_starts, seed=seed)[0]


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


_exhaustive = Solver(
    "exhaustive", exhaustive, SharedSupport, "exact", "shift labels", "matrix", "always",
    r"$\binom dk$ small eigenproblems", "there are more than five million supports",
    "foundations/exhaustive_oracle.ipynb", "#000000 s -",
)  # fmt: skip
_branch_and_bound = Solver(
    "branch_and_bound", branch_and_bound, SharedSupport, "exact", "shift labels", "matrix",
    "when it ends", "exponential; [measured](../shared_support/exact_search.ipynb#How-it-grows)",
    "the relaxation is far off and the features are many",
    "shared_support/exact_search.ipynb", "#000000 * --",
)  # fmt: skip
_swap = Solver(
    "swap", swap, SharedSupport, "heuristic", "rises shift labels", "questions", "no guarantee",
    "$k$ eigenproblems of size $k$ a round", "one answer must be *proven* good",
    "shared_support/exact_search.ipynb#First,-a-good-answer:-exchange", "#56B4E9 D -.",
)  # fmt: skip
_solve = Solver(
    "solve", solve, SharedSupport, "bounded", "rises", "questions", "where its gap is zero",
    "a few seconds for hundreds of features",
    r"$d \times d$ numbers do not fit and the data have no fewer rows",
    "shared_support/exact_search.ipynb#What-to-call", "#009E73 * -", {"seed": 0},
)  # fmt: skip
_go = Solver(
    "go", go, SharedSupport, "bounded", "labels", "questions",
    r"if $\operatorname{rank} A \le m$ or $k = m$", "$m$ eigenpairs of $A$",
    "the spectrum has no drop after $m$", "shared_support/go.ipynb", "#0072B2 o -",
)  # fmt: skip
_ipu = Solver(
    "ipu", ipu, SharedSupport, "bounded", "rises labels", "questions",
    "from Go, where Go does; otherwise no guarantee", "$O(dkm + k^3)$ a step",
    "one answer must be *proven* good", "shared_support/ipu.ipynb", "#D55E00 D -",
)  # fmt: skip
_soap = Solver(
    "soap", soap, SharedSupport, "heuristic", "labels", "questions",
    "near it, with high probability, for data with a sparse subspace", "$O(dkm + dm^2)$ a step",
    'one direction dominates; take `keep="best"`', "shared_support/rivals.ipynb", "#E69F00 P --",
)  # fmt: skip
_srt = Solver(
    "srt", srt, SharedSupport, "heuristic", "labels", "questions", "no guarantee",
    "$O(dkm)$ a step", 'weak directions matter; take `keep="best"`',
    "shared_support/rivals.ipynb", "#CC79A7 X -.",
)  # fmt: skip
_cssp = Solver(
    "cssp", cssp, SharedSupport, "heuristic", "labels", "questions",
    "no guarantee: it predicts features", "$m$ eigenpairs, $O(dk^2 + k^3)$",
    "explained variance is what counts",
    "shared_support/rivals.ipynb#CSSP-asks-another-question", "#009E73 h :",
)  # fmt: skip
_greedy_tpower = Solver(
    "greedy_tpower", greedy_tpower, SharedSupport, "heuristic", "labels", "questions",
    "no guarantee; from the *best* component at least $1/m$ of it", "$O(dk)$ a step",
    "later components live on other features",
    "shared_support/truncated_power.ipynb#Greedy:-the-first-component's-support-for-all",
    "#0072B2 < -.",
)  # fmt: skip
_fantope = Solver(
    "fantope", fantope, SharedSupport, "bounded", "shift", "matrix",
    "with many samples of a sparse subspace, with high probability",
    "some hundred eigenproblems of size $d$",
    "$d$ is above some hundred, or its bound must be tight",
    "shared_support/fantope.ipynb", "#000000 p --",
)  # fmt: skip
_two_stage = Solver(
    "two_stage", two_stage, SharedSupport, "heuristic", "labels", "questions", "no guarantee",
    "some hundred steps of `sadmm`, then as many on $k$ features",
    "the refitted loadings are not taken (`refit=True`), or a second is too long",
    "separate_supports/two_stage.ipynb", "#000000 D -.",
)  # fmt: skip
_tpower = Solver(
    "tpower", tpower, SeparateSupports, "heuristic", "labels", "questions", "no guarantee",
    "$O(dk)$ a step, $m$ components", "$k$ features in all are wanted: it uses up to $mk$",
    "shared_support/truncated_power.ipynb", "#56B4E9 > -",
)  # fmt: skip
_gpower = Solver(
    "gpower", gpower, SeparateSupports, "heuristic", "labels", "factor", "no guarantee",
    "$O(ndm)$ a step, up to sixty climbs", 'time is short, or `norm="l0"` beside noise',
    "separate_supports/generalised_power.ipynb", "#009E73 d -",
)  # fmt: skip
_grqi = Solver(
    "grqi", grqi, SeparateSupports, "heuristic", "labels", "questions", "no guarantee",
    "$O(dk + k^3)$ a step, few steps, $m$ components", "$k$ is in the thousands",
    "separate_supports/inverse_power.ipynb#With-truncation:-GRQI", "#D55E00 3 -.",
)  # fmt: skip
_inverse_power = Solver(
    "inverse_power", inverse_power, SeparateSupports, "heuristic", "labels", "factor",
    "no guarantee; "
    "[often](../separate_supports/inverse_power.ipynb#How-often-they-find-the-optimum) "
    "where no direction stands out", "$O(nd)$ a step, up to sixty descents, $m$ components",
    "explained variance counts more than uncorrelated scores",
    "separate_supports/inverse_power.ipynb#A-ratio,-and-its-inverse-power-method", "#0072B2 4 --",
)  # fmt: skip
_manifold_penalty = Solver(
    "manifold_penalty", manifold_penalty, SeparateSupports, "heuristic", "labels", "factor",
    "no guarantee", "$O(ndm)$ a trial of its line search, up to sixty descents",
    "`gpower`, which reaches the same, is fast enough",
    "separate_supports/generalised_power.ipynb#The-same-cost-on-the-manifold", "#CC79A7 * -",
)  # fmt: skip
_sadmm = Solver(
    "sadmm", sadmm, SeparateSupports, "heuristic", "shift labels", "questions",
    "no guarantee", r"$O(dm \min(n, d))$ a step, up to 13 runs of some hundred steps",
    "each component needs its own count, explained variance counts most, or time is short",
    "separate_supports/sadmm.ipynb", "#D55E00 s -",
)  # fmt: skip
_manpg = Solver(
    "manpg", manpg, SeparateSupports, "heuristic", "labels", "questions", "no guarantee",
    "a product with $A$ a step, up to 13 runs of some hundred steps",
    "each component needs its own count, or explained variance counts most",
    "separate_supports/sadmm.ipynb#The-same-problem-by-proximal-gradients", "#0072B2 s --",
)  # fmt: skip
_solve_separate = Solver(
    "solve_separate", solve_separate, SeparateSupports, "bounded", "rises", "questions",
    "where its gap is zero", "some dozen times that of `tpower`",
    "a thousandth of a second counts", "separate_supports/solve_separate.ipynb", "#009E73 ^ --",
)  # fmt: skip
_solve_nonnegative = Solver(
    "solve_nonnegative", solve_nonnegative, Nonnegative, "bounded", "rises", "matrix",
    "never below components one after another; a bound on the optimum, checkable",
    "some seconds for some hundred features", "", "nonnegative/parts.ipynb",
    "#000000 D -", {"n_starts": 2, "max_iter": 20},
)  # fmt: skip
_branch_and_bound_nonnegative = Solver(
    "branch_and_bound_nonnegative", branch_and_bound_nonnegative, Nonnegative, "exact",
    "shift labels", "matrix", "for one component, when it ends",
    "exponential; some hundred eigenproblems of size $d$ a node", "the features are many",
    "nonnegative/proof.ipynb", "#000000 * :", most_components=1,
)  # fmt: skip
_spannogram = Solver(
    "spannogram", spannogram, Nonnegative, "bounded", "labels", "questions",
    r"if $\operatorname{rank} A \le r$; with `shift=True` also for $\sigma I + L$, "
    r"$L \succeq 0$ of rank $\le r$; bounds the optimum of every $A$",
    "some hundred cells of $O(d)$ at rank 2, some thousand at rank 3",
    "the spectrum decays slowly, or the rank is above 5",
    "nonnegative/spannogram.ipynb", "#0072B2 d -",
)  # fmt: skip
_epsilon_net = Solver(
    "epsilon_net", epsilon_net, Nonnegative, "bounded", "rises", "questions",
    r"to $1 - \epsilon$ of the low-rank optimum, with probability $1 - 1/d$",
    "$O(d)$ a point; [few points](../nonnegative/epsilon_net.ipynb#How-many-random-points)",
    "a bound must hold without chance: take `spannogram`", "nonnegative/epsilon_net.ipynb",
    "#56B4E9 * -.",
)  # fmt: skip
_em = Solver(
    "em", em, Nonnegative, "heuristic", "", "questions", "no guarantee",
    "$O(dn)$ a step", "$k$ is small, or one answer must be *proven* good",
    "nonnegative/em_and_nspca.ipynb", "#D55E00 H --", {"n_starts": 1, "apart": "deflation"},
)  # fmt: skip
_nspca = Solver(
    "nspca", nspca, Nonnegative, "heuristic", "rises", "matrix", "no guarantee",
    "$O(d^2 m)$ a sweep", "a count $k$ is wanted: it may jump over it",
    "nonnegative/em_and_nspca.ipynb#The-count-jumps", "#CC79A7 1 :",
)  # fmt: skip

SOLVERS = {
    solver.name: solver
    for solver in (
        _exhaustive, _branch_and_bound, _swap, _solve, _go,
        _go.also("go, shifted", "shift labels", "#56B4E9 v --", {"shift": True},
                 sure=r"if $A = \sigma I + L$, $L \succeq 0$ of rank $\le m$",
                 cost="$m + 1$ eigenpairs of $A$", unless="noise differs between features",
                 section="shared_support/go.ipynb#A-multiple-of-the-identity-costs-nothing"),
        _ipu, _ipu.also("ipu from variances", "rises labels", "#D55E00 d --", {"init": "variance"}),
        _ipu.also("ipu from random starts", "rises", "#D55E00 1 :",
                  {"init": "random", "n_starts": 5}),
        _ipu.also("ipu from fantope", "rises labels", "#D55E00 p -.", {"init": "fantope"}),
        _soap, _soap.also("soap, refined", "rises labels", "#E69F00 p -", {"refined": True}), _srt,
        _srt.also("srt from random starts", "", "#CC79A7 . :", {"init": "random", "n_starts": 5}),
        _cssp, _cssp.also("cssp, refined", "shift labels", "#009E73 H -", {"refined": True}),
        _greedy_tpower, _fantope,
        _fantope.also("fantope, refined", "shift", "#000000 h -", {"refined": True}), _two_stage,
        _two_stage.also("two_stage, refitted", "labels", "#000000 v :", {"refit": True}),
        _solve_separate, _tpower, _gpower,
        _gpower.also("gpower, l0", "labels", "#009E73 1 --", {"norm": "l0"}),
        _gpower.also("gpower, block", "labels", "#E69F00 8 -", {"block": True}),
        _gpower.also("gpower, block l0", "labels", "#E69F00 2 :", {"norm": "l0", "block": True}),
        _grqi, _inverse_power, _manifold_penalty, _sadmm,
        _sadmm.also("sadmm, deflated", "labels", "#D55E00 ^ :", {"deflated": True},
                    cost="that of `sadmm` for each component",
                    unless="the components must be orthonormal",
                    section="separate_supports/sadmm.ipynb#Which-copy-is-the-answer"),
        _manpg, _solve_nonnegative, _branch_and_bound_nonnegative, _spannogram,
        _spannogram.also("spannogram, shifted", "shift labels", "#0072B2 D --", {"shift": True}),
        _epsilon_net, _em, _nspca,
    )
}  # fmt: skip
