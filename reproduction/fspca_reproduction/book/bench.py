"""Ours beside others, each in a process of its own: seconds, memory, passes, what is explained.

python -m fspca_reproduction bench measures all on this machine, one thread each, and stores it.
"""

import json
import platform
import resource
import subprocess
import sys
import time
import warnings
from itertools import pairwise

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, svds

from fspca import Covariance, datasets, go, ipu, solve, swap
from fspca.files import write_whole
from fspca.linalg import largest
from fspca_reproduction.results import read_json, result_path, rounded
from fspca_reproduction.runner import lacks_data

SECONDS, BYTES = 20, 8 * 2**30  # of one contender on one set
RUNS, QUICK = 5, 3.0  # what takes longer than so many seconds is run once

SETS = {  # name: (m, k)
    "dense float64": (10, 200),
    "dense float32": (10, 200),
    "news20": (10, 200),
    "digits": (10, 20),
    "breast cancer, standardised": (5, 10),
    "wine, standardised": (3, 6),
    "numerical_numbers": (5, 20),
    "digit_pixels": (5, 20),
    "leukemia_golub": (5, 50),
    "tissue_expression": (5, 30),
    "tecator_spectra": (3, 10),
}


def data(name):
    """Return the n x d array of a set."""
    from sklearn.datasets import load_breast_cancer, load_digits

    if name.startswith("dense"):
        rng = np.random.default_rng(0)
        scores = rng.standard_normal((1000, 20)) * np.linspace(6, 1, 20)
        X = 0.3 * scores @ rng.standard_normal((20, 50_000)) + rng.standard_normal((1000, 50_000))
        return X.astype(name.split()[1])
    name, _, standardised = name.partition(", ")
    sets = {"digits": load_digits, "breast cancer": load_breast_cancer}
    X = sets[name]().data if name in sets else datasets.load(name).X
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


def of_svds(X, m, k):
    """The eigenproblem within Go, by the library on the centred data, to its full accuracy."""
    mean = np.asarray(X.mean(axis=0)).ravel().astype(X.dtype)
    centred = LinearOperator(
        X.shape,
        lambda v: X @ v.ravel() - mean @ v.ravel(),
        lambda u: X.T @ u.ravel() - mean * u.sum(),
        dtype=X.dtype,
    )
    _, values, Vt = svds(centred, m, rng=0)
    return Vt.T * values


def largest_variances(X, m, k):
    return largest(Covariance.from_data(X).diagonal(), k)


CONTENDERS = {
    "largest variances": largest_variances,
    "ipu from variances": of_solver(ipu, init="variance"),
    "go": of_solver(go),
    "ipu": of_solver(ipu),
    "swap": of_solver(swap),
    "solve": of_solver(solve),
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


def memory(reset=False):
    """Return the bytes held at the highest since the last reset."""
    if reset:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def measured(contender, name):
    """Return what one contender costs on one set, and what its support explains after a refit."""
    warnings.simplefilter("ignore")
    X, (m, k) = data(name), SETS[name]
    held = memory(reset=True)
    seconds = []
    while len(seconds) < (RUNS if sum(seconds) < QUICK * max(len(seconds), 1) else 1):
        began = time.process_time()
        answer = CONTENDERS[contender](X, m, k)
        seconds.append(time.process_time() - began)
        if len(seconds) == 1:
            peak = memory() - held
    support = np.asarray(getattr(answer, "support", answer))
    A = Covariance.from_data(X)
    explained = np.linalg.eigvalsh(A.submatrix(support))[-m:].sum() / A.trace
    bound = getattr(answer, "upper_bound", None)
    size = X.data.nbytes + X.indices.nbytes if scipy.sparse.issparse(X) else X.nbytes
    return {
        "cpu seconds": float(np.median(seconds)),
        "runs": len(seconds),
        "peak over data": peak / size,
        "passes": getattr(answer, "passes", None),
        "explained": float(explained),
        "bound": None if bound is None else float(bound / A.trace),
    }


def in_a_process(contender, name):
    """Return a row; what cannot be done within the limits says so."""
    command = [sys.executable, "-m", "fspca_reproduction.book.bench", contender, name]
    done = subprocess.run(command, capture_output=True, text=True)
    result = {"set": name, "contender": contender}
    if done.returncode == 0:
        return rounded(result | json.loads(done.stdout))
    if done.returncode < 0:
        return result | {"cannot": f"not within {SECONDS} s"}
    return result | {"cannot": done.stderr.strip().splitlines()[-1][:150]}


def slopes():
    """Return the seconds of one step of IPU over two decades of n, d, k and m, and the slopes."""
    base, result = {"n": 2000, "d": 2000, "k": 50, "m": 5}, {}
    for name, values in {
        "n": (1000, 3000, 10_000, 30_000, 100_000),
        "d": (1000, 3000, 10_000, 30_000, 100_000),
        "k": (10, 30, 100, 300, 1000),
        "m": (1, 3, 10, 30, 100),
    }.items():
        seconds = []
        for value in values:
            at = base | {name: value} | ({"k": 200} if name == "m" else {})
            X = np.random.default_rng(0).standard_normal((at["n"], at["d"]), dtype=np.float32)
            A, rows = Covariance.from_data(X), np.arange(at["k"])
            one = [time.process_time()]
            for _ in range(RUNS):
                V = np.linalg.eigh(A.submatrix(rows))[1][:, -at["m"] :]
                A.product(V, rows)
                one.append(time.process_time())
            seconds.append(float(np.median([b - a for a, b in pairwise(one)])))
        slope = np.polyfit(np.log(values[-3:]), np.log(seconds[-3:]), 1)[0]
        result[name] = {"values": values, "seconds": seconds, "last decade's slope": slope}
    return rounded({"base": base, "by": result})


def run(names=(), contenders=()):
    """Measure and store; with names only these, and the others stay as they are stored."""
    path = result_path("bench")
    kept = read_json(path) if path.exists() else {"rows": []}
    rows = {(row["set"], row["contender"]): row for row in kept["rows"]}
    made = {
        "command": "python -m fspca_reproduction bench",
        "machine": platform.processor() or platform.machine(),
        "versions": {name: sys.modules[name].__version__ for name in ("numpy", "scipy")},
    }
    for name in names or SETS:
        if lacks_data({"set": name}):
            continue
        for contender in contenders or CONTENDERS:
            rows[name, contender] = in_a_process(contender, name)
            print(rows[name, contender], flush=True)
        made["rows"] = [rows[s, c] for s in SETS for c in CONTENDERS if (s, c) in rows]
        made["slopes"] = kept.get("slopes")
        write_whole(path, json.dumps(made, indent=1) + "\n")
    if not names:
        write_whole(path, json.dumps(made | {"slopes": slopes()}, indent=1) + "\n")
    return path


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    print(json.dumps(measured(*sys.argv[1:])))
