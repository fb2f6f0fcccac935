"""Covariances and data of which the answer, or the spectrum, is known."""

import numpy as np
from numpy.typing import ArrayLike

from fspca.covariance.linalg import embedded, random_subspace
from fspca.covariance.validate import checked_choice, checked_nonnegative
from fspca.problem import SharedSupport

SPECTRA = {
    "A": ([100, 100, 4], 1),
    "B": ([300, 180, 60], 1),
    "C": ([300, 180, 60], 0),
    "D": ([160, 80, 40, 20, 10, 5, 2], 1),
}


def scheme_spectrum(name: str, d: int = 20) -> np.ndarray:
    """Return the eigenvalues of schemes A to D of tian2020's Table 1.

    A few are large and all others are equal.

    Parameters
    ----------
    name : "A", "B", "C" or "D"
        The scheme.
    d : int
        How many.

    Returns
    -------
    array
        Of d eigenvalues, descending.

    See Also
    --------
    make_scheme : A covariance that has them.

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Examples
    --------
    >>> scheme_spectrum("A", d=5)
    array([100., 100.,   4.,   1.,   1.])
    """
    head, rest = SPECTRA[checked_choice("name", name, tuple(SPECTRA))]
    return np.array((head + [rest] * d)[:d], dtype=float)


def exponential_spectrum(d: int, rate: float) -> np.ndarray:
    """Return exp(-rate i) for i = 1..d.

    Corollary 5.3 of tian2020 is about covariances that have it.

    Parameters
    ----------
    d : int
        How many.
    rate : float
        How fast they fall.

    Returns
    -------
    array
        Of d eigenvalues, descending.

    See Also
    --------
    zipf_spectrum : Falls as a power.

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Examples
    --------
    >>> exponential_spectrum(3, rate=np.log(2))
    array([0.5  , 0.25 , 0.125])
    """
    return np.exp(-rate * np.arange(1, d + 1))


def zipf_spectrum(d: int, power: float) -> np.ndarray:
    """Return i^(-power) for i = 1..d.

    Corollary 5.4 of tian2020 is about covariances that have it.

    Parameters
    ----------
    d : int
        How many.
    power : float
        How fast they fall.

    Returns
    -------
    array
        Of d eigenvalues, descending.

    See Also
    --------
    exponential_spectrum : Falls faster.

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Examples
    --------
    >>> zipf_spectrum(4, power=1)
    array([1.        , 0.5       , 0.33333333, 0.25      ])
    """
    return np.arange(1.0, d + 1) ** -power


def with_spectrum(spectrum: ArrayLike, seed: int | None, basis: str = "uniform") -> np.ndarray:
    """Return a covariance with given eigenvalues and random eigenvectors.

    The same seed gives the same eigenvectors, whatever the eigenvalues.

    Parameters
    ----------
    spectrum : array of float
        The eigenvalues, none of them negative.
    seed : int
        Of the eigenvectors.
    basis : "uniform" or "haar"
        "uniform" takes the left singular vectors of a matrix of independent uniform [0, 1]
        entries, whose first vector leans towards (1, ..., 1); "haar" is rotation invariant.

    Returns
    -------
    array (d x d)
        The covariance.

    See Also
    --------
    make_scheme : With the eigenvalues of tian2020.

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Examples
    --------
    >>> A = with_spectrum([3.0, 1.0], seed=0)
    >>> bool(np.allclose(np.linalg.eigvalsh(A), [1, 3]))
    True
    """
    checked_choice("basis", basis, ("uniform", "haar"))
    for value in spectrum:
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"spectrum holds {value}; eigenvalues must be finite and at least 0")
    rng, d = np.random.default_rng(seed), len(spectrum)
    if basis == "uniform":
        vectors = np.linalg.svd(rng.random((d, d)))[0]
    else:
        vectors = random_subspace(d, d, rng)
    A = (vectors * spectrum) @ vectors.T
    return (A + A.T) / 2


