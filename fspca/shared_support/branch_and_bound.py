r"""Branch and bound: the best support, proven.

A node requires some features and excludes others.  Its bound is the relaxation on what is left,
warm-started from its parent.  Reduced costs then decide features, few remaining supports are
enumerated, and otherwise the most fractional feature is branched on.  The open node with the
largest bound is taken first, and that bound is valid for the whole tree, so an interruption
loses nothing.
"""

from dataclasses import replace
from heapq import heappop, heappush
from itertools import count, islice
from time import perf_counter
from typing import NamedTuple

import numpy as np

from fspca.covariance import as_covariance
from fspca.problem import SharedSupport
from fspca.shared_support.certificate import relaxed, upper_bound
from fspca.shared_support.reduced_costs import decide, finish
from fspca.shared_support.refit import solution_on
from fspca.shared_support.semidefinite import State, descend, restrict
from fspca.shared_support.swap import best_start, climb
from fspca.validate import checked_integer

PROOF = 1e-9  # relative: bounds this close to the value prove it
ROOT_STEPS, NODE_STEPS = 400, 30
ROOT_PATIENCE, NODE_PATIENCE = 0.05, 0.3  # stop where ten steps gain less of what is missing


class Node(NamedTuple):
    """The first `fixed` of these features are required, the others of them are free."""

    rows: np.ndarray
    fixed: int
    state: State
    name: str = ""  # from the root: "1" the feature branched on is required, "0" excluded


class Tree:
    """The incumbent and the counts, shared by all nodes."""

    def __init__(self, A, m, k, gap, scale, margin, proof):
        self.A, self.m, self.k, self.gap, self.proof = A, m, k, gap, proof
        self.scale, self.margin, self.full = scale, margin, A.submatrix(np.arange(A.size))
        self.value, self.support, self.closed, self.nodes = -np.inf, None, -np.inf, 0

    @classmethod
    def planted(cls, A, m, k, gap, proof):
        """Return a tree and the state of its root."""
        scale, state, _ = relaxed(A, m, k)
        tree = cls(A, m, k, gap, scale, 0.0, proof)
        if (Z := state.basis) is not None:  # what of A the basis misses, m times
            tree.margin = m * np.linalg.norm(tree.full - scale * (Z @ state.inner @ Z.T))
        return tree, state

    def offer(self, value, support):
        """Keep a support if it is better."""
        if value > self.value:
            self.value, self.support = value, np.sort(support)

    @property
    def target(self):
        """A bound up to here closes a node."""
        return self.value * (1 + self.gap) + PROOF * self.value


