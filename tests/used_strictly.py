"""Twenty lines as a user writes them, which `mypy --strict` and pyright accept, and which run."""

import numpy as np

import fspca
from fspca import Covariance, SharedSupport, Solution, datasets, metrics
from fspca.selection import Choice, select_k

wine = datasets.load("wine")
X: np.ndarray = wine.X
n, d = X.shape
A = Covariance.from_data(X, standardize=True)
solution: Solution = fspca.solve(A, 2, 5)
chosen: list[str] = [wine.names[feature] for feature in solution.support]
share: float = solution.objective / A.trace
print(solution, chosen, share, solution.gap, solution.upper_bound)
proven = fspca.solve(A, 2, 5, max_seconds=60)
print(proven.stopped, proven.W.T @ proven.W, proven.history[-1])
for each in fspca.path(A, 2, range(2, 6)):
    print(each.support.size, each.objective, metrics.subspace_distance(each.W, each.W))
choice: Choice = select_k(X, m=2, ks=[2, 4], subsamples=10)
print(choice.chosen, choice.solution.support, choice.held_out.max())
pitprops = datasets.load("pitprops").covariance(ridge=0.1)
print(fspca.ipu(pitprops, 2, 5, init="go").support)
print(fspca.SOLVERS["ipu"](pitprops, 2, 5).objective)
print(fspca.check_solution(A, solution, SharedSupport(2, 5)))
