"""What may be interrupted: python interrupted_child.py SUBJECT FOLDER [ADDRESS]."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from fspca import datasets
from fspca.__main__ import main
from fspca.datasets.catalogue import CATALOGUE
from fspca.datasets.files import write_whole


def runner(folder):
    """Two experiments and their notes, as `make reproduce` runs them."""
    from fspca_reproduction import __main__ as commands
    from fspca_reproduction import checkout, results
    from fspca_reproduction import runner as engine

    (folder / "results").mkdir(exist_ok=True)
    results.DATA, engine.STATE = folder, folder / "reproduced.json"
    checkout.trees = lambda *paths: "as committed"  # also where somebody is at work
    names = ["asteris2014_figure_2", "asteris2014_oracle"]
    for name in names:
        function = engine.experiments()[name]
        function.cases = function.cases[:30]
    sys.argv = ["fspca_reproduction", "run", "--resume", *names]
    commands.main()
    engine.STATE.unlink()  # as `make reproduce` ends a pass


def begin_with(path, text):
    """Write what a subject needs; where the disk is full already, nothing is interrupted."""
    if not path.exists():
        try:
            write_whole(path, text)
        except OSError as error:
            sys.exit(str(error))


def notebooks(folder):
    """Two small notebooks, as `make reproduce` runs them."""
    import run_notebooks
    from nbformat import v4, writes

    run_notebooks.made = dict
    cells = [v4.new_code_cell("sum(range(10**6))", id=f"c{i}") for i in range(3)]
    paths = [folder / f"{name}.ipynb" for name in "ab"]
    for path in paths:
        begin_with(path, writes(v4.new_notebook(cells=cells)))
    sys.argv = ["run_notebooks.py", *map(str, paths)]
    run_notebooks.main()


def fetch(folder, address):
    """A data set from an address that sends slowly."""
    import os

    os.environ["XDG_CACHE_HOME"] = str(folder)
    X = np.arange(6000.0).reshape(300, 20)
    entry = replace(CATALOGUE["duke"], shape=X.shape, dtype="f8", sha256=datasets.checksum(X))
    CATALOGUE["duke"] = replace(entry, url=f"{address}/set.txt")
    main(["fetch", "duke"])


def data():
    return np.random.default_rng(0).standard_normal((30, 8))


def path(folder):
    """A path of answers, into a file and a picture."""
    table = folder / "table.csv"
    begin_with(table, "".join(",".join(map(str, row)) + "\n" for row in data().tolist()))
    main(["path", str(table), "-m", "2", "--json", "--output", str(folder / "path.json")])


def choice(folder):
    """A choice of the number of features whose rows are kept in a file."""
    from fspca.selection import select_k

    chosen = select_k(data(), 2, [2, 4, 6], subsamples=10, permutations=5, resume=folder / "rows")
    (folder / "chosen.txt").write_text(str(chosen.chosen))


def trees(folder):
    """Proofs by branch and bound, a file each, those that are there being left."""
    from fspca_reproduction.book import instances

    instances.FOLDER, instances.SETS, instances.M, instances.K = folder, ["wine"], (2, 3), (5, 10)
    instances.make = made
    instances.main([])


def made(source, m, k, matrix):
    from fspca_reproduction.book import instances

    found = instances.searched(matrix["A"], m, k, 500)
    return found.certificate | matrix | {"source": source, "how": "proven"}


if __name__ == "__main__":
    globals()[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
