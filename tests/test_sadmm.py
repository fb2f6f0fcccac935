"""ADMM and SADMM: one loop, its coordinates, and when it settles."""

import numpy as np
import pytest
import scipy.sparse

from fspca import ConvergenceWarning, Covariance, check_solution, sadmm
from fspca.separate_supports import alternation
from fspca.separate_supports.alternation import settling_rho, smooth_step, stationarity, steps
from fspca.separate_supports.manpg import descend_proximally, tangent_step
from fspca.separate_supports.stiefel import tangent
from fspca.synthetic import make_scheme

pytestmark = pytest.mark.filterwarnings("ignore::fspca.ConvergenceWarning")


def walk(A, penalty, gamma, rho, n, m=2, **options):
    """The steps 1 to n from the principal components."""
    generator = steps(A, A.leading(m)[1], penalty, gamma, rho, **options)
    return [next(generator) for _ in range(n)]


def scheme(seed, d=12):
    A = Covariance(make_scheme("F", d, seed))
    return A, np.linalg.norm(A.submatrix(np.arange(d))), A.leading(1)[0][0]


def changes(path):
    """How far V and Y are apart at the end, and how far V moved in the last 100 steps."""
    moved = [np.linalg.norm(b.V - a.V) for a, b in zip(path[-101:-1], path[-100:], strict=True)]
    return max(np.linalg.norm(s.V - s.Y) for s in path[-100:]), max(moved)


@pytest.mark.parametrize("shape", [(40, 700), (700, 40), (30, 30)])
def test_the_small_coordinates_give_the_steps_of_plain_products(shape, monkeypatch):
    X = np.random.default_rng(0).standard_normal(shape) * np.linspace(3, 0.5, shape[1])
    A = Covariance.from_data(X, center=False, divisor=1)
    gamma, penalty = settling_rho(A, 2, 0.0), 0.02 * A.leading(1)[0][0]
    inner = {"tol": 1e-11, "max_iter": 200}  # the same minimum, not the same path to it
    small = walk(A, penalty, gamma, gamma, 5, **inner)
    monkeypatch.setattr(alternation, "spectrum", lambda A: None)
    plain = walk(A, penalty, gamma, gamma, 5, **inner)
    for one, other in zip(small, plain, strict=True):
        assert np.allclose(one.V, other.V, atol=1e-8)  # the inner tolerance, amplified
        assert np.allclose(one.Y, other.Y, atol=1e-8)


def test_every_step_is_told():
    told = []
    found = sadmm(scheme(0)[0], 2, penalty=0.3, max_iter=7, tol=0.0, progress=told.append)
    assert found.stopped == "max_iter"
    assert [news.step for news in told][:7] == list(range(1, 8))


def test_without_a_spectrum_the_trace_bounds_the_norm(monkeypatch):
    A = Covariance(7 * make_scheme("F", 12, 0))
    known = settling_rho(A, 2, 0.5)
    monkeypatch.setattr(alternation, "spectrum", lambda A: None)
    bound = np.sqrt(A.leading(1)[0][0] * A.trace) + 0.5 * np.sqrt(24)
    assert settling_rho(A, 2, 0.5) == pytest.approx(bound, rel=1e-12)
    assert known <= bound


def test_one_inner_search_in_small_coordinates_is_the_plain_one():
    """The iterates themselves agree, not only the minimum: four conjugate gradient steps."""
    X = np.random.default_rng(1).standard_normal((20, 600))
    A = Covariance.from_data(X, center=False, divisor=1)
    rng = np.random.default_rng(2)
    V, C = np.linalg.qr(rng.standard_normal((600, 3)))[0], 100 * rng.standard_normal((600, 3))
    small = smooth_step(A, V, C, max_iter=4)
    assert alternation.spectrum(A) is not None
    alternation._SPECTRA[A] = None
    assert np.allclose(small, smooth_step(A, V, C, max_iter=4), atol=1e-10)  # rounding
    assert np.allclose(small.T @ small, np.eye(3), atol=1e-12)


def test_a_step_multiplies_by_the_data_only_as_often_as_it_says():
    """Without the coordinates: one product at the start of a search, one for each inner step."""
    A, F, _ = scheme(0)
    calls = []

    class Counting(type(A._source)):
        def product(self, V, rows=None):
            calls.append(V.copy())
            return super().product(V, rows)

    counted = Covariance.from_source(Counting(A._source.A))
    alternation._SPECTRA[counted] = None
    V, C = A.leading(2)[1], np.random.default_rng(0).standard_normal((12, 2)) * F
    smooth_step(counted, V, C, max_iter=6, tol=0.0)
    assert len(calls) == 1 + 6
    for i, one in enumerate(calls):
        assert not any(np.allclose(one, other, rtol=1e-12) for other in calls[:i])


