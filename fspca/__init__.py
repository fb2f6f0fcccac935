"""fspca: choose k features and the best m-dimensional subspace on them, at once."""

from fspca import datasets, metrics, synthetic
from fspca.covariance import Covariance
from fspca.judge import check_solution, objective
from fspca.nonnegative.bounds import (
    certify_nonnegative,
    nonnegative_bounds,
    positive_part,
    rho_bound,
    rho_terms,
)
from fspca.nonnegative.components import nonnegative_components
from fspca.nonnegative.em import em
from fspca.nonnegative.epsilon_net import epsilon_net, epsilon_net_path
from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.halfspaces import halfspaces
from fspca.nonnegative.low_rank import refit_nonnegative
from fspca.nonnegative.net_bound import net_bound
from fspca.nonnegative.nspca import nspca, nspca_path, nspca_with_k
from fspca.nonnegative.spannogram import spannogram
from fspca.problem import ConvergenceWarning, Nonnegative, SeparateSupports, SharedSupport, Solution
from fspca.registry import SOLVERS
from fspca.separate_supports.admm import admm
from fspca.separate_supports.conjugate_gradient import minimize_on_stiefel
from fspca.separate_supports.deflated_sadmm import deflated_sadmm, deflated_sadmm_with_k
from fspca.separate_supports.gpower import gpower, gpower_with_k
from fspca.separate_supports.grqi import grqi
from fspca.separate_supports.inverse_power import inverse_power, inverse_power_with_k
from fspca.separate_supports.manifold_penalty import manifold_penalty, manifold_penalty_with_k
from fspca.separate_supports.sadmm import sadmm, sadmm_with_k
from fspca.separate_supports.tpower import tpower
from fspca.separate_supports.two_stage import two_stage
from fspca.shared_support.branch_and_bound import branch_and_bound
from fspca.shared_support.certificate import Certificate, certify, upper_bound
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

__version__ = "0.2.0"

__all__ = [  # noqa: RUF022 (grouped by what is asked)
    # the problems, their answers and their judge
    "SharedSupport",
    "SeparateSupports",
    "Nonnegative",
    "Solution",
    "check_solution",
    "objective",
    # what solvers are given
    "Covariance",
    # one support shared by all components
    "solve",
    "go",
    "ipu",
    "swap",
    "exhaustive",
    "branch_and_bound",
    "upper_bound",
    "certify",
    "Certificate",
    "soap",
    "srt",
    "cssp",
    "greedy_tpower",
    "fantope",
    "two_stage",
    # each component its own support
    "tpower",
    "gpower",
    "gpower_with_k",
    "grqi",
    "inverse_power",
    "inverse_power_with_k",
    "manifold_penalty",
    "manifold_penalty_with_k",
    "minimize_on_stiefel",
    "admm",
    "sadmm",
    "sadmm_with_k",
    "deflated_sadmm",
    "deflated_sadmm_with_k",
    # nonnegative loadings
    "nonnegative_components",
    "spannogram",
    "halfspaces",
    "epsilon_net",
    "epsilon_net_path",
    "net_bound",
    "em",
    "nspca",
    "nspca_path",
    "nspca_with_k",
    "refit_nonnegative",
    "exhaustive_nonnegative",
    "certify_nonnegative",
    "nonnegative_bounds",
    "positive_part",
    "rho_bound",
    "rho_terms",
    # every solver with its properties
    "SOLVERS",
    "ConvergenceWarning",
    # measuring and making
    "datasets",
    "metrics",
    "synthetic",
]
