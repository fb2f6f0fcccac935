"""Tian, Nie, Wang and Li 2020, reproduced."""
