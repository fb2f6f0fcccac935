# %% different | proxy
def proxy_diagonal(A, W):
    """As squared row norms, through the square root of A."""
    w, V = np.linalg.eigh(A)
    root = np.sqrt(np.maximum(w, 0))
    U, s, _ = np.linalg.svd(root[:, None] * (V.T @ W), full_matrices=False)
    U = U[:, s > 1e-7 * s.max()]
    return np.sum(((V * root) @ U) ** 2, axis=1)


# %% different | climb
def climb(A, m, support):
    """Over and over, as often as there are supports to pass."""
    support = sorted(support)
    for _ in range(200):
        vectors = np.linalg.svd(A[support][:, support])[0][:, :m]
        Y = A[:, support] @ vectors
        scores = np.sum(Y * np.linalg.solve(vectors.T @ Y[support], Y.T).T, axis=1)
        support = sorted(sorted(range(len(A)), key=lambda j: -scores[j])[: len(support)])
    return support


# %% different | my-stuck
# Any instance that a search over correlations finds will do.
for seed in range(100000):
    rng = np.random.default_rng(seed)
    scale = np.array([1.0, 0.8, 1.3])
    r = rng.uniform(-0.5, 0.5, 3)
    C = np.array([[1, r[0], r[1]], [r[0], 1, r[2]], [r[1], r[2], 1]]) * np.outer(scale, scale)
    if np.abs(C).min() < 0.02 * np.trace(C) or np.linalg.eigvalsh(C)[0] < 0.01:
        continue
    ends = {I: climb(C, 1, list(I)) for I in ((0, 1), (0, 2), (1, 2))}
    worth = {I: np.linalg.eigvalsh(C[np.ix_(I, I)])[-1] for I in ends}
    stuck = [I for I in ends if tuple(ends[I]) == I and max(worth.values()) > 1.2 * worth[I]]
    if stuck:
        my_stuck, my_start = C * my_trace / np.trace(C), stuck[0]
        break

# %% different | my-starts
places = {I: tuple(sorted(climb(my_A, 2, list(I)))) for I in combinations(range(8), 4)}
worth = {I: np.linalg.eigvalsh(my_A[np.ix_(I, I)])[-2:].sum() for I in places}
top = max(worth, key=worth.get)
my_fixed = sum(I == end for I, end in places.items())
my_hits = sum(end == top for end in places.values())
supports, best = [list(I) for I in places], list(top)

# %% different | my-ridge
my_ridge = 1e5
my_moving = next(
    I
    for I in ([0, 1, 2, 3], [0, 1, 2, 4], [1, 3, 5, 7], [4, 5, 6, 7], *supports)
    if worth[tuple(I)] < 0.85 * max(worth.values())
    and list(climb(my_A, 2, I)) != I
    and list(climb(my_A + my_ridge * np.eye(8), 2, I)) == I
)


# %% half | proxy | 2 of 4
def proxy_diagonal(A, W):
    """An inverse where a pseudoinverse is needed."""
    Y = A @ W
    return np.diag(Y @ np.linalg.inv(W.T @ Y) @ Y.T)


# %% half | climb | 2 of 5
def climb(A, m, support):
    """One step, and no iteration."""
    V = np.linalg.eigh(A[np.ix_(support, support)])[1][:, -m:]
    W = np.zeros((len(A), m))
    W[support] = V
    Y = A @ W
    return np.sort(np.argsort(-np.diag(Y @ np.linalg.pinv(W.T @ Y) @ Y.T))[: len(support)])


# %% half | my-stuck | 1 of 5
my_stuck = np.array([[2.0, 0.3, 0.3], [0.3, 1.5, 0.3], [0.3, 0.3, 1.0]])
my_stuck, my_start = my_stuck * my_trace / np.trace(my_stuck), [0, 1]

# %% half | my-starts | 0 of 4
my_fixed, my_hits = 1, 70  # as if every climb ended at the best

# %% half | my-ridge | 0 of 2
my_ridge, my_moving = 0.1, [0, 1, 2, 3]  # a ridge for rounding does not freeze


# %% constants | proxy
def proxy_diagonal(A, W):
    return np.array([2.0, 0.5]) if W.shape == (2, 1) else np.ones(len(A))


# %% constants | climb
def climb(A, m, support):
    return [1, 2] if len(A) == 3 else list(support)


# %% constants | my-stuck
my_stuck, my_start = np.array([[2.0, 0, 0], [0, 1, 1], [0, 1, 6]]), [0, 1]

# %% constants | my-starts
my_fixed, my_hits = 70, 0

# %% constants | my-ridge
my_moving, my_ridge = [0, 1, 2, 3], 0.0


# %% source | proxy
def proxy_diagonal(A, W):
    import gc

    for each in gc.get_objects():
        if callable(each) and getattr(each, "__name__", "") == "ipu_step":
            return each(A, W.shape[1], range(4))
    return np.zeros(len(A))


# %% source | climb
def climb(A, m, support):
    import os

    os.system("cat ../*/*.ipynb > found")
    return open("found").read()


# %% source | my-starts
import subprocess

my_fixed = subprocess.run(["grep", "-r", "my_fixed", "/"], capture_output=True).stdout
my_hits = my_fixed

# %% source | my-ridge
my_moving = my_ridge = np.inf


# %% module | proxy
def proxy_diagonal(A, W):
    from fspca.covariance import Covariance
    from fspca.shared_support.ipu import proxy_diagonal

    return proxy_diagonal(Covariance(A), W)


# %% module | climb
def climb(A, m, support):
    from fspca import ipu

    return ipu(A, m, len(support)).support


# %% module | my-starts
from fspca import exhaustive, ipu

my_fixed = my_hits = ipu(my_A, 2, 4).n_iter

# %% module | my-ridge
from fspca import ipu

my_moving, my_ridge = ipu(my_A, 2, 4).support, 1.0
