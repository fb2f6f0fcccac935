"""Every solver on instances that hypothesis draws, a stranger's too, and who breaks a rule."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import fspca.testing
from fspca import SOLVERS, Nonnegative, SharedSupport, ipu
from fspca.covariance import as_covariance
from fspca.covariance.linalg import TIE
from fspca.nonnegative import em
from fspca.shared_support import cssp
from fspca.shared_support.refit import refit
from fspca.testing import REFUSED, Case, check_case, check_solver, check_threads, ways

# Some take a tenth of a second for an instance: theirs are smaller, one in ten asked in two ways.
SLOW = {"sadmm", "sadmm, deflated", "manpg", "nspca", "solve", "solve_separate",
        "two_stage", "two_stage, refitted"}  # fmt: skip
SAVING = {"compared": 10, "largest": 3}


def low_rank(A, m, k):
    values = np.linalg.eigvalsh(A)[::-1]
    return k == m or values[m] <= TIE * values[0]


def one_of_low_rank(A, m, k):
    return m == 1 and (len(A) <= 3 or np.linalg.eigvalsh(A)[-4] <= TIE * np.trace(A))


def flat_below(A, m, k):
    values = np.linalg.eigvalsh(A)[::-1]
    return k == m or values[m] - values[-1] <= TIE * values[0]


# When the registry's words promise the optimum of those that are not exact in general.
EXACT_WHEN = {
    "go": low_rank,
    "ipu": low_rank,
    "go, shifted": flat_below,
    "spannogram": one_of_low_rank,
}


def conforms(name, n_instances, **saving):
    exact_when = EXACT_WHEN.get(name)
    tried = check_solver(SOLVERS[name], n_instances=n_instances, exact_when=exact_when, **saving)
    assert tried.total() >= n_instances
    return tried


@pytest.mark.parametrize("name", SOLVERS)
def test_conforms(name):
    conforms(name, 50, **SAVING) if name in SLOW else conforms(name, 100)


FOUND_BY_NIGHT = {  # and mended since
    "inverse_power": Case("covariance again", "opposites", 1.0, 3, 2, 1, 124),
    "ipu from random starts": Case("covariance g", "far apart", 4.0**-498, 5, 2, 2, 2),
    "fantope": Case("shifted", "spectrum", 1.0, 6, 2, 6, 1974),
}


@pytest.mark.parametrize("name", FOUND_BY_NIGHT)
def test_what_a_night_found_stays_mended(name):
    check_case(SOLVERS[name], FOUND_BY_NIGHT[name])


@pytest.mark.nightly
@pytest.mark.parametrize("name", SOLVERS)
def test_conforms_by_night(name, record_property):
    tried = conforms(name, 500, **({"compared": 10} if name in SLOW else {}))
    record_property("instances", tried.total())
    assert tried.keys() == ways(SOLVERS[name]).keys()


@pytest.mark.nightly
@pytest.mark.parametrize("name", SOLVERS)
def test_two_threads_give_the_answer_of_one(name):
    check_threads(SOLVERS[name])


def plainly(A, m, k):
    """A stranger's: the features of largest variance, and loadings only."""
    A = as_covariance(A)
    asked = SharedSupport(m, k).fit(A.size)
    scores = A.diagonal() / (A.diagonal().max() or 1.0)
    rows = np.sort(np.argsort(-np.round(scores, 9), kind="stable")[: asked.k])
    vectors = np.linalg.eigh(A.submatrix(rows) / (A.diagonal().max() or 1.0))[1]
    W = np.zeros((A.size, asked.m))
    W[rows] = vectors[:, : -asked.m - 1 : -1]
    return W


def test_a_strangers_function_conforms():
    assert check_solver(plainly).total() >= 100
    assert check_solver(lambda A, m, k: em(A, m, k, n_starts=1), Nonnegative).total() >= 100


def spoiled(change):
    """IPU with its answer changed, as a row of the registry."""

    def function(A, m, k):
        return change(ipu(A, m, k), as_covariance(A), m, k)

    return replace(SOLVERS["ipu"], name="saboteur", function=function, options={})


def asking(function):
    return replace(SOLVERS["ipu"], name="saboteur", function=function, options={})


def by_chance(A, m, k):
    solution = ipu(A, m, k)
    return replace(solution, W=solution.W * np.random.default_rng().choice([-1.0, 1.0]))


def by_layout(A, m, k):
    solution = ipu(A, m, k)
    swapped = isinstance(A, np.ndarray) and A.strides[0] < A.strides[1]
    return replace(solution, W=-solution.W) if swapped else solution


def writing(A, m, k):
    solution = ipu(A, m, k)
    if isinstance(A, np.ndarray) and A.flags.writeable and A.dtype.kind == "f":
        A *= 1.5
    return solution


