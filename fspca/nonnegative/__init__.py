"""Nonnegative loadings: each component a nonnegative combination of at most k features."""
