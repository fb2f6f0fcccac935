"""Whatever is wrong is said before any work: the argument, its value and the rule.

All solvers have one way in, `fspca.solver.solves`, so each kind of input is tried once, on Go;
that no solver has another way in, tests/test_conformance.py asks of each.
"""

import numpy as np
import pytest
import scipy.sparse

from fspca import (
    SOLVERS,
    Covariance,
    Nonnegative,
    SeparateSupports,
    SharedSupport,
    check_solution,
    exhaustive,
    go,
    ipu,
)
from fspca.metrics import subspace_distance
from fspca.problem import objective
from fspca.separate_supports import tpower
from fspca.shared_support import fantope, greedy_tpower, soap
from fspca.synthetic import make_scheme, make_spiked, with_spectrum

EYE = np.eye(4)
NAN = np.where(EYE > 0, np.nan, 0.0)
BAD_MATRICES = {
    "not square": (np.ones((3, 4)), ValueError, r"shape \(3, 4\).*square"),
    "a vector": (np.ones(4), ValueError, r"shape \(4,\)"),
    "empty": (np.empty((0, 0)), ValueError, r"shape \(0, 0\)"),
    "not symmetric": (np.triu(np.ones((4, 4))) + EYE, ValueError, r"A\[0, 1\]=1 .*symmetric"),
    "indefinite": (np.diag([1.0, 1, 1, -0.1]), ValueError, "eigenvalue -0.1.*semidefinite"),
    "zero diagonal": (1.0 - EYE, ValueError, "eigenvalue -1.*semidefinite"),
    "indefinite beside a large variance": (np.diag([1e10, 1, -50.0]), ValueError, "eigenvalue -50"),
    "asymmetric beside a large variance": (
        np.array([[1e10, 0, 0], [0, 1, 0.9], [0, 0.1, 1]]),
        ValueError,
        "must be symmetric",
    ),
    "indefinite in float32": (np.diag([1, 1, -1e-3]).astype(np.float32), ValueError, "-0.001"),
    "too large": (1e308 * EYE, ValueError, "overflows"),
    "negative": (-EYE, ValueError, "eigenvalue -1.*semidefinite"),
    "NaN": (NAN, ValueError, r"A holds nan at \(0, 0\).*finite"),
    "infinite": (np.diag([1.0, 1, 1, np.inf]), ValueError, "finite"),
    "complex": (EYE.astype(complex), TypeError, "complex128.*real"),
    "objects": (EYE.astype(object), TypeError, "object.*real"),
    "truth values": (EYE.astype(bool), TypeError, "bool.*real"),
    "text": ([["a", "b"], ["c", "d"]], TypeError, "real"),
    "masked": (np.ma.masked_equal(EYE, 1), TypeError, "masked"),
    "sparse": (scipy.sparse.eye_array(4), TypeError, r"sparse.*toarray"),
}


@pytest.mark.parametrize("kind", BAD_MATRICES)
def test_bad_covariance(kind):
    A, error, message = BAD_MATRICES[kind]
    with pytest.raises(error, match=message):
        go(A, 1, 2)


@pytest.mark.parametrize(
    ("m", "k", "error", "message"),
    [
        (0, 2, ValueError, "m=0 must be at least 1"),
        (-1, 2, ValueError, "m=-1 must be at least 1"),
        (3, 2, ValueError, "k=2 must lie between m=3 and d=4"),
        (2, 5, ValueError, "k=5 must lie between m=2 and d=4"),
        (2.0, 3, TypeError, "m=2.0 must be an integer"),
        (2, "3", TypeError, "k='3' must be an integer"),
        (2, None, TypeError, "k=None must be an integer"),
        (True, 3, TypeError, "m=True must be an integer"),
    ],
)
def test_bad_m_or_k(m, k, error, message):
    with pytest.raises(error, match=message):
        go(EYE, m, k)


def test_bad_m_or_k_of_the_other_problems():
    with pytest.raises(ValueError, match="k=5 must lie between 1 and d=4"):
        SOLVERS["tpower"](EYE, 2, 5)
    with pytest.raises(ValueError, match="k=5 must lie between 1 and d=4"):
        Nonnegative(1, 5).fit(4)
    with pytest.raises(ValueError, match="m=5 must lie between 1 and d=4"):
        SeparateSupports(m=5, k=2).fit(4)
    with pytest.raises(TypeError, match=r"k=1\.5 must be an integer"):
        Nonnegative(1, 1.5)
    assert SharedSupport(np.int64(1), np.int64(2)) == SharedSupport(1, 2)