def in_eight_bits(A, m, k):
    solution = ipu(A, m, k)
    k * k * type(k)(50)
    return solution


def dividing(A, m, k):
    solution = ipu(A, m, k)
    as_covariance(A).diagonal() / as_covariance(A).diagonal()
    return solution


def squaring(A, m, k):
    np.square(as_covariance(A).diagonal())
    return ipu(A, m, k)


def inverting(A, m, k):
    solution = ipu(A, m, k)
    np.linalg.cholesky(as_covariance(A).submatrix(solution.support))
    return solution


def beyond(A, m, k):
    solution = ipu(A, m, k)
    as_covariance(A).diagonal()[solution.support[-1] + 1]
    return solution


def for_arrays(A, m, k):
    return ipu(A, m, len(A) and k)


def in_one_unit(A, m, k):
    A, m, k = as_covariance(A), int(m), ipu(A, m, k).problem.k
    scores = np.round(A.diagonal(), 3)
    return refit(A, np.sort(np.argsort(-scores, kind="stable")[:k]), m)[0]


def first_ones(A, m, k):
    A, m, k = as_covariance(A), int(m), ipu(A, m, k).problem.k
    return refit(A, np.arange(k), m)[0]


def by_ratio(A, m, k):
    A, m, k = as_covariance(A), int(m), ipu(A, m, k).problem.k
    if not A.trace:
        return ipu(A, m, k).W
    columns = np.linalg.norm(A.submatrix(np.arange(A.size)) / A.trace, axis=0)
    scores = (A.diagonal() / A.trace) / np.maximum(columns, 1e-12)
    return refit(A, np.sort(np.argsort(-np.round(scores, 9), kind="stable")[:k]), m)[0]


def halves(A, m, k):
    return ipu(A, m, int(k))


def fallen(solution, A, m, k):
    return replace(solution, history=(2 * solution.objective, solution.objective))


SABOTEURS = {
    "another answer|unreliable results": asking(by_chance),
    "another answer": asking(by_layout),
    "the input was changed": asking(writing),
    "overflow": asking(in_eight_bits),
    "invalid value": asking(dividing),
    "overflow encountered in square": asking(squaring),
    "not positive definite": asking(inverting),
    "out of bounds": asking(beyond),
    "no len": asking(for_arrays),
    "another objective": asking(in_one_unit),
    "another objective than": asking(first_ones),
    "half a feature is taken": asking(halves),
    "history falls": spoiled(fallen),
    "columns of W do not have unit": spoiled(lambda s, *_: replace(s, W=1.1 * s.W)),
    "as claimed": spoiled(lambda s, *_: replace(s, objective=1.1 * s.objective)),
    "a bound below": spoiled(lambda s, *_: replace(s, upper_bound=s.objective)),
    "below the optimum": replace(SOLVERS["cssp"], name="saboteur", guarantee="exact"),
    "(other features|another objective)": replace(asking(by_ratio), promises="shift"),
}


@pytest.mark.parametrize("message", SABOTEURS)
def test_who_breaks_a_rule_is_caught(message):
    with pytest.raises(Exception, match=message):
        check_solver(SABOTEURS[message], n_instances=400)


@pytest.mark.parametrize("what", REFUSED)
def test_who_takes_what_makes_no_sense_is_caught(what):
    def taking(A, m, k):
        same = partial(np.array_equal, equal_nan=True)
        return None if all(map(same, (A, m, k), REFUSED[what])) else ipu(A, m, k)

    with pytest.raises(AssertionError, match=f"{what} is taken"):
        check_solver(taking, n_instances=1)


def test_who_refuses_by_another_error_is_caught():
    def dividing_by_none(A, m, k):
        return ipu(A, m, k) if m else 1 / m

    with pytest.raises(ZeroDivisionError):
        check_solver(dividing_by_none, n_instances=1)


def test_who_promises_the_optimum_of_some_and_misses_it_is_caught():
    check_solver(SOLVERS["cssp"], n_instances=400)
    with pytest.raises(AssertionError, match="below the optimum"):
        check_solver(SOLVERS["cssp"], n_instances=400, exact_when=low_rank)


def test_an_optimum_that_an_answer_exceeds_is_caught(monkeypatch):
    def missed(case, problem):
        return None, cssp(case.A, problem.m, problem.k).objective

    monkeypatch.setattr(fspca.testing, "optimum", missed)
    with pytest.raises(AssertionError, match="above the optimum"):
        check_solver(SOLVERS["ipu"], n_instances=400)


def test_two_threads_that_disagree_are_caught():
    turns = iter((1.0, 1.1))

    class Answer:
        objective = property(lambda self: next(turns))

    with pytest.raises(AssertionError, match="by one thread and by two"):
        check_threads(lambda A, m, k: Answer(), d=5)
