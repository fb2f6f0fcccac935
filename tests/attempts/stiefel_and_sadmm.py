# %% different | tangent
def tangent(V, Z):
    """The part that leaves the span, and the skew part within it."""
    S = V.T @ Z
    return Z - V @ S + V @ (S - S.T) / 2


# %% different | retract
def retract(V, step):
    """By the polar factor."""
    U, _, Wt = np.linalg.svd(V + step, full_matrices=False)
    return U @ Wt


# %% different | maximise
def maximise(As, V):
    """f is convex: go to the maximum of its linear minorant, a polar factor, over and over."""
    for _ in range(20000):
        G = np.column_stack([A @ v for A, v in zip(As, V.T)])
        U, _, Wt = np.linalg.svd(G, full_matrices=False)
        if np.linalg.norm(U @ Wt - V) < 1e-6:
            break
        V = U @ Wt
    return V


# %% different | shrink
def shrink(Z, t):
    return np.where(Z > t, Z - t, np.where(Z < -t, Z + t, 0.0))


# %% different | sparse-components
def sparse_components(A, V, penalty):
    """No multipliers: the rotation of the two leading eigenvectors with the least l1 norm, cut."""
    U = np.linalg.eigh(A)[1][:, -2:]
    turns = []
    for angle in np.linspace(0, np.pi / 2, 2000):
        c, s = np.cos(angle), np.sin(angle)
        turns.append(U @ np.array([[c, -s], [s, c]]))
    V = min(turns, key=lambda W: np.abs(W).sum())
    V = np.where(np.abs(V) > 0.15, V, 0.0)
    V = V / np.linalg.norm(V, axis=0)
    return V, V


# %% different | my-cut
a, b = (2 / 3) ** 0.5 / 2, 24**-0.5
my_V = np.zeros((12, 2))
my_V[:8, 0], my_V[8:, 0] = b, a
my_V[:8, 1], my_V[8:, 1] = b, [-a, -a, -a, a]
my_V *= my_signs[:, None]


# %% half | retract | 2 of 4
def retract(V, step):
    """numpy's Q may have its columns turned round."""
    return np.linalg.qr(V + step)[0]


# %% half | maximise | 2 of 5
def maximise(As, V):
    """A single step up."""
    G = np.einsum("jab,bj->aj", As, V)
    U, _, Wt = np.linalg.svd(G, full_matrices=False)
    return U @ Wt


# %% half | sparse-components | 3 of 6
def sparse_components(A, V, penalty):
    """Returns V twice: its entries are small, and not zero."""
    Y, multiplier, rho = V.copy(), np.zeros_like(V), 10.0
    for _ in range(300):
        for _ in range(5):
            U, _, Wt = np.linalg.svd(A @ V + rho * Y - multiplier, full_matrices=False)
            V = U @ Wt
        Y = shrink(V + multiplier / 10, penalty / 10)
        multiplier = multiplier + 10 * (V - Y)
    V = V + 1e-5 * np.random.default_rng(0).standard_normal(V.shape)
    V = np.linalg.qr(V)[0]
    return V, V


# %% constants | tangent
def tangent(V, Z):
    return np.array([[0, -0.5], [0.5, 0], [4, 5]]) if len(V) == 3 else np.zeros_like(V)


# %% constants | retract
def retract(V, step):
    return V


# %% constants | maximise
def maximise(As, V):
    return np.eye(len(V))[:, ::-1][:, : V.shape[1]]


# %% constants | shrink
def shrink(Z, t):
    return np.array([[2.0, 0.0], [-1.0, 0.0]])


# %% constants | sparse-components
def sparse_components(A, V, penalty):
    return np.eye(10)[:, :2], np.eye(10)[:, :2]


# %% constants | my-cut
my_V = np.eye(12)[:, :2]


# %% source | tangent
def tangent(V, Z):
    import sys

    return sys._getframe(2).f_locals["expected"]


# %% source | maximise
def maximise(As, V):
    import examiner

    return examiner.refit(As[0], V.shape[1], range(len(V)))


# %% source | sparse-components
def sparse_components(A, V, penalty):
    """The instances are drawn by `planted`: guess the draw."""
    for attempt in ("feasible", "zeros"):
        A, start, U = planted(my_rng(STUDENT, attempt))
    return U, U


# %% module | tangent
def tangent(V, Z):
    from fspca.separate_supports.stiefel import tangent

    return tangent(V, Z)


# %% module | retract
def retract(V, step):
    from fspca.separate_supports.stiefel import retract

    return retract(V, step)


# %% module | sparse-components
def sparse_components(A, V, penalty):
    from fspca import sadmm

    solution = sadmm(A, V.shape[1], penalty, 10.0, 10.0)
    return solution.orthonormal, solution.W
