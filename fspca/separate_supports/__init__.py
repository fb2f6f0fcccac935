"""Each component its own support: every solver of it, one algorithm a file."""

from fspca.separate_supports.gpower import gpower
from fspca.separate_supports.grqi import grqi
from fspca.separate_supports.inverse_power import inverse_power
from fspca.separate_supports.manpg import manpg
from fspca.separate_supports.sadmm import sadmm
from fspca.separate_supports.solve_separate import solve_separate
from fspca.separate_supports.tpower import tpower

__all__ = [  # noqa: RUF022 (in the order of the book's tables)
    "solve_separate",
    "tpower",
    "gpower",
    "grqi",
    "inverse_power",
    "sadmm",
    "manpg",
]
