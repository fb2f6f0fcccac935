"""Commands: `datasets` lists the data sets, `fetch NAME` downloads one."""

import argparse

from fspca import datasets
from fspca.catalogue import CATALOGUE


def listed():
    """Return a line for each data set: what it is and whether it is here."""
    lines = []
    for name, entry in CATALOGUE.items():
        path = datasets.where(name)
        ways = "to be fetched" if entry.url else "to be put into FSPCA_DATA"
        state = f"here, in {path.parent}" if path else f"not here, {ways}"
        shape = " x ".join(map(str, entry.shape))
        lines.append(f"{name:20} {shape:>14}  {state}\n{'':36}  {entry.source} ({entry.terms})")
    return lines


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="fspca", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("datasets", help="list the data sets and where they are")
    commands.add_parser("fetch", help="download one").add_argument("name", choices=CATALOGUE)
    options = parser.parse_args(arguments)
    if options.command == "datasets":
        print("\n".join(listed()))
    else:
        try:
            print(datasets.fetch(options.name))
        except (ImportError, OSError, ValueError) as error:
            parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
