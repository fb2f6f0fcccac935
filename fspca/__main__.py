"""Choose features from a table, say what more of them would explain, check a proof, list data.

Exit codes: 0 all went well; 1 a file, a number or a proof is wrong, said in one line on standard
error; 2 the command line is; 130 ended by Ctrl-C before there was an answer.
"""

import argparse
import csv
import io
import json
import math
import re
import shlex
import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np

from fspca import __version__, datasets
from fspca.check_certificate import check
from fspca.covariance import Covariance
from fspca.covariance.missing import WAYS
from fspca.covariance.validate import warn_of_tails, warn_of_units
from fspca.datasets.catalogue import CATALOGUE
from fspca.datasets.columns import picked
from fspca.datasets.files import printable, write_whole
from fspca.datasets.tables import called_apart, read_table
from fspca.proof.certify import certify
from fspca.proof.claim_files import check_with_table
from fspca.proof.report import scores_of
from fspca.selection import default_counts, fewest
from fspca.shared_support.path import path
from fspca.shared_support.solve import solve

ENDINGS = {"proof": [".npz"], "report": [".html"], "scores": [".csv", ".tsv"],
           "reduced": [".csv", ".tsv"]}  # fmt: skip
READING = ("header", "keep", "drop", "id", "weights", "na", "separator", "decimal", "encoding",
           "sheet")  # fmt: skip
SAID = "which the proof says itself, and must agree with"
LISTED = {"action": "append", "default": []}  # one that is given again adds to what it said
# What a sentence calls an option, and what the command line calls it.
CALLED = {
    "header=True": "--header",
    "header=False": "--no-header",
    "scale=True": "--scale",
    "standardize=True": "--scale",
    "sample_weight": "--weights",
}
OPTIONS = re.compile(
    r"\b(missing|keep|drop|na|id|decimal|separator|encoding|sheet|weights)=(?:'([\w.,<>-]+)')?"
)


def in_options(text):
    """Return a sentence with the options of the command line for those of the functions.

    >>> in_options("say header=True, or drop='age'")
    'say --header, or --drop age'
    """
    for name, option in CALLED.items():
        text = text.replace(name, option)
    return OPTIONS.sub(r"--\1 \2", text)


def read(options, path):
    """Return the table in a file, read as the options say; how goes to standard error."""
    asked = {name: getattr(options, name) for name in READING}
    if options.na is not None:
        asked["na"] = ",".join(options.na)
    table = read_table(path, **asked)
    print(f"fspca: {printable(table.how)}", file=sys.stderr)
    return table


def as_read(options):
    """Return the table's file and the options that said how it is read, as they are written."""
    written = [options.table]
    for name in READING:
        given = getattr(options, name)
        if isinstance(given, bool):
            written.append(f"--{name}" if given else f"--no-{name}")
        elif given not in (None, 0):
            written += [f"--{name}={each}" for each in np.atleast_1d(given)]
    return written


def covariance(options):
    """Return the covariance of the table asked for, which knows the names of the columns."""
    table = read(options, options.table)
    A = Covariance.from_data(
        table.X,
        divisor="n-1" if table.weights is None else "n",  # weights may sum to 1
        standardize=options.scale,
        missing=options.missing,
        sample_weight=table.weights,
        names=table.names,
    )
    if not options.scale:
        warn_of_units(A, 2)
    return A, table


def features_of(table, given, side):
    """Return the features given by name or by number in the file, with commas between.

    What was left out as no feature is forbidden anyhow, and cannot be required.
    """
    columns = list(table.columns or range(table.X.shape[1]))
    every = table.header or table.names or tuple(map(str, columns))
    found = []
    for at in picked(given, every):
        if at in columns:
            found.append(columns.index(at))
        elif side == "required":
            name = called_apart(every)[at]
            why = table.left_out.get(name, "")
            raise ValueError(f"{name!r} was left out ({why}); --keep takes it in")
    return tuple(found)


