"""What SADMM and ManPG share: an orthonormal V, a sparse copy Y of it, and a penalty or a count."""

import numpy as np

from fspca.covariance.linalg import fix_signs, largest
from fspca.problem import SeparateSupports
from fspca.separate_supports.alternation import SEEN, spectrum, spread
from fspca.separate_supports.blocks import cut
from fspca.separate_supports.penalty_search import penalty_search
from fspca.shared_support.starts import starting_point

OCTAVES, TRIALS = 20, 12  # of the search: penalties below the largest eigenvalue, to 0.4 %
SHORT = 100  # steps of a trial


def start_at(A, m, init, rng):
    """Return an orthonormal V, d x m: what `init` means, made orthonormal where it is not."""
    pairs = spectrum(A) if isinstance(init, str) and init == "pca" else None
    if pairs is not None and len(pairs[0]) >= m:
        return fix_signs(pairs[1][:, :m])
    V = starting_point(A, SeparateSupports(m, 1), init, rng)[0]
    return V if np.allclose(V.T @ V, np.eye(m), rtol=0, atol=SEEN) else np.linalg.qr(V)[0]


def unit_copy(V, Y):
    """Return Y with unit columns; one that the penalty emptied keeps V's largest entry."""
    W = Y.copy()
    for j in np.flatnonzero(~W.any(axis=0)):
        i = largest(np.abs(V[:, j]), 1)
        W[i, j] = V[i, j]
    W /= np.abs(W).max(axis=0)
    return W / np.linalg.norm(W, axis=0)


def copy_with(A, V, k, penalty, run, note):
    """Return loadings, why their run ended, and V: at a penalty, or k of each column of V.

    `run(A, V, penalty, note, most)` returns (V, Y, ...) after so many steps at most, and why it
    ended.  For k a penalty is searched at which Y has m k nonzeros in all, in short runs, each
    from where one at a smaller penalty ended; from the best of them a whole run goes on.
    """
    if k is None:
        step, ended = run(A, V, penalty, lambda V, Y: note(unit_copy(V, Y), V=V))
        return unit_copy(step[0], step[1]), ended, step[0]
    high, counts = spread(A), [k] * V.shape[1]

    def trial(octave, last):
        (V_, Y, *_), _ = run(A, V if last is None else last, high * 2.0**octave, most=SHORT)
        note(cut(V_, V_, counts), V=V_)
        return np.count_nonzero(Y) / V.shape[1], V_

    octave, start, _ = penalty_search(trial, k, -OCTAVES, 0.0, TRIALS)
    (V, *_), ended = run(A, start, high * 2.0**octave)
    return cut(V, V, counts), ended, V
