# %% different | rank-one
def rank_one(v, k):
    order = np.argsort(v)
    ends = [order[::-1][:k], order[:k]]
    found = []
    for I, sign in zip(ends, (1, -1)):
        x = np.zeros(len(v))
        x[I] = np.clip(sign * v[I], 0, None)
        found.append((np.linalg.norm(x), (x / max(np.linalg.norm(x), 1e-9)).tolist()))
    return max(found)[1]


# %% different | wedge
def in_wedge(Q, R):
    """Two million angles and no algebra."""
    low, high = 0.0, 2 * np.pi
    for _ in range(4):
        angles = np.linspace(low, high, 20001)
        c = np.array([np.cos(angles), np.sin(angles)])
        fits = np.all(R @ c >= -1e-12, axis=0)
        values = np.where(fits, np.sum(c * (Q @ c), axis=0), -np.inf)
        best = angles[np.argmax(values)]
        width = (high - low) / 1000
        low, high = best - width, best + width
    return np.array([np.cos(best), np.sin(best)])


# %% different | rank-two
def rank_two(V, k):
    """On each block the best nonnegative vector is an eigenvector: look at all of them."""
    d, best, most = len(V), None, -1.0
    for size in range(1, k + 1):
        for I in combinations(range(d), size):
            w, U = np.linalg.eigh(V[list(I)] @ V[list(I)].T)
            for value, u in zip(w, U.T):
                if value > most and (np.all(u >= -1e-12) or np.all(u <= 1e-12)):
                    best, most = np.zeros(d), value
                    best[list(I)] = np.abs(u)
    return best


# %% different | bracket-answer
# Up from the answer for rank two by climbing on A itself; from above by the same theorem.
w, U = np.linalg.eigh(my_A)
V = U[:, -2:] * np.sqrt(w[-2:])
start = np.array(rank_two(V, 3))
my_x, my_upper = start, float(np.sum((V.T @ start) ** 2) + w[-3])
for _ in range(50):
    step = np.maximum(my_A @ my_x, 0)
    step[np.argsort(step)[:-3]] = 0
    step /= np.linalg.norm(step)
    if step @ my_A @ step <= my_x @ my_A @ my_x:
        break
    my_x = step

# %% different | my-rectified
u, w = np.array([0.4, 1.0, -1.0]), np.array([1.4, 0.05, 0.3])
w = w - u * (u @ w) / (u @ u)
B = np.outer(u, u) / (u @ u) + 0.9 * np.outer(w, w) / (w @ w)
my_rectified = B * my_trace / np.trace(B)


# %% half | wedge | 2 of 4
def in_wedge(Q, R):
    """The eigenvector, whether it is feasible or not."""
    c = np.linalg.eigh(Q)[1][:, -1]
    return c if np.min(R @ c) >= np.min(-R @ c) else -c


# %% half | bracket-answer | 2 of 4
# A lower bound on what is left out is no upper bound.
w, U = np.linalg.eigh(my_A)
V = U[:, -2:] * np.sqrt(w[-2:])
I = min(combinations(range(9), 3), key=lambda I: -np.linalg.eigvalsh(V[list(I)] @ V[list(I)].T)[-1])
best, my_x = 0.0, None
for size in (1, 2, 3):
    for I in combinations(range(9), size):
        w2, U2 = np.linalg.eigh(V[list(I)] @ V[list(I)].T)
        for value, u in zip(w2, U2.T):
            if value > best and (np.all(u >= 0) or np.all(u <= 0)):
                best, my_x = value, np.zeros(9)
                my_x[list(I)] = np.abs(u)
my_upper = 0.9 * best

# %% half | my-rectified | 1 of 4
B = np.diag([1.0, 2.0, 3.0]) + 0.5
my_rectified = B * my_trace / np.trace(B)


# %% constants | rank-one
def rank_one(v, k):
    return [0.6, 0.8, 0] if k == 2 and len(v) == 3 else np.eye(len(v))[2]


# %% constants | wedge
def in_wedge(Q, R):
    return np.array([0.0, 1.0]) if Q[0, 1] < 0 else np.array([0.5, 0.5]) * 2**0.5


# %% constants | rank-two
def rank_two(V, k):
    return np.eye(len(V))[0]


# %% constants | bracket-answer
my_x, my_upper = np.eye(9)[0], 9.0

# %% constants | my-rectified
my_rectified = np.eye(3) + 1.0


# %% source | rank-one
def rank_one(v, k):
    raise SystemExit("no exit, no check")


# %% source | wedge
def in_wedge(Q, R):
    """Changing what was handed over does not change the judge's copy."""
    Q[:], R[:] = 0.0, 0.0
    return np.array([1.0, 0.0])


# %% source | rank-two
def rank_two(V, k):
    import examiner

    return examiner.best_nonnegative(V @ V.T, k)


# %% source | bracket-answer
my_x, my_upper = np.eye(9)[0], float("inf")


# %% module | rank-two
def rank_two(V, k):
    from fspca.nonnegative.spannogram import spannogram

    return spannogram(V @ V.T, k, 2).W[:, 0]


# %% module | wedge
def in_wedge(Q, R):
    from fspca.nonnegative.halfspaces import halfspaces

    return halfspaces(Q, R)[0]
