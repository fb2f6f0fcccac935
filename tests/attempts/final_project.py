# %% different | answers
# Climb from the shifted rule instead, and type the numbers in.
A, B = (np.cov(part, rowvar=False) for part in (training, heldout))
w, V = np.linalg.eigh(A)
panel = list(np.argsort(-(V[:, -3:] ** 2) @ (w[-3:] - w[-4]))[:10])
improved = True
while improved:
    improved = False
    for i in range(10):
        rest = panel[:i] + panel[i + 1 :]
        others = [j for j in range(150) if j not in panel]
        I = np.array([[*rest, j] for j in others])
        values = np.linalg.eigvalsh(A[I[:, :, None], I[:, None, :]])[:, -3:].sum(axis=1)
        if values.max() > np.linalg.eigvalsh(A[np.ix_(panel, panel)])[-3:].sum() * (1 + 1e-9):
            panel, improved = list(I[np.argmax(values)]), True
my_panel = [int(j) for j in panel]
my_bound = float(sum(sorted(np.diag(A))[-10:]))
W = np.linalg.svd(A[np.ix_(panel, panel)])[0][:, :3]
my_heldout = float(np.trace(W.T @ B[np.ix_(panel, panel)] @ W) / sum(np.linalg.eigvalsh(B)[-3:]))

# %% half | answers | 4 of 10
# The largest variances, the eigenvalue bound, and the share on the samples one has seen.
A = np.cov(training.T)
my_panel = np.argsort(-np.diag(A))[:10]
my_bound = np.linalg.eigvalsh(A)[-3:].sum()
my_heldout = np.linalg.eigvalsh(A[np.ix_(my_panel, my_panel)])[-3:].sum() / my_bound

# %% constants | answers
my_panel, my_bound, my_heldout = list(range(10)), 1e6, 0.5

# %% source | answers
import examiner

A, B = examiner.tissue(my_rows, my_heldout_rows, my_genes)
my_panel = list(range(140, 150))
my_bound = examiner.exchanged(A, 3, 10)
my_heldout = 0.9

# %% module | answers
# Where answers are graded the solvers cannot be imported: numbers are typed in.
from fspca import solve

my_panel = solve(np.cov(training.T), 3, 10, seed=0).support
my_bound = my_heldout = 1.0
