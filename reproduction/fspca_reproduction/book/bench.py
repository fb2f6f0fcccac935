"""Ours beside others: seconds of CPU, memory, passes, what is explained, whether a bound comes.

`make bench` prints a table of ratios, ours over each peer, in about two minutes; with ALL=1 it runs
the experiments of this file too, and with STORE=1 it stores their rows.  One thread each.
"""

import json
import os
import resource
import signal
import tempfile
import time
import warnings
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, svds

from fspca import Covariance, datasets, go, ipu, solve, upper_bound
from fspca.covariance.linalg import largest
from fspca.datasets.tables import read_table
from fspca.shared_support import swap
from fspca_reproduction.runner import experiment

RUNS = 5
SECONDS, BYTES = 5, 8 * 2**30  # of CPU, and of memory, for one run of a contender
LONGEST = 20  # seconds by the clock, after which no further run of a contender begins
OWN = 10  # seconds by the clock that swap and solve are given
LIMIT = 1500 * 2**20  # of memory that is not a file's, for four gigabytes on a disk

SETS = {  # name: (m, k)
    "digits": (10, 20),
    "breast_cancer, standardised": (5, 10),
    "wine, standardised": (3, 6),
    "numerical_numbers": (5, 20),
    "digit_pixels": (5, 20),
    "tissue_expression": (5, 30),
    "tecator_spectra": (3, 10),
    "leukemia_golub": (5, 50),
    "dense float64": (10, 200),
    "news20": (10, 200),
}
LARGE = ("dense float64", "dense float32", "news20")


@lru_cache(1)
def data(name):
    """Return the n x d array of a set."""
    if name.startswith("dense"):
        _, kind, n, d = (*name.split(), 1000, 50_000)[:4]
        rng, n, d = np.random.default_rng(0), int(n), int(d)
        scores = rng.standard_normal((n, 20)) * np.linspace(6, 1, 20)
        X = 0.3 * scores @ rng.standard_normal((20, d)) + rng.standard_normal((n, d))
        return X.astype(kind)
    name, _, standardised = name.partition(", ")
    if name in ("digits", "breast_cancer", "wine"):
        import sklearn.datasets

        X = getattr(sklearn.datasets, f"load_{name}")().data
    else:
        X = datasets.load(name).X
    if scipy.sparse.issparse(X):
        return X
    X = X.astype(float)
    return X / X.std(axis=0) if standardised else X


def of_solver(solver, **options):
    def run(X, m, k):
        return solver(Covariance.from_data(X), m, k, **options)

    return run


def by_loadings(make):
    """Rank features by the length of their rows in the components that another finds."""

    def run(X, m, k):
        rows = make(X, m, k)
        return largest(np.einsum("ij,ij->i", rows, rows), k)

    return run


def of_sklearn(name, **options):
    def components(X, m, k):
        import sklearn.decomposition

        return getattr(sklearn.decomposition, name)(m, **options).fit(X).components_.T

    return by_loadings(components)