def share_of(given):
    """Return a share between 0 and 1, or say how one is written.

    >>> share_of("80%"), share_of("0.8"), share_of(None)
    (0.8, 0.8, None)
    """
    if given is None:
        return None
    try:
        share = float(given.rstrip(" %")) / (100 if "%" in given else 1)
    except ValueError:
        share = math.nan
    if 0 < share <= 1:
        return share
    meant = f"; {given} % is --explain {share / 100:g}" if 1 < share <= 100 else ""
    raise ValueError(f"--explain {given} must be a share above 0 and at most 1, such as 0.8 or "
                     f"80%{meant}")  # fmt: skip


def counts_of(given):
    """Return counts of features, written with commas between."""
    try:
        return [int(k) for k in given.split(",")]
    except ValueError:
        raise ValueError(f"-k {given} must be whole numbers with commas between") from None


def summary(A, solution):
    """Return what an answer says, ready for JSON."""
    total, bound = A.trace or 1.0, solution.upper_bound
    return {
        "k": len(solution.support),
        "features": [A.names[j] if A.names else int(j) for j in solution.support],
        "loadings": solution.W[solution.support].tolist(),
        "explained_variance_ratio": solution.objective / total,
        "upper_bound_ratio": None if bound is None else bound / total,
        "gap": solution.gap,
        "stopped": solution.stopped,
    }


def loading_lines(said):
    """Return the chosen features and their loadings, a line each."""
    width = max(len(str(name)) for name in said["features"])
    rows = zip(said["features"], said["loadings"], strict=True)
    return [f"{name!s:{width}} " + " ".join(f"{w:8.4f}" for w in row) for name, row in rows]


def select(options):
    """Choose features from a table."""
    for option, endings in ENDINGS.items():
        file = getattr(options, option)
        if file and file.suffix not in endings:
            raise ValueError(f"--{option} {file} must end in {' or '.join(endings)}")
    (A, table), m = covariance(options), options.components
    share = share_of(options.explain)
    sides = {side: features_of(table, getattr(options, side), side)
             for side in ("required", "forbidden")}  # fmt: skip
    k = options.features if share is None else fewest(A, m, share, **sides)
    given = {"seed": options.seed, "max_seconds": options.max_seconds, **sides}
    solution = solve(A, m, k, progress=options.progress, **given)
    if options.scale:
        warn_of_tails(A, solution.support, 2)
    if options.proof:
        if solution.certificate is None:
            solution = certify(A, solution, max_seconds=options.max_seconds)
        solution.save_claim(options.proof, A)
    take_away(options, A, table, solution)
    said = summary(A, solution) | {"table": {"read": table.how, "left_out": table.left_out}}
    return said, [str(solution), *loading_lines(said)], ("plot_loadings", solution)


def take_away(options, A, table, solution):
    """Write the files asked for: the scores, the chosen columns, the report."""
    if options.reduced:
        chosen = table.X[:, solution.support]
        chosen = chosen.toarray() if hasattr(chosen, "toarray") else chosen
        names = [A.names[j] if A.names else f"feature {j}" for j in solution.support]
        write_rows(options.reduced, names, chosen, table.ids)
    if options.scores:
        scores, kept = scores_of(A, solution)
        names = [f"component {j + 1}" for j in range(scores.shape[1])]
        write_rows(options.scores, names, scores, table.ids, kept)
    if options.report:
        reading = [table.how, *(f"{name}: {why}." for name, why in table.left_out.items())]
        solution.report(
            options.report, A, command=options.asked, reading=reading, table=as_read(options),
            seed=options.seed, max_seconds=options.max_seconds, n_jobs=options.jobs,
        )  # fmt: skip


def write_rows(file, names, rows, ids=None, kept=None):
    """Write a table as CSV or TSV, every digit of its numbers, and what the rows are called.

    Where rows were left out that have no names, each has its number in the table, from 1.
    """
    text = io.StringIO()
    lines = csv.writer(text, delimiter="\t" if file.suffix == ".tsv" else ",", lineterminator="\n")
    cells = np.asarray(rows).astype(object)
    cells[np.isnan(rows)] = ""
    rows = cells.tolist()
    if ids is not None:
        called = ids if kept is None else [ids[i] for i in kept]
        names, rows = ["id", *names], [[name, *row] for name, row in zip(called, rows, strict=True)]
    elif kept is not None and not np.array_equal(kept, np.arange(len(kept))):
        names, rows = ["sample", *names], [[i + 1, *row] for i, row in zip(kept, rows, strict=True)]
    lines.writerow(names)
    lines.writerows(rows)
    write_whole(file, text.getvalue())


