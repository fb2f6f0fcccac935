r"""How good is an answer: upper bounds on the optimum, each with what proves it.

For every C >= 0 (positive semidefinite) and every feasible W with support I,
trace(W'AW) = trace(W'CW) + trace(W'(A - C)W) <= sum_{i in I} C_ii + F_m(A - C): the first since
W W' <= I, the second by Ky Fan.  Hence  optimum <= S_k(diag C) + F_m(A - C).
C is returned as a factor G, C = GG', so that it is semidefinite by construction.  Any matrix Y
beside it may say something of the rows of W W' (`rows`).
"""

from itertools import islice
from time import perf_counter

import numpy as np

from fspca.covariance import Matrix, as_covariance
from fspca.covariance.validate import Features, checked_choice, numbered
from fspca.problem import SharedSupport
from fspca.proof.checked import MAX_MEMORY, VARIANCES, CheckedMatrix
from fspca.proof.claims import Certificate, claimed
from fspca.proof.probable import probable_bound
from fspca.proof.projections import largest_cost
from fspca.proof.relaxation import Basis
from fspca.proof.rows import descend_rows, has_rows, with_rows
from fspca.proof.semidefinite import descend, start_from
from fspca.solver import Listener, Progress, check_common, heard

METHODS = ("eigenvalue", "diagonal", "shifted", "dual", "rows")
CLOSED_FORM = METHODS[:3]
ROWS_SIZE = 700  # features up to which rows are bounded
FEW_ROWS = 250  # features of wide data whose rows are bounded, those of the largest costs
APART = 1e-6  # relative: by so much eigenvalues differ whose vectors all solvers find alike
SPANNED = 150  # eigenvectors of data in the basis of C
WORK = 2e12  # floating-point operations of a bound that must be had quickly
BEFORE = 0.25  # of max_iter, without rows: these steps make the start of those with rows


