"""A proof goes into a file, and whoever has the table finds that it holds."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine

from fspca import Covariance, certify, go, solve, solve_nonnegative, solve_separate
from fspca.__main__ import main
from fspca.check_certificate import check
from fspca.nonnegative import branch_and_bound_nonnegative
from fspca.proof.claim_files import check_with_table

SOLVERS = {
    "shared": lambda A: certify(A, solve(A, 2, 4)),
    "tree": lambda A: solve(A, 2, 4, gap=0.0, max_iter=3),
    "factors": lambda A: solve_separate(A, 2, 3),
    "separate": lambda A: solve_separate(A, 2, 3, score="subspace"),
    "orthonormal": lambda A: solve_separate(A, 2, 3, orthonormal=True),
    "nonnegative": lambda A: solve_nonnegative(A, 2, 3, n_starts=3, max_iter=20),
    "nonnegative tree": lambda A: branch_and_bound_nonnegative(A, 1, 3, n_starts=3, max_iter=3),
}


def samples(n, d, seed=0):
    """Three strong factors of few features each, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    for j in range(3):
        X[:, 4 * j : 4 * j + 4] += (4 - j) * rng.standard_normal((n, 1))
    return X


def answer_of(solver, A):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of budgets: the proof is asked for, not the optimum
        return SOLVERS[solver](A)


@pytest.mark.parametrize("power", [-400, 0, 300])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_proof_of_a_matrix_goes_round(solver, power, tmp_path):
    A = np.cov(samples(40, 14).T) * 2.0**power
    A = (A + A.T) / 2
    path, answer = tmp_path / "proof.npz", answer_of(solver, A)
    answer.save_claim(path, A)
    verdict = check(path)
    assert verdict.holds, verdict.reason
    assert verdict.value == pytest.approx(answer.objective, rel=1e-8)
    assert check(path, A=A).holds
    assert "given" in check(path, A=2 * A).reason


