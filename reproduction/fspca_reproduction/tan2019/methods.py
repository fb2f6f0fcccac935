"""The methods that tan2019 compares: at a setting, at a count of features, and on its grid.

Every method has the same number of settings: for SADMM the paper's grid of lambda, gamma and rho,
for the others as many penalties or counts.  SOAP has its convex start at the penalties in WANG: one
costs as much as a whole grid of another.
"""

import time
import warnings
from itertools import product

import numpy as np

from fspca.covariance import Covariance
from fspca.covariance.linalg import largest
from fspca.problem import ConvergenceWarning, SeparateSupports, SharedSupport, objective
from fspca.proof.fantope import relax
from fspca.registry import SOLVERS
from fspca.separate_supports.alternation import settling_rho
from fspca.separate_supports.sadmm import sadmm
from fspca.shared_support.fantope import rounded
from fspca.shared_support.soap import soap
from fspca.shared_support.two_stage import two_stage
from fspca_reproduction.tan2019.manifold_penalty import manifold_penalty

PENALTIES, GAMMAS = [10.0**i for i in range(-2, 3)], [10.0**i for i in range(-3, 4)]
RHOS = GAMMAS
FULL = list(product(PENALTIES, GAMMAS, RHOS))  # the paper's grid
MODEST = list(product(PENALTIES, GAMMAS[::2], [1000.0]))  # where it would take hours
FEW = list(product([0.1, 10.0], [10.0, 1000.0], [1000.0]))  # where one run takes many seconds
STEPS = 50  # of SADMM; its number is not stated, nor are rho's growth and end
WANG, RELAXING = [0.5**i for i in range(8)], 15  # of the largest entry off the diagonal; steps
SHARED = ("two_stage", "soap")  # their features are those of all components together
JOINT, OURS = ("sadmm", "two_stage"), ("sadmm", "sadmm, deflated", "two_stage")
POWER = ("gpower, l0", "gpower")
BLOCK = ("gpower, block l0", "gpower, block", "manifold_penalty")
RIVALS = (*POWER, "grqi", "inverse_power", "tpower", "soap")
VARIED = ((10, 1000), (1, 1000), (100, 1000), (10, 10), (10, 100))  # penalty, rho


def key(*numbers):
    """Return the name of a setting in the rows.

    >>> key(0.01, 1000)
    '0.01, 1000'
    """
    return ", ".join(f"{number:g}" for number in numbers)


def convex_start(A, m, k, share=0.25, relaxing=RELAXING):
    """Return SOAP from the convex relaxation, stopped after a few steps, at a penalty."""
    full = A.submatrix(np.arange(A.size))
    unit = np.abs(full - np.diag(np.diagonal(full))).max()
    relaxed = relax(A, m, share * unit, max_iter=relaxing)
    return soap(A, m, k, init=rounded(A, relaxed.H, SharedSupport(m, k))[0])


def at_penalty(name):
    """Return a solver of the registry as a function of its penalty."""
    return lambda A, m, k, penalty: SOLVERS[name](A, m, None, penalty=penalty)


def at_count(name):
    """Return a solver of the registry as a function of each component's count."""
    return lambda A, m, k, each: SOLVERS[name](A, m, each)


AT_SETTING = {  # (A, m, k, *setting); k is what the shared ones choose in all
    "gpower, l0": at_penalty("gpower, l0"),
    "gpower": at_penalty("gpower"),
    "grqi": at_count("grqi"),
    "inverse_power": at_penalty("inverse_power"),
    "tpower": at_count("tpower"),
    "gpower, block l0": at_penalty("gpower, block l0"),
    "gpower, block": at_penalty("gpower, block"),
    "manifold_penalty": lambda A, m, k, penalty: manifold_penalty(A, m, penalty=penalty),
    "sadmm": lambda A, m, k, penalty, gamma, rho: sadmm(
        A,
        m,
        penalty=penalty,
        gamma=gamma,
        rho=rho,
        rho_max=settling_rho(A, 1, penalty),
        max_iter=STEPS,
    ),
    "sadmm, deflated": lambda A, m, k, penalty, gamma, rho: sadmm(
        A, m, penalty=penalty, gamma=gamma, rho=rho, deflated=True, max_iter=STEPS
    ),
    "two_stage": lambda A, m, k, penalty, gamma, rho, first=None: two_stage(
        A, m, k, penalty=penalty, gamma=gamma, rho=rho, first=first, max_iter=STEPS
    ),
    "soap": convex_start,
}
OWN = {"manifold_penalty": manifold_penalty}  # which the module does not have
WITH_K = {name: (SOLVERS | OWN)[name] for name in AT_SETTING if name != "soap"}  # (A, m, k)


