"""How two texts relate: the relation model, and the rules that are sure without it.

Must not: decide what becomes of either; `core.belief.trust_gate` does.
"""
