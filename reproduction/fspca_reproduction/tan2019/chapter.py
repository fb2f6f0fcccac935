"""All that the chapter on the paper calls, under one name."""

from fspca_reproduction import verdict
from fspca_reproduction.book.tables import Table, compared, sentence_table
from fspca_reproduction.claim import judged, sentences
from fspca_reproduction.results import published, rounded, rows_of, same_row, stored
from fspca_reproduction.runner import row
from fspca_reproduction.tan2019 import assumptions, claims, methods, readings, verdicts
from fspca_reproduction.tan2019.costs import equal_penalties
from fspca_reproduction.tan2019.data import prepared
from fspca_reproduction.tan2019.figures import recovery, walked

__all__ = [
    "Table", "assumptions", "claims", "compared", "equal_penalties", "judged", "methods",
    "prepared", "published", "readings", "recovery", "rounded", "row", "rows_of", "same_row",
    "sentence_table", "sentences", "stored", "verdict", "verdicts", "walked",
]  # fmt: skip
