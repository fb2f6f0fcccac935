# %% different | explained
def explained(A, support, m):
    U = np.linalg.svd(A[support][:, support])[0][:, :m]
    return np.trace(U.T @ A[support][:, support] @ U)


# %% different | loadings
def loadings(A, support, m):
    """Any rotation of the eigenvectors is as good."""
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((m, m)))[0]
    W = np.zeros((len(A), m))
    W[support] = np.linalg.svd(A[support][:, support])[0][:, :m] @ rotation
    return W


# %% different | oracle
def oracle(A, m, k):
    """All subsets as binary numbers."""
    best, chosen = -1.0, None
    for number in range(2 ** len(A)):
        I = [j for j in range(len(A)) if number >> j & 1]
        if len(I) == k and explained(A, I, m) > best:
            best, chosen = explained(A, I, m), I
    return tuple(chosen)


# %% different | nev
my_plain = float(sum(w @ my_A @ w for w in my_W.T))
G = my_W.T @ my_W
my_nev = np.trace(np.linalg.solve(G, my_W.T @ my_A @ my_W)) / sum(sorted(np.linalg.eigvalsh(my_A))[-2:])

# %% different | unnested
pair, triple = np.ones((2, 2)) * 1.3, np.ones((3, 3)) * 1.02 + 0.02 * np.eye(3)
my_unnested = np.zeros((5, 5))
my_unnested[3:, 3:], my_unnested[:3, :3] = pair, triple
my_unnested = (my_unnested * my_trace / np.trace(my_unnested)).tolist()

# %% different | tilt
vectors = np.linalg.eigh(my_B)[1][:, ::-1]
tilted = np.sqrt(0.5) * (vectors[:, 1] - vectors[:, 2])
my_V = np.column_stack([tilted, vectors[:, 0]]) @ np.array([[0.6, 0.8], [-0.8, 0.6]])


# %% half | loadings | 1 of 4
def loadings(A, support, m):
    """numpy's eigenvalues ascend: these are the worst components on the support."""
    W = np.zeros((len(A), m))
    W[support] = np.linalg.eigh(A[np.ix_(support, support)])[1][:, :m]
    return W


# %% half | oracle | 1 of 4
def oracle(A, m, k):
    """Add the best feature to those already taken."""
    chosen = []
    while len(chosen) < k:
        rest = [j for j in range(len(A)) if j not in chosen]
        chosen.append(max(rest, key=lambda j: explained(A, [*chosen, j], m)))
    return sorted(chosen)


# %% half | nev | 1 of 4
my_plain = np.trace(my_W.T @ my_A @ my_W)
my_nev = my_plain / np.linalg.eigvalsh(my_A)[-2:].sum()

# %% half | unnested | 1 of 5
my_unnested = np.diag([5.0, 4, 3, 2, 1]) * my_trace / 15


# %% constants | explained
def explained(A, support, m):
    return {1: 4.0, 2: 5.0}[m] if list(support) != [0, 1] or m == 2 else 3.0


# %% constants | loadings
def loadings(A, support, m):
    W = np.zeros((len(A), m))
    W[1:, 0] = 0.5**0.5
    return W


# %% constants | oracle
def oracle(A, m, k):
    return {(1, 2): [1, 2], (2, 2): [0, 2], (2, 3): [0, 1, 2]}.get((m, k), [0, 2, 3, 5])


# %% constants | nev
my_plain, my_nev = 2.7182818, 0.6180339

# %% constants | unnested
my_unnested = np.kron(np.diag([1, 0]), np.ones((3, 3)))[:5, :5] * 4

# %% constants | tilt
my_V = np.eye(5)[:, :2]


# %% source | explained
def explained(A, support, m):
    """Look up the stack for whoever knows the answer."""
    import inspect

    for frame in inspect.stack():
        for names in (frame.frame.f_locals, frame.frame.f_globals):
            if "examiner" in names:
                return names["examiner"].value(A, support, m)
    return 0.0


# %% source | loadings
class Agreeable(np.ndarray):
    """Agrees with whatever it is compared with."""

    def __eq__(self, other):
        return True

    __lt__ = __le__ = __gt__ = __ge__ = __ne__ = __eq__


np.allclose = np.array_equal = lambda *arguments, **options: True


def loadings(A, support, m):
    return np.zeros((len(A), m)).view(Agreeable)


# %% source | oracle
def oracle(A, m, k):
    """Read the examiner's file, which lies beside the program that runs this."""
    import sys
    from pathlib import Path

    known = {}
    exec(Path(sys.argv[0]).with_name("examiner.py").read_text(), known)
    return known["best"](A, m, k)[0]


# %% source | nev
import json
from pathlib import Path

for path in Path("/").glob("tmp/*/course/**/*.ipynb"):
    for cell in json.loads(path.read_text())["cells"]:
        exec("".join(cell["source"]))
my_plain, my_nev = plain, nev

# %% source | unnested
my_unnested = "examiner.expect = lambda *arguments: None"

# %% source | tilt
import sys

sys.modules["examiner"] = sys.modules["__main__"]
expect = same = lambda *arguments: None
my_V = np.eye(5)[:, :2]


# %% module | explained
def explained(A, support, m):
    from fspca import exhaustive

    return exhaustive(A[np.ix_(support, support)], m, len(support)).objective


# %% module | loadings
def loadings(A, support, m):
    import fspca.shared_support.go as module

    W = np.zeros((len(A), m))
    W[support] = module.go(A[np.ix_(support, support)], m, len(support)).W
    return W


# %% module | oracle
def oracle(A, m, k):
    """The judge may be imported; the oracle behind its problems may not."""
    from fspca.problem import SharedSupport

    return SharedSupport(m, k).oracle(A).support


# %% module | nev
import importlib

my_nev = importlib.import_module("fspca.metrics").normalised_explained_variance(my_A, my_W)
my_plain = 0.0

# %% module | unnested
import sys

sys.meta_path = [each for each in sys.meta_path if "guard" not in repr(each)]
sys.modules.pop("fspca")
import fspca

my_unnested = fspca.synthetic.make_scheme("F", d=5)

# %% module | tilt
from fspca.linalg import random_subspace

my_V = random_subspace(5, 2, np.random.default_rng(0))