def bound_node(tree, node, steps, patience):
    """Return (bound, G, z, state), stopping when closed or when progress is slow."""
    best, last = (np.inf, None, None), np.inf
    iterates = descend(node.state, tree.m, tree.k, node.fixed)
    for bound, G, z, state in islice(iterates, steps // 10):
        bound = bound * tree.scale + tree.margin
        if bound < best[0]:
            factor = G if state.basis is None else state.basis @ G
            best = bound, np.sqrt(tree.scale) * factor, z
        if best[0] <= tree.target or last - best[0] < patience * (best[0] - tree.target):
            break
        last = best[0]
    return *best, state


def open_node(tree, node, upper, is_root):
    """Return the children of a node as (bound, node): none if it is closed."""
    tree.nodes += 1
    steps, patience = (ROOT_STEPS, ROOT_PATIENCE) if is_root else (NODE_STEPS, NODE_PATIENCE)
    own, G, z, state = bound_node(tree, node, steps, patience)  # G proves this bound alone
    bound, c = min(own, upper), (G**2).sum(axis=1)
    if tree.proof is not None:
        tree.proof[node.name] = {"rows": node.rows, "fixed": node.fixed, "G": G}
    if bound > tree.target and (is_root or tree.nodes % 10 == 0):
        rounded = climb(tree.A, tree.m, tree.k, node.rows[np.argsort(-z, kind="stable")[: tree.k]])
        tree.offer(rounded.objective, rounded.support)
    if bound <= tree.target:
        tree.closed = max(tree.closed, bound)
        return []
    rows, fixed = node.rows, node.fixed
    inside, outside = decide(c, fixed, tree.k, own, tree.target)
    free = np.arange(fixed, len(rows))
    kept = np.concatenate([np.arange(fixed), free[inside], free[~inside & ~outside]])
    rows, fixed, c, z = rows[kept], fixed + int(inside.sum()), c[kept], z[kept]
    if tree.proof is not None:
        tree.proof[node.name] |= {"kept": rows, "kept_fixed": fixed}
    if inside.any() or outside.any():
        tree.closed = max(tree.closed, tree.target)
        state = restrict(state, kept)
    if finish(tree, rows, fixed, c, own):
        tree.closed = max(tree.closed, tree.target)
        return []
    i = fixed + np.argmax(np.minimum(z[fixed:], 1 - z[fixed:]))
    others = np.delete(np.arange(len(rows)), i)
    with_i = np.insert(others, fixed, i)
    return [
        (bound, Node(rows[with_i], fixed + 1, restrict(state, with_i), node.name + "1")),
        (bound, Node(rows[others], fixed, restrict(state, others), node.name + "0")),
    ]


def branch_and_bound(A, m, k, gap=0.0, max_nodes=100_000, max_seconds=None, n_starts=1, seed=0,
                     progress=None, proof=None):  # fmt: skip
    r"""Find the best support and prove it, or return the best so far with its valid gap.

    The problem is max trace(W'AW) over W'W = I with at most k nonzero rows.  The set of
    supports is split by requiring or excluding a feature; a part whose upper bound does not
    exceed the best value known cannot hold a better support, and is dropped.

    Parameters
    ----------
    A : array (d x d) or Covariance
    m, k : int
        Components and features, 1 <= m <= k <= d.
    gap : float
        Stop when the optimum is proven to be at most this much higher, relatively.
    max_nodes, max_seconds
        The budget; ending there, or by Ctrl-C, leaves a valid bound.
    n_starts, seed
        Random starts of the first answer beside Go and the largest variances.
    progress : callable
        Called as progress(nodes, value, bound).
    proof : dict
        Filled with the tree, for `fspca.shared_support.tree_check.check_tree`; it stays empty where
        a bound without branching already proves the first answer.

    Returns
    -------
    Solution
        `stopped` says whether the gap is reached, `n_iter` counts nodes.

    Notes
    -----
    Exact up to 1e-9, relatively, when it converges.  Cost: exponential at worst; see the
    chapter "Prove it, by branching and bounding" for what it does on real data.

    Examples
    --------
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    >>> branch_and_bound(A, m=1, k=2).support
    array([1, 2])
    """
    A, problem = as_covariance(A).plain, SharedSupport(m, k)
    problem.fit(A.size)
    if not gap >= 0:
        raise ValueError(f"gap={gap} must be at least 0")
    if checked_integer("max_nodes", max_nodes) < 1:
        raise ValueError(f"max_nodes={max_nodes} must be at least 1")
    began = perf_counter()
    first = best_start(A, m, k, n_starts, seed)
    light = min(upper_bound(A, m, k, name).bound for name in ("shifted", "eigenvalue", "diagonal"))
    if k == A.size or light <= first.objective * (1 + gap + PROOF):
        bound = max(first.objective, -np.inf if k == A.size else light)
        return replace(first, solver="branch_and_bound", n_iter=0, upper_bound=bound)
    tree, state = Tree.planted(A, m, k, gap, proof)
    tree.offer(first.objective, first.support)
    ticket = count()
    heap = [(-light, next(ticket), Node(np.arange(A.size), 0, state))]
    ended = "max_iter"
    try:
        while heap and -heap[0][0] > tree.target and tree.nodes < max_nodes:
            if max_seconds is not None and perf_counter() - began > max_seconds:
                ended = "max_seconds"
                break
            upper, _, node = -heap[0][0], *heap[0][1:]
            for bound, child in open_node(tree, node, upper, is_root=tree.nodes == 0):
                heappush(heap, (-bound, next(ticket), child))  # the node stays first until done
            heappop(heap)
            if progress:
                progress(tree.nodes, tree.value, max(-heap[0][0] if heap else 0.0, tree.value))
    except KeyboardInterrupt:
        ended = "interrupted"
    bound = max(tree.value, min(tree.closed, tree.target), -heap[0][0] if heap else -np.inf)
    solution = solution_on(A, problem, tree.support, "branch_and_bound", n_iter=tree.nodes)
    stopped = "gap reached" if bound <= tree.target else ended
    return replace(solution, upper_bound=float(bound), stopped=stopped)
