"""A factor Z with A = Z'Z, whatever A comes from."""

import numpy as np
import pytest
import scipy.sparse

from fspca import Covariance
from fspca.covariance.factors import factor_of, leading_on
from fspca.synthetic import make_scheme

X = np.random.default_rng(0).standard_normal((6, 9))
CASES = {
    "array": Covariance(make_scheme("F", 9, 0)),
    "rank one": Covariance(np.ones((4, 4))),
    "zero": Covariance(np.zeros((3, 3))),
    "ridge": Covariance(make_scheme("F", 9, 0), ridge=0.5),
    "wide": Covariance.from_data(X),
    "wide, with a ridge": Covariance.from_data(X, ridge=0.5),
    "tall": Covariance.from_data(X.T),
    "sparse": Covariance.from_data(scipy.sparse.csr_array(X * (X > 0))),
    "deflated": Covariance.from_data(X).deflated(np.eye(9)[0]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("least", [1, 3])
def test_the_factor_gives_back_the_covariance(case, least):
    A = CASES[case]
    Z, everything = factor_of(A, least) @ np.eye(A.size), A.submatrix(np.arange(A.size))
    assert Z.shape[0] >= least
    # the root of a rounding error of the eigenvalues, relative to the largest
    assert np.allclose(Z.T @ Z, everything, rtol=0, atol=1e-12 * max(1, everything.max()))


def test_wide_data_is_its_own_factor():
    assert factor_of(CASES["wide"]).shape == (6, 9)
    assert factor_of(CASES["tall"]).shape == (6, 6)
    assert factor_of(CASES["rank one"]).shape == (1, 4)


def test_too_few_samples_are_refused_only_where_no_matrix_may_be_formed():
    assert factor_of(CASES["wide"], 7).shape == (7, 9)
    wide = Covariance.from_data(np.random.default_rng(0).standard_normal((3, 1200)))
    with pytest.raises(ValueError, match="n=3 samples; m=4 components need as many"):
        factor_of(wide, 4)


@pytest.mark.parametrize("size", [5, 700])  # solved by LAPACK, and by iteration
def test_the_leading_eigenvector_on_some_rows(size):
    rng = np.random.default_rng(size)
    data = rng.standard_normal((30, 800)) * np.linspace(1, 3, 800)
    A = Covariance.from_data(data, center=False, divisor=1)
    rows = np.sort(rng.choice(800, size, replace=False))
    x = leading_on(factor_of(A), rows)
    assert not np.delete(x, rows).any()
    exact = np.linalg.svd(data[:, rows])[2][0]
    assert abs(exact @ x[rows]) == pytest.approx(1, abs=1e-9)  # residuals are within 1e-12
