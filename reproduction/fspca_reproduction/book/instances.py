"""Make data/instances: problems with the best answer known, and the proof of how good it is.

python -m fspca_reproduction.book.instances [NAME ...] makes those that are not there, each
within a budget that its size decides, not how busy a machine is: nodes of a search, or steps of
the relaxation without rows, or, above, the lightest bound.  It may be interrupted.  A file is a
claim of the certificate format, with its matrix where that is small and the terms of the data
allow it, and bound to its sha256 where not.
`... packed` makes those of components on features of their own, each proven to the end.
`python -m fspca_reproduction.book.instances check` hands the checker every matrix that is here,
and `... table` prints the tables of the page in `data/instances/README.md`.
Near ties are told apart in closed form: `near_ties`.
`... search [NAME ...]` searches those that were not, each by five nodes whatever its size, and
keeps what is better and small; a file that says that it was searched is not searched again.
"""

import io
import sys
import time
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

from fspca import datasets
from fspca.check_certificate import check, sha256
from fspca.covariance import Covariance, as_covariance
from fspca.datasets import MissingDataError, places
from fspca.datasets.catalogue import CATALOGUE
from fspca.datasets.files import write_whole
from fspca.nonnegative.solve import solve_nonnegative
from fspca.problem import ConvergenceWarning, SharedSupport
from fspca.proof.bounds import least_closed_form, upper_bound
from fspca.proof.checked import CheckedMatrix
from fspca.proof.claims import Certificate, claimed
from fspca.proof.search import PROOF
from fspca.separate_supports.solve_separate import solve_separate
from fspca.shared_support.solve import solve
from fspca.shared_support.swap import best_of, best_start
from fspca.synthetic import make_spiked
from fspca_reproduction.asteris2014.parts import data_of
from fspca_reproduction.book.certificates import covariance_of
from fspca_reproduction.book.genes import prepared
from fspca_reproduction.book.lighter import LARGE, first_of, lighter
from fspca_reproduction.book.near_ties import proven
from fspca_reproduction.opening import path_of

FOLDER = Path(__file__).resolve().parents[3] / "data" / "instances"
NODES = {40: 200, 150: 20, 220: 5}  # of search, for sets of so many features at most
SEARCHED = {  # further, each to its end
    *(("lymphoma_covariance", 1, k) for k in (20, 50)),
    *(("lymphoma_covariance", m, 10) for m in (2, 3, 5)),
    *(("lymphoma_covariance", m, k) for m, k in ((2, 20), (5, 50), (10, 20), (10, 50))),
    *(("digits", m, 20) for m in (1, 2, 3)), ("scheme F 60 0", 3, 10),
    ("arrhythmia", 1, 10),
    *(("voice", m, k) for m, k in ((3, 5), (5, 10), (10, 20))),
    *(("communities", 2, k) for k in (5, 10)),
    *(("geography", m, k) for m, k in ((1, 20), (3, 50))),
    *(("tissue_expression", m, k) for m, k in ((3, 20), (5, 10), (5, 20), (10, 20))),
    ("spiked 100 200 0", 5, 20), ("scheme F 60 0", 1, 50),
    ("communities", 3, 5), ("digits", 5, 20), ("lymphoma_covariance", 5, 20),
    *(("scheme F 45 0", m, k) for m, k in ((1, 10), (1, 20), (10, 20))),
}  # fmt: skip
BY_REQUIRED = {  # by what required features leave, each to its end
    ("arrhythmia", 1, 5), ("gait", 1, 5), ("gastro", 1, 5), ("gastro", 1, 10),
    *(("lymphoma_covariance", m, k) for m, k in ((1, 5), (1, 10), (2, 5), (3, 5))),
    *(("miniboone", m, k) for m, k in ((1, 5), (1, 10), (1, 20), (2, 5), (3, 5))),
    *(("tissue_expression", m, k) for m, k in ((1, 5), (1, 10), (2, 5), (2, 10), (3, 5))),
    ("voice", 1, 5), ("voice", 1, 10),
}  # fmt: skip
NODES_THERE = 20_000  # a millisecond each
STEPS = 100  # of the relaxation, above; none where features are more than
WIDE = 500
UNSEARCHED, NODES_ABOVE = "not searched", 5
MOST = 500_000  # bytes of an instance that is proven by a search of any size
SMALL = 3e-4  # of the bound: what a small proof may lose where nothing is searched
M, K = (1, 2, 3, 5, 10), (5, 10, 20, 50)
CARRIED = ("pitprops", "wine", "breast_cancer", "digits", "scheme")
BENCHMARKS = ("ionosphere", "communities", "arrhythmia", "geography", "miniboone", "voice", "gait",
              "gastro", "lung")  # fmt: skip
