"""fspca: choose k features and the best m-dimensional subspace on them, at once."""

from fspca import datasets, metrics, synthetic
from fspca.covariance import Covariance
from fspca.judge import check_solution
from fspca.nonnegative.branch_and_bound import branch_and_bound_nonnegative
from fspca.nonnegative.em import em
from fspca.nonnegative.epsilon_net import epsilon_net
from fspca.nonnegative.nspca import nspca
from fspca.nonnegative.solve import solve_nonnegative
from fspca.nonnegative.spannogram import spannogram
from fspca.problem import ConvergenceWarning, Nonnegative, SeparateSupports, SharedSupport, Solution
from fspca.registry import SOLVERS
from fspca.separate_supports.gpower import gpower
from fspca.separate_supports.grqi import grqi
from fspca.separate_supports.inverse_power import inverse_power
from fspca.separate_supports.manifold_penalty import manifold_penalty
from fspca.separate_supports.manpg import manpg
from fspca.separate_supports.sadmm import sadmm
from fspca.separate_supports.solve_separate import solve_separate
from fspca.separate_supports.tpower import tpower
from fspca.separate_supports.two_stage import two_stage
from fspca.shared_support.branch_and_bound import branch_and_bound
from fspca.shared_support.certificate import certify, upper_bound
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

__version__ = "0.2.0"

__all__ = [  # noqa: RUF022 (grouped by what is asked; the page of all names is made from it)
    # What is asked, and what is answered
    "SharedSupport",
    "SeparateSupports",
    "Nonnegative",
    "Solution",
    "check_solution",
    "Covariance",
    # What to call first
    "solve",
    "solve_separate",
    "solve_nonnegative",
    "path",
    # How good an answer is, and the best one
    "upper_bound",
    "certify",
    "branch_and_bound",
    "exhaustive",
    # One support shared by all components
    "go",
    "ipu",
    "swap",
    "soap",
    "srt",
    "cssp",
    "greedy_tpower",
    "fantope",
    "two_stage",
    # Each component its own support
    "tpower",
    "gpower",
    "grqi",
    "inverse_power",
    "manifold_penalty",
    "sadmm",
    "manpg",
    # Nonnegative loadings
    "branch_and_bound_nonnegative",
    "spannogram",
    "epsilon_net",
    "em",
    "nspca",
    # What is known of the solvers
    "SOLVERS",
    "ConvergenceWarning",
    # Data, measures and instances
    "datasets",
    "metrics",
    "synthetic",
]
