"""Claims on the store path: reading them, matching them with what stands, asserting and withdrawing them.

Must not: decide which memory stands.
"""