def test_rounding_is_forgiven():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 40)).astype(np.float32)
    go(np.cov(X.T), 2, 5)  # singular: eigenvalues of about -1e-15
    go(X.T @ X, 2, 5)  # float32: of about -1e-6
    go(np.eye(4) + 1e-12 * np.triu(np.ones((4, 4))), 2, 3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Covariance(EYE, ridge=-1), ValueError, "ridge=-1 must be finite and at least 0"),
        (lambda: Covariance(EYE, ridge=np.nan), ValueError, "ridge=nan must be finite"),
        (lambda: Covariance(EYE, ridge="a"), TypeError, "ridge='a' must be a number"),
        (lambda: Covariance.from_data(EYE[:1]), ValueError, "n=1 samples.*need at least 2"),
        (lambda: Covariance.from_data(EYE[:0]), ValueError, r"shape \(0, 4\)"),
        (
            lambda: Covariance.from_data(NAN),
            ValueError,
            "X holds NaN.* in column 0",
        ),
        (lambda: Covariance.from_data(scipy.sparse.csr_array(NAN)), ValueError, "X holds NaN"),
        (lambda: Covariance.from_data(EYE, divisor="n-2"), ValueError, "divisor='n-2' must be"),
        (lambda: Covariance.from_data(EYE, center="yes"), TypeError, "center='yes' must be True"),
        (lambda: Covariance.from_data(EYE.astype(complex)), TypeError, "X has dtype complex"),
        (lambda: Covariance.from_data(EYE * 1e200), ValueError, "too large"),
        (lambda: Covariance(np.ones((4, 9))), ValueError, "for data: Covariance.from_data"),
        (lambda: check_solution(EYE, EYE[:, :2]), TypeError, "problem=None: an array W"),
        (lambda: objective(EYE, np.ones((5, 2))), ValueError, r"shape \(5, 2\).*d=4 rows"),
        (lambda: Covariance(EYE.astype("m8[s]")), TypeError, "dtype timedelta64.*real"),
        (lambda: make_spiked(9, 5, 1, 2, strength=-3), ValueError, "strength=-3 must be finite"),
        (lambda: with_spectrum([np.nan, 1], 0), ValueError, "spectrum holds nan"),
        (lambda: with_spectrum([1, -1], 0), ValueError, "spectrum holds -1"),
        (lambda: exhaustive(EYE, 1, 2, seed=0), TypeError, "seed"),
        (lambda: ipu(EYE, 1, 2, seed="a"), ValueError, "seed='a' must be None, an integer"),
        (lambda: ipu(EYE, 1, 2, seed=-1), ValueError, "seed=-1 must be None, an integer"),
        (lambda: ipu(EYE, 1, 2, max_seconds=-1), ValueError, "max_seconds=-1 must be finite"),
        (lambda: ipu(EYE, 1, 2, progress="bar"), TypeError, "progress='bar' must be None, True"),
        (lambda: ipu(EYE, 1, 2, "go"), TypeError, "too many positional"),
        (lambda: subspace_distance(EYE, EYE, norm="fro"), ValueError, "norm='fro' must be one of"),
        (lambda: subspace_distance(EYE, EYE[:, :2]), ValueError, r"V \(4, 2\); they must be"),
        (lambda: make_scheme("E", basis="qr"), ValueError, "basis='qr' must be one of"),
        (lambda: Covariance(EYE).shifted(-5), ValueError, "sigma=-5 must be finite and leave no"),
        (lambda: Covariance(EYE).shifted(np.nan), ValueError, "sigma=nan must be finite"),
        (lambda: Covariance(EYE).deflated([5, 0, 0, 0]), ValueError, "length 5; it must be a unit"),
        (lambda: Covariance(EYE).deflated([np.nan] * 4), ValueError, "it must be a unit vector"),
        (lambda: Covariance(EYE).submatrix([-1]), ValueError, "must be features between 0 and 3"),
        (lambda: Covariance(EYE).product(EYE[:1], [4]), ValueError, "features between 0 and 3"),
        (lambda: Covariance(1e-310 * EYE), ValueError, "below the smallest normal number"),
        (lambda: Covariance.from_data(1e-160 * EYE), ValueError, "whose squares are below"),
        (
            lambda: Covariance.from_data(scipy.sparse.csr_array(1e-160 * EYE)),
            ValueError,
            "whose squares are below",
        ),
        (lambda: Covariance(EYE).restricted([7]), ValueError, "features between 0 and 3"),
        (lambda: Covariance(EYE).restricted([1, 1]), ValueError, "must be different features"),
        (lambda: Covariance(EYE).leading(7), ValueError, "m=7 must lie between 1 and d=4"),
        (lambda: go(EYE, 1, 2, shift="no"), TypeError, "shift='no' must be True or False"),
        (lambda: ipu(EYE, 1, 2, init="best"), ValueError, "init='best' must be one of 'go'"),
        (lambda: ipu(EYE, 1, 2, init=np.ones((4, 2))), ValueError, r"\(4, 2\).*must be \(4, 1\)"),
        (lambda: ipu(EYE, 1, 2, init=NAN[:, :1]), ValueError, "init holds nan at"),
        (lambda: ipu(EYE, 1, 2, n_starts=0), ValueError, "n_starts=0 must be at least 1"),
        (lambda: ipu(EYE, 1, 2, max_iter=1.5), TypeError, "max_iter=1.5 must be an integer"),
        (lambda: fantope(EYE, 1, 2, penalty=-1.0), ValueError, "penalty=-1.0 must be finite"),
        (lambda: fantope(EYE, 1, 2, tol="x"), TypeError, "tol='x' must be a number"),
        (lambda: fantope(EYE, 1, 2, max_iter=0), ValueError, "max_iter=0 must be at least 1"),
        (lambda: tpower(EYE, 1, 2, max_iter=0), ValueError, "max_iter=0 must be at least 1"),
        (lambda: greedy_tpower(EYE, 1, 2, max_iter=1.5), TypeError, "max_iter=1.5 must be an int"),
        (lambda: soap(EYE, 1, 2, init="best"), ValueError, "init='best' must be one of 'go'"),
        (lambda: SOLVERS["exhaustive"](np.eye(60), 2, 30), ValueError, "1.18e.17 supports.*ipu"),
    ],
)
def test_bad_options(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, np.float32, scipy.sparse.csr_array])
def test_a_missing_entry_is_refused_with_its_column_whatever_is_asked(center, standardize, kind):
    X = np.random.default_rng(0).standard_normal((20, 6))
    X[3, 4] = np.nan
    X = X.astype(kind) if kind is np.float32 else kind(X)
    with pytest.raises(ValueError, match="column 4"):
        Covariance.from_data(X, center=center, standardize=standardize)
