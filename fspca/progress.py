"""News of a run: one small event for all solvers, and a bar that shows it."""

import sys
from collections.abc import Callable
from typing import NamedTuple


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
        """Return the same, of a covariance in another unit.

        Parameters
        ----------
        unit : float
            What its variances are multiplied by.

        Returns
        -------
        Progress
            With objective and bound multiplied.

        See Also
        --------
        fspca.Solution : Its `times` does so to an answer.

        Examples
        --------
        >>> Progress(1, 2.0).times(4.0)
        Progress(step=1, objective=8.0, bound=None)
        """
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