@pytest.mark.parametrize("seed", range(5))
def test_sadmm_with_gamma_rho_and_no_growth_is_admm(seed):
    A, F, largest = scheme(seed)
    penalty = 0.05 * largest
    first = sadmm(A, 2, penalty=penalty, rho=F, growth=1, plain=True)
    second = sadmm(A, 2, penalty=penalty, gamma=F, rho=F, growth=1)
    assert np.array_equal(first.W, second.W)
    assert np.array_equal(first.orthonormal, second.orthonormal)
    grown = sadmm(A, 2, penalty=penalty, rho=F, growth=1.2, rho_max=20 * F, plain=True)
    assert not np.array_equal(first.orthonormal, grown.orthonormal)


@pytest.mark.parametrize("seed", range(5))
def test_omega_stays_a_subgradient_of_the_penalty(seed):
    A, F, largest = scheme(seed)
    penalty = 0.05 * largest
    for step in walk(A, penalty, 0.5 * F, F, 30, growth=1.1, rho_max=3 * F):
        assert abs(step.Omega).max() <= penalty * (1 + 1e-9)  # rounding
        kept = step.Y != 0
        assert np.allclose(step.Omega[kept], penalty * np.sign(step.Y[kept]), rtol=1e-9)
        assert np.allclose(step.V.T @ step.V, np.eye(2), atol=1e-12)


def test_growth_shrinks_admms_threshold_and_not_sadmms():
    """What a step subtracts is |V + Omega/weight| - |Y| on the support of Y."""
    A, F, largest = scheme(1)
    penalty, taken = 0.05 * largest, {}
    for name, gamma in (("admm", None), ("sadmm", F)):
        before, taken[name] = np.zeros((12, 2)), []
        for step in walk(A, penalty, gamma, F, 20, growth=1.5, rho_max=1e6 * F):
            Z = step.V + before / (gamma or step.rho)
            kept = step.Y != 0
            taken[name].append(np.mean(abs(Z[kept]) - abs(step.Y[kept])))
            before = step.Omega
    assert np.allclose(taken["sadmm"], penalty / F, rtol=1e-9)  # rounding
    assert np.allclose(taken["admm"], penalty / F / 1.5 ** np.arange(20), rtol=1e-6)  # smaller


@pytest.mark.parametrize("seed", range(4))
def test_theorem_2_settles_where_rho_is_large_enough(seed):
    """rho = gamma = ||A||_F and a small penalty: V, Y and Omega stop at a stationary point."""
    A, F, largest = scheme(seed)
    path = walk(A, 0.02 * largest, F, F, 1500, tol=1e-9, max_iter=100)
    apart, moved = changes(path)
    assert apart <= 1e-5  # the rate depends on eigengaps; the slowest of these is near 4e-6
    assert moved <= 1e-5
    assert stationarity(A, path[-1].V, path[-1].Omega) <= 1e-5 * F


@pytest.mark.parametrize(
    ("penalty", "gamma", "rho"),
    [
        (0.05, 0.01, 0.01),  # rho far below ||A||_F, the hypothesis broken
        (0.02, 10.0, 1.0),  # rho = ||A||_F, the hypothesis met, but gamma far above rho
        (0.5, 1.0, 1.0),  # rho = ||A||_F again, but the penalty large beside it
    ],
)
def test_it_does_not_settle_where_rho_is_small_beside_a_gamma_or_the_penalty(penalty, gamma, rho):
    A, F, largest = scheme(0)
    apart, moved = changes(walk(A, penalty * largest, gamma * F, rho * F, 600))
    assert apart > 1e-3
    assert moved > 1e-2


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
def test_the_default_rho_settles_for_large_penalties_too(share, seed):
    A, F, largest = scheme(seed)
    rho = settling_rho(A, 2, share * largest)
    least = np.linalg.eigvalsh(A.submatrix(np.arange(12)))[0]
    spread = np.linalg.norm(A.submatrix(np.arange(12)) - least * np.eye(12))
    assert rho == pytest.approx(spread + share * largest * np.sqrt(24))
    assert spread <= F
    assert sadmm(A, 2, penalty=share * largest, gamma=rho, rho=rho).converged


