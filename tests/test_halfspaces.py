"""Quadratics over half-spaces: exact, also where constraints are degenerate."""

import numpy as np
import pytest

from fspca.nonnegative.exhaustive import exhaustive_nonnegative
from fspca.nonnegative.halfspaces import complement, halfspaces, halfspaces_batch, unit_rows


def random_quadratic(d, rng):
    B = rng.standard_normal((d, d))
    return B + B.T


@pytest.mark.parametrize("seed", range(30))
def test_it_is_the_best_angle_of_a_circle(seed):
    rng = np.random.default_rng(seed)
    Q, R = random_quadratic(2, rng), rng.standard_normal((int(rng.integers(0, 4)), 2))
    angle = np.linspace(0, 2 * np.pi, 200_001)
    c = np.array([np.cos(angle), np.sin(angle)])
    values = np.where((R @ c >= 0).all(axis=0), np.einsum("in,ij,jn->n", c, Q, c), -np.inf)
    found, value = halfspaces(Q, R)
    if np.isneginf(values.max()):  # then the cone is at most a ray
        assert found is None or np.min(R @ found) < 1e-4
    else:
        # the grid misses an end of the arc by at most 2 pi / 200 000
        assert value == pytest.approx(values.max(), abs=1e-3)
        assert value >= values.max() - 1e-9  # rounding


@pytest.mark.parametrize("seed", range(40))
def test_on_the_orthant_it_is_nonnegative_pca(seed):
    """With R = I the problem is max x'Qx over x >= 0, which enumeration solves."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    B = rng.standard_normal((d, d))
    c, value = halfspaces(B @ B.T, np.eye(d))
    assert value == pytest.approx(exhaustive_nonnegative(B @ B.T, 1, d).objective, rel=1e-9)
    assert c.min() >= -1e-9  # the tolerance of feasibility is 1e-10
    assert np.linalg.norm(c) == pytest.approx(1)
    assert c @ B @ B.T @ c == pytest.approx(value)


@pytest.mark.parametrize("seed", range(20))
def test_no_feasible_point_of_many_is_better(seed):
    rng = np.random.default_rng(seed)
    Q, R = random_quadratic(3, rng), rng.standard_normal((4, 3))
    c = rng.standard_normal((20_000, 3))
    c /= np.linalg.norm(c, axis=1, keepdims=True)
    feasible = c[(c @ R.T >= 0).all(axis=1)]
    _, value = halfspaces(Q, R)
    assert np.all(np.einsum("ni,ij,nj->n", feasible, Q, feasible) <= value + 1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 0.1, 1.0, 1e300])
def test_rows_of_any_length_get_length_one(scale):
    R = scale * np.random.default_rng(0).uniform(-1, 1, (2, 4, 3))
    R[1, 2] = 0
    assert np.linalg.norm(unit_rows(R), axis=2) == pytest.approx(np.sign(np.abs(R).max(axis=2)))


def test_complements_are_orthonormal_also_beside_the_first_axis():
    angle = np.array([0.0, 1e-12, 1e-7, 1e-3, 1.0, 3.0, np.pi - 1e-7, np.pi])
    r = np.c_[np.cos(angle), np.sin(angle) * 0.6, np.sin(angle) * 0.8]
    whole = np.concatenate([r[:, :, None], complement(r)], axis=2)
    assert whole.transpose(0, 2, 1) @ whole == pytest.approx(
        np.tile(np.eye(3), (8, 1, 1)), abs=1e-14
    )


DEGENERATE = {
    "no constraint": (np.empty((0, 2)), 2.0),
    "zero rows": (np.zeros((3, 2)), 2.0),
    "repeated rows": ([[-1.0, 1.0], [-2.0, 2.0], [1.0, 0.0]], 1.5),
    "an equation": ([[1.0, -1.0], [-1.0, 1.0]], 1.5),
    "a ray": ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], 1.0),
    "nothing": ([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]], None),
    "nothing but 0": ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], None),
    "both signs feasible": ([[0.0, 1.0], [0.0, -1.0]], 2.0),
}


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_constraints(case):
    R, expected = DEGENERATE[case]
    c, value = halfspaces(np.diag([2.0, 1.0]), np.array(R))
    if expected is None:
        assert c is None
        assert value == -np.inf
    else:
        assert value == pytest.approx(expected)
        assert np.all(np.array(R) @ c >= -1e-9)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_of_a_repeated_leading_eigenvalue_any_feasible_vector_counts(d):
    rng = np.random.default_rng(d)
    for _ in range(20):
        R = rng.standard_normal((d - 1, d))  # fewer than d half-spaces always meet
        assert halfspaces(np.eye(d), R)[1] == pytest.approx(1.0)
    Q = np.diag([3.0] * (d - 1) + [1.0])
    inside = np.eye(d)[0] + 0.1 * np.eye(d)[min(1, d - 2)]
    R = np.vstack([np.eye(d)[:-1], inside])
    assert halfspaces(Q, R)[1] == pytest.approx(3.0)


def test_many_at_once_are_each_alone():
    rng = np.random.default_rng(1)
    Q = np.array([random_quadratic(3, rng) for _ in range(50)])
    R = unit_rows(rng.standard_normal((50, 4, 3)))
    c, values = halfspaces_batch(Q, R)
    for i in range(50):
        alone, value = halfspaces(Q[i], R[i])
        assert values[i] == pytest.approx(value)
        assert alone is None or c[i] @ Q[i] @ c[i] == pytest.approx(value)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"Q has shape \(2, 3\)"):
        halfspaces(np.ones((2, 3)), np.eye(2))
    with pytest.raises(ValueError, match=r"Q has shape \(2, 2, 2\)"):
        halfspaces(np.ones((2, 2, 2)), np.eye(2))
    with pytest.raises(ValueError, match=r"R holds nan at \(1, 1\)"):
        halfspaces(np.eye(2), np.diag([1.0, np.nan]))
    with pytest.raises(ValueError, match="symmetric"):
        halfspaces(np.array([[1.0, 2.0], [0.0, 1.0]]), np.eye(2))
    with pytest.raises(ValueError, match=r"R has shape \(2, 2\); it must have d=3"):
        halfspaces(np.eye(3), np.eye(2))


def test_rounding_beside_zeros_is_no_asymmetry():
    Q = np.diag([2.0, 1.0]) + [[0.0, 1e-17], [-1e-17, 0.0]]
    assert halfspaces(Q, np.eye(2))[1] == pytest.approx(2.0)
