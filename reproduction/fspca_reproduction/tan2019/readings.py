"""How free the choice of a reading of tan2019's Table 2 is: tables that nobody computed."""

import numpy as np

from fspca_reproduction.results import rows_of
from fspca_reproduction.tan2019.verdicts import choose, printed_cells, scaled


def placebo(draws=100, seed=0):
    """Return how many cells of tables that nobody computed the same choice brings within NEAR."""
    rows, cells = rows_of("tan2019_table_2"), printed_cells()
    rng, found = np.random.default_rng(seed), []
    for _ in range(draws):
        found.append(choose(rows, scaled(cells, rng))[2])
    return found