@pytest.mark.parametrize("power", [-200, 0, 150])  # of data: of the covariance twice as much
@pytest.mark.parametrize("size", [(40, 14), (8, 520)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_proof_of_a_table_goes_round(solver, size, power, tmp_path):
    X = (samples(*size) + 3) * 2.0**power
    path, A = tmp_path / "proof.npz", Covariance.from_data(X)
    answer_of(solver, A).save_claim(path, A)
    with np.load(path) as file:
        assert ("X" in file) == (size[1] > 500)  # wide data give the factor
    assert check(path).holds
    assert check_with_table(path, X).holds
    X[0, 0] *= 1 + 1e-15
    with pytest.raises(ValueError, match="sha256 differs"):
        check_with_table(path, X)


def test_what_was_done_to_a_table_is_done_again(tmp_path):
    X, path = load_wine().data, tmp_path / "proof.npz"
    for done in ({"standardize": True}, {"center": False, "divisor": 1}, {"divisor": "n"}):
        A = Covariance.from_data(X, **done)
        certify(A, go(A, 1, 3)).save_claim(path, A)
        assert check_with_table(path, X).holds
    with np.load(path) as file:
        claim = dict(file)
    short = np.delete(np.delete(X, [3, 7], axis=0), [], axis=1)
    A = Covariance.from_data(short)
    certify(A, go(A, 1, 3)).save_claim(path, A)
    with np.load(path) as file:
        own = dict(file)
    own |= {"table_rows_left_out": np.array([3, 7]), "table_sha256": claim["table_sha256"]}
    np.savez(path, **own)
    assert check_with_table(path, X).holds
    np.savez(path, **own | {"table_rows_left_out": np.array([3, 8])})
    with pytest.raises(ValueError, match="not that of the table"):
        check_with_table(path, X)
    np.savez(path, **own | {"table_rotated": True})
    with pytest.raises(ValueError, match="rotated, which this version cannot repeat"):
        check_with_table(path, X)
    np.savez(path, **own | {"table_weights": np.ones(3)})
    with pytest.raises(ValueError, match="weights are not as many as the table's rows"):
        check_with_table(path, X)
    np.savez(path, **own | {"table_weights": 1.0 + (np.arange(len(X)) % 2)})
    with pytest.raises(ValueError, match="not that of the table"):
        check_with_table(path, X)
    np.savez(path, **{name: x for name, x in own.items() if name != "A"})
    assert check_with_table(path, X).holds


@pytest.mark.parametrize("standardize", [False, True])
def test_what_is_said_of_the_making_must_agree_with_the_claim(standardize, tmp_path):
    X, path = samples(40, 14), tmp_path / "proof.npz"
    for lacking in (False, True):
        X[0, 0] = np.nan if lacking else 1.0
        A = Covariance.from_data(X, standardize=standardize, missing="mean")
        certify(A, go(A, 1, 3)).save_claim(path, A)
        assert check_with_table(path, X, standardize=standardize, missing="mean").holds
        with pytest.raises(ValueError, match=f"standardize={not standardize}: the claim is of a"):
            check_with_table(path, X, standardize=not standardize)
        if lacking:
            with pytest.raises(ValueError, match="missing='em': .* with missing='mean'"):
                check_with_table(path, X, missing="em")
        else:  # a table without missing values is the same in any way
            assert check_with_table(path, X, missing="em").holds


@pytest.mark.parametrize("missing", ["drop", "mean", "em"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_weights_and_filled_values_are_said_and_repeated(missing, weighted, standardize, tmp_path):
    X, path = samples(40, 14), tmp_path / "proof.npz"
    X[np.arange(0, 40, 6), np.arange(7)] = np.nan
    weights = np.arange(40) % 4 if weighted else None
    given = {"missing": missing, "sample_weight": weights, "standardize": standardize}
    A = Covariance.from_data(X, **given)
    certify(A, go(A, 1, 3)).save_claim(path, A)
    with np.load(path) as file:
        assert ("table_missing" in file) == (missing != "drop")
        assert ("table_weights" in file) == weighted
        assert len(file["table_rows_left_out"]) == (7 if missing == "drop" else 0)
    signed = np.where(np.isnan(X), -np.nan, X)  # the bits of what is missing do not matter
    assert check_with_table(path, signed).holds
    X[1, 0] *= 2
    with pytest.raises(ValueError, match="sha256 differs"):
        check_with_table(path, X)


def test_a_proof_of_another_matrix_is_not_that_of_the_table(tmp_path):
    X, path = load_wine().data, tmp_path / "proof.npz"
    A = Covariance.from_data(X)
    certify(A, go(A, 1, 3)).save_claim(path, A)
    with np.load(path) as file:
        own = dict(file)
    other = np.diag(np.diag(own["A"]))
    claim = certify(other, go(other, 1, 3)).certificate
    np.savez(path, **{x: own[x] for x in own if x[:6] == "table_"}, **claim, A=other)
    assert check(path).holds
    with pytest.raises(ValueError, match="not that of the table"):
        check_with_table(path, X)


def test_what_cannot_be_saved_is_said(tmp_path):
    A, path = np.diag([3.0, 2.0, 1.0]), tmp_path / "proof.npz"
    with pytest.raises(ValueError, match="no certificate to save"):
        go(A, 1, 2).save_claim(path, A)
    proven = certify(A, go(A, 1, 2))
    with pytest.raises(ValueError, match=r"must end in \.npz"):
        proven.save_claim(tmp_path / "proof", A)
    with pytest.raises(ValueError, match="not the matrix of this certificate"):
        proven.save_claim(path, A[::-1, ::-1])
    assert not path.exists()


@pytest.mark.parametrize("scale", [[], ["--scale"]])
def test_the_command_line_writes_a_proof_and_checks_it(scale, tmp_path, capsys):
    table, proof = tmp_path / "wine.csv", tmp_path / "proof.npz"
    np.savetxt(table, load_wine().data, delimiter=",")
    main(["select", str(table), "-m", "1", "-k", "4", "--proof", str(proof), *scale])
    for more in ([], ["--data", str(table)], ["--exact"]):
        main(["check", str(proof), *more])
        assert "holds" in capsys.readouterr().out
    np.savetxt(table, load_wine().data[::-1], delimiter=",")
    with pytest.raises(SystemExit) as end:
        main(["check", str(proof), "--data", str(table)])
    assert end.value.code == 1
