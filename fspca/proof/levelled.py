r"""Bounds on what m uncorrelated factors explain, each with the claim that proves it.

With A = Z'Z and unit columns w_j of k_j nonzeros it is the largest sum of (u_j'Zw_j)^2 over
orthonormal u_1, ..., u_m.  That is at most trace(Q'AQ), Q a basis of W: bounds on the union of the
supports hold.  For every d x p matrix R and positive levels c_1, ..., c_p it is at most

    (m + sum_i r_i'Ar_i / c_i) phi,   phi the largest w'Mw,  M = (I - RR')A(I - RR') + R diag(c) R',

over unit w of k nonzeros, the largest of the counts: u'Zw = u'Z(I - RR')w + sum_i (u'Zr_i)(r_i'w),
and Cauchy's inequality gives (u'Zw)^2 <= (1 + sum_i (u'Zr_i)^2 / c_i) w'Mw.  With r_i an
eigenvector of length sqrt(1 - c_i / lambda_i), M is A with lambda_i levelled to c_i.  Without R it
is m times the best component, and with all eigenvalues levelled to one it is PCA's bound.
"""

from dataclasses import replace

import numpy as np
import scipy  # which loads its parts when they are needed

from fspca.check_certificate import check, semidefinite_of
from fspca.covariance import Covariance
from fspca.covariance.linalg import turned_roots
from fspca.covariance.sources import Dense
from fspca.problem import SharedSupport
from fspca.proof.bounds import least_closed_form
from fspca.proof.checked import CheckedMatrix
from fspca.proof.claims import claim_of, claimed, gap_of, least_claimed
from fspca.shared_support.solve import closes, search_from, solve
from fspca.solver import Run

DEPENDENT = 1e-6  # of the largest: smaller singular values of scores are taken for none
LEVELLED = 2000  # features up to which eigenvalues are levelled: components are sought in many M
MORE = 2  # times as many eigenvalues as components may be levelled
CUTS = 25  # components of which the levels are found, at most
ENOUGH = 1e-4  # relative: levels are no better known than their component
PLACES = 30  # binary places of R and of the levels, so that exact arithmetic has little to carry
LESS = 0.75  # of the logarithms of the levels: less levelled is easier to prove
FLAT = 20.0  # of a logarithm: no level is lower
SHARPNESS = (30.0, 300.0, 3e3, 3e4)  # of a smooth maximum, which misses log(cuts) / sharpness
WORTH = 0.01  # of the gap, which a bound must seem to close so that it is proven
PROOFS = 3  # searches at most
NODES, SHARE = 100_000, 2.0  # nodes of each at most, and its work beside that of `solve`
SPARE = 1e-9  # relative, of a tree's target: more than a levelled matrix loses by rounding


def with_factors_claim(A, solution, share=SHARE, max_seconds=None):
    """Return the solution with the least bound on what factors explain, and the claim of it.

    It is one of the union of the supports, which costs little, or one by a single component, for
    which up to `PROOFS` searches are made.  A share of 0 makes none.  With max_seconds, these end
    all searches together; without, each may take that share of the work of `solve`.
    """
    problem = solution.problem
    m, counts, clock = problem.m, problem.counts, Run(None, max_seconds)
    checked = CheckedMatrix.of(A, SharedSupport(m, max(m, min(int(counts.sum()), A.size))))
    if checked.matrix is None:
        return claimed(checked, solution, least_closed_form(checked))
    W = np.array(solution.W)
    facts = {"kind": "factors", "counts": counts, "W": W, "factors": factors_of(A, W)}
    of_union = least_closed_form(checked)
    if solution.objective <= 0 < of_union.bound:  # of nothing a gap would be no share
        return replace(solution, upper_bound=of_union.bound, certificate=None)
    best = least_claimed(checked, solution, [of_union.arrays], **facts)
    if not share or max_seconds == 0 or best.certificate is None or best.gap == 0:
        return best
    value = check(best.certificate | checked.named).value  # of W and its factors, for any bound
    found = one_component_bounds(checked, W, counts, best, (share, clock))
    try:
        for R, levels, arrays, bound in found:
            if bound < best.upper_bound:
                gap = gap_of(value, bound)
                claim = claim_of(checked, gap, arrays, **facts, R=R, levels=levels)
                if check(claim | checked.named).holds:
                    bound = max(bound, solution.objective)
                    best = replace(best, upper_bound=bound, certificate=claim)
    except KeyboardInterrupt:
        best = replace(best, stopped="interrupted")
    return best


def factors_of(A, W):
    """Return Y for which the checker counts most as explained of W by the factors ZY.

    A claim names its factors, and any Y is allowed.  Good ones have R'R = W'AW and Y = W R^-1: then
    factor j explains R_jj^2 of column j.  Several R are tried, and W itself.  Where R has no
    inverse, as many factors as its rank are orthonormal, and the others 0.
    """
    K = W.T @ A.product(W)  # m x m
    found = [W, *(W @ inverse_of(R) for R in turned_roots((K + K.T) / 2))]
    return max(found, key=lambda Y: granted(A, W, Y))


