"""How the cells of a table are laid out: which rows are samples, and which line names the columns.

What is found from the first rows is said in one line; where they leave a doubt, it is asked.
"""

import re
from collections import Counter
from typing import NamedTuple

import numpy as np

# What stands for a missing value: the words of pandas, and those of SAS, SPSS, Excel and people.
SIGNS = ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
         "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "na", "Na", "n.a.",
         "N.A.", "none", "missing", "Missing", "MISSING", ".", "?", "-", "--", "#DIV/0!",
         "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!")  # fmt: skip
MISSING = frozenset(SIGNS)
FEW = 4  # columns: of fewer, a row of numbers says little about whether it is one of names
MANY = 8  # columns whose numbers rise by chance in one of 40,320 rows
SOME = 0.05  # of the rows: what they do as seldom as that, they do not do as a rule
GROUPS = re.compile(r"[+-]?\d{1,3}(?:([,.' \u00a0\u2009\u202f\u2019])\d{3})(?:\1\d{3})*([.,]\d+)?")
UNITS = re.compile(r"^[$€£¥\s]+|[%$€£¥\s]+$")
PLAIN = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|infinity)", re.I)
COMMENTS = ("#", "%%", "//")


class Unreadable(ValueError):
    """What is wrong with a table, or left in doubt by it; where it asks, it names the option."""


class Layout(NamedTuple):
    """Which rows are samples: `start` is the first, counted from 0, of `width` cells.

    `names` are those of the columns, or None; `said` is what there is to say of it; `coded` are
    the columns of whole numbers with leading zeros, which only ids have.
    """

    start: int
    width: int
    names: tuple[str, ...] | None
    said: tuple[str, ...]
    coded: frozenset[int] = frozenset()


def is_missing(cell):
    """Say whether a cell stands for none.

    >>> is_missing("n/a"), is_missing("0")
    (True, False)
    """
    return cell.strip() in MISSING


def is_number(cell):
    """Say whether a cell is a number, with a comma, groups of thousands or a unit of money too.

    >>> [is_number(cell) for cell in ("1e-3", "1.234,5", "12 %", "1_0", "12 kg")]
    [True, True, True, False, False]
    """
    try:
        float(cell)
        return "_" not in cell
    except ValueError:
        bare = UNITS.sub("", cell)
    return bool(PLAIN.fullmatch(bare) or GROUPS.fullmatch(bare))


def kind_of(cell):
    """Return "missing", "number" or "text"."""
    return "missing" if is_missing(cell) else "number" if is_number(cell) else "text"


def laid_out(rows, header=None):
    """Return the Layout of the first rows of a table, cells as text.

    >>> laid_out([["a", "b"], ["cm", "kg"], ["1", "2"], ["3", "5"]])[:3]
    (2, 2, ('a', 'b'))
    """
    width = Counter(len(row) for row in rows if any(map(str.strip, row))).most_common(1)[0][0]
    start, said = above(rows, width)
    if start == len(rows):
        raise Unreadable("has no line of cells")
    first, below = rows[start], rows[start + 1 :]
    named = header if header is not None else is_header(first, below, width, start)
    if not named:
        said = (*said, "no names of columns")
        return Layout(start, width, None, said, coded_columns(rows[start:], width))
    names = [cell.strip().lstrip("#").strip() if j == 0 else cell.strip()
             for j, cell in enumerate(first)]  # fmt: skip
    if len(names) > width and not any(names[width:]):
        names = names[:width]
    if len(names) + 1 == width:  # the last of all is empty, or the first holds names of rows
        ended = not any(row[-1].strip() for row in below if len(row) == width)
        names = [*names, ""] if ended else ["", *names]
    if len(names) != width:
        raise Unreadable(f"has {width} cells in most lines, where line {start + 1} "
                         f"names {len(names)}: mend that line, or say separator=")  # fmt: skip
    said = (*said, f"names in line {start + 1}")
    start += 1
    while units := is_units(rows[start:], width):
        shown = ", ".join(repr(each) for each in units[:3])
        said, start = (*said, f"line {start + 1} not a sample ({shown})"), start + 1
    if not any(any(map(str.strip, row)) for row in rows[start:]):
        raise Unreadable("no line follows the names of the columns")
    return Layout(start, width, tuple(names), said, coded_columns(rows[start:], width))


def counted(number, what):
    """Return how many there are of something.

    >>> counted(1, "line"), counted(2, "line")
    ('1 line', '2 lines')
    """
    return f"{number} {what}" + ("" if number == 1 else "s")


def above(rows, width):
    """Return where the table begins below titles and comments, and what was passed over."""
    start = 0
    while start < len(rows):
        row = rows[start]
        filled = [cell for cell in row if cell.strip()]
        if filled and not is_above(row, filled, rows[start + 1 :], width):
            break
        start += 1
    passed = [i + 1 for i in range(start) if any(map(str.strip, rows[i]))]
    return start, ((f"{counted(len(passed), 'line')} above passed over",) if passed else ())


