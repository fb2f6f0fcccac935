"""How every solver runs: one way in, one budget, one kind of news, an end that loses nothing."""

import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from inspect import signature
from time import perf_counter
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from fspca.covariance import Covariance, Matrix, as_covariance
from fspca.covariance.validate import (
    checked_count,
    checked_jobs,
    checked_nonnegative,
    checked_seed,
    needed,
    numbered,
)
from fspca.problem import CUT_SHORT, ConvergenceWarning


class Progress(NamedTuple):
    """News of a run: how many so far, what stopping now would explain, the least bound known.

    It is what a function given as `progress` gets, one for each step.

    Parameters
    ----------
    step : int
        The number of this news.
    objective : float
        What the best answer so far explains.
    bound : float
        What no answer exceeds, where that is known.

    See Also
    --------
    fspca.Solution : What comes at the end.

    Examples
    --------
    >>> import numpy as np
    >>> from fspca import go, ipu
    >>> told = []
    >>> answer = ipu(np.diag([3.0, 2.0, 1.0]), m=1, k=2, progress=told.append)
    >>> told[-1].objective == answer.objective
    True
    """

    step: int
    objective: float
    bound: float | None = None

    def times(self, unit):
        """Return the same, of a covariance in another unit."""
        bound = None if self.bound is None else unit * self.bound
        return Progress(self.step, unit * self.objective, bound)


Listener = Callable[[Progress], object] | bool  # what `progress` may be, beside None


class Bar:
    """Shows the news on one line: tqdm's where it is installed."""

    def __init__(self, unit=1.0):
        self.unit = unit
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self.bar = None
        else:
            self.bar = tqdm(unit="step")

    def __call__(self, news):
        news = news.times(self.unit)
        bound = "" if news.bound is None else f" of at most {news.bound:.6g}"
        text = f"explains {news.objective:.6g}{bound}"
        if self.bar is None:
            print(f"\r{news.step} steps, {text}", end="", file=sys.stderr, flush=True)
        else:
            self.bar.set_postfix_str(text, refresh=False)
            self.bar.update(news.step - self.bar.n)

    def close(self):
        """Leave the line."""
        if self.bar is None:
            print(file=sys.stderr)
        else:
            self.bar.close()


P = ParamSpec("P")  # a solver is called as it is written,
R = TypeVar("R")  # and gives the same
DECLARED: dict[Callable, dict] = {}  # what each solver may be relied on for, in its own words
INSIDE = ContextVar("INSIDE", default=False)  # whether a solver was called by a solver


def heard(progress, news):
    """Tell somebody; one who returns False, or fails, ends the run as a Ctrl-C does.

    What fails is warned of and not raised, so that a fault in a picture costs no answer.
    """
    try:
        wanted = progress(news)
    except Exception as error:
        warnings.warn(f"progress failed with {error!r}: the run ends there", stacklevel=2)
        wanted = False
    if wanted is False:
        raise KeyboardInterrupt