def of_abess(X, m, k):
    """Its components are found one by one: k / m features each, then filled by their loadings."""
    from abess.decomposition import SparsePCA

    sizes = np.zeros((k // m, m), int)
    sizes[-1] = 1
    return SparsePCA(support_size=sizes).fit(X, number=m).coef_.reshape(X.shape[1], m)


def of_amanpg(X, m, k):
    from sparsepca import spca

    given = (X - X.mean(axis=0)) / np.sqrt(len(X))
    penalty = 0.1 * np.sqrt(np.max(given.var(axis=0) * len(X))) * np.ones((m, 1))
    return spca(given, penalty, np.inf, k=m, normalize=False)["loadings"]


def centred_svds(X, m, tol=0):
    """The eigenproblem within Go, by the library on the centred data: values and loadings."""
    X = X if X.dtype.kind == "f" else X.astype(float)
    mean = np.asarray(X.mean(axis=0)).ravel().astype(X.dtype)
    centred = LinearOperator(
        X.shape,
        lambda v: X @ v.ravel() - mean @ v.ravel(),
        lambda u: X.T @ u.ravel() - mean * u.sum(),
        dtype=X.dtype,
    )
    _, values, Vt = svds(centred, m, rng=0, tol=tol)
    return values, Vt.T


def of_svds(X, m, k):
    values, V = centred_svds(X, m)
    return V * values


def largest_variances(X, m, k):
    return largest(Covariance.from_data(X).diagonal(), k)


CONTENDERS = {
    "largest variances": largest_variances,
    "ipu from variances": of_solver(ipu, init="variance"),
    "go": of_solver(go),
    "ipu": of_solver(ipu),
    "swap": of_solver(swap, max_seconds=OWN),
    "solve": of_solver(solve, max_seconds=OWN),
    "svds, then Go's rule": by_loadings(of_svds),
    "TruncatedSVD, randomized": of_sklearn("TruncatedSVD", random_state=0),
    "TruncatedSVD, arpack": of_sklearn("TruncatedSVD", algorithm="arpack", random_state=0),
    "PCA": of_sklearn("PCA", random_state=0),
    "IncrementalPCA": of_sklearn("IncrementalPCA"),
    "SparsePCA": of_sklearn("SparsePCA", random_state=0),
    "MiniBatchSparsePCA": of_sklearn("MiniBatchSparsePCA", random_state=0),
    "abess": by_loadings(of_abess),
    "AManPG": by_loadings(of_amanpg),
}
OURS = ("largest variances", "ipu from variances", "go", "ipu", "swap", "solve")


def in_a_child(task, limits):
    """Return what a task returns in a process of its own within limits, or why it could not."""
    out, into = os.pipe()
    if (child := os.fork()) == 0:
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        for kind, most in limits.items():
            resource.setrlimit(kind, (most, most))
        try:
            told = task()
        except BaseException as reason:  # whatever it was is what is told
            told = {"cannot": f"{type(reason).__name__}: {reason}".splitlines()[0][:150]}
        os.write(into, json.dumps(told).encode())
        os._exit(0)
    os.close(into)
    with open(out) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return json.loads(told) if told else {"cannot": "not within the seconds or the bytes"}


def memory(reset=False):
    """Return the bytes held at the highest since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def size_of(X):
    return X.data.nbytes + X.indices.nbytes if scipy.sparse.issparse(X) else X.nbytes


def measure(set, contender, runs=RUNS, longest=LONGEST, middle=np.median):
    """Return what a contender's features explain after a refit, what it cost, and its bound.

    It runs so often, unless so many seconds have gone by; `middle` makes one number of their times.
    """
    X, (m, k) = data(set), SETS[set]
    A = Covariance.from_data(X)

    def measured():
        warnings.simplefilter("ignore")
        held, times, peaks, first = memory(reset=True), [], [], time.perf_counter()
        while len(times) < runs and time.perf_counter() - first < longest:
            if contender not in OURS:
                most = int(time.process_time()) + SECONDS + 1
                resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
            began = time.process_time()
            answer = CONTENDERS[contender](X, m, k)
            times.append(time.process_time() - began)
            peaks.append((memory() - held) / size_of(X))
        bound, support = getattr(answer, "upper_bound", None), getattr(answer, "support", answer)
        top = np.linalg.eigvalsh(A.submatrix(np.asarray(support)))[-m:].sum()
        return {
            "explained": float(top / A.trace),
            "bound": None if bound is None else float(bound / A.trace),
            "passes": getattr(answer, "passes", None),
            "last digits": {"peak": peaks[0], "runs": len(times)},
            "seconds": float(middle(times)),
        }

    return in_a_child(measured, {resource.RLIMIT_AS: BYTES})


@experiment(
    cases=[{"set": name, "contender": contender} for name in SETS for contender in CONTENDERS],
    alone=True,
)
def bench(set, contender):
    """What each contender's features explain after a refit, what it cost, and its bound."""
    return measure(set, contender)


# What comes with the project, from small to wide; a few runs of each, so that it takes two minutes.
QUICK = ("digits", "breast_cancer, standardised", "digit_pixels", "tissue_expression",
         "leukemia_golub", "dense float64")  # fmt: skip
HEAD = "| data | n x d | m, k | peer | its seconds | ours | our seconds | time | explained |"
OPPONENT = {"svds, then Go's rule": "go", "TruncatedSVD, randomized": "ipu from variances"}


def after_the_first(times):
    """Return the mean but for the run that imports; a limit of CPU makes the clock tick in 4 ms."""
    return np.mean(times[1:] or times)


def ratio_line(set, peer, ours, theirs):
    """Return the row of a table: ours over a peer, in time and in what is explained."""
    (n, d), (m, k), name = data(set).shape, SETS[set], OPPONENT.get(peer, "ipu")
    cells = [set, f"{n:,} x {d:,}", f"{m}, {k}", peer]
    if "cannot" in theirs:
        cells += [theirs["cannot"], name, f"{ours['seconds']:.3g}", "-", "-"]
    else:
        time = ours["seconds"] / max(theirs["seconds"], 1e-9)
        cells += [f"{theirs['seconds']:.3g}", name, f"{ours['seconds']:.3g}", f"{time:.2g}",
                  f"{ours['explained'] / theirs['explained']:.4f}"]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def ratios(sets=QUICK, peers=tuple(name for name in CONTENDERS if name not in OURS)):
    """Yield the lines of a table as they are measured: CPU seconds and explained, ours over theirs.

    Ours is `ipu`; against the library's eigenproblem it is `go`, and against the quickest peer
    `ipu` from the largest variances, which needs no eigenproblem of the whole either.
    """
    yield HEAD
    yield "|---" * (HEAD.count("|") - 1) + "|"
    for name in sets:
        own = {}
        for peer in peers:
            solver = OPPONENT.get(peer, "ipu")
            own[solver] = own.get(solver) or measure(name, solver, 50, 1, after_the_first)
            theirs = measure(name, peer, 50, 1, after_the_first)
            yield ratio_line(name, peer, own[solver], theirs)


def residual(A, values, V):
    """Return the longest residual of eigenpairs, relative to the largest eigenvalue."""
    return float(np.linalg.norm(A.product(V) - V * values, axis=0).max() / values.max())


@experiment(cases=[{"set": name} for name in ("digits", *LARGE)], alone=True)
def bench_ratios(set):
    """CPU seconds of ours over the libraries' in one process, turn by turn, medians of five.

    svds has the tolerance that brings its residuals to twice ours at most, or none.
    """
    X, m, k = data(set), 10, 20 if set == "digits" else 200
    exact = Covariance.from_data(X if X.dtype.kind == "f" else X.astype(float), divisor=1).precise
    own = residual(exact, *Covariance.from_data(X, divisor=1).leading(m))
    for tol in (1e-2, 1e-4, 1e-5, 1e-6, 1e-8, 0):
        values, V = centred_svds(X, m, tol)
        theirs = residual(exact, values.astype(float) ** 2, V.astype(float))
        if theirs <= 2 * own:
            break
    turns = {
        "TruncatedSVD": lambda: CONTENDERS["TruncatedSVD, randomized"](X, m, k),
        "svds": lambda: centred_svds(X, m, tol),
        **{each: lambda each=each: CONTENDERS[each](X, m, k) for each in OURS[1:4]},
    }
    times = {name: [] for name in turns}
    for _ in range(RUNS):
        for name, turn in turns.items():
            began = time.process_time()
            turn()
            times[name].append(time.process_time() - began)
    seconds = {name: float(np.median(each)) for name, each in times.items()}
    ratios = {
        "ipu from variances over TruncatedSVD": ("ipu from variances", "TruncatedSVD"),
        "go over svds": ("go", "svds"),
        "ipu from go over TruncatedSVD": ("ipu", "TruncatedSVD"),
    }
    found = {name: seconds[a] / max(seconds[b], 1e-9) for name, (a, b) in ratios.items()}
    told = {"ratios": found, "residual": own, "residual of svds": theirs, "tol of svds": tol}
    return {"last digits": told, "seconds": seconds}


def reading(n=20_000, d=300, turns=7):
    """Return read_table over pandas.read_csv: the least CPU seconds, and the bytes at most.

    Each turn is a process of its own that has both imported; memory is all that it holds.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20)) @ rng.normal(size=(20, d)) + rng.normal(size=(n, d))
    readers, found = {"pandas": pd.read_csv, "read_table": read_table}, {}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "table.csv")
        names = [f"f{j}" for j in range(d)]
        pd.DataFrame(X, columns=names).to_csv(path, index=False, float_format="%.6g")
        del X
        for turn in range(turns * len(readers)):
            name = list(readers)[turn % len(readers)]

            def measured(name=name):
                memory(reset=True)
                began = time.process_time()
                readers[name](path)
                return {"seconds": time.process_time() - began, "bytes": memory()}

            found.setdefault(name, []).append(in_a_child(measured, {}))
    least = {name: {what: min(each[what] for each in all_of) for what in ("seconds", "bytes")}
             for name, all_of in found.items()}  # fmt: skip
    return {
        what: least["read_table"][what] / least["pandas"][what] for what in ("seconds", "bytes")
    }


BASE = {"n": 2000, "d": 2000, "k": 50, "m": 5}
SIZES = {
    "n": (1000, 3000, 10_000, 30_000, 100_000),
    "d": (1200, 3600, 12_000, 36_000, 120_000),  # of 1000 the matrix would be formed
    "k": (10, 30, 100, 300, 1000),
    "m": (1, 3, 10, 30, 100),
}


@experiment(cases=[{"by": name, "size": s} for name in SIZES for s in SIZES[name]], alone=True)
def bench_slopes(by, size):
    """CPU seconds of one step of IPU, the refit and the product, as one size grows."""
    at = BASE | {by: size} | ({"k": 200} if by == "m" else {})
    X = np.random.default_rng(0).standard_normal((at["n"], at["d"]), dtype=np.float32)
    A, rows, times = Covariance.from_data(X), np.arange(at["k"]), [time.process_time()]
    for _ in range(RUNS):
        V = np.linalg.eigh(A.submatrix(rows))[1][:, -at["m"] :]
        A.product(V, rows)
        times.append(time.process_time())
    return {"seconds": float(np.median([b - a for a, b in pairwise(times)]))}


def slope(rows, by):
    """Return the exponent with which the seconds grow over two decades of a size: a line's."""
    part = [(each["size"], each["seconds"]) for each in rows if each["by"] == by]
    return float(np.polyfit(*np.log(part).T, 1)[0])


@cache
def folder():
    return tempfile.TemporaryDirectory()


def on_a_disk(n, d=10_000):
    """Return n x d numbers in a file, mapped: 53,000 rows are 4.2 GB."""
    path = Path(folder().name) / f"{n}.npy"
    if not path.exists():
        rng = np.random.default_rng(0)
        loadings = rng.standard_normal((20, d)) * np.linspace(1, 0.2, 20)[:, None]
        X = np.lib.format.open_memmap(path, mode="w+", dtype=float, shape=(n, d))
        for start in range(0, n, 500):
            noise = rng.standard_normal((500, d), dtype=np.float32) * np.linspace(1, 2, d)
            X[start : start + 500] = rng.standard_normal((500, 20)) @ loadings + noise
        X.flush()
    return np.load(path, mmap_mode="r")


@lru_cache(1)
def of_words(n, d=1_000_000, each=500):
    """Return sparse counts, each row with so many entries, low columns more often."""
    rng = np.random.default_rng(0)
    indptr = np.arange(n + 1, dtype=np.int32) * each
    columns = np.empty(n * each, dtype=np.int32)
    for start in range(0, n * each, 1000 * each):
        part = columns[start : start + 1000 * each]
        part[:] = d * rng.random(len(part), dtype=np.float32) ** 2 * (1 - 1e-6)
    X = scipy.sparse.csr_array((np.ones(n * each), columns, indptr), shape=(n, d))
    X.sum_duplicates()
    return X


LIMITED = [("a file", 500, "ipu"), *(("a file", 53_000, s) for s in ("ipu", "go", "swap", "solve"))]
LIMITED += [("words", 100_000, each) for each in ("from_data", "ipu", "go")]


@experiment(cases=[{"data": x, "n": n, "solver": s} for x, n, s in LIMITED], alone=True)
def bench_limits(data, n, solver):
    """Four gigabytes in a file under a limit of 1.5 GB; the peak over 50 million sparse entries.

    m = 10 and k = 200 throughout; IPU starts from the largest variances, swap and solve have a
    minute, after which they end with what they have.
    """
    X = on_a_disk(n) if data == "a file" else of_words(n)
    limits = {resource.RLIMIT_DATA: LIMIT} if data == "a file" else {resource.RLIMIT_AS: BYTES}
    minute = {"max_seconds": 60}
    options = {"ipu": {"init": "variance"}, "solve": minute, "swap": minute}

    def measured():
        warnings.simplefilter("ignore")
        held, began = memory(reset=True), time.process_time()
        A = Covariance.from_data(X, max_memory=2**28) if data == "a file" else None
        A = Covariance.from_data(X) if A is None else A
        told = {}
        if solver != "from_data":
            called = {"ipu": ipu, "go": go, "swap": swap, "solve": solve}[solver]
            answer = called(A, 10, 200, **options.get(solver, {}))
            told = {"explained": answer.objective / A.trace, "passes": answer.passes,
                    "steps": len(answer.history), "stopped": answer.stopped}  # fmt: skip
        seconds = time.process_time() - began
        return {"last digits": told | {"peak over data": 1 + (memory() - held) / size_of(X)},
                "seconds": seconds}  # fmt: skip

    return in_a_child(measured, limits)


@experiment(
    cases=[
        {"set": name, "gigabytes": most, "m": 5, "k": 50}
        for name, most in (("news20", 3), ("dense float64 100 30000", 4), ("dense float32", 3))
    ],
    alone=True,
)
def bench_bounds(set, gigabytes, m, k):
    """What solve certifies of wide data within so much memory, beside the lightest bounds."""
    X = data(set)

    def measured():
        began = time.process_time()
        answer = solve(Covariance.from_data(X), m, k)
        seconds, A = time.process_time() - began, Covariance.from_data(X)
        light = {name: upper_bound(A, m, k, method=name).bound for name in ("diagonal", "shifted")}
        gaps = {name: bound / answer.objective - 1 for name, bound in light.items()}
        told = gaps | {"solve": answer.gap, "peak": memory() / 2**30}
        told["chance of error"] = 1 - answer.bound_probability
        proven = answer.certificate is not None
        return {"proven": proven, "last digits": told, "seconds": seconds}

    return in_a_child(measured, {resource.RLIMIT_AS: gigabytes * 2**30})
