"""Proofs: bounds on the best, the relaxations behind them, and the search that closes the rest."""
