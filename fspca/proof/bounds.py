r"""How good is an answer: upper bounds on the optimum, each with what proves it.

For every C >= 0 (positive semidefinite) and every feasible W with support I,
trace(W'AW) = trace(W'CW) + trace(W'(A - C)W) <= sum_{i in I} C_ii + F_m(A - C): the first since
W W' <= I, the second by Ky Fan.  Hence  optimum <= S_k(diag C) + F_m(A - C).
C is returned as a factor G, C = GG', so that it is semidefinite by construction.  Any matrix Y
beside it may say something of the rows of W W' (`rows`).
"""

from collections.abc import Sequence
from itertools import islice
from time import perf_counter

import numpy as np

from fspca.covariance import Matrix, as_covariance
from fspca.covariance.validate import checked_choice
from fspca.problem import SharedSupport
from fspca.proof.ground import MAX_MEMORY, Certificate, Ground
from fspca.proof.probable import probable_bound
from fspca.proof.rows import RowState, descend_rows, with_rows
from fspca.proof.semidefinite import descend, restrict, start_from, sum_largest
from fspca.solver import Listener, Progress, check_common, heard

METHODS = ("eigenvalue", "diagonal", "shifted", "dual", "rows")
LIGHT = METHODS[:3]
ROWS_SIZE = 700  # features up to which rows are bounded
SPANNED = 150  # eigenvectors of data in the basis of C
WORK = 2e12  # floating-point operations of a bound that must be had quickly


def upper_bound(A: Matrix, m: int, k: int, *, method: str = "rows", required: Sequence[int] = (),
                forbidden: Sequence[int] = (), target: float = -np.inf,
                init: "Certificate | None" = None, max_iter: int = 600,
                max_seconds: float | None = None, max_memory: float = MAX_MEMORY,
                progress: Listener | None = None) -> Certificate:  # fmt: skip
    r"""Return a Certificate: no W with m orthonormal columns on k features explains more.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  Write S_k(c) for
    the sum of the k largest entries and F_m(B) for that of the m largest eigenvalues.  For
    every C >= 0 the optimum is at most S_k(diag C) + F_m(A - C); the methods choose C.

    Parameters
    ----------
    A : array (d x d) or Covariance
        The covariance.
    m, k : int
        Components and features, 1 <= m <= k <= d.
    method : str
        "eigenvalue" takes C = 0: F_m(A).  "diagonal" takes C = A: S_k(diag A).  "shifted"
        takes the part of A above lambda_{m+1}.  "dual" minimises over C by ADMM on the
        semidefinite relaxation max <A, P> over 0 <= P <= I, P <= Diag(z), trace P = m,
        0 <= z <= 1, sum z = k.  "rows" goes on with a bound on every row of P, where the features
        are at most 700.
    required, forbidden : sequences of features
        What the support must hold, and must lack.
    target : float
        The bound at which it may stop.
    init : Certificate
        Of a dual run on the same A, from whose end to go on.
    max_iter, max_seconds : int, float
        The budget in steps of ADMM and in seconds; the bound is valid whenever it stops, also by
        Ctrl-C.
    max_memory : int
        Bytes for arrays.  It decides, with the sizes, what is formed.
    progress : callable
        Told after every ten steps.

    Returns
    -------
    Certificate
        Its `bound` holds for A without its ridge, rounding included: it is the bound that the
        stand-alone checker computes from the arrays.  Where neither the matrix nor the data fit
        the memory the bound holds with a `probability` of at least 1 - 1e-9.

    See Also
    --------
    certify : The same bound beside an answer.
    fspca.solve : Closes what it leaves open.

    Notes
    -----
    A step of the dual costs two eigenproblems of size min(d, rank A + 2k).
    Explained in the chapter "Certificates: say how far from the best it is".

    References
    ----------
    Fan, "On a theorem of Weyl concerning eigenvalues of linear transformations I", PNAS 35, 1949.

    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Examples
    --------
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> [round(upper_bound(A, 1, 2, method=name).bound, 3) for name in ("diagonal", "dual")]
    [5.0, 4.0]
    """
    problem = SharedSupport(m, k, required=required, forbidden=forbidden)
    A = as_covariance(A).plain
    problem.fit(A.size)
    checked_choice("method", method, METHODS)
    check_common({"max_iter": max_iter, "max_seconds": max_seconds, "progress": progress})
    ground = Ground(A, problem, max_memory)
    if method in LIGHT or ground.matrix is None:
        return least_light_bound(ground, [method])
    ends, start = max_seconds and perf_counter() + max_seconds, init and init.state
    return dual_bound(ground, method == "rows", max_iter, ends, target, start, progress)


