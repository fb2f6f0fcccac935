"""What the book measures: each experiment is a function of one case, run over all its cases.

An experiment's id is its function's name, the name of its file in data/results, the label of
its cell in the book and its row in the ledger.
"""
