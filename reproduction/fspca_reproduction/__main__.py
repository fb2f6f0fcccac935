"""Commands: list, run [id ...], check [id ...], ledger, bench."""

import argparse

import numpy as np

from fspca_reproduction import checkout, ledger_page, runner
from fspca_reproduction.book import foundations
from fspca_reproduction.book.bench import ratios, reading
from fspca_reproduction.opening import lacking
from fspca_reproduction.results import AbsentError, DamagedError, need_checkout, same_row, stored
from fspca_reproduction.runner import AlreadyRunningError, experiments, row, run
from fspca_reproduction.supply import that_stay

try:
    from tqdm.auto import tqdm
except ImportError:  # progress is shown where tqdm is there
    tqdm = None


def make(name, workers, resume=False, than=None):
    """Run an experiment, unless this pass has made it from the same code or its rows are newer."""
    trees = checkout.trees()
    if resume and trees and runner.made().get(name) == trees:
        return
    if than and not runner.is_older(name, than):
        return
    try:
        print(run(name, workers, tqdm))
    except KeyboardInterrupt:
        kept = f"the rows made so far are kept, and the next run of {name} goes on from them"
        lost = f"the next run of {name} begins anew, since files of the code are not committed"
        raise SystemExit(f"Interrupted: {kept if trees else lost}.") from None
    if resume:
        runner.note(name, trees)


def check(name, cases, only=None):
    """Recompute some rows, spread evenly, or only one; compare them with those stored."""
    rows = stored(name)["rows"]
    keys = list(experiments()[name].cases[0])
    if only is not None and not 0 <= only < len(rows):
        raise AbsentError(f"--row {only} must be one of the {len(rows)} rows of {name}, from 0 on")
    chosen = np.linspace(0, len(rows) - 1, cases).astype(int) if only is None else [only]
    for i in chosen:
        found = row(name, {key: rows[i][key] for key in keys})
        if not same_row(rows[i], found):
            raise SystemExit(
                f"{name}: row {i} is stored as {rows[i]}\nand its command makes {found}"
            )
    print(f"{name}: {len(chosen)} of {len(rows)} rows made again, all the same")


def described(name):
    """Say what an experiment is, and when and by which commit its stored rows were made."""
    function = experiments()[name]
    made = runner.making(stored(name)) if runner.result_path(name).exists() else "not made yet"
    return f"{name}: {function.__doc__} ({len(function.cases)} cases, {made})"


def bench(every, store):
    """Print ours over each peer as it is measured; run the rest if asked, and store it if asked."""
    for line in ratios():
        print(line, flush=True)
    over = reading()
    print(f"read_table over pandas.read_csv, 20,000 x 300: {over['seconds']:.2f} of the time, "
          f"{over['bytes']:.2f} of the memory")  # fmt: skip
    print(f"exhaustive, d=20 m=3 k=7: {foundations.bench_exhaustive():,.0f} supports a second")
    for name in ("bench_ratios", "bench", "bench_slopes", "bench_limits") if every or store else ():
        if store:
            make(name, 1, than=checkout.commit())
            continue
        for case in experiments()[name].cases:
            absent = lacking(runner.sets_of(name, case))
            print(name, f"{case}: not here" if absent else row(name, case), flush=True)


def main():
    parser = argparse.ArgumentParser(prog="python -m fspca_reproduction", description=__doc__)
    parser.add_argument("command", choices=("list", "run", "check", "ledger", "bench"))
    parser.add_argument("ids", nargs="*", help="experiments; all if none is named")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cases", type=int, default=5, help="rows that check recomputes")
    parser.add_argument("--resume", action="store_true", help="skip what this pass has made")
    parser.add_argument("--row", type=int, help="the one row that check recomputes, from 0 on")
    parser.add_argument(
        "--older-than",
        metavar="COMMIT",
        help="only experiments with a row that a commit made which does not contain this one",
    )
    parser.add_argument("--all", action="store_true", help="bench: also what takes long")
    parser.add_argument("--store", action="store_true", help="bench: all of it, and keep its rows")
    options = parser.parse_intermixed_args()  # ids behind options too
    known = experiments()
    if unknown := set(options.ids) - set(known):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    try:
        if options.command in ("run", "ledger") or options.store:
            need_checkout()
        obey(options, options.ids or known)
    except (OSError, AbsentError, AlreadyRunningError, DamagedError) as reason:
        parser.error(str(reason))


def obey(options, ids):
    """Do what the command says."""
    than = checkout.resolved(options.older_than) if options.older_than else None
    if options.command == "ledger":
        print("\n".join(map(str, ledger_page.write_page())))
    elif options.command == "bench":
        bench(options.all, options.store)
    for name in ids if options.command in ("list", "run", "check") else ():
        if options.command == "list":
            print(described(name))
        elif options.command == "run":
            make(name, options.workers, options.resume, than)
        else:
            check(name, options.cases, options.row)
    if options.command == "run":
        for sentence in that_stay(ids):
            print(sentence)


if __name__ == "__main__":
    main()
