"""Rows that a person's own scripts and spreadsheets write.

Must not do: drop a field nobody knows, or run what looks like a formula.
"""
