"""Tan et al. 2019, reproduced."""