def settings(method, k, grid=FULL):
    """Return as many settings of a method as the grid has, for k features of each component."""
    if "sadmm" in method or method == "two_stage":
        return grid
    if method == "soap":
        return [(share,) for share in WANG]
    if method in ("grqi", "tpower"):
        return [(count,) for count in range(k, k + len(grid))]
    return [(i / (len(grid) + 1),) for i in range(1, len(grid) + 1)]


def quietly(function, *arguments, **options):
    """Return what a function returns, and its seconds; its loops may end early."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = function(*arguments, **options)
    return found, time.perf_counter() - began


def cut(W, k):
    """Return W with the k largest entries of each column, of unit length.

    >>> cut(np.array([[3.0], [1.0], [4.0]]), 2)
    array([[0.6],
           [0. ],
           [0.8]])
    """
    kept = np.zeros_like(W)
    for j, column in enumerate(W.T):
        rows = largest(np.abs(column), k)
        kept[rows, j] = column[rows] / (np.linalg.norm(column[rows]) or 1.0)
    return kept


def answer(A, m, k, method, setting, **options):
    """Return a method's Solution at a setting, its loadings cut to k for each, its seconds.

    A method whose features are common to all components is asked for m k in all, and not cut.
    """
    found, seconds = quietly(AT_SETTING[method], A, m, m * k, *setting, **options)
    return found, found.W if method in SHARED else cut(found.W, k), seconds


def explained(A, W):
    """Return the variance explained, adjusted for overlap."""
    return SeparateSupports(W.shape[1], 1, score="subspace").score(A, W) if W.any() else 0.0


def recovery_error(W, V):
    """Return ||WW' - VV'||^2 (Frobenius), of m x m matrices: nothing of size d x d is formed.

    >>> recovery_error(np.eye(3)[:, :1], np.eye(3)[:, 1:2])
    2.0
    """
    own, true, cross = W.T @ W, V.T @ V, W.T @ V
    return float(max(0.0, np.vdot(own, own) + np.vdot(true, true) - 2 * np.vdot(cross, cross)))


def first_best(values):
    """Return the place of the largest value, the first where some are equal up to 1e-6."""
    values = np.asarray(values)
    return int(np.argmax(values >= values.max() - 1e-6 * abs(values.max())))


def searched(X, V, k, methods, grid=FULL):
    """Return for each method the setting that explains most, and the one nearest to the truth.

    The two-stage method takes its first stages over from SADMM, with their seconds.
    """
    A, m = Covariance.from_data(X, center=False, divisor=1), V.shape[1]
    row, firsts = {}, {}
    for method in methods:
        tried = settings(method, k, grid)
        values, errors, total = [], [], 0.0
        for setting in tried:
            first, before = firsts.get(setting, (None, 0.0))
            options = {"first": first} if method == "two_stage" else {}
            found, W, seconds = answer(A, m, k, method, setting, **options)
            if method == "sadmm":
                firsts[setting] = found.orthonormal, seconds
            values.append(explained(A, W))
            errors.append(recovery_error(W, V))
            total += seconds + (before if method == "two_stage" else 0.0)
        best, truth = first_best(values), first_best(-np.array(errors))
        row[method] = {
            "setting": tried[best], "value": values[best], "error": errors[best],
            "last digits": {"by the truth": {"setting": tried[truth], "error": errors[truth]}},
            "settings": len(tried), "seconds": total,
        }  # fmt: skip
    return row


def measured(A, W):
    """Return the plain and the adjusted variance of loadings, and how many features they use."""
    return {
        "plain": objective(A, W),
        "adjusted": explained(A, W),
        "features": int(W.any(axis=1).sum()),
    }