GENES = {  # thousands of them, with variance 1 each, and what is asked of them
    **{f"{name} alike": [(1, 10)] for name in ("gcm", "lymphoma_96", "leukemia_golub", "dlbcl")},
}  # fmt: skip
SETS = ("pitprops", "wine", "breast_cancer", "digits", "numerical_numbers", "tissue_expression",
        "scheme F 30 0", "scheme F 45 0", "scheme F 60 0", "spiked 100 200 0", "spiked 200 2000 0",
        "lymphoma_covariance", *BENCHMARKS, *GENES)  # fmt: skip

PACKED = [  # on features of their own: source, kind, m, k; each takes seconds
    *(("pitprops", kind, m, k) for kind in ("disjoint", "nonnegative")
      for m in (2, 3) for k in (2, 3, 4, 5, 6)),
    *(("pitprops", "orthonormal", m, k) for m, k in ((2, 2), (2, 3), (2, 4), (2, 5), (3, 2),
                                                     (3, 3), (3, 4))),
    *(("digits", "nonnegative", m, k) for m, k in ((2, 4), (3, 4), (6, 3), (6, 4), (2, 6))),
    ("ionosphere", "disjoint", 3, 5), ("texts", "disjoint", 6, 3),
]  # fmt: skip


def sets_of(source):
    """Return the names of the data sets that a source is computed from."""
    kind = source.split()[0]
    return [f"benchmark_{kind}"] if kind in BENCHMARKS else [kind] if kind in CATALOGUE else []


def matrix_of(source):
    """Return the covariance that a source names as an array, exactly symmetric.

    Of wide data it is X with the covariance X'X.  What is computed, and not carried, is rounded to
    single precision, so that it is the same on every machine.
    """
    kind, *rest = source.split()
    if source in GENES:
        return prepared(kind, True).astype(np.float32).astype(float)
    if kind == "spiked":
        n, d, seed = map(int, rest)
        A = Covariance.from_data(make_spiked(n, d, 3, 15, strength=10.0, seed=seed)[0])
        if d > WIDE:
            return A.wide_factor().astype(np.float32).astype(float)
        A = A.submatrix(np.arange(d))
    elif kind in BENCHMARKS:
        (name,) = sets_of(source)
        if (path := path_of(name)) is None:
            raise MissingDataError(f"{name}.npz is in none of {', '.join(map(str, places()))}")
        A = np.load(path)
        A = np.nan_to_num(A[A.files[0]])  # arrhythmia: constant columns have no correlation
        if kind in ("gastro", "gait"):  # their least eigenvalues are -4e-8 and -6e-8
            A = A + 1e-7 * np.eye(len(A))
    elif kind == "wine":
        A = np.corrcoef(datasets.load("wine").X.T)
    elif kind == "texts":  # counts: sums of integers are the same on every machine
        X = data_of("texts")
        n, sums = len(X), X.sum(axis=0)
        A = (n * (X.T @ X) - np.outer(sums, sums)) / (n * (n - 1))
    else:
        A = covariance_of(source)
        A = A.submatrix(np.arange(A.size))
    if kind in ("spiked", "tissue_expression"):
        A = np.asarray(A, dtype=np.float32)
        A = A + 1e-6 * A.max() * np.eye(len(A))  # what is rounded may be indefinite
    A = np.asarray(A, dtype=float)
    return (A + A.T) / 2


@cache
def given(source):
    """Return the matrix of a source by its name in a claim."""
    array = matrix_of(source)
    return {"A" if len(array) == len(array.T) else "X": array}


def cases(source, d):
    """Yield m, k by the rule: all of M and K that make sense; of thousands of genes, some."""
    if source in GENES:
        yield from GENES[source]
        return
    for m in M:
        for k in K:
            if m <= k < d and (d > 20 or k <= d - 2):
                yield m, k


