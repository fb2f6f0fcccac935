"""One support shared by all components: every solver of it, one algorithm a file."""

from fspca.shared_support.cssp import cssp
from fspca.shared_support.exhaustive import exhaustive
from fspca.shared_support.fantope import fantope
from fspca.shared_support.go import go
from fspca.shared_support.greedy import greedy
from fspca.shared_support.greedy_tpower import greedy_tpower
from fspca.shared_support.ipu import ipu
from fspca.shared_support.path import path
from fspca.shared_support.soap import soap
from fspca.shared_support.solve import solve
from fspca.shared_support.srt import srt
from fspca.shared_support.swap import swap
from fspca.shared_support.two_stage import two_stage

__all__ = [  # noqa: RUF022 (in the order of the book's tables)
    "exhaustive",
    "swap",
    "solve",
    "go",
    "ipu",
    "greedy",
    "soap",
    "srt",
    "cssp",
    "greedy_tpower",
    "fantope",
    "two_stage",
    "path",
]
