"""Nonnegative loadings: every solver of it, one algorithm a file."""

from fspca.nonnegative.branch_and_bound import branch_and_bound_nonnegative
from fspca.nonnegative.em import em
from fspca.nonnegative.epsilon_net import epsilon_net
from fspca.nonnegative.nspca import nspca
from fspca.nonnegative.solve import solve_nonnegative
from fspca.nonnegative.spannogram import spannogram

__all__ = [  # noqa: RUF022 (in the order of the book's tables)
    "solve_nonnegative",
    "branch_and_bound_nonnegative",
    "spannogram",
    "epsilon_net",
    "em",
    "nspca",
]