@pytest.mark.parametrize("seed", range(5))
def test_both_copies_are_returned_and_judged(seed):
    A, F, largest = scheme(seed, d=20)
    solution = sadmm(A, 3, penalty=0.1 * largest, gamma=F, rho=F)
    assert check_solution(A, solution)
    V, W = solution.orthonormal, solution.W
    assert np.allclose(V.T @ V, np.eye(3), atol=1e-12)
    assert 0 < np.count_nonzero(W) < W.size
    assert solution.problem.k == np.count_nonzero(W, axis=0).max()
    if solution.converged:
        assert np.all(abs(np.sum(W * V, axis=0)) > 0.999)  # the same up to tol
    with pytest.raises(ValueError, match="read-only"):
        V[0, 0] = 1


def test_a_column_emptied_by_the_penalty_keeps_vs_largest_entry():
    A, F, largest = scheme(0)
    solution = sadmm(A, 2, penalty=100 * largest, gamma=F, rho=F, max_iter=1)
    assert np.count_nonzero(solution.W, axis=0).tolist() == [1, 1]
    V = abs(solution.orthonormal)
    assert [int(np.argmax(abs(w))) for w in solution.W.T] == V.argmax(axis=0).tolist()
    assert check_solution(A, solution)


@pytest.mark.parametrize("seed", range(5))
def test_k_counts_the_entries_of_each_component(seed):
    A = Covariance(make_scheme("F", 20, seed))
    solution = sadmm(A, 2, 4)
    assert np.count_nonzero(solution.W, axis=0).tolist() == [4, 4]
    V = solution.orthonormal
    for w, v in zip(solution.W.T, V.T, strict=True):  # the largest of V, and in its proportions
        rows = np.argsort(-abs(v))[:4]
        assert np.allclose(w[rows], v[rows] / np.linalg.norm(v[rows]))


def test_sparse_orthogonal_components_are_found():
    """The model of tan2019, Section 5.1: two blocks of ten features among 100."""
    rng = np.random.default_rng(0)
    truth = np.zeros((100, 2))
    truth[:10, 0] = truth[10:20, 1] = 10**-0.5
    X = rng.standard_normal((200, 100)) + (rng.standard_normal((200, 2)) * [20, 17]) @ truth.T
    A = Covariance.from_data(X, center=False, divisor=1)
    solution = sadmm(A, 2, 10)
    assert solution.support.tolist() == list(range(20))
    for init in ("random", truth):
        other = sadmm(A, 2, 10, init=init, seed=1)
        assert other.support.tolist() == list(range(20))
        assert other.objective == pytest.approx(solution.objective, rel=1e-3)  # tol of V


def test_sparse_data_are_never_made_dense(monkeypatch):
    X = scipy.sparse.random_array((80, 700), density=0.05, rng=np.random.default_rng(0))
    given = Covariance.from_data(X, center=False, divisor=1)
    dense = Covariance.from_data(X.toarray(), center=False, divisor=1)
    penalty, rho = 0.1 * dense.leading(1)[0][0], 2 * dense.leading(1)[0][0]
    monkeypatch.setattr(alternation, "LARGEST", 40)  # as if both sides were large
    solution = sadmm(given, 2, penalty=penalty, gamma=rho, rho=rho, max_iter=5)
    assert alternation._SPECTRA[given] is None
    monkeypatch.undo()
    expected = sadmm(dense, 2, penalty=penalty, gamma=rho, rho=rho, max_iter=5)
    assert np.allclose(solution.orthonormal, expected.orthonormal, atol=1e-3)  # the inner tol


