"""Uses of the public names, right and wrong: `mypy` reads this file, and nobody runs it.

An `ignore` that nothing needs is an error, so each wrong use is seen to be refused.
"""

from pathlib import Path

import numpy as np

import fspca
from fspca import Covariance, SeparateSupports, SharedSupport, datasets, metrics
from fspca.solver import Progress

X = np.eye(4)


def hear(news: Progress) -> None:
    print(news.step, news.objective)


answer: fspca.Solution = fspca.ipu(X, 1, 2, init="random", n_starts=3, seed=None, progress=hear)
value: float = answer.objective
settled: bool = answer.converged
fspca.ipu([[2.0, 1.0], [1.0, 2.0]], m=1, k=2, progress=True)
fspca.go(Covariance.from_data(X, standardize=True), 1, 2)
fspca.shared_support.swap(X, 1, 2, required=[0], forbidden=(3,))
fspca.exhaustive(X, 1, SharedSupport(1, 2).k)
best: list[fspca.Solution] = fspca.path(X, 1, range(1, 4))
if fspca.check_solution(X, answer, SharedSupport(1, 2, required=[0])):
    SeparateSupports(2, [1, 2])
place: Path | None = datasets.where("pitprops")
wine: np.ndarray = datasets.load("wine").X  # no question whether there is any
growers: np.ndarray = datasets.load("wine").y
names: list[str] = datasets.load("wine").names
distance: float = metrics.subspace_distance(answer.W, X[:, :1])

fspca.ipu(X, 1, 2, starts=3)  # type: ignore[call-arg]
fspca.ipu(X, 1, "2")  # type: ignore[arg-type]
fspca.go(X, 1, 2, True)  # type: ignore[call-arg]
fspca.shared_support.soap(X, 1, 2, max_seconds="1")  # type: ignore[arg-type]
fspca.shared_support.swap(X, 1, 2, progress=1.5)  # type: ignore[arg-type]
lost = fspca.shared_support.fantope(X, 1, 2).loadings  # type: ignore[attr-defined]
wrong: str = fspca.go(X, 1, 2).objective  # type: ignore[assignment]