def is_above(row, filled, below, width):
    """Say whether a line is a comment, a title, or Excel's word on the separator."""
    if row[0].startswith(COMMENTS):
        same = len(row) == width and not any(is_number(cell) for cell in filled)
        return not (same and below and not below[0][0].startswith(COMMENTS))
    if len(filled) == 1 and filled[0].lower().startswith("sep="):
        return True
    if width == 1 or len(filled) > 1 or (len(row) == width > 2 and is_number(filled[0])):
        return False
    after = next((each for each in below if any(map(str.strip, each))), [])
    return width > 2 or not any(is_number(cell) for cell in after)


def columns_below(below, width):
    """Return the cells of each column that are not missing, from rows of the right width."""
    whole = [row for row in below if len(row) == width]
    return [[row[j] for row in whole if not is_missing(row[j])] for j in range(width)]


def coded_columns(rows, width):
    """Return the columns whose cells are whole numbers, some with leading zeros."""
    return frozenset(
        j
        for j, cells in enumerate(columns_below(rows, width))
        if all(re.fullmatch(r"\d+", cell.strip()) for cell in cells)
        and any(re.fullmatch(r"0\d+", cell.strip()) for cell in cells)
    )


def numeric(cells):
    """Say whether at least half of some cells are numbers."""
    return bool(cells) and 2 * sum(map(is_number, cells)) >= len(cells)


def is_units(rows, width):
    """Return the words of a row that stands between names and numbers, or nothing."""
    if len(rows) < 3:
        return []
    first = rows[0] + [""] * (width - len(rows[0]))
    numbers = [j for j, cells in enumerate(columns_below(rows[1:], width)) if numeric(cells)]
    kinds = [kind_of(first[j]) for j in numbers]
    return [first[j] for j in numbers] if "text" in kinds and "number" not in kinds else []


def is_header(first, below, width, line):
    """Say whether the first row names the columns, or ask."""
    filled = [row for row in below if any(map(str.strip, row))]
    if not filled:
        return any(kind_of(cell) == "text" for cell in first)
    if len(first) + 1 == width:
        return True
    columns = columns_below(filled, width)
    first = (first + [""] * width)[:width]
    numbers = [j for j, cells in enumerate(columns) if numeric(cells)]
    others = [j for j in range(width) if j not in set(numbers)]
    texts = [j for j in numbers if kind_of(first[j]) == "text"]
    named = [j for j in numbers if kind_of(first[j]) == "number"]
    if not named:
        return bool(texts or others)
    if not texts and any(first[j] in columns[j] for j in others if first[j].strip()):
        return False  # a word that comes again below is no name
    if not first[0].strip() and len(columns[0]) >= len(filled) - 1:
        return True  # the corner above names of rows
    found = of_another_kind([first[j] for j in named], [columns[j] for j in named])
    if texts and (found or len(texts) >= len(named)):
        return True
    if texts or found is None:
        raise Unreadable(
            f"line {line + 1}, {', '.join(first)[:40]!r}, may name the columns or be a sample: "
            "say header=True or header=False"
        )
    return found


def of_another_kind(first, columns):
    """Say whether numbers are names, by how they differ from those below; None where in doubt."""
    values = values_of(first)
    rows = np.array([values_of(cells) for cells in zip(*columns, strict=False)])
    whole = all(re.fullmatch(r"\d+", cell.strip()) for cell in first)
    broken = [any(not re.fullmatch(r"[+-]?\d+", cell.strip()) for cell in cells)
              for cells in columns]  # fmt: skip
    count = np.array_equal(values, np.arange(len(values)) + values[0]) and values[0] in (0, 1)
    if len(set(values)) < len(values):
        return False  # no two columns have one name
    if whole and np.mean(broken) > 0.9 and (count or len(values) >= FEW):
        return True
    if len(values) >= FEW and even(values) and np.mean([even(row) for row in rows]) < SOME:
        return True
    rising = np.mean([rises(row) for row in rows])
    if len(values) >= MANY and rises(values) and rising < SOME:
        return True
    if whole:
        return None
    if not rises(values) or len(values) < FEW or rising > 0.5:
        return False
    return None


def values_of(cells):
    """Return cells as numbers, what is none as NaN."""
    found = []
    for cell in cells:
        bare = UNITS.sub("", cell).replace(",", ".")
        try:
            found.append(float(bare) if "_" not in bare else np.nan)
        except ValueError:
            found.append(np.nan)
    return np.array(found)


def even(values):
    """Say whether numbers have one step."""
    steps = np.diff(values)
    return bool(len(steps)) and steps[0] != 0 and np.allclose(steps, steps[0], rtol=1e-6, atol=0)


def rises(values):
    """Say whether numbers only rise, or only fall."""
    steps = np.diff(values)
    return bool(np.all(steps > 0) or np.all(steps < 0))
