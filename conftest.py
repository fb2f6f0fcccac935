"""One BLAS thread, one of its kernels and one hash seed, here and in the notebooks', before numpy.

Threads and kernels change the order of sums and so the last digits.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["PYTHONHASHSEED"] = "0"
os.environ["OPENBLAS_CORETYPE"] = "Haswell"

collect_ignore = ["book/assignments"]  # notebooks for students and lecturers, no chapters
