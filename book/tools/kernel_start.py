"""What every kernel that we start runs first: figures are stored as vectors and as pictures.

PYTHONSTARTUP names this file where chapters are run in place and compared; a reader's own kernel
shows figures as it likes.
"""

from fspca_reproduction.book.show import vector_figures

vector_figures()
del vector_figures
