"""Claims: what is proven, written down so that anybody can check it with the matrix beside it."""

import warnings
from dataclasses import dataclass, field, replace

import numpy as np

from fspca.check_certificate import VERSION, check

ROUNDING = 1e-12  # relative, of a gap: more than its own arithmetic loses
ANY_GAP = 1e99  # of a claim that is to be bounded: the checker then closes every node


@dataclass(frozen=True, eq=False)
class Certificate:
    """An upper bound, and the arrays of a certificate that prove it.

    `factor` is G with C = GG'; `arrays` is all that goes into a claim, the Y of the rows too;
    where the bound only holds with a `probability`, there are none.  `z` is how much of
    each feature the relaxation wants, `state` where its iteration stands.
    """

    bound: float
    arrays: dict = field(default_factory=dict, repr=False)
    probability: float = 1.0
    z: np.ndarray | None = field(default=None, repr=False)
    n_iter: int = 0
    state: tuple | None = field(default=None, repr=False)
    interrupted: bool = False

    @property
    def factor(self):
        return self.arrays.get("G")


def gap_of(value, bound, spare=1e-15):
    """Return a relative gap that is no less than that of these two."""
    return max(bound / value - 1, 0.0) * (1 + ROUNDING) + spare if value > 0 else 0.0


def claim_of(checked, gap, arrays, **facts):
    """Return the claim, without its matrix, that an answer is within the gap of the best.

    `arrays` are those of a tree, or of its only node.
    """
    if "nodes" not in arrays:
        arrays = {f"{name}_0": array for name, array in arrays.items()}
    asked = {"version": VERSION, "kind": checked.kind, "m": checked.m, "k": checked.k, "gap": gap}
    return asked | facts | arrays


def claimed(checked, solution, found):
    """Return the solution of a shared support with a bound and its claim, if the checker accepts.

    `found` is a Certificate of that problem.
    """
    bound = max(found.bound, solution.objective)
    chance = found.probability
    bare = replace(solution, upper_bound=bound, bound_probability=chance, certificate=None)
    if not found.arrays:  # chance is part of it
        return bare
    value = checked.value(solution.support)
    facts = {
        "support": np.asarray(solution.support),
        "required": np.array(checked.problem.required, dtype=int),
        "forbidden": np.array(checked.problem.forbidden, dtype=int),
    }
    claim = claim_of(checked, gap_of(value, found.bound), found.arrays, **facts)
    verdict = check(claim | checked.named)
    if verdict.holds:
        return replace(bare, certificate=claim)
    if value <= 0:  # of nothing a gap would be no share
        return bare
    return refused(solution, verdict)


def least_claimed(checked, solution, tried, **facts):
    """Return the solution with the least bound that the checker computes, and the claim of it.

    `tried` are the arrays of several certificates, each of which makes a claim of its own.
    """
    claims = [claim_of(checked, ANY_GAP, arrays, **facts) for arrays in tried]
    verdicts = [check(claim | checked.named) for claim in claims]
    bounds = [verdict.bound if verdict.holds else np.inf for verdict in verdicts]
    best = int(np.argmin(bounds))
    verdict = verdicts[best]
    if not verdict.holds:
        return refused(solution, verdict)
    claim = claims[best] | {"gap": gap_of(verdict.value, verdict.bound)}
    return replace(solution, upper_bound=max(verdict.bound, solution.objective), certificate=claim)


def refused(solution, verdict):
    """Return the solution as it is, and warn that a bound of it was refused."""
    warnings.warn(f"no bound: the checker refuses it, {verdict.reason}", stacklevel=3)
    return solution
