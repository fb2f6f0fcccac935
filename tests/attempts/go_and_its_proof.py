# %% different | go
def go(A, m, k):
    """By sorting pairs; in any order of the features."""
    pairs = sorted(((-A[j, j], j) for j in range(len(A))))
    return [j for _, j in pairs[:k]]


# %% different | go-shifted
def go_shifted(A, m, k):
    """Of the three bounds that need no search, the smallest."""
    w, V = np.linalg.eigh(A)
    L = (V * np.maximum(w - w[len(A) - m - 1], 0)) @ V.T
    support = sorted(sorted(range(len(A)), key=lambda j: -L[j, j])[:k])
    shifted = m * w[len(A) - m - 1] + sum(L[j, j] for j in support)
    return support, min(shifted, sum(sorted(np.diag(A))[-k:]), w[-m:].sum())


# %% different | my-hard
# Two directions at right angles, one somewhat weaker: try them on a grid.
best = (0.0, None)
for t in np.linspace(0, np.pi, 60):
    for s in np.linspace(0, np.pi, 60):
        for r in (0.6, 0.8, 0.95):
            a = np.array([np.cos(t) * np.cos(s), np.sin(t) * np.cos(s), np.sin(s)])
            b = np.cross(a, [0.3, 0.5, 0.81])
            B = np.outer(a, a) + r * np.outer(b, b) / (b @ b)
            pairs = [np.linalg.eigvalsh(np.delete(np.delete(B, i, 0), i, 1))[-1] for i in range(3)]
            rule = pairs[int(np.argmin(np.abs(np.linalg.eigh(B)[1][:, -1])))]
            if 1 - rule / max(pairs) > best[0] and np.abs(B).min() > 0.012 * np.trace(B):
                best = (1 - rule / max(pairs), B)
my_hard = best[1] * my_trace / np.trace(best[1])

# %% different | my-tight
# Two blocks of three features that agree: rank two, and a flat diagonal.
angles = np.pi * np.array([0, 0, 0, 1, 1, 1]) / 2
X = np.vstack([np.cos(angles), np.sin(angles)])
turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
my_tight = (turn @ X).T @ (turn @ X) * my_sum / 6

# %% different | spiked-answer
scores = np.linalg.eigh(my_spiked)
scores = scores[1][:, -3:] ** 2 @ (scores[0][-3:] - 2.0)
my_support = np.argsort(scores)[-9:][::-1]
my_value = np.linalg.eigvalsh(my_spiked[np.ix_(my_support, my_support)])[-3:].sum()


# %% half | go-shifted | 3 of 6
def go_shifted(A, m, k):
    """The bound forgets what the shift took away: m sigma."""
    w, V = np.linalg.eigh(A)
    scores = V[:, -m:] ** 2 @ (w[-m:] - w[-m - 1])
    support = np.sort(np.argsort(-scores)[:k])
    return support, scores[support].sum()


# %% half | my-hard | 1 of 5
a, b = np.array([1.0, 1, 1]), np.array([1.0, 2, -0.7])
my_hard = np.outer(a, a) + np.outer(b, b)
my_hard = my_hard * my_trace / np.trace(my_hard)

# %% half | spiked-answer | 2 of 3
w, V = np.linalg.eigh(my_spiked)
scores = V[:, -3:] ** 2 @ (w[-3:] - w[-4])
my_support = np.argsort(-scores)[:9]
my_value = scores[my_support].sum()


# %% constants | go
def go(A, m, k):
    return [0, 2, 4] if len(A) == 5 else list(range(k))


# %% constants | go-shifted
def go_shifted(A, m, k):
    return ([0, 2, 3], 14.0) if len(A) == 4 else (list(range(k)), 1e9)


# %% constants | my-hard
# The chapter's example has zeros, and another trace.
my_hard = np.array([[9.0, 3, 0], [3, 2, 3], [0, 3, 9]])

# %% constants | my-tight
my_tight = np.eye(6)

# %% constants | spiked-answer
my_support, my_value = list(range(9)), 20.0


# %% source | go
def go(A, m, k):
    import sys

    return sys.modules["__main__"].hidden(STUDENT, "go")


# %% source | go-shifted
def go_shifted(A, m, k):
    from examiner import best

    return best(A, m, k)


# %% source | spiked-answer
my_support = open("go_and_its_proof.ipynb").read()
my_value = my_support


# %% module | go
def go(A, m, k):
    from fspca.shared_support.go import go

    return go(A, m, k).support


# %% module | go-shifted
def go_shifted(A, m, k):
    import fspca

    solution = fspca.go(A, m, k, shift=True)
    return solution.support, solution.upper_bound


# %% module | spiked-answer
import fspca

my_support = fspca.go(my_spiked, 3, 9, shift=True).support
my_value = fspca.go(my_spiked, 3, 9, shift=True).objective
