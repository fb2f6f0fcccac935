"""Make data/instances: problems with proven optima, a file each, for whoever writes a solver.

python -m fspca_reproduction.book.instances writes those whose data are here and leaves the others.
"""

from pathlib import Path

import numpy as np

from fspca.covariance import Covariance
from fspca.problem import SharedSupport
from fspca.shared_support.branch_and_bound import branch_and_bound
from fspca.shared_support.certificate import certify
from fspca.shared_support.refit import solution_on
from fspca.shared_support.tree_check import bound_of
from fspca.synthetic import make_scheme
from fspca_reproduction.book.certificates import covariance_of
from fspca_reproduction.results import stored
from fspca_reproduction.runner import lacks_data

FOLDER = Path(__file__).resolve().parents[3] / "data" / "instances"
LARGEST = 300_000  # bytes of a factor


def matrix_of(source):
    """Return the covariance that an instance's `source` names: a set, or "scheme F 30 0"."""
    if source.startswith("scheme"):
        _, scheme, d, seed = source.split()
        return Covariance(make_scheme(scheme, int(d), int(seed)))
    return covariance_of(source)


def how_proven(row):
    """Say how the row of a search was proven."""
    nodes = row["last digits"]["nodes"]
    if not row["proven"]:
        return f"bounded, not proven: a tree of {nodes} nodes leaves a gap"
    if nodes == 0:
        return "proven: a bound without branching equals the value"
    checked = ", which check_tree confirms" if row["checked"] else ""
    return f"proven: a tree of {nodes} node{'s' * (nodes > 1)}{checked}"


def instances():
    """Yield (name, source, m, k, support, relative gap, how it was proven)."""
    for row in stored("proven_optima")["rows"]:
        source, m, k = row["set"], row["m"], row["k"]
        if not lacks_data(row) and not (source == "pitprops" and k == 13):
            yield f"{source}_{m}_{k}", source, m, k, row["support"], row["gap"], how_proven(row)
    for scheme in "ABCDE":
        found = branch_and_bound(make_scheme(scheme, 20, 0), 3, 7)
        how = "proven: a tree, and by enumeration of all 77520 supports"
        yield f"scheme_{scheme}_20_3_7", f"scheme {scheme} 20 0", 3, 7, found.support, 0.0, how
    for row in stored("growth")["rows"]:
        if row["seed"] == 0:
            source = f"scheme F {row['d']} 0"
            name = f"scheme_F_{row['d']}_3_7"
            yield name, source, 3, 7, row["support"], row["gap"], how_proven(row)


def stored_factor(A, m, k, support):
    """Return (G, its bound): in single precision where double is too large, empty if both are.

    C = GG' is semidefinite whatever G is, so a rounded G proves a bound as well, its own.
    """
    G = certify(A, solution_on(A, SharedSupport(m, k), support, "")).certificate
    G = G[:, np.any(G != 0, axis=0)]
    G = G if G.nbytes <= LARGEST else G.astype(np.float32)
    if G.nbytes > LARGEST:
        return np.zeros((A.size, 0)), np.inf
    full = A.plain.submatrix(np.arange(A.size))
    return G, bound_of(full, G.astype(float), m, k)[0]


def make():
    """Write every instance whose data are here."""
    FOLDER.mkdir(exist_ok=True)
    for name, source, m, k, support, gap, how in instances():
        A, support = matrix_of(source), np.array(support)
        value = solution_on(A, SharedSupport(m, k), support, "").objective
        G, certified = stored_factor(A, m, k, support)
        facts = {"bound": value * (1 + gap), "G": G, "bound_of_G": certified, "how": how}
        path = FOLDER / f"{name}.npz"
        np.savez_compressed(path, source=source, m=m, k=k, support=support, value=value, **facts)
        print(path.name)


if __name__ == "__main__":
    make()