class Run:
    """Counts steps, watches the budget, keeps what was found, and takes a Ctrl-C for an end.

    Iterate over it within its `with`: a step is what comes before the next turn.  `record` notes
    the objective and the answer after a step, `stop` says why to end.  Once something is kept,
    a KeyboardInterrupt within the `with` ends it as "interrupted"; before that it goes on.

    Parameters
    ----------
    max_iter : int
        Steps at most; None for any number.
    max_seconds : float
        Seconds at most, once something is kept; None for any number.
    progress : bool or callable
        Who is told: True shows a bar, a function gets a `Progress`; where that returns False or
        fails, it is as if a Ctrl-C came.
    latest : bool
        Whether the last answer kept is the one that counts, and not the best.

    See Also
    --------
    solves : The other half of how every solver runs.

    Examples
    --------
    >>> with Run(max_iter=9) as run:
    ...     for step in run:
    ...         run.record(min(step, 3), f"answer {step}")
    ...         if step == 4:
    ...             run.stop("no gain")
    >>> run.answer, run.value, run.facts["stopped"], run.facts["history"]
    ('answer 3', 3.0, 'no gain', (1.0, 2.0, 3.0, 3.0))
    >>> with Run(progress=print) as run:
    ...     for step in run:
    ...         run.record(7.5, "good enough", bound=8)
    ...         raise KeyboardInterrupt
    Progress(step=1, objective=7.5, bound=8)
    >>> run.answer, run.stopped
    ('good enough', 'interrupted')
    """

    def __init__(self, max_iter=None, max_seconds=None, progress=None, latest=False):
        self.max_iter, self.latest = max_iter, latest
        self.ends = None if max_seconds is None else perf_counter() + max_seconds
        self.progress = Bar() if progress is True else progress
        self.answer, self.value, self.bound = None, -np.inf, None
        self.history, self.n_iter, self.stopped, self.told = [], 0, None, 0
        self.work, self.spent = np.inf, 0.0

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if isinstance(self.progress, Bar):
            self.progress.close()
        if kind is KeyboardInterrupt and self.answer is not None:
            self.stopped = "interrupted"
            return True

    def __iter__(self):
        while self.stopped is None:
            if self.n_iter == self.max_iter:
                self.stopped = "max_iter"
            elif self.seconds_left == 0 and self.answer is not None:
                self.stopped = "max_work" if self.spent >= self.work else "max_seconds"
            else:
                self.n_iter += 1
                yield self.n_iter

    @property
    def seconds_left(self):
        """The seconds that are left, None where any number may pass.

        >>> Run().seconds_left is None, Run(max_seconds=0).seconds_left
        (True, 0.0)
        """
        if self.spent >= self.work:
            return 0.0
        return None if self.ends is None else max(self.ends - perf_counter(), 0.0)

    def spend(self, work):
        """Count work; where all that `work` allows is spent, no time is left.

        >>> run = Run()
        >>> run.work = 10.0
        >>> run.spend(9.0), run.seconds_left, run.spend(1.0), run.seconds_left
        (None, None, None, 0.0)
        """
        self.spent += work

    @property
    def solution(self):
        """The best Solution taken; cut short, if this run was.

        >>> from fspca import go
        >>> with Run() as run:
        ...     answer = run.adopt(go(np.eye(3), 1, 2))
        >>> run.solution is answer
        True
        """
        cut = self.stopped in CUT_SHORT
        return replace(self.answer, stopped=self.stopped) if cut else self.answer

    @property
    def facts(self):
        """What a Solution says of its run.

        >>> Run().facts
        {'history': (), 'n_iter': 0, 'stopped': 'done'}
        """
        ended = {"n_iter": self.n_iter, "stopped": self.stopped or "done"}
        return {"history": tuple(self.history)} | ended

    def stop(self, why):
        """End with this step.

        >>> run = Run()
        >>> for step in run:
        ...     run.stop("settled")
        >>> run.n_iter, run.stopped
        (1, 'settled')
        """
        self.stopped = why

    def record(self, value, answer, bound=None):
        """Note the objective after a step and its answer, and tell.

        >>> run = Run()
        >>> run.record(2.0, "better")
        >>> run.record(1.0, "worse")
        >>> run.answer, run.history
        ('better', [2.0, 1.0])
        """
        self.history.append(float(value))
        if self.latest or value > self.value:
            self.value, self.answer = float(value), answer
        self.report(bound=bound)

    def adopt(self, solution):
        """Keep what another solver found for this one; a Ctrl-C that ended it ends this one.

        >>> from fspca import go
        >>> run = Run()
        >>> run.adopt(go(np.diag([2.0, 1.0]), 1, 1)).objective == run.value
        True
        """
        if self.answer is None or solution.objective > self.value:
            self.value, self.answer = solution.objective, solution
        if solution.stopped == "interrupted":
            raise KeyboardInterrupt
        return solution

    def report(self, objective=-np.inf, bound=None):
        """Tell how far this run is.

        >>> Run(progress=print).report(1.0, bound=3.0)
        Progress(step=1, objective=1.0, bound=3.0)
        """
        if bound is not None:
            self.bound = bound if self.bound is None else min(self.bound, bound)
        if self.progress is not None:
            self.told += 1
            news = Progress(self.told, max(objective, self.value), self.bound)
            if self.answer is None and objective == -np.inf:
                self.progress(news)  # there is nothing yet to end with
            else:
                heard(self.progress, news)

    def relay(self, news):
        """Tell on the news of a solver that works for this one on the same problem.

        >>> Run(progress=print).relay(Progress(7, 1.0, 3.0))
        Progress(step=1, objective=1.0, bound=3.0)
        """
        self.report(news.objective, news.bound)

    def finish(self, build):
        """Return build(), which puts the answer together, again where a Ctrl-C comes between.

        >>> Run().finish(lambda: "answer")
        'answer'
        """
        try:
            return build()
        except KeyboardInterrupt:
            self.stopped = "interrupted"
            return build()


def best_run(once, n_starts, max_seconds, progress):
    """Return the best Solution of once(n, starts) for n from 1; `starts` is the Run of them all."""
    with Run(None, max_seconds, progress) as starts:
        for n in starts:
            starts.adopt(once(n, starts))
            if n == n_starts:
                starts.stop("done")
    return starts.solution


def each_of(function, asked, n_jobs):
    """Yield what a function gives for each of the arguments asked, in their order, as it is done.

    More than one at a time run by joblib, which scikit-learn brings, by the backend that is set
    there.  None is one, or what `joblib.parallel_config` says where joblib is in use.

    >>> list(each_of(pow, [(2, 3), (3, 2)], None))
    [8, 9]
    """
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        yield from (function(*each) for each in asked)
        return
    joblib = needed("joblib", "learn", f"n_jobs={n_jobs}")
    done = joblib.Parallel(n_jobs, return_as="generator")
    yield from done(joblib.delayed(function)(*each) for each in asked)


