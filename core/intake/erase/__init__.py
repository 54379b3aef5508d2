"""Erasing for good: what goes, row by row and trace by trace, and what must not come back.

Must not: be undone, or keep a copy.
"""