def inverse_of(R):
    """Return an m x m matrix B that makes the columns of RB orthonormal, as many as R has rank.

    For R of full rank B is its inverse.  Else J holds that many independent columns of R, by
    pivoting: B'(R'R)B is the identity on J x J and 0 elsewhere, and so is B outside J x J.
    """
    values = np.linalg.svd(R, compute_uv=False)
    if values[-1] > DEPENDENT * values[0]:
        return np.linalg.inv(R)
    # R[:, order] = Q triangle, so that R[:, J] = Q_1 T with T the leading block of the triangle.
    # Q may be dropped: T'T = R[:, J]'R[:, J], and the inverse of T alone makes that the identity.
    # R'R decides T but for signs, and J but for ties: all turned R of one singular K give the same
    # factors, and turning them was in vain.
    _, triangle, order = scipy.linalg.qr(R, pivoting=True)
    rank = np.count_nonzero(values > DEPENDENT * values[0])
    B = np.zeros_like(triangle)
    J = order[:rank]
    B[np.ix_(J, J)] = np.linalg.inv(triangle[:rank, :rank]) if rank else 0.0
    return B


def granted(A, W, Y):
    """Return what the checker counts as explained of W by the factors ZY, but for rounding.

    It is sum_j (w_j'Ay_j)^2 over a bound on the largest eigenvalue of Y'AY, by its row sums.
    """
    image = A.product(Y)
    most = np.abs(Y.T @ image).sum(axis=1).max()
    return np.sum(np.einsum("ij,ij->j", W, image) ** 2) / most if most > 0 else 0.0


def matrix_of(checked, R, c, m):
    """Return (M, times): the levelled matrix as the checker computes it, and the bound's factor.

    What m factors explain is at most `times` what one component of M explains.
    """
    if not R.size:
        return checked.A, m
    numbers = checked.numbers
    A, error = semidefinite_of(checked.matrix).block(np.arange(len(R)))
    M, _, times = numbers.levelled(A, error, R, numbers.read(c, 2), m)
    return Covariance.from_source(Dense(np.ldexp(M, -2 * numbers.shift))), float(times)


def in_few_places(x):
    """Return numbers near x, of few binary places."""
    return np.ldexp(np.round(np.ldexp(x, PLACES)), -PLACES)


class Levels:
    """The levels of the largest eigenvalues, in logarithms x = log(lambda / c), of the least bound.

    V has the eigenvectors v_i (d x r) of the r eigenvalues lambda that may be levelled.
    The logarithm of the bound is convex in x: log(m + sum(e^x - 1)) plus the largest, over all w,
    of log(sum a_i e^-x_i + rest), with a_i = lambda_i (v_i'w)^2.  So it is raised from below, by
    the w that were best for earlier x.
    """

    def __init__(self, checked, m, k, W, clock):
        self.checked, self.m, self.k, self.clock = checked, m, k, clock
        values, V = checked.leading(np.arange(checked.A.size), min(MORE * m, checked.A.size))
        kept = values > 1e-9 * values[0]
        self.values, self.V = values[kept], V[:, kept]
        self.components, self.cuts = [], []
        self.interrupted = False  # by Ctrl-C
        self.none = np.zeros(len(self.values))
        self.add(W)

    def add(self, W):
        """Take the columns of W for components w, each of which bounds the bound from below."""
        for w in W.T:
            a, rest = self.cut(w)
            if a.sum() + rest > 0:
                self.components.append(w)
                self.cuts.append((a, rest))

    def cut(self, w):
        """Return what w explains along each eigenvector that may be levelled, and elsewhere."""
        a = self.values * (self.V.T @ w) ** 2
        return a, max(w @ self.checked.A.product(w[:, None])[:, 0] - a.sum(), 0.0)

    def levelled(self, x):
        """Return R and the levels c for these x, of the eigenvalues that are lowered at all."""
        some = np.flatnonzero(x > 1e-6)
        c = self.values[some] * np.exp(-x[some])
        R = self.V[:, some] * np.sqrt(-np.expm1(-x[some]))
        c, exponents = np.frexp(c)
        return in_few_places(R), np.ldexp(in_few_places(c), exponents)

    def log_explained(self, x):
        """Return the logarithm of what each known component explains of the levelled matrix."""
        a, rest = (np.array(each) for each in zip(*self.cuts, strict=True))
        return np.log(a @ np.exp(-x) + rest)

    def component(self, M, x):
        """Return the best component of M that is found without a search, from two starts."""
        starts = ["go"]
        if self.components:
            starts.append(self.components[int(np.argmax(self.log_explained(x)))][:, None])
        found = [solve(M, 1, self.k, init=init, max_seconds=0) for init in starts]
        self.interrupted |= any(each.stopped == "interrupted" for each in found)
        return max(found, key=lambda each: each.objective)

    def best(self):
        """Return the x of the least bound, by cutting planes."""
        # The best component at an x gives the bound there and is a cut, below the bound for all x;
        # the next x is where the largest of the cuts is least.
        found = (np.inf, self.none)
        x = self.lowest(self.none)[0] if self.cuts else self.none
        for _ in range(CUTS):
            M, times = matrix_of(self.checked, *self.levelled(x), self.m)
            component = self.component(M, x)
            value = np.log(times * component.objective)
            found = min(found, (value, x), key=lambda each: each[0])
            self.add(component.W)
            x, least = self.lowest(found[1])
            if found[0] - least < ENOUGH or self.clock.seconds_left == 0 or self.interrupted:
                break
        return found[1]

    def lowest(self, x):
        """Return the x where the largest of the cuts is least, and its value there."""
        a, rest = (np.array(each) for each in zip(*self.cuts, strict=True))

        def smooth_maximum(x, sharp):
            """The largest of the cuts, smoothed, and its gradient in x."""
            rows, total = self.log_explained(x), self.m + np.expm1(x).sum()
            shares = np.exp(sharp * (rows - rows.max()))
            value = np.log(total) + rows.max() + np.log(shares.sum()) / sharp
            own = shares / shares.sum() / (a @ np.exp(-x) + rest)
            return value, np.exp(x) / total - (own @ a) * np.exp(-x)

        for sharp in SHARPNESS:  # smoothed, less and less, so that each step is smooth and convex
            found = scipy.optimize.minimize(
                smooth_maximum, x, sharp, jac=True, bounds=[(0, FLAT)] * len(x)
            )
            x = found.x
        return x, np.log(self.m + np.expm1(x).sum()) + self.log_explained(x).max()


