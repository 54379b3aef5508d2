"""Undoing steps: one, many at once, and what an undone pairing leaves behind.

Must not: overwrite a row that changed since.
"""
