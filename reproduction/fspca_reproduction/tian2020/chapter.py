"""What the chapter that reproduces tian2020 shows, by one name: rows, verdicts and tables."""

from fspca_reproduction.book.tables import Table, compared, sentence_table
from fspca_reproduction.claim import Said, counts, judged, sentences
from fspca_reproduction.results import published, stored
from fspca_reproduction.tian2020 import claims, kernels, readings, verdicts
from fspca_reproduction.tian2020.figures import of_set, theorem_5_1
from fspca_reproduction.tian2020.optimum import optimum
from fspca_reproduction.tian2020.verdicts import OPEN
from fspca_reproduction.verdict import LIMIT, z_score

__all__ = [
    "LIMIT", "OPEN", "Said", "Table", "claims", "compared", "counts", "judged", "kernels",
    "of_set", "optimum", "published", "readings", "sentence_table", "sentences", "stored",
    "theorem_5_1", "verdicts", "z_score",
]  # fmt: skip