def make_scheme(name: str, d: int = 20, seed: int | None = 0,
                basis: str = "uniform") -> np.ndarray:  # fmt: skip
    """Return one covariance of the schemes A to F of tian2020's Table 1.

    A to D fix the spectrum.  E and F are XX' with X (d x d) uniform on [0, 1] and normal.
    The paper says only that the eigenvectors are random; the default basis is the assumption
    that gives the numbers of its Table 2.

    Parameters
    ----------
    name : "A", "B", "C", "D", "E" or "F"
        The scheme.
    d : int
        Features.
    seed : int
        Of the eigenvectors, or of X.
    basis : "uniform" or "haar"
        As in `with_spectrum`.

    Returns
    -------
    array (d x d)
        The covariance.

    See Also
    --------
    scheme_spectrum : The eigenvalues of A to D.

    References
    ----------
    Tian, Nie, Wang and Li, "Learning feature sparse principal subspace", NeurIPS 2020.

    Examples
    --------
    >>> make_scheme("E", d=3, seed=1).shape
    (3, 3)
    """
    checked_choice("name", name, tuple("ABCDEF"))
    checked_choice("basis", basis, ("uniform", "haar"))
    if name in SPECTRA:
        return with_spectrum(scheme_spectrum(name, d), seed, basis)
    rng = np.random.default_rng(seed)
    X = rng.random((d, d)) if name == "E" else rng.standard_normal((d, d))
    return X @ X.T


def make_spiked(n: int, d: int, m: int, k: int, strength: float = 10.0,
                seed: int | None = 0) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Draw n samples of the spiked model with m spikes on k shared features.

    The rows of X are normal with covariance I + strength UU', U (d x m) orthonormal with
    nonzero rows only among the first k.

    Parameters
    ----------
    n, d : int
        Samples and features.
    m, k : int
        Spikes, and the features that they share.
    strength : float
        What a spike adds to the variance along it.
    seed : int
        Of U and X.

    Returns
    -------
    X : array (n x d)
        The samples.
    U : array (d x m)
        The spikes.

    See Also
    --------
    make_sparse_pair : Two components on features of their own.

    References
    ----------
    Johnstone, "On the distribution of the largest eigenvalue in principal components analysis",
    Annals of Statistics 29(2), 2001.

    Examples
    --------
    >>> X, U = make_spiked(n=50, d=10, m=2, k=4)
    >>> X.shape, int(U.any(axis=1).sum())
    ((50, 10), 4)
    """
    SharedSupport(m, k).fit(d)
    strength = checked_nonnegative("strength", strength)
    rng = np.random.default_rng(seed)
    U = embedded(random_subspace(k, m, rng), np.arange(k), d)
    spikes = np.sqrt(strength) * rng.standard_normal((n, m))
    return rng.standard_normal((n, d)) + spikes @ U.T, U


def make_sparse_pair(n: int, d: int, noise: float = 1.0,
                     seed: int | None = 0) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Draw n samples of two components of ten features each.

    In the model of tan2019's Section 5.1 the covariance has the eigenvalues 400 and 300 on the
    first ten features and on the next ten, each with equal loadings, and 1 in all other
    directions; then every feature but these 20 is multiplied by `noise`.

    Parameters
    ----------
    n, d : int
        Samples and features, of which there must be at least 20.
    noise : float
        Multiplies the features that are in no component.
    seed : int
        Of the samples.

    Returns
    -------
    X : array (n x d)
        The samples.
    V : array (d x 2)
        The components.

    See Also
    --------
    make_spiked : Components on the same features.

    Notes
    -----
    Whatever orthonormal vectors complete the two, the covariance is I + 399 v1 v1' + 299 v2 v2',
    so it takes standard normal samples and two directions: nothing of size d x d is formed.  The
    paper's other eigenvectors are uniform random numbers, not orthonormal; taken to the letter
    they change the spectrum.

    References
    ----------
    Tan, Hu, Yan, Cao, Gong and Wu, "Learning sparse PCA with stabilized ADMM method on Stiefel
    manifold", IEEE TKDE 33(3), 2021 (online 2019).

    Examples
    --------
    >>> X, V = make_sparse_pair(n=5, d=30)
    >>> X.shape, V.any(axis=1).sum().item()
    ((5, 30), 20)
    """
    if d < 20:
        raise ValueError(f"d={d} must be at least 20, the features of the two components")
    V = np.zeros((d, 2))
    V[:10, 0] = V[10:20, 1] = 10**-0.5
    X = np.random.default_rng(seed).standard_normal((n, d))
    X += (X @ V) * (np.sqrt([400.0, 300.0]) - 1) @ V.T
    X[:, 20:] *= noise
    return X, V
