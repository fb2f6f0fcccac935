"""News of a run: one small event for all solvers, and a bar that shows it."""

import sys
from collections.abc import Callable
from typing import NamedTuple


class Progress(NamedTuple):
    """News of a run: how many so far, what stopping now would explain, the least bound known."""

    step: int
    objective: float
    bound: float | None = None

    def times(self, unit):
        """The same, of a covariance in another unit."""
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
