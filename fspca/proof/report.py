"""The report: a choice with all that defends it, in one page that needs nothing else.

What is told of a choice is computed here, and written in sentences; `page` sets them.
"""

import platform
import shlex
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy
import scipy.sparse

from fspca.covariance import Covariance
from fspca.covariance.linalg import embedded
from fspca.covariance.missing import filled_rows, filling_of
from fspca.covariance.validate import TailsWarning, UnitsWarning, warn_of_tails, warn_of_units
from fspca.datasets.files import write_whole
from fspca.problem import (
    TOLERANCE,
    Solution,
    check_solution,
    claims_its_gap,
)
from fspca.proof import page
from fspca.proof.certify import certify
from fspca.proof.page import in_digits, percent
from fspca.selection import Choice, as_table, default_counts, explained_by_each, select_k

CLAIM_BYTES = 2**23  # of a matrix that a page carries: beyond, mail programs refuse the page
ROWS_SIZE = 2**27  # numbers of a table that are held at once
MOST = 200  # rows of a table that is read by people
NAMED = 30  # features in a sentence
POINTS = 2000  # of a picture
WORK = 2e9  # operations for stand-ins of each chosen feature among all others; some seconds
NEAREST = 40  # else those most like it are tried
TIGHT_SIZE = 128  # features up to which a tight bound takes no second
SAME = 1e-9  # of correlations and shares: rounding, and no difference


MISSING = {
    "drop": "Rows with missing values were left out.",
    "mean": "Missing values were filled in by the mean of their column.",
    "em": "The covariance was estimated from what was observed, by EM under normality.",
}


@dataclass
class Evidence:
    """A choice and what it is defended with: its covariance, rows and counts, where there are."""

    A: Covariance
    solution: Solution
    X: np.ndarray | None = None
    done: dict | None = None
    choice: Choice | None = None
    missing: str = ""  # why there are no rows, or no counts
    command: str = ""
    reading: tuple = ()
    table: tuple = ()

    def name(self, j):
        """Return the name of a feature, or its number."""
        return str(self.A.names[j]) if self.A.names else f"feature {j}"

    @property
    def left_out(self):
        """The features that were not chosen."""
        return np.setdiff1d(np.arange(self.A.size), self.solution.support)


def write_report(path: str | Path, answer: Solution | Choice, X: Any, *, center: bool = True,
                 standardize: bool = False, missing: str = "refuse", command: str = "",
                 reading: tuple[str, ...] = (), table: str | Sequence[str] = (), seed: int = 0,
                 max_seconds: float | None = None, n_jobs: int | None = None
                 ) -> None:  # fmt: skip
    """Write a choice and what defends it into one HTML file, which nothing is fetched for.

    It holds the features by name with their loadings and contributions, beside PCA; the proof,
    with the claim as a file to save and the command that checks it; what other counts explain, in
    sample and held out, and how stable the choice is; the scores; what the chosen features tell of
    each that was left out, and what could stand in for each; warnings; how the table was read.

    Parameters
    ----------
    path : str or Path
        The file, which ends in .html.
    answer : Solution or Choice
        What was chosen.  Of a `Choice` its own counts are shown; else they are computed.
    X : array or DataFrame, n samples x d features, or Covariance
        The data, or the covariance that was asked: one from data knows its rows.
    center, standardize : bool
        What was done to data: as in `Covariance.from_data`.
    missing : "refuse", "drop", "mean" or "em"
        What was done to missing values: as in `Covariance.from_data`.
    command : str
        The command that made it, to be shown.
    reading : sequence of str
        How the table was read, a sentence each.
    table : str, or sequence of str
        The file of the table, for the command that checks the proof, and the options that
        `fspca check` needs to read it so.
    seed : int
        Of folds, halves and permutations.
    max_seconds : float
        For other counts: where they take longer, the report says that they are missing.
    n_jobs : int
        As in `select_k`.

    See Also
    --------
    fspca.selection.select_k : Gives the counts, held-out shares and stability.
    fspca.Solution.save_claim : Writes the claim alone.

    Notes
    -----
    The same choice and data give the same page, but for the dates within the claim's file.
    The cost is that of `select_k`.

    Examples
    --------
    >>> from fspca import datasets, solve
    >>> wine = datasets.load("wine")
    >>> A = Covariance.from_data(wine.X, standardize=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder, "panel.html"), solve(A, 2, 4), A)
    ...     "No choice of 4 features explains more" in Path(folder, "panel.html").read_text()
    True
    """
    if Path(path).suffix != ".html":
        raise ValueError(f"path={str(path)!r} must end in .html")
    choice = answer if isinstance(answer, Choice) else None
    solution = answer.solution if isinstance(answer, Choice) else answer
    if not isinstance(X, Covariance):
        X, names = as_table(X)
        X = Covariance.from_data(X, center=center, standardize=standardize, missing=missing)
        X.names = names if solution.names is None else solution.names
    if not (verdict := check_solution(X, solution)):
        raise ValueError(
            f"X does not fit the answer: {verdict}. Say standardize=True where that was done, or "
            "hand over the Covariance that was solved"
        )
    table = (table,) if isinstance(table, str) and table else tuple(table)
    case = Evidence(
        X, solution, choice=choice, command=command, reading=tuple(reading), table=table
    )
    if solution.upper_bound is None:
        case.solution = certify(X, solution, max_seconds=max_seconds)
    take_rows(case)
    if choice is None:
        try_counts(case, seed, max_seconds, n_jobs)
    parts = (in_short, warned, chosen, proof, counts, scores, rest, stand_ins, reading_of, made)
    title = f"A choice of {len(solution.support)} of {X.size} features"
    write_whole(path, page.html_page(title, *(part(case) for part in parts)))