def solves(
    problem: type,
    *,
    counts: bool = False,
    measured: tuple = (),
    guarantee: str | None = None,
    promises: str = "",
    needs: str = "questions",
    most_components: int | None = None,
) -> Callable[[Callable[Concatenate[Covariance, P], R]], Callable[Concatenate[Matrix, P], R]]:
    """Make a function of (Covariance, m, k, options) a solver of a problem for all that call it.

    Here, once for all solvers, A becomes a Covariance, in a unit in which its powers are numbers,
    and m and k ints that fit; options that all share are checked; a method with a penalty gets
    either that or k.  The Solution gains its seconds, passes and shares of variance; ending at
    max_iter warns.

    Parameters
    ----------
    problem : type
        `fspca.SharedSupport`, `fspca.SeparateSupports` or `fspca.Nonnegative`.
    counts : bool
        Whether a solver of separate supports takes m counts for k.
    measured : tuple of str
        The options that are in A's unit.
    guarantee : str
        "exact", "bounded" or "heuristic"; a function that declares none is not registered.
    promises : str
        Words of `fspca.registry.PROMISES`.
    needs : str
        "questions", a "factor" or the "matrix", as `fspca.registry.Solver` says.
    most_components : int
        What m may be at most; None for any number.

    Returns
    -------
    callable
        The decorator.

    See Also
    --------
    Run : The other half of how every solver runs.

    Examples
    --------
    >>> from fspca import SharedSupport
    >>> from fspca.problem import solution_of
    >>> @solves(SharedSupport)
    ... def first(A, m, k):
    ...     return solution_of(A, SharedSupport(m, k), np.eye(A.size)[:, :m], "first")
    >>> first(np.diag([3.0, 2.0, 1.0]), 2, 2).objective
    5.0
    """

    def decorate(body):
        body.__annotations__["A"] = "Matrix"  # for those who call it
        parameters = signature(body).parameters
        has_penalty = "penalty" in parameters and parameters["k"].default is None
        sides = {"required", "forbidden", "in_all"} & parameters.keys()

        @wraps(body)
        def solver(*args, **kwargs):
            bound = signature(body).bind(*args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            if has_penalty and (given["k"] is None) == (given["penalty"] is None):
                told = f"k={given['k']} and penalty={given['penalty']}"
                raise ValueError(f"{told}: one of the two must be given")
            A = given["A"] = as_covariance(given["A"])
            for name in {"required", "forbidden"} & sides:
                given[name] = numbered(name, given[name], A.names)
            k = given["m"] if has_penalty and given["k"] is None else given["k"]
            asked = problem(given["m"], k, **{name: given[name] for name in sides}).fit(A.size)
            if not counts and np.ndim(asked.k):
                raise ValueError(f"k={asked.k}: {body.__name__} takes one count for all components")
            given["m"] = asked.m
            given["k"] = asked.k if given["k"] is not None else None
            given.update({name: getattr(asked, name) for name in sides})
            check_common(given)
            return _reported(body, bound, measured)

        if guarantee is not None:
            DECLARED[solver] = {
                "problem": problem,
                "guarantee": guarantee,
                "promises": promises,
                "needs": needs,
                "most_components": most_components,
            }
        return solver

    return decorate


def check_common(given):
    """Check the options that have one meaning everywhere, those of them that are given."""
    for name in {"n_starts", "max_iter"} & given.keys():
        given[name] = checked_count(name, given[name])
    if "seed" in given:
        checked_seed(given["seed"])
    if "n_jobs" in given:
        checked_jobs(given["n_jobs"])
    if "tol" in given:
        given["tol"] = checked_nonnegative("tol", given["tol"])
    if given.get("max_seconds") is not None:
        checked_nonnegative("max_seconds", given["max_seconds"])
    progress = given.get("progress")
    if progress is not None and progress is not True and not callable(progress):
        raise TypeError(f"progress={progress!r} must be None, True or a function of one Progress")


def _reported(body, bound, measured):
    A, given = bound.arguments["A"], bound.arguments
    began, passes = perf_counter(), A.passes
    if (unit := A.unit) != 1:
        given["A"] = A.scaled(1 / unit)
        given.update({name: given[name] / unit for name in measured if given[name] is not None})
        if (tell := given.get("progress")) is not None:
            given["progress"] = Bar(unit) if tell is True else lambda news: tell(news.times(unit))
    inside = INSIDE.set(True)
    try:
        found = body(*bound.args, **bound.kwargs)
    finally:
        INSIDE.reset(inside)
    many = isinstance(found, list)
    answers = [each if unit == 1 else each.times(unit) for each in (found if many else [found])]
    cost = {"seconds": perf_counter() - began, "passes": A.passes - passes}
    for i, solution in enumerate(answers if not INSIDE.get() else ()):
        if solution.stopped == "max_iter":
            message = f"{solution.solver} stopped at max_iter={given.get('max_iter')}"
            warnings.warn(f"{message} before it settled", ConvergenceWarning, stacklevel=3)
        try:
            shares = _shares(given["A"], solution.problem.m, unit)
            answers[i] = replace(solution, **cost, **shares, names=A.names, about=A.about)
        except KeyboardInterrupt:
            answers[i] = replace(solution, **cost, stopped="interrupted")
    return answers if many else answers[0]


def _shares(A, m, unit):
    leading = A.known_leading(m)
    pca = None if leading is None else unit * (float(leading.sum()) - m * A.ridge)
    return {"total_variance": unit * (A.trace - A.size * A.ridge), "pca_variance": pca}
