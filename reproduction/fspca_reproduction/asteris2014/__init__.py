"""Asteris, Papailiopoulos and Dimakis 2014, reproduced."""