def take_rows(case):
    """Put the rows into a case, where they can be had."""
    if case.A.table is None:
        case.missing = "The covariance was given without rows."
        return
    X, case.done = case.A.table
    if np.prod(X.shape) > ROWS_SIZE:
        case.missing = "There are too many rows to be read here."
    else:
        case.X = as_table(X)[0]


def try_counts(case, seed, max_seconds, n_jobs):
    """Put other counts into a case: their bounds, held-out shares and stability."""
    problem = case.solution.problem
    if case.X is None or not problem.one_support:
        return
    n = len(rows_kept(case.A))
    if n < 8:  # two folds, and halves of four rows
        case.missing = f"{n} rows are too few to hold some out."
        return
    if case.done["sample_weight"] is not None:
        case.missing = "The samples have weights, which the halves and folds would not have."
        return
    asked, ends = counts_beside(case.A.size, problem), None
    if max_seconds is not None:
        ends = perf_counter() + max_seconds

    def in_time(_):
        return ends is None or perf_counter() < ends

    tight = case.A.size <= TIGHT_SIZE and max_seconds is None
    given = {name: case.done[name] for name in ("center", "standardize", "missing")}
    try:
        case.choice = select_k(
            case.X, problem.m, asked, folds=min(5, n // 2), **given, seed=seed,
            required=problem.required, forbidden=problem.forbidden, progress=in_time,
            bound="dual" if tight else "shifted", n_jobs=n_jobs,
        )  # fmt: skip
    except KeyboardInterrupt:
        if in_time(None):
            raise
        case.missing = f"Other counts took longer than {max_seconds:g} seconds."


def counts_beside(d, problem):
    """Return the counts of features that are shown beside the one chosen."""
    least = max(problem.m, len(problem.required))
    most = min(d - len(problem.forbidden), max(4 * problem.k, 64))
    return sorted({*default_counts(least, most), problem.k})


def listed(names):
    """Return names with commas and an "and" between.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def place_of(case):
    """Return the index in choice.counts of the problem's own k or m, or None."""
    if case.choice is None:
        return None
    wanted = getattr(case.solution.problem, case.choice.what)
    found = np.flatnonzero(case.choice.counts == wanted)
    return int(found[0]) if len(found) else None


def in_short(case):
    """Return what was chosen and how good it is, in few sentences."""
    A, solution = case.A, case.solution
    share = solution.objective / (A.trace or 1.0)
    names = [case.name(j) for j in solution.support]
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    pca = A.leading(solution.problem.m)[0].sum()
    lines = [
        f"Chosen: {listed([*names[:NAMED], *more])}.",
        f"{solution.problem.m} {solution.problem.adjective}components of these explain "
        f"{percent(share)} of the variance of all {A.size} features.",
        f"As many principal components, which need all features, explain "
        f"{percent(pca / (A.trace or 1.0))}.",
        proven(case),
    ]
    at = place_of(case)
    if at is not None:
        held_out, error = case.choice.held_out[at], case.choice.standard_error[at]
        lines.append(
            f"Of rows that took no part in the choice, features chosen in this way explain "
            f"{percent(held_out)}, with a standard error of {percent(error)}."
        )
    return f'<div class="short">{page.html_list(lines)}</div>'


def proven(case):
    """Return what is known of better choices, in a sentence."""
    solution, problem = case.solution, case.solution.problem
    what = "such components"
    if problem.one_support:
        sides = problem.required or problem.forbidden
        allowed = ", with what had to be in and out," if sides else ""
        what = f"choice of {len(solution.support)} features{allowed}"
    if solution.gap is None:
        return "How far from the best it is was not asked."
    more = f"explains at most {percent(solution.gap)} more than this one, relatively"
    if solution.bound_probability < 1:
        chance = f"{1 - solution.bound_probability:.1g}"
        return f"With a probability of at least 1 \u2212 {chance} the best {what} {more}."
    if solution.gap <= TOLERANCE:
        checked = ": this is proven, and can be checked" if claims_its_gap(solution) else ""
        return f"No {what} explains more{checked}."
    return f"The best {what} {more}."


def warned(case):
    """Return what a reader must know before he trusts the choice."""
    told = [*of_scales(case), *of_copies(case), *of_ties(case), *of_samples(case)]
    if not case.solution.converged:
        told.append(f"The search was ended by {case.solution.stopped}.")
    if not told:
        return ""
    return f'<div class="warnings"><h2>Before you rely on it</h2>{page.html_list(told)}</div>'


def of_scales(case):
    """Yield a warning where one feature's unit or one row decides, and where variances are 0."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UnitsWarning)
        warnings.simplefilter("always", TailsWarning)
        warn_of_units(case.A, 2)
        if case.done is not None and case.done["standardize"]:
            warn_of_tails(case.A, case.solution.support, 2)
    for each in heard:
        told = str(each.message)
        yield f"{told[0].upper()}{told[1:]}"
    if flat := np.flatnonzero(case.A.diagonal() == 0).tolist():
        yield f"Without any variance: {listed([case.name(j) for j in flat[:NAMED]])}."


def of_copies(case):
    """Yield which features carry what a chosen one carries, to the last digit."""
    R, support = correlations(case), case.solution.support
    for i, j in enumerate(support):
        alike = np.flatnonzero(np.abs(R[:, i]) >= 1 - SAME)
        told_before = np.isin(alike, support[:i]).any()  # of two that are chosen, once
        others = [case.name(each) for each in alike if each != j]
        if others and not told_before:
            yield f"{case.name(j)} carries the same as {listed(others[:NAMED])}: one is enough."


def of_ties(case):
    """Yield which features could take the place of a chosen one at no loss."""
    for i, j, loss in substitutes(case):
        if loss <= SAME:
            yield (
                f"{case.name(j)} in the place of {case.name(i)} explains as much: which of the two "
                "is chosen says nothing."
            )


def of_samples(case):
    """Yield a warning where halves of the rows hardly agree, or noise explains as much."""
    at = place_of(case)
    if at is None:
        return
    choice = case.choice
    if choice.stability[at] < 0.5:  # nearer to chance than to agreement
        yield (
            f"From another half of the rows other features would be chosen: the agreement is "
            f"{in_digits(choice.stability[at], 2)}, where 1 is full and 0 is chance."
        )
    if choice.explained[at] <= choice.noise[at]:
        yield "Columns that are permuted one by one, which have nothing in common, explain as much."


def correlations(case):
    """Return the correlations of all features (rows) with those chosen (columns)."""
    spread = np.sqrt(np.maximum(case.A.diagonal(), 0))
    spread[spread == 0] = 1.0
    support = case.solution.support
    return case.A.columns(support) / spread[:, None] / spread[support]


def told_of(case, V):
    """Return for each feature the share of its variance that combinations V of features tell."""
    AV, variances = case.A.product(V), case.A.diagonal()
    inner = np.linalg.pinv(V.T @ AV, hermitian=True)
    told = np.einsum("ij,jk,ik->i", AV, inner, AV)
    return np.clip(told / np.where(variances > 0, variances, 1.0), 0.0, 1.0)


def chosen(case):
    """Return the table of the chosen features, and that of the components beside PCA's."""
    A, solution = case.A, case.solution
    W, m, at = solution.W, solution.problem.m, place_of(case)
    heads = ["feature", *(f"loading {j + 1}" for j in range(m)), "contribution", "cos\u00b2"]
    told, rows = told_of(case, W), []
    for j in solution.support:
        cells = [*map(in_digits, W[j]), percent(W[j] @ W[j] / m), percent(told[j])]
        if at is not None:
            cells.append(percent(case.choice.frequency[at, j]))
        rows.append([case.name(j), *cells])
    heads += ["chosen from halves"] * (at is not None)
    total = A.trace or 1.0
    own = np.array(explained_by_each(A, solution.problem, W)) / total
    pca = A.leading(m)[0] / total
    beside = [
        [f"component {j + 1}", percent(own[j]), percent(own[: j + 1].sum()), percent(pca[j]),
         percent(pca[: j + 1].sum())] for j in range(m)
    ]  # fmt: skip
    return page.html_section(
        "The choice",
        page.html_table("The features chosen, and what each is for", heads, rows),
        page.paragraph(
            "A loading is the weight of a feature in a component; features of one sign rise "
            "together. The contribution is its share of all squared loadings; cos\u00b2 is the "
            "share of its own variance that the components explain.",
            "" if at is None else "The last column is how often it is chosen from half of the "
            "rows.",
        ),
        page.html_table("What each component adds, and what PCA's has", ["component", "adds",
                        "together", "PCA's adds", "PCA together"], beside),
    )  # fmt: skip


def proof(case):
    """Return what is proven, the claim to be saved, and the command that checks it."""
    solution, parts = case.solution, [page.paragraph(proven(case))]
    content, reason = packed_claim(case)
    if content is None:
        return page.html_section("The proof", *parts, page.paragraph(reason))
    data = ["--data", *case.table] if case.table else []
    parts += [
        page.paragraph(
            "The claim below holds the covariance and the numbers that prove the bound. A program "
            "that shares no line with the search checks it, by arithmetic whose rounding is "
            "bounded."
        ),
        page.link_to_save("claim.npz", content, f"Save the claim, claim.npz ({size(content)})"),
        f"<pre><code>{page.words(shlex.join(['fspca', 'check', 'claim.npz', *data]))}</code></pre>",
        page.paragraph(
            "With the table it is seen, too, that the covariance is that of the table."
            if case.table
            else "",
            "The one file check_certificate.py of the module, which needs numpy alone, says the "
            "same: python check_certificate.py claim.npz",
        ),
    ]
    value = f"{solution.objective:.10g} of at most {solution.upper_bound:.10g}"
    return page.html_section("The proof", *parts, page.paragraph(f"It speaks of {value}."))


def packed_claim(case):
    """Return the bytes of the claim's file, or None and why there is none."""
    if case.solution.certificate is None:
        return None, "There is no claim of it that could be checked."
    n = case.A.size if case.X is None else len(case.X)
    if 8 * min(n, case.A.size) * case.A.size > CLAIM_BYTES:
        return None, (
            "Its claim is too large for a page: save_claim, or --proof on the command line, "
            "writes it to a file."
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "claim.npz")
        case.solution.save_claim(file, case.A)
        return file.read_bytes(), ""


def size(content):
    """Return how many bytes, in words.

    >>> size(bytes(2500))
    '2.5 kB'
    """
    return f"{in_digits(len(content) / 1000)} kB"


def counts(case):
    """Return what each count explains, in sample, held out and of noise, and how stable it is."""
    title = "How many"
    if case.choice is None:
        why = case.missing or "Other counts are shown for one support shared by all components."
        return page.html_section(title, page.paragraph(f"Not shown. {why}"))
    choice, at = case.choice, place_of(case)
    what = {"k": "features", "m": "components"}[choice.what]
    counts, curves = choice.counts, curves_of(case)
    marked = counts[at] if at is not None else choice.chosen
    told = [
        f"The fewest within one standard error of the best held-out share: {choice.chosen} {what}; "
        f"the best: {choice.best}.",
        "The elbow, where the curve is highest above a straight line from its first point to its "
        f"last: {choice.elbow} {what}.",
    ]
    picture = page.svg_curves(
        counts, curves, marked, (f"{what} (ratio scale)", "share of the variance"),
        f"The share explained rises from {percent(choice.explained[0])} with {counts[0]} to "
        f"{percent(choice.explained[-1])} with {counts[-1]} {what}.",
    )  # fmt: skip
    heads = [what, "explained", "at most", "held out", "error", "permuted", "stability"]
    rows = [
        [count, *map(percent, shares[:5]), in_digits(shares[5], 2)]
        for count, *shares in zip(
            counts, curves[0][1], curves[1][1], choice.held_out, choice.standard_error,
            choice.noise, choice.stability, strict=True,
        )
    ]  # fmt: skip
    caption = f"What other counts explain; the dotted line stands at {marked} {what}."
    return page.html_section(
        title,
        page.html_list(told),
        page.html_figure(picture, caption, page.legend(curves)),
        page.html_table("Each count", heads, rows),
        page.paragraph(
            "Held out is the mean share on folds that took no part in the choice; the error is its "
            "standard error. Permuted is what columns explain that have nothing in common. "
            "Stability is how well choices from halves of the rows agree: 1 is full agreement, 0 "
            "is chance."
        ),
    )


def curves_of(case):
    """Return the curves of the picture, in the order of their looks.

    At the count chosen the first two say what is known of the answer itself.
    """
    choice, at, total = case.choice, place_of(case), case.A.trace or 1.0
    explained, bound = choice.explained.copy(), choice.bound.copy()
    if at is not None:
        explained[at] = case.solution.objective / total
        if case.solution.upper_bound is not None:
            bound[at] = min(bound[at], case.solution.upper_bound / total)
    return [
        ("explained by the choice", explained, None),
        ("no choice explains more", bound, None),
        ("held out, with its standard error", choice.held_out, choice.standard_error),
        ("permuted columns", choice.noise, None),
    ]


def scores(case):
    """Return a picture of the samples' scores."""
    if case.X is None:
        return page.html_section("The samples", page.paragraph(f"Not shown. {case.missing}"))
    T, _ = scores_of(case.A, case.solution)
    shown = np.unique(np.linspace(0, len(T) - 1, min(POINTS, len(T))).astype(int))
    several = T.shape[1] > 1
    across, up = (T[shown, 0], T[shown, 1]) if several else (shown, T[shown, 0])
    names = ("component 1", "component 2") if several else ("sample", "component 1")
    picture = page.svg_points(across, up, names, f"{len(shown)} samples by their scores.")
    caption = "Each point is a sample, at its scores on the components of the choice."
    if len(shown) < len(T):
        caption += f" Of {len(T)} samples {len(shown)} are drawn, evenly through the table."
    return page.html_section("The samples", page.html_figure(picture, caption))


def rows_kept(A):
    """Return the numbers of the rows that a covariance is of."""
    X, done = A.table
    return np.arange(X.shape[0]) if done["kept"] is None else np.asarray(done["kept"])


def scores_of(A, solution):
    """Return the coordinates of each row's projection on the components, and which rows they are.

    What is missing is filled in as it was for the covariance; rows that it left out have no score.
    """
    X, done = A.table
    filling, kept = filling_of(A), rows_kept(A)
    X, support = as_table(X)[0][kept], solution.support
    if filling is not None and not scipy.sparse.issparse(X):
        X = filled_rows(X, *filling)
    mean, spread = A.moments
    mean = mean if done["center"] else np.zeros(A.size)
    scale = np.where(spread > 0, spread, 1.0) if done["standardize"] else np.ones(A.size)
    onto = np.linalg.pinv(solution.W.T)[support] / scale[support, None]
    return X[:, support] @ onto - mean[support] @ onto, kept


def rest(case):
    """Return what the chosen features tell of each that was left out."""
    A, support, others = case.A, case.solution.support, case.left_out
    if not len(others):
        return ""
    V = embedded(np.eye(len(support)), support, A.size)
    told, R, variances = told_of(case, V), correlations(case), A.diagonal()
    kept = others[variances[others] > 0]
    order = kept[np.argsort(-told[kept], kind="stable")]
    near = {j: int(np.argmax(np.abs(R[j]))) for j in order}
    rows = [
        [case.name(j), case.name(support[near[j]]), in_digits(R[j, near[j]], 2), percent(told[j])]
        for j in order
    ]
    all_told = told[kept] @ variances[kept] / (variances[kept].sum() or 1.0)
    shown, note = rows, ""
    if len(rows) > MOST:
        shown = rows[: MOST // 2] + rows[-MOST // 2 :]
        note = f"Of {len(rows)} the {MOST // 2} best and the {MOST // 2} least known are listed."
    heads = ["feature left out", "most like it, of those chosen", "correlation", "known (R\u00b2)"]
    return page.html_section(
        "What is known of those left out",
        page.paragraph(
            f"From the chosen features {percent(all_told)} of the variance of all others can be "
            "told, by linear regression on these rows.",
            note,
        ),
        page.html_table("The features left out, the best known first", heads, shown, texts=2),
    )


def stand_ins(case):
    """Return which feature could best take the place of each chosen one."""
    found = substitutes(case)
    if not found:
        return ""
    rows = [[case.name(i), case.name(j), percent(max(loss, 0.0))] for i, j, loss in found]
    told = (
        "The components are fitted again with the other feature; the loss is of what they explain."
    )
    if not all_tried(case):
        told += f" Tried were the {NEAREST} features most like the one replaced."
    return page.html_section(
        "If one cannot be measured",
        page.html_table("The best stand-in for each chosen feature",
                        ["in the place of", "measure", "loss"], rows, texts=2),
        page.paragraph(told),
    )  # fmt: skip


def all_tried(case):
    """Whether every feature is tried in the place of every chosen one."""
    k = len(case.solution.support)
    return k**4 * len(case.left_out) <= WORK


def substitutes(case):
    """Return for each chosen feature that may go the best other, and the share lost with it."""
    solution, problem = case.solution, case.solution.problem
    if not problem.one_support or solution.objective <= 0:
        return []
    free = np.setdiff1d(case.left_out, problem.forbidden).astype(int)
    if not len(free):
        return []
    C, R, found = case.A.columns(solution.support), np.abs(correlations(case)), []
    for i, j in enumerate(solution.support):
        if j in problem.required:
            continue
        tried = free
        if not all_tried(case):
            tried = np.sort(free[np.argsort(-R[free, i], kind="stable")[:NEAREST]])
        values = values_with(case.A, C, solution.support, i, tried, problem.m)
        best = int(np.argmax(values))
        found.append((j, tried[best], 1 - values[best] / solution.objective))
    return found


def values_with(A, C, support, i, tried, m):
    """Return what m components explain with each of some features in the place of the i-th.

    C holds the columns of A of the support.
    """
    k = len(support)
    B = np.empty((len(tried), k, k))
    B[:] = C[support]
    B[:, i, :] = B[:, :, i] = C[tried]
    B[:, i, i] = A.diagonal()[tried]
    return np.linalg.eigvalsh(B)[:, -m:].sum(axis=1)


def reading_of(case):
    """Return how the table was read, and what was done to it."""
    told = list(case.reading)
    if case.done is not None:
        shape = " x ".join(map(str, case.A.table[0].shape))
        center = "centred" if case.done["center"] else "not centred"
        scale = "divided by their standard deviations" if case.done["standardize"] else "not scaled"
        told.append(f"{shape} samples and features were taken; the features were {center} and "
                    f"{scale}.")  # fmt: skip
        told += [MISSING[case.done["missing"]]] if has_missing(case) else []
        if case.done["sample_weight"] is not None:
            told.append("The samples have weights.")
    problem = case.solution.problem
    for word, side in (("had to be in", "required"), ("had to be out", "forbidden")):
        if numbers := getattr(problem, side, ()):
            told.append(f"These {word}: {listed([case.name(j) for j in numbers])}.")
    return page.html_section("How the table was read", page.html_list(told)) if told else ""


def has_missing(case):
    """Whether there are missing values in the rows."""
    return case.X is not None and not scipy.sparse.issparse(case.X) and np.isnan(case.X).any()


def made(case):
    """Return what made the report."""
    from fspca import __version__

    versions = [
        f"fspca {__version__}, numpy {np.__version__}, scipy {scipy.__version__}, Python "
        f"{platform.python_version()}, on {platform.system()} ({platform.machine()})."
    ]
    asked = f"{case.solution}."
    command = f"<pre><code>{page.words(case.command)}</code></pre>" if case.command else ""
    return page.html_section("How it was made", page.paragraph(asked), command,
                             page.html_list(versions))  # fmt: skip