def show_path(options):
    """Say what each of several numbers of features explains."""
    (A, _), m = covariance(options), options.components
    ks = counts_of(options.features) if options.features else None
    solutions = path(A, m, ks or default_counts(m, A.size), bound="dual", seed=options.seed)
    said = [summary(A, each) for each in solutions]
    lines, before = [f"{'k':>6} {'explained':>10} {'at most':>8}  new features"], set()
    for row in said:
        new = [str(name) for name in row["features"] if name not in before]
        before = set(row["features"])
        values = f"{row['explained_variance_ratio']:10.4f} {row['upper_bound_ratio']:8.4f}"
        lines.append(f"{row['k']:6} {values}  {' '.join(new)}")
    return said, lines, ("plot_path", solutions)


def judge(options):
    """Check a certificate file, with the data that it speaks of where it does not carry them."""
    if options.data:
        told = {"missing": options.missing, "standardize": options.scale or None}
        table = read(options, options.data)
        verdict = check_with_table(options.file, table.X, options.exact, **told)
    else:
        verdict = check(options.file, exact=options.exact)
    numbers = f": {verdict.value:.10g} of at most {verdict.bound:.10g}" if verdict.holds else ""
    return verdict._asdict(), [f"{options.file}: {verdict.reason}{numbers}"], None


def download(options):
    """Download a data set."""
    return (place := str(datasets.fetch(options.name))), [place], None


def sets(options):
    """List the data sets: what each is and whether it is here."""
    lines = []
    for name, entry in CATALOGUE.items():
        path = datasets.where(name)
        ways = "to be fetched" if entry.url else "to be put into FSPCA_DATA"
        state = f"here, in {path.parent}" if path else f"not here, {ways}"
        shape = " x ".join(map(str, entry.shape))
        lines.append(f"{name:20} {shape:>14}  {state}\n{'':36}  {entry.source} ({entry.terms})")
    return lines, lines, None


def reading_options():
    """Return the options that say how a table is to be read."""
    reading = argparse.ArgumentParser(add_help=False)
    told = reading.add_argument_group("how the table is read, where it does not say itself")
    told.add_argument("--header", action=argparse.BooleanOptionalAction,
                      help="whether the first line names the columns")  # fmt: skip
    told.add_argument("--keep", **LISTED, help="columns that are features, whatever they look like")
    told.add_argument("--drop", **LISTED, help="columns that are none")
    told.add_argument("--id", help="the column that names the rows")
    told.add_argument("--weights", help="the column with weights of the rows; 0 does not count")
    told.add_argument("--na", action="append",
                      help="what else stands for a missing value; '' for nothing")  # fmt: skip
    told.add_argument("--separator", help="between cells: a sign, or tab, or blank")
    told.add_argument("--decimal", choices=(".", ","))
    told.add_argument("--encoding", help="of the text, such as cp1252")
    told.add_argument("--sheet", default=0, help="of a workbook: its name, or number from 0")
    return reading


def add_files(one):
    """Add the options that say what is written to take away."""
    one.add_argument("--report", type=Path, help="write there what defends the choice, as html")
    one.add_argument("--scores", type=Path, help="write each sample's scores there, as csv or tsv")
    one.add_argument("--reduced", type=Path, help="write the chosen columns there, as csv or tsv")
    one.add_argument("--jobs", type=int, help="cores for the report; -1: all (needs joblib)")


def add_check(commands, parents):
    """Add the command that checks a proof."""
    proof = commands.add_parser("check", parents=parents, help="check a certificate file")
    proof.add_argument("file")
    proof.add_argument("--data", help="the table that it speaks of, made into its matrix again")
    proof.add_argument("--missing", choices=WAYS, help=SAID)
    proof.add_argument("--scale", action="store_true", help=SAID)
    proof.add_argument("--exact", action="store_true", help="in integers, for up to 150 features")
    proof.set_defaults(work=judge)