def upper_bound(A: Matrix, m: int, k: int, *, method: str = "rows", required: Features = (),
                forbidden: Features = (), target: float = -np.inf,
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
        are at most 700, and of wider data with one on the rows of the 250 that cost most.
    required, forbidden : sequences of features
        What the support must hold, and must lack: numbers, or names where A has some.
    target : float
        The bound at which it may stop.
    init : Certificate
        Of a dual run on the same A, from whose end to go on.
    max_iter, max_seconds : int, float
        The budget in steps of ADMM and in seconds; the bound is valid whenever it stops, also by
        Ctrl-C.  Where rows are bounded, a quarter of max_iter is taken beforehand without them,
        and then max_iter with them.
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
    A = as_covariance(A).plain
    sides = {"required": required, "forbidden": forbidden}
    sides = {name: numbered(name, given, A.names) for name, given in sides.items()}
    problem = SharedSupport(m, k, **sides)
    problem.fit(A.size)
    checked_choice("method", method, METHODS)
    check_common({"max_iter": max_iter, "max_seconds": max_seconds, "progress": progress})
    checked = CheckedMatrix.of(A, problem, max_memory)
    if method in CLOSED_FORM or checked.matrix is None:
        return least_closed_form(checked, [method])
    ends = None if max_seconds is None else perf_counter() + max_seconds
    start = init and init.state
    return dual_bound(checked, method == "rows", max_iter, ends, target, start, progress)


def least_closed_form(checked, methods=CLOSED_FORM):
    """Return a Certificate of the least bound S_k(diag C) + F_m(A - C) for some C in closed form.

    "eigenvalue" has C = 0, "diagonal" C = A, and "shifted" the part of A above sigma, its
    eigenvalue number m + 1.  All are computed; the least is proven, by the checker's arithmetic,
    and where it is "shifted" a large matrix is told its eigenpairs (`hand_on`).  Where there is
    neither matrix nor data, the bound is that of `probable_bound`, whatever the methods.
    """
    if checked.matrix is None:
        return probable_bound(checked.A, checked.problem)
    m, rows, required = checked.m, checked.rows, checked.required
    values, V = checked.leading(rows, m + 1)
    sigma = max(values[m], 0.0) if m < len(values) else 0.0
    factors = {
        "eigenvalue": V[:, :0],
        "shifted": V[:, :m] * np.sqrt(np.maximum(values[:m] - sigma, 0.0)),
    }
    rest = {"eigenvalue": values[:m].sum(), "diagonal": 0.0, "shifted": m * sigma}
    leading = {  # eigenpairs of A - C, as `prove` takes them: of m equal ones one will do
        "eigenvalue": (values[:m], V[:, :m]),
        "shifted": (np.array([sigma]), V[:, :1]),
    }

    def bound(method):
        """S_k(diag C) + F_m(A - C) as computed."""
        of_all = method == "diagonal"  # of data, V spans a part of what A does
        c = checked.A.diagonal()[rows] if of_all else np.sum(factors[method] ** 2, axis=1)
        return rest[method] + largest_cost(c, checked.k, required)

    best = min(methods, key=bound)
    if best == "diagonal":
        found = checked.bound(rows, required, {"whole": VARIANCES})
    else:
        found = checked.prove(rows, required, factors[best], None, leading[best])
        if best == "shifted" and checked.shares_pairs and "s" in found.arrays:
            hand_on(checked, values, V, found.arrays["s"])
    return Certificate(found.value, found.arrays)


def hand_on(checked, values, V, s):
    """Tell a large matrix its m leading eigenpairs, once s is proven to bound all others.

    `values` (m or more, falling) and the columns of V are eigenpairs of all of A.  They are told
    only where the m-th value lies clearly above s: else their span depends on the solver.
    """
    A, m = checked.A, checked.m
    if values[m - 1] - s > APART * values[0]:
        A.learn_leading(values[:m], V[:, :m])


def step_work(state):
    """What a step of the relaxation costs, counted: 1e10 of these took 0.9 s on one core of 2024.

    The added numbers are what Python costs around small arrays, in the size of an eigenproblem.
    """
    p = len(state.inner)
    beside = 0 if state.basis is None else 2 * state.basis.span.size * p
    return beside + ((p + 200) ** 3 if has_rows(state) else 4 / 3 * (p + 80) ** 3)


def quick_work(checked, state):
    """Estimate the work, as `step_work` counts it, of 50 steps without rows and then 200 with them.

    Of very wide data there are fewer of both: 200 are then as many as `WORK` operations allow.
    """
    # A step's operations here are a rough count of its eigenproblems and of the products with the
    # basis.  They are in another unit than the work, which is fitted to seconds.
    d, p = len(state.z), len(state.inner)
    operations = 50 * p**3 + (0 if state.basis is None else 40 * d * p**2)
    steps = int(min(200, WORK / operations))
    with_rows = (d + 200) ** 3 if d <= ROWS_SIZE else step_work(state)  # of one step
    if checked.wide(checked.rows):
        with_rows += (FEW_ROWS + len(checked.array) + 200) ** 3
    return steps * (step_work(state) * BEFORE + with_rows)


def begin_rows(checked, rows, state):
    """Return the start of the relaxation with a bound on every row, or None where there is none.

    Of wide data it bounds those of the dearest features.  Without a factor X a bound would need
    all of them, and they are too many.
    """
    everywhere = np.arange(len(rows))
    if checked.wide(rows):
        return with_rows(with_dearest_seen(state, everywhere))
    if len(rows) > ROWS_SIZE:
        return None
    return with_rows(state if state.basis is None else state.restricted(everywhere, dense=True))


def with_dearest_seen(state, rows):
    """Return a state on these features, of which up to `FEW_ROWS` are seen one by one.

    They are those that were seen so before, and then the dearest.
    """
    # A feature costs C_ii, and a bound on its row saves a part of that, so that the dearest have
    # most to save; how much z the relaxation gives a feature says less.  The multiplier of the
    # slack tends to C / penalty, and a factor does not change an order.
    if state.basis is None:  # all are
        return state.restricted(rows)
    costs = state.basis.diagonal(state.multipliers.slack)
    dear = np.argsort(-costs[rows], kind="stable")[:FEW_ROWS]
    known = np.flatnonzero(np.isin(rows, state.basis.few))
    more = dear[~np.isin(dear, known)][: max(FEW_ROWS - len(known), 0)]
    return state.seen(rows, np.append(known, more))


class Descent:
    """The relaxation of a covariance, followed: its best bound, and when to stop."""

    STANDSTILL = 1e-6  # relative: what a hundred steps must gain, a tenth of what is shown of a gap

    def __init__(self, scale, ends, target, progress):
        self.scale = scale
        self.ends = ends
        self.target = target / scale
        self.progress = progress
        self.best = None
        self.state = None
        self.n_iter = 0
        self.interrupted = False

    @property
    def done(self):
        """Whether the time is over, or the target reached."""
        late = self.ends is not None and perf_counter() > self.ends
        return late or self.best.bound <= self.target

    def follow(self, walk):
        """Keep the best of what a walk finds, until it is done or stands still."""
        last = np.inf
        for found in walk:
            self.n_iter += 10
            self.state = found.state
            if self.best is None or found.bound < self.best.bound:
                self.best = found
            if self.progress:
                news = Progress(self.n_iter // 10, -np.inf, self.best.bound * self.scale)
                heard(self.progress, news)
            if self.done:
                break
            if self.n_iter % 100 == 0:
                if last - self.best.bound < self.STANDSTILL * self.best.bound:
                    break
                last = self.best.bound

    def go(self, state, checked, max_iter, rowwise):
        """Take max_iter steps without rows; if `rowwise`, a quarter of them, then max_iter with."""
        m, k, required = checked.m, checked.k, checked.required
        try:
            if not has_rows(state):  # a state that has them goes on with them at once
                share = BEFORE if rowwise else 1
                self.follow(islice(descend(state, m, k, required), steps_of(max_iter * share)))
                if not rowwise or self.done:
                    return
                state = begin_rows(checked, checked.rows, self.state)
            self.follow(islice(descend_rows(state, m, k, required), steps_of(max_iter)))
        except KeyboardInterrupt:
            if self.best is None:  # there is no bound yet to end with
                raise
            self.interrupted = True


def few_of(state):
    """The places of the features that a state sees one by one, or None where it sees all so."""
    return None if state.basis is None else state.basis.few


def steps_of(max_iter):
    """How many times a walk that pauses after ten steps may go on, once at least."""
    return int(max_iter) // 10 or 1


def dual_bound(checked, rowwise, max_iter, ends=None, target=-np.inf, init=None, progress=None):
    """Return a Certificate of the best bound that ADMM on the relaxation finds.

    It ends at the target, a budget or a standstill.  With `rowwise` every row is bounded, too,
    where there is a choice of features left and there are not too many.
    """
    scale, state = relaxed(checked) if init is None else init
    rows, required = checked.rows, checked.required
    bounded = required.sum() < len(rows) and (len(rows) <= ROWS_SIZE or checked.wide(rows))
    descent = Descent(scale, ends, target, progress)
    descent.go(state, checked, max_iter, rowwise and bounded)
    best = descent.best
    Y = None if best.Y is None else best.Y * scale
    found = checked.prove(rows, required, best.G * np.sqrt(scale), Y, few=few_of(best.state))
    wanted = np.zeros(checked.A.size)
    wanted[rows] = best.z
    facts = (wanted, descent.n_iter, (scale, descent.state), descent.interrupted)
    return Certificate(found.value, found.arrays, 1.0, *facts)


def relaxed(checked):
    """Return (scale, state): the relaxation of A / scale before its first step.

    C is sought on the range of A (of data, on its leading part) and the unit vectors of the
    largest variances.
    """
    rows, m, k = checked.rows, checked.m, checked.k
    values, V = checked.leading(rows, len(rows))
    total = values[:m].sum()
    scale = 2.0 ** np.round(np.log2(total / m)) if total > 0 else 1.0
    V = V[:, values > len(rows) * 2.0**-52 * values.max()]
    spans_most = V.shape[1] + 2 * k > 0.7 * len(rows)  # then a basis saves nothing
    if not checked.of_data and spans_most:
        return scale, start_from(checked.block(rows) / scale, m, k)
    if checked.of_data and V.shape[1] > 2 * SPANNED:
        V = V[:, :SPANNED]
    likely = np.argsort(-checked.A.diagonal()[rows], kind="stable")[: min(2 * k, k + 2 * SPANNED)]
    basis = Basis.beside(np.sort(likely), V)
    if checked.of_data:
        image = basis.image(checked.array[:, rows])
        return scale, start_from(image.T @ image / scale, m, k, basis)
    image = basis.image(basis.image(checked.block(rows)).T)
    return scale, start_from((image + image.T) / (2 * scale), m, k, basis)


def with_bound(A, solution, found, max_memory=MAX_MEMORY):
    """Return the solution with a bound that was found for its problem, and its claim."""
    checked = CheckedMatrix.of(as_covariance(A).plain, solution.problem, max_memory)
    return claimed(checked, solution, found)