def least_light_bound(ground, methods=LIGHT):
    """Return the least of the light bounds, the only one that is proven."""
    if ground.matrix is None:
        return probable_bound(ground.A, ground.problem)
    m, k, rows, fixed = ground.problem.m, ground.problem.k, ground.rows, ground.fixed
    values, V = ground.leading(rows, m + 1)
    sigma = max(values[m], 0.0) if m < len(values) else 0.0
    G = {"eigenvalue": V[:, :0],
         "shifted": V[:, :m] * np.sqrt(np.maximum(values[:m] - sigma, 0.0))}  # fmt: skip
    rest = {"eigenvalue": values[:m].sum(), "diagonal": 0.0, "shifted": m * sigma}
    witness = {"eigenvalue": (values[:m], V[:, :m]), "shifted": (np.array([sigma]), V[:, :1])}

    def bound(method):
        c = ground.A.diagonal()[rows] if method == "diagonal" else np.sum(G[method] ** 2, axis=1)
        return rest[method] + c[:fixed].sum() + sum_largest(c[fixed:], k - fixed)

    best = min(methods, key=bound)
    if best == "diagonal" and ground.of_data:
        return Certificate(ground.bound(rows, fixed, {"whole": 1})[2], {"whole": 1})
    if best == "diagonal":
        G[best], witness[best] = ground.root(rows), (np.zeros(1), V[:, :1])
    proven, arrays = ground.prove(rows, fixed, G[best], None, witness[best])
    return Certificate(proven[2], arrays)


def step_work(state):
    """What a step of the relaxation costs, counted: 1e10 of these took 0.9 s on one core of 2024.

    The added numbers are what Python costs around small arrays, in the size of an eigenproblem.
    """
    d, p = len(state.z), len(state.inner)
    if isinstance(state, RowState):
        return (p + 200) ** 3
    return 4 / 3 * (p + 80) ** 3 + (0 if state.basis is None else 2 * d * p**2)


def quick_work(state):
    """What two hundred steps cost from here, a quarter of them plain; fewer on very wide data."""
    d, p = len(state.z), len(state.inner)
    steps = int(min(200, WORK / (50 * p**3 + (0 if state.basis is None else 40 * d * p**2))))
    rows = (d + 200) ** 3 if d <= ROWS_SIZE else step_work(state)
    return steps * (step_work(state) / 4 + rows)


def dual_bound(ground, rowwise, max_iter, ends=None, target=-np.inf, init=None, progress=None):
    """Follow the ADMM and keep the best bound; stop at the target, a budget or a standstill."""
    scale, state = relaxed(ground) if init is None else init
    best, n_iter, fixed, interrupted = None, 0, ground.fixed, False
    m, k = ground.problem.m, ground.problem.k
    rowwise = rowwise and fixed < len(ground.rows) <= ROWS_SIZE and not ground.wide(ground.rows)
    stages = [descend] + [descend_rows] * rowwise
    stages = stages if hasattr(state, "basis") else stages[1:]  # of rows already
    try:
        for stage in stages:
            if stage is descend_rows and hasattr(state, "basis"):
                state = with_rows(restrict(state, np.arange(len(state.z)), dense=True))
            last, share = np.inf, 1 if stage is stages[-1] else 0.25
            for found in islice(stage(state, m, k, fixed), int(max_iter * share) // 10 or 1):
                n_iter, state = n_iter + 10, found[-1]
                best = found if best is None or found[0] < best[0] else best
                if progress:
                    heard(progress, Progress(n_iter // 10, -np.inf, best[0] * scale))
                late = ends is not None and perf_counter() > ends
                if late or best[0] * scale <= target:
                    break
                if n_iter % 100 == 0:
                    if last - best[0] < 1e-6 * best[0]:
                        break
                    last = best[0]
            if late or best[0] * scale <= target:
                break
    except KeyboardInterrupt:
        if best is None:
            raise
        interrupted = True
    _, _, G, Y, z, _ = best
    Y = None if Y is None else Y * scale
    proven, arrays = ground.prove(ground.rows, fixed, G * np.sqrt(scale), Y)
    wanted = np.zeros(ground.A.size)
    wanted[ground.rows] = z
    return Certificate(proven[2], arrays, 1.0, wanted, n_iter, (scale, state), interrupted)


def relaxed(ground):
    """Return (scale, state): the relaxation of A / scale before its first step.

    C is sought on the range of A (of data, on its leading part) and the unit vectors of the
    largest variances.
    """
    rows, m, k = ground.rows, ground.problem.m, ground.problem.k
    values, Y = ground.leading(rows, len(rows))
    total = values[:m].sum()
    scale = 2.0 ** np.round(np.log2(total / m)) if total > 0 else 1.0
    Y = Y[:, values > len(rows) * 2.0**-52 * values.max()]
    if not ground.of_data and Y.shape[1] + 2 * k > 0.7 * len(rows):
        return scale, start_from(ground.block(rows) / scale, m, k)
    if ground.of_data and Y.shape[1] > 2 * SPANNED:
        Y = Y[:, :SPANNED]
    likely = np.argsort(-ground.A.diagonal()[rows], kind="stable")[: min(2 * k, k + 2 * SPANNED)]
    units = np.zeros((len(rows), len(likely)))
    units[likely, np.arange(len(likely))] = 1
    Z, R = np.linalg.qr(np.hstack([Y, units]))
    Z = Z[:, np.abs(np.diag(R)) > 1e-8]  # unit vectors that the rest spans already add nothing
    if ground.of_data:
        image = ground.array[:, rows] @ Z
        return scale, start_from(image.T @ image / scale, m, k, Z)
    return scale, start_from(Z.T @ ground.block(rows) @ Z / scale, m, k, Z)


def with_bound(A, solution, found, max_memory=MAX_MEMORY):
    """Return the solution with a bound that was found for its problem, and its claim."""
    return Ground(as_covariance(A).plain, solution.problem, max_memory).claimed(solution, found)
