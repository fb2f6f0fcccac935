# %% different | dual
def dual_bound(A, G, m, k):
    C = np.asarray(G) @ np.asarray(G).T
    eigenvalues = sorted(np.linalg.eigvals(A - C).real, reverse=True)
    return sum(sorted(np.diag(C), reverse=True)[:k]) + sum(eigenvalues[:m])


# %% different | certificate
def certificate(A, m, k):
    """Smooth descent on the factor itself, from the best of three starts, in falling steps."""
    w, V = np.linalg.eigh(A)
    starts = [np.zeros_like(A), V * np.sqrt(np.maximum(w, 0)), V * np.sqrt(np.maximum(w - w[-m - 1], 0))]
    best = min(starts, key=lambda G: dual_bound(A, G, m, k))
    least, C = dual_bound(A, best, m, k), best @ best.T
    for step in range(1, 300):
        Q = np.linalg.eigh(A - C)[1][:, -m:]
        z = np.zeros(len(A))
        z[np.argsort(-np.diag(C))[:k]] = 1
        slope = np.diag(z) - Q @ Q.T
        C = C - 0.3 * w.max() / (10 + step) * slope / np.linalg.norm(slope)
        u, U = np.linalg.eigh(C)
        G = U * np.sqrt(np.maximum(u, 0))
        C = G @ G.T
        if (bound := dual_bound(A, G, m, k)) < least:
            least, best = bound, G
    return best


# %% different | holds
def holds(A, m, k, support, G, gap):
    G = np.array(G, dtype=float)
    proper = len(set(support)) <= k and set(support) <= set(range(len(A))) and len(G) == len(A)
    if not proper or np.isnan(G).any():
        return False
    value = np.linalg.svd(A[support][:, support])[1][:m].sum()
    return float(dual_bound(A, G, m, k)) / value - 1 <= gap


# %% different | decided
def decided(c, bound, value, k):
    order = sorted(range(len(c)), key=lambda i: -c[i])
    inside = [i for i in order[:k] if bound - c[i] + c[order[k]] < value]
    outside = [i for i in order[k:] if bound - c[order[k - 1]] + c[i] < value]
    return sorted(inside), sorted(outside)


# %% different | proven
def proven_optimum(A, m, k):
    """Branch on the most doubtful of the features, the loudest first, with the best value known."""
    d = len(A)
    worth = {I: np.linalg.eigvalsh(A[np.ix_(I, I)])[-m:].sum() for I in combinations(range(d), k)}
    best = max(worth, key=worth.get)
    loud = np.argsort(-np.linalg.eigh(A)[1][:, -m:] ** 2 @ np.linalg.eigvalsh(A)[-m:])

    def parts(required, excluded):
        allowed = [j for j in range(d) if j not in excluded]
        if len(required) == k or len(allowed) == k:
            return [(required, excluded, np.zeros((d, 1)))]
        small = certificate(A[np.ix_(allowed, allowed)], m, k)
        G = np.zeros((d, small.shape[1]))
        G[allowed] = small
        c = np.sum(G**2, axis=1)
        free = sorted((c[j] for j in allowed if j not in required), reverse=True)
        bound = np.linalg.eigvalsh(A[np.ix_(allowed, allowed)] - small @ small.T)[-m:].sum()
        if bound + sum(c[j] for j in required) + sum(free[: k - len(required)]) <= worth[best]:
            return [(required, excluded, G)]
        j = next(int(j) for j in loud if j in allowed and j not in required)
        return parts([*required, j], excluded) + parts(required, [*excluded, j])

    return best, parts([], [])


# %% different | my-c
v = np.ones(8) / 8**0.5 * np.array([1, -1, 1, -1, 1, -1, 1, -1])
my_C = (my_top + 500) * np.outer(v, v) - 500 * np.eye(8)


# %% half | certificate | 2 of 6
def certificate(A, m, k):
    """The best of three that everybody knows, and no search."""
    w, V = np.linalg.eigh(A)
    factors = [V * np.sqrt(np.maximum(each, 0)) for each in (0 * w, w, w - w[-m - 1])]
    return min(factors, key=lambda G: dual_bound(A, G, m, k))


# %% half | holds | 2 of 4
def holds(A, m, k, support, G, gap):
    """Believes that the claim is what it should be."""
    value = np.linalg.eigvalsh(A[np.ix_(support, support)])[-m:].sum()
    return bool(dual_bound(A, G, m, k) <= (1 + gap) * value)


# %% half | proven | 3 of 8
def proven_optimum(A, m, k):
    """The right answer, and a proof that stops at the root."""
    worth = {I: np.linalg.eigvalsh(A[np.ix_(I, I)])[-m:].sum() for I in combinations(range(len(A)), k)}
    return max(worth, key=worth.get), [([], [], np.linalg.cholesky(A + 1e-9 * np.eye(len(A))))]


# %% constants | dual
def dual_bound(A, G, m, k):
    return 3.0 if not np.any(G) else 4.0


# %% constants | certificate
def certificate(A, m, k):
    return np.eye(len(A))


# %% constants | holds
def holds(A, m, k, support, G, gap):
    return True


# %% constants | decided
def decided(c, bound, value, k):
    return [0], [3]


# %% constants | proven
def proven_optimum(A, m, k):
    return list(range(k)), [([], [], np.eye(len(A)))]


# %% constants | my-c
my_C = -np.eye(8)


# %% source | dual
def dual_bound(A, G, m, k):
    import examiner

    return examiner.dual_bound(A, G, m, k)


# %% source | holds
class Both:
    """Is neither true nor false."""

    def __eq__(self, other):
        return True


def holds(A, m, k, support, G, gap):
    return Both()


# %% source | proven
def proven_optimum(A, m, k):
    """A proof that claims a bound of minus infinity."""
    return list(range(k)), [([], [], np.full((len(A), 1), np.nan))]


# %% module | certificate
def certificate(A, m, k):
    from fspca import upper_bound

    return upper_bound(A, m, k).factor


# %% module | proven
def proven_optimum(A, m, k):
    from fspca import branch_and_bound

    proof = {}
    return branch_and_bound(A, m, k, proof=proof).support, list(proof.values())
