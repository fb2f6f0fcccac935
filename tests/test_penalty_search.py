"""The search for a penalty: hits what can be hit, and says what it did where it cannot."""

import numpy as np
import pytest

from fspca.separate_supports.penalty_search import penalty_search

sizes = np.array([5.0, 4.0, 2.0, 2.0, 1.0])


def above(penalty, start):
    return (sizes > penalty).sum(), sizes > penalty


@pytest.mark.parametrize("k", [1, 2, 4, 5])
def test_a_count_that_exists_is_hit(k):
    penalty, kept, hit = penalty_search(above, k, 0.0, 100.0)
    assert hit
    assert kept.sum() == (sizes > penalty).sum() == k


def test_a_jump_gives_the_next_larger_set():
    _, kept, hit = penalty_search(above, 3, 0.0, 100.0)  # 2, or with the tie 4
    assert not hit
    assert kept.sum() == 4


def test_too_few_everywhere_gives_the_closest():
    penalty, kept, hit = penalty_search(above, 7, 0.0, 100.0)
    assert not hit
    assert kept.sum() == 5
    assert penalty < 1


def test_penalties_are_bisected_side_by_side():
    def both(penalty, start):
        return (sizes[:, None] * [1, 10] > penalty).sum(axis=0), None

    penalty, _, hit = penalty_search(both, 2, np.zeros(2), np.full(2, 100.0))
    assert hit
    assert 2 <= penalty[0] < 4
    assert 20 <= penalty[1] < 40


def test_starts_come_from_smaller_penalties():
    seen = []

    def run(penalty, start):
        assert start is None or start < penalty
        seen.append(penalty)
        return (sizes > penalty).sum(), penalty

    penalty_search(run, 1, 0.0, 100.0)
    assert len(seen) > 3