def one_component_bounds(checked, W, counts, best, budget):
    """Yield (R, levels, arrays, bound), each a better bound by one component of a levelled matrix.

    W (d x m) has columns of `counts` nonzeros, and the Solution `best` the bound to be improved.
    The best levels are found first, with components that need no proof; the search of `solve` then
    proves the best component of that matrix.  Where it leaves a gap, less is levelled, at last
    nothing; where it finds a better component, the levels are found again.

    `budget` is (share, clock), as `proven_component` takes the share, and a Run whose seconds are
    those of all.  It ends after `PROOFS` rounds, with the seconds, where a component is proven
    nearly best, where nothing was levelled any more, or by KeyboardInterrupt.
    """
    (share, clock), d = budget, checked.A.size
    m, k = len(counts), int(min(counts.max(), d))
    levels = Levels(checked, m, k, W, clock)
    may_be_levelled = m > 1 and d <= LEVELLED and not checked.of_data
    # x = log(lambda / c) for each eigenvalue that may be levelled; 0 leaves it as it is
    x, least = levels.best() if may_be_levelled else levels.none, best.upper_bound
    for left in reversed(range(PROOFS)):
        R, c = levels.levelled(x)
        M, times = matrix_of(checked, R, c, m)
        first = levels.component(M, x)  # without a proof: what no bound of this M can be below
        if levels.interrupted:
            raise KeyboardInterrupt
        if times * first.objective < least - WORTH * (least - best.objective):
            proven = proven_component(M, first, share, clock.seconds_left)
            bound = times * proven.upper_bound * (1 + SPARE)
            if proven.certificate is not None and bound < least:
                yield R, c, arrays_of(proven.certificate), bound
                least = bound
            if proven.stopped == "interrupted":
                raise KeyboardInterrupt
            if clock.seconds_left == 0:
                return
            if proven.objective > first.objective * (1 + ENOUGH):
                levels.add(proven.W)
                x = levels.best()
                continue
            if proven.gap < ENOUGH:
                return
        if not x.any():
            return
        x = LESS * x if left > 1 else levels.none


def proven_component(M, first, share, seconds):
    """Return the best component of M that a search finds, with its bound and claim.

    `first` is a Solution to begin with.  The search has `NODES` nodes at most and ends after so
    many seconds; only where `seconds` is None does it end with a share of the work of `solve`.
    """
    checked, run = CheckedMatrix.of(M, first.problem), Run(NODES, seconds)
    closed_form = least_closed_form(checked)
    if closes(closed_form, first.objective, 0.0):
        return claimed(checked, first, closed_form)
    run.record(first.objective, first)
    found = search_from(checked, None, first, closed_form, run, share=share)
    return replace(found, stopped="interrupted") if run.stopped == "interrupted" else found


def arrays_of(claim):
    """Return what proves a claim: its tree and the arrays of the nodes."""
    tree = ("nodes", "parent", "branch")
    found = {x: v for x, v in claim.items() if x in tree or x.rpartition("_")[2].isdigit()}
    return found if "nodes" in found else {x.removesuffix("_0"): v for x, v in found.items()}
