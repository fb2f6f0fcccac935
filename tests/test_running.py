"""The run of a solver: budget, news, a bar, Ctrl-C, and what solvers that call solvers do."""

import builtins
import signal
import warnings
from pathlib import Path

import numpy as np
import pytest

from fspca import ConvergenceWarning, Covariance, SharedSupport, ipu
from fspca.plots import STYLES
from fspca.registry import SOLVERS
from fspca.shared_support.go import go
from fspca.shared_support.refit import solution_on
from fspca.solver import Bar, Progress, Run, solves
from fspca.synthetic import make_scheme

A = make_scheme("F", 12, 0)


def test_steps_are_counted_and_the_budget_is_kept():
    with Run(max_iter=5) as run:
        turns = [run.record(turn, turn) or turn for turn in run]
    assert turns == [1, 2, 3, 4, 5]
    assert run.facts == {"history": (1.0, 2.0, 3.0, 4.0, 5.0), "n_iter": 5, "stopped": "max_iter"}


def test_time_ends_a_run_only_when_it_has_an_answer():
    with Run(max_seconds=0) as run:
        for turn in run:
            if turn == 3:
                run.record(1.0, "first")
    assert (run.n_iter, run.stopped, run.seconds_left) == (3, "max_seconds", 0)
    assert Run().seconds_left is None


def test_the_best_is_kept_or_the_latest():
    for latest, kept in ((False, "b"), (True, "c")):
        run = Run(latest=latest)
        for value, answer in ((1, "a"), (3, "b"), (2, "c")):
            run.record(value, answer)
        assert (run.answer, run.history) == (kept, [1, 3, 2])


def test_bounds_only_fall_in_the_news():
    heard = []
    run = Run(progress=heard.append)
    for bound in (9.0, None, 12.0, 8.0):
        run.record(5.0, "x", bound)
    assert [each.bound for each in heard] == [9, 9, 9, 8]
    assert [each.step for each in heard] == [1, 2, 3, 4]


def broken(run, error, *, held):
    with run:
        if held:
            run.record(1.0, "x")
        raise error


def test_ctrl_c_before_there_is_anything_goes_on():
    with pytest.raises(KeyboardInterrupt):
        broken(Run(), KeyboardInterrupt, held=False)
    with pytest.raises(ZeroDivisionError):  # nothing else is taken for an end
        broken(Run(), ZeroDivisionError, held=True)
    broken(run := Run(), KeyboardInterrupt, held=True)
    assert run.stopped == "interrupted"


def test_ctrl_c_while_the_answer_is_put_together_keeps_it():
    run, tries = Run(), []

    def build():
        tries.append(1)
        if len(tries) == 1:
            raise KeyboardInterrupt
        return run.facts

    assert run.finish(build)["stopped"] == "interrupted"


def test_a_signal_ends_a_solver_with_what_it_has():
    events, before = [], signal.signal(signal.SIGINT, signal.default_int_handler)

    def listen(event):
        events.append(event)
        if len(events) == 2:
            signal.raise_signal(signal.SIGINT)

    try:  # a job in the background may have been told not to listen
        solution = ipu(A, 3, 5, init="random", n_starts=50, progress=listen)
    finally:
        signal.signal(signal.SIGINT, before)
    assert solution.stopped == "interrupted"
    assert solution.objective == pytest.approx(events[-1].objective)


def test_an_inner_solver_is_not_reported_and_its_ctrl_c_ends_the_outer_one():
    inner = []

    @solves(SharedSupport)
    def outer(A, m, k, *, max_iter=3):
        with Run(max_iter) as run:
            for turn in run:
                inner.append(run.adopt(go(A, m, k)))
                assert turn < 2 or pytest.fail("it went on")
                object.__setattr__(inner[-1], "stopped", "interrupted")
                run.adopt(inner[-1])
        return run.solution

    solution = outer(A, 2, 4)
    assert inner[0].seconds is None
    assert solution.seconds > 0
    assert (solution.stopped, len(inner)) == ("interrupted", 1)


def test_the_warning_points_at_the_line_that_called():
    @solves(SharedSupport)
    def hasty(A, m, k, *, max_iter=7):
        support = np.arange(k)
        return solution_on(A, SharedSupport(m, k), support, "hasty", stopped="max_iter")

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        hasty(A, 2, 4)
    assert told[0].category is ConvergenceWarning
    assert told[0].filename == __file__
    assert str(told[0].message) == "hasty stopped at max_iter=7 before it settled"


def test_a_penalty_is_taken_in_the_unit_of_the_covariance():
    seen = []

    @solves(SharedSupport, measured=("penalty",))
    def spy(A, m, k=None, *, penalty=None):
        seen.append((A.trace, k, penalty))
        return go(A, m, k or 3)

    spy(1e300 * A / np.trace(A), 2, penalty=1e299)
    assert seen[0][2] / seen[0][0] == pytest.approx(0.1)
    assert seen[0][1] is None
    spy(1e-300 * A / np.trace(A), 2, 3)
    assert seen[1][1:] == (3, None)


def test_a_bar_with_tqdm_and_without(monkeypatch, capsys):
    ipu(A, 3, 5, init="random", n_starts=3, progress=True)
    shown = capsys.readouterr().err
    assert "explains" in shown
    assert "step" in shown
    known = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("tqdm"):
            raise ImportError
        return known(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    solution = ipu(1e200 * A, 3, 5, init="random", n_starts=3, progress=True)
    shown = capsys.readouterr().err
    assert shown.endswith("\n")
    assert f"explains {solution.objective:.6g}" in shown


def test_a_bar_says_how_much_may_be_missing(monkeypatch, capsys):
    monkeypatch.setattr(Bar, "__init__", lambda self: vars(self).update(bar=None, unit=1.0))
    Bar()(Progress(3, 2.0, 2.5))
    assert capsys.readouterr().err == "\r3 steps, explains 2 of at most 2.5"


def test_a_covariance_gives_its_names_to_the_answer():
    named = Covariance(A)
    named.names = tuple("abcdefghijkl")
    assert go(named, 2, 4).names == named.names


def test_no_two_solvers_look_the_same():
    looks = [tuple(STYLES[name].values()) for name in SOLVERS if name in STYLES]
    assert len(set(looks)) == len(looks)


def test_a_ctrl_c_that_a_test_raises_fails_it_and_another_ends_the_session(pytestconfig):
    keys = {"raised": KeyboardInterrupt}
    plugins = pytestconfig.pluginmanager
    whole = plugins.get_plugin(str(Path(__file__).parents[1] / "conftest.py"))

    def raised():
        raise KeyboardInterrupt

    def pressed():
        raise keys["raised"]

    for press, ends in ((raised, AssertionError), (pressed, KeyboardInterrupt)):
        hook = whole.pytest_pyfunc_call()
        next(hook)
        with pytest.raises(KeyboardInterrupt) as interrupt:
            press()
        with pytest.raises(ends):
            hook.throw(interrupt.value)
