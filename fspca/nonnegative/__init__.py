"""Nonnegative loadings: every solver of it, one algorithm a file."""

from fspca.nonnegative.branch_and_bound import branch_and_bound_nonnegative
from fspca.nonnegative.em import em
from fspca.nonnegative.epsilon_net import epsilon_net
from fspca.nonnegative.nspca import nspca
from fspca.nonnegative.solve import solve_nonnegative
from fspca.nonnegative.spannogram import spannogram

__all__ = [
    "branch_and_bound_nonnegative",
    "em",
    "epsilon_net",
    "nspca",
    "solve_nonnegative",
    "spannogram",
]
