"""Commands: list, run [id ...], check [id ...], ledger, bench."""

import argparse

import numpy as np

from fspca_reproduction import ledger_page, runner
from fspca_reproduction.book import foundations
from fspca_reproduction.book.bench import ratios
from fspca_reproduction.results import DamagedError, need_checkout, same_row, stored
from fspca_reproduction.runner import AlreadyRunningError, experiments, row, run
from fspca_reproduction.supply import that_stay

try:
    from tqdm.auto import tqdm
except ImportError:  # progress is shown where tqdm is there
    tqdm = None


def make(name, workers, resume, changed):
    """Run an experiment; to resume, only if this pass has not made it from the same code."""
    code = runner.codes(name)
    if (resume and runner.made().get(name) == code) or (changed and runner.is_current(name)):
        return
    try:
        print(run(name, workers, tqdm, changed))
    except KeyboardInterrupt:
        kept = f"the rows made so far are kept, and the next run of {name} goes on from them"
        raise SystemExit(f"Interrupted: {kept}.") from None
    if resume:
        runner.note(name, code)


def check(name, cases):
    """Recompute some rows, spread evenly, and compare them with those stored."""
    rows = stored(name)["rows"]
    keys = list(experiments()[name].cases[0])
    for i in np.linspace(0, len(rows) - 1, cases).astype(int):
        if not same_row(rows[i], row(name, {key: rows[i][key] for key in keys})):
            raise SystemExit(f"{name}: row {i} is not what its command makes: {rows[i]}")
    print(f"{name}: {cases} of {len(rows)} rows made again, all the same")


def described(name):
    """Say what an experiment is, and which code made its stored rows."""
    made = "made by today's code" if runner.is_current(name) else "made by other code than today's"
    function = experiments()[name]
    return f"{name}: {function.__doc__} ({len(function.cases)} cases, {made})"


def bench(every, store):
    """Print ours over each peer as it is measured; run the rest if asked, and store it if asked."""
    for line in ratios():
        print(line, flush=True)
    print(f"exhaustive, d=20 m=3 k=7: {foundations.bench_exhaustive():,.0f} supports a second")
    for name in ("bench_ratios", "bench", "bench_slopes", "bench_limits") if every or store else ():
        if store:
            make(name, 1, False, True)
            continue
        for case in experiments()[name].cases:
            here = not runner.lacks_data(case)
            print(name, row(name, case) if here else f"{case}: not here", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="python -m fspca_reproduction", description=__doc__)
    parser.add_argument("command", choices=("list", "run", "check", "ledger", "bench"))
    parser.add_argument("ids", nargs="*", help="experiments; all if none is named")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cases", type=int, default=5, help="rows that check recomputes")
    parser.add_argument("--resume", action="store_true", help="skip what this pass has made")
    parser.add_argument("--changed", action="store_true", help="only what other code has made")
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
    except (OSError, AlreadyRunningError, DamagedError) as reason:
        parser.error(str(reason))


def obey(options, ids):
    """Do what the command says."""
    if options.command == "ledger":
        print("\n".join(map(str, ledger_page.write_page())))
    elif options.command == "bench":
        bench(options.all, options.store)
    for name in ids if options.command in ("list", "run", "check") else ():
        if options.command == "list":
            print(described(name))
        elif options.command == "run":
            make(name, options.workers, options.resume, options.changed)
        else:
            check(name, options.cases)
    if options.command == "run":
        for sentence in that_stay(ids):
            print(sentence)


if __name__ == "__main__":
    main()
