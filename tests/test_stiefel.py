"""The Stiefel manifold: stay on it, slopes that are true, and minima that others find too."""

import numpy as np
import pymanopt
import pymanopt.manifolds
import pymanopt.optimizers
import pytest

from fspca.covariance.linalg import random_subspace
from fspca.separate_supports.conjugate_gradient import by_retraction, minimize_on_stiefel
from fspca.separate_supports.line_search import strong_wolfe
from fspca.separate_supports.quadratic import quadratic
from fspca.separate_supports.stiefel import (
    retract,
    tangent,
    transport,
)

SHAPES = [(1, 1), (2, 1), (5, 2), (12, 3), (6, 6)]


def random_problem(seed, d=12, m=3):
    """A quadratic of random scale and a random start; the product counts its calls."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, d)) * rng.uniform(0.1, 3, d)
    A, C = X.T @ X, rng.standard_normal((d, m)) * 10.0 ** rng.integers(-1, 3)
    calls = []

    def product(V):
        calls.append(V)
        return A @ V

    return A, C, product, calls, random_subspace(d, m, rng)


@pytest.mark.parametrize(("d", "m"), SHAPES)
def test_a_thousand_steps_and_transports_stay_on_the_manifold(d, m):
    rng = np.random.default_rng(0)
    V = random_subspace(d, m, rng)
    Z = tangent(V, rng.standard_normal((d, m)))
    for _ in range(1000):
        V = retract(V, Z * rng.uniform(0, 3))
        Z = transport(V, Z) + tangent(V, rng.standard_normal((d, m)))
        Z /= np.linalg.norm(Z) or 1.0
    assert abs(V.T @ V - np.eye(m)).max() <= 1e-12  # the mark; QR alone is near 1e-15
    assert abs(V.T @ Z + Z.T @ V).max() <= 1e-12


@pytest.mark.parametrize(("d", "m"), SHAPES)
def test_the_tangent_projection_is_orthogonal_and_idempotent(d, m):
    rng = np.random.default_rng(1)
    V, Z = random_subspace(d, m, rng), rng.standard_normal((d, m))
    T, other = tangent(V, Z), tangent(V, rng.standard_normal((d, m)))
    assert np.allclose(tangent(V, T), T, atol=1e-13)  # rounding
    assert np.vdot(Z - T, other) == pytest.approx(0, abs=1e-12)  # rounding


@pytest.mark.parametrize(("d", "m"), SHAPES)
def test_retraction_agrees_with_the_tangent_to_first_order(d, m):
    rng = np.random.default_rng(2)
    V = random_subspace(d, m, rng)
    Z = tangent(V, rng.standard_normal((d, m)))
    assert np.allclose(retract(V, 0 * Z), V, atol=1e-14)  # R is the identity, signs included
    steps = np.array([1e-2, 1e-3])
    errors = [np.linalg.norm(retract(V, t * Z) - V - t * Z) for t in steps]
    assert max(errors) <= 10 * 1e-4 * (1 + np.vdot(Z, Z))  # of second order
    if errors[1] > 1e-12:  # not flat: a circle's worth of curvature
        slope = np.log10(errors[0] / errors[1])
        assert slope == pytest.approx(2, abs=0.1)  # of two steps; tends to 2


@pytest.mark.parametrize("seed", range(10))
def test_the_riemannian_gradient_has_taylor_slope_two(seed):
    _, C, product, _, V = random_problem(seed)
    f, gradient, _ = quadratic(product, C)
    rng = np.random.default_rng(seed)
    Z = tangent(V, rng.standard_normal(V.shape))
    slope = np.vdot(tangent(V, gradient(V)), Z)
    steps = 10.0 ** np.arange(-1, -5, -0.5)
    errors = [abs(f(retract(V, t * Z)) - f(V) - t * slope) for t in steps]
    fitted = np.polyfit(np.log(steps[2:]), np.log(errors[2:]), 1)[0]
    assert fitted == pytest.approx(2, abs=0.05)  # the third-order term bends large steps
    wrong = [abs(f(retract(V, t * Z)) - f(V) - 1.5 * t * slope) for t in steps]
    assert np.polyfit(np.log(steps[2:]), np.log(wrong[2:]), 1)[0] < 1.9  # an error shows


@pytest.mark.parametrize("seed", range(10))
def test_the_small_curve_is_the_curve_by_retraction(seed):
    _, C, product, _, V = random_problem(seed)
    f, gradient, curve = quadratic(product, C)
    Z = tangent(V, np.random.default_rng(seed).standard_normal(V.shape))
    along, arrive = curve(V, gradient(V), Z)
    generic, generic_end = by_retraction(f, gradient)(V, gradient(V), Z)
    for t in (0.01, 0.5, 4.0):
        assert along(t) == pytest.approx(generic(t), rel=1e-9, abs=1e-9)  # rounding
        h = 1e-6
        numeric = (generic(t + h)[0] - generic(t - h)[0]) / (2 * h)
        scale = abs(np.vdot(gradient(V), Z))
        assert along(t)[1] == pytest.approx(numeric, abs=1e-6 * scale)  # differences lose half
        generic(t)
        for ours, theirs in zip(arrive(t), generic_end(t), strict=True):
            assert np.allclose(ours, theirs, atol=1e-9 * abs(theirs).max())  # rounding


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_every_accepted_step_meets_the_strong_wolfe_conditions(seed, small):
    """Recomputed here from f and its gradient alone."""
    c1, c2 = 1e-4, 0.4
    _, C, product, _, V = random_problem(seed)
    f, gradient, curve = quadratic(product, C)
    found = minimize_on_stiefel(f, gradient, V, max_iter=60, curve=curve if small else None)
    assert len(found.steps) == found.n_iter > 0
    for t, value, slope, new, new_slope in found.steps:
        assert t > 0 > slope
        rounding = 16 * np.finfo(float).eps * abs(value)
        assert new <= value + c1 * t * slope + rounding
        assert abs(new_slope) <= c2 * abs(slope)
    values = [step[1] for step in found.steps] + [found.value]
    assert found.value == pytest.approx(f(found.V), rel=1e-9)  # carried along, not recomputed
    assert np.all(np.diff(values) <= rounding)


def test_a_search_brackets_what_a_doubled_step_jumps_over():
    """On f = -sin t from 0 the minimum is at pi/2; starts short and long both find it."""
    for start in (1e-3, 0.1, 3.0, 5.0):
        t, f, s = strong_wolfe(lambda t: (-np.sin(t), -np.cos(t)), 0.0, -1.0, start, 1e-4, 0.1)
        assert f <= -1e-4 * t
        assert abs(s) <= 0.1


def test_a_search_without_a_step_says_so():
    assert strong_wolfe(lambda t: (-t, -1.0), 0.0, -1.0, 1.0, 1e-4, 0.4) is None


@pytest.mark.parametrize("seed", range(20))
def test_pymanopt_finds_the_same_minimum(seed):
    _, C, product, _, V = random_problem(seed, d=10, m=2)
    f, gradient, curve = quadratic(product, C)
    ours = minimize_on_stiefel(f, gradient, V, max_iter=2000, tol=1e-8, curve=curve)
    manifold = pymanopt.manifolds.Stiefel(10, 2)
    cost = pymanopt.function.numpy(manifold)(f)
    slope = pymanopt.function.numpy(manifold)(gradient)
    problem = pymanopt.Problem(manifold, cost, euclidean_gradient=slope)
    optimizer = pymanopt.optimizers.ConjugateGradient(
        verbosity=0, max_iterations=2000, min_gradient_norm=1e-7
    )
    theirs = optimizer.run(problem, initial_point=V)
    assert ours.converged
    assert ours.value == pytest.approx(theirs.cost, rel=1e-7)  # squares of the tolerances


def test_no_product_is_computed_twice_at_one_point():
    _, C, product, calls, V = random_problem(3)
    f, gradient, curve = quadratic(product, C)
    found = minimize_on_stiefel(f, gradient, V, max_iter=60, curve=curve)
    assert len(calls) == 1 + found.n_iter  # the start, and one direction a step
    for i, one in enumerate(calls):
        assert not any(np.allclose(one, other, rtol=1e-12) for other in calls[:i])


def test_the_norm_of_the_gradient_tends_to_zero():
    _, C, product, _, V = random_problem(5)
    f, gradient, curve = quadratic(product, C)
    norms = [
        minimize_on_stiefel(f, gradient, V, max_iter=n, tol=0.0, curve=curve).gradient_norm
        for n in (10, 40, 160)
    ]
    assert norms[2] < 0.1 * norms[1] < 0.01 * norms[0]


def test_a_quadratic_without_linear_part_gives_principal_components():
    A, C, product, _, V = random_problem(7)
    f, gradient, curve = quadratic(product, 0 * C)
    found = minimize_on_stiefel(f, gradient, V, max_iter=500, tol=1e-9, curve=curve)
    values = np.linalg.eigvalsh(A)[-3:].sum()
    assert -2 * found.value == pytest.approx(values, rel=1e-9)  # the square of the tolerance


@pytest.mark.parametrize(("c1", "c2"), [(0.0, 0.4), (0.4, 0.3), (1e-4, 0.5), (1e-4, np.nan)])
def test_the_hypothesis_of_theorem_1_is_a_rule(c1, c2):
    with pytest.raises(ValueError, match="must satisfy 0 < c1 < c2 < 1/2"):
        minimize_on_stiefel(None, None, np.eye(2), c1=c1, c2=c2)


def test_bad_options_are_named():
    with pytest.raises(ValueError, match="max_iter=0 must be at least 1"):
        minimize_on_stiefel(None, None, np.eye(2), max_iter=0)
    with pytest.raises(TypeError, match="tol='x' must be a number"):
        minimize_on_stiefel(None, None, np.eye(2), tol="x")
    for start in (np.ones((3, 2)), np.eye(2, 3)):
        with pytest.raises(ValueError, match=r"V0 has shape \(., .\); its columns must be ortho"):
            minimize_on_stiefel(None, None, start)
    with pytest.raises(ValueError, match="V0 holds nan"):
        minimize_on_stiefel(None, None, np.full((2, 1), np.nan))
