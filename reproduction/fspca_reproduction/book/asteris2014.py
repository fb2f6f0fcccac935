"""What the chapter on asteris2014 shows of the experiments, behind one import."""

from fspca_reproduction.asteris2014 import readings
from fspca_reproduction.asteris2014.claims import certified_points
from fspca_reproduction.asteris2014.figures import SPECTRA, four_curves
from fspca_reproduction.book.tables import Table, sentence_table, short
from fspca_reproduction.claim import Said, sentences
from fspca_reproduction.results import stored
from fspca_reproduction.verdict import MARKS

__all__ = [
    "SPECTRA", "four_curves", "four_fractions", "fraction_table", "listed", "readings", "report",
    "rows", "side_by_side",
]  # fmt: skip


def rows(name, **where):
    """Return the stored rows of an experiment of the paper, those with these values.

    >>> len(rows("figure_1")), len(rows("figure_1", k=2))
    (4, 1)
    """
    return [r for r in stored(f"asteris2014_{name}")["rows"] if where.items() <= r.items()]


def report(name):
    """Return the table of what the paper says of a figure, the verdict, and our number."""
    every = sentences(f"asteris2014_{name}")
    return sentence_table([each for each in every if each.key != "we certify"])


def four_fractions():
    """Return the paper's certified fractions, each with ours and the verdict."""
    return list(certified_points(Said("asteris2014_certified")))


def fraction_table(points):
    """Return the table of these: printed over ours, and the assumptions that come near."""
    return Table(
        [["set", "k", "printed, ours", "assumptions within 0.01"]],
        [
            (
                p.place["set"],
                p.place["k"],
                (f"{p.said:.3f}\n{p.ours:.3f} {MARKS[p.verdict]}", p.verdict),
                "; ".join(" + ".join(name) for name in p.more["near"]),
            )
            for p in points
        ],
    )


def listed(heads, lines, stubs=1):
    """Return a table of these lines, numbers with three digits."""
    return Table([heads], [[short(each) for each in line] for line in lines], stubs)


def side_by_side(found, key, last=()):
    """Return a line for each set: a number of each method, and what else is asked for."""
    methods = dict.fromkeys(method for r in found for method in r[key])
    return listed(
        ["set", "m", "k", *methods, *last],
        [
            (r["set"], r["m"], r["k"], *(r[key][each] for each in methods), *map(r.get, last))
            for r in found
        ],
        stubs=3,
    )