def make(source, m, k, matrix):
    """Search, and return the claim of what was found, small."""
    ((name, array),) = matrix.items()
    d, began = len(array.T), time.process_time()
    most = next((NODES[size] for size in NODES if d <= size), 0)
    most = 500 if (source, m, k) in SEARCHED or source in GENES else most
    A = array if name == "A" else Covariance.from_data(array, center=False, divisor=1)
    by_required = (source, m, k) in BY_REQUIRED
    if not most and not by_required:
        found, nodes = bounded(A, m, k), UNSEARCHED
    else:
        found = told_apart(A, m, k) if by_required else searched(A, m, k, most)
        nodes = f"{found.n_iter} node{'s' * (found.n_iter != 1)}"
    how = f"{nodes}, {time.process_time() - began:.2g} s"
    least = 0.0 if most else SMALL
    kept = by_required or name == "X"  # there is nothing to round, or no way to
    claim = found.certificate if kept else small(found.certificate, array, least)
    carried = source.split()[0] in CARRIED
    told = {"source": source, "how": f"{ended(claim['gap'])}, {how}"}
    return claim | as_given(array, carried, name) | told


def searched(A, m, k, most, init="go"):
    """Return what a search of so many nodes finds; one that is interrupted leaves no instance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = solve(A, m, k, max_iter=most, gap=0.0, init=init)
    if found.stopped == "interrupted":
        raise KeyboardInterrupt
    return found


def told_apart(A, m, k):
    """Return the best answer, proven by what required features leave, from the best of climbs."""
    A, problem = as_covariance(A), SharedSupport(m, k)
    return proven(CheckedMatrix.of(A, problem), best_start(A, problem, 10, 0).support, NODES_THERE)


def search(names):
    """Search each instance that was not, whatever its size, by a few nodes."""
    for path in sorted(FOLDER.glob("*.npz"), key=lambda each: numbers_last(each.stem)):
        with np.load(path) as file:
            old = {name: file[name] for name in file}
        source = str(old["source"])
        if UNSEARCHED not in str(old["how"]) or (names and source.split()[0] not in names):
            continue
        try:
            matrix = given(source)
        except MissingDataError:
            continue
        new = searched_again(old, matrix)
        write_smallest(path, new)
        print(path.name, new["how"], path.stat().st_size, flush=True)


def searched_again(old, matrix):
    """Return the claim of a search where it is better and small, else the old one, and say how."""
    ((name, array),) = matrix.items()
    began = time.process_time()
    A = array if name == "A" else Covariance.from_data(array, center=False, divisor=1)
    found = searched(A, int(old["m"]), int(old["k"]), NODES_ABOVE, old["support"])
    claim = found.certificate if name == "X" else small(found.certificate, array, 0.0)
    size = len(packed(claim, zipfile.ZIP_LZMA))
    better = claim["gap"] < 1e-8 or (claim["gap"] < float(old["gap"]) and size < LARGE)
    kept = claim if better and size < MOST else {x: v for x, v in old.items() if x != "how"}
    bound_to = {x: old[x] for x in ("A", "sha256", "source") if x in old}
    nodes = f"{found.n_iter} node{'s' * (found.n_iter != 1)}"
    how = f"{ended(float(kept['gap']))}, {nodes}, {time.process_time() - began:.2g} s"
    return kept | bound_to | {"how": how}


def ended(gap):
    """How it ended, in words."""
    return "proven" if gap < 1e-8 else f"{100 * gap:.3g} % left"


def small(claim, A, least):
    """Return the claim as small as it can be; of a large tree, if it proves no optimum, the top."""
    claim = lighter(claim, A, least)
    size = sum(x.nbytes for name, x in claim.items() if name[:2] in ("G_", "Y_"))
    if claim["gap"] < 1e-8 or size < LARGE or not np.any(claim.get("branch", -1) >= 0):
        return claim
    return lighter(first_of(claim, A), A)


def bounded(A, m, k):
    """Return the best answer of ten climbs and the relaxation's, with the relaxation's bound."""
    problem, A = SharedSupport(m, k), as_covariance(A)
    checked = CheckedMatrix.of(A, problem)
    first, found = best_start(A, problem, 10, 0), least_closed_form(checked)
    if found.bound > first.objective * (1 + PROOF) and A.size <= WIDE:
        dual = upper_bound(A, m, k, method="dual", max_iter=STEPS, target=first.objective)
        wanted = np.sort(np.argsort(-dual.z, kind="stable")[:k])
        first = max(first, best_of(A, problem, [wanted]), key=lambda each: each.objective)
        size = np.sum(dual.factor**2, axis=0)  # the rest raises the bound by as little
        G = dual.factor[:, size > SMALL * dual.bound / m]
        proven = checked.prove(checked.rows, checked.required, G)
        smaller = Certificate(proven.value, proven.arrays)
        found = min(found, smaller, key=lambda each: each.bound)
    return claimed(checked, first, found)


def packed(claim, method):
    """Return the bytes of an npz."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", method) as parts:
        for name, array in claim.items():
            with parts.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
    return whole.getvalue()


