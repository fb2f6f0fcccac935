"""Features that must be in and that must not: equal to enumeration, and their proofs checked."""

from dataclasses import replace

import numpy as np
import pytest
from test_check_certificate import best_of, random_problem

from fspca import certify, exhaustive, solve, upper_bound
from fspca.check_certificate import check
from fspca.proof.bounds import METHODS
from fspca.shared_support import swap
from fspca.synthetic import make_scheme

PROOF = 2e-9  # twice the relative gap at which a bound counts as reached
ROUNDING = 1e-12  # of the enumeration that all are held to
HERE, NIGHT = 16, 2000


def constrained(seed):
    """A problem, features that must be in and that must not, and its optimum by enumeration.

    Three of four are small and of any rank, scale and ties; the fourth has no drop in its
    spectrum, so that the search has to divide.
    """
    rng = np.random.default_rng([seed, 15])
    if seed % 4:
        A, m, k = random_problem(rng)
    else:
        d, m = int(rng.integers(8, 13)), int(rng.integers(1, 4))
        A, k = make_scheme("DEF"[seed // 4 % 3], d, seed), int(rng.integers(m, d + 1))
    order = rng.permutation(len(A))
    inside, outside = rng.integers(0, [k + 1, len(A) - k + 1])
    sides = {"required": order[:inside].tolist(), "forbidden": order[len(A) - outside :].tolist()}
    return A, m, k, sides, best_of(A, m, k, **sides)[0]


def answers(A, m, k, sides):
    """(answer, whether it must be the best, whether it must be proven) of every door."""
    swapped = swap(A, m, k, **sides)
    yield exhaustive(A, m, k, **sides), True, False
    yield solve(A, m, k, **sides, gap=0.0), True, True
    yield solve(A, m, k, **sides), False, True
    yield swapped, False, False
    yield certify(A, swapped, max_iter=60), False, True


def faults(A, sides, optimum, answer, best, proven):
    """What is wrong with an answer: with its support, its value, its bound or its proof."""
    chosen, found = set(answer.support.tolist()), []
    if not set(sides["required"]) <= chosen or chosen & set(sides["forbidden"]):
        found.append("support")
    least = (1 - PROOF if best else 0) * optimum
    if not least <= answer.objective <= (1 + ROUNDING) * optimum:
        found.append("value")
    if answer.upper_bound is not None and answer.upper_bound < (1 - ROUNDING) * optimum:
        found.append("bound")
    if proven and not (answer.certificate and check(answer.certificate | {"A": A}).holds):
        found.append("proof")
    return found


def all_faults(seeds):
    for seed in seeds:
        A, m, k, sides, optimum = constrained(seed)
        for answer, *wanted in answers(A, m, k, sides):
            for fault in faults(A, sides, optimum, answer, *wanted):
                yield seed, answer.solver, fault
        for method in METHODS:
            found = upper_bound(A, m, k, method=method, max_iter=20, **sides)
            if found.bound < (1 - ROUNDING) * optimum:
                yield seed, method, "bound"


def test_constrained_answers_are_those_of_enumeration_and_their_proofs_are_taken():
    assert not list(all_faults(range(HERE)))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, NIGHT, 500))
def test_constrained_answers_of_two_thousand_problems(first, record_property):
    record_property("instances", 500)
    assert not list(all_faults(range(first, first + 500)))


def test_what_forgets_a_constraint_is_seen():
    """An answer without the constraints, its bound, and its proof under the true ones."""
    seen = set()
    for seed in range(HERE):
        A, m, k, sides, optimum = constrained(seed)
        free = solve(A, m, k, gap=0.0)
        named = {name: np.array(each, dtype=int) for name, each in sides.items()}
        forged = replace(free, certificate=free.certificate | named)
        seen |= set(faults(A, sides, optimum, forged, True, True))
        fewer = [*sides["forbidden"], *best_of(A, m, k, **sides)[1].tolist()]
        if len(A) - len(fewer) >= k and not sides["required"]:
            low = upper_bound(A, m, k, forbidden=fewer).bound
            seen |= set(faults(A, sides, optimum, replace(free, upper_bound=low), True, False))
    assert seen == {"support", "value", "bound", "proof"}


def test_one_support_that_is_left_is_proven():
    """All of k required, and more allowed; or nothing but what is required."""
    A = make_scheme("F", 6, 0)
    for forbidden in ((), (4, 5), (3, 4, 5)):
        sides = {"required": (0, 1, 2), "forbidden": forbidden}
        for found in (solve(A, 1, 3, **sides, gap=0.0), solve(A, 1, 3, **sides)):
            assert found.support.tolist() == [0, 1, 2]
            assert check(found.certificate | {"A": A}).holds
        assert solve(A, 1, 3, **sides, gap=0.0).gap <= PROOF
        assert upper_bound(A, 1, 3, **sides).bound >= exhaustive(A, 1, 3, **sides).objective