def test_budget_exhausted_warns_and_says_so():
    A, F, largest = scheme(0)
    for plain in (False, True):
        with pytest.warns(ConvergenceWarning, match="sadmm stopped at max_iter=2 before"):
            solution = sadmm(A, 2, penalty=0.1 * largest, rho=F, plain=plain, max_iter=2)
        assert not solution.converged


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"penalty": -1.0}, ValueError, "penalty=-1.0 must be finite and at least 0"),
        ({"penalty": 0.1, "k": 2}, ValueError, "one of the two must be given"),
        ({"gamma": 0.0}, ValueError, "gamma=0.0 must be positive"),
        ({"rho": "large"}, TypeError, "rho='large' must be a number"),
        ({"rho_max": 0}, ValueError, "rho_max=0 must be positive"),
        ({"growth": 2.0}, ValueError, "growth=2.0 must be at least 1.*below 2"),
        ({"growth": 0.5}, ValueError, "growth=0.5 must be at least 1"),
        ({"plain": 1}, TypeError, "plain=1 must be True or False"),
        ({"deflated": 1}, TypeError, "deflated=1 must be True or False"),
        ({"init": "svd"}, ValueError, "init='svd' must be one of 'pca', 'variance', 'random'"),
        ({"init": np.eye(3)[:, :2]}, ValueError, r"init has shape \(3, 2\)"),
        ({"tol": -1}, ValueError, "tol=-1 must be finite"),
        ({"max_iter": 0}, ValueError, "max_iter=0 must be at least 1"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        sadmm(np.eye(4), 2, **{"penalty": 0.1} | options)


def test_k_must_fit():
    with pytest.raises(ValueError, match="k=5 must lie between 1 and d=4"):
        sadmm(np.eye(4), 2, 5)


def test_a_start_is_made_orthonormal():
    A, _, largest = scheme(2)
    V = A.leading(2)[1]
    given = sadmm(A, 2, penalty=0.1 * largest, init=V @ [[2.0, 1.0], [0.0, 3.0]])
    assert given.objective == pytest.approx(
        sadmm(A, 2, penalty=0.1 * largest, init=V).objective, rel=1e-3  # tol of V
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_deflated_each_component_is_its_first_on_the_projected_covariance(seed):
    A = make_scheme("F", 10, seed)
    penalty = 0.1 * np.linalg.eigvalsh(A)[-1]
    options = {"penalty": penalty, "gamma": 3 * penalty, "rho": 100 * penalty}
    for w in sadmm(A, 3, deflated=True, **options).W.T:
        x = sadmm(A, 1, **options).W[:, 0]
        assert abs(x @ w) == pytest.approx(1, abs=1e-6)  # signs of the start may differ
        P = np.eye(10) - np.outer(w, w)
        A = P @ A @ P


@pytest.mark.parametrize("seed", range(5))
def test_deflated_k_counts_each_components_features(seed):
    A = make_scheme("F", 20, seed)
    solution = sadmm(A, 3, 4, deflated=True)
    assert check_solution(A, solution)
    assert np.count_nonzero(solution.W, axis=0).tolist() == [4] * 3
    assert solution.orthonormal is None


def test_deflated_wide_data_go_by_their_factor():
    X = np.random.default_rng(0).standard_normal((30, 600)) * np.linspace(3, 1, 600)
    wide = Covariance.from_data(X, center=False, divisor=1)
    first, second = (
        sadmm(A, 2, 5, deflated=True, max_iter=100) for A in (wide, Covariance(X.T @ X))
    )
    assert first.support.tolist() == second.support.tolist()
    assert first.objective == pytest.approx(second.objective, rel=1e-4)  # tol of V


def cost(A, V, penalty):
    return penalty * np.abs(V).sum() - np.vdot(V, A.product(V)) / 2


@pytest.mark.parametrize("seed", range(5))
def test_manpgs_cost_never_rises(seed):
    A, _, largest = scheme(seed, d=20)
    values, start = [], A.leading(3)[1]
    (V, Y), why = descend_proximally(
        A, start, 0.1 * largest, lambda V, Y: values.append(cost(A, V, 0.1 * largest))
    )
    assert why in ("settled", "no gain")
    assert np.all(np.diff(values) <= 0)
    assert np.linalg.norm(Y - V) <= 1e-4
    assert np.allclose(V.T @ V, np.eye(3), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_manpgs_step_is_the_best_in_the_tangent_space(seed):
    """Beside many tangent directions near it, on the model that it minimises."""
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((8, 2)))[0]
    G, t, penalty = rng.standard_normal((8, 2)), 0.3, 0.5
    D = tangent_step(V, G, t, penalty, np.zeros((2, 2)))[0] - V
    assert np.linalg.norm(V.T @ D + D.T @ V) <= 1e-12  # rounding of sums of eight terms

    def model(D):
        return np.vdot(G, D) + np.sum(D**2) / (2 * t) + penalty * np.abs(V + D).sum()

    for size in (1e-3, 1e-1, 1.0):
        for _ in range(50):
            other = D + size * tangent(V, rng.standard_normal((8, 2)))
            assert model(D) <= model(other) + 1e-10  # rounding, and Newton's residual