def write_smallest(path, claim):
    """Write an npz in the one of three ways, all of which numpy reads, that is smallest."""
    methods = (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    write_whole(path, min((packed(claim, method) for method in methods), key=len))


def make_packed(source, kind, m, k):
    """Return the claim that components on features of their own, of this kind, are the best."""
    A, began = matrix_of(source), time.process_time()
    if kind == "nonnegative":
        found = solve_nonnegative(A, m, k, gap=0.0)
    else:
        found = solve_separate(A, m, k, gap=0.0, **{kind: True})
    claim = found.certificate
    how = f"{ended(float(claim['gap']))}, {time.process_time() - began:.2g} s"
    carried = source in (*CARRIED, "texts")
    return claim | as_given(A, carried) | {"source": source, "how": how}


def as_given(A, carried, name="A"):
    """What a claim has of its matrix: the matrix itself, or its sha256."""
    return {name: A} if carried else {"sha256": sha256(name, A)}


def name_of(source, m, k):
    """The name of an instance's file."""
    return f"{source.replace(' ', '_')}_{m}_{k}.npz"


def main(names):
    """Make what is missing, or check all."""
    FOLDER.mkdir(exist_ok=True)
    if names == ["table"]:
        print(table())
        return 0
    if names == ["check"]:
        return sum(map(failed, sorted(FOLDER.rglob("*.npz"))))
    if names[:1] == ["search"]:
        search(names[1:])
        return 0
    if names == ["packed"]:
        (FOLDER / "packed").mkdir(exist_ok=True)
        for case in PACKED:
            path = FOLDER / "packed" / f"{'_'.join(map(str, case))}.npz"
            if not path.exists():
                write_smallest(path, make_packed(*case))
        return 0
    for source in SETS:
        if names and source.split()[0] not in names:
            continue
        matrix = given(source)
        (array,) = matrix.values()
        for m, k in cases(source, array.shape[1]):
            path = FOLDER / name_of(source, m, k)
            if not path.exists():
                claim = make(source, m, k, matrix)
                write_smallest(path, claim)
                print(path.name, claim["how"], path.stat().st_size, flush=True)
    return 0


def table():
    """Return the tables of the page: what is proven of each instance, and which are not made."""
    rows = ["| source | m, k | explains | at most | how it ended | matrix carried |",
            "|---|---|---|---|---|---|"]  # fmt: skip
    for path in sorted(FOLDER.glob("*.npz"), key=lambda each: numbers_last(each.stem)):
        with np.load(path) as file:
            source, how, gap = str(file["source"]), str(file["how"]), float(file["gap"])
            m, k, carried = int(file["m"]), int(file["k"]), "A" in file
        _, _, value, bound = check(path, **({} if carried else given(source)))
        proof = how if gap > 1e-8 else how.replace("proven", "**proven**")
        cells = (source, f"{m}, {k}", f"{value:.8g}", f"{bound:.8g}", proof)
        rows.append(f"| {' | '.join(cells)} | {'yes' if carried else 'no'} |")
    rows += ["", "| source | of the rule, made | m, k not yet made |", "|---|---|---|"]
    for source in SETS:
        (array,) = given(source).values()
        wanted = list(cases(source, array.shape[1]))
        lacking = [mk for mk in wanted if not (FOLDER / name_of(source, *mk)).exists()]
        told = "; ".join(f"{m}, {k}" for m, k in lacking)
        told = "all" if len(lacking) == len(wanted) else told or "none"
        rows.append(f"| {source} | {len(wanted) - len(lacking)} of {len(wanted)} | {told} |")
    return "\n".join(rows)


def numbers_last(stem):
    """Sort by source, then by m and k as numbers."""
    source, m, k = stem.rsplit("_", 2)
    return source, int(m), int(k)


def failed(path):
    """Check a file, with its matrix if that is here; print the verdict, return whether it fails."""
    verdict = check(path)
    if verdict.reason.startswith("needs data"):
        source = verdict.reason.partition(": ")[2]
        try:
            verdict = check(path, **given(source))
        except MissingDataError:
            print(f"{path.name}: {verdict.reason}")
            return False
    print(f"{path.name}: {verdict.reason}: {verdict.value:.10g} of at most {verdict.bound:.10g}")
    return not verdict.holds


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
