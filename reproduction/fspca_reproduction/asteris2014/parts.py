"""Nonnegative parts chosen together, beside what people use: variance, overlap, seconds, bound."""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF

from fspca import datasets
from fspca.check_certificate import check
from fspca.covariance import Covariance
from fspca.nonnegative.em import em
from fspca.nonnegative.epsilon_net import epsilon_net
from fspca.nonnegative.joint import settled
from fspca.nonnegative.solve import solve_nonnegative
from fspca.nonnegative.spannogram import spannogram
from fspca.problem import Nonnegative
from fspca_reproduction.asteris2014.theory import given_matrix
from fspca_reproduction.runner import experiment

SETS = (("digits", 6, 10), ("tecator_spectra", 3, 20), ("lrs", 3, 20), ("cbcl_faces", 6, 40),
        ("texts", 6, 12))  # fmt: skip
DRAWN = "together", "nmf"


def texts(seed=0):
    """Return word counts: Poisson draws from six subjects that share some words."""
    rng = np.random.default_rng(seed)
    rates = np.full((6, 120), 0.02)
    for j in range(6):
        rates[j, 18 * j : 18 * j + 24] += rng.gamma(1.0, 0.5, 24)
    subjects = rng.dirichlet(0.2 * np.ones(6), 600)
    return rng.poisson(subjects @ rates * rng.uniform(0.5, 2.0, (600, 1))).astype(float)


def data_of(set):
    """Return a set's samples, as they are."""
    made = {"digits": lambda: load_digits().data, "texts": texts}
    return made[set]() if set in made else np.asarray(datasets.load(set).X, dtype=float)


def cut_factors(X, m, k):
    """Return the loadings of scikit-learn's factors, each cut to its k largest, and refitted.

    A feature that several factors have stays with the one where it is largest.  What is negative,
    as noise about zero may be, counts as zero in the factorisation.
    """
    model = NMF(m, init="nndsvda", max_iter=1000, random_state=0)
    factors = model.fit(np.maximum(X, 0.0)).components_
    factors = factors / np.linalg.norm(factors, axis=1, keepdims=True)
    own = np.where(factors == factors.max(axis=0), factors, 0.0).T
    cut = np.sort(own, axis=0)[-k]
    W = np.where(own >= np.maximum(cut, 1e-12), own, 0.0)
    return settled(Covariance.from_data(X), W / np.linalg.norm(W, axis=0))


def overlap(W, others):
    """Return the mean share of a part's features that lie in the one of others it shares most with.

    >>> W = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> float(overlap(W, W[:, ::-1])), float(overlap(W, W[[0, 2, 1]]))
    (1.0, 0.75)
    """
    M, on = (W > 0).astype(float), (others > 0).astype(float)
    return ((M.T @ on).max(axis=1) / M.sum(axis=0)).mean()


@experiment(cases=[{"set": s, "m": m, "k": k} for s, m, k in SETS], alone=True)
def asteris2014_parts(set, m, k):
    """Parts on disjoint supports: chosen together, one by one, and cut from a factorisation."""
    X, problem = data_of(set), Nonnegative(m, k, disjoint=True)
    methods = {
        "together": lambda A: solve_nonnegative(A, m, k),
        "cells": lambda A: spannogram(A, m, k, shift=True, tol=1e-3),
        "epsilon_net": lambda A: epsilon_net(A, m, k),
        "em": lambda A: em(A, m, k, n_starts=10),
        "nsprcomp's em": lambda A: em(A, m, k, init="positive", n_starts=10, tol=1e-3),
        "nmf": lambda _: cut_factors(X, m, k),
    }
    found, seconds = {}, {}
    for name, method in methods.items():
        A, began = Covariance.from_data(X), time.process_time()  # no eigenvectors are kept
        found[name] = method(A)
        seconds[name] = time.process_time() - began
    together, top = found["together"], A.leading(m)[0].sum()
    loadings = {name: getattr(each, "W", each) for name, each in found.items()}
    return {
        "shares": {name: problem.score(A, W) / top for name, W in loadings.items()},
        "bound": together.upper_bound / top,
        "checked": check(given_matrix(A, together.certificate)).holds,
        "overlaps": {name: overlap(W, together.W) for name, W in loadings.items()},
        "parts": {name: [{"features": np.flatnonzero(w).tolist(), "weights": w[w > 0].tolist()}
                         for w in loadings[name].T] for name in DRAWN},
        "seconds": seconds,
    }  # fmt: skip