def command_line():
    """Return the parser."""
    parser = argparse.ArgumentParser(prog="fspca", description=__doc__)
    parser.add_argument("--version", action="version", version=f"fspca {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    both = argparse.ArgumentParser(add_help=False)
    both.add_argument("--json", action="store_true", help="print JSON")
    both.add_argument("--output", type=Path, help="write there, and not to the screen")
    reading = reading_options()
    of_table = argparse.ArgumentParser(add_help=False, parents=[both, reading])
    of_table.add_argument(
        "table", help="CSV or other text, xlsx, parquet, npz ...: samples in rows"
    )
    of_table.add_argument("--missing", choices=WAYS, default="refuse",
                          help="what becomes of missing values; default: refuse")  # fmt: skip
    of_table.add_argument("-m", "--components", type=int, default=2, help="default: 2")
    of_table.add_argument("--scale", action="store_true", help="give all features variance 1")
    of_table.add_argument("--seed", type=int, default=0)
    of_table.add_argument("--plot", type=Path, help="draw into this file (png, svg, pdf)")
    of_table.add_argument("--quiet", dest="progress", action="store_const", const=None,
                          default=True if sys.stderr.isatty() else None, help="no bar")  # fmt: skip
    one = commands.add_parser("select", parents=[of_table], help="choose features")
    how_many = one.add_mutually_exclusive_group(required=True)
    how_many.add_argument("-k", "--features", type=int, help="how many")
    how_many.add_argument("--explain", help="the fewest that explain this share, 0.8 or 80%%")
    one.add_argument("--required", **LISTED, help="names or numbers, with commas between")
    one.add_argument("--forbidden", **LISTED, help="names or numbers, with commas between")
    one.add_argument("--max-seconds", type=float)
    one.add_argument("--proof", type=Path, help="write the proof there, an npz for `fspca check`")
    add_files(one)
    one.set_defaults(work=select)
    many = commands.add_parser("path", parents=[of_table], help="what each count explains")
    many.add_argument("-k", "--features", help="counts, with commas between; default: about ten")
    many.set_defaults(work=show_path)
    add_check(commands, [both, reading])
    listing = commands.add_parser("datasets", parents=[both], help="list the data sets")
    listing.set_defaults(work=sets)
    one_set = commands.add_parser("fetch", parents=[both], help="download a data set")
    one_set.add_argument("name", choices=CATALOGUE)
    one_set.set_defaults(work=download)
    return parser


def with_signs(arguments):
    """Return arguments with the value of --na within, as "-9,inf" would be taken for an option.

    >>> with_signs(["--na", "-9,inf", "-k", "2"])
    ['--na=-9,inf', '-k', '2']
    """
    found = []
    for each in arguments:
        if found and found[-1] == "--na":
            found[-1] = f"--na={each}"
        else:
            found.append(each)
    return found


def main(arguments=None):
    """Run one command."""
    parser, arguments = command_line(), sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(with_signs(arguments))
    options.asked = shlex.join(["fspca", *arguments])
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("default")
            said, lines, shown = options.work(options)
        for each in told:
            print(f"fspca: {printable(in_options(str(each.message)))}", file=sys.stderr)
        if shown is not None and options.plot:
            (draw, what), picture = shown, io.BytesIO()
            figure = getattr(import_module("fspca.plots"), draw)(what).figure
            figure.savefig(picture, format=options.plot.suffix[1:] or None)
            write_whole(options.plot, picture.getvalue())
        text = json.dumps(said) if options.json else printable("\n".join(lines))
        if options.output:
            write_whole(options.output, text + "\n")
        else:
            print(text, flush=True)
    except KeyboardInterrupt:
        parser.exit(130, "fspca: interrupted\n")
    except (ArithmeticError, ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        parser.exit(1, f"fspca: {printable(in_options(str(error)))}\n")
    if options.command == "check" and not said["holds"]:
        parser.exit(1)


if __name__ == "__main__":
    main()
